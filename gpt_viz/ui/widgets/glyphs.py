"""How a token is drawn where its own text would leave no ink. Knows no widget, no colour and no vocabulary."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

SPACE, NEWLINE, TAB = "␣", "↵", "⇥"
_FORMS = {" ": SPACE, "\n": NEWLINE, "\t": TAB}
# Categories without ink of their own: other separators, controls, formats, halves of pairs, private and unassigned
# places, and the marks that need a letter to stand on.
_INKLESS = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me", "Mc"))
# Characters that count as letters or symbols and are blank all the same: the Hangul fillers and the empty braille cell.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")


@lru_cache(maxsize=4096)
def is_mark(character: str) -> bool:
    """Whether a character is drawn onto the one before it, as an accent is."""
    return unicodedata.category(character).startswith("M")


@lru_cache(maxsize=4096)
def _inkless(character: str) -> bool:
    return unicodedata.category(character) in _INKLESS or character in _BLANK_LETTERS


def _code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


@lru_cache(maxsize=8192)
def visible(piece: str) -> str:
    """A token's text as it is shown: a space as `␣`, a newline as `↵`, a tab as `⇥`, others without ink as `U+200D`.

    An accent stays on its letter where the piece holds both; alone it is named, too. Draw what `is_invisible` greyed,
    so that a typed `↵` can be told from a newline.

    >>> visible("to be\\n")
    'to␣be↵'
    >>> visible("\\u0301")
    'U+0301'
    """
    shown: list[str] = []
    stands = False  # whether the character before can carry an accent
    for character in piece:
        if character in _FORMS:
            shown.append(_FORMS[character])
            stands = False
        elif is_mark(character) and stands:
            shown.append(character)
        elif _inkless(character):
            shown.append(_code_point(character))
            stands = False
        else:
            shown.append(character)
            stands = True
    return "".join(shown)


@lru_cache(maxsize=8192)
def is_invisible(piece: str) -> bool:
    """Whether a token's own text leaves no ink, so that its visible form is a stand-in and is drawn greyed."""
    return bool(piece) and all(_inkless(character) for character in piece)
