"""The parameter table as it is shown: with what another config has, or why heads do not count. Knows no view."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fnmatch import fnmatchcase

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.difference import difference
from gpt_viz.ui.parameters.parameter_rows import ParameterRows
from gpt_viz.ui.parameters.parameter_sums import HEADS_CANCEL, signed, why
from gpt_viz.ui.widgets.lazy_rows import Line, Path

TITLE = "differs"


class ParameterView:
    """The rows, each with one cell more: its difference from the `other` rows, empty where there are none.

    `heads` writes over the formula of the queries, keys and values that the number of heads cancels out.
    """

    def __init__(self, rows: ParameterRows, other: ParameterRows | None = None, *, heads: bool = False) -> None:
        self.rows, self.other, self.heads = rows, other, heads
        self.form: Hashable = (rows.form, other is None)
        self._terms = difference(other.config, rows.config) if other else ()

    def count(self, path: Path) -> int:
        """How many rows lie below this one."""
        return self.rows.count(path)

    def line(self, path: Path) -> Line:
        """What this row shows."""
        line = self.rows.line(path)
        top = self.rows.groups[path[0]] if len(path) == 1 else None
        cells, notes = line.cells, [line.note]
        if self.heads and top and top.in_head and self.rows.by == "kind":
            cells = (*cells[:2], HEADS_CANCEL, "", *cells[4:])
            line = replace(line, span=2)
        if self.other and top:
            terms = [term for term in self._terms if fnmatchcase(term.member, top.glob)]
            notes.append(why(terms, self.rows.config, self.other.config))
        note = " ".join(filter(None, notes))
        return replace(line, cells=(*cells, self._difference(path)), note=note)

    def _difference(self, path: Path) -> str:
        return signed(self.difference(path)) if self.other else ""

    def difference(self, path: Path) -> int:
        """How many numbers more this row holds than the one of that name among the other rows; 0 without any."""
        if self.other is None:
            return 0
        group, name = path[0], self.rows.name(path)
        return self.rows.held(group, name) - self.other.held(group, name)


def heads_alone(before: GPTConfig | None, now: GPTConfig) -> bool:
    """Whether the number of heads is all that was changed."""
    if before is None or before.width != now.width or before.heads == now.heads:
        return False
    return replace(before, heads=now.heads) == now
