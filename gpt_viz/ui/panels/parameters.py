"""Where the parameters are: a two-ring chart and a table down to the single tensor, held against the real module.

Follows the draft at once, as formulas answer for any size; the selection lights the row and the slice that hold what
is selected. Knows no torch.
"""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.parameters.parameter_rows import TITLES, ParameterRows
from gpt_viz.ui.parameters.parameter_sums import difference_sum, difference_words, heads_sum, heads_words, rule_sum
from gpt_viz.ui.parameters.parameter_view import TITLE, ParameterView, heads_alone
from gpt_viz.ui.parameters.parameter_words import about, largest, short, totals
from gpt_viz.ui.steps.links import has_step, module_of, step_of
from gpt_viz.ui.widgets.chart_and_table import ChartAndTable
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.footed import Footed
from gpt_viz.ui.widgets.lazy_rows import Path
from gpt_viz.ui.widgets.pie import Wedge
from gpt_viz.ui.widgets.row_paint import Column
from gpt_viz.ui.widgets.sums import Sum, Sums

_COLUMNS = (
    Column(TITLES[0], gives=56),  # to the differences and the formula: what hides later than 2 is given nothing
    Column(TITLES[1], hides=5, mono=True, muted=True),
    Column(TITLES[2], hides=2, mono=True),
    Column(TITLES[3], hides=6, mono=True, muted=True),
    Column(TITLES[4], figures=True),
    Column(TITLES[5], hides=3, figures=True, muted=True),
    Column(TITLE, hides=1, figures=True),
)
_FORMULA = 2  # the place of the column that the chart makes room for
NOTHING, BUILT = "", "built"
_COMPARED = {NOTHING: "with nothing", BUILT: "with the built model"}
_COMPARED |= {preset.name: f"with {preset.title}" for preset in PRESETS.values()}
_TINT = 0.55


class Comparison(Chooser):
    """What the model is compared with; a short word while it is nothing."""

    def title(self) -> str:
        return super().title() if self.choice else "compare"


