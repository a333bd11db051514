"""What is measured at a step of a pass: plain data for views. Knows no torch, no Qt and no model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy is loaded after the first paint, and the window knows these classes before it
    import numpy as np


def round_limit(largest: float) -> float:
    """Where a scale ends that holds numbers of this size: at a round number, so that it seldom changes.

    >>> [round_limit(size) for size in (0.0884, 0.1, 4.1, 0.0)]
    [0.1, 0.1, 5.0, 1.0]
    """
    if largest <= 0:
        return 1.0
    power = math.floor(math.log10(largest))
    steps = (float(f"{step}e{power}") for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10))
    return next((step for step in steps if largest <= step), largest)


@dataclass(frozen=True, slots=True)
class Figures:
    """A tensor in five numbers, each of its finite numbers only; None where there is none.

    `std` is that of the numbers themselves (divided by n), `norm` the root of the sum of their squares. `not_finite`
    counts the others: infinite, or no number at all.
    """

    mean: float | None
    std: float | None
    smallest: float | None
    largest: float | None
    norm: float | None
    not_finite: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often each size occurs: `counts` in bins of equal width from `low` to `high`, of the finite numbers."""

    low: float
    high: float
    counts: tuple[int, ...]

    def edges(self, bin: int) -> tuple[float, float]:
        """From where to where a bin goes."""
        share = (self.high - self.low) / len(self.counts)
        return self.low + share * bin, self.low + share * (bin + 1)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of torch in a pass, by torch's own name, with the shapes of the tensors it was given and of its result.

    `place` is the place that was being computed; empty where nothing that follows used the result. A `view` moves no
    numbers: its result is one of the given tensors, looked at differently or not at all. `elapsed_s` is in seconds,
    None where a device does not let it be measured.
    """

    place: str
    name: str
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    dtype: str
    view: bool
    elapsed_s: float | None


@dataclass(frozen=True, slots=True)
class StepMeasure:
    """One step as it ran: its result measured whole, what it took, and each call of torch that computed it.

    `bytes` is what the result takes on `device`; `parameters` counts those of the tensors that the step uses;
    `multiply_adds` those of its matrix products. `elapsed_s` adds up its operations, and holds nothing else.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    bytes: int
    figures: Figures
    parameters: int
    multiply_adds: int
    elapsed_s: float | None
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A place's or a parameter's tensor as a matrix of numbers, of at most 512 x 512 cells.

    `shape` is the tensor's own, batch axis included; `symbols` is that in letters. `cells` (rows, columns) float32 has
    the tensor's last two axes; a vector is one row. Where `span` (rows, columns) is (1, 1) every number is there. Else
    each cell shows the number that stands out of a rectangle of that size: one that is NaN or +inf, else the finite
    one furthest from zero, else -inf; and `offsets`, of the same shape, holds which of the rectangle it is.
    """

    name: str
    shape: tuple[int, ...]
    symbols: tuple[str, ...]
    cells: np.ndarray
    span: tuple[int, int] = (1, 1)
    offsets: np.ndarray | None = None

    def index(self, row: int, column: int) -> tuple[int, ...]:
        """Where in the tensor the number of this cell stands, one figure for each of its axes."""
        rows, columns = self.span
        down, right = 0, 0
        if self.offsets is not None:
            down, right = divmod(int(self.offsets[row, column]), columns)
        whole = (0, row * rows + down, column * columns + right)
        return whole[3 - len(self.shape) :] if self.shape else ()

    def cell(self, index: tuple[int, ...]) -> tuple[int, int]:
        """The cell that stands for this place in the tensor: its row and its column."""
        row, column = (0, 0, *index)[-2:]
        return row // self.span[0], column // self.span[1]
