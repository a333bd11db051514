"""How a source is laid out in rows of limited width: long lines go on in the next row. Knows no widget and no font."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpt_viz.ui.widgets.code_colours import COMMENT, Span

HANG = 4  # columns by which the rest of a long line is set in
BLANK = 0.6  # of a row's height, for an empty one


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One line of a source. `number` 0 has none; rows of the same `unit` are lit together, None can't be chosen.

    `mark` is a kind of step, or ""; `hollow` draws it as an outline.
    """

    number: int
    text: str
    unit: int | None = None
    mark: str = ""
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """The characters `start` to `end` of a row, drawn in one line, `indent` columns in."""

    row: int
    start: int
    end: int
    indent: int
    top: float


def pieces(text: str, columns: int, hang: int) -> list[tuple[int, int, int]]:
    """A line as (start, end, indent) of each row that it takes; it is broken before its comment, or between words."""
    if len(text) <= columns:
        return [(0, len(text), 0)]
    set_in = len(text) - len(text.lstrip())
    deeper = min(set_in + hang, columns // 2)
    comment = text.find("  # ")
    found: list[tuple[int, int, int]] = []
    start, first, room, indent = 0, set_in, columns, 0
    while len(text) - start > room:
        cut = text.rfind(" ", first + 1, start + room + 1)
        if first < comment <= start + room:
            cut = comment
        cut = cut if cut > 0 else start + room
        found.append((start, cut, indent))
        start = first = cut + len(text[cut:]) - len(text[cut:].lstrip())
        room, indent = max(columns - deeper, 1), deeper
    return [*found, (start, len(text), indent)]


def laid(
    rows: Sequence[CodeRow], spans: Sequence[Sequence[Span]], columns: int, step: float, top: float
) -> tuple[list[Piece], float]:
    """All rows from `top` downwards, `step` px each, and where they end. Comments go on unindented."""
    found = []
    for number, row in enumerate(rows):
        roles = {span.role for span in spans[number] if row.text[span.start : span.end].strip()}
        for start, end, indent in pieces(row.text, columns, HANG if roles - {COMMENT} else 0):
            found.append(Piece(number, start, end, indent, top))
            top += step if row.text else step * BLANK
    return found, top
