"""What may come next after a text, and what is drawn from it. Knows no pass from within."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpt_viz.protocol.base import Command, Event, command, event

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    import numpy as np


@command
class Predict(Command):
    """The distribution over the next token after the text. Yields one Distribution, `chosen` marked in it."""

    lane = "predict"
    text: str
    continuation: tuple[int, ...] = ()
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    chosen: int | None = None


@command
class Sample(Command):
    """Draw `tokens` more after the text (None: until cancelled). Yields Drawn and Distribution for each.

    `temperature` 0 is greedy; `top_k` 0 is off; `top_p` 1 is off. The continuation's tokens count as drawn from the
    same seed: its k tokens make this job begin at draw k, so that stepping and running give the same text.
    """

    lane = "sample"
    text: str
    continuation: tuple[int, ...] = ()
    tokens: int | None = None
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


@event
class Distribution(Event):
    """What came next, or may come, after `position` tokens of prompt and continuation together.

    `logits` (V,) as the head gave them; `probabilities` (V,) after temperature and both cuts, 0 where cut away.
    `chosen` is the id that was drawn there, or None.
    """

    picture = True
    position: int
    logits: np.ndarray
    probabilities: np.ndarray
    chosen: int | None
    temperature: float
    top_k: int
    top_p: float


@event
class Drawn(Event):
    """One token was sampled, the `position`-th of prompt and continuation together (counted from 0).

    `probability` is what it was drawn with (after the cuts); `rank` 0 is the likeliest before the cuts.
    """

    id: int
    piece: str
    position: int
    probability: float
    rank: int
    tokens_per_second: float
