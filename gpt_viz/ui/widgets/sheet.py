"""A tensor's cells and what its two axes count: all that a picture of it needs. Knows no model and no widget."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

import numpy as np
import numpy.typing as npt

from gpt_viz.ui.widgets.numbers import written
from gpt_viz.ui.widgets.shades import PLAIN, SIGNED

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Axis:
    """One side of a picture: its title, and the names of its places, or none where they are numbered.

    Each cell stands for `stride` places. `group` places at a time belong together under the name of `grouped`.
    """

    title: str = ""
    names: tuple[str, ...] = ()
    stride: int = 1
    group: int = 0
    grouped: str = ""

    def labels(self, cells: int) -> tuple[str, ...]:
        """What is written at each of so many cells."""
        if self.names:
            return self.names[:: self.stride]
        return tuple(map(str, range(0, cells * self.stride, self.stride)))

    @property
    def numbered(self) -> bool:
        """Whether its places have no names of their own."""
        return not self.names


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of cells: rows from `top` and columns from `left` on, `bottom` and `right` not included."""

    top: int
    bottom: int
    left: int
    right: int

    def holds(self, cell: Cell) -> bool:
        """Whether a cell lies in it."""
        return self.top <= cell[0] < self.bottom and self.left <= cell[1] < self.right


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A matrix of numbers (rows, columns) with its name, its sizes as they are read, its axes and its kind of scale.

    `masked` marks cells that were hidden on purpose; None: none. `square` cells are as wide as high. `texts` is what
    is written in the cells, row by row, where that is not their number; the last `blank` cells are not there.
    """

    name: str
    sizes: str
    cells: npt.NDArray[np.float32]
    down: Axis = field(default_factory=Axis)
    across: Axis = field(default_factory=Axis)
    kind: str = SIGNED
    masked: npt.NDArray[np.bool_] | None = None
    square: bool = False
    texts: tuple[str, ...] = ()
    blank: int = 0

    def text(self, row: int, column: int) -> str:
        """What is written in a cell; "" in one that is masked or not there."""
        at = row * self.columns + column
        if at >= self.rows * self.columns - self.blank or (self.masked is not None and self.masked[row, column]):
            return ""
        return self.texts[at] if self.texts else written(float(self.cells[row, column]), 4 if self.kind == PLAIN else 2)

    def there(self, cell: Cell) -> bool:
        """Whether there is such a cell."""
        row, column = cell
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return inside and row * self.columns + column < self.rows * self.columns - self.blank

    @property
    def rows(self) -> int:
        """How many rows of cells there are."""
        return int(self.cells.shape[0])

    @property
    def columns(self) -> int:
        """How many columns of cells there are."""
        return int(self.cells.shape[1])


def later(rows: int, columns: int) -> npt.NDArray[np.bool_]:
    """Which cells (query, key) have a key that comes later than their query."""
    return np.arange(columns)[None, :] > np.arange(rows)[:, None]


def box_of(spans: tuple[tuple[int, int], ...], strides: tuple[int, int]) -> Box:
    """The cells of a region of a tensor: from .. to on each axis, of which the last two are the picture's."""
    (top, bottom), (left, right) = ((0, 1), (0, 1), *spans)[-2:]
    down, along = strides
    return Box(top // down, ceil(bottom / down), left // along, ceil(right / along))
