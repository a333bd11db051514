"""A matrix of cells that one points at, drags and zooms into. Knows neither what they stand for nor their colours."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QWheelEvent

from gpt_viz.ui.widgets.colormap import LINEAR, Codes, Pixels, Spans, image_of, spans
from gpt_viz.ui.widgets.pane import Pane
from gpt_viz.ui.widgets.picture import Picture
from gpt_viz.ui.widgets.sheet import Box, Cell

SMALL = 0.85  # of the base size, as everywhere
ZOOM_KEYS = {Qt.Key.Key_Plus: 0.8, Qt.Key.Key_Equal: 0.8, Qt.Key.Key_Minus: 1.25, Qt.Key.Key_0: 1e9}
_DRAG = 4  # px that the mouse may slip in a click


class MatrixPicture(Picture):
    """`hovered` carries the cell (row, column) under the mouse, None for none; `chosen` one that was clicked.

    `codes` are the cells, `stretch` is the way from them to colours. What is seen of them is its `pane`.
    """

    chosen = Signal(int, int)
    hovered = Signal(object)

    def __init__(self, keys: frozenset[Qt.Key]) -> None:
        super().__init__(keys)
        self.codes: Codes = np.zeros((1, 1), np.uint16)
        self.stretch = LINEAR
        self._pane = Pane.whole(1, 1)
        self._hover: Cell | None = None
        self._grip: tuple[QPointF, Pane] | None = None  # where the mouse was pressed, and the pane then
        self._dragged = False
        self._image: QImage | None = None
        self._pixels: Pixels | None = None

    # -- what is shown --

    def show_codes(self, codes: Codes) -> None:
        """Show other cells. The zoom stays while there are as many."""
        before, self.codes = self.shape, codes
        if self.shape != before:
            self._pane = Pane.whole(*self.shape)
            self.set_hovered(None)
        self.refresh()

    def set_stretch(self, stretch: str) -> None:
        """Another way from numbers to colours."""
        if stretch != self.stretch:
            self.stretch = stretch
            self.refresh()

    def set_hovered(self, cell: Cell | None) -> None:
        """Outline the cell under mouse or keyboard, and say so."""
        if cell != self._hover:
            self._hover = cell
            self.update()
            self.hovered.emit(cell)

    @property
    def hovered_cell(self) -> Cell | None:
        """The cell under mouse or keyboard, or None."""
        return self._hover

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        rows, columns = self.codes.shape
        return rows, columns

    @property
    def pane(self) -> Pane:
        """Which cells are shown."""
        return self._pane

    def set_pane(self, pane: Pane) -> None:
        """Show other cells of the matrix."""
        if pane != self._pane:
            self._pane = pane
            self.refresh()

    def show_all(self) -> None:
        """Show the whole matrix."""
        self.set_pane(Pane.whole(*self.shape))

    def zoom(self, factor: float, row: float, column: float) -> None:
        """Show `factor` times as many cells each way, the point (row, column) staying where it is."""
        self.set_pane(self._pane.zoomed(factor, row, column, *self.shape))

    @property
    def zooms(self) -> bool:
        """Whether wheel and double click are for this picture."""
        return True

    def refresh(self) -> None:
        """Colour and paint everything anew."""
        self._image = None
        self.update()

    # -- where things are --

    def picture(self) -> QRectF:
        """The rectangle that the cells fill, on whole device pixels."""
        raise NotImplementedError

    def there(self, cell: Cell) -> bool:
        """Whether there is something to point at in a cell."""
        return True

    def box_rect(self, box: Box) -> QRectF:
        """Where a rectangle of cells is drawn."""
        picture, pane = self.picture(), self._pane
        wide, high = picture.width() / pane.columns, picture.height() / pane.rows
        return QRectF(
            picture.x() + (box.left - pane.column) * wide, picture.y() + (box.top - pane.row) * high,
            (box.right - box.left) * wide, (box.bottom - box.top) * high,
        )  # fmt: skip

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Where a cell is drawn."""
        return self.box_rect(Box(row, row + 1, column, column + 1))

    def cell_at(self, point: QPointF) -> Cell | None:
        """The cell under a point, or None."""
        if not self.picture().contains(point):
            return None
        (row, column), (rows, columns) = self._place(point), self.shape
        cell = min(int(row), rows - 1), min(int(column), columns - 1)
        return cell if self.there(cell) else None

    def _place(self, point: QPointF) -> tuple[float, float]:
        picture, pane = self.picture(), self._pane
        return (
            pane.row + (point.y() - picture.y()) * pane.rows / picture.height(),
            pane.column + (point.x() - picture.x()) * pane.columns / picture.width(),
        )

    # -- painting --

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        """The pixels of these cells."""
        raise NotImplementedError

    def rendered(self, picture: QRectF) -> QImage:
        """The pane as an image that fills `picture`."""
        ratio, pane, (rows, columns) = self.devicePixelRatioF(), self._pane, self.shape
        width, height = round(picture.width() * ratio), round(picture.height() * ratio)
        if self._image is None or (self._image.width(), self._image.height()) != (width, height):
            down = spans(pane.row, pane.row + pane.rows, height, rows)
            self._pixels = self.coloured(down, spans(pane.column, pane.column + pane.columns, width, columns))
            self._image = image_of(self._pixels)
            self._image.setDevicePixelRatio(ratio)
        return self._image

    # -- mouse --

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip, self._dragged = (event.position(), self._pane), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            begin, pane = self._grip
            way = event.position() - begin
            self._dragged = self._dragged or way.manhattanLength() > _DRAG
            if self._dragged and pane != Pane.whole(*self.shape):
                picture = self.picture()
                down, right = way.y() * pane.rows / picture.height(), way.x() * pane.columns / picture.width()
                moved = Pane(pane.row - down, pane.column - right, pane.rows, pane.columns)
                self.set_pane(moved.kept(*self.shape))
                return
        self.set_hovered(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if self._grip is not None and not self._dragged and cell is not None:
            self.chosen.emit(*cell)
        self._grip = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.zooms:
            self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        self.set_hovered(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.zooms:
            event.ignore()
            return
        self.zoom(0.8 ** (event.angleDelta().y() / 120), *self._place(event.position()))
        self.set_hovered(self.cell_at(event.position()))
        event.accept()
