"""Keeps what training has cost minutes in a file of the program's own, so that no click and no end of it loses them.

Nobody is asked where that can be done: the file is written while one trains, when training comes to rest and when the
window closes, opened again at the next start, and offered when the model that was trained is replaced or reset. Knows
no panel; writes no file itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpt_viz import settings
from gpt_viz.protocol import (
    CURRENT,
    Built,
    Cancel,
    Cancelled,
    CheckpointOpened,
    CheckpointSaved,
    Command,
    Event,
    Failed,
    Finished,
    SaveCheckpoint,
)
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.training.learner import Learner
from gpt_viz.ui.training.places import Place

# So much training without a file is worth one; half a minute at most is ever lost.
WORTH_S = 20.0
RESTING_S = 3.0  # and so much once it has come to rest, when writing holds nothing up
# The run itself is kept too, where that takes no more than this; larger models keep their weights alone, up to LARGEST.
RESUMABLE_BYTES, LARGEST_BYTES = 20_000_000, 512_000_000
_STANDSTILL_S = 2.0  # news that come later than this were no training in between


class Keeping(QObject):
    """`said` carries a sentence, whether it is a mistake, and details; `propose` asks whether to open a file."""

    said = Signal(str, bool, str)

    def __init__(
        self,
        learner: Learner,
        subject: Subject,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        propose: Callable[[str, Callable[[], object]], None],
        open_checkpoint: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._learner, self._subject = learner, subject
        self._new_job, self._send = new_job, send
        self._propose, self._open_checkpoint, self._clock = propose, open_checkpoint, clock
        self.place = Place(settings.trainings_dir())
        self.wanted = True  # not where the window leaves no trace, as one that only measures
        learner.before = self.before
        self._job: int | None = None
        self._unkept_s, self._seen_at, self._seen = 0.0, clock(), learner.newest
        self._kept = self._writing = 0  # how many steps of the model's training are in the file, and will be
        self._then: Callable[[], object] | None = None  # what waits for all of it to be there
        self._unsaved = False  # whether they are in no file of the user's
        self._opened = False  # whether the model came out of this very file
        self._failed = False
        learner.changed.connect(self._consider)

    def owns(self, event: Event) -> bool:
        """Whether the event belongs to a file of its own, and is followed here."""
        return event.job == self._job

    @property
    def holds(self) -> bool:
        """Whether the file holds training of the model under study that is in no file of the user's."""
        return self._kept > 0 and self._learner.unsaved > 0

    @property
    def unkept(self) -> bool:
        """Whether there is training that no file holds, this one included."""
        return self._learner.unsaved > 0 and (self._learner.running or self._learner.newest > self._kept)

    @property
    def possible(self) -> bool:
        """Whether it can be kept: a model that is very large, or a disk that is full, leaves that to the user."""
        model = self._subject.built
        return self.wanted and not self._failed and model is not None and model.bytes <= LARGEST_BYTES

    @property
    def writing(self) -> bool:
        """Whether the file is being written."""
        return self._job is not None

    def keep(self, then: Callable[[], object]) -> None:
        """Write all there is; `then` is called when that is done, or when it can't be."""
        self._then = then
        if self._job is None:
            self._write()

    def before(self, then: Callable[[], object]) -> None:
        """Have `then` done, which gives the training up: once it is written, where it is worth that.

        Training goes on meanwhile: a build that fails must find everything as it was.
        """
        worth = self._kept > 0 or self._unkept_s >= RESTING_S
        if self._then is not None or not (worth and self.possible and self.unkept):
            then()
            return
        self.keep(then)

    def open_before(self) -> None:
        """Open the training that was put aside last."""
        aside = self.place.aside()
        if aside is not None:
            self._open_checkpoint(str(aside))
        else:
            self.said.emit("No training has been put aside: what is replaced or reset is, from then on.", False, "")

    def handle(self, event: Event) -> None:
        """Follow what is written, and the model that is replaced."""
        if event.slot != CURRENT:
            return
        if isinstance(event, Built):
            self._leave()
        elif isinstance(event, CheckpointOpened) and self.place.take_over(Path(event.path)):
            self._kept, self._opened = 1, True  # how many steps it has is told later
        elif isinstance(event, CheckpointSaved) and Path(event.path) != self.place.path:
            self._opened = False
        elif event.job == self._job and self._job is not None:
            if isinstance(event, CheckpointSaved):
                self._kept = max(self._writing, 1)
            elif isinstance(event, Failed):
                self._failed = True
                self.said.emit(f"Training can't be kept: {event.message}; save it yourself.", True, event.details)
            if isinstance(event, (Finished, Cancelled, Failed)):
                self._job = None
                self._go_on()

    def _consider(self) -> None:
        """Count the time of training, and write the file once it is worth that."""
        learner, now = self._learner, self._clock()
        if learner.newest < self._seen:
            self._leave()  # it was reset
        elif learner.newest > self._seen and learner.live:
            self._unkept_s += min(now - self._seen_at, _STANDSTILL_S)
        self._seen_at, self._seen, self._unsaved = now, learner.newest, learner.unsaved > 0
        if self._opened and not self._unsaved:
            self._kept = max(self._kept, learner.newest)
        worth = WORTH_S if learner.running else RESTING_S
        if self._unkept_s >= worth and self._job is None and self.possible and learner.unsaved:
            self._write()

    def _go_on(self) -> None:
        """The file is written: whoever waits for it goes on, unless more has been learned meanwhile."""
        then = self._then
        if then is not None and self.possible and self._writing < self._learner.newest and not self._learner.running:
            self._write()
        elif then is not None:
            self._then = None
            then()

    def _write(self) -> None:
        model = self._subject.built
        assert model is not None  # it was trained
        self._unkept_s, self._writing = 0.0, self._learner.newest
        try:
            found = self.place.take()
        except OSError as error:
            self._failed = True
            self.said.emit(f"Training can't be kept: {error.strerror or error}; save it yourself.", True, "")
            self._go_on()
            return
        if found:
            self.said.emit("The training that was kept before is put aside: the menu opens it.", False, "")
        self._job = self._new_job()
        resumable = model.bytes <= RESUMABLE_BYTES
        path = self._learner.aside = str(self.place.path)
        self._send(SaveCheckpoint(job=self._job, asker=path, path=path, resumable=resumable, newest=True))

    def _leave(self) -> None:
        """The training in the file is no longer the model's: put it aside, and say where it is."""
        steps, held = self._kept, self._kept > 0 and (self._unsaved or self._opened)
        self._kept, self._unkept_s, self._unsaved, self._opened = 0, 0.0, False, False
        if self._job is not None:  # it may come to write the next model already, which has nothing to be kept
            self._send(Cancel(job=self._new_job(), target=self._job))
            self._job, self._writing = None, 0
            self._go_on()
        if not held or not self.place.put_aside():
            return
        before = str(self.place.before)
        why = f"The model before had {steps:,} step{'' if steps == 1 else 's'} of training; it is kept."
        self._propose(why, lambda: self._open_checkpoint(before))
