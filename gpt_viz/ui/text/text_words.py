"""What is said of text files: what was read, what was changed, what a model lacks for it. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from gpt_viz.protocol import EncodingWanted, ModelInfo, TextOpened
from gpt_viz.quantities import size
from gpt_viz.ui.widgets.glyphs import visible

NAMED = 6  # characters that a sentence names; the others are counted
_ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
    "utf-32-le": "UTF-32 (little-endian)",
    "utf-32-be": "UTF-32 (big-endian)",
    "cp1252": "Windows-1252 (Western)",
    "iso8859-1": "Latin-1",
    "mac-roman": "Mac Roman",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "cp437": "DOS (437)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
}

# Those that a file can be read again with.
ENCODINGS = tuple(name for name in _ENCODINGS if not name.startswith("utf-32"))


def encoding_title(name: str) -> str:
    """What an encoding is called where people choose one.

    >>> encoding_title("cp1252"), encoding_title("iso8859-15")
    ('Windows-1252 (Western)', 'ISO8859-15')
    """
    return _ENCODINGS.get(name, name.upper())


def counted(text: TextOpened) -> str:
    """How long it is and how many different characters it has."""
    different = f"{len(text.alphabet):,} different"
    return f"{text.characters:,} character{'' if text.characters == 1 else 's'}, {different}"


def changes(text: TextOpened) -> list[str]:
    """What reading it has changed or left out, each in a few words."""
    notes = dict(text.notes)
    ends = [f"{notes[kind]:,} {kind.upper()}" for kind in ("crlf", "cr") if kind in notes]
    found = [f"{' and '.join(ends)} converted"] if ends else []
    if "cut" in notes:
        found.append(f"only the first {size(notes['used'])} of {size(notes['cut'])} are used")
    return found


def encoded(text: TextOpened) -> str:
    """Its encoding, and whether the file begins with a mark that says so."""
    marked = " with a byte-order mark" if "bom" in dict(text.notes) else ""
    return encoding_title(text.encoding) + marked


def opened(text: TextOpened) -> str:
    """What was read, in one sentence; a plain encoding needs no word."""
    plain = text.encoding == "utf-8"
    parts = [counted(text), *([] if plain else [f"read as {encoding_title(text.encoding)}"]), *changes(text)]
    return f"Opened {text.name}: {'; '.join(parts)}."


def not_opened(message: str, *, again: bool = False) -> str:
    """Why a text was not opened, as a sentence; `again` for the one of last time.

    >>> not_opened("it is empty"), not_opened("is there a network?")
    ('Not opened: it is empty.', 'Not opened: is there a network?')
    """
    end = "" if message.endswith("?") else "."
    return f"{'The text of last time was not opened' if again else 'Not opened'}: {message}{end}"


def about(text: TextOpened) -> str:
    """What the prompt is the beginning of."""
    return f"The text is of {text.name}: {counted(text)}."


def lacking(text: TextOpened, model: ModelInfo) -> tuple[str, ...]:
    """The characters of the text that a model of characters has no id for; none for a model of pieces or of ids."""
    if model.alphabet is None:
        return ()
    known = set(model.alphabet)
    return tuple(each for each in text.alphabet if each not in known)


def named(characters: Sequence[str]) -> str:
    """Some characters by name, as far as a sentence can hold them.

    >>> named(("é", "\\u0301"))
    '“é” and “U+0301”'
    """
    shown = [f"“{visible(each)}”" for each in characters[:NAMED]]
    more = len(characters) - len(shown)
    if more:
        shown.append(f"{more:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def shown(text: str) -> str:
    """A piece of a text with all its characters visible, but for spaces, which are easier to read as they are.

    >>> shown("a b\\n")
    'a b↵'
    """
    return "".join(" " if each == " " else visible(each) for each in text)


def why_not_read(text: TextOpened, model: ModelInfo) -> str:
    """Why the model can't read the text, and what a new one would be."""
    count = len(text.alphabet)
    fresh = f"A model for it has {count:,} character{'' if count == 1 else 's'} and begins untrained."
    if model.alphabet is None:
        return f"The text of {text.name} is made of characters, and the model reads ids. {fresh}"
    unknown = lacking(text, model)
    return f"The text of {text.name} has {named(unknown)}, which the model can't read. {fresh}"


def wanted(event: EncodingWanted) -> str:
    """What an encoding has to be chosen for."""
    name = PurePath(event.path).name
    if not event.byte:
        return f"The file {name} looks like UTF-16, but does not begin with its mark. How is it to be read?"
    where = f"byte {event.offset:,} is 0x{event.byte:02x}"
    return f"The file {name} is not {encoding_title(event.encoding)}: {where}. How is it to be read?"
