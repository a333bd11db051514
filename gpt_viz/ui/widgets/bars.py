"""A distribution over a whole vocabulary as a scrolling list of bars. Knows no model and no text, only ids.

What the cuts took away is drawn as an outline of what it had before them; the drawn token is marked, and stays in
sight at the edge of the list.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.glyphs import is_invisible, visible
from gpt_viz.ui.widgets.likelihood import Floats, before_cuts, likeliest, percent
from gpt_viz.ui.widgets.tint import mixed
from gpt_viz.ui.widgets.token_rows import GAP, LEAST_WIDTH, TokenRows

ORDERS = {"probability": "by probability", "id": "by id"}
_SORTED = 512  # rows that are sorted at once

_NOTHING = np.zeros(0, np.float32)


class Bars(TokenRows):
    """One bar for each token of the vocabulary, `order`ed by probability or by id."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.order = "probability"
        self._logits, self._kept = _NOTHING, _NOTHING
        self._before: NDArray[np.float64] = np.zeros(0)
        self._ranked: NDArray[np.int64] = np.zeros(0, np.int64)  # as far down as was asked for
        self._drawn: int | None = None
        self._temperature = 1.0
        super().__init__(parent)

    # -- what it shows --

    def show_distribution(
        self,
        logits: Floats,
        probabilities: Floats,
        *,
        drawn: int | None = None,
        temperature: float = 1.0,
        piece: Callable[[int], str] = str,
    ) -> None:
        """Show what may come next. logits (V,), probabilities (V,) after temperature and cuts, 0 where cut away.

        `drawn` is the id to mark, `piece` gives an id's text.
        """
        same = logits is self._logits and probabilities is self._kept and piece == self._piece
        if same and (drawn, temperature) == (self._drawn, self._temperature):
            return
        self._logits, self._kept, self._drawn, self._temperature = logits, probabilities, drawn, temperature
        self._before = before_cuts(logits, temperature)
        self._ranked = np.zeros(0, np.int64)
        if piece != self._piece:
            self._piece, self._label_columns = piece, 1
        self._fit()
        self.refresh()

    def clear(self) -> None:
        """Show nothing."""
        self._logits = self._kept = _NOTHING
        self._drawn = None
        self.refresh()

    def set_order(self, order: str) -> None:
        """Sort the bars: one of ORDERS."""
        if order != self.order:
            self.order = order
            self.verticalScrollBar().setValue(0)
            self.viewport().update()

    def __len__(self) -> int:
        return len(self._logits)

    def id_at_row(self, row: int) -> int:
        if self.order == "id":
            return row
        if row >= len(self._ranked):
            self._ranked = likeliest(self._logits, max(2 * row, _SORTED))
        return int(self._ranked[row])

    def row_of(self, id: int) -> int:
        """The row that a token stands in."""
        return self.rank(id) if self.order == "probability" else id

    def is_cut(self, id: int) -> bool:
        """Whether the cuts (or greed) have taken this token away."""
        return not self._kept[id] > 0

    def rank(self, id: int) -> int:
        """How many tokens the model prefers to this one."""
        own = self._logits[id]
        return int((self._logits > own).sum()) + int((self._logits[:id] == own).sum())

    def tip(self, id: int) -> str:
        rank = self.rank(id)
        place = "the likeliest" if rank == 0 else f"rank {rank:,} of {len(self):,}, counted from 0"
        lines = [f"“{visible(self._piece(id))}”  id {id:,}", f"logit {self._logits[id]:.4g}", place]
        if self.is_cut(id):
            lines.append(f"cut away; before the cuts {percent(float(self._before[id]))}")
        else:
            lines.append(f"probability {percent(float(self._kept[id]))}")
        return "\n".join(lines)

    # -- where things stand --

    def row_at(self, point: QPoint) -> int | None:
        """The row under a point of the viewport; a pinned one first."""
        pinned = self._pinned()
        if pinned is not None and pinned[1].contains(point):
            return pinned[0]
        return super().row_at(point)

    def _pinned(self) -> tuple[int, QRectF] | None:
        """The drawn token's row and where it is pinned, where it would be out of sight."""
        if self._drawn is None or not len(self):
            return None
        row = self.row_of(self._drawn)
        rect, bottom = self.row_rect(row), self.page * self._pitch
        if rect.top() < 0:
            return row, rect.translated(0, -rect.top())
        if rect.bottom() > bottom:
            return row, rect.translated(0, bottom - rect.bottom())
        return None

    def measure(self) -> None:
        self._label_font, self._number_font = theme.mono_font(), theme.ui_font(0.92)
        self._cell = QFontMetricsF(self._label_font).horizontalAdvance("0")
        bold = QFontMetricsF(_bold(self._number_font))
        self._number_width = max(bold.horizontalAdvance("100.0 %"), bold.horizontalAdvance("0.0001 %"))
        self._pitch = round(QFontMetricsF(self._label_font).height() * 1.4)
        self._fit()
        self.refresh()

    def _fit(self) -> None:
        """Let a label as long as the last id's, a short bar and a number stand side by side."""
        self.widen([len(self) - 1] if len(self) else ())
        bar = self.verticalScrollBar().sizeHint().width()
        label = self._label_columns * self._cell
        self.setMinimumWidth(max(LEAST_WIDTH, round(label + self._number_width + 3.5 * GAP + 16 + bar)))

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        if not len(self):
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = range(self.first, min(self.first + self.page, len(self)))
        ids = [self.id_at_row(row) for row in rows]
        self.widen(ids)
        scale = max(float(self._kept.max()), 1e-12)
        for row, id in zip(rows, ids, strict=True):
            self._paint_row(painter, self.row_rect(row), id, scale)
        pinned = self._pinned()
        if pinned is not None and self._drawn is not None:
            rect, colours = pinned[1], theme.tokens()
            painter.fillRect(rect, QColor(colours.card))
            self._paint_row(painter, rect, self._drawn, scale)
            painter.setPen(QPen(QColor(colours.muted), 1, Qt.PenStyle.DotLine))
            edge = rect.top() if rect.top() > 0 else rect.bottom()
            painter.drawLine(QPointF(0, edge), QPointF(rect.width(), edge))

    def _paint_row(self, painter: QPainter, row: QRectF, id: int, scale: float) -> None:
        colours, drawn, cut = theme.tokens(), id == self._drawn, self.is_cut(id)
        head = colours.kinds["output head"]
        if drawn:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected))
            painter.drawRoundedRect(row.adjusted(0, 1, 0, -1), 4, 4)
        quiet = is_invisible(self._piece(id)) or (cut and not drawn)
        font = self._label_font if not drawn else _bold(self._label_font)
        left = self.paint_label(painter, row, id, colours.muted if quiet else colours.text, font)
        probability = float(self._before[id] if cut else self._kept[id])
        room = max(row.width() - left - self._number_width - 2.5 * GAP, 8)
        length = max(room * min(probability / scale, 1.0), 1.0)
        bar = QRectF(left + GAP, row.center().y() - 5.5, length, 11)
        number = QRectF(bar.right() + GAP, row.top(), self._number_width + GAP, row.height())
        if cut:
            painter.setPen(QPen(mixed(colours.muted, colours.card, 0.6), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            bar.adjust(0.5, 0.5, -0.5 if length > 2 else 0, -0.5)
        else:
            # On the contrast theme's strong selection the drawn bar needs an edge.
            edge = QPen(QColor(colours.text), 1) if drawn and colours.name == "contrast" else QPen(Qt.PenStyle.NoPen)
            painter.setPen(edge)
            painter.setBrush(QColor(head) if drawn else mixed(head, colours.card, 0.6 if colours.dark else 0.45))
        painter.drawRoundedRect(bar, min(2.5, length / 3), 2.5)
        painter.setFont(self._number_font if not drawn else _bold(self._number_font))
        painter.setPen(QColor(colours.text if drawn else colours.muted))
        painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, percent(probability))


def _bold(font: QFont) -> QFont:
    heavier = QFont(font)
    heavier.setWeight(QFont.Weight.Bold)
    return heavier
