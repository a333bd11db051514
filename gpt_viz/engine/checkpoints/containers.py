"""What kind of file it is, by its first bytes and not by its name, and whether it is whole. Knows no tensor.

The libraries say "failed finding central directory" or nothing at all of a broken download; here it is said plainly.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from enum import Enum, auto
from pathlib import Path
from typing import Any

from gpt_viz.engine.checkpoints.refusals import CheckpointError

_LFS = b"version https://git-lfs"
# The longest header that the safetensors library reads.
_LONGEST_HEADER = 100_000_000
_HEAD = 512
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"GGUF", "a GGUF file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a numpy array"),
)


class Kind(Enum):
    """The containers that can be read."""

    ZIP = auto()  # what torch.save writes
    PICKLE = auto()  # what torch.save wrote before 1.6
    SAFETENSORS = auto()


def kind_of(path: Path) -> Kind:
    """The kind of a whole file. Raises CheckpointError that says what it is instead, or that a part is missing."""
    name, size, head = path.name, *_beginning(path)
    if size == 0:
        raise CheckpointError(f"{name} is empty: the download was broken off, or never began")
    if head.startswith(_LFS):
        raise CheckpointError(
            f"{name} is a Git LFS pointer: the real file was not downloaded; fetch it with `git lfs pull`"
        )
    if size < 9:
        raise CheckpointError(f"{name} is only {size} bytes long: probably an incomplete download")
    # Before the others: a header may well be so long that its length begins like one of them.
    if head[8:9] == b"{" and 2 <= _header_length(head) <= _LONGEST_HEADER:
        _check_safetensors(path, size)
        return Kind.SAFETENSORS
    if head.startswith(b"PK\x03\x04"):
        _check_zip(path)
        return Kind.ZIP
    if head.startswith(b"\x80"):
        return Kind.PICKLE
    raise CheckpointError(f"{name} is not a checkpoint: {_instead(head)}")


def check_plain_file(path: Path) -> None:
    """Raises CheckpointError where there is no ordinary file at the path, or none that may be read."""
    _beginning(path)


def header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file: what is known of each tensor, and under `__metadata__` texts of its writer."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            found = json.loads(file.read(length))
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, dict):
        raise CheckpointError(f"{path.name} is damaged: its table of contents can't be read")
    return found


def _beginning(path: Path) -> tuple[int, bytes]:
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise CheckpointError(f"{path.name} is a folder, where a file was expected")
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"{path} is not an ordinary file")
        with open(path, "rb") as file:
            return status.st_size, file.read(_HEAD)
    except PermissionError:
        raise CheckpointError(f"no permission to read {path}") from None
    except OSError as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        why = f"there is no file {path}" if missing else f"{path} could not be read: {error.strerror or error}"
        raise CheckpointError(why) from None
    except CheckpointError:
        raise
    except ValueError:  # a path with a NUL in it
        raise CheckpointError(f"there is no file {path}") from None


def _check_zip(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise CheckpointError(
            f"{path.name} is cut short or damaged: probably an incomplete download; fetch it again"
        ) from None
    if any(each.endswith("constants.pkl") for each in names):
        raise CheckpointError(f"{path.name} is a TorchScript program, not a checkpoint; save the model's state_dict()")
    if not any(each.endswith("data.pkl") for each in names):
        raise CheckpointError(f"{path.name} is not a checkpoint: it is a zip archive of something else")


def _header_length(head: bytes) -> int:
    return int.from_bytes(head[:8], "little")


def _check_safetensors(path: Path, size: int) -> None:
    with open(path, "rb") as file:
        begins = 8 + _header_length(file.read(8))
    cut = f"{path.name} is incomplete: it has {size:,} bytes and should have"
    if begins > size:
        raise CheckpointError(f"{cut} more than {begins:,}; probably the download was broken off")
    ends = [
        each["data_offsets"][1]
        for name, each in header(path).items()
        if name != "__metadata__" and isinstance(each, dict) and _is_span(each.get("data_offsets"))
    ]
    needed = begins + max(ends, default=0)
    if needed > size:
        raise CheckpointError(f"{cut} {needed:,}; probably the download was broken off")


def _is_span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, int) for each in value)


def _instead(head: bytes) -> str:
    start = head.lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return "it is a web page; download the file itself, not the page about it"
    for magic, what in _OTHERS:
        if head.startswith(magic):
            return f"it is {what}"
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        text = head[: error.start].decode("utf-8") if error.start > _HEAD - 4 else "\0"
    if "\0" not in text:
        return "it is a text"
    return "it begins like no file that torch or safetensors write"
