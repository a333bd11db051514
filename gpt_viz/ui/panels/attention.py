"""Who looks at whom: every head's pattern in one mosaic, and the chosen head large. Knows no tensor and no other panel.

Everything here comes from the last Attended event and the shared selection; the panel asks the engine for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt
from PySide6.QtWidgets import QComboBox, QVBoxLayout

from gpt_viz.protocol import CURRENT, Attended, Event, ModelInfo
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.theme import theme
from gpt_viz.ui.widgets.attention_stage import AttentionStage
from gpt_viz.ui.widgets.behaviour import Behaviour, BehaviourColumn, behaviour, sentence
from gpt_viz.ui.widgets.colormap import STRETCHES, count_not_finite
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.legend import Legend
from gpt_viz.ui.widgets.mosaic import Mosaic
from gpt_viz.ui.widgets.weight_line import Weighed, WeightLine

WAITING = "The first pass of the text under study has not come yet."


@dataclass(frozen=True, slots=True)
class Shown:
    """One head's pattern as it is drawn: each cell is the largest of `square` x `square` weights (1: the weight)."""

    layer: int
    head: int
    weights: npt.NDArray[np.float32]
    square: int


def shown(event: Attended, layer: int, head: int) -> Shown:
    """The best picture that an event holds of a head: whole where it can be, else the pooled one."""
    count = len(event.tokens.ids)
    layer = min(max(layer, 0), event.patterns.shape[0] - 1)
    head = min(max(head, 0), event.patterns.shape[1] - 1)
    if (layer, head) == tuple(event.head) and event.whole.shape[-1] == count:
        return Shown(layer, head, event.whole, 1)
    pooled = event.patterns[layer, head]
    return Shown(layer, head, pooled, ceil(count / max(pooled.shape[-1], 1)))


