"""A matrix of weights as a picture, and how its numbers are spread. Knows no model.

Both have one scale, as long below 0 as above, which is given: weights that are trained move on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.histogram import Bins, Histogram
from gpt_viz.ui.widgets.shades import Shades
from gpt_viz.ui.widgets.sheet import Sheet
from gpt_viz.ui.widgets.tensor_picture import TensorPicture

STRIP = 28  # px that one row of cells is high, at most
SLIMMEST = 8.0  # a cell's long side by its short one, at most
LARGEST = 64  # px of a cell's side
LABELLED = (190, 84, 120)  # px: a picture that is less wide, or less high with one row or with more, has no labels


class WeightPicture(TensorPicture):
    """The picture of one tensor; `limit` is the size at which its colours end. A `titled` one has its name above it,
    and labels beside it where there is room for them.
    """

    def __init__(self) -> None:
        self._limit, self._titled = 1.0, False
        super().__init__()

    def show_weights(self, sheet: Sheet | None, limit: float, *, titled: bool) -> None:
        """Show another tensor."""
        before = (self._limit, self._titled, self.small)
        self._limit, self._titled = limit, titled
        self.show_sheet(sheet)
        self._fit()
        if before != (self._limit, self._titled, self.small):
            self.refresh()

    def margins(self) -> tuple[float, float, float, float]:
        left, top, right, bottom = super().margins()
        title = self._titled and not self.small
        return left, top + (self.line + 2 if title else 0), right, bottom

    def picture(self) -> QRectF:
        """The rectangle that the cells fill: nearly all there is, as a matrix of weights has no shape of its own."""
        left, top, right, bottom = self.margins()
        ratio, (rows, columns) = self.devicePixelRatioF(), self.shape
        wide = min(max(self.width() - left - right, 8) * ratio / columns, LARGEST * ratio)
        high = min(max(self.height() - top - bottom, 8) * ratio / rows, LARGEST * ratio)
        if rows == 1:
            high = min(high, STRIP * ratio)
        else:
            wide, high = min(wide, high * SLIMMEST), min(high, wide * SLIMMEST)
        return self.on_pixels(left, top, wide, high)

    def scale(self) -> Shades:
        return replace(super().scale(), limit=self._limit)

    def _fit(self) -> None:
        high = LABELLED[1 if self.sheet is not None and self.sheet.rows == 1 else 2]
        self.small = self._titled and (self.width() < LABELLED[0] or self.height() < high)

    def paint_words(self, painter: QPainter, picture: QRectF) -> None:
        super().paint_words(painter, picture)
        if self._titled and not self.small:
            self.paint_name(painter, picture.left(), whole=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean, the standard deviation around it, and the one around 0 that was promised; None is not marked."""

    mean: float | None = None
    now: float | None = None
    promised: float | None = None


class SpreadHistogram(Histogram):
    """The histogram with its spread marked: full lines now, dashed ones as promised."""

    def __init__(self) -> None:
        super().__init__()
        self._spread = Spread()
        self.setToolTip(
            "Full lines: one std to both sides of the mean. Dashed lines: one std to both sides of 0, as promised."
        )

    def show_spread(self, bins: Bins | None, limit: float, spread: Spread, *, not_finite: bool) -> None:
        """Show another tensor's numbers."""
        if spread != self._spread:
            self._spread = spread
            self.update()
        self.show_bins(bins, Shades(shades.SIGNED, limit), ("not finite",) if not_finite else ())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.bins is None:
            return
        painter, area, colours = QPainter(self), self.bars(), tokens()
        lines = (
            (0.0, self._spread.promised, colours.text, Qt.PenStyle.DashLine),
            (self._spread.mean or 0.0, self._spread.now, colours.accent_text, Qt.PenStyle.SolidLine),
        )
        for mean, size, colour, style in lines:
            for number in (mean - size, mean + size) if size else ():
                x = round(self.x_of(number, self.bins)) + 0.5
                for pen in (QPen(QColor(colours.card), 3), QPen(QColor(colour), 1, style)):
                    painter.setPen(pen)
                    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        painter.end()
