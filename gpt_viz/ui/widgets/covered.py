"""A part of a view, or in its place a sentence on why it can't be shown. Knows neither."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget


class Covered(QWidget):
    """Shows what is `inside` as long as there is no reason not to."""

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self._inside = inside
        self._label = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setProperty("muted", "true")
        self._pages = QStackedLayout(self)
        self._pages.setContentsMargins(0, 0, 0, 0)
        self._pages.addWidget(inside)
        self._pages.addWidget(self._label)

    def cover(self, reason: str) -> None:
        """Show this sentence instead; "" shows the part."""
        self._label.setText(reason)
        self._pages.setCurrentWidget(self._label if reason else self._inside)

    @property
    def reason(self) -> str:
        """The sentence that is shown, or ""."""
        return self._label.text() if self._pages.currentWidget() is self._label else ""
