"""Decides when the text is run through the model again, and for whom. Knows no panel by name.

One inspection is under way at a time; when it returns, the newest state is asked for, whatever happened meanwhile.
Attention is computed only while a panel that needs it can be seen; the trace always, since the window itself shows the
loss, but for one text whose model learns no more than once a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    CURRENT,
    Attended,
    Cancelled,
    Command,
    Event,
    Failed,
    Finished,
    Inspect,
    ModelInfo,
    TextRefused,
    Traced,
)
from gpt_viz.ui.panel import Panel
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Passage, Study
from gpt_viz.ui.subject import Subject

# While sampling makes the text longer, it is looked at this often; typing is followed letter by letter.
SAMPLING_INTERVAL_S = 0.1
# While the weights change, by training or by a hand on the time machine, patterns are followed as they come; shapes
# stay, and the loss is read this often.
TRACE_INTERVAL_S = 1.0
# Up to here the engine sends every head's pattern whole, so that the chosen head makes no difference.
WHOLE_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an inspection would answer for: two that are equal would give the same answer."""

    model: int
    weights: int
    text: str
    continuation: tuple[int, ...]
    attention: bool
    head: tuple[int, int] | None
    trace: bool = True

    def answered_by(self, other: Wanted | None) -> bool:
        """Whether the answer to `other` tells all that this one asks for."""
        if other is None or (self.trace and not other.trace):
            return False
        other = replace(other, trace=self.trace)
        return self == other or (not self.attention and self == replace(other, attention=False, head=None))

    def of_later_weights(self, other: Wanted | None) -> bool:
        """Whether this is of the same text in the same model, which has only learned since the other one."""
        same = other is not None and (self.model, self.text, self.continuation) == (
            other.model, other.text, other.continuation,
        )  # fmt: skip
        return same and other is not None and self.weights != other.weights


class Conductor(QObject):
    """Watches model, text, selection and what can be seen. `settled` is emitted when there is nothing to ask for."""

    settled = Signal()

    def __init__(
        self,
        subject: Subject,
        study: Study,
        selection: SelectionModel,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._subject, self._study, self._selection = subject, study, selection
        self._new_job, self._send, self._clock = new_job, send, clock
        self._panels: list[Panel] = []
        self._model: ModelInfo | None = None
        self._models = 0
        self._job: int | None = None
        self._asked: Wanted | None = None
        self._traced: Wanted | None = None  # the newest of them with a trace
        self._asked_at = self._traced_at = float("-inf")
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.consider)
        subject.changed.connect(self.consider)
        subject.stepped.connect(self.consider)
        study.changed.connect(self.consider)
        selection.changed.connect(self.consider)

    @property
    def busy(self) -> bool:
        """Whether an inspection is under way."""
        return self._job is not None

    def add(self, panel: Panel) -> None:
        """Compute what this panel needs while it can be seen."""
        self._panels.append(panel)
        panel.shown.connect(self.consider)

    def accepts(self, event: Event) -> bool:
        """Whether the event is current: not an answer for a model or a text that has been left behind.

        Of another slot than the current one nothing is known here; whoever asks about that sees to it.
        """
        ours = event.slot == CURRENT and isinstance(event, (Traced, Attended, TextRefused))
        return not ours or event.job == self._job

    def handle(self, event: Event) -> None:
        """Follow what the engine answers."""
        if event.job != self._job:
            return
        if isinstance(event, (Traced, Attended)):
            asked = self._asked
            self._study.saw(event.tokens, Passage(asked.text, asked.continuation) if asked else None)
            if self._subject.built is not None:
                self._selection.fit(self._subject.built.config, len(event.tokens.ids))
        elif isinstance(event, TextRefused):
            self._study.refuse(event)
        elif isinstance(event, (Finished, Cancelled, Failed)):
            self._job = None
            self.consider()
            if self._job is None and not self._timer.isActive():
                self.settled.emit()

    def consider(self, *_: object) -> None:
        """Ask for another inspection if the state is another than at the last one and none is under way."""
        if self._subject.built is not self._model:
            self._change_model(self._subject.built)
        if self._job is not None or self._waits():
            return  # before anything is put together: this is called in every frame
        wanted = self._wanted()
        if wanted is None or wanted.answered_by(self._asked):
            return
        early_s = TRACE_INTERVAL_S - (self._clock() - self._traced_at)
        if early_s > 0 and wanted.of_later_weights(self._traced):
            wanted = replace(wanted, trace=False)
            if not wanted.attention or wanted.answered_by(self._asked):
                self._come_again(early_s)
                return
        self._timer.stop()
        self._ask(wanted)

    def _change_model(self, model: ModelInfo | None) -> None:
        self._model = model
        self._models += 1
        self._job = self._asked = self._traced = None  # what is still under way was begun with the model before
        if model is not None:
            self._selection.fit(model.config, model.config.block_size)

    def _ask(self, wanted: Wanted) -> None:
        self._asked, self._asked_at, self._job = wanted, self._clock(), self._new_job()
        if wanted.trace:
            self._traced, self._traced_at = wanted, self._asked_at
        self._send(
            Inspect(
                job=self._job,
                text=wanted.text,
                continuation=wanted.continuation,
                trace=wanted.trace,
                attention=wanted.attention,
                head=(self._selection.value.layer, self._selection.value.head),
            )
        )

    def _wanted(self) -> Wanted | None:
        if self._model is None or self._subject.weights is None:
            return None
        needs = frozenset().union(*(panel.needs for panel in self._panels if panel.in_sight()))
        attention = "attention" in needs and self._model.config.layers > 0
        long = attention and self._long(self._model.config)
        value = self._selection.value
        return Wanted(
            model=self._models,
            weights=self._subject.version,
            text=self._study.prompt,
            continuation=self._study.continuation,
            attention=attention,
            head=(value.layer, value.head) if long else None,
        )

    def _long(self, config: GPTConfig) -> bool:
        """Whether the pass may have more tokens than are shown whole; a guess that errs on the side of asking."""
        return min(config.block_size, len(self._study.prompt) + len(self._study.draws)) > WHOLE_TOKENS

    def _waits(self) -> bool:
        """Whether the same prompt, with what is sampled after it, was looked at a moment ago; it comes again soon."""
        early_s = SAMPLING_INTERVAL_S - (self._clock() - self._asked_at)
        asked = self._asked
        if early_s <= 0 or asked is None or asked.text != self._study.prompt or not self._study.draws:
            return False
        self._come_again(early_s)
        return True

    def _come_again(self, wait_s: float) -> None:
        if not self._timer.isActive():
            self._timer.start(int(wait_s * 1000) + 1)
