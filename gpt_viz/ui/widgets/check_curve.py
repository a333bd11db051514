"""One or two curves with their axes, levels to hold them against, and a marker. Knows not what they tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets.check_picture import CheckPicture, figure, ticks
from gpt_viz.ui.widgets.check_profile import Line, _power

Floats = NDArray[np.float32]
_NOTHING: Floats = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Axes:
    """What the axes say; `last` is where the axis across ends at least; `log` makes it one of powers of ten."""

    across: str
    up: str
    last: float = 0.0
    log: bool = False


class CheckCurve(CheckPicture):
    """A curve y over x, a second one dashed, levels with names, and a marker on a point of the curve."""

    def __init__(self) -> None:
        super().__init__()
        self._x, self._y, self._second = _NOTHING, _NOTHING, _NOTHING
        self._axes = Axes("", "")
        self._levels: tuple[Line, ...] = ()
        self._marked: int | None = None
        self._tell: Callable[[int], str] = lambda at: ""

    def show_curve(
        self,
        x: Floats,
        y: Floats,
        axes: Axes,
        *,
        tell: Callable[[int], str],
        second: Floats = _NOTHING,
        levels: Sequence[Line] = (),
    ) -> None:
        """Show y (n,) over x (n,); `tell` says what a point is."""
        self._x, self._y, self._axes, self._second = x, y, axes, second
        self._levels, self._tell = tuple(levels), tell
        ends = f"{figure(float(y[0]))} to {figure(float(y[-1]))}" if len(y) else "nothing yet"
        self.setAccessibleDescription(f"{axes.up} over {axes.across}: {ends}")
        self.update()

    def mark(self, at: int | None) -> None:
        """Put the marker on a point of the curve."""
        if at != self._marked:
            self._marked = at
            self.update()

    def fitted(self, width: int, room: int) -> int:
        return max(min(round(0.42 * width), room, 340), 140)

    def words_at(self, point: QPointF) -> str:
        plot = self._plot()
        if not len(self._x) or not plot.contains(point):
            return ""
        places = self._across_px(self._x, plot)
        return self._tell(int(np.abs(places - point.x()).argmin()))

    # -- scales --

    def _x_range(self) -> tuple[float, float]:
        low, high = (float(self._x[0]), float(self._x[-1])) if len(self._x) else (0.0, 1.0)
        if self._axes.log:
            return float(floor(log10(low) + 1e-6)), float(ceil(log10(high) - 1e-6))
        return low, max(high, self._axes.last, low + 1e-9)

    def _y_high(self) -> float:
        shown = [
            *self._y[np.isfinite(self._y)].tolist(),
            *self._second.tolist(),
            *(each.value for each in self._levels),
        ]
        return max(shown, default=1.0) * 1.1 or 1.0

    def _across_px(self, x: Floats, plot: QRectF) -> NDArray[np.float64]:
        low, high = self._x_range()
        given = np.log10(x.astype(np.float64)) if self._axes.log else x.astype(np.float64)
        placed: NDArray[np.float64] = plot.x() + (given - low) / (high - low) * plot.width()
        return placed

    def _up_px(self, y: Floats | float, plot: QRectF) -> NDArray[np.float64]:
        given = np.nan_to_num(np.asarray(y, np.float64), nan=0.0)
        placed: NDArray[np.float64] = plot.bottom() - np.clip(given / self._y_high(), 0.0, 1.05) * plot.height()
        return placed

    def _plot(self) -> QRectF:
        line = self.metrics.height()
        left = max(self.metrics.horizontalAdvance(figure(each)) for each in self._up_ticks()) + 8
        return QRectF(left, line + 6, max(self.width() - left - 10, 8), max(self.height() - 3 * line - 14, 8))

    def _up_ticks(self) -> list[float]:
        most = max(int((self.height() - 4 * self.metrics.height()) / (1.8 * self.metrics.height())), 2)
        return ticks(0.0, self._y_high(), min(most, 6))

    def _across_ticks(self, plot: QRectF) -> list[tuple[float, str]]:
        low, high = self._x_range()
        if self._axes.log:
            every = max(ceil((high - low) * 4.5 * self.metrics.averageCharWidth() / plot.width()), 1)
            return [(10.0**each, _power(10.0**each)) for each in range(int(low), int(high) + 1, every)]
        most = max(int(plot.width() / (7 * self.metrics.averageCharWidth())), 1)
        return [(each, figure(each)) for each in ticks(low, high, min(most, 10))]

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, plot = tokens(), self._plot()
        painter = QPainter(self)
        painter.setFont(self.font_)
        self._paint_axes(painter, plot)
        self._paint_levels(painter, plot)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if len(self._x):
            x, y = self._across_px(self._x, plot), self._up_px(self._y, plot)
            painter.setPen(QPen(QColor(colours.accent_text), 2.2))
            painter.drawPolyline(_points(x, y))
            if len(self._second):
                painter.setPen(QPen(QColor(colours.text), 1.2, Qt.PenStyle.DashLine))
                painter.drawPolyline(_points(x, self._up_px(self._second, plot)))
            at = len(x) - 1 if self._marked is None else min(self._marked, len(x) - 1)
            painter.setPen(QPen(QColor(colours.card), 2))
            painter.setBrush(QColor(colours.key))
            painter.drawEllipse(QPointF(x[at], y[at]), 5.5, 5.5)
        painter.end()

    def _paint_axes(self, painter: QPainter, plot: QRectF) -> None:
        colours, line = tokens(), self.metrics.height()
        for value in self._up_ticks():
            y = round(float(self._up_px(value, plot))) + 0.5
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(plot.x(), y), QPointF(plot.right(), y))
            painter.setPen(QColor(colours.muted))
            box = QRectF(0, y - line / 2, plot.x() - 6, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, figure(value))
        for value, text in self._across_ticks(plot):
            x = float(self._across_px(np.array([value], np.float32), plot)[0])
            width = self.metrics.horizontalAdvance(text)
            painter.drawText(QPointF(min(x - width / 2, self.width() - width), plot.bottom() + 4 + line * 0.8), text)
        painter.drawText(QRectF(0, 0, self.width(), line), Qt.AlignmentFlag.AlignLeft, self._axes.up)
        below = QRectF(plot.x(), plot.bottom() + 6 + line, plot.width(), line)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, f"{self._axes.across} →")

    def _paint_levels(self, painter: QPainter, plot: QRectF) -> None:
        colours, line = tokens(), self.metrics.height()
        for level in self._levels:
            y = float(self._up_px(level.value, plot))
            painter.setPen(QPen(QColor(colours.text), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(plot.x(), y), QPointF(plot.right(), y))
            width = self.metrics.horizontalAdvance(level.name) + 8
            box = QRectF(plot.right() - width, y - line - 2, width, line)
            painter.fillRect(box, QColor(colours.card))
            painter.setPen(QColor(colours.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, level.name)


def _points(x: NDArray[np.float64], y: NDArray[np.float64]) -> QPolygonF:
    return QPolygonF([QPointF(*each) for each in zip(x.tolist(), y.tolist(), strict=True)])
