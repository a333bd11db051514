"""The mark of a check: a tick, a cross, a dash, a ring or three dots, told apart without colour. Knows no check."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens

WAITING, RUNNING, PASSED, FAILED, SILENT = "waiting", "running", "passed", "failed", "silent"
WORDS = {
    WAITING: "not tried yet",
    RUNNING: "being tried",
    PASSED: "passed",
    FAILED: "failed",
    SILENT: "does not apply",
}
SIDE = 18  # px


def paint_mark(painter: QPainter, box: QRectF, state: str) -> None:
    """Draw the mark of a state (one of WORDS) into a square."""
    colours = tokens()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    round_ = box.adjusted(1.5, 1.5, -1.5, -1.5)
    if state in (PASSED, FAILED):
        fill = QColor(colours.kinds["feed-forward"] if state == PASSED else colours.bad)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawEllipse(round_)
        _stroke(painter, colours.card, box, 0.115)
        if state == PASSED:
            painter.drawPolyline([_at(box, 0.30, 0.53), _at(box, 0.44, 0.67), _at(box, 0.71, 0.36)])
        else:
            painter.drawLine(_at(box, 0.35, 0.35), _at(box, 0.65, 0.65))
            painter.drawLine(_at(box, 0.65, 0.35), _at(box, 0.35, 0.65))
    else:
        pen = QPen(QColor(colours.muted), 1.2)
        if state == WAITING:
            pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(round_)
        _stroke(painter, colours.muted, box, 0.1)
        if state == SILENT:
            painter.drawLine(_at(box, 0.33, 0.5), _at(box, 0.67, 0.5))
        elif state == RUNNING:
            for x in (0.32, 0.5, 0.68):
                painter.drawPoint(_at(box, x, 0.5))
    painter.restore()


def _stroke(painter: QPainter, colour: str, box: QRectF, share: float) -> None:
    pen = QPen(QColor(colour), share * box.width())
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _at(box: QRectF, x: float, y: float) -> QPointF:
    return QPointF(box.x() + x * box.width(), box.y() + y * box.height())


class CheckMark(QWidget):
    """The mark by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._state = WAITING
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self.show_state(WAITING)

    def show_state(self, state: str) -> None:
        """Show the mark of a state, one of WORDS."""
        self._state = state
        self.setAccessibleName(WORDS[state])
        self.setToolTip(WORDS[state].capitalize())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(SIDE + 2, SIDE + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_mark(painter, QRectF(1, 1, SIDE, SIDE), self._state)
        painter.end()
