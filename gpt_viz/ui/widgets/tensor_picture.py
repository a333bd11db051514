"""A tensor as a picture whose cells one also goes to and takes with the keys. Knows no model and no colour."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal

from gpt_viz.ui.widgets.matrix_picture import ZOOM_KEYS
from gpt_viz.ui.widgets.tensor_canvas import TensorCanvas

_TAKE = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TensorPicture(TensorCanvas):
    """`hovered` carries the cell (row, column) under mouse or keyboard, None for none; `chosen` one that was clicked,
    or taken with Enter; `back` is Backspace.
    """

    back = Signal()

    def __init__(self, *, small: bool = False) -> None:
        super().__init__(frozenset({*_TAKE, Qt.Key.Key_Backspace, *({} if small else ZOOM_KEYS)}), small=small)

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        if typed == Qt.Key.Key_Backspace:
            self.back.emit()
        elif self.sheet is None:
            return
        elif way is not None:
            self._point(way)
        elif typed in _TAKE:
            cell = self.hovered_cell or self._chosen or (self._lit and (self._lit[0].top, self._lit[0].left))
            if cell:
                self.chosen.emit(*cell)
        else:
            row, column = self.hovered_cell or self._chosen or (self.pane.row, self.pane.column)
            self.zoom(ZOOM_KEYS[typed], row + 0.5, column + 0.5)

    def _point(self, way: tuple[int, int]) -> None:
        """Move the cursor by one cell, from the chosen cell or from what is lit."""
        rows, columns = self.shape
        at = self.hovered_cell or self._chosen
        if at is None:
            cell = (self._lit[0].top, self._lit[0].left) if self._lit else (0, 0)
        else:
            cell = (min(max(at[0] + way[0], 0), rows - 1), min(max(at[1] + way[1], 0), columns - 1))
            cell = cell if self.there(cell) else at
        self.set_pane(self.pane.showing(*cell, rows, columns))
        self.set_hovered(cell)
