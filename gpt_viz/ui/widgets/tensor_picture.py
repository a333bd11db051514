"""A tensor as a picture that one points at, zooms into and takes cells from. Knows no model and no colour."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent

from gpt_viz.ui.widgets.pane import Pane
from gpt_viz.ui.widgets.sheet import Cell
from gpt_viz.ui.widgets.tensor_canvas import TensorCanvas

_ZOOM = {Qt.Key.Key_Plus: 0.8, Qt.Key.Key_Equal: 0.8, Qt.Key.Key_Minus: 1.25, Qt.Key.Key_0: 1e9}
_TAKE = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TensorPicture(TensorCanvas):
    """`hovered` carries the cell (row, column) under mouse or keyboard, None for none; `chosen` one that was clicked,
    or taken with Enter; `back` is Backspace.
    """

    chosen = Signal(int, int)
    hovered = Signal(object)
    back = Signal()

    def __init__(self, *, small: bool = False) -> None:
        self._pressed: tuple[QPointF, Pane] | None = None
        self._dragged = False
        super().__init__(frozenset({*_TAKE, Qt.Key.Key_Backspace, *({} if small else _ZOOM)}), small=small)

    def set_hovered(self, cell: Cell | None) -> None:
        """Outline the cell under mouse or keyboard, and say so."""
        if cell != self._hover:
            super().set_hovered(cell)
            self.hovered.emit(cell)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragged = (event.position(), self._pane), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            begin, pane = self._pressed
            way = event.position() - begin
            self._dragged = self._dragged or way.manhattanLength() > 4
            if self._dragged and pane != Pane.whole(*self._codes.shape):
                picture = self.picture()
                down, right = way.y() * pane.rows / picture.height(), way.x() * pane.columns / picture.width()
                moved = Pane(pane.row - down, pane.column - right, pane.rows, pane.columns)
                self._set_pane(moved.kept(*self._codes.shape))
                return
        self.set_hovered(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if self._pressed is not None and not self._dragged and cell is not None:
            self.chosen.emit(*cell)
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self.small:
            self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        self.set_hovered(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.small or self.sheet is None:
            event.ignore()
            return
        row, column = self._place(event.position())
        factor = 0.8 ** (event.angleDelta().y() / 120)
        self._set_pane(self._pane.zoomed(factor, row, column, *self._codes.shape))
        self.set_hovered(self.cell_at(event.position()))
        event.accept()

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        if typed == Qt.Key.Key_Backspace:
            self.back.emit()
        elif self.sheet is None:
            return
        elif way is not None:
            self._point(way)
        elif typed in _TAKE:
            cell = self._hover or self._chosen or (self._lit and (self._lit[0].top, self._lit[0].left))
            if cell:
                self.chosen.emit(*cell)
        else:
            row, column = self._hover or self._chosen or (self._pane.row, self._pane.column)
            self._set_pane(self._pane.zoomed(_ZOOM[typed], row + 0.5, column + 0.5, *self._codes.shape))

    def _point(self, way: tuple[int, int]) -> None:
        """Move the cursor by one cell, from the chosen cell or from what is lit."""
        rows, columns = self._codes.shape
        at = self._hover or self._chosen
        if at is None:
            cell = (self._lit[0].top, self._lit[0].left) if self._lit else (0, 0)
        else:
            cell = (min(max(at[0] + way[0], 0), rows - 1), min(max(at[1] + way[1], 0), columns - 1))
            cell = cell if self.sheet is None or self.sheet.there(cell) else at
        self._set_pane(self._pane.showing(*cell, rows, columns))
        self.set_hovered(cell)
