"""A pass of the text under study: its tokens, its steps by name and its attention. Knows no step from within."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpt_viz.protocol.base import Command, Event, command, event

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    import numpy as np


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a pass really saw: `ids` and their texts `pieces`, after `dropped` earlier ones left out."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class StepSeen:
    """One step of the pass as it ran: its place's name, the shape and dtype of its result."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@command
class Inspect(Command):
    """One forward pass of the text under study. Yields Traced where `trace`, Attended where `attention`.

    The text is `text` encoded, then the `continuation` (ids that were sampled after it); the model sees its last
    `block_size` tokens. `head` (layer, head) is the one that a long text needs whole.
    """

    lane = "inspect"
    text: str
    continuation: tuple[int, ...] = ()
    trace: bool = True
    attention: bool = True
    head: tuple[int, int] = (0, 0)


@event
class Traced(Event):
    """One pass, step by step, in order of execution. `loss` is in nats per token over the text's own next characters
    (None for a single token). `first_bad` names the first place whose numbers are not all finite (-inf in `masked`
    is meant), else empty. `elapsed_s` is the time of a plain pass of the same ids, without the recording; where that
    would take more than some milliseconds, the time of this very pass, with it.
    """

    picture = True
    tokens: Tokens
    steps: tuple[StepSeen, ...]
    loss: float | None
    first_bad: str
    elapsed_s: float


@event
class Attended(Event):
    """The stashed attention of every head. `patterns` (L, H, t, t): row = query, column = key; t = T up to 128
    tokens, else each cell is the maximum of a square of cells. `whole` (T, T) is the chosen `head`'s at full size.
    """

    picture = True
    tokens: Tokens
    patterns: np.ndarray
    head: tuple[int, int]
    whole: np.ndarray


@event
class TextRefused(Event):
    """The text can't be read by this model: `unknown` lists (position, character), position counted from 0.

    Empty `unknown` means that there is nothing to read: the text is empty.
    """

    unknown: tuple[tuple[int, str], ...]
