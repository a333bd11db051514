"""Asks the engine for one thing after another for one view: one question at a time, only the newest one after it.

Knows no widget and no kind of question. A question is known by its `key`: two with equal keys have the same answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.protocol import Cancelled, Command, Event, Failed, Finished

# What changes by itself, as weights in training do, is asked for so often; what a person chooses at once.
INTERVAL_S = 0.25


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask: `make` gives the command for a job's number. `version` counts what changed by itself since."""

    key: Hashable
    version: int
    make: Callable[[int], Command]

    def same(self, other: Question | None) -> bool:
        """Whether the other one has the same answer."""
        return other is not None and (self.key, self.version) == (other.key, other.version)


class Errand(QObject):
    """One thing of which always the newest is wanted. `changed` is emitted when a question has come to its end.

    `answers` are the events of the newest question that was answered, by kind, and `key` its key; `failure` is why the
    newest one was not, or "".
    """

    changed = Signal()

    def __init__(
        self,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._new_job, self._send, self._clock = new_job, send, clock
        self._next: Question | None = None
        self._asked: Question | None = None
        self._asked_at = float("-inf")
        self._job: int | None = None
        self._coming: dict[type[Event], Event] = {}
        self.answers: dict[type[Event], Event] = {}
        self.key: Hashable = None
        self.failure = ""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._go_on)

    @property
    def busy(self) -> bool:
        """Whether a question is under way, or waits for its turn."""
        return self._job is not None or self._timer.isActive()

    def ask(self, key: Hashable, make: Callable[[int], Command], version: int = 0) -> None:
        """Want to know this. Nothing is sent for what is known or on its way."""
        self._next = Question(key, version, make)
        self._go_on()

    def want_nothing(self) -> None:
        """Ask no more for what was wanted last; what is under way is still taken in."""
        self._next = None
        self._timer.stop()

    def forget(self) -> None:
        """Forget all answers: what they were of is there no more."""
        self.want_nothing()
        self._job = self._asked = self.key = None
        self._coming, self.answers, self.failure = {}, {}, ""

    def handle(self, event: Event) -> None:
        """Take what the engine answers to the question under way."""
        if self._job is None or event.job != self._job:
            return
        if isinstance(event, (Finished, Cancelled, Failed)):
            self._job = None
            self.failure = event.message if isinstance(event, Failed) else ""
            if isinstance(event, Finished) and self._asked is not None:
                self.answers, self.key = self._coming, self._asked.key
            self._coming = {}
            self.changed.emit()
            self._go_on()
        else:
            self._coming[type(event)] = event

    def _go_on(self) -> None:
        question = self._next
        if self._job is not None or question is None or question.same(self._asked):
            return
        early = INTERVAL_S - (self._clock() - self._asked_at)
        if early > 0 and self._asked is not None and question.key == self._asked.key:
            if not self._timer.isActive():
                self._timer.start(int(early * 1000) + 1)
            return
        self._timer.stop()
        self._asked, self._asked_at, self._job = question, self._clock(), self._new_job()
        self._send(question.make(self._job))
