"""Frames without a window: what a panel draws once it is settled."""

from PySide6.QtWidgets import QApplication


def settle(panel, frames=3):
    """Some frames, as the window has them."""
    for _ in range(frames):
        panel.draw()
        QApplication.processEvents()
