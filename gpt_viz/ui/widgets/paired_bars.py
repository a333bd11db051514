"""Two distributions over one vocabulary as a scrolling list, two bars to a token. Knows no model, only ids."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.glyphs import is_invisible, visible
from gpt_viz.ui.widgets.likelihood import percent
from gpt_viz.ui.widgets.sides import side_colours
from gpt_viz.ui.widgets.token_rows import GAP, TokenRows

Shares = npt.NDArray[np.float64]
_NOTHING: Shares = np.zeros(0)
_BAR = 7  # px, the height of one bar


class PairedBars(TokenRows):
    """A row for each token: its text, the bar of the first above that of the second, both probabilities."""

    least_rows = 2

    def __init__(self) -> None:
        self.order: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._pair = (_NOTHING, _NOTHING)
        super().__init__()

    def show_pair(
        self, one: Shares, other: Shares, order: npt.NDArray[np.int64], piece: Callable[[int], str] = str
    ) -> None:
        """Show the probabilities (V,) of both, in this order of ids; `piece` gives an id's text."""
        self._pair, self.order, self._piece, self._label_columns = (one, other), order, piece, 1
        self.refresh()

    def clear(self) -> None:
        """Show nothing."""
        self._pair, self.order = (_NOTHING, _NOTHING), np.zeros(0, np.int64)
        self.refresh()

    def __len__(self) -> int:
        return len(self.order)

    def tip(self, id: int) -> str:
        one, other = (float(each[id]) for each in self._pair)
        return f"“{visible(self._piece(id))}”  id {id:,}\n{percent(one)} and {percent(other)}"

    def id_at_row(self, row: int) -> int:
        return int(self.order[row])

    def measure(self) -> None:
        self._label_font, self._number_font = theme.mono_font(), theme.ui_font(0.85)
        self._cell = QFontMetricsF(self._label_font).horizontalAdvance("0")
        numbers = QFontMetricsF(self._number_font)
        self._number_width = numbers.horizontalAdvance("0.0001 %")
        self._half = max(round(numbers.height()), _BAR + 3)
        self._pitch = 2 * self._half + 6
        self.refresh()

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        if not len(self):
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ids = [int(id) for id in self.order[self.first : self.first + self.page]]
        self.widen(ids)
        scale = max(float(each.max()) for each in self._pair)
        for row, id in enumerate(ids, self.first):
            self._paint_row(painter, self.row_rect(row), id, max(scale, 1e-12))
        painter.end()

    def _paint_row(self, painter: QPainter, row: QRectF, id: int, scale: float) -> None:
        colours = theme.tokens()
        quiet = is_invisible(self._piece(id))
        label = self.paint_label(painter, row, id, colours.muted if quiet else colours.text, self._label_font)
        left = label + GAP
        room = max(row.width() - left - self._number_width - GAP, 8)
        painter.setFont(self._number_font)
        for line, (shares, colour) in enumerate(zip(self._pair, side_colours(), strict=True)):
            probability = float(shares[id])
            half = QRectF(left, row.top() + 3 + line * self._half, room, self._half)
            length = max(room * min(probability / scale, 1.0), 1.0) if probability == probability else 1.0
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(left, half.center().y() - _BAR / 2, length, _BAR), min(2, length / 3), 2)
            painter.setPen(QColor(colours.muted))
            number = QRectF(left + length + GAP * 0.75, half.top(), self._number_width + GAP, half.height())
            painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, percent(probability))
