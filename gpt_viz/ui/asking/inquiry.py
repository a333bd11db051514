"""Asks the engine one thing about the text that was read: one question at a time, and only the newest one after it.

Knows no widget and no kind of question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.protocol import (
    Cancelled,
    Command,
    Event,
    Failed,
    Finished,
    ModelInfo,
    TextRefused,
)
from gpt_viz.ui.panel import Context
from gpt_viz.ui.study import Passage

# While a text grows or weights change by themselves, it is asked anew this often, and so that no more than a part of
# the engine's time goes into the answers; a person is followed at once.
INTERVAL_S = 0.25
REST = 3  # times what an answer took


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question: two that are equal have the same answer."""

    model: ModelInfo
    weights: int
    passage: Passage
    details: tuple[tuple[str, Any], ...]

    def follows(self, other: Wanted | None) -> bool:
        """Whether it is the same question as another one, about a text or weights that went on by themselves."""
        return other is not None and self.model is other.model and self.details == other.details


class Inquiry(QObject):
    """One kind of question, such as what is in a step. `changed` is emitted when an answer has come, or none will.

    `wanted` says whether anyone can see the answer: what nobody sees is not asked for. `failure` is why the newest
    question was not answered, or ""; `passage` the text that the newest answer is of.
    """

    changed = Signal()

    def __init__(
        self,
        context: Context,
        question: type[Command],
        answer: type[Event],
        wanted: Callable[[], bool],
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._context, self._question, self._kind = context, question, answer
        self._wanted, self._clock = wanted, clock
        self._next: Wanted | None = None
        self._asked: Wanted | None = None
        self._asked_at = float("-inf")
        self._took_s = 0.0
        self._job: int | None = None
        self._of: ModelInfo | None = None
        self._answer: Event | None = None
        self.passage: Passage | None = None
        self.failure = ""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._go_on)

    def ask(self, **details: Any) -> None:
        """Want to know this of the text that was read last. Nothing is sent for what is known or on its way."""
        self.ask_of(self._context.study.passage, **details)

    def ask_of(self, passage: Passage | None, **details: Any) -> None:
        """Want to know this of another text than the one that was read last."""
        model = self._context.subject.weights
        if model is None or passage is None:
            self._next = None
            return
        self._next = Wanted(model, self._context.subject.version, passage, tuple(details.items()))
        self._go_on()

    def answer(self) -> Event | None:
        """The newest answer, if it is of the model that is shown; it may be of another text, or to another question."""
        model = self._context.subject.weights
        return self._answer if model is not None and self._of is model else None

    @property
    def busy(self) -> bool:
        """Whether a question is under way, or waits for its turn."""
        return self._job is not None or self._timer.isActive()

    def handle(self, event: Event) -> None:
        """Take what the engine answers."""
        if self._job is None or event.job != self._job:
            return
        if isinstance(event, self._kind):
            self._answer = event
            self._of, self.passage = (self._asked.model, self._asked.passage) if self._asked else (None, None)
            self._end("")
        elif isinstance(event, TextRefused | Finished | Cancelled):
            self._end("")
        elif isinstance(event, Failed):
            self._end(event.message)

    def _end(self, failure: str) -> None:
        self._job, self.failure = None, failure
        self._took_s = self._clock() - self._asked_at
        self.changed.emit()
        self._go_on()

    def _go_on(self) -> None:
        """Ask what is wanted, if that is another question than the last one and none is under way."""
        wanted = self._next
        if self._job is not None or wanted is None or wanted == self._asked or not self._wanted():
            return
        early = max(INTERVAL_S, (1 + REST) * self._took_s) - (self._clock() - self._asked_at)
        if early > 0 and wanted.follows(self._asked):
            if not self._timer.isActive():
                self._timer.start(int(early * 1000) + 1)
            return
        self._timer.stop()
        self._asked, self._asked_at, self._job = wanted, self._clock(), self._context.new_job()
        question: Any = self._question
        passage, details = wanted.passage, dict(wanted.details)
        self._context.send(question(job=self._job, text=passage.text, continuation=passage.continuation, **details))
