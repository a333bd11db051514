"""What weights are called and what is said of them: sentences, figures, axes. Knows no view."""

from __future__ import annotations

import math
import re

from gpt_viz.measures import Figures, round_limit
from gpt_viz.protocol import ModelInfo, Weights, WeightsOpened
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.numbers import written
from gpt_viz.ui.widgets.sheet import Axis

NAMED = 512  # tokens of the vocabulary that are written at an axis, at most
_WHAT = {"V": "token", "N": "position"}  # what a row of a table is of
_TABLES = ("token_embedding", "position_embedding")
_HEAD = re.compile(r"blocks\.(\d+)\.attn\.heads\.(\d+)")


def place_words(place: str) -> str:
    """A place as it is spoken of: a head by its numbers, everything else by its name."""
    head = _HEAD.fullmatch(place)
    return f"head {head[2]} of layer {head[1]}" if head else place


def short_name(tensor: str, place: str) -> str:
    """A tensor beside the others of its place.

    >>> short_name("blocks.1.attn.heads.2.query.bias", "blocks.1.attn.heads.2"), short_name("ln_f.bias", "ln_f")
    ('query bias', 'β, the bias')
    """
    if tensor == place:
        return re.sub(r"^blocks\.\d+\.", "", tensor)
    words = tensor.removeprefix(f"{place}.").split(".")
    if re.search(r"(^|\.)ln\w+$", place):
        return "γ, the weight" if words[-1] == "weight" else "β, the bias"
    if _HEAD.fullmatch(place):
        return words[0] if words[-1] == "weight" else f"{words[0]} bias"
    return words[-1]


def axes_of(weights: Weights, model: ModelInfo) -> tuple[Axis, Axis]:
    """The axes of a tensor's picture: down and across. A matrix of a Linear layer stands as out × in."""
    symbols, (rows, columns) = weights.picture.symbols, weights.picture.span
    named = [" ".join(filter(None, pair)) for pair in zip(_roles(weights), symbols, strict=True)]
    across = _axis(named[-1], symbols[-1], columns, model)
    return _axis(named[0], symbols[0], rows, model) if len(symbols) > 1 else Axis(), across


def _roles(weights: Weights) -> tuple[str, ...]:
    """What each axis of the tensor is: a Linear layer's go out and in, a table's are rows of something."""
    picture = weights.picture
    module = picture.name.rpartition(".")[0]
    if module in _TABLES:
        return _WHAT[picture.symbols[0]], ""
    if re.search(r"(^|\.)ln\w+$", module):
        return ("",)
    return ("out", "in")[: len(picture.symbols)]


def _axis(title: str, letter: str, stride: int, model: ModelInfo) -> Axis:
    names: tuple[str, ...] = ()
    if letter == "V" and model.alphabet is not None and model.config.vocabulary <= NAMED:
        names = tuple(map(model.piece, range(model.config.vocabulary)))
    return Axis(f"{title} →", names, stride)


def rounded(number: float | None, digits: int = 3) -> str:
    """A figure with so many digits that count, the last ones too where they are 0.

    >>> rounded(0.05103), rounded(1.0043, 3), rounded(0.0), rounded(-6.64e-5), rounded(None)
    ('0.0510', '1.00', '0', '−6.64e−5', '–')
    """
    if number is None or not number or not math.isfinite(number) or not 1e-4 <= abs(number) < 1e4:
        return written(number, digits)
    return f"{number:#.{digits}g}".rstrip(".").replace("-", "−")


def sizes_words(weights: Weights) -> str:
    """The tensor's axes in letters, and its spread: "out D × in C, std 0.0511"."""
    axes = (" ".join(filter(None, pair)) for pair in zip(_roles(weights), weights.picture.symbols, strict=True))
    return f"{' × '.join(axes)}, std {rounded(weights.figures.std)}"


def limit_of(weights: Weights) -> float:
    """The size at which colours end: three times the usual one, or where all numbers end; 0 where all are 0.

    In a picture of the numbers that stand out of many, unusual ones are usual.
    """
    figures, count = weights.figures, math.prod(weights.picture.shape) - weights.figures.not_finite
    if weights.histogram is None or not figures.norm:
        return 0.0
    if weights.picture.span != (1, 1):
        return weights.histogram.high
    return min(round_limit(3 * figures.norm / math.sqrt(count)), weights.histogram.high)


