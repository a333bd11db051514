"""Which columns are shown in a given room and how wide each becomes: arithmetic alone. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence

MATTERS = 2  # columns up to this value of `hides`


def fitting(natural: Sequence[int], hides: Sequence[int], room: int) -> list[int]:
    """The columns that find room: those that never hide (0), then the others, the lowest of `hides` first.

    A column without a single cell has the natural width 0 and is left out.

    >>> fitting([50, 80, 30], [0, 1, 2], 100)
    [0, 2]
    """
    shown = [i for i, each in enumerate(hides) if not each]
    left = room - sum(natural[i] for i in shown)
    for i in sorted((i for i, each in enumerate(hides) if each), key=lambda i: hides[i]):
        if 0 < natural[i] <= left:
            left -= natural[i]
            shown.append(i)
    return sorted(shown)


class ColumnWidths:
    """The natural widths of a table's columns, as far as its rows were seen, and how they share a room.

    `hides` is as in `fitting`; `firm` columns are never wider than they need to be; `gives` is how much the first one
    gives up rather than that one that matters hides, `least` what it always keeps.
    """

    def __init__(self, hides: Sequence[int], firm: Sequence[bool], gives: int, least: int) -> None:
        self._hides, self._firm, self._gives, self._least = hides, firm, gives, least
        self.forget()

    def forget(self) -> None:
        """Begin anew: other rows are shown."""
        self._natural = [0] * len(self._hides)
        self._runs = [0] * len(self._hides)

    def see(self, cells: Sequence[int], runs: Sequence[int]) -> None:
        """A row's cells need these widths; of `runs`, text that may run on over the loose columns after it.

        Widths never shrink while the same rows are shown, so nothing jitters.
        """
        self._natural = [max(pair) for pair in zip(self._natural, cells, strict=True)]
        self._runs = [max(pair) for pair in zip(self._runs, runs, strict=True)]

    def needed(self, room: int) -> int:
        """What those columns take that would be shown in this room."""
        return sum(self._wanted(room).values())

    def shows(self, column: int, room: int) -> bool:
        """Whether the column is shown in this room."""
        return column in self._wanted(room)

    def shared(self, room: int) -> dict[int, int]:
        """The width of each shown column: what is spare goes to the loose ones; what is short, the first gives."""
        widths = self._wanted(room)
        spare = room - sum(widths.values())
        if spare < 0:
            widths[0] = max(widths[0] + spare, self._least)
            return widths
        loose = [i for i in widths if not self._firm[i]]
        for i in loose:
            widths[i] += spare // len(loose)
        widths[0] += spare % len(loose)
        return widths

    def _wanted(self, room: int) -> dict[int, int]:
        """The shown columns as wide as they need to be, and wider where text runs on and there is room for it."""
        whole = fitting(self._natural, self._hides, room)
        giving = fitting([self._natural[0] - self._gives, *self._natural[1:]], self._hides, room)
        shown = [i for i in giving if i in whole or self._hides[i] <= MATTERS]
        widths = {i: self._natural[i] for i in shown}
        left = max(room - sum(widths.values()), 0)
        for i in widths:
            after = [k for k in widths if k > i]
            free = next((n for n, k in enumerate(after) if self._firm[k]), len(after))
            extra = min(max(self._runs[i] - widths[i] - sum(widths[k] for k in after[:free]), 0), left)
            widths[i] += extra
            left -= extra
        return widths
