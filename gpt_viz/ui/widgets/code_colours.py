"""Which parts of Python code are keywords, names being defined, comments and values. Knows no widget."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QColor

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.tint import mixed

PLAIN, KEYWORD, DEFINED, COMMENT, VALUE = "plain", "keyword", "defined", "comment", "value"
ROLES = (PLAIN, KEYWORD, DEFINED, COMMENT, VALUE)

_QUOTES = '"""'
_PART = re.compile(
    r"""(?P<comment>\#.*)
    |(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b(?:\d[\d_]*\.?\d*(?:e[+-]?\d+)?|True|False|None)\b)
    |(?P<word>@?[^\W\d]\w*)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` of a line, which play one role."""

    start: int
    end: int
    role: str


def coloured(lines: Sequence[str]) -> tuple[tuple[Span, ...], ...]:
    """The spans of each line, in order and without gaps; a docstring counts as a comment on all its lines."""
    found = []
    inside = False
    for line in lines:
        spans, inside = _spans(line, inside)
        found.append(tuple(spans))
    return tuple(found)


def colour(role: str) -> QColor:
    """The theme's colour for a role; each can be read on a field and on what is selected."""
    tokens = theme.tokens()
    if role == VALUE:
        return mixed(tokens.key, tokens.text, 0.5)
    return QColor({KEYWORD: tokens.accent_text, COMMENT: tokens.muted}.get(role, tokens.text))


def _spans(line: str, inside: bool) -> tuple[list[Span], bool]:
    """The spans of a line that begins `inside` a docstring or not, and whether the next one does."""
    spans: list[Span] = []
    at = 0
    while at < len(line):
        quotes = line.find(_QUOTES, at)
        if inside:
            end = len(line) if quotes < 0 else quotes + len(_QUOTES)
            spans.append(Span(at, end, COMMENT))
            inside = quotes < 0
        else:
            # Three quotes within a comment or a string begin nothing; the lessons have none there.
            end = len(line) if quotes < 0 else quotes
            spans += _code(line, at, end)
            inside = quotes >= 0
            if inside:
                closing = line.find(_QUOTES, quotes + len(_QUOTES))
                end = len(line) if closing < 0 else closing + len(_QUOTES)
                spans.append(Span(quotes, end, COMMENT))
                inside = closing < 0
        at = end
    return spans, inside


def _code(line: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    at, before = start, ""
    for found in _PART.finditer(line, start, end):
        role = found.lastgroup or PLAIN
        word = found.group()
        if role == "word":
            decorates = word.startswith("@") and not line[: found.start()].strip()
            role = KEYWORD if keyword.iskeyword(word) or decorates else DEFINED if before in ("def", "class") else PLAIN
            before = word
        if role == PLAIN:
            continue
        if found.start() > at:
            spans.append(Span(at, found.start(), PLAIN))
        spans.append(Span(found.start(), found.end(), role))
        at = found.end()
    if end > at:
        spans.append(Span(at, end, PLAIN))
    return spans
