"""The colours of the two that are compared, everywhere the same, and the mark before a name. Knows not who they are.

They are those of the map of differences: what the first has more of is drawn in its colour, and so for the second.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.shades import diverging

MARK = 9  # px, as before other names
_PLACE = 222  # of the map's 255 colours: strong, and still far from its end


def side_colours() -> tuple[QColor, QColor]:
    """The colours of the first and of the second in the theme that is on."""
    table = diverging(tokens().dark)
    return QColor.fromRgb(int(table[_PLACE])), QColor.fromRgb(int(table[254 - _PLACE]))


class SideMark(QWidget):
    """A small square in the colour of one of them; `second` of the other."""

    def __init__(self, *, second: bool = False) -> None:
        super().__init__()
        self._second = second
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(MARK, MARK + 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(side_colours()[self._second])
        painter.drawRoundedRect(QRectF(0, 0.5, MARK, MARK), 2, 2)
        painter.end()
