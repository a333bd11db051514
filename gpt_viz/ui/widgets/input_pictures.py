"""A few tensors side by side, small, each with the cells lit that made one number. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.widgets.sheet import Box, Cell, Sheet
from gpt_viz.ui.widgets.tensor_picture import TensorPicture

MOST = 4  # pictures at a time
GAP = 20  # px between two
NARROWEST = 84  # px of a picture; where there is less room for each, fewer are shown


class InputPictures(QWidget):
    """Up to four small pictures. `chosen` carries the number of the picture and the cell in it, `hovered` the same or
    None; `back` is Backspace in one of them.
    """

    chosen = Signal(int, int, int)
    hovered = Signal(object)
    back = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.pictures = tuple(TensorPicture(small=True) for _ in range(MOST))
        for at, picture in enumerate(self.pictures):
            picture.setParent(self)
            picture.hide()
            picture.chosen.connect(lambda row, column, at=at: self.chosen.emit(at, row, column))
            picture.hovered.connect(lambda cell, at=at: self.hovered.emit(None if cell is None else (at, *cell)))
            picture.back.connect(self.back)
        self._count = 0

    @property
    def count(self) -> int:
        """How many tensors there are to show."""
        return self._count

    def show_sheets(self, sheets: Sequence[Sheet]) -> None:
        """Show other tensors, the first four of them."""
        self._count = min(len(sheets), MOST)
        for picture, sheet in zip(self.pictures, [*sheets[:MOST], *[None] * MOST], strict=False):
            picture.show_sheet(sheet)
        self.arrange()

    def set_lit(self, lit: Sequence[tuple[Box, ...] | None]) -> None:
        """Light cells in each of the pictures; None fades nothing."""
        for picture, boxes in zip(self.pictures, [*lit, *[None] * MOST], strict=False):
            picture.set_lit(boxes)

    def set_marked(self, cells: Sequence[Cell | None]) -> None:
        """Outline one cell in each of the pictures, or none."""
        for picture, cell in zip(self.pictures, [*cells, *[None] * MOST], strict=False):
            picture.set_marked(cell)

    def set_stretch(self, stretch: str) -> None:
        """Another way from numbers to colours."""
        for picture in self.pictures:
            picture.set_stretch(stretch)

    def arrange(self) -> None:
        """Give each its place: a list of numbers needs less room than a matrix."""
        shares = [self._share(picture) for picture in self.pictures[: self._count]]
        shown = self._count
        while shown > 1 and (self.width() - GAP * (shown - 1)) / sum(shares[:shown]) < NARROWEST:
            shown -= 1
        room, x = self.width() - GAP * max(shown - 1, 0), 0.0
        for at, picture in enumerate(self.pictures):
            picture.setVisible(at < shown)
            if at < shown:
                wide = room * shares[at] / sum(shares[:shown])
                picture.setGeometry(round(x), 0, round(wide), self.height())
                x += wide + GAP

    @staticmethod
    def _share(picture: TensorPicture) -> float:
        sheet = picture.sheet
        if sheet is None:
            return 1.0
        return 0.6 if min(sheet.rows, sheet.columns) == 1 else 1.6 if sheet.columns > 2 * sheet.rows else 1.0

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()

    def sizeHint(self) -> QSize:
        return QSize(320, 140)
