"""The few signs on the window's own buttons, drawn: no font and no desktop theme has to have them. Knows no button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

SIDE = 16
_SHARPNESS = 3  # drawn three times as large, so that it stays sharp at 200 and 300 %


def icon(name: str, colour: str) -> QIcon:
    """The sign of that name in that colour. Raises KeyError for a name that is not in SIGNS."""
    picture = QPixmap(SIDE * _SHARPNESS, SIDE * _SHARPNESS)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(_SHARPNESS, _SHARPNESS)
    pen = QPen(QColor(colour), 1.5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(QColor(colour))
    SIGNS[name](painter)
    painter.end()
    picture.setDevicePixelRatio(_SHARPNESS)
    made = QIcon(picture)
    made.addPixmap(picture, QIcon.Mode.Disabled)  # no grey of Qt's own: the theme sees to the contrast
    return made


def _more(painter: QPainter) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    for x in (3.0, 8.0, 13.0):
        painter.drawEllipse(QPointF(x, 8), 1.4, 1.4)


def _menu(painter: QPainter) -> None:
    for y in (4.0, 8.0, 12.0):
        painter.drawLine(QPointF(2.5, y), QPointF(13.5, y))


def _close(painter: QPainter) -> None:
    painter.drawLine(QPointF(4, 4), QPointF(12, 12))
    painter.drawLine(QPointF(12, 4), QPointF(4, 12))


def _play(painter: QPainter) -> None:
    painter.drawPolygon(QPolygonF([QPointF(4.5, 3), QPointF(12.5, 8), QPointF(4.5, 13)]))


def _stop(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(4, 4, 8, 8), 1, 1)


def _text(painter: QPainter) -> None:
    """A page with lines on it."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(3, 1.5, 10, 13), 1.5, 1.5)
    for y, right in ((5.0, 10.5), (8.0, 10.5), (11.0, 8.5)):
        painter.drawLine(QPointF(5.5, y), QPointF(right, y))


def _window(painter: QPainter) -> None:
    """The program's own: a lower triangle of squares, as attention is."""
    painter.setPen(Qt.PenStyle.NoPen)
    path = QPainterPath()
    for row in range(4):
        for column in range(row + 1):
            path.addRoundedRect(QRectF(0.5 + column * 3.9, 0.5 + row * 3.9, 3.2, 3.2), 0.7, 0.7)
    painter.drawPath(path)


SIGNS: dict[str, Callable[[QPainter], None]] = {
    "more": _more,
    "menu": _menu,
    "close": _close,
    "play": _play,
    "stop": _stop,
    "text": _text,
    "window": _window,
}