def pairs(weights: Weights) -> tuple[tuple[str, str], ...]:
    """Name and figure of all that was measured; what it was drawn with only where that is known and another."""
    figures, promised, drawn = weights.figures, weights.promised_std, weights.initial_std
    found = [("numbers", f"{math.prod(weights.picture.shape):,}"), ("mean", rounded(figures.mean))]
    found.append(("std", rounded(figures.std, 4)))
    if drawn is not None and drawn != figures.std:
        found.append(("std as drawn", rounded(drawn, 4)))
    found.append(("std promised", "0, a constant" if promised is None else rounded(promised, 4)))
    found += [("smallest", rounded(figures.smallest)), ("largest", rounded(figures.largest))]
    if figures.not_finite:
        found.append(("not finite", f"{figures.not_finite:,}"))
    return tuple(found)


def sentence(opened: WeightsOpened) -> str:
    """What is seen now, in one sentence."""
    place, tensors = opened.parameter, opened.tensors
    said = place_words(place)
    said = said[:1].upper() + said[1:] if said != place else said
    shared = next((each.shared_with for each in tensors if each.shared_with), "")
    if shared:
        said += f", which is {shared}"
    if all(each.promised_std is None for each in tensors):
        return f"{said}: {' and '.join(f'{_greek(each)} {_between(each.figures)}' for each in tensors)}."
    matrices = [each for each in tensors if len(each.picture.shape) > 1] or list(tensors)
    if len(matrices) == 1 and not matrices[0].figures.std:
        return f"{said} {_between(matrices[0].figures)}; {_compared(matrices)}."
    whose = (
        "" if len(matrices) == 1 else _listed([short_name(each.picture.name, place) for each in matrices]) + " have "
    )
    return f"{said}: {whose}std {_listed([rounded(each.figures.std) for each in matrices])}; {_compared(matrices)}."


def _compared(tensors: list[Weights]) -> str:
    """What the spread was drawn with, where that is known and another, and what was promised."""
    promised = f"{rounded(tensors[0].promised_std)} was promised"
    if all(each.initial_std is None or each.initial_std == each.figures.std for each in tensors):
        return promised
    return f"drawn with {_listed([rounded(each.initial_std) for each in tensors])}, {promised}"


def _greek(weights: Weights) -> str:
    return "γ" if weights.picture.name.endswith("weight") else "β"


def _between(figures: Figures) -> str:
    low, high = rounded(figures.smallest), rounded(figures.largest)
    return f"is {low} everywhere" if figures.smallest == figures.largest else f"lies between {low} and {high}"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def cell_words(weights: Weights, place: str, row: int, column: int, model: ModelInfo) -> str:
    """One number under the pointer: where it stands in the tensor, and what it is."""
    picture = weights.picture
    index, symbols = picture.index(row, column), picture.symbols
    where = [] if picture.name == place else [short_name(picture.name, place)]
    for role, letter, at in zip(_roles(weights), symbols, index, strict=True):
        piece = f" “{visible(model.piece(at))}”" if letter == "V" and model.alphabet is not None else ""
        where.append(f"{role or letter} {at:,}{piece}")
    number = rounded(float(picture.cells[row, column]), 4)
    down, along = picture.span
    many = "" if (down, along) == (1, 1) else f" (furthest from 0 of {down} × {along})"
    return f"{', '.join(where)}: {number}{many}"


def table(opened: WeightsOpened) -> list[list[str]]:
    """All figures of all tensors, as plain numbers."""
    rows = [
        ["name", "shape", "numbers", "mean", "std", "std as drawn", "std promised", "smallest", "largest", "not finite"]
    ]
    for each in opened.tensors:
        figures = each.figures
        measured = (figures.mean, figures.std, each.initial_std, each.promised_std, figures.smallest, figures.largest)
        rows.append(
            [
                each.picture.name,
                " x ".join(map(str, each.picture.shape)),
                str(math.prod(each.picture.shape)),
                *("" if number is None else f"{number:.9g}" for number in measured),
                str(figures.not_finite),
            ]
        )
    return rows
