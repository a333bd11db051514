"""The window. Qt and pyqtgraph live here and only here; knows no torch."""
