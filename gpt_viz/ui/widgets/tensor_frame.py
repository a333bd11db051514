"""Which tensor a picture shows, which part of it, and where cells and labels stand. Knows no model and no colour."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from gpt_viz.ui.theme import mono_font, theme, ui_font
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.matrix_picture import SMALL, MatrixPicture
from gpt_viz.ui.widgets.shades import Shades
from gpt_viz.ui.widgets.sheet import Box, Cell, Sheet
from gpt_viz.ui.widgets.sheet_axes import axis_for
from gpt_viz.ui.widgets.token_axis import Placed, Span, TokenAxis

SLIMMEST = 3.0  # a cell's long side by its short one, at most
LARGEST = 64  # px of a cell's side


class TensorFrame(MatrixPicture):
    """Holds a sheet. A `small` one has its name and sizes above it and no labels beside it."""

    def __init__(self, keys: frozenset[Qt.Key], *, small: bool) -> None:
        super().__init__(keys)
        self.small = small
        self.sheet: Sheet | None = None
        self.shades = Shades(shades.SIGNED)
        self._message = ""
        self._chosen: Cell | None = None
        self._marked: Cell | None = None
        self._lit: tuple[Box, ...] | None = None
        self._across, self._down = TokenAxis(True), TokenAxis(False)
        theme.changed.connect(self._restyle)
        self._restyle()

    # -- what is shown --

    def show_sheet(self, sheet: Sheet | None) -> None:
        """Show another tensor, or none; the zoom stays while it is of the same size."""
        if sheet is self.sheet:
            return
        self.sheet = sheet
        if sheet is not None and not self.small:
            self._across, self._down = axis_for(sheet.across, True), axis_for(sheet.down, False)
            self._across.set_pieces(sheet.across.labels(sheet.columns))
            self._down.set_pieces(sheet.down.labels(sheet.rows))
            self._style_axes()
        self.setAccessibleDescription(f"{sheet.name}, {sheet.sizes}" if sheet else "")
        if sheet is None:
            self.set_hovered(None)
        self.show_codes(np.zeros((1, 1), np.uint16) if sheet is None else shades.codes_of(sheet.cells, sheet.masked))

    def set_message(self, message: str) -> None:
        """Say why there is no tensor to show, where there is none."""
        if message != self._message:
            self._message = message
            self.update()

    def set_chosen(self, cell: Cell | None) -> None:
        """Outline the chosen cell."""
        if cell != self._chosen:
            self._chosen = cell
            self.update()

    def set_marked(self, cell: Cell | None) -> None:
        """Outline one cell more, such as that of the term one looks at."""
        if cell != self._marked:
            self._marked = cell
            self.update()

    def set_lit(self, boxes: tuple[Box, ...] | None) -> None:
        """Fade all but these cells; None fades nothing."""
        if boxes != self._lit:
            self._lit = boxes
            self.update()

    @property
    def lit(self) -> tuple[Box, ...] | None:
        """The cells that are not faded; None where nothing is."""
        return self._lit

    @property
    def line(self) -> int:
        """The height of a line of words beside the cells, in px."""
        return ceil(self._metrics.height())

    @property
    def not_finite(self) -> bool:
        """Whether some numbers are infinite or none at all, masked ones apart."""
        return shades.count_not_finite(self.codes) > 0

    def _restyle(self) -> None:
        self._style_axes()
        self._font, self._bold = ui_font(SMALL), ui_font(SMALL, bold=True)
        self._metrics, self._bold_metrics = QFontMetricsF(self._font), QFontMetricsF(self._bold)
        self._mono = mono_font(SMALL)
        self._mono_metrics = QFontMetricsF(self._mono)
        self.refresh()

    def _style_axes(self) -> None:
        for axis in (self._across, self._down):
            axis.set_font(mono_font(SMALL))

    def scale(self) -> Shades:
        """How the numbers become colours: the whole of them stretched to the sheet's kind of scale."""
        return Shades(self.sheet.kind if self.sheet else shades.PLAIN, shades.limit_of(self.codes), self.stretch)

    def refresh(self) -> None:
        self.shades = self.scale()
        super().refresh()

    # -- where things are --

    def margins(self) -> tuple[float, float, float, float]:
        """The room around the cells for labels and titles: left, top, right, bottom."""
        line = self.line
        if self.small:
            return 2, line + 4, 2, 3
        sheet, left, bottom = self.sheet, 4.0, 4.0
        if sheet is not None and (sheet.rows > 1 or sheet.down.title):
            left = line + 4 + self._down.depth + 5
        if sheet is not None and (sheet.columns > 1 or sheet.across.title):
            bottom = 4 + self._across.depth + 3 + line
        return left, ceil(self._down.extent / 2), ceil(max(self._across.extent, self._down.extent) / 2), bottom

    def picture(self) -> QRectF:
        """The rectangle that the cells fill, on whole device pixels."""
        left, top, right, bottom = self.margins()
        ratio = self.devicePixelRatioF()
        width = floor(max(self.width() - left - right, 8) * ratio)
        height = floor(max(self.height() - top - bottom, 8) * ratio)
        rows, columns = self.shape
        wide, high = min(width / columns, LARGEST * ratio), min(height / rows, LARGEST * ratio)
        slim = 1.0 if self.sheet is not None and self.sheet.square else SLIMMEST
        if rows == 1 or columns == 1:
            slim = max(slim, 24 * ratio / max(min(wide, high), 0.01))
        wide, high = min(wide, high * slim), min(high, wide * slim)
        return self.on_pixels(left, top, wide, high)

    def on_pixels(self, left: float, top: float, wide: float, high: float) -> QRectF:
        """The rectangle at `left` and `top` of cells that are about `wide` and `high`, the cells in device pixels.

        Cells are of equal size where that costs little.
        """
        ratio, (rows, columns) = self.devicePixelRatioF(), self.shape
        wide, high = (floor(each) if floor(each) >= 0.9 * each else each for each in (wide, high))
        return QRectF(
            floor(left * ratio) / ratio, floor(top * ratio) / ratio,
            max(floor(wide * columns), 1) / ratio, max(floor(high * rows), 1) / ratio,
        )  # fmt: skip

    def there(self, cell: Cell) -> bool:
        return self.sheet is not None and self.sheet.there(cell)

    @property
    def zooms(self) -> bool:
        return not self.small and self.sheet is not None

    def labels(self) -> tuple[list[Placed], list[Placed]]:
        """The labels as they are drawn now: of the rows, of the columns."""
        if self.small or self.sheet is None:
            return [], []
        picture, pane = self.picture(), self.pane
        row, column = self.hovered_cell or self._chosen or (None, None)
        down = Span(self.sheet.rows, pane.row, picture.top(), picture.bottom(), picture.height() / pane.rows)
        across = Span(self.sheet.columns, pane.column, picture.left(), picture.right(), picture.width() / pane.columns)
        beside = self._down.placed(down, picture.left() - 5, row) if self.margins()[0] > 4 else []
        below = self._across.placed(across, picture.bottom() + 4, column) if self.margins()[3] > 4 else []
        return beside, below
