"""Where the files that ship with the program lie, and how to read them. Knows no torch and no Qt."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
# A wheel carries resources/ inside the package; a checkout has it beside the package.
ROOT = _PACKAGE / "resources" if (_PACKAGE / "resources").is_dir() else _PACKAGE.parent / "resources"


def text(path: str) -> str:
    """The text of a resource, given its path below resources/, its line ends as they stand in the file."""
    return (ROOT / path).read_bytes().decode("utf-8")


@cache
def alphabet() -> tuple[str, ...]:
    """The 65 characters of the notebooks' text, sorted as they sort them: id = place."""
    return tuple(text("data/alphabet.txt").replace("\r", ""))  # a checkout may have put in CR


@cache
def passage() -> str:
    """The built-in text: a passage in the manner of a play, within the 65 characters."""
    return text("data/passage.txt").replace("\r", "")


def checkpoint(name: str) -> Path | None:
    """The file of the trained weights that ship under that name, as `step5`; None where there are none."""
    path = ROOT / "checkpoints" / f"{name}.safetensors"
    return path if path.is_file() else None
