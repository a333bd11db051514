"""Reads a text file: its encoding, its line ends, its alphabet. Knows no torch and no model, and only ever reads.

Rules: a byte-order mark says the encoding, otherwise it is UTF-8, never what the machine's locale says. `\\r\\n` and
`\\r` become `\\n`. Nothing is dropped or replaced without a note, and no newline is added at the end.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LIMIT_BYTES = 64 * 2**20
# Small enough that no part keeps the interpreter for more than a few milliseconds.
CHUNK_BYTES = 2**18

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (a checkpoint or an office document)"),
    (b"\x1f\x8b", "a gzip archive"),
)
_WIDE = ("utf-16", "utf-32")
# Tab, newline, vertical tab, form feed, carriage return, escape: what text may hold of the first 32.
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27} | {127})
_MOST_CONTROLS = 0.02


class TextFileError(ValueError):
    """A file that can't be used as a text. `reason` is one word, the message one sentence that names the path."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = "path"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A text as it was read. `alphabet` is its different characters, sorted: id = place.

    `notes` are (what, number) pairs: `bom` 1, `crlf` and `cr` line ends that became newlines, `cut` the bytes of the
    file, where only the first LIMIT_BYTES of them were read.
    """

    path: str
    text: str
    alphabet: tuple[str, ...]
    encoding: str
    notes: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return Path(self.path).name


def read(path: str, encoding: str | None = None) -> Corpus:
    """The text of a file, all at once. Raises TextFileError (see `reading`)."""
    steps = reading(path, encoding)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            corpus: Corpus = end.value
            return corpus


def reading(path: str, encoding: str | None = None) -> Generator[tuple[int, int, str], None, Corpus]:
    """Read a text file in parts. Yields (bytes read, bytes to read, name) before each and returns the Corpus.

    At most LIMIT_BYTES are read, and noted where that is not all. Closing the generator closes the file. Raises
    TextFileError with the reason `directory`, `missing`, `permission`, `vanished`, `special`, `unreadable`, `empty`,
    `binary` or `encoding`.
    """
    size = _size(path)
    total = min(size, LIMIT_BYTES)
    yield 0, total, Path(path).name
    with _opened(path) as file:
        head = _part(file, path, min(CHUNK_BYTES, total or CHUNK_BYTES))
        decoder = _Decoder(path, head, encoding)
        characters: set[str] = set()
        texts: list[str] = []
        done, part = 0, head
        while part:
            done += len(part)
            text = decoder.decode(part)
            characters.update(text)
            texts.append(text)
            if done >= LIMIT_BYTES:
                break
            yield done, max(total, done), Path(path).name
            part = _part(file, path, min(CHUNK_BYTES, LIMIT_BYTES - done))
        size = max(os.fstat(file.fileno()).st_size, done)
        text = decoder.finish(cut=done < size)
        characters.update(text)
        texts.append(text)
    if not characters:
        raise TextFileError("empty", f"the file is empty: {path}")
    notes = [("bom", int(decoder.marked)), ("crlf", decoder.crlf), ("cr", decoder.cr)]
    notes.append(("cut", size if done < size else 0))
    return Corpus(
        path=path,
        text="".join(texts),
        alphabet=tuple(sorted(characters)),
        encoding=decoder.encoding,
        notes=tuple((what, number) for what, number in notes if number),
    )


class _Decoder:
    """Turns the parts of a file into text with `\\n` line ends, and counts what it changed."""

    def __init__(self, path: str, head: bytes, encoding: str | None) -> None:
        self._path = path
        mark, marked = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", "utf-8"))
        asked = _known(encoding) if encoding else marked
        # "utf-16" leaves the byte order to the mark. The mark of another encoding than the asked one is text.
        agrees = marked == asked or (asked in _WIDE and marked.startswith(asked))
        self.encoding = marked if agrees else asked
        self._skip = len(mark) if agrees else 0
        self.marked = bool(self._skip)
        _check_text(path, head, self.encoding)
        self._decoder = codecs.getincrementaldecoder(self.encoding)("strict")
        self._fed = self._skip
        self._held = ""
        self.crlf = self.cr = 0

    def decode(self, part: bytes, final: bool = False) -> str:
        """The next part's text; what may be half a character or half a line end waits for the part after it."""
        if self._skip:
            part, self._skip = part[self._skip :], 0
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(part, final)
        except UnicodeDecodeError as error:
            offset = self._fed - waiting + error.start
            raise self._undecodable(offset, error.object[error.start]) from None
        self._fed += len(part)
        if "\0" in text:
            raise TextFileError("binary", f"{self._path} does not look like text: it holds NUL characters")
        return self._unix(text, final)

    def finish(self, cut: bool) -> str:
        """What was still waiting. Where the file was cut, half a character at the end is left out."""
        return self._unix("", True) if cut else self.decode(b"", final=True)

    def _unix(self, text: str, final: bool) -> str:
        text = self._held + text
        self._held = ""
        if text.endswith("\r") and not final:
            text, self._held = text[:-1], "\r"
        crlf = text.count("\r\n")
        self.crlf += crlf
        self.cr += text.count("\r") - crlf
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _undecodable(self, offset: int, byte: int) -> TextFileError:
        others = [name for name in ("utf-8", "cp1252", "latin-1", "utf-16") if not self.encoding.startswith(name)]
        return TextFileError(
            "encoding",
            f"{self._path} is not {self.encoding.upper()}: byte {offset:,} is 0x{byte:02x}; "
            f"choose its encoding, for instance {', '.join(others[:-1])} or {others[-1]}",
        )


def _known(encoding: str) -> str:
    """The encoding's usual name. Raises TextFileError where it is none, or none of text."""
    try:
        b"text".decode(encoding)
    except UnicodeError:
        pass  # four letters may well be no text of it
    except (LookupError, ValueError):
        raise TextFileError(
            "encoding", f"there is no text encoding {encoding!r}; choose utf-8, cp1252, latin-1 or utf-16"
        ) from None
    name = codecs.lookup(encoding).name
    return "utf-8" if name == "utf-8-sig" else name


def _check_text(path: str, head: bytes, encoding: str) -> None:
    """Raise TextFileError where the first part of a file is no text."""
    for start, kind in _KINDS:
        if head.startswith(start):
            raise TextFileError("binary", f"{path} does not look like text: it begins like {kind}")
    if encoding.startswith(_WIDE):
        return
    nul = head.find(0)
    if nul >= 0:
        even, odd = head[:4096:2].count(0), head[1:4096:2].count(0)
        wide = max(even, odd) > 0.4 * len(head[:4096:2]) and min(even, odd) == 0
        if wide:
            name = "utf-16-be" if even else "utf-16-le"
            raise TextFileError(
                "encoding", f"{path} looks like UTF-16 without a byte-order mark; choose the encoding {name}"
            )
        raise TextFileError("binary", f"{path} does not look like text: byte {nul:,} is NUL")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > _MOST_CONTROLS * len(head):
        share = 100 * controls / len(head)
        raise TextFileError(
            "binary", f"{path} does not look like text: {share:.0f} % of its beginning is control characters"
        )


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
