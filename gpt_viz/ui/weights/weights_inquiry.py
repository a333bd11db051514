"""Asks the engine for weights: for another place at once, for weights that change by themselves now and then.

Knows no widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.protocol import (
    Cancelled,
    Event,
    Failed,
    Finished,
    ModelInfo,
    OpenWeights,
    WeightsOpened,
)
from gpt_viz.ui.panel import Context

INTERVAL_S = 0.25  # between two looks at weights that change, at least, and as long as the last look took
HEARD = (WeightsOpened, Failed, Cancelled, Finished)


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A question; `version` counts how often the weights have become other ones."""

    model: ModelInfo
    place: str
    version: int

    def follows(self, other: Wanted | None) -> bool:
        """Whether it is about the same weights as another one. A model that was built again is another model."""
        return other is not None and self.model is other.model and self.place == other.place


class WeightsInquiry(QObject):
    """One question at a time. `changed` is emitted when there is news: an answer, a failure, or time to ask again.

    `failure` is why the newest question was not answered, or "".
    """

    changed = Signal()

    def __init__(
        self, context: Context, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._context, self._clock = context, clock
        self._asked: Wanted | None = None
        self._asked_at = self._took = 0.0
        self._job: int | None = None
        self._answer: WeightsOpened | None = None
        self._of: ModelInfo | None = None
        self.failure = ""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.changed)

    def ask(self, place: str) -> None:
        """Want to see these weights of the built model as they are now; nothing is sent for what is known already."""
        model = self._context.subject.weights
        if model is None:
            return
        wanted, before = Wanted(model, place, self._context.subject.version), self._asked
        if wanted.follows(before):
            if before is not None and wanted.version == before.version:
                return
            early = max(INTERVAL_S, 2 * self._took) - (self._clock() - self._asked_at)
            if self._job is not None or early > 0:
                if self._job is None and not self._timer.isActive():
                    self._timer.start(int(early * 1000) + 1)
                return
        self._timer.stop()
        self._asked, self._asked_at, self._job = wanted, self._clock(), self._context.new_job()
        self._context.send(OpenWeights(job=self._job, parameter=place))

    def answer(self, place: str) -> WeightsOpened | None:
        """The newest weights of that place, if they are those of the model that is shown."""
        model, found = self._context.subject.weights, self._answer
        return found if found is not None and self._of is model and found.parameter == place else None

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._job is not None

    def handle(self, event: Event) -> None:
        """Take what the engine answers."""
        if self._job is None or event.job != self._job:
            return
        if isinstance(event, WeightsOpened):
            self._answer, self._of = event, self._asked.model if self._asked else None
            self._took = self._clock() - self._asked_at
        self.failure = event.message if isinstance(event, Failed) else ""
        self._job = None
        self.changed.emit()
