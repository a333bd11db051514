"""The training of the model under study: starts it, steers it, takes in what comes of it. Knows no widget.

A run that is paused, stopped or broken off goes on where it stands, with the same numbers. While an earlier moment of
the model is looked at, training waits; back at the newest one it goes on by itself, unless someone paused it.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.protocol import (
    CURRENT,
    Attended,
    Built,
    Cancel,
    Cancelled,
    CheckpointOpened,
    CheckpointSaved,
    Command,
    Event,
    Failed,
    Finished,
    MomentShown,
    MomentsKept,
    Pause,
    Progress,
    ReportTraining,
    Resume,
    ShowMoment,
    Traced,
    Train,
    TrainedSteps,
    TrainingBegan,
    TrainingSample,
    Untrain,
    Validated,
)
from gpt_viz.schedule import TrainingSettings
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.training.moment import Moment

# What shows the weights is told of other ones at most so often: a person reads what is said of them.
TELL_S = 0.25
# While steps are made, about this share of the engine's time may go into the pass by which they are looked at.
LOOK_SHARE = 0.02
# However long that takes, nobody waits longer than this.
LATEST_S = 5.0
# The events of such a pass.
LOOKS = (Traced, Attended)
MOST_SAMPLES = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained on (`corpus` None: the built-in passage), and how."""

    corpus: str | None
    encoding: str | None
    settings: TrainingSettings


