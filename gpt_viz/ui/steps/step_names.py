"""How a step, a parameter and one of their numbers are called where there is little room. Knows no view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from gpt_viz.ui.widgets.glyphs import visible

_T = TypeVar("_T")
_PARAMETERS = (
    (re.compile(r"token_embedding\.weight"), "E"),
    (re.compile(r"position_embedding\.weight"), "P"),
    (re.compile(r"blocks\.\d+\.attn\.heads\.\d+\.(query|key|value)\.(weight|bias)"), ""),
    (re.compile(r"blocks\.\d+\.attn\.proj\.(weight|bias)"), "o"),
    (re.compile(r"blocks\.\d+\.mlp\.fc\.(weight|bias)"), "1"),
    (re.compile(r"blocks\.\d+\.mlp\.proj\.(weight|bias)"), "2"),
    (re.compile(r"head\.(weight|bias)"), "u"),
    (re.compile(r"(?:blocks\.\d+\.)?ln\w+\.(weight|bias)"), "ln"),
)


def is_parameter(name: str) -> bool:
    """Whether this is the name of a tensor of weights, and not of a step."""
    return name.endswith((".weight", ".bias"))


def symbol(name: str) -> str:
    """A step by the end of its name, a parameter by the letters it has in the formulas.

    >>> symbol("blocks.1.attn.heads.2.query.weight"), symbol("blocks.0.attn.heads.1.A"), symbol("blocks.0.out")
    ('Wq', 'A', 'blocks.0.out')
    """
    for pattern, letter in _PARAMETERS:
        found = pattern.fullmatch(name)
        if found is None:
            continue
        if letter in ("E", "P"):
            return letter
        if letter == "ln":
            return "γ" if found[1] == "weight" else "β"
        kind, letter = (found[2], found[1][0]) if not letter else (found[1], letter)
        return ("W" if kind == "weight" else "b") + letter
    if name.endswith(".out"):
        return name.partition(".attn.")[2] or name
    return name.rpartition(".")[2]


def without_batch(name: str, figures: Sequence[_T]) -> tuple[_T, ...]:
    """What belongs to a tensor's axes but for the batch's, of which there is one text: an index, spans, sizes."""
    batched = not is_parameter(name) and name not in ("position_embedding", "loss")
    return tuple(figures[1:] if batched else figures)


def cell_name(name: str, index: Sequence[object]) -> str:
    """One number of a tensor, its index without the batch's figure: `A[20, 19]`; of one number alone, its name."""
    return f"{symbol(name)}[{', '.join(map(str, index))}]" if index else symbol(name)


def quoted(piece: str) -> str:
    """A token as it is named in a sentence: “␣”."""
    return f"“{visible(piece)}”"
