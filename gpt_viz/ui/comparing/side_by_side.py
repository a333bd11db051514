"""What two models make of the same tokens, put together. Knows neither how it was come by nor how it is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpt_viz.compare_measures import HeadDistance, ranked, total_variations
from gpt_viz.protocol import Attended, Tokens

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """The attention of both on the same number of tokens. `paired`: each head has its counterpart in the other.

    `distances` (L, H) say how far those are apart; None where they have none, or where only the largest of some weights
    each are known.
    """

    current: Attended
    other: Attended
    paired: bool
    distances: npt.NDArray[np.float64] | None
    order: tuple[HeadDistance, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NextToken:
    """The logits (V,) of both for what comes after the same tokens."""

    current: Floats
    other: Floats
    tokens: Tokens


def held_together(ours: Attended, theirs: Attended, *, paired: bool) -> Heads:
    """Both passes with the heads measured, where that can be done."""
    distances = None
    if paired and ours.patterns.shape[-1] == len(ours.tokens.ids):
        distances = total_variations(ours.patterns, theirs.patterns)
    return Heads(ours, theirs, paired, distances, () if distances is None else tuple(ranked(distances)))
