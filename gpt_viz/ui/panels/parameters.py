"""Where the parameters are: a two-ring chart and a table down to the single tensor, held against the real module.

Follows the draft at once, as formulas answer for any size; the selection lights the row and the slice that hold what
is selected. Knows no torch.
"""

from __future__ import annotations

import re

from PySide6.QtWidgets import QHBoxLayout

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ui.links import has_step, module_of, step_of
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.parameter_rows import SHARED, TITLES, ParameterRows
from gpt_viz.ui.percent import percents
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.widgets.chart_and_table import ChartAndTable
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.lazy_rows import Line, Path
from gpt_viz.ui.widgets.pie import Wedge
from gpt_viz.ui.widgets.row_paint import Column

_COLUMNS = (
    Column(TITLES[0]),
    Column(TITLES[1], hides=3, mono=True, muted=True),
    Column(TITLES[2], hides=2, mono=True),
    Column(TITLES[3], hides=4, mono=True, muted=True),
    Column(TITLES[4], figures=True),
    Column(TITLES[5], hides=1, figures=True, muted=True),
)
_TINT = 0.55
_TIMES = {1: "", 2: "twice", 3: "three times", 4: "four times", 5: "five times"}


class Parameters(Panel):
    """The chart and the table of everything that the model learns."""

    name = "parameters"
    title = "Parameters"
    order = 1

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.grouping = Chooser(ledger.GROUPINGS, "parameters.grouping", "How parameters are grouped")
        self.grouping.changed.connect(self.mark)
        self.header.tools.addWidget(self.grouping)
        self.rows: ParameterRows | None = None
        self.inner: ParameterRows | None = None
        stage = ChartAndTable(_COLUMNS)
        self.pie, self.tree, self.totals = stage.pie, stage.table, stage.totals
        self.pie.setObjectName("parameters.chart")
        self.pie.setAccessibleName("Parameters as a chart")
        self.pie.chosen.connect(self._slice_chosen)
        self.tree.setObjectName("parameters.table")
        self.tree.setAccessibleName("Parameters as a table")
        self.tree.chosen.connect(self._row_chosen)
        self.totals.setObjectName("parameters.total")
        self.totals.setAccessibleName("Total")
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(stage)

    def draw(self) -> None:
        config, by = self.context.subject.config, self.grouping.choice
        if config is None:
            self.cover("There is no model yet. Choose a preset and press Build.")
            self.say("")
            return
        self.cover("")
        if self.rows is None or self.inner is None or (self.rows.config, self.rows.by) != (config, by):
            self.rows = ParameterRows(config, by)
            # The inner ring is the place; where the outer one already is, it is the kind.
            self.inner = ParameterRows(config, "kind" if by == "place" else "place")
            self.tree.show_rows(self.rows)
            self.pie.show_rings(
                [Wedge(group.name, group.count, group.kind, _TINT) for group in self.inner.groups],
                [Wedge(group.name, group.count, group.kind) for group in self.rows.groups],
                (f"{self.rows.total:,}", _short(self.rows.total)),
                "parameters",
                f"inner ring, {ledger.GROUPINGS[self.inner.by]}",
            )
        self.totals.show_lines(_totals(self.rows, self.context.subject))
        parameter = self._selected(config)
        path, place, current = self.rows.find(parameter), self.inner.find(parameter), self.tree.current()
        if current and self.rows.name(current) == parameter:
            path = current  # a group of one tensor has that tensor's name
        self.pie.light(place[0] if place else None, path[0] if path else None)
        while len(path) > 1 and not self.tree.is_open(path[:-1]):
            path = path[:-1]
        self.tree.choose(path)
        self._speak(self.rows)

    # -- the selection --

    def _selected(self, config: GPTConfig) -> str:
        """What is selected: a parameter, or else the module that computes the selected step."""
        selection = self.context.selection.value
        return selection.parameter or module_of(selection.step, config)

    def _row_chosen(self, path: Path) -> None:
        if self.rows:
            self._choose(self.rows.name(path))

    def _slice_chosen(self, ring: int, wedge: int) -> None:
        rows = self.rows if ring == 1 else self.inner
        if rows:
            self._choose(rows.groups[wedge].glob)

    def _choose(self, parameter: str) -> None:
        """Select the parameter, and with it the step that it is for, where the model that can be run has that step."""
        step, built = step_of(parameter), self.context.subject.weights
        exists = built is not None and has_step(built.config, step)
        self.context.selection.choose(parameter=parameter, **({"step": step} if exists else {}))

    # -- words --

    def _speak(self, rows: ParameterRows) -> None:
        parameter = self.context.selection.value.parameter
        said = _about(parameter, rows) or _about(parameter, self.inner or rows) or _largest(rows.config)
        self.say(f"What-if, not built: {said}" if self.context.subject.what_if else said[:1].upper() + said[1:])

    def table(self) -> list[list[str]]:
        """The rows at the top and the total, as plain numbers."""
        if self.rows is None:
            return []
        lines = [self.rows.line((g,)) for g in range(len(self.rows.groups))]
        counts = [group.count for group in self.rows.groups]
        cells = [
            [*line.cells[:4], str(count), f"{100 * count / self.rows.total:.2f}"]
            for line, count in zip(lines, counts, strict=True)
        ]
        return [list(TITLES), *cells, ["total", "", "", "", str(sum(counts)), "100.00"]]


