"""One forward pass of the text under study as ordered steps: what each computes, in which sizes, by which line.

The sizes are those of the tensors that ran. The step one stands on is the selection's. Knows no torch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QSizePolicy, QVBoxLayout

from gpt_viz import lesson
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import CURRENT, Event, ModelInfo, Traced
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.step_rows import TITLES, StepRows
from gpt_viz.ui.widgets.code_strip import CodeStrip
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.lazy_rows import Path
from gpt_viz.ui.widgets.row_paint import Column
from gpt_viz.ui.widgets.table import Table
from gpt_viz.ui.widgets.transport import Transport

_COLUMNS = (
    Column(TITLES[0]),
    Column(TITLES[1], hides=2, mono=True, muted=True),
    Column(TITLES[2], hides=1, mono=True),
    Column(TITLES[3], hides=3, mono=True, muted=True),
    Column(TITLES[4], hides=4, mono=True, muted=True),
)
_BEAT = 500  # ms a step while playing
_BESIDE = 960  # px from which the loss stands beside the code
_FEW = 24  # tokens that are spelt out
_LABELS = {
    "ids": "the text as numbers, one for each token",
    "token_embedding": "what each token is: its row of E",
    "position_embedding": "where each token stands: one row of P for each position",
    "embedded": "what and where, added; here the residual stream begins",
    "ln1": "every position centred and scaled, before attention",
    "q": "what each position asks for",
    "k": "what each position can be found by",
    "v": "what each position hands over when it is found",
    "products": "how well each question fits each key",
    "scores": "the products, scaled by the head's width so that softmax stays soft",
    "masked": "what comes later is hidden: it counts −∞",
    "A": "how much each position takes from each earlier one",
    "concat": "all heads' results side by side",
    "proj": "the heads' results mixed into one vector for each position",
    "mid": "what attention found, added to the stream",
    "ln2": "every position centred and scaled, before the feed-forward part",
    "expand": "each position by itself, four times as wide",
    "gelu": "bent: large values pass, negative ones fade",
    "contract": "back to the width of the stream",
    "ln_f": "every position centred and scaled, for the last time",
    "logits": "for each position, a score for every token that may come next",
    "loss": "how surprised the model is by what really comes next",
}
_HEAD_OUT = "the values of earlier positions, mixed as A says"
_BLOCK_OUT = "what the feed-forward part found, added to the stream"
_LONGEST = 5_000  # steps that are copied one by one


class Shapes(Panel):
    """The pass as a tree of steps, with buttons to walk through it and the line of code beneath."""

    name = "shapes"
    title = "Shapes"
    order = 2
    needs = frozenset({"trace"})
    events = (Traced,)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.rows: StepRows | None = None
        self._traced: Traced | None = None
        self._traced_of: ModelInfo | None = None
        self._made_of: tuple[object, ...] = ()
        self._drawn_step: str | None = None
        self._own_step = ""
        self.timer = QTimer(self, interval=_BEAT)
        self.timer.timeout.connect(self._beat)
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
        self.tree.paged.connect(lambda way: self.next_step() if way > 0 else self.previous_step())
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
        self._below.setSpacing(6)
        self._below.addWidget(self.code, 3)
        self._below.addWidget(self.loss, 1)
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.tree, 1)
        column.addLayout(self._below)
        context.selection.changed.connect(self._selection_changed)

    def handle(self, event: Event) -> None:
        if isinstance(event, Traced) and event.slot == CURRENT:
            self._traced, self._traced_of = event, self.context.subject.built
            self.mark()

    def draw(self) -> None:
        config = self._config()
        if config is None:
            self.cover("There is no model yet. Choose a preset and press Build.")
            self.say("")
            self.transport.stand(-1, 0, playing=False)
            return
        self.cover("")
        self._show(config)
        index, step = self._index(), self.context.selection.value.step
        count = len(self.rows.steps) if self.rows else 0
        self.transport.stand(-1 if index is None else index, count, playing=self.timer.isActive())
        if step != self._drawn_step:
            self._drawn_step = step
            self.tree.choose(self.rows.path_of(index) if self.rows and index is not None else ())
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

    def _show(self, config: GPTConfig) -> None:
        traced = self._trace()
        if self.rows is not None and self._made_of == (config, traced):
            return
        self._made_of = (config, traced)
        form = self.rows.form if self.rows else None
        if traced is None:
            self.rows = StepRows(config, config.block_size, None)
        else:
            tokens = traced.tokens
            spelt = ", ".join(f"{visible(p)} {i}" for p, i in zip(tokens.pieces[:_FEW], tokens.ids[:_FEW], strict=True))
            more = ", …" if len(tokens.ids) > _FEW else ""
            self.rows = StepRows(
                config, len(tokens.ids), traced.steps, loss=traced.loss is not None, ids=f"{spelt}{more}"
            )
        self.tree.show_rows(self.rows)
        if self.rows.form != form:
            self._drawn_step = None  # another tree: find the step in it again

    def _index(self) -> int | None:
        """The number of the selected step in the pass that is shown; None where it has none."""
        if self.rows is None:
            return None
        try:
            return self.rows.steps.index_of(self.context.selection.value.step)
        except ValueError:
            return None

    def _show_code(self, index: int | None) -> None:
        if self.rows is None or index is None:
            self.code.show_lines((), range(0), "residual", "")
            return
        spec = self.rows.steps[index]
        try:
            line = lesson.line_of(spec.name)
        except LookupError as error:
            self.code.show_lines((str(error),), range(0), spec.kind, "")
        else:
            self.code.show_lines(line.lines, line.lit, spec.kind, f"{line.file}, line {line.number}, {line.class_name}")

    # -- walking through it --

    def first_step(self) -> None:
        """Go to the first step of the pass."""
        self._walk(0)

    def previous_step(self) -> None:
        """Go one step back."""
        index = self._index()
        self._walk(0 if index is None else max(index - 1, 0))

    def next_step(self) -> None:
        """Go one step on."""
        self._walk(self._after())

    def last_step(self) -> None:
        """Go to the last step of the pass."""
        self._walk(-1)

    def toggle_play(self) -> None:
        """Walk on by itself, from the first step if at the last; or stand still."""
        if self.timer.isActive():
            self.timer.stop()
        elif self.rows is not None:
            at_the_end = self._index() == len(self.rows.steps) - 1
            self._go(0 if at_the_end else self._after())
            self.timer.start()
        self.mark()

    def _after(self) -> int:
        index = self._index()
        last = len(self.rows.steps) - 1 if self.rows else 0
        return 0 if index is None else min(index + 1, last)

    def _walk(self, index: int) -> None:
        self.timer.stop()
        self._go(index)
        self.mark()

    def _beat(self) -> None:
        self._go(self._after())
        if self.rows is None or self._index() == len(self.rows.steps) - 1:
            self.timer.stop()
            self.mark()

    def _go(self, index: int) -> None:
        if self.rows is not None:
            self._own_step = self.rows.steps[index].name
            self.context.selection.choose(step=self._own_step)

    def _selection_changed(self, *_: object) -> None:
        if self.context.selection.value.step != self._own_step and self.timer.isActive():
            self.timer.stop()  # someone else has moved the cursor

    def _row_chosen(self, path: Path) -> None:
        index = self.rows.index_of(path) if self.rows else None
        if index is not None:
            self._drawn_step = self.rows.steps[index].name if self.rows else None
            self._walk(index)
            self._show_code(index)

    def _clicked(self, index: QModelIndex) -> None:
        if self.tree.rows.hasChildren(index):
            self.tree.setExpanded(index, not self.tree.isExpanded(index))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= _BESIDE
        self._below.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._show_loss()

    # -- words --

    def _sentence(self, index: int | None) -> str:
        subject, traced = self.context.subject, self._trace()
        said = self._step_label(index)
        if self.rows is None:
            return said
        if traced is None:
            yet = "Not run" if subject.weights is None else "Not run yet"
            said = f"{yet}: sizes for a full context of {self.rows.tokens:,} tokens. {said}"
        elif traced.first_bad:
            said = f"From {traced.first_bad} on, numbers are no longer finite. {said}"
        elif self.context.study.refused is not None:
            said = f"The last text that could be read. {said}"
        elif subject.what_if:
            said = f"The built model, not the draft. {said}"
        return said.strip()

    def _step_label(self, index: int | None) -> str:
        if self.rows is None or index is None:
            return ""
        spec = self.rows.steps[index]
        last = spec.name.rpartition(".")[2]
        if spec.name == "ids" and (traced := self._trace()):
            first = ", ".join(
                f"{visible(p)} is {i}" for p, i in zip(traced.tokens.pieces[:3], traced.tokens.ids[:3], strict=True)
            )
            return f"ids: {_LABELS['ids']}: {first}{' …' if len(traced.tokens.ids) > 3 else ''}"
        if last == "out":
            return f"out: {_HEAD_OUT if spec.head is not None else _BLOCK_OUT}."
        return f"{last}: {_LABELS.get(last, spec.formula)}."

    def _show_loss(self) -> None:
        whole, short = self._loss()
        room = self.loss.width() if self.loss.isVisible() else self.body.width()
        fits = self.loss.fontMetrics().horizontalAdvance(whole) <= room
        self.loss.setText(whole if fits else short)
        self.loss.setToolTip("" if fits else whole)
        self.loss.setAccessibleDescription(whole)
        self.loss.setVisible(bool(whole))

    def _loss(self) -> tuple[str, str]:
        """The loss of the text under study in words, and in fewer."""
        traced, weights = self._trace(), self.context.subject.weights
        if traced is None or weights is None:
            return "", ""
        if traced.loss is None:
            return ("loss: it takes at least two tokens",) * 2
        count, V = len(traced.tokens.ids) - 1, weights.config.vocabulary
        unit = ("token" if weights.alphabet is None else "character") + "s" * (count != 1)
        said, uniform = f"loss {traced.loss:.2f} nats per token", f"(ln {V:,} = {math.log(V):.2f})"
        return f"{said} over {count:,} next {unit} {uniform}", f"{said} {uniform}"

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
            made.insert(-3, [f"blocks.1 to blocks.{layers - 1}", "as blocks.0", "", "", ""])
        return [list(TITLES), *made]
