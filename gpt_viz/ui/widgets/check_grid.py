"""A small matrix of amounts as cells, dark to bright by powers of ten; an exact 0 is an empty cell. Knows no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen

from gpt_viz.ui.theme import mono_font, tokens
from gpt_viz.ui.widgets.check_picture import CheckPicture, figure
from gpt_viz.ui.widgets.colormap import cividis
from gpt_viz.ui.widgets.token_axis import Span, TokenAxis

SMALL = 0.85
SCALE_BAR = 8  # px
_DECADES = 7.0  # below the largest amount that are told apart


class CheckGrid(CheckPicture):
    """Amounts (R, n): rows have names, columns tokens or numbers. A line stands before the column `border`. `picked`
    carries the row and the column of a cell that was clicked.
    """

    picked = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._amounts: NDArray[np.float32] = np.zeros((1, 1), np.float32)
        self._rows: Sequence[str] = ("",)
        self._border: int | None = None
        self._across = ""
        self._tell: Callable[[int, int], str] = lambda row, column: ""
        self._axis = TokenAxis(True)
        self.measured()

    def show_grid(
        self,
        amounts: NDArray[np.float32],
        rows: Sequence[str],
        columns: Sequence[str],
        *,
        across: str,
        tell: Callable[[int, int], str],
        border: int | None = None,
    ) -> None:
        """Show amounts (R, n) of 0 and more; `tell` says what a cell is."""
        self._amounts, self._rows, self._across, self._border, self._tell = amounts, rows, across, border, tell
        self._axis.set_pieces(columns)
        used = int((amounts != 0).sum())
        self.setAccessibleDescription(f"{amounts.shape[0]} by {amounts.shape[1]} cells, {used} of them not 0")
        self.update()

    def measured(self) -> None:
        if hasattr(self, "_axis"):
            self._axis.set_font(mono_font(SMALL))

    def fitted(self, width: int, room: int) -> int:
        rows, columns = self._amounts.shape
        cells = width - self._left() - 2
        line = self.metrics.height()
        pitch: float = min(max(cells / columns, line + 2), max((room - 90) / rows, line), 34.0)
        height: int = ceil(rows * pitch + self._below())
        return height

    def words_at(self, point: QPointF) -> str:
        cell = self._cell_at(point)
        return "" if cell is None else self._tell(*cell)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(*cell)

    def _cell_at(self, point: QPointF) -> tuple[int, int] | None:
        plot, (rows, columns) = self._plot(), self._amounts.shape
        if not plot.contains(point):
            return None
        row = floor((point.y() - plot.y()) / plot.height() * rows)
        column = floor((point.x() - plot.x()) / plot.width() * columns)
        return min(row, rows - 1), min(column, columns - 1)

    def _left(self) -> float:
        return ceil(max(self.metrics.horizontalAdvance(name) for name in self._rows)) + 8

    def _below(self) -> float:
        return ceil(self._axis.depth + 4 + 2 * self.metrics.height() + SCALE_BAR + 14)

    def _plot(self) -> QRectF:
        left, columns = self._left(), self._amounts.shape[1]
        room = max(self.width() - left - 2, 8)
        each = min(room / columns, 48.0)
        each = floor(each) if floor(each) >= 4 else each
        return QRectF(left, 1, each * columns, max(self.height() - self._below(), 8))

    def _range(self) -> tuple[float, float]:
        """The exponents of the smallest and the largest amount that are told apart."""
        positive = self._amounts[np.isfinite(self._amounts) & (self._amounts > 0)]
        if not positive.size:
            return -1.0, 0.0
        high = log10(float(positive.max()))
        low = max(log10(float(positive.min())), high - _DECADES)
        return (low, high) if high - low > 0.1 else (high - 1.0, high)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, plot = tokens(), self._plot()
        rows, columns = self._amounts.shape
        wide, high = plot.width() / columns, plot.height() / rows
        painter = QPainter(self)
        painter.setFont(self.font_)
        shades = self._shades()
        gap = 1.0 if min(wide, high) >= 6 else 0.0
        for row in range(rows):
            painter.setPen(QColor(colours.text))
            label = QRectF(0, plot.y() + row * high, plot.x() - 8, high)
            painter.drawText(
                label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip,
                self._rows[row],
            )  # fmt: skip
            for column in range(columns):
                cell = QRectF(plot.x() + column * wide, plot.y() + row * high, wide - gap, high - gap)
                painter.fillRect(cell, shades[row][column] or QColor(colours.masked))
        if self._border is not None:
            x = plot.x() + self._border * wide - gap / 2
            painter.setPen(QPen(QColor(colours.query), 2))
            painter.drawLine(QPointF(x, plot.y() - 1), QPointF(x, plot.bottom() + 2))
        span = Span(columns, 0, plot.left(), plot.right(), wide)
        labels = self._axis.placed(span, plot.bottom() + 3, self._border)
        self._axis.paint(painter, labels, QColor(colours.query), QColor(colours.query))
        self._paint_legend(painter, plot)
        painter.end()

    def _shades(self) -> list[list[QColor | None]]:
        """The colour of each cell; None for an exact 0."""
        low, high = self._range()
        table = cividis()
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (np.log10(self._amounts.astype(np.float64)) - low) / (high - low)
        steps = np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0) * 235 + 20
        bad = QColor(tokens().bad)
        return [
            [
                None if amount == 0 else QColor.fromRgb(int(table[int(step)])) if np.isfinite(amount) else bad
                for amount, step in zip(amounts, steps_, strict=True)
            ]
            for amounts, steps_ in zip(self._amounts, steps, strict=True)
        ]

    def _paint_legend(self, painter: QPainter, plot: QRectF) -> None:
        colours, line = tokens(), self.metrics.height()
        top = plot.bottom() + 4 + self._axis.depth
        painter.setFont(self.font_)
        painter.setPen(QColor(colours.muted))
        painter.drawText(QRectF(plot.x(), top, self.width() - plot.x(), line), Qt.AlignmentFlag.AlignLeft, self._across)
        top += line + 6
        low, high = self._range()
        empty, first, last = "exactly 0", figure(10**low), figure(10**high)
        x = plot.x()
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(QColor(colours.masked))
        painter.drawRect(QRectF(x + 0.5, top + line / 2 - 5, 10, 10))
        painter.setPen(QColor(colours.muted))
        painter.drawText(QRectF(x + 16, top, 200, line), Qt.AlignmentFlag.AlignVCenter, empty)
        if not (self._amounts > 0).any():
            return
        x += 16 + self.metrics.horizontalAdvance(empty) + 18
        painter.drawText(QRectF(x, top, 200, line), Qt.AlignmentFlag.AlignVCenter, first)
        x += self.metrics.horizontalAdvance(first) + 8
        width = min(120.0, max(self.width() - x - self.metrics.horizontalAdvance(last) - 12, 20.0))
        table = cividis()
        for at in range(int(width)):
            colour = QColor.fromRgb(int(table[20 + int(at / width * 235)]))
            painter.fillRect(QRectF(x + at, top + (line - SCALE_BAR) / 2, 1.2, SCALE_BAR), colour)
        painter.drawText(QRectF(x + width + 8, top, 200, line), Qt.AlignmentFlag.AlignVCenter, last)
