"""What the bytes of a text file say: which encoding, which characters, `\\n` line ends. Knows no file and no model.

A byte-order mark says the encoding, otherwise it is UTF-8, never what the machine's locale says. Nothing is dropped or
replaced but what is counted here.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from gpt_viz.protocol import Reading

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
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
    *((bytes((0x80, version)), "a pickle (an old checkpoint)") for version in (2, 3, 4, 5)),
)
_WIDE = ("utf-16", "utf-32")
# Tab, newline, vertical tab, form feed, carriage return, escape: what text may hold of the first 32.
CONTROLS = frozenset(set(range(32)) - {9, 10, 11, 12, 13, 27} | {127})
_CONTROLS = bytes(CONTROLS)
MOST_CONTROLS = 0.02
# The encodings that are offered where the one at hand does not fit, the commonest first.
OFFERED = (
    "utf-8", "cp1252", "iso8859-1", "mac-roman", "cp1250", "cp1251", "koi8-r", "cp437",
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "utf-16-le", "utf-16-be",
)  # fmt: skip
# So many characters of a place are shown before and after it.
_BEFORE, _AFTER = 16, 40


class TextFileError(ValueError):
    """A file that can't be used as a text. `reason` is one word, the message one sentence that names the path.

    `candidates` are encodings that would do where this one does not; then `encoding` was tried and `offset` is where
    it stopped, at the byte `byte`, and `readings` are what the candidates make of that place.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        encoding: str = "",
        offset: int = 0,
        byte: int = 0,
        readings: tuple[Reading, ...] = (),
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = {"encoding": "encoding", "large": "size"}.get(reason, "path")
        self.encoding, self.offset, self.byte, self.readings = encoding, offset, byte, readings
        self.candidates = tuple(each.encoding for each in readings)


class Decoder:
    """Turns the parts of a file into text with `\\n` line ends, and counts what it changed in `crlf` and `cr`.

    `head` is the file's first part; `encoding` None leaves the choice to its mark. Raises TextFileError where the head
    is no text, or no encoding has that name.
    """

    def __init__(self, path: str, head: bytes, encoding: str | None) -> None:
        self._path = path
        mark, marked = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", "utf-8"))
        asked = known(encoding) if encoding else marked
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
            raise self._undecodable(offset, error.object, error.start) from None
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

    def _undecodable(self, offset: int, part: bytes, place: int) -> TextFileError:
        others = [name for name in ("utf-8", "cp1252", "latin-1", "utf-16") if not self.encoding.startswith(name)]
        return TextFileError(
            "encoding",
            f"{self._path} is not {self.encoding.upper()}: byte {offset:,} is 0x{part[place]:02x}; "
            f"choose its encoding, for instance {', '.join(others[:-1])} or {others[-1]}",
            encoding=self.encoding,
            offset=offset,
            byte=part[place],
            readings=tuple(readings(part, place, self.encoding)),
        )


def known(encoding: str) -> str:
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


def readings(part: bytes, place: int, tried: str) -> Iterator[Reading]:
    """What other encodings make of a place in a part of a file, for those that can read all of the part."""
    # A part may begin within a character; a line does not.
    start = part.find(b"\n", 0, place) + 1
    wide = 0 in part
    for name in OFFERED:
        if name == tried or (name.startswith(_WIDE) and not wide):
            continue
        sample, at = (part, place) if name.startswith(_WIDE) else (part[start:], place - start)
        decoder = codecs.getincrementaldecoder(name)
        try:
            text = decoder().decode(sample)
            before = len(decoder().decode(sample[:at]))
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            shown = text[max(before - _BEFORE, 0) : before + _AFTER]
            yield Reading(encoding=name, text=shown.replace("\r\n", "\n"))


def _check_text(path: str, head: bytes, encoding: str) -> None:
    """Raise TextFileError where the first part of a file is no text."""
    for start, kind in _KINDS:
        if head.startswith(start):
            raise TextFileError("binary", f"{path} does not look like text: it begins like {kind}")
    if encoding.startswith(_WIDE):
        return
    nul = head.find(0)
    if nul >= 0:
        found = [each for each in readings(head, nul, encoding) if _plausible(head, each.encoding)]
        found.sort(key=lambda each: -_blanks(head, each.encoding))
        if found:
            raise TextFileError(
                "encoding",
                f"{path} looks like UTF-16 without a byte-order mark; choose the encoding {found[0].encoding}",
                encoding=encoding,
                offset=nul,
                readings=tuple(found),
            )
        raise TextFileError("binary", f"{path} does not look like text: byte {nul:,} is NUL")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > MOST_CONTROLS * len(head):
        raise too_many_controls(path, controls / len(head), "its beginning")


def too_many_controls(path: str, share: float, part: str) -> TextFileError:
    """The refusal of what is made of control characters."""
    return TextFileError(
        "binary", f"{path} does not look like text: {100 * share:.0f} % of {part} is control characters"
    )


def _plausible(head: bytes, encoding: str) -> bool:
    """Whether it reads like a text: read in the wrong order of bytes, or of noise, many characters are unassigned."""
    text = _beginning(head, encoding)
    strange = sum(not (each.isprintable() or each.isspace()) for each in text)
    return bool(text) and strange <= MOST_CONTROLS * len(text)


def _blanks(head: bytes, encoding: str) -> int:
    """How many spaces and line ends it gives: the right order of bytes gives more of them."""
    return sum(each in " \r\n" for each in _beginning(head, encoding))


def _beginning(head: bytes, encoding: str) -> str:
    return codecs.getincrementaldecoder(encoding)().decode(head[:4096])
