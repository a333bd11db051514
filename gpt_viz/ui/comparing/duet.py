"""Lets two models write on from one text, with the same seed and settings, side by side. Knows no widget.

Both begin with the prompt alone: what was sampled after it is one model's own. The tokens go to nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.compare_measures import first_difference
from gpt_viz.protocol import CURRENT, OTHER, Cancel, Cancelled, Drawn, Event, Failed, Finished, Sample
from gpt_viz.ui.comparing.common_text import Given
from gpt_viz.ui.panel import Context

SLOTS = (CURRENT, OTHER)
HEARD: tuple[type[Event], ...] = (Drawn, Finished, Cancelled, Failed)


@dataclass(frozen=True, slots=True)
class Score:
    """How both write: so many `tokens`, each drawn at a `temperature` (0 is greedy) from the same `seed`."""

    tokens: int = 200
    temperature: float = 1.0
    seed: int = 0


@dataclass(slots=True)
class Voice:
    """What one of the models has written. `ended` is "", "finished", "stopped" or "failed", with the `reason`."""

    job: int | None = None
    pieces: list[str] = field(default_factory=list)
    ended: str = ""
    reason: str = ""


class Duet(QObject):
    """`changed` is emitted when a run starts, ends or has news; `score` is what the texts were written with.

    `difference` is the place, counted from the first sampled token, where they first go apart; None as long as they
    have not.
    """

    changed = Signal()

    def __init__(self, context: Context, asker: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._asker = context, asker
        self.score: Score | None = None
        self.voices = {slot: Voice() for slot in SLOTS}
        self.stopping = False
        self.difference: int | None = None
        self._compared = 0
        self._texts: Mapping[str, Callable[[int], str]] = {}
        self._soon = QTimer(self, singleShot=True, interval=0)  # after the last event of a frame
        self._soon.timeout.connect(self._look)

    @property
    def running(self) -> bool:
        """Whether one of them is still writing."""
        return any(voice.job is not None for voice in self.voices.values())

    @property
    def written(self) -> bool:
        """Whether there is anything to read."""
        return any(voice.pieces or voice.ended for voice in self.voices.values())

    def run(self, score: Score, given: Mapping[str, Given], texts: Mapping[str, Callable[[int], str]]) -> None:
        """Let both write from the beginning; one that can't have the text says why. `texts` give an id's text."""
        self._cancel()
        self.score, self.difference, self._compared, self.stopping = score, None, 0, False
        self._texts = texts
        self.voices = {slot: Voice() for slot in SLOTS}
        for slot, text in given.items():
            voice = self.voices[slot]
            if text.reason:
                voice.ended, voice.reason = "failed", text.reason
                continue
            voice.job = self._context.new_job()
            self._context.send(
                Sample(
                    job=voice.job, slot=slot, asker=self._asker, text=text.text, continuation=text.continuation,
                    tokens=score.tokens, temperature=score.temperature, seed=score.seed,
                )
            )  # fmt: skip
        self.changed.emit()

    def stop(self) -> None:
        """End both after the token that each is drawing."""
        if self.running and not self.stopping:
            self.stopping = True
            self._cancel()
            self.changed.emit()

    def clear(self) -> None:
        """Forget both texts: what they go on from, or who wrote them, is there no more."""
        if self.written or self.running:
            self._cancel()
            self.score, self.difference, self._compared, self.stopping = None, None, 0, False
            self.voices = {slot: Voice() for slot in SLOTS}
            self.changed.emit()

    def handle(self, event: Event) -> None:
        """Take in what belongs to one of the two."""
        voice = self.voices.get(event.slot)
        if voice is None or voice.job is None or event.job != voice.job:
            return
        if isinstance(event, Drawn):
            voice.pieces.append(self._texts[event.slot](event.id))
        elif isinstance(event, (Finished, Cancelled, Failed)):
            voice.job = None
            voice.ended = "finished" if isinstance(event, Finished) else "stopped"
            if isinstance(event, Failed):
                voice.ended, voice.reason = "failed", event.message
            self.stopping = self.stopping and self.running
        self._soon.start()

    def _cancel(self) -> None:
        for voice in self.voices.values():
            if voice.job is not None:
                self._context.send(Cancel(job=self._context.new_job(), target=voice.job))

    def _look(self) -> None:
        """Find where the texts go apart, at the cost of what is new."""
        if self.difference is None:
            ours, theirs = (self.voices[slot].pieces for slot in SLOTS)
            found = first_difference(ours[self._compared :], theirs[self._compared :])
            self.difference = None if found is None else found + self._compared
            self._compared = min(len(ours), len(theirs))
        self.changed.emit()