class Learner(QObject):
    """`changed` is emitted at any news. Steps and moments are counted over all runs of the model.

    `losses`, `rates` and `norms` begin at step `first`; `validations` are (moment, loss); `samples` newest last. `kept`
    are the moments that can be shown beside the `newest`, `shown` the one that is; `undone`: it was
    trained, and is no more. `ended` is how the last run came to
    rest: "", "finished", "stopped", "paused" or "failed", with the `reason`.
    """

    changed = Signal()

    def __init__(
        self,
        subject: Subject,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._subject, self._new_job, self._send, self._clock = subject, new_job, send, clock
        self._plan: Plan | None = None
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._tell_if_due)
        self._told_at = float("-inf")
        self._look: int | None = None  # the job of the newest pass in which the weights were looked at
        self._origins = 0
        # What is to be done before the training is given up; it then goes on with what it is handed.
        self.before: Callable[[Callable[[], object]], object] = lambda then: then()
        self.aside = ""  # what is written to this file is not saved by anybody
        self._forget()

    def _forget(self) -> None:
        self._soon.stop()
        self._untold, self._look_s = False, 0.0  # how long the newest look took
        self._origins += 1
        self._job: int | None = None
        self._showing: int | None = None
        self._opened: int | None = None  # what the model came out of a file with
        self._wanted: int | None = -1  # the moment that was asked for last; -1: none is under way
        self._held = False  # whether the run waits only because an earlier moment is looked at
        self.paused = self.stopping = self.single = self.undone = False
        self.ended = self.reason = self.working = ""
        self.began: TrainingBegan | None = None
        self.first = self.newest = self.shown = self.saved = 0
        self.losses, self.rates, self.norms = array("f"), array("f"), array("f")
        self.validations: list[tuple[int, float]] = []
        self.samples: list[TrainingSample] = []
        self.kept: tuple[int, ...] = (0,)
        self.bytes = self.limit_bytes = 0
        self.tokens_per_second = self.left_s = 0.0

    # -- how it stands --

    @property
    def running(self) -> bool:
        """Whether steps are being made."""
        return self._job is not None and not self.paused

    @property
    def live(self) -> bool:
        """Whether a run is under way, also one that waits."""
        return self._job is not None

    @property
    def trained(self) -> bool:
        """Whether there are other weights than the first ones."""
        return self.newest > self.kept[0]

    @property
    def moment(self) -> Moment:
        """Which weights are shown."""
        return Moment(0 if self.shown == self.kept[0] else self._origins, self.shown)

    @property
    def at_newest(self) -> bool:
        """Whether the newest weights are shown."""
        return self.shown == self.newest

    @property
    def incomplete(self) -> bool:
        """Whether the last run has steps left."""
        return self.began is not None and self.began.first <= self.newest < self.began.last

    @property
    def unsaved(self) -> int:
        """How many steps there are in no file yet."""
        return max(self.newest - self.saved, 0) if self.trained else 0

    @property
    def moments(self) -> tuple[int, ...]:
        """All that can be shown, rising, the newest last."""
        return (*self.kept[: bisect_left(self.kept, self.newest)], self.newest)

    # -- what is asked of it --

    def run(self, plan: Plan, limit: int | None = None) -> None:
        """Train, or go on; with a `limit` at most so many steps now."""
        if self.paused and limit is None and plan == self._plan and not self.single:
            self.resume()
            return
        anew = self.begins_anew
        if anew:
            self._forget()
            self.undone = True
        self._plan, self._job, self.single = plan, self._new_job(), limit is not None
        self.paused = self.stopping = self._held = False
        self.ended = self.reason = self.working = ""
        self._send(
            Train(
                job=self._job,
                corpus=plan.corpus,
                encoding=plan.encoding,
                settings=plan.settings,
                limit=limit,
                anew=anew,
            )
        )
        self.changed.emit()

    def step(self, plan: Plan) -> None:
        """Make one step and rest again."""
        self.run(plan, limit=1)

    def pause(self) -> None:
        """Rest after the step that is being made."""
        if self.running:
            self._rest()
            self._held = False
        elif self._held:
            self._held = False  # from now on it rests by order
        self.changed.emit()

    def resume(self) -> None:
        """Go on from the newest weights."""
        if self._job is not None and self.paused:
            self.paused = self._held = False
            self._send(Resume(job=self._new_job(), target=self._job))
            self.changed.emit()

    def stop(self) -> None:
        """End the run; its weights stay."""
        if self._job is not None and not self.stopping:
            self.stopping = True
            self._send(Cancel(job=self._new_job(), target=self._job))
            self.changed.emit()

    @property
    def begins_anew(self) -> bool:
        """Whether the first weights are trained, which are shown: nothing is lost by it, all others are in a file."""
        shown = self.trained and self.shown == self.kept[0] == 0
        return shown and not self.live and not self.unsaved

    def reset(self) -> None:
        """Go back to the first weights, and forget all runs."""
        self.before(self._reset)

    def _reset(self) -> None:
        self._forget()
        self.undone = True
        self._send(Untrain(job=self._new_job()))
        self.changed.emit()

    def show(self, step: int | None) -> None:
        """Have a moment shown, or with None the newest; training waits meanwhile."""
        if step == self.newest:
            step = None
        if self.running and step is not None:
            self._rest()
            self._held = True
        self._wanted = step
        if self._showing is None:
            self._show_wanted()
        self.changed.emit()

    def show_trained(self, on: bool) -> None:
        """Show the newest weights, or the first ones."""
        self.show(None if on else self.kept[0])

    def _rest(self) -> None:
        assert self._job is not None
        self.paused = True
        self._send(Pause(job=self._new_job(), target=self._job))
        self._send(ReportTraining(job=self._new_job()))
        self._tell_if_due()

    def _show_wanted(self) -> None:
        """Ask for one moment at a time: whoever drags a slider wants the last one, not all of them."""
        wanted, self._wanted = self._wanted, -1
        if wanted == -1:
            return
        self._showing = self._new_job()
        self._send(ShowMoment(job=self._showing, step=wanted))
        if wanted is None and self._held:
            self.resume()

    # -- what it is told --

    def handle(self, event: Event) -> None:
        """Take in what the engine says of the current model."""
        if event.slot != CURRENT:
            return
        if isinstance(event, LOOKS):
            self._look = event.job
            return
        if isinstance(event, Finished) and event.job == self._look:
            self._look_s = event.took_s
            return
        if isinstance(event, Built):
            if self._job is not None:
                self._send(Cancel(job=self._new_job(), target=self._job))  # a paused one would keep its model
            self._forget()
        elif isinstance(event, (TrainedSteps, MomentShown, MomentsKept)):
            self._take(event)
        elif isinstance(event, Validated):
            self.validations.append((event.step, event.loss))
        elif isinstance(event, TrainingSample):
            self.samples.append(event)
            del self.samples[:-MOST_SAMPLES]
        elif isinstance(event, CheckpointSaved):
            if event.path != self.aside:
                self.saved = max(self.saved, self.shown)
        elif isinstance(event, CheckpointOpened):
            self._opened = event.job
        elif event.job == self._job and self._job is not None:
            self._follow(event)
        elif event.job == self._showing and isinstance(event, (Finished, Cancelled, Failed)):
            self._showing = None
            self._show_wanted()
        else:
            return
        self.changed.emit()

    def _take(self, event: TrainedSteps | MomentShown | MomentsKept) -> None:
        if isinstance(event, TrainedSteps):
            if not self.losses:
                self.first = event.first
            for mine, theirs in (
                (self.losses, event.losses),
                (self.rates, event.rates),
                (self.norms, event.gradient_norms),
            ):
                mine.frombytes(theirs.tobytes())
            follows = self.at_newest
            self.newest = self.first + len(self.losses)
            self.shown = self.newest if follows else self.shown
            self.tokens_per_second, self.left_s = event.tokens_per_second, event.left_s
            self.working = ""
            self._changed_weights()
        elif isinstance(event, MomentShown):
            self.shown = event.step
            self.newest = event.step if event.newest else self.newest
            self._tell()
        else:
            follows = self.at_newest
            self.kept, self.newest = event.steps, event.newest
            self.shown = self.newest if follows else self.shown
            self.bytes, self.limit_bytes = event.bytes, event.limit_bytes
            if event.job == self._opened:
                self.saved = self.newest

    def _follow(self, event: Event) -> None:
        if isinstance(event, TrainingBegan):
            self.began, self.working = event, ""
        elif isinstance(event, Progress):
            self.working = event.what
        elif isinstance(event, Finished):
            self._end("paused" if self.single and self.incomplete else "finished")
        elif isinstance(event, Cancelled):
            self._end("stopped")
            self._send(ReportTraining(job=self._new_job()))
        elif isinstance(event, Failed):
            self._end("failed", event.message)

    def _end(self, how: str, reason: str = "") -> None:
        self._job, self.paused, self.stopping, self._held = None, False, False, False
        self.ended, self.reason, self.working = how, reason, ""
        self._tell_if_due()

    # -- whom it tells of the weights --

    def _changed_weights(self) -> None:
        self._untold = True
        self._tell_if_due()

    def _tell_if_due(self) -> None:
        if not self._untold:
            return
        pause_s = min(max(TELL_S, self._look_s / LOOK_SHARE), LATEST_S) if self.running else TELL_S
        early_s = self._told_at + pause_s - self._clock()
        if early_s <= 0:
            self._tell()
        else:
            self._soon.start(int(early_s * 1000) + 1)

    def _tell(self) -> None:
        self._untold = False
        self._told_at = self._clock()
        self._subject.step()
