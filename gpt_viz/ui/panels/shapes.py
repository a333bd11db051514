"""One forward pass of the text under study as ordered steps: what each computes, in which sizes, by which line.

The sizes are those of the tensors that ran. The step one stands on is the selection's. Knows no torch.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpt_viz import ledger, lesson
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    CURRENT,
    Cancelled,
    Event,
    Failed,
    Finished,
    MeasureSteps,
    ModelInfo,
    StepsMeasured,
    TextRefused,
    Traced,
)
from gpt_viz.ui.asking.inquiry import Inquiry
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.steps.measured_rows import MEASURED, MeasuredRows
from gpt_viz.ui.steps.step_rows import TITLES
from gpt_viz.ui.steps.step_words import loss_words, paragraph, spelt_out, step_words
from gpt_viz.ui.steps.walk import Walk
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.code_strip import CodeStrip
from gpt_viz.ui.widgets.lazy_rows import Path
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.pass_slider import PassSlider
from gpt_viz.ui.widgets.row_paint import Column
from gpt_viz.ui.widgets.table import Table
from gpt_viz.ui.widgets.transport import Transport

_COLUMNS = (
    Column(TITLES[0], gives=32),
    Column(TITLES[1], hides=2, mono=True, muted=True),
    Column(TITLES[2], hides=1, mono=True),
    Column(TITLES[3], hides=3, mono=True, muted=True),
    Column(TITLES[4], hides=4, mono=True, muted=True),
    # What was measured; the figures that say most about a pass are the last to go.
    *(
        Column(title, hides=5 + place, figures=True, muted=title in ("dtype", "bytes"))
        for title, place in zip(MEASURED, (9, 5, 1, 4, 0, 2, 3, 6, 7, 8), strict=True)
    ),
)
_FIGURES = 960  # px of width from which what was measured has columns of its own
_SPEEDS = {"0.5": "½ ×", "1": "1 ×", "2": "2 ×", "4": "4 ×", "8": "8 ×"}
_SLIDER = 360  # px of height from which there is room for a slider over the pass
_BESIDE = 960  # px from which the loss stands beside the code
_ROOMY = 560  # px of height from which the step is explained in a paragraph
_LINES = 5  # of a paragraph, about the most
_FEW = 24  # tokens that are spelt out
_LONGEST = 5_000  # steps that are copied one by one


class Shapes(Panel):
    """The pass as a tree of steps, with buttons to walk through it and the line of code beneath."""

    name = "shapes"
    title = "Shapes"
    order = 2
    needs = frozenset({"trace"})
    events = (Traced, StepsMeasured, TextRefused, Finished, Cancelled, Failed)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.rows: MeasuredRows | None = None
        self.measuring = Inquiry(context, MeasureSteps, StepsMeasured, self.in_sight, self)
        self.measuring.changed.connect(self.mark)
        context.subject.stepped.connect(self.mark)
        self._traced: Traced | None = None
        self._traced_of: ModelInfo | None = None
        self._made_of: tuple[object, ...] = ()
        self._drawn_step: str | None = None
        self.walk = Walk(context.selection, self)
        self.walk.changed.connect(self.mark)
        self.transport = Transport("shapes")
        self.transport.first.connect(self.first_step)
        self.transport.previous.connect(self.previous_step)
        self.transport.next.connect(self.next_step)
        self.transport.last.connect(self.last_step)
        self.transport.play.connect(self.toggle_play)
        self.header.tools.addWidget(self.transport)
        self.tree = Table(_COLUMNS, pages=True)
        self.tree.setObjectName("shapes.table")
        self.tree.setAccessibleName("Steps of the pass")
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.chosen.connect(self._row_chosen)
        self.tree.clicked.connect(self._clicked)
        self.tree.paged.connect(self.walk.on)
        self.tree.expanded.connect(self.mark)
        self.slider = named(PassSlider(), "shapes.slider", "Step of the pass")
        self.slider.moved.connect(self.walk.to)
        self.speed = Chooser(_SPEEDS, "shapes.speed", "Speed of playing")
        self.speed.choose("1")
        self.speed.changed.connect(lambda speed: self.walk.set_speed(float(speed)))
        self.way = QWidget()
        way = QHBoxLayout(self.way)
        way.setContentsMargins(0, 0, 0, 0)
        way.addWidget(self.slider, 1)
        way.addWidget(self.speed)
        self.code = CodeStrip()
        self.code.setObjectName("shapes.code")
        self.code.setAccessibleName("The line that computes this step")
        self.loss = QLabel()
        self.loss.setTextFormat(Qt.TextFormat.PlainText)
        self.loss.setObjectName("shapes.loss")
        self.loss.setAccessibleName("Loss of the text under study")
        self.loss.setProperty("muted", True)
        self.loss.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._below = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._below.setSpacing(8)
        self._below.addWidget(self.code, 3)
        self.explanation = QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.explanation.setTextFormat(Qt.TextFormat.PlainText)
        self.explanation.setObjectName("shapes.explanation")
        self.explanation.setAccessibleName("What this step does")
        words = QVBoxLayout()
        words.setSpacing(8)
        words.addWidget(self.loss)
        words.addWidget(self.explanation)
        words.addStretch()
        self._below.addLayout(words, 2)
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.way)
        column.addWidget(self.tree, 1)
        column.addLayout(self._below)

    def handle(self, event: Event) -> None:
        self.measuring.handle(event)
        if isinstance(event, Traced) and event.slot == CURRENT:
            self._traced, self._traced_of = event, self.context.subject.built
            if self._traced_of is not None:  # one can walk through the pass also while the table is not shown
                self.walk.through(ledger.steps(self._traced_of.config, loss=event.loss is not None))
            self.mark()

    def draw(self) -> None:
        config = self._config()
        if config is None:
            self.cover(self.context.subject.missing)
            self.say("")
            self.transport.stand(-1, 0, playing=False)
            return
        self.cover("")
        self._show(config)
        index, step = self.walk.index, self.context.selection.value.step
        self.transport.stand(-1 if index is None else index, self.walk.count, playing=self.walk.playing)
        self.slider.stand(index)
        if step != self._drawn_step:
            self._drawn_step = step
            path = self.rows.path_of(index) if self.rows and index is not None else ()
            if not path or self.tree.current()[: len(path)] != path:  # a call in the step may be the chosen row
                self.tree.choose(path)
            self._show_code(index)
        self._show_loss()
        self.say(self._sentence(index))

    # -- what is shown --

    def _config(self) -> GPTConfig | None:
        weights = self.context.subject.weights
        return weights.config if weights else self.context.subject.config

    def _trace(self) -> Traced | None:
        """The pass that is shown: the newest of the model whose weights are shown."""
        weights = self.context.subject.weights
        return self._traced if weights is not None and weights is self._traced_of else None

    def _measured(self, traced: Traced | None) -> StepsMeasured | None:
        """What was measured, where that is shown: beside the steps where there is room, and below those that are open.

        Of a text that goes on, the newest there is.
        """
        opened = self.rows is not None and any(map(self.rows.is_step, self.tree.opened()))
        if traced is None or not (self._figures or opened):
            return None
        self.measuring.ask()
        answer = self.measuring.answer()
        return answer if isinstance(answer, StepsMeasured) else None

    @property
    def waiting(self) -> bool:
        """Whether what was measured is still on its way."""
        return self.measuring.busy

    @property
    def _figures(self) -> bool:
        return self.width() >= _FIGURES

    def _show(self, config: GPTConfig) -> None:
        traced = self._trace()
        measured = self._measured(traced)
        ran = None if traced is None else (len(traced.tokens.ids), traced.steps, traced.loss is not None)
        made_of = (config, ran, measured, self._figures)
        if self.rows is not None and self._made_of == made_of:
            self.rows.ids = spelt_out(traced.tokens, _FEW) if traced else ""  # all that a pass of that size changes
            return
        self._made_of = made_of
        form = self.rows.form if self.rows else None
        if traced is None:
            self.rows = MeasuredRows(config, config.block_size, None, figures=self._figures)
        else:
            self.rows = MeasuredRows(
                config,
                len(traced.tokens.ids),
                traced.steps,
                loss=traced.loss is not None,
                ids=spelt_out(traced.tokens, _FEW),
                measured=measured.steps if measured else (),
                figures=self._figures,
            )
        steps = self.rows.steps
        self.walk.through(steps)
        self.slider.show_steps(len(steps), lambda at: steps[at].kind, self.rows.form)
        self.tree.show_rows(self.rows)
        if self.rows.form != form:
            self._drawn_step = None  # another tree: find the step in it again

    def _show_code(self, index: int | None) -> None:
        if self.rows is None or index is None:
            self.code.show_lines((), range(0), "residual", "")
            self.explanation.clear()
            return
        spec = self.rows.steps[index]
        self.explanation.setText(paragraph(spec, self.rows.config, self.rows.tokens))
        try:
            line = lesson.line_of(spec.name)
        except LookupError as error:
            self.code.show_lines((str(error),), range(0), spec.kind, "")
        else:
            self.code.show_lines(line.lines, line.lit, spec.kind, f"{line.file}, line {line.number}, {line.class_name}")

    # -- walking through it --

    def first_step(self) -> None:
        """Go to the first step of the pass."""
        self.walk.to(0)

    def previous_step(self) -> None:
        """Go one step back."""
        self.walk.on(-1)

    def next_step(self) -> None:
        """Go one step on."""
        self.walk.on(1)

    def last_step(self) -> None:
        """Go to the last step of the pass."""
        self.walk.to(-1)

    def toggle_play(self) -> None:
        """Walk on by itself, from the first step if at the last; or stand still."""
        self.walk.toggle()

    def _row_chosen(self, path: Path) -> None:
        index = self.rows.index_of(path) if self.rows else None
        if index is not None:
            self.walk.to(index)

    def _clicked(self, index: QModelIndex) -> None:
        if self.rows and self.tree.rows.hasChildren(index) and not self.rows.is_step(self.tree.rows.path(index)):
            self.tree.setExpanded(index, not self.tree.isExpanded(index))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.walk.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= _BESIDE
        self._below.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._below.setSpacing(24 if beside else 8)
        self.explanation.setVisible(self.height() >= _ROOMY)
        self.way.setVisible(self.height() >= _SLIDER)
        # The table keeps its height while shorter and longer texts come and go.
        self.explanation.setMinimumHeight(_LINES * self.explanation.fontMetrics().lineSpacing())
        self._show_loss()
        self.mark()

    # -- words --

    def _sentence(self, index: int | None) -> str:
        subject, traced = self.context.subject, self._trace()
        if self.rows is None:
            return ""
        said = "" if index is None else step_words(self.rows.steps[index], traced.tokens if traced else None)
        if traced is None:
            yet = "Not run" if subject.weights is None and not subject.waiting else "Not run yet"
            said = f"{yet}: sizes for a full context of {self.rows.tokens:,} tokens. {said}"
        elif traced.first_bad:
            said = f"From {traced.first_bad} on, numbers are no longer finite. {said}"
        elif self.context.study.refused is not None:
            said = f"The last text that could be read. {said}"
        elif subject.what_if:
            said = f"The built model, not the draft. {said}"
        return said.strip()

    def _show_loss(self) -> None:
        traced, weights = self._trace(), self.context.subject.weights
        whole, short = loss_words(traced, weights) if traced and weights else ("", "")
        room = self.loss.width() if self.loss.isVisible() else self.body.width()
        fits = self.loss.fontMetrics().horizontalAdvance(whole) <= room
        self.loss.setText(whole if fits else short)
        self.loss.setToolTip("" if fits else whole)
        self.loss.setAccessibleDescription(whole)
        self.loss.setVisible(bool(whole))

    def table(self) -> list[list[str]]:
        """The steps in order; of a very long pass the first block stands for all, and is said to."""
        rows = self.rows
        if rows is None:
            return []
        count, layers = len(rows.steps), rows.config.layers
        numbers: Iterable[int] = range(count)
        if count > _LONGEST and layers > 1:
            second, after = rows.steps.index_of("blocks.1.ln1"), rows.steps.index_of("ln_f")
            numbers = [*range(min(second, _LONGEST)), *range(after, count)]
        made = [[rows.steps[i].name, *rows.line(rows.path_of(i)).cells[1:]] for i in numbers]
        if len(made) < count:
            made.insert(-3, [f"blocks.1 to blocks.{layers - 1}", "as blocks.0", *("",) * (len(made[0]) - 2)])
        if not self._figures:
            return [list(TITLES), *(row[: len(TITLES)] for row in made)]
        return [[*TITLES, *MEASURED], *made]
