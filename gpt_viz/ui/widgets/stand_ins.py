"""How a one-line document holds characters that would break, bend or reorder its line. Knows no widget.

A newline stands in the document as a no-break space, which is as wide as any other cell and leaves no ink; every other
character of that sort stands 0xF0000 places further up, in a private plane, where fonts draw a box.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

NEWLINE = "\u00a0"
_PLANE = 0xF0000
_ESCAPE = "\ufdd2"  # before a character that the text itself has in the private plane; never a character of a text
_PRIVATE = re.compile("[\U000f0000-\U000fffff]")
_HELD = re.compile(f"{_ESCAPE}([\U000f0000-\U000fffff])|([\U000f0000-\U000fffff])")
_ODD = re.compile("[^\t -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0600]")  # a fast way past what is surely plain


@lru_cache(maxsize=4096)
def _stand_in(character: str) -> str:
    code = ord(character)
    if character == "\n":
        return NEWLINE
    if _PRIVATE.match(character):
        return _ESCAPE + character
    if code > 0xFFFF or character == "\t":
        return character
    kept = unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\u00a0\ufffc"
    # Qt keeps noncharacters for itself: the borders of frames in a document.
    return character if kept and not 0xFDD0 <= code <= 0xFDEF else chr(_PLANE + code)


def held(text: str) -> str:
    """A text as the document holds it; `real` undoes it for every text.

    >>> real(held("to\\r\\nbe")) == "to\\r\\nbe"
    True
    """
    return _ODD.sub(lambda found: _stand_in(found[0]), text)


def real(raw: str) -> str:
    """The text that a document's raw text stands for, whatever was typed into it."""
    text = raw.replace(NEWLINE, "\n").replace("\u2029", "\n").replace("\u2028", "\n")
    return _HELD.sub(lambda found: found[1] or chr(ord(found[2]) - _PLANE), text) if _PRIVATE.search(text) else text


def starts(raw: str) -> list[int] | None:
    """Where each real character begins in a raw text, in Qt's 16-bit units, and the end; None: at its own position."""
    if raw.isascii() or (_ESCAPE not in raw and max(raw) <= "\uffff"):
        return None
    found, unit, escaped = [], 0, False
    for place, character in enumerate(raw):
        if not escaped:
            found.append(unit)
        escaped = not escaped and character == _ESCAPE and bool(_PRIVATE.match(raw, place + 1))
        unit += 2 if character > "\uffff" else 1
    return [*found, unit]
