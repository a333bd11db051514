"""The devices there are, and a model made, described and forgotten. Knows no file and no text."""

from __future__ import annotations

from dataclasses import dataclass

from gpt_viz.config import GPTConfig
from gpt_viz.protocol.base import Command, Event, command, event


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A device as it is offered: `name` is what `--device` takes; `reason` says why it can't be used, else empty."""

    name: str
    title: str
    reason: str = ""
    memory_bytes: int | None = None

    @property
    def usable(self) -> bool:
        """Whether a model can be built there."""
        return not self.reason


@event
class EngineReady(Event):
    """The engine exists: torch is imported. `threads` is how many torch works with."""

    torch_version: str
    devices: tuple[DeviceInfo, ...]
    threads: int


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One parameter tensor of the real module; `shared_with` names the tensor it is, where it is tied (count 0)."""

    name: str
    shape: tuple[int, ...]
    count: int
    shared_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model that exists. `total` counts unique tensors. `bytes` is what its weights take on the device.

    Text is read by characters where it has an `alphabet`, by pieces where it has `pieces` (the text of each id; only
    the engine can cut a text into them), else as ids. `source` is the name of the file it was opened from, if any.
    """

    config: GPTConfig
    seed: int
    device: str
    alphabet: tuple[str, ...] | None
    tensors: tuple[TensorInfo, ...]
    total: int
    bytes: int
    elapsed_s: float
    pieces: tuple[str, ...] | None = None
    source: str = ""

    def piece(self, id: int) -> str:
        """The text of one id: its character or piece, or the number itself where the model reads ids."""
        texts = self.alphabet if self.alphabet is not None else self.pieces
        if texts is None:
            return str(id)
        return texts[id] if id < len(texts) else f"‹{id}›"


@command
class Build(Command):
    """Make a model and put it into the slot. Yields Progress, then Built; a failure leaves the slot as it was.

    `alphabet` is the characters of its ids in order; None means that the model is fed with ids.
    """

    lane = "build"
    config: GPTConfig
    seed: int = 1337
    device: str = "auto"
    alphabet: tuple[str, ...] | None = None


@command
class Drop(Command):
    """Forget the slot's model and give its memory back."""

    lane = "build"


@event
class Built(Event):
    """The slot holds a new model."""

    model: ModelInfo


@event
class Dropped(Event):
    """The slot is empty."""
