"""One step of the pass, looked into: its tensor, its formula, its line, and where each of its numbers came from.

Asks the engine for the step and for the number while it can be seen, and for nothing else. Knows no tensor of torch.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QVBoxLayout

from gpt_viz import ledger, lesson
from gpt_viz.config import GPTConfig
from gpt_viz.ledger import StepSpec
from gpt_viz.protocol import (
    Cancelled,
    Event,
    Explain,
    Explained,
    Failed,
    Finished,
    ModelInfo,
    OpenStep,
    StepOpened,
    TextRefused,
    Traced,
)
from gpt_viz.ui.asking.inquiry import Inquiry
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.steps.architecture import floors
from gpt_viz.ui.steps.opened_step import OpenedStep
from gpt_viz.ui.steps.step_cursor import StepCursor
from gpt_viz.ui.steps.step_formulas import formulas
from gpt_viz.ui.steps.step_measures import known_figures, notes
from gpt_viz.ui.steps.step_names import is_parameter, symbol
from gpt_viz.ui.steps.step_parts import step_parts
from gpt_viz.ui.steps.step_rows import letters, sizes
from gpt_viz.ui.steps.step_words import paragraph, step_words
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.manners import named, tip
from gpt_viz.ui.widgets.shades import LINEAR, STRETCHED
from gpt_viz.ui.widgets.sheet import Cell
from gpt_viz.ui.widgets.step_stage import StepStage
from gpt_viz.ui.widgets.terms import IN_ORDER, LARGEST_FIRST

START = "ids"  # where one stands as long as nobody chose a step


class Step(Panel):
    """The chosen step and one of its numbers. The step is the selection's, and so are the number's token rows."""

    name = "step"
    title = "Step"
    order = 9
    behind = "shapes"
    needs = frozenset({"trace"})
    events = (Traced, StepOpened, Explained, TextRefused, Finished, Cancelled, Failed)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.opening = Inquiry(context, OpenStep, StepOpened, self.in_sight, self)
        self.explaining = Inquiry(context, Explain, Explained, self.in_sight, self)
        self.stand = StepCursor(context.selection)
        self.opened: OpenedStep | None = None
        self._said: tuple[object, ...] = ()
        self._model: ModelInfo | None = None
        self._put_up()
        self._connect()

    def _put_up(self) -> None:
        self.parts = step_parts()
        self.stage = StepStage(self.parts)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.stage)
        self.back = named(QToolButton(), "step.back", "Back to the number before")
        self.back.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.back.hide()
        self.scale = Chooser({LINEAR: "linear", STRETCHED: "stretched"}, "step.scale", "Colour scale")
        self.scale.setToolTip("How numbers become colours: as they are, or stretched so that small ones show.")
        self.sorted = Chooser(
            {LARGEST_FIRST: "largest first", IN_ORDER: "in order"}, "step.sorted", "Order of the terms"
        )
        for tool in (self.back, self.scale, self.sorted):
            self.header.tools.addWidget(tool)

    def _connect(self) -> None:
        parts = self.parts
        for inquiry in (self.opening, self.explaining):
            inquiry.changed.connect(self.mark)
        self.context.subject.stepped.connect(self.mark)
        parts.navigator.went.connect(lambda step: self.context.selection.choose(step=step))
        parts.picture.chosen.connect(self._choose)
        parts.picture.hovered.connect(self._read)
        parts.inputs.hovered.connect(self._read_input)
        parts.inputs.chosen.connect(self._walk)
        parts.terms.pointed.connect(self._point)
        parts.terms.taken.connect(self._take)
        for source in (parts.picture.back, parts.inputs.back, self.back.clicked):
            source.connect(self.step_back)
        self.scale.changed.connect(self._stretch)
        self.sorted.changed.connect(parts.terms.set_order)

    # -- what comes --

    def handle(self, event: Event) -> None:
        """Take what was asked for; a new pass is looked at when it can be seen."""
        for inquiry in (self.opening, self.explaining):
            inquiry.handle(event)
        if isinstance(event, Traced):
            self.mark()

    @property
    def waiting(self) -> bool:
        """Whether an answer is still on its way."""
        return self.opening.busy or self.explaining.busy

    # -- what is shown --

    def draw(self) -> None:
        """Ask for what is not known yet, and bring all parts up to date with what is."""
        subject = self.context.subject
        model, config = subject.weights, subject.weights.config if subject.weights else subject.config
        if config is None:
            self.cover(subject.missing)
            self.say("")
            return
        self.cover("")
        if model is not self._model:
            self._model = model
            self.stand.forget()
        spec = self._spec(config)
        self.stand.follow(spec.name)
        self._describe(spec, config)
        self._ask(spec)
        self._show_opened(model, spec, config)
        self._show_number(spec)
        self._read(self.parts.picture.hovered_cell)
        self._show_way()
        self.say(self._sentence(spec))
        self.stage.arrange()

    def _spec(self, config: GPTConfig) -> StepSpec:
        """The step one stands at; where this model has none of that name, the beginning."""
        steps = ledger.steps(config)
        try:
            return steps[steps.index_of(self.context.selection.value.step or START)]
        except ValueError:
            return steps[0]

    def _tokens(self, config: GPTConfig) -> int:
        """How many tokens the pass has; of a model that did not run, as many as it takes."""
        read = self.context.study.tokens
        return len(read.ids) if read is not None and self.context.subject.weights is not None else config.block_size

    def _describe(self, spec: StepSpec, config: GPTConfig) -> None:
        """All that can be said of the step without running it."""
        tokens, chosen, parts = self._tokens(config), self.context.selection.value, self.parts
        parts.navigator.show_floors(floors(config, spec.name, chosen.layer, chosen.head))
        if self._said == (spec, config, tokens):
            return
        self._said = (spec, config, tokens)
        parts.formula.show_lines(formulas(spec, config, tokens), spec.formula)
        parts.about.setText(paragraph(spec, config, tokens))
        try:
            line = lesson.line_of(spec.name)
        except LookupError as error:
            parts.code.show_lines((str(error),), range(0), spec.kind, "")
        else:
            where = f"{line.file}, line {line.number}, {line.class_name}"
            parts.code.show_lines(line.lines, line.lit, spec.kind, where)

    def _ask(self, spec: StepSpec) -> None:
        if not self._alone(spec):
            self.opening.ask(step=spec.name)

    def _alone(self, spec: StepSpec) -> bool:
        """Whether this is the loss of a single token, which there is none of."""
        tokens = self.context.study.tokens
        return spec.name == "loss" and tokens is not None and len(tokens.ids) < 2

    def _show_opened(self, model: ModelInfo | None, spec: StepSpec, config: GPTConfig) -> None:
        event, parts = self.opening.answer(), self.parts
        if not isinstance(event, StepOpened) or model is None or self._alone(spec):
            self.opened = None
            parts.picture.show_sheet(None)
            parts.picture.set_message(self._missing(spec))
            parts.inputs.show_sheets(())
            parts.histogram.show_bins(None, parts.picture.shades)
            shape = spec.shape(config, self._tokens(config))
            parts.title.say(spec.name, f"{letters(spec.symbols)}  {sizes(shape)}", spec.kind)
            parts.figures.show_pairs(known_figures(spec, config, self._tokens(config)))
            parts.origin.say("")
            return
        if self.opened is None or (self.opened.event is not event and self._comes(event, self.opened)):
            self.opened = OpenedStep(event, model, self.stand.index(event.tensor))
            parts.picture.show_sheet(self.opened.main.sheet)
            parts.figures.show_pairs(self.opened.figures)
            parts.title.say(event.step.name, f"{letters(event.tensor.symbols)}  {sizes(event.step.shape)}", spec.kind)
        parts.histogram.show_bins(self.opened.bins, parts.picture.shades, notes(self.opened, parts.picture.not_finite))

    def _comes(self, event: StepOpened, opened: OpenedStep) -> bool:
        """Whether to show this in place of what is opened: of another text not before its number is explained too."""
        if event.step.name != opened.name or event.tokens == opened.event.tokens:
            return True
        self.explaining.ask_of(self.opening.passage, step=event.step.name, index=self.stand.index(event.tensor))
        return self._explained(event) is not None or not self.explaining.busy

    def _explained(self, event: StepOpened) -> Explained | None:
        """The newest explanation, if it is of the text that this is of."""
        answer = self.explaining.answer()
        return answer if isinstance(answer, Explained) and answer.tokens == event.tokens else None

    def _missing(self, spec: StepSpec) -> str:
        """Why there is no tensor to show."""
        if self.context.subject.weights is None:
            return "The model is not built, so there is no tensor. All that formulas know is here."
        if self._alone(spec):
            return "A single token has no loss: nothing follows it."
        return self.opening.failure or "The tensor has not come yet."

    def _show_number(self, spec: StepSpec) -> None:
        """The number one looks at: where it stands, what made it, and how."""
        opened, parts = self.opened, self.parts
        if opened is None:
            self._clear_number()
            return
        if opened.name == spec.name:
            opened.look_at(self.stand.index(opened.event.tensor))
            if opened.event is self.opening.answer():  # else what comes after it is asked about
                self.explaining.ask_of(self.opening.passage, step=spec.name, index=opened.index)
        answer = self._explained(opened.event)
        if answer is not None:
            opened.take(answer)
        parts.picture.set_chosen(opened.cell)
        parts.inputs.show_sheets([each.sheet for each in opened.inputs])
        parts.inputs.set_lit(opened.lit())
        parts.origin.say("computed from" if opened.inputs else "", opened.origin if opened.inputs else "")
        said = opened.derivation
        if said is None:
            self._clear_number()
            return
        parts.found.say(said.name, said.verdict, wrong=not said.agrees)
        parts.written.show_lines((said.formula,), said.sentence)
        parts.terms.show_sums(said.terms)

    def _clear_number(self) -> None:
        parts = self.parts
        parts.found.say("")
        parts.written.show_lines(())
        parts.terms.show_sums(())
        if self.opened is None:
            parts.value.say("")

    def _show_way(self) -> None:
        trail = self.stand.trail
        self.back.setVisible(bool(trail))
        if trail:
            self.back.setText(f"◂ {trail[-1].name}")
            self.back.setToolTip(tip("Back: " + ", ".join(visit.name for visit in reversed(trail))))

    def _sentence(self, spec: StepSpec) -> str:
        subject, opened = self.context.subject, self.opened
        said = step_words(spec, self.context.study.tokens if subject.weights else None)
        if opened is not None and opened.derivation is not None:
            said = opened.derivation.sentence
        if subject.weights is None:
            return f"Not run: {subject.obstacle}. {said}" if subject.obstacle else f"Not run. {said}"
        if self._alone(spec):
            return self._missing(spec)
        if self.opening.failure:
            return f"This step could not be opened: {self.opening.failure}"
        if self.context.study.refused is not None:
            return f"The last text that could be read. {said}"
        return f"The built model, not the draft. {said}" if subject.what_if else said

    # -- what is pointed at, and where that leads --

    def _read(self, cell: Cell | None) -> None:
        """Say the number under the pointer, else the one that is chosen."""
        opened = self.opened
        if opened is None:
            return
        self.parts.value.say(*opened.reading(cell))
        self.parts.histogram.set_number(opened.number(cell))

    def _read_input(self, found: tuple[int, int, int] | None) -> None:
        if self.opened is None:
            return
        if found is None:
            self._read(self.parts.picture.hovered_cell)
        else:
            at, *cell = found
            self.parts.value.say(*self.opened.input_reading(at, (cell[0], cell[1])))

    def _point(self, term: tuple[int, int] | None) -> None:
        if self.opened is not None:
            self.parts.inputs.set_marked(self.opened.term_marks(term))

    def _choose(self, row: int, column: int) -> None:
        opened = self.opened
        if opened is not None:
            self.stand.choose(opened.name, opened.event.tensor.symbols, opened.main.index((row, column)))

    def _walk(self, at: int, row: int, column: int) -> None:
        """Go to a number that helped to make this one."""
        if self.opened is not None and at < len(self.opened.inputs):
            self._go(self.opened.inputs[at].name, self.opened.near(at, (row, column)))

    def _take(self, at: int, number: int) -> None:
        if self.opened is not None:
            for name, index in self.opened.term_indices((at, number)).items():
                self._go(name, index)
                return

    def _go(self, name: str, index: tuple[int, ...]) -> None:
        opened = self.opened
        if opened is None:
            return
        if is_parameter(name):
            self.context.selection.choose(parameter=name)
            self.context.notify(f"{symbol(name)} is the parameter {name}; it is marked in the parameters panel.")
            return
        self.stand.walk(opened.reading(None)[0].partition(" =")[0], name, opened.symbols_of(name), index)

    def step_back(self) -> None:
        """Go back to the number that one came from."""
        self.stand.back()

    def _stretch(self, stretch: str) -> None:
        self.parts.picture.set_stretch(stretch)
        self.parts.inputs.set_stretch(stretch)
        self.mark()

    def table(self) -> list[list[str]]:
        """The tensor's numbers, row by row, as far as the picture shows them."""
        return self.opened.table() if self.opened is not None else []
