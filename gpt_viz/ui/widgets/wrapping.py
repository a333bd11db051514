"""Where tokens stand when they are written in rows: arithmetic on their widths alone. Knows no widget and no text.

Widths are in columns of a monospace font. A token that adds to the end touches only the last row, so that a text of
any length grows at the cost of what is new.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
_Kind = TypeVar("_Kind", bound=np.generic)


def row_starts(widths: Ints, breaks: Flags, columns: int) -> Ints:
    """The index of each row's first token. A row ends after a token that breaks, or before one that does not fit.

    A width of 0 is that of a token that hangs in the margin, as a line break does; only tokens that break may have it.
    """
    if not len(widths):
        return np.zeros(0, np.int64)
    ends = np.cumsum(widths)
    lines = np.concatenate(([0], np.flatnonzero(breaks[:-1]) + 1))
    after = np.append(lines[1:], len(widths))
    totals = ends[after - 1] - (ends[lines] - widths[lines])
    hangs = widths[after - 1] == 0
    # In a line of single columns, row r begins r * columns tokens further on; so does the one row of a short line.
    even = totals == after - lines - hangs
    short = totals <= columns
    counts = np.where(even & ~short, -(-totals // columns), 1)
    first = np.cumsum(counts) - counts
    starts: Ints = np.repeat(lines - first * columns, counts) + columns * np.arange(counts.sum())
    uneven = np.flatnonzero(~(even | short))
    if not len(uneven):
        return starts
    more = [_filled(ends, widths, int(lines[line]), int(after[line]), columns) for line in uneven]
    return np.sort(np.concatenate([starts, *more]))


def _filled(ends: Ints, widths: Ints, start: int, end: int, columns: int) -> Ints:
    """The starts of a line's further rows, each row as full as it gets; a token wider than a row has one to itself."""
    starts: list[int] = []
    while True:
        room = ends[start] - widths[start] + columns
        start = max(int(np.searchsorted(ends, room, "right")), start + 1)
        if start >= end:
            return np.array(starts, np.int64)
        starts.append(start)


class Wrapping:
    """The rows of a text that grows at its end. `placed` counts the tokens that were laid out so far, for tests."""

    def __init__(self, columns: int = 80) -> None:
        self.placed = 0
        self._columns = columns
        self._count = 0
        self._rows = 0
        self._widths: Ints = np.zeros(256, np.int64)
        self._breaks: Flags = np.zeros(256, np.bool_)
        self._starts: Ints = np.zeros(64, np.int64)

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._rows

    @property
    def columns(self) -> int:
        """How many columns a row has."""
        return self._columns

    def append(self, widths: Ints, breaks: Flags) -> None:
        """Add tokens at the end."""
        before, self._count = self._count, self._count + len(widths)
        self._widths = _with_room(self._widths, self._count)
        self._breaks = _with_room(self._breaks, self._count)
        self._widths[before : self._count] = widths
        self._breaks[before : self._count] = breaks
        self._lay_from(max(self._rows - 1, 0))

    def truncate(self, count: int) -> None:
        """Keep the first `count` tokens; rows before their end stay as they are."""
        self._count = min(count, self._count)
        self._rows = int(np.searchsorted(self._starts[: self._rows], self._count, "left"))

    def rewrap(self, columns: int) -> None:
        """Write the same tokens in rows of another width."""
        if columns != self._columns:
            self._columns = columns
            self._lay_from(0)

    def span(self, row: int) -> tuple[int, int]:
        """The tokens of a row: the first, and the one after the last."""
        end = int(self._starts[row + 1]) if row + 1 < self._rows else self._count
        return int(self._starts[row]), end

    def row_of(self, token: int) -> int:
        """The row that a token stands in."""
        return int(np.searchsorted(self._starts[: self._rows], token, "right")) - 1

    def edges(self, row: int) -> Ints:
        """The column at which each token of the row begins, and at last the column at which the row ends."""
        start, end = self.span(row)
        edges: Ints = np.concatenate(([0], np.cumsum(self._widths[start:end])))
        return edges

    def _lay_from(self, row: int) -> None:
        """Lay out the tokens from a row's first one on."""
        first = int(self._starts[row]) if row < self._rows else 0
        starts = first + row_starts(self._widths[first : self._count], self._breaks[first : self._count], self._columns)
        self.placed += self._count - first
        self._rows = row + len(starts)
        self._starts = _with_room(self._starts, self._rows)
        self._starts[row : self._rows] = starts


def _with_room(array: NDArray[_Kind], count: int) -> NDArray[_Kind]:
    """The array, or one of at least twice its length: so that n appends copy fewer than 2n items."""
    if count <= len(array):
        return array
    larger: NDArray[Any] = np.zeros(max(count, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
