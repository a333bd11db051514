"""How often each size of number occurs, above the colours that the picture beside it has. Knows no tensor.

The bars stand on the scale itself, so it is the picture's legend as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.colormap import image_of
from gpt_viz.ui.widgets.numbers import written
from gpt_viz.ui.widgets.shades import Shades

RAMP = 7  # px, the height of the colours
SMALL = 0.85


@dataclass(frozen=True, slots=True)
class Bins:
    """Counts in bins of equal width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]

    def edges(self, bin: int) -> tuple[float, float]:
        """From where to where a bin goes."""
        share = (self.high - self.low) / len(self.counts)
        return self.low + share * bin, self.low + share * (bin + 1)


class Histogram(QWidget):
    """Bars over a ramp of colours, with the ends and 0 written below; a tick marks one number."""

    def __init__(self) -> None:
        super().__init__()
        self.bins: Bins | None = None
        self._shades = Shades(shades.SIGNED)
        self._notes: tuple[str, ...] = ()
        self._number: float | None = None
        self._pointed: int | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setAccessibleName("How often each size of number occurs")
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_bins(self, bins: Bins | None, scale: Shades, notes: Sequence[str] = ()) -> None:
        """Show other counts over another scale; `notes` name marks of their own: masked, not finite."""
        if (bins, scale, tuple(notes)) != (self.bins, self._shades, self._notes):
            self.bins, self._shades, self._notes = bins, scale, tuple(notes)
            self._pointed = None
            self._describe()
            self.update()

    def set_number(self, number: float | None) -> None:
        """Mark a number on the scale."""
        if number != self._number:
            self._number = number
            self.update()

    def caption(self) -> str:
        """What is written above the bars: the bar under the mouse, else how many numbers there are."""
        if self.bins is None:
            return "no number is finite"
        at = self._pointed
        if at is None:
            count = sum(self.bins.counts)
            return f"{count:,} numbers" if count != 1 else "1 number"
        low, high = self.bins.edges(at)
        return f"{self.bins.counts[at]:,} from {written(low, 2)} to {written(high, 2)}"

    def bars(self) -> QRectF:
        """Where the bars are drawn."""
        line = ceil(self._metrics.height())
        marks = (line + 2) * bool(self._notes)
        return QRectF(1, line + 4, self.width() - 2, max(self.height() - 2 * line - 4 - RAMP - 3 - marks, 8))

    def x_of(self, number: float, bins: Bins) -> float:
        """Where a number stands on the scale of these bins, in px."""
        area = self.bars()
        return area.x() + area.width() * (number - bins.low) / (bins.high - bins.low)

    def _describe(self) -> None:
        said = "; ".join(self._notes)
        bins = self.bins
        self.setAccessibleDescription(
            said if bins is None else f"from {written(bins.low)} to {written(bins.high)}{'; ' if said else ''}{said}"
        )

    def _restyle(self) -> None:
        self._font = ui_font(SMALL)
        self._metrics = QFontMetricsF(self._font)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(176, 96 + 3 * ceil(self._metrics.height()))

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, bars, metrics = tokens(), self.bars(), self._metrics
        painter = QPainter(self)
        painter.setFont(self._font)
        painter.setPen(QColor(colours.muted))
        shown = metrics.elidedText(self.caption(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QPointF(0, metrics.ascent()), shown)
        if self.bins is not None:
            self._paint_bars(painter, bars, self.bins)
            self._paint_scale(painter, bars, self.bins)
        self._paint_marks(painter)
        painter.end()

    def _paint_bars(self, painter: QPainter, area: QRectF, bins: Bins) -> None:
        colours, most = tokens(), max(max(bins.counts), 1)
        wide = area.width() / len(bins.counts)
        painter.setPen(Qt.PenStyle.NoPen)
        for at, count in enumerate(bins.counts):
            if count:
                tall = max(area.height() * count / most, 1.5)
                left, right = round(area.x() + at * wide), round(area.x() + (at + 1) * wide)
                gap = 1 if wide >= 4 else 0
                painter.setBrush(QColor(colours.text if at == self._pointed else colours.muted))
                painter.drawRect(QRectF(left, area.bottom() - tall, max(right - left - gap, 1), tall))

    def _paint_scale(self, painter: QPainter, area: QRectF, bins: Bins) -> None:
        colours, metrics = tokens(), self._metrics
        ramp = QRectF(area.x(), area.bottom() + 1, area.width(), RAMP)
        numbers = np.linspace(bins.low, bins.high, max(int(area.width()), 2), dtype=np.float32)[None, :]
        pixels = shades.pixels_of(shades.codes_of(numbers), self._shades, colours)
        painter.drawImage(ramp, image_of(np.ascontiguousarray(pixels)))
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(ramp.adjusted(0.5, 0.5, -0.5, -0.5))
        base = ramp.bottom() + 2 + metrics.ascent()
        painter.setPen(QColor(colours.muted))
        low, high = written(bins.low, 3), written(bins.high, 3)
        end = area.right() - metrics.horizontalAdvance(high)
        painter.drawText(QPointF(area.x(), base), low)
        painter.drawText(QPointF(end, base), high)
        if bins.low < 0 < bins.high:
            x = self.x_of(0.0, bins)
            if area.x() + metrics.horizontalAdvance(low) + 8 < x - 4 and x + 12 < end:
                painter.drawText(QPointF(x - metrics.horizontalAdvance("0") / 2, base), "0")
        if self._number is not None and bins.low <= self._number <= bins.high:
            x = self.x_of(self._number, bins)
            painter.setPen(QPen(QColor(colours.accent_text), 2))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, ramp.bottom()))

    def _paint_marks(self, painter: QPainter) -> None:
        colours, line, x = tokens(), self._metrics.height(), 1.0
        y = self.height() - line
        for note in self._notes:
            square = QRectF(x + 0.5, round(y + (line - 10) / 2) + 0.5, 9, 9)
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.setBrush(QColor(colours.masked if note == "masked" else colours.bad))
            painter.drawRect(square)
            if note == "masked":
                painter.drawLine(square.bottomLeft(), square.topRight())
            painter.setPen(QColor(colours.muted))
            painter.drawText(QPointF(x + 15, y + self._metrics.ascent()), note)
            x += 15 + self._metrics.horizontalAdvance(note) + 14

    # -- the mouse --

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area, at = self.bars(), None
        if self.bins is not None and area.left() <= event.position().x() < area.right():
            at = int((event.position().x() - area.x()) / area.width() * len(self.bins.counts))
        self._point(at)

    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)

    def _point(self, at: int | None) -> None:
        if at != self._pointed:
            self._pointed = at
            self.update()
