"""The weights themselves: a matrix as a picture, how its numbers are spread, and what its initialisation promised.

Follows the selection: a tensor, a module's weight and bias, or a head's query, key and value beside each other. Knows
no torch.
"""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QToolButton

from gpt_viz.protocol import Event, ModelInfo, Weights, WeightsOpened
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.steps.links import has_step, step_of
from gpt_viz.ui.weights.weight_place import exists, first_place, owner, place_of
from gpt_viz.ui.weights.weight_words import (
    axes_of,
    cell_words,
    limit_of,
    pairs,
    place_words,
    sentence,
    short_name,
    sizes_words,
    table,
)
from gpt_viz.ui.weights.weights_inquiry import HEARD, WeightsInquiry
from gpt_viz.ui.widgets.histogram import Bins
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.sheet import Sheet
from gpt_viz.ui.widgets.weight_picture import Spread
from gpt_viz.ui.widgets.weight_stage import Shown, WeightStage

POINT = "Point at a cell to read its number."


class WeightsPanel(Panel):
    """Pictures of the parameters that are selected."""

    name = "weights"
    title = "Weights"
    order = 8
    of_text = False
    events = HEARD
    behind = "attention"  # so that it can be seen beside the table in which tensors are chosen

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._inquiry = WeightsInquiry(context, self)
        self._inquiry.changed.connect(self.mark)
        context.subject.stepped.connect(self.mark)
        self._place = ""
        self._drawn: WeightsOpened | None = None
        self._model: ModelInfo | None = None
        self.up = named(QToolButton(), "weights.up", "Show the tensors beside it")
        self.up.setAutoRaise(True)
        self.up.clicked.connect(self._go_up)
        self.header.tools.addWidget(self.up)
        self.stage = WeightStage()
        for at, picture in enumerate(self.stage.pictures):
            named(picture, f"weights.picture.{at}", "Weights as a picture")
        named(self.stage.histogram, "weights.histogram", "How the weights are spread")
        named(self.stage.figures, "weights.figures", "Figures of the weights")
        self.stage.words.setObjectName("weights.cell")
        self.stage.pointed.connect(self._point)
        self.stage.taken.connect(self._take)
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.stage)

    @property
    def waiting(self) -> bool:
        return self._inquiry.busy

    def handle(self, event: Event) -> None:
        self._inquiry.handle(event)

    def draw(self) -> None:
        subject = self.context.subject
        model = subject.weights
        if model is None:
            self._drawn = None
            self.up.hide()
            self.cover(subject.missing)
            self.say("")
            return
        config = model.config
        self._place = place_of(self.context.selection.value, config) or self._place
        if not exists(self._place, config):
            self._place = first_place(config)
        self._inquiry.ask(self._place)
        above = owner(self._place, config)
        self.up.setText(f"◂ {place_words(above)}")
        self.up.setVisible(bool(above))
        opened = self._inquiry.answer(self._place)
        if opened is None:
            self._wait()
        elif opened is not self._drawn:
            self.cover("")
            anew = self._drawn is None or self._model is not model or self._drawn.parameter != opened.parameter
            self._drawn, self._model = opened, model
            self.stage.show_tensors([_shown(each, opened.parameter, model) for each in opened.tensors], anew=anew)
            self._point(None)
        if opened is not None:
            self.cover("")
            self.say(("Built model: " if subject.what_if else "") + sentence(opened))

    def _wait(self) -> None:
        """What is still on its way is said only where there is nothing yet to look at."""
        if self._inquiry.failure:
            self.cover(f"{self._inquiry.failure}.")
            self.say("")
        elif self._drawn is None:
            self.cover(f"Looking at {place_words(self._place)} …")

    # -- what is chosen --

    def _take(self, at: int) -> None:
        """One of several tensors is looked at alone."""
        if self._drawn is not None and len(self._drawn.tensors) > 1:
            self._choose(self._drawn.tensors[at].picture.name)

    def _go_up(self) -> None:
        model = self.context.subject.weights
        if model is not None:
            self._choose(owner(self._place, model.config))

    def _choose(self, parameter: str) -> None:
        """Select the parameter, and with it the step that it is for."""
        step, model = step_of(parameter), self.context.subject.weights
        exists = model is not None and has_step(model.config, step)
        self.context.selection.choose(parameter=parameter, **({"step": step} if exists else {}))

    def _point(self, cell: tuple[int, int, int] | None) -> None:
        model, opened = self.context.subject.weights, self._drawn
        if cell is None or opened is None or model is None or cell[0] >= len(opened.tensors):
            self.stage.say(POINT)
            return
        at, row, column = cell
        each = opened.tensors[at]
        beside = opened.parameter if len(opened.tensors) > 1 else each.picture.name  # one alone needs no name
        self.stage.say(cell_words(each, beside, row, column, model))

    def table(self) -> list[list[str]]:
        """All figures of the tensors that are shown."""
        return table(self._drawn) if self._drawn else []


def _shown(weights: Weights, place: str, model: ModelInfo) -> Shown:
    picture, counts, figures = weights.picture, weights.histogram, weights.figures
    down, across = axes_of(weights, model)
    sheet = Sheet(
        name=short_name(picture.name, place), sizes=sizes_words(weights), cells=picture.cells, down=down, across=across
    )
    return Shown(
        sheet=sheet,
        bins=Bins(counts.low, counts.high, counts.counts) if counts else None,
        limit=limit_of(weights),
        spread=Spread(figures.mean, figures.std, weights.promised_std),
        pairs=pairs(weights),
        family=picture.name.rpartition(".")[2],  # a bias is often of another size than its matrix
        not_finite=figures.not_finite > 0,
    )
