"""What a window begins with: the model, the files of last time, a panel that fills it. Knows no view and no engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpt_viz.config import GPTConfig

SUFFIXES = (".safetensors", ".pt", ".pth", ".ckpt", ".bin")


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to begin with; `prompt` None is the beginning of the built-in text, `path` a text to open.

    With a `checkpoint` it is the model of that file, opened with the `settings`; the others are for when it can't be.
    """

    config: GPTConfig
    alphabet: tuple[str, ...] | None
    seed: int
    device: str
    prompt: str | None = None
    path: str = ""
    checkpoint: str = ""
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Again:
    """What was open last time; "" where nothing was, or where the command line asks for something else.

    `prompt` is what stood there beside the checkpoint.
    """

    text: str = ""
    encoding: str = ""
    checkpoint: str = ""
    settings: tuple[str, ...] = ()
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """All that the command line and the last time ask for, beside what the window itself remembers.

    `panel` fills the window, `present` begins a presentation; whether it `remembers` for the next time.
    """

    choice: Choice
    panel: str = ""
    present: bool = False
    remembers: bool = True
    again: Again = field(default_factory=Again)


def is_checkpoint(path: str) -> bool:
    """Whether a path that was dropped or given is meant as a checkpoint: a folder, or a file with such a name."""
    place = Path(path)
    return place.suffix.lower() in SUFFIXES or place.is_dir()
