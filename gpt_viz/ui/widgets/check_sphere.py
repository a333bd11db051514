"""A row of numbers as an arrow in a circle: how far it reaches towards the sphere. Knows no norm."""

from __future__ import annotations

from math import cos, pi, sin

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font

_ANGLE = -0.62  # radians, to the upper right


class CheckSphere(QWidget):
    """The arrow's length is `reach` of the circle's radius; `caption` stands below."""

    def __init__(self) -> None:
        super().__init__()
        self._reach, self._caption = 1.0, ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_reach(self, reach: float, caption: str) -> None:
        """Point so far, from 0 (the centre) to 1 (the sphere)."""
        self._reach, self._caption = reach, caption
        self.setAccessibleDescription(caption)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(150, 150)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(ui_font(0.88))
        line = painter.fontMetrics().height()
        side = max(min(self.width(), self.height() - line - 8) - 8, 16)
        centre = QPointF(self.width() / 2, 4 + side / 2)
        radius = side / 2
        painter.setPen(QPen(QColor(colours.muted), 1.4))
        painter.setBrush(QColor(colours.field))
        painter.drawEllipse(centre, radius, radius)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, radius, radius * 0.3)
        tip = centre + QPointF(cos(_ANGLE), sin(_ANGLE)) * (radius * min(max(self._reach, 0.0), 1.2))
        painter.setPen(QPen(QColor(colours.kinds["LayerNorm"]), 2.6))
        painter.drawLine(centre, tip)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.kinds["LayerNorm"]))
        if self._reach * radius > 9:
            back = [tip - QPointF(cos(_ANGLE + turn), sin(_ANGLE + turn)) * 9 for turn in (pi / 8, -pi / 8)]
            painter.drawPolygon(QPolygonF([tip, *back]))
        painter.drawEllipse(centre, 2.5, 2.5)
        painter.setPen(QColor(colours.text))
        below = QRectF(0, centre.y() + radius + 4, self.width(), line)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, self._caption)
        painter.end()
