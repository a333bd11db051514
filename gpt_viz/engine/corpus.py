"""Reads a text file: its characters, its alphabet, and how often each occurs. Knows no torch and no model.

The file is only ever read, and only its first LIMIT_BYTES; no newline is added at the end. See `encodings` for the
rules about encodings and line ends.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpt_viz.engine.encodings import CONTROLS, MOST_CONTROLS, Decoder, TextFileError, too_many_controls
from gpt_viz.engine.heaviness import TooHeavy

__all__ = ["CHUNK_BYTES", "LIMIT_BYTES", "Corpus", "TextFileError", "read", "reading"]

LIMIT_BYTES = 64_000_000
# Small enough that no part keeps the interpreter for more than a few milliseconds.
CHUNK_BYTES = 2**18
_HALVES = slice(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A text as it was read, or its beginning; `characters` are all that there were.

    `alphabet` is its different characters (Unicode code points), sorted: id = place; `counts` how often each occurs.
    `notes` are (what, number) pairs: `bom` 1, `crlf` and `cr` line ends that became newlines, `cut` the bytes of the
    file and `used` those that were read, where these are not all.
    """

    path: str
    text: str
    characters: int
    alphabet: tuple[str, ...]
    counts: tuple[int, ...]
    encoding: str
    notes: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return Path(self.path).name


def read(path: str, encoding: str | None = None, *, keep: int | None = None) -> Corpus:
    """The text of a file, all at once. Raises TextFileError (see `reading`)."""
    steps = reading(path, encoding, keep=keep)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            corpus: Corpus = end.value
            return corpus


def reading(
    path: str, encoding: str | None = None, *, keep: int | None = None, at_most: int | None = None
) -> Generator[tuple[int, int, str], None, Corpus]:
    """Read a text file in parts. Yields (bytes read, bytes to read, name) before each and returns the Corpus.

    At most LIMIT_BYTES are read, and noted where that is not all. Of the text the first `keep` characters are kept,
    all for None. A file of more than `at_most` bytes is left alone. Closing the generator closes the file. Raises
    TextFileError with the reason `directory`, `missing`, `permission`, `vanished`, `special`, `unreadable`, `large`,
    `empty`, `binary` or `encoding`.
    """
    size = _size(path)
    if at_most is not None and size > at_most:
        raise TextFileError("large", str(TooHeavy(path, size)))
    total = min(size, LIMIT_BYTES)
    yield 0, total, Path(path).name
    with _opened(path) as file:
        head = _part(file, path, min(CHUNK_BYTES, total or CHUNK_BYTES))
        decoder, kept = Decoder(path, head, encoding), _Kept(keep)
        done, part = 0, head
        while part:
            done += len(part)
            kept.add(decoder.decode(part))
            if done >= LIMIT_BYTES:
                break
            yield done, max(total, done), Path(path).name
            part = _part(file, path, min(CHUNK_BYTES, LIMIT_BYTES - done))
        size = max(os.fstat(file.fileno()).st_size, done)
        kept.add(decoder.finish(cut=done < size))
    if not kept.characters:
        raise TextFileError("empty", f"the file is empty: {path}")
    kept.check(path, decoder.encoding)
    notes = [("bom", int(decoder.marked)), ("crlf", decoder.crlf), ("cr", decoder.cr)]
    if done < size:
        notes += [("cut", size), ("used", done)]
    alphabet, counts = kept.alphabet()
    return Corpus(
        path=path,
        text="".join(kept.texts),
        characters=kept.characters,
        alphabet=alphabet,
        counts=counts,
        encoding=decoder.encoding,
        notes=tuple((what, number) for what, number in notes if number),
    )


class _Kept:
    """What is kept of the parts of a text: the first `most` characters, and how often each character occurs."""

    def __init__(self, most: int | None) -> None:
        self.texts: list[str] = []
        self.characters = 0
        self._left = most
        self._counts = np.zeros(0, np.int64)

    def add(self, text: str) -> None:
        """Another part."""
        self.characters += len(text)
        if self._left is None:
            self.texts.append(text)
        elif self._left:
            self.texts.append(text[: self._left])
            self._left -= len(self.texts[-1])
        counts = np.bincount(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))
        if len(counts) > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(len(counts) - len(self._counts), np.int64)])
        self._counts[: len(counts)] += counts

    def check(self, path: str, encoding: str) -> None:
        """Raise TextFileError for what no text holds, wherever in the file it was."""
        if self._counts[_HALVES].any():
            raise TextFileError("encoding", f"{path} read as {encoding} gives halves of characters; choose another one")
        controls = sum(int(self._counts[each]) for each in CONTROLS if each < len(self._counts))
        if controls > max(MOST_CONTROLS * self.characters, 1):
            raise too_many_controls(path, controls / self.characters, "it")

    def alphabet(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The different characters, sorted, and how often each occurs."""
        codes = np.flatnonzero(self._counts)
        return tuple(map(chr, codes.tolist())), tuple(self._counts[codes].tolist())


def _size(path: str) -> int:
    try:
        status = os.stat(path)
    except PermissionError as error:
        raise _unreadable(path, error) from None
    except (OSError, ValueError):  # ValueError: a path with a NUL in it
        raise TextFileError("missing", f"there is no file {path}") from None
    if stat.S_ISDIR(status.st_mode):
        raise TextFileError("directory", f"{path} is a folder, not a text file")
    if not stat.S_ISREG(status.st_mode):
        raise TextFileError("special", f"{path} is not an ordinary file, so it has no end to read to")
    return status.st_size


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise TextFileError("vanished", f"{path} was there a moment ago and is gone") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _part(file: BinaryIO, path: str, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> TextFileError:
    if isinstance(error, PermissionError):
        return TextFileError("permission", f"no permission to read {path}")
    return TextFileError("unreadable", f"{path} could not be read: {error.strerror or error}")
