"""One causal pattern, large: rows are queries from the top, columns are keys. Knows no layers, heads or model.

Painted by hand and with no plot library: cells sit on whole device pixels, a hot cell survives any shrinking, labels
are thinned and never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent

from gpt_viz.ui.theme import mono_font, theme, tokens, ui_font
from gpt_viz.ui.widgets.colormap import Codes, Pixels, Spans, causal_pixels, codes_of, palette
from gpt_viz.ui.widgets.marks import mark_chosen, mark_focus, mark_hovered, mark_key, mark_query
from gpt_viz.ui.widgets.matrix_picture import SMALL, ZOOM_KEYS, MatrixPicture
from gpt_viz.ui.widgets.token_axis import Placed, Span, TokenAxis, paint_title


class Heatmap(MatrixPicture):
    """A pattern (T, T) with its tokens on both sides; its cells are (query, key).

    A `bare` one has nothing written beside it.
    """

    def __init__(self) -> None:
        super().__init__(frozenset(ZOOM_KEYS))
        self._chosen: tuple[int | None, int | None] = (None, None)
        self._bare = False
        self._across, self._down = TokenAxis(True), TokenAxis(False)
        theme.changed.connect(self._restyle)
        self._restyle()

    # -- what is shown --

    @property
    def count(self) -> int:
        """T, or fewer where each cell stands for a square of them."""
        return self.shape[0]

    def set_pattern(self, weights: npt.NDArray[np.float32], pieces: Sequence[str]) -> Codes:
        """Show other weights (T, T); `pieces` are the texts of the T tokens. The zoom stays while T does.

        Returns the weights' codes.
        """
        self.set_pieces(pieces)
        self.show_codes(codes_of(weights))
        return self.codes

    def set_pieces(self, pieces: Sequence[str]) -> None:
        """Write these texts of the T tokens beside the codes that come next."""
        for axis in (self._across, self._down):
            axis.set_pieces(pieces)

    def set_bare(self, bare: bool) -> None:
        """Leave what is written beside the picture away, where there is no room for it."""
        if bare != self._bare:
            self._bare = bare
            self.refresh()

    def set_chosen(self, query: int | None, key: int | None) -> None:
        """Outline the row of a query and the column of a key."""
        if (query, key) != self._chosen:
            self._chosen = (query, key)
            self.update()

    def _restyle(self) -> None:
        for axis in (self._across, self._down):
            axis.set_font(mono_font(SMALL))
        self._title_font = ui_font(SMALL)
        self._title_metrics = QFontMetricsF(self._title_font)
        self.refresh()

    # -- where things are --

    def margins(self) -> tuple[float, float, float, float]:
        """The room around the picture for labels and titles: left, top, right, bottom."""
        if self._bare:
            return 3, 3, 3, 3
        title = ceil(self._title_metrics.height())
        left = title + 4 + self._down.depth + 5
        bottom = 4 + self._across.depth + 3 + title
        return left, ceil(self._down.extent / 2), ceil(max(self._across.extent, self._down.extent) / 2), bottom

    def picture(self) -> QRectF:
        """The square that the cells fill, on whole device pixels."""
        return self._picture(self.width(), self.height())

    def fitted_height(self, width: int, height: int) -> int:
        """The part of the height that a room of that size would really use."""
        return ceil(self._picture(width, height).bottom() + self.margins()[3])

    def _picture(self, width: int, height: int) -> QRectF:
        left, top, right, bottom = self.margins()
        ratio = self.devicePixelRatioF()
        side = floor(max(min(width - left - right, height - top - bottom), 8) * ratio)
        each = side / self.count
        if floor(each) >= 0.9 * each:
            side = floor(each) * self.count  # cells of equal size, where that costs little
        return QRectF(floor(left * ratio) / ratio, floor(top * ratio) / ratio, side / ratio, side / ratio)

    def labels(self) -> tuple[list[Placed], list[Placed]]:
        """The labels as they are drawn now: of the queries, of the keys."""
        picture, pane = self.picture(), self.pane
        query, key = self.hovered_cell or self._chosen
        step = picture.width() / pane.columns
        down = Span(self.count, pane.row, picture.top(), picture.bottom(), step)
        across = Span(self.count, pane.column, picture.left(), picture.right(), step)
        return (
            self._down.placed(down, picture.left() - 5, query),
            self._across.placed(across, picture.bottom() + 4, key),
        )

    # -- painting --

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        table = palette(self.stretch, tokens().bad)
        return causal_pixels(self.codes, rows, columns, table, tokens().masked)

    def paintEvent(self, event: QPaintEvent) -> None:
        picture = self.picture()
        painter = QPainter(self)
        painter.drawImage(picture.topLeft(), self.rendered(picture))
        self._paint_marks(painter, picture)
        if not self._bare:
            self._paint_sides(painter, picture)
        if self.hasFocus():
            mark_focus(painter, picture)
        painter.end()

    def _paint_sides(self, painter: QPainter, picture: QRectF) -> None:
        colours = tokens()
        down, across = self.labels()
        query, key = QColor(colours.query), QColor(colours.key)
        self._down.paint(painter, down, query, query)
        self._across.paint(painter, across, QColor(colours.field), key)
        ascent = self._title_metrics.ascent()
        below = picture.bottom() + 4 + self._across.depth + 3 + ascent
        paint_title(painter, "key (to) →", self._title_font, QPointF(picture.left(), below), False)
        beside = QPointF(self._title_metrics.descent() + 1, picture.top())
        paint_title(painter, "query (from) →", self._title_font, beside, True)

    def _paint_marks(self, painter: QPainter, picture: QRectF) -> None:
        query, key = (None if at is None or at >= self.count else at for at in self._chosen)
        painter.save()
        painter.setClipRect(picture.adjusted(-2, -2, 2, 2))
        if key is not None:  # from the diagonal down: above it the key is masked
            mark_key(painter, self.cell_rect(key, key).united(self.cell_rect(self.count - 1, key)))
        if query is not None:
            mark_query(painter, self.cell_rect(query, 0).united(self.cell_rect(query, self.count - 1)))
        if query is not None and key is not None:
            mark_chosen(painter, self.cell_rect(query, key))
        if self.hovered_cell is not None:
            mark_hovered(painter, self.cell_rect(*self.hovered_cell))
        painter.restore()

    # -- keys --

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        query, key = self._chosen
        last = self.count - 1
        if way is None:
            row = self.pane.row + self.pane.rows / 2 if query is None else query + 0.5
            column = self.pane.column + self.pane.columns / 2 if key is None else key + 0.5
            self.zoom(ZOOM_KEYS[typed], row, column)
            return
        query = last if query is None else min(max(query + way[0], 0), last)
        key = query if key is None else min(max(key + way[1], 0), last)
        self.set_pane(self.pane.showing(query, key, *self.shape))
        self.chosen.emit(query, key)
