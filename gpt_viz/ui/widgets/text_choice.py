"""Which text, chosen from a menu that can open another one. Knows the texts only by name."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.manners import named, tip

LETTERS = 22  # of a name that can be seen
OPEN = "open"


class TextChoice(QToolButton):
    """`chosen` carries the key of what was chosen, or OPEN for another one."""

    chosen = Signal(str)

    def __init__(self, name: str, says: str) -> None:
        super().__init__()
        named(self, name, says)
        self._says = says
        self._title = ""
        self.setProperty("outlined", "true")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setMenu(QMenu(self))
        theme.theme.changed.connect(self._write)

    def show_texts(self, names: Mapping[str, str], chosen: str) -> None:
        """Which texts there are, and which one is taken."""
        menu = self.menu()
        menu.clear()
        for key, title in names.items():
            action = menu.addAction(title.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(key == chosen)
            action.triggered.connect(lambda _=False, key=key: self.chosen.emit(key))
        menu.addSeparator()
        menu.addAction("Open a text …").triggered.connect(lambda _=False: self.chosen.emit(OPEN))
        self._title = names[chosen]
        self._write()

    def _write(self) -> None:
        metrics = QFontMetrics(theme.ui_font())
        room = LETTERS * metrics.averageCharWidth()
        shown = metrics.elidedText(self._title, Qt.TextElideMode.ElideMiddle, room)
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(tip(f"{self._says}: {self._title}"))
        self.setAccessibleDescription(self._title)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.ui_font())
        return QSize(metrics.horizontalAdvance(self.text()) + 42, metrics.height() + 14)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