class Attention(Panel):
    """All heads small, one large, and in words what that one does."""

    name = "attention"
    title = "Attention"
    order = 3
    events = (Attended,)
    needs = frozenset({"attention"})

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._event: Attended | None = None
        self._of: ModelInfo | None = None  # the model that the event is of
        self._drawn: Attended | None = None  # the event that the mosaic shows
        self._shown: Shown | None = None
        self._behaviour: Behaviour | None = None
        self._bad_here = self._bad = 0
        self.grid = Mosaic()
        self.grid.setObjectName("attention.grid")
        self.grid.setAccessibleName("All heads: rows are layers, columns are heads")
        self.head = Heatmap()
        self.head.setObjectName("attention.head")
        self.head.setAccessibleName("The chosen head: rows are queries, columns are keys")
        self.legend = Legend()
        self.legend.setObjectName("attention.legend")
        self.line = WeightLine("Point at a cell to read its weight.")
        self.line.setObjectName("attention.weight")
        self.column = BehaviourColumn()
        self.column.setObjectName("attention.behaviour")
        self.stretch = QComboBox()
        self.stretch.setObjectName("attention.stretch")
        self.stretch.addItems(list(STRETCHES))
        self.stretch.setAccessibleName("Colour scale")
        self.stretch.setToolTip("How weights become colours: as they are, or by their logarithm for heads that spread.")
        self.header.tools.addWidget(self.stretch)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        self._stage = AttentionStage(self.grid, self.legend, self.head, self.line, self.column)
        layout.addWidget(self._stage)
        self.stretch.currentTextChanged.connect(self._stretch)
        self.grid.chosen.connect(lambda layer, head: context.selection.choose(layer=layer, head=head))
        self.head.chosen.connect(self._choose)
        self.head.hovered.connect(self._weigh)
        theme.changed.connect(self.mark)
        self.cover(WAITING)

    def handle(self, event: Event) -> None:
        """Keep the newest pass of the current model."""
        if isinstance(event, Attended) and event.slot == CURRENT:
            self._event, self._of = event, self.context.subject.built
            self.mark()

    def draw(self) -> None:
        """Bring grid, head, measures and words up to date; what has not changed is not painted anew."""
        reason = self._obstacle()
        self.stretch.setEnabled(not reason)
        self.cover(reason)
        if reason or self._event is None:
            self.say("")
            return
        event, selection = self._event, self.context.selection.value
        now = shown(event, selection.layer, selection.head)
        fresh, before = event is not self._drawn, self._shown
        self._drawn, self._shown = event, now
        if fresh:
            self._bad = count_not_finite(self.grid.set_patterns(event.patterns))
        if fresh or before is None or now.weights is not before.weights:
            self._show(event, now)
        self.grid.set_chosen(now.layer, now.head)
        query, key = selection.query, selection.key
        self.head.set_chosen(*(None if at is None else at // now.square for at in (query, key)))
        self.legend.set_not_finite(self._bad + self._bad_here > 0)
        self.column.show_behaviour(self._behaviour, self._unit)
        self._weigh(self.head.hovered_cell)
        self.say(self._sentence(now))
        self._stage.arrange()

    def _show(self, event: Attended, now: Shown) -> None:
        pieces = event.tokens.pieces[:: now.square]
        codes = self.head.set_pattern(now.weights, pieces)
        self.line.reserve(pieces)
        self._bad_here = count_not_finite(codes)
        self._behaviour = behaviour(now.weights) if now.square == 1 else None

    def _obstacle(self) -> str:
        """Why there is nothing to see, or ""."""
        subject = self.context.subject
        model, event = subject.weights, self._event
        if model is None:
            return subject.missing
        if model.config.layers == 0:
            return "This model has no layers, so there is no attention to see. Give it a layer and press Build."
        if event is None or self._of is not model:
            return WAITING
        return ""

    @property
    def _unit(self) -> str:
        return "token" if self._of is not None and self._of.alphabet is None else "character"

    def _sentence(self, now: Shown) -> str:
        said = f"Layer {now.layer}, head {now.head}{self._finding(now)}"
        elsewhere = self._bad - self._bad_here if now.square == 1 else 0
        if elsewhere > 0 and not self._bad_here:
            said += f"; other heads hold {elsewhere:,} weights that are not finite"
        before = ""
        if self.context.subject.what_if:
            before = "Shows the built model: "
        elif self.context.study.refused is not None:
            before = "Shows the last text that could be read: "
        return f"{before}{said[0].lower() + said[1:] if before else said}."

    def _finding(self, now: Shown) -> str:
        if self._bad_here:
            every = now.weights.size
            return f": {self._bad_here:,} of {every:,} weights are not finite (NaN or infinite)"
        if now.square > 1:
            return f" is coarse: each cell is the largest of {now.square} × {now.square} weights"
        if self._behaviour is None:
            return f" can be described from the third {self._unit} on"
        return f" {sentence(self._behaviour, self._unit)}"

    # -- one weight --

    def _choose(self, query: int, key: int) -> None:
        if self._shown is not None:
            square = self._shown.square
            self.context.selection.choose(query=query * square, key=key * square)

    def _weigh(self, hovered: tuple[int, int] | None) -> None:
        """Say the weight under the cursor, else the chosen one; of a query alone, the largest of its row."""
        self.line.set_weighed(self._weighed(hovered))

    def _weighed(self, hovered: tuple[int, int] | None) -> Weighed | None:
        now, event = self._shown, self._drawn
        if now is None or event is None:
            return None
        last = now.weights.shape[0] - 1
        selection = self.context.selection.value
        if hovered is not None:
            query, key = hovered
        elif selection.query is None:
            return None
        else:
            query = min(selection.query // now.square, last)
            key = -1 if selection.key is None else min(selection.key // now.square, last)
        most = key < 0
        if most:
            key = int(np.argmax(now.weights[query, : query + 1]))
        weight = float(now.weights[query, key])
        pieces = event.tokens.pieces
        place = f"query {_cells(query, now.square, len(pieces))} · key {_cells(key, now.square, len(pieces))}"
        if most:
            place += " · its largest"
        first, second = pieces[query * now.square], pieces[key * now.square]
        if key > query and weight == 0:
            return Weighed(first, second, "", f"masked: it comes later · {place}")
        if now.square > 1:
            return Weighed(first, second, _written(weight), place, verb="takes ≤")
        return Weighed(first, second, _written(weight), place)

    def _stretch(self, stretch: str) -> None:
        for widget in (self.grid, self.head, self.legend):
            widget.set_stretch(stretch)

    def table(self) -> list[list[str]]:
        """The weights of the chosen query's row, else of every query: query, its token, key, its token, weight."""
        rows = [["query", "query token", "key", "key token", "weight"]]
        now, event = self._shown, self._drawn
        if now is None or event is None or self.covered:
            return rows
        chosen, pieces = self.context.selection.value.query, event.tokens.pieces[:: now.square]
        count = now.weights.shape[0]
        queries = range(count) if chosen is None else [min(chosen // now.square, count - 1)]
        for query in queries:
            weights = now.weights[query, : query + 1].tolist()
            at, token = str(query * now.square), pieces[query]
            rows += [
                [at, token, str(key * now.square), pieces[key], f"{weight:.9g}"] for key, weight in enumerate(weights)
            ]
        return rows


def _cells(cell: int, square: int, count: int) -> str:
    first = cell * square
    return f"{first}" if square == 1 else f"{first}–{min(first + square, count) - 1}"


def _written(weight: float) -> str:
    """A weight with three decimals; small ones with two digits that count; NaN and infinity by name.

    >>> _written(0.7131), _written(0.000123), _written(0.0)
    ('0.713', '0.00012', '0')
    """
    if weight != weight:
        return "NaN"
    if weight in (float("inf"), float("-inf")):
        return "∞" if weight > 0 else "-∞"
    if weight == 0:
        return "0"
    return f"{weight:.3f}" if abs(weight) >= 0.01 else f"{weight:.2g}"
