"""Runs the checks of the model under study: asks for them, takes in how they went. Knows no widget.

One run at a time. Results stay until the model is another one, or until the same check is made again.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gpt_viz.claims import NAMES
from gpt_viz.protocol import (
    CURRENT,
    Cancel,
    Cancelled,
    Checked,
    Event,
    Failed,
    Finished,
    MomentShown,
    Progress,
    RunChecks,
    TrainedSteps,
)
from gpt_viz.ui.panel import Context


@dataclass(frozen=True, slots=True)
class Result:
    """How a check went, and what it was made with: the text (prompt, continuation), and which weights, as a count."""

    event: Checked
    text: tuple[str, tuple[int, ...]]
    weights: int


class Checker(QObject):
    """`changed` is emitted when a run starts, ends or has news.

    `trying` is the check under way, "" for none; `asked` the checks of this run or the last one, `done` how many of
    them are behind it; `ended` "", "finished", "stopped" or "failed"; `reason` why it failed.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._model = context.subject.built
        self._job: int | None = None
        self._text: tuple[str, tuple[int, ...]] = ("", ())
        self._weights = self._seen = 0  # other ones since the start: now, and when the run was asked for
        self._results: dict[str, Result] = {}
        self.asked: tuple[str, ...] = ()
        self.trying, self.ended, self.reason = "", "", ""
        self.done = 0
        self.stopping = False
        context.subject.changed.connect(self._subject_changed)

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._job is not None

    def result(self, name: str) -> Checked | None:
        """The newest word on a check, or None."""
        found = self._results.get(name)
        return None if found is None else found.event

    def waits(self, name: str) -> bool:
        """Whether the check is still to come in the run under way."""
        return self.running and name in self.asked[self.done :]

    @property
    def outdated(self) -> str:
        """What has changed since some of the results were made: "weights", "text" or nothing, ""."""
        study = self._context.study
        now = (study.prompt, study.continuation)
        if any(each.weights != self._weights for each in self._results.values()):
            return "weights"
        return "text" if any(each.text != now for each in self._results.values()) else ""

    def run(self, names: tuple[str, ...] = (), position: int | None = None, token: int | None = None) -> None:
        """Make these checks, all where none is named; `position` and `token` are for the one of causality."""
        study = self._context.study
        self.asked = tuple(name for name in NAMES if name in names or not names)
        for name in self.asked if len(self.asked) > 1 else ():
            self._results.pop(name, None)
        self._text, self._seen = (study.prompt, study.continuation), self._weights
        self._job, self.done, self.trying, self.ended, self.reason = self._context.new_job(), 0, "", "", ""
        self.stopping = False
        (prompt, continuation), corpus = self._text, study.corpus
        self._context.send(
            RunChecks(
                job=self._job,
                text=prompt,
                continuation=continuation,
                names=names,
                position=position,
                token=token,
                corpus=corpus.path or None,
                encoding=corpus.encoding if corpus.path else None,
            )
        )
        self.changed.emit()

    def stop(self) -> None:
        """End the run after the step that is being made."""
        if self._job is not None and not self.stopping:
            self.stopping = True
            self._context.send(Cancel(job=self._context.new_job(), target=self._job))
            self.changed.emit()

    def handle(self, event: Event) -> None:
        """Take in what belongs to the run, and that the weights have changed."""
        if isinstance(event, (TrainedSteps, MomentShown)) and event.slot == CURRENT:
            self._weights += 1
            self.changed.emit()
        if self._job is None or event.job != self._job or event.slot != CURRENT:
            return
        if isinstance(event, Checked):
            self._results[event.name] = Result(event, self._text, self._seen)
        elif isinstance(event, Progress):
            if event.what in self.asked:  # copying the model tells its progress, too
                self.done, self.trying = event.done, event.what
        elif isinstance(event, Finished):
            self.done = len(self.asked)
            self._end("finished")
        elif isinstance(event, Cancelled):
            self._end("stopped")
        elif isinstance(event, Failed):
            self._end("failed", event.message)
        self.changed.emit()

    def _end(self, how: str, reason: str = "") -> None:
        self._job, self.trying, self.ended, self.reason, self.stopping = None, "", how, reason, False
        for name, found in list(self._results.items()):
            if found.event.running:  # it was stopped before its last word
                del self._results[name]

    def _subject_changed(self) -> None:
        if self._context.subject.built is self._model:
            return
        self._model = self._context.subject.built
        if self._job is not None and not self.stopping:
            self._context.send(Cancel(job=self._context.new_job(), target=self._job))
        self._results.clear()
        self.asked, self.done = (), 0
        self._end("")
        self.changed.emit()
