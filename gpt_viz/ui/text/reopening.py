"""The files of last time, opened again once the first model stands: nothing heavy unasked, and no file that a start
was not done with. Reads no file itself.

Before a file is opened its name is written down, and crossed out when that has come to an end, good or bad. A name that
is still there at the next start is that of a file which kept the program from going on; it is only proposed then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gpt_viz import settings
from gpt_viz.protocol import Cancelled, Command, Event, Failed, Finished, OpenText, TextOpened
from gpt_viz.ui.opening import Again
from gpt_viz.ui.study import Study
from gpt_viz.ui.text import text_words as words

# A text of so many bytes is read in a tenth of a second, a checkpoint opened in half of one.
TEXT_BYTES = 8_000_000
CHECKPOINT_BYTES = 64_000_000


class Opens(Protocol):
    """What is needed of the builder."""

    settled: SignalInstance
    held_back: SignalInstance
    file: tuple[str, tuple[str, ...]] | None

    def reads(self, text: TextOpened) -> bool:
        """Whether the model that stands can read it."""

    def take(self, text: TextOpened, *, prompt: bool = True) -> None:
        """Put it under study."""

    def open_checkpoint(self, path: str, settings: tuple[str, ...] = (), at_most: int | None = None) -> None:
        """Put the model of that file into the window."""


class Reopening(QObject):
    """Opens the checkpoint, then the text. `said` carries a sentence, whether it is a mistake, and details."""

    said = Signal(str, bool, str)

    def __init__(
        self,
        again: Again,
        builder: Opens,
        study: Study,
        propose: Callable[[str, Callable[[], object]], None],
        open_text: Callable[[str, str | None], None],
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._again, self._builder, self._study = again, builder, study
        self._propose, self._open_text = propose, open_text
        self._new_job, self._send = new_job, send
        self._job: int | None = None
        self._jobs: set[int] = set()
        self._waiting = [what for what in ("checkpoint", "text") if getattr(again, what)]
        self._now = ""
        self._unfinished = settings.unfinished() if self._waiting else ""
        builder.settled.connect(self._settled)
        builder.held_back.connect(self._hold_back)

    def owns(self, event: Event) -> bool:
        """Whether the event belongs to a text of last time, and is followed here."""
        return event.job in self._jobs

    @property
    def waiting(self) -> tuple[str, ...]:
        """Which of "checkpoint" and "text" it has not done with: they are still those of last time."""
        return tuple(self._waiting)

    def handle(self, event: Event) -> None:
        """Follow the text."""
        if event.job != self._job:
            return
        if isinstance(event, TextOpened):
            if self._builder.reads(event):
                self._builder.take(event, prompt=False)
        elif isinstance(event, Failed):
            if event.field == "size":
                self._propose_text(f"{event.message}.")
            else:
                self.said.emit(words.not_opened(event.message, again=True), False, "")
        if isinstance(event, (Finished, Cancelled, Failed)):
            self._job = None
            self._done()

    # -- one after the other --

    def _settled(self) -> None:
        """A model stands, or it is known why not: the first one, or the checkpoint's."""
        if self._now == "checkpoint":
            if self._builder.file is not None and self._again.prompt is not None:
                self._study.set_prompt(self._again.prompt)
            self._done()
        elif not self._now and self._waiting:
            self._next()

    def _next(self) -> None:
        if not self._waiting:
            return
        self._now = self._waiting[0]
        path = getattr(self._again, self._now)
        if path == self._unfinished:
            why = f"The last start did not get to the end of opening {PurePath(path).name}, so it is not opened again."
            (self._propose_text if self._now == "text" else self._propose_checkpoint)(why)
            self._done()
            return
        settings.begin_opening(path)
        if self._now == "checkpoint":
            self._builder.open_checkpoint(path, self._again.settings, CHECKPOINT_BYTES)
        else:
            self._job = self._new_job()
            self._jobs.add(self._job)
            encoding = self._again.encoding or None
            self._send(OpenText(job=self._job, path=path, encoding=encoding, at_most=TEXT_BYTES))

    def _done(self) -> None:
        settings.end_opening()
        self._waiting.remove(self._now)
        self._now = ""
        self._next()

    # -- what is only proposed --

    def _propose_text(self, why: str) -> None:
        path, encoding = self._again.text, self._again.encoding or None
        self._propose(why, lambda: self._open_text(path, encoding))

    def _propose_checkpoint(self, why: str) -> None:
        path, given = self._again.checkpoint, self._again.settings
        self._propose(why, lambda: self._builder.open_checkpoint(path, given))

    def _hold_back(self, _path: str, _settings: object, event: Failed) -> None:
        self._propose_checkpoint(f"{event.message}.")
