"""Many quantities in their order as thin upright bars, such as one for each step of a pass. Knows not what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets.check_picture import CheckPicture, figure, ticks

Floats = NDArray[np.float32]
_NOTHING: Floats = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Line:
    """A level that the bars are held against, with its name."""

    value: float
    name: str


class CheckProfile(CheckPicture):
    """Bars over an axis of their order; hover names each. Zero on a scale of powers of ten is a cross at the foot."""

    def __init__(self) -> None:
        super().__init__()
        self._values, self._second = _NOTHING, _NOTHING
        self._kinds: Sequence[str] = ()
        self._wrong: frozenset[int] = frozenset()
        self._lines: tuple[Line, ...] = ()
        self._log = False
        self._base: float | None = None
        self._band: tuple[float, float] | None = None
        self._across, self._up = "", ""
        self._tell: Callable[[int], str] = str
        self._hovered: int | None = None

    def show_profile(
        self,
        values: Floats,
        *,
        across: str,
        up: str,
        tell: Callable[[int], str],
        kinds: Sequence[str] = (),
        second: Floats = _NOTHING,
        wrong: frozenset[int] = frozenset(),
        lines: Sequence[Line] = (),
        log: bool = False,
        base: float | None = None,
        band: tuple[float, float] | None = None,
    ) -> None:
        """Show values (n,), the axes named `across` and `up`; `tell` says what a bar is. `second` (n,) is an outline;
        `wrong` bars are marked; `log` is a scale of powers of ten. Bars stand on `base`, or on the foot of the scale;
        a `band` of levels is tinted."""
        self._base, self._band = base, band
        self._values, self._second, self._kinds, self._wrong = values, second, kinds, wrong
        self._lines, self._log, self._across, self._up, self._tell = tuple(lines), log, across, up, tell
        self._hovered = None
        least, most = self._range()
        self.setAccessibleDescription(f"{len(values)} bars, {up} over {across}, from {least:.3g} to {most:.3g}")
        self.update()

    def fitted(self, width: int, room: int) -> int:
        return max(min(round(0.36 * width), room, 340), 130)

    def words_at(self, point: QPointF) -> str:
        plot, count = self._plot(), len(self._values)
        at = floor((point.x() - plot.x()) / max(plot.width(), 1) * count)
        self._hovered = at if count and plot.contains(point) and 0 <= at < count else None
        self.update()
        return "" if self._hovered is None else self._tell(self._hovered)

    def _range(self) -> tuple[float, float]:
        """The lowest and highest level of the scale."""
        shown = [*self._values[np.isfinite(self._values)].tolist(), *self._second.tolist()]
        shown += [line.value for line in self._lines if isfinite(line.value)]
        if self._base is not None:
            shown += [self._base, *(self._band or ())]
            air = 0.06 * (max(shown) - min(shown)) or 1.0
            return min(shown) - air, max(shown) + air
        if not self._log:
            return 0.0, max(shown, default=1.0) * 1.08 or 1.0
        positive = [value for value in shown if value > 0]
        low, high = log10(min(positive, default=0.1)), log10(max(positive, default=1.0))
        air = 0.06 * (high - low) + 0.1
        return 10.0 ** (low - air), 10.0 ** (high + air)

    def _plot(self) -> QRectF:
        line = self.metrics.height()
        left = max(self.metrics.horizontalAdvance(text) for text in self._tick_texts()) + 8
        right = max((self.metrics.horizontalAdvance(each.name) + 8 for each in self._lines), default=2.0)
        return QRectF(left, line + 6, max(self.width() - left - right, 8), max(self.height() - 2 * line - 16, 8))

    def _tick_texts(self) -> list[str]:
        return [_power(value) if self._log else figure(value) for value in self._ticks()] or ["0"]

    def _ticks(self) -> list[float]:
        low, high = self._range()
        most = max(int((self.height() - 3 * self.metrics.height()) / (1.8 * self.metrics.height())), 3)
        if not self._log:
            return ticks(low, high, min(most, 5))
        first, last = ceil(log10(low)), floor(log10(high))
        every = max(-(-(last - first) // most), 1)
        return [10.0**power for power in range(first, last + 1, every)]

    def _height(self, values: Floats, plot: QRectF) -> NDArray[np.float64]:
        """How high values stand, in px."""
        low, high = self._range()
        given = values.astype(np.float64)
        if self._log:
            with np.errstate(divide="ignore", invalid="ignore"):
                share = (np.log10(given) - log10(low)) / (log10(high) - log10(low))
        else:
            share = (given - low) / (high - low)
        return np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0) * plot.height()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, plot = tokens(), self._plot()
        painter = QPainter(self)
        painter.setFont(self.font_)
        self._paint_axes(painter, plot)
        count = len(self._values)
        if count:
            heights = self._height(self._values, plot)
            foot = 0.0 if self._base is None else self._height(np.array([self._base], np.float32), plot)[0]
            step = plot.width() / count
            body = max(step * 0.74, min(step, 1.0))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, step >= 3)
            for at in self._worth_drawing(heights, int(plot.width())):
                kind = self._kinds[at] if at < len(self._kinds) else ""
                colour = colours.bad if at in self._wrong else colours.kinds.get(kind, colours.accent_text)
                x = plot.x() + at * step + (step - body) / 2
                bar = QRectF(x, plot.bottom() - max(heights[at], foot), body, abs(heights[at] - foot))
                painter.fillRect(bar, QColor(colours.text if at == self._hovered else colour))
                if at in self._wrong and not heights[at]:
                    self._paint_cross(painter, QPointF(plot.x() + (at + 0.5) * step, plot.bottom() - 6))
            self._paint_second(painter, plot, step)
        self._paint_lines(painter, plot)
        painter.end()

    def _worth_drawing(self, heights: NDArray[np.float64], pixels: int) -> list[int]:
        """The bars that are drawn: all, or where several share a pixel the highest of them, and every wrong one."""
        count = len(heights)
        if count <= pixels:
            return list(range(count))
        starts = [pixel * count // max(pixels, 1) for pixel in range(max(pixels, 1))]
        highest = [
            start + int(heights[start:end].argmax()) for start, end in zip(starts, [*starts[1:], count], strict=True)
        ]
        return sorted({*highest, *self._wrong})

    def _paint_axes(self, painter: QPainter, plot: QRectF) -> None:
        colours, line = tokens(), self.metrics.height()
        if self._band is not None:
            bottom, top = plot.bottom() - self._height(np.array(self._band, np.float32), plot)
            painter.fillRect(QRectF(plot.x(), top, plot.width(), bottom - top), QColor(colours.selected))
        for value, text in zip(self._ticks(), self._tick_texts(), strict=False):
            y = plot.bottom() - self._height(np.array([value], np.float32), plot)[0]
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(plot.x(), round(y) + 0.5), QPointF(plot.right(), round(y) + 0.5))
            painter.setPen(QColor(colours.muted))
            box = QRectF(0, y - line / 2, plot.x() - 6, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(QColor(colours.muted))
        painter.drawText(QRectF(0, 0, self.width(), line), Qt.AlignmentFlag.AlignLeft, self._up)
        painter.drawText(
            QRectF(plot.x(), plot.bottom() + 6, plot.width(), line), Qt.AlignmentFlag.AlignLeft, f"{self._across} →"
        )

    def _paint_second(self, painter: QPainter, plot: QRectF, step: float) -> None:
        if not len(self._second):
            return
        painter.setPen(QPen(QColor(tokens().text), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        tops = plot.bottom() - self._height(self._second, plot)
        corners = [QPointF(plot.x() + (at + side) * step, top) for at, top in enumerate(tops) for side in (0, 1)]
        painter.drawPolyline(corners)

    def _paint_lines(self, painter: QPainter, plot: QRectF) -> None:
        colours, line = tokens(), self.metrics.height()
        taken: list[QRectF] = []
        for each in sorted(self._lines, key=lambda one: -one.value):
            y = plot.bottom() - self._height(np.array([each.value], np.float32), plot)[0]
            painter.setPen(QPen(QColor(colours.text), 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(plot.x(), y), QPointF(plot.right(), y))
            box = QRectF(plot.right() + 6, y - line / 2, self.metrics.horizontalAdvance(each.name) + 2, line)
            for other in taken:
                if box.intersects(other):
                    box.moveTop(other.bottom() + 1)
            taken.append(box)
            painter.setPen(QColor(colours.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, each.name)

    def _paint_cross(self, painter: QPainter, at: QPointF) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens().bad), 1.8))
        painter.drawLine(at + QPointF(-3, -3), at + QPointF(3, 3))
        painter.drawLine(at + QPointF(3, -3), at + QPointF(-3, 3))
        painter.restore()


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power(value: float) -> str:
    """A power of ten as it is read.

    >>> _power(0.001), _power(1.0)
    ('10⁻³', '1')
    """
    power = round(log10(value))
    return "1" if power == 0 else "10" if power == 1 else f"10{str(power).translate(_RAISED)}"