class Parameters(Panel):
    """The chart and the table of everything that the model learns."""

    name = "parameters"
    title = "Parameters"
    order = 1
    of_text = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.grouping = Chooser(ledger.GROUPINGS, "parameters.grouping", "How parameters are grouped")
        self.grouping.changed.connect(self.mark)
        self.compare = Comparison(_COMPARED, "parameters.compare", "Compare with another model")
        self.compare.changed.connect(self.mark)
        self.header.tools.addWidget(self.compare)
        self.header.tools.addWidget(self.grouping)
        self.rows: ParameterRows | None = None
        self.inner: ParameterRows | None = None
        self.view: ParameterView | None = None
        self._before: GPTConfig | None = None
        self._heads = False
        stage = ChartAndTable(_COLUMNS, _FORMULA)
        self.pie, self.tree, self.totals = stage.pie, stage.table, stage.totals
        self.pie.setObjectName("parameters.chart")
        self.pie.setAccessibleName("Parameters as a chart")
        self.pie.chosen.connect(self._slice_chosen)
        self.tree.setObjectName("parameters.table")
        self.tree.setAccessibleName("Parameters as a table")
        self.tree.chosen.connect(self._row_chosen)
        self.totals.setObjectName("parameters.total")
        self.totals.setAccessibleName("Total")
        self.sums = Sums()
        self.sums.setObjectName("parameters.sums")
        self._footed = Footed(stage, stage, self.sums)
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._footed)

    def draw(self) -> None:
        config, by = self.context.subject.config, self.grouping.choice
        if config is None:
            self.cover(self.context.subject.missing)
            self.say("")
            return
        self.cover("")
        if self.rows is None or self.inner is None or (self.rows.config, self.rows.by) != (config, by):
            self.rows = ParameterRows(config, by)
            # The inner ring is the place; where the outer one already is, it is the kind.
            self.inner = ParameterRows(config, "kind" if by == "place" else "place")
            self.pie.show_rings(
                [Wedge(group.name, group.count, group.kind, _TINT) for group in self.inner.groups],
                [Wedge(group.name, group.count, group.kind) for group in self.rows.groups],
                (f"{self.rows.total:,}", short(self.rows.total)),
                "parameters",
                f"inner ring, {ledger.GROUPINGS[self.inner.by]}",
            )
        other = self._compared(by)
        # The sums first: rows of another form forget the widths that the old ones needed.
        rule = rule_sum(config)
        self.totals.show_lines(totals(self.rows, self.context.subject, other, self._name(), rule))
        self._look_at(self.rows, other)
        self.sums.show_sums(self._sums(config, other, rule))
        self._footed.arrange()
        parameter = self._selected(config)
        path, place, current = self.rows.find(parameter), self.inner.find(parameter), self.tree.current()
        if current and self.rows.name(current) == parameter:
            path = current  # a group of one tensor has that tensor's name
        self.pie.light(place[0] if place else None, path[0] if path else None)
        while len(path) > 1 and not self.tree.is_open(path[:-1]):
            path = path[:-1]
        self.tree.choose(path)
        self._speak(self.rows, other)

    # -- what else is shown --

    def _compared(self, by: str) -> ParameterRows | None:
        """The rows of what is compared with; None for nothing, and for a built model where there is none."""
        choice, built = self.compare.choice, self.context.subject.built
        config = PRESETS[choice].config if choice in PRESETS else built.config if choice and built else None
        known = self.view.other if self.view else None
        if known is not None and (known.config, known.by) == (config, by):
            return known
        return ParameterRows(config, by) if config else None

    def _name(self) -> str:
        return self.compare.title().removeprefix("with ")

    def _look_at(self, rows: ParameterRows, other: ParameterRows | None) -> None:
        """Show these rows; while the number of heads alone is changed, with why that is not in the count."""
        if rows.config != self._before:
            self._heads, self._before = heads_alone(self._before, rows.config), rows.config
        heads = self._heads and self.context.subject.what_if and rows.config.layers > 0
        shown = self.view and (self.view.rows, self.view.other, self.view.heads)
        if shown != (rows, other, heads):
            self.view = ParameterView(rows, other, heads=heads)
            self.tree.show_rows(self.view)

    def _sums(self, config: GPTConfig, other: ParameterRows | None, rule: Sum | None) -> list[Sum]:
        sums = [heads_sum(config)] if self.view and self.view.heads else []
        if other:
            sums.append(difference_sum(config, other.config, self._name()))
        return [*sums, *([rule] if rule else [])]

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

    def _speak(self, rows: ParameterRows, other: ParameterRows | None) -> None:
        parameter = self.context.selection.value.parameter
        if other:
            said = difference_words(rows.config, other.config, self._name())
        elif self.view and self.view.heads:
            said = heads_words(rows.config)
        else:
            said = about(parameter, rows) or about(parameter, self.inner or rows) or largest(rows.config)
        subject = self.context.subject
        if subject.what_if and not subject.waiting:
            self.say(f"What-if, not built: {said}")
            return
        sentences = filter(None, (subject.waiting, said))
        self.say(". ".join(each[:1].upper() + each[1:] for each in sentences))

    def table(self) -> list[list[str]]:
        """The rows at the top and the total, as plain numbers; with the differences, where something is compared."""
        if self.rows is None or self.view is None:
            return []
        lines = [self.rows.line((g,)) for g in range(len(self.rows.groups))]
        counts = [group.count for group in self.rows.groups]
        cells = [
            [*line.cells[:4], str(count), f"{100 * count / self.rows.total:.2f}"]
            for line, count in zip(lines, counts, strict=True)
        ]
        rows = [list(TITLES), *cells, ["total", "", "", "", str(sum(counts)), "100.00"]]
        if self.view.other:
            differences = [self.view.difference((g,)) for g in range(len(counts))]
            for row, last in zip(rows, (TITLE, *map(str, (*differences, sum(differences)))), strict=True):
                row.append(last)
        return rows