def _totals(rows: ParameterRows, subject: Subject) -> tuple[Line, ...]:
    """The sum of the formulas, and below it the sum over the tensors of the module that was really built."""
    without = rows.total - rows.config.block_size * rows.config.width
    note = f"The sum of all formulas; without positions {without:,}."
    total = Line(("total", "", "by formula", "", f"{rows.total:,}", "100 %"), bold=True, note=note)
    if subject.built is None or subject.what_if:
        return total, Line(("from the formulas; not built", "", "", "", "", ""), span=0)
    real, unique = subject.built.total, sum(1 for each in subject.built.tensors if not each.shared_with)
    agree = real == rows.total
    note = f"The {unique:,} unique tensors of the module that was built hold {real:,} numbers."
    if not agree:
        note += f" The formulas say {rows.total:,}: one of the two is wrong."
    verdict = "formula = module ✓" if agree else "formula ≠ module ✗"
    return total, Line((verdict, "", "by module", "", f"{real:,}", ""), wrong=not agree, note=note)


def _about(parameter: str, rows: ParameterRows) -> str:
    """What the selected parameters hold; "" where that is no row."""
    path = rows.find(parameter) if parameter else ()
    if not path:
        return ""
    cells, whole = rows.line(path).cells, f"{rows.total:,}"
    head = re.fullmatch(r"blocks\.(\d+)\.attn\.heads\.(\d+)", parameter)
    if cells[5] == "shared":
        return f"{cells[0]}: {cells[4][1:-1]} numbers, {SHARED} and not added again."
    if head:
        return (
            f"head {head[2]} of layer {head[1]}: its q, k, v matrices hold {cells[4]} numbers, {cells[5]} of {whole}."
        )
    name = cells[0] if len(path) == 1 else rows.name(path)
    return f"{name} holds {cells[4]} numbers, {cells[5]} of {whole}." if rows.name(path) == parameter else ""


def _largest(config: GPTConfig) -> str:
    """The largest kind, held against the one after it."""
    slices = ledger.groups(config, "kind")
    shares = percents([each.count for each in slices])
    (first, share), (second, _) = sorted(zip(slices, shares, strict=True), key=lambda pair: -pair[0].count)[:2]
    whole = f"{ledger.total(config):,}"
    if not second.count:
        return f"{first.name} holds all of {whole}."
    other = second.name if second.name in ("attention", "feed-forward", "LayerNorm") else f"the {second.name}"
    ratio = first.count / second.count
    times = next((word for n, word in _TIMES.items() if abs(ratio - n) < 0.04 * n), f"{ratio:,.{ratio < 10:d}f} times")
    compared = f"as much as {other}" if times == "" else f"{times} what {other} does"
    return f"{first.name} holds {share} of {whole}: {compared}."


def _short(total: int) -> str:
    """174,604,259,328 as "174.6 B"."""
    units = (("T", 10**12), ("B", 10**9), ("M", 10**6), ("k", 10**3))
    return next((f"{total / size:.1f} {unit}" for unit, size in units if total >= size), str(total))
