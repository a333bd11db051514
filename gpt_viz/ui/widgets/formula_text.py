r"""Formulas written in a line, read into their parts: fractions, roots, sums, high and low letters. Knows no font.

What can be written: `\frac{a}{b}`, `\sqrt{a}`, `\sum_{a}^{b}`, `\paren{a}` (brackets as high as what is in them),
`\cases{a}{b}` (one above the other behind a brace), `a_{b}`, `a^{b}` and `{a}` to keep parts together. A single letter
is a quantity and leans; a word, and what stands in double quotes, is upright. Anything else is written as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

OPERATORS = frozenset("=+−·×→≤≥<>|≈")
_OPENING = frozenset("([") | OPERATORS | {","}
_TOKEN = re.compile(r'\\[a-z]+|"[^"]*"|\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+\d*|\s+|.', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Word:
    """Letters or signs in one piece; `leans` where it is a quantity, `binds` where it stands between two others."""

    text: str
    leans: bool = False
    binds: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A little room."""


@dataclass(frozen=True, slots=True)
class Line:
    """Parts one after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Fraction:
    """One above the other with a rule between them."""

    above: Part
    below: Part


@dataclass(frozen=True, slots=True)
class Root:
    """The square root of something."""

    inner: Part


@dataclass(frozen=True, slots=True)
class Paren:
    """Brackets as high as what is in them."""

    inner: Part


@dataclass(frozen=True, slots=True)
class Cases:
    """Parts one below the other behind a brace."""

    rows: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """Something with a low and a high part at its end, or, where it is the sign of a sum, below and above it."""

    base: Part
    low: Part | None
    high: Part | None


@dataclass(frozen=True, slots=True)
class Total:
    """The sign of a sum."""


Part: TypeAlias = Word | Gap | Line | Fraction | Root | Paren | Cases | Script | Total


@lru_cache(maxsize=512)
def read(text: str) -> Line:
    r"""The parts of a formula. Raises ValueError for brackets that do not match, or a command that there is none of.

    >>> read("x = 2").parts[2]
    Word(text='=', leans=False, binds=True)
    """
    reader = _Reader(_TOKEN.findall(text))
    found = reader.line()
    if reader.left:
        raise ValueError(f"a bracket too many in the formula {text!r}")
    return found


class _Reader:
    """Takes tokens from the front."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens, self._at = tokens, 0

    @property
    def left(self) -> bool:
        return self._at < len(self._tokens)

    def line(self) -> Line:
        parts: list[Part] = []
        before = "="  # at the beginning a sign is a sign, and stands between nothing
        while self.left and self._tokens[self._at] != "}":
            token = self._tokens[self._at]
            part = self._scripted(self._part(before))
            parts.append(part)
            before = before if isinstance(part, Gap) else token
        return Line(tuple(parts))

    def _part(self, before: str) -> Part:
        token = self._take()
        if token.startswith("\\"):
            return self._command(token)
        if token == "{":
            return self._braced(opened=True)
        if token.isspace():
            return Gap()
        if token.startswith('"'):
            return Word(token[1:-1])
        return Word(
            token, leans=len(token) == 1 and token.isalpha(), binds=token in OPERATORS and before not in _OPENING
        )

    def _command(self, name: str) -> Part:
        if name == r"\frac":
            return Fraction(self._braced(), self._braced())
        if name == r"\sqrt":
            return Root(self._braced())
        if name == r"\paren":
            return Paren(self._braced())
        if name == r"\cases":
            return Cases((self._braced(), self._braced()))
        if name == r"\sum":
            return Total()
        raise ValueError(f"a formula has no {name}")

    def _scripted(self, base: Part) -> Part:
        low = high = None
        while self.left and self._tokens[self._at] in "_^":
            if self._take() == "_":
                low = self._script()
            else:
                high = self._script()
        return base if low is None and high is None else Script(base, low, high)

    def _script(self) -> Part:
        if self.left and self._tokens[self._at] == "{":
            return self._braced()
        return self._part("=")

    def _braced(self, *, opened: bool = False) -> Line:
        if not opened and self._take() != "{":
            raise ValueError("a formula's command wants braces")
        inner = self.line()
        self._take()
        return inner

    def _take(self) -> str:
        if not self.left:
            raise ValueError("a formula ends too early")
        self._at += 1
        return self._tokens[self._at - 1]
