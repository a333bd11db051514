"""What the drawings of checks have in common: a height of their own, words for what is pointed at. Draws nothing."""

from __future__ import annotations

from math import floor, log10

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, ui_font


class CheckPicture(QWidget):
    """A drawing in a column of text. `reading` carries the words for what is pointed at, "" for nothing."""

    reading = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._said = ""
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)
        self._restyle()

    def fitted(self, width: int, room: int) -> int:
        """The height that it wants at this width, where `room` can be seen at once."""
        return max(min(round(0.45 * width), room), 120)

    def words_at(self, point: QPointF) -> str:
        """What is to be read at a point, or ""."""
        return ""

    def measured(self) -> None:
        """The fonts have changed."""

    def _restyle(self) -> None:
        self.font_: QFont = ui_font(0.88)
        self.metrics = QFontMetricsF(self.font_)
        self.measured()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, 160)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._say(self.words_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._say("")

    def _say(self, words: str) -> None:
        if words != self._said:
            self._said = words
            self.setCursor(Qt.CursorShape.CrossCursor if words else Qt.CursorShape.ArrowCursor)
            self.reading.emit(words)


def figure(value: float) -> str:
    """A number as it is read beside a drawing: few digits, powers of ten where it is far from 1.

    >>> figure(0.0), figure(2.0), figure(0.4375), figure(816640.0), figure(2.4e-7), figure(31.82)
    ('0', '2', '0.438', '816,640', '2.4e-7', '31.8')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.1e}"
    if abs(value) < 0.001:
        return f"{value:.1e}".replace("e-0", "e-")
    return f"{value:.3g}"


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, at most so many: 1, 2 or 5 times a power of ten apart.

    >>> ticks(0.0, 4.4, 5)
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    span = high - low
    if not span > 0:
        return [low]
    step = 10.0 ** floor(log10(span / max(most, 1)))
    step *= next(times for times in (1, 2, 5, 10) if span / (times * step) <= most)
    first = -(-low // step)
    return [round((first + at) * step, 12) for at in range(int((high - first * step) / step + 1e-9) + 1)]
