"""A picture with sums written out below it, as far as it can spare the room. Knows neither picture nor sums."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.row_paint import hairline
from gpt_viz.ui.widgets.sums import Sums

ABOVE, LINE = 8, 9  # px between picture and hairline, and between hairline and sums


class Spares(Protocol):
    """What is needed of the picture."""

    def spare(self, width: int, height: int) -> int:
        """How much of this height it can do without."""
        ...


class Footed(QWidget):
    """The picture keeps what it needs; the sums get what is left, and nothing where that is too little."""

    def __init__(self, picture: QWidget, spares: Spares, sums: Sums) -> None:
        super().__init__()
        self._picture, self._spares, self._sums = picture, spares, sums
        for each in (picture, sums):
            each.setParent(self)
        self._hairline: int | None = None
        theme.theme.changed.connect(self.arrange)
        theme.theme.changed.connect(self.update)

    def arrange(self) -> None:
        """Share the room out again: picture or sums take other room than before."""
        width, height = self.width(), self.height()
        room = self._spares.spare(width, height) - ABOVE - LINE
        used = self._sums.fit(width, max(room, 0))
        foot = used + ABOVE + LINE if used else 0
        edge = height - used - LINE if used else None
        if edge != self._hairline:  # else nothing moves, and a repaint would be one of all that lies on it
            self._hairline = edge
            self.update()
        self._picture.setGeometry(0, 0, width, height - foot)
        self._sums.setGeometry(0, height - used, width, used)
        self._sums.setVisible(bool(used))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._hairline is not None:
            painter = QPainter(self)
            hairline(painter, 0, self.width(), self._hairline)
            painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:
        return self._picture.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._picture.minimumSizeHint()
