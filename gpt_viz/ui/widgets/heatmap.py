"""One causal pattern, large: rows are queries from the top, columns are keys. Knows no layers, heads or model.

Painted by hand and with no plot library: cells sit on whole device pixels, a hot cell survives any shrinking, labels
are thinned and never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)

from gpt_viz.ui.theme import mono_font, theme, tokens, ui_font
from gpt_viz.ui.widgets.colormap import Codes, Pixels, Spans, causal_pixels, codes_of, image_of, palette, spans
from gpt_viz.ui.widgets.marks import mark_chosen, mark_focus, mark_hovered, mark_key, mark_query
from gpt_viz.ui.widgets.pattern_picture import PatternPicture
from gpt_viz.ui.widgets.token_axis import Placed, Span, TokenAxis, paint_title
from gpt_viz.ui.widgets.zoom import View

SMALL = 0.85  # of the base size, as everywhere
_ZOOM = {Qt.Key.Key_Plus: 0.8, Qt.Key.Key_Equal: 0.8, Qt.Key.Key_Minus: 1.25, Qt.Key.Key_0: 1e9}


class Heatmap(PatternPicture):
    """A pattern (T, T) with its tokens on both sides. `chosen` and `hovered` speak of cells as (query, key)."""

    chosen = Signal(int, int)
    hovered = Signal(object)  # (query, key), or None outside

    def __init__(self) -> None:
        super().__init__(2, frozenset(_ZOOM))
        self._chosen: tuple[int | None, int | None] = (None, None)
        self._hover: tuple[int, int] | None = None
        self._view = View(0, 0, 1)
        self._pressed: tuple[QPointF, View] | None = None
        self._dragged = False
        self._image: QImage | None = None
        self._pixels: npt.NDArray[np.uint32] | None = None
        self._across, self._down = TokenAxis(True), TokenAxis(False)
        theme.changed.connect(self._restyle)
        self._restyle()

    # -- what is shown --

    @property
    def count(self) -> int:
        """T, or fewer where each cell stands for a square of them."""
        return int(self._codes.shape[0])

    def set_pattern(self, weights: npt.NDArray[np.float32], pieces: Sequence[str]) -> Codes:
        """Show other weights (T, T); `pieces` are the texts of the T tokens. The zoom stays while T does.

        Returns the weights' codes.
        """
        old, self._codes = self.count, codes_of(weights)
        if self.count != old:
            self._view = View(0, 0, self.count)
            self._set_hover(None)
        for axis in (self._across, self._down):
            axis.set_pieces(pieces)
        self.refresh()
        return self._codes

    def set_chosen(self, query: int | None, key: int | None) -> None:
        """Outline the row of a query and the column of a key."""
        if (query, key) != self._chosen:
            self._chosen = (query, key)
            self.update()

    def reset_view(self) -> None:
        """Show the whole pattern."""
        self._set_view(View(0, 0, self.count))

    @property
    def hovered_cell(self) -> tuple[int, int] | None:
        """The (query, key) under the cursor, or None."""
        return self._hover

    @property
    def view(self) -> View:
        """Which cells are shown."""
        return self._view

    def _set_view(self, view: View) -> None:
        if view != self._view:
            self._view = view
            self.refresh()

    def _restyle(self) -> None:
        for axis in (self._across, self._down):
            axis.set_font(mono_font(SMALL))
        self._title_font = ui_font(SMALL)
        self._title_metrics = QFontMetricsF(self._title_font)
        self.refresh()

    def refresh(self) -> None:
        self._image = None
        self.update()

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

    def cell_rect(self, query: int, key: int) -> QRectF:
        """Where a cell is drawn."""
        picture, view = self.picture(), self._view
        step = picture.width() / view.span
        return QRectF(picture.x() + (key - view.column) * step, picture.y() + (query - view.row) * step, step, step)

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """The (query, key) under a point, or None."""
        if not self.picture().contains(point):
            return None
        row, column = self._place(point)
        return min(int(row), self.count - 1), min(int(column), self.count - 1)

    def _place(self, point: QPointF) -> tuple[float, float]:
        picture, view = self.picture(), self._view
        each = view.span / picture.width()
        return view.row + (point.y() - picture.y()) * each, view.column + (point.x() - picture.x()) * each

    def labels(self) -> tuple[list[Placed], list[Placed]]:
        """The labels as they are drawn now: of the queries, of the keys."""
        picture, view = self.picture(), self._view
        query, key = self._hover or self._chosen
        step = picture.width() / view.span
        down = Span(self.count, view.row, picture.top(), picture.bottom(), step)
        across = Span(self.count, view.column, picture.left(), picture.right(), step)
        return (
            self._down.placed(down, picture.left() - 5, query),
            self._across.placed(across, picture.bottom() + 4, key),
        )

    # -- painting --

    def _rendered(self, picture: QRectF) -> QImage:
        ratio = self.devicePixelRatioF()
        side = round(picture.width() * ratio)
        if self._image is None or self._image.width() != side:
            view = self._view
            rows = spans(view.row, view.row + view.span, side, self.count)
            columns = spans(view.column, view.column + view.span, side, self.count)
            self._pixels = self.coloured(rows, columns)
            self._image = image_of(self._pixels)
            self._image.setDevicePixelRatio(ratio)
        return self._image

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        """The pixels of these cells."""
        table = palette(self._stretch, tokens().bad)
        return causal_pixels(self._codes, rows, columns, table, tokens().masked)

    def paintEvent(self, event: QPaintEvent) -> None:
        picture = self.picture()
        painter = QPainter(self)
        painter.drawImage(picture.topLeft(), self._rendered(picture))
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
        if self._hover is not None:
            mark_hovered(painter, self.cell_rect(*self._hover))
        painter.restore()

    # -- mouse and keys --

    def _set_hover(self, cell: tuple[int, int] | None) -> None:
        if cell != self._hover:
            self._hover = cell
            self.update()
            self.hovered.emit(cell)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragged = (event.position(), self._view), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            begin, view = self._pressed
            way = event.position() - begin
            self._dragged = self._dragged or way.manhattanLength() > 4
            if self._dragged and view.span < self.count:
                each = view.span / self.picture().width()
                moved = View(view.row - way.y() * each, view.column - way.x() * each, view.span)
                self._set_view(moved.kept(self.count))
                return
        self._set_hover(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if self._pressed is not None and not self._dragged and cell is not None:
            self.chosen.emit(*cell)
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset_view()

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hover(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        row, column = self._place(event.position())
        self._set_view(self._view.zoomed(0.8 ** (event.angleDelta().y() / 120), row, column, self.count))
        self._set_hover(self.cell_at(event.position()))
        event.accept()

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        query, key = self._chosen
        last = self.count - 1
        if way is None:
            row = self._view.row + self._view.span / 2 if query is None else query + 0.5
            column = self._view.column + self._view.span / 2 if key is None else key + 0.5
            self._set_view(self._view.zoomed(_ZOOM[typed], row, column, self.count))
            return
        query = last if query is None else min(max(query + way[0], 0), last)
        key = query if key is None else min(max(key + way[1], 0), last)
        self._set_view(self._view.showing(query, key, self.count))
        self.chosen.emit(query, key)
