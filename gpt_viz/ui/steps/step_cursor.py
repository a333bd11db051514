"""Which number of a step one looks at, and the way that led there. Knows the shared cursor, and no view.

Rows that stand for tokens are the shared cursor's query, in keys and values its key; the places along other axes
(widths, the vocabulary) are kept here, by the axis's letter, so that they stay from one step to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpt_viz.measures import Picture
from gpt_viz.ui.selection import Selection, SelectionModel

_OF_KEYS = ("k", "v")  # whose rows are looked at, not looking


@dataclass(frozen=True, slots=True)
class Visit:
    """A number that one has come from: its name as it is read, and all that leads back to it."""

    name: str
    step: str
    query: int | None
    key: int | None
    places: tuple[tuple[str, int], ...]


class StepCursor:
    """Turns the shared cursor into an index and back; remembers the numbers that one has come from."""

    def __init__(self, selection: SelectionModel) -> None:
        self._selection = selection
        self._places: dict[str, int] = {}
        self._own = ""
        self.trail: list[Visit] = []

    def follow(self, step: str) -> None:
        """One stands at this step now; if one was led there otherwise, there is no way back."""
        if step != self._own:
            self.trail.clear()
            self._own = step

    def index(self, picture: Picture) -> tuple[int, ...]:
        """The number of a step's tensor that one looks at: where nobody chose, the row's furthest from 0."""
        value, symbols, shape = self._selection.value, picture.symbols, picture.shape
        if not shape:
            return ()
        found = [0] * len(shape)
        on_rows = symbols.index("T") if "T" in symbols else None
        if on_rows is not None:
            found[on_rows] = _within(self._token(picture.name, value), shape[on_rows])
        last = len(shape) - 1
        if last != on_rows:
            letter = symbols[last]
            chosen = value.key if letter == "T" else self._places.get(letter)
            found[last] = _furthest(picture, tuple(found)) if chosen is None else min(chosen, shape[last] - 1)
        return tuple(found)

    def choose(self, name: str, symbols: tuple[str, ...], index: tuple[int, ...]) -> None:
        """Look at this number of a step."""
        changes: dict[str, int] = {}
        positions = [at for letter, at in zip(symbols, index, strict=True) if letter == "T"]
        if positions:
            changes["key" if name.rpartition(".")[2] in _OF_KEYS else "query"] = positions[0]
        if len(positions) > 1:
            changes["key"] = positions[1]
        if symbols and symbols[-1] not in ("T", "B"):
            self._places[symbols[-1]] = index[-1]
        self._own = name
        self._selection.choose(step=name, **changes)

    def walk(self, called: str, name: str, symbols: tuple[str, ...], index: tuple[int, ...]) -> None:
        """Go from the number that is called so to one of those that made it; `back` returns."""
        value = self._selection.value
        self.trail.append(Visit(called, value.step, value.query, value.key, tuple(self._places.items())))
        self.choose(name, symbols, index)

    def back(self) -> None:
        """Go back to the number that one came from last."""
        if self.trail:
            visit = self.trail.pop()
            self._places = dict(visit.places)
            self._own = visit.step
            self._selection.choose(step=visit.step, query=visit.query, key=visit.key)

    def forget(self) -> None:
        """Another model: its axes are others."""
        self._places.clear()
        self.trail.clear()

    @staticmethod
    def _token(name: str, value: Selection) -> int | None:
        keys = name.rpartition(".")[2] in _OF_KEYS
        return value.key if keys and value.key is not None else value.query


def _within(position: int | None, count: int) -> int:
    return count - 1 if position is None else min(position, count - 1)


def _furthest(picture: Picture, index: tuple[int, ...]) -> int:
    """The place along the last axis, in the row of an index, whose number is furthest from 0; NaN is furthest."""
    row = picture.cells[picture.cell(index)[0]]
    size = np.where(np.isneginf(row), -1.0, np.nan_to_num(np.abs(row), nan=np.inf))
    at = picture.index(picture.cell(index)[0], int(size.argmax()))
    return at[-1]
