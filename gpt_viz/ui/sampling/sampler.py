"""Runs the sampling of the text under study: asks for tokens, takes them in, knows how a run ended. Knows no widget.

A seed always reproduces its text: draw k of a seed is the same whether one ran or stepped there, so a run goes on where
the continuation ends, and another seed begins anew. Tokens are kept also while nothing is shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.protocol import Cancel, Cancelled, Command, Distribution, Drawn, Event, Failed, Finished, Sample
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.training.moment import Moment


@dataclass(frozen=True, slots=True)
class Plan:
    """How tokens are drawn. `temperature` 0 is greedy, `top_k` 0 and `top_p` 1 are off."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


class Sampler(QObject):
    """One run at a time. `changed` is emitted when it starts, ends or has news. `moment` says which weights draw now.

    `drawn` counts the tokens of this run, `ended` is "", "finished", "stopped" or "failed", `reason` why it failed,
    `newest` the distribution that the newest token came from.
    """

    changed = Signal()

    def __init__(
        self,
        study: Study,
        subject: Subject,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        parent: QObject | None = None,
        moment: Callable[[], Moment] | None = None,
    ) -> None:
        super().__init__(parent)
        self._study, self._subject, self._new_job, self._send = study, subject, new_job, send
        self.moment = moment or (lambda: Moment(0, subject.version))
        self._model = subject.built
        self._job: int | None = None
        self._wanted: int | None = None  # tokens that the run is still to draw; None: until it is stopped
        self._steps = 0  # how many more single tokens were asked for while one was under way
        self._plans: dict[int, Plan] = {}
        self._moments: dict[int, list[tuple[int, Moment]]] = {}  # of each job: from which place on which weights drew
        self._plan: Plan | None = None
        self._pending: list[Drawn] = []
        self._own = False
        self.drawn = 0
        self.stepping = False
        self.stopping = False
        self.ended = ""
        self.reason = ""
        self.tokens_per_second = 0.0
        self.newest: Distribution | None = None
        # After the last event of a frame, and also while no frame is painted.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.flush)
        study.changed.connect(self._text_changed)
        subject.changed.connect(self._subject_changed)

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._job is not None

    def plan_of(self, draw: Drawn) -> Plan | None:
        """What a token was drawn with."""
        return self._plans.get(draw.job)

    def moment_of(self, draw: Drawn) -> Moment | None:
        """Which weights a token was drawn by."""
        known = self._moments.get(draw.job, [])
        place = bisect_right(known, draw.position, key=lambda each: each[0])
        return known[place - 1][1] if place else None

    # -- what is asked of it --

    def run(self, plan: Plan, tokens: int | None) -> None:
        """Draw so many tokens more (None: until stopped); from the beginning, where the text is another seed's."""
        self.flush()
        if self._plan is not None and plan.seed != self._plan.seed:
            self.truncate(0)
        self._begin(plan, tokens)
        self.drawn, self._steps, self.stepping, self.tokens_per_second = 0, 0, False, 0.0
        self.changed.emit()

    def step(self, plan: Plan) -> None:
        """Draw one token; asked for again before it is there, one more after it. A run goes on undisturbed."""
        if self.running:
            self._steps += self.stepping and not self.stopping
            return
        self.run(plan, 1)
        self.stepping = True

    def follow(self, plan: Plan) -> None:
        """Go on with other settings, if a run is under way; with another seed from the beginning."""
        if not self.running or self.stopping or plan == self._plan or self._plan is None:
            return
        self.flush()
        if plan.seed != self._plan.seed:
            self._wanted = None if self._wanted is None else self._wanted + self.drawn
            self.truncate(0)
            self.drawn = 0
        if self._wanted != 0:  # else its last token is drawn already, and only its end is still under way
            self._begin(plan, self._wanted)
        self.changed.emit()

    def stop(self) -> None:
        """End the run after the token that is being drawn."""
        if self._job is not None and not self.stopping:
            self.stopping = True
            self._steps = 0
            self._send(Cancel(job=self._new_job(), target=self._job))
            self.changed.emit()

    def truncate(self, count: int) -> None:
        """Keep the first `count` sampled tokens."""
        with self._owning():
            self._study.truncate(count)
        if not self._study.draws:
            self._plan = None
            self._plans.clear()
            self._moments.clear()
        self.changed.emit()

    def back(self) -> None:
        """Take the newest token back; during a run it would be drawn again at once."""
        if not self.running:
            self._forget_end()
            self.truncate(len(self._study.draws) - 1)

    def flush(self) -> None:
        """Put the tokens that have arrived into the study, all at once."""
        if self._pending:
            pending, self._pending = self._pending, []
            with self._owning():
                self._study.extend(pending)
            self.changed.emit()

    # -- what it is told --

    def handle(self, event: Event) -> None:
        """Take in what belongs to the run; the rest of what superseded and abandoned jobs send is dropped."""
        if self._job is None or event.job != self._job:
            return
        if isinstance(event, Drawn):
            self._pending.append(event)
            known, now = self._moments.setdefault(event.job, []), self.moment()
            if not known or known[-1][1] != now:
                known.append((event.position, now))
            self.drawn += 1
            self._wanted = None if self._wanted is None else self._wanted - 1
            self.tokens_per_second = event.tokens_per_second
            self._soon.start()
        elif isinstance(event, Distribution):
            self.newest = event
        elif isinstance(event, Finished):
            self._end("finished")
        elif isinstance(event, Cancelled):
            self._end("stopped")
        elif isinstance(event, Failed):
            self._end("failed", event.message)

    def _begin(self, plan: Plan, tokens: int | None) -> None:
        self._forget_end()
        self._job, self._wanted, self._plan = self._new_job(), tokens, plan
        self._plans[self._job] = plan
        self._send(
            Sample(
                job=self._job,
                text=self._study.prompt,
                continuation=self._study.continuation,
                tokens=tokens,
                temperature=plan.temperature,
                top_k=plan.top_k,
                top_p=plan.top_p,
                seed=plan.seed,
            )
        )

    def _end(self, how: str, reason: str = "") -> None:
        self.flush()
        self._job, self.stopping, self.ended, self.reason = None, False, how, reason
        if how == "finished" and self._steps and self._plan is not None:
            self._steps -= 1
            drawn, rest = self.drawn, self._steps
            self._begin(self._plan, 1)
            self.drawn, self._steps = drawn, rest
        self.changed.emit()

    def _forget_end(self) -> None:
        self.stopping, self.ended, self.reason = False, "", ""

    # -- what others change --

    def _text_changed(self) -> None:
        if not self._own:
            self.abandon()

    def _subject_changed(self) -> None:
        if self._subject.built is not self._model:
            self._model = self._subject.built
            self.abandon()
            self.truncate(0)  # what another model has sampled is not this one's
        elif self._subject.weights is None:
            self.abandon()

    def abandon(self) -> None:
        """End the run and forget it: the text that it went on from is there no more."""
        if self._job is not None and not self.stopping:
            self._send(Cancel(job=self._new_job(), target=self._job))
        self._job, self._steps = None, 0
        self._pending.clear()
        self.drawn, self.newest = 0, None
        self._plan = self._plan if self._study.draws else None
        self._forget_end()
        self.changed.emit()

    @contextmanager
    def _owning(self) -> Iterator[None]:
        """While its own changes of the text are announced."""
        self._own = True
        try:
            yield
        finally:
            self._own = False
