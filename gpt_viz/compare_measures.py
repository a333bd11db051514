"""How far two models are apart on one text: where they look, and what they hold likely. Knows no model and no view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
ORDERS = {"probability": "by probability", "difference": "by difference"}


@dataclass(frozen=True, slots=True)
class HeadDistance:
    """How far the same head of two models is apart: 0 where both look alike, 1 where they never look at one place."""

    layer: int
    head: int
    distance: float


def total_variations(one: Floats, other: Floats) -> Doubles:
    """The share of each head's attention that lies elsewhere. Patterns (..., T, T), rows summing to 1 -> (...).

    For each query the total variation distance of its two rows, half the sum over keys of |a - b|, and of that the
    mean over all queries. From 0 to 1; NaN where a weight is not finite.
    """
    if one.shape != other.shape or one.ndim < 2:
        raise ValueError(f"patterns of {one.shape} and of {other.shape} can't be held against each other")
    with np.errstate(invalid="ignore"):
        apart: Doubles = np.abs(one - other).sum(axis=-1, dtype=np.float64).mean(axis=-1) / 2
    return np.where(np.isfinite(apart), np.minimum(apart, 1.0), np.nan)


def ranked(distances: Doubles) -> list[HeadDistance]:
    """The heads (L, H) by how far they are apart: the furthest first, of equals the earlier one, NaN at the end."""
    flat = distances.reshape(-1)
    order = np.argsort(-flat, kind="stable")  # NaN comes last of all
    heads = max(distances.shape[1], 1)
    return [HeadDistance(int(at) // heads, int(at) % heads, float(flat[at])) for at in order]


def log_likely(logits: Floats, temperature: float = 1.0) -> Doubles:
    """The logarithms of softmax(logits / temperature), (V,) -> (V,), in double precision; the temperature above 0."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        scaled = (logits.astype(np.float64) - logits.max()) / temperature
        found: Doubles = scaled - np.log(np.exp(scaled).sum())
    return found


def likely(logits: Floats, temperature: float = 1.0) -> Doubles:
    """What a model holds likely: softmax(logits / temperature), (V,) -> (V,), sums to 1."""
    return np.exp(log_likely(logits, temperature))


def divergence(one: Floats, other: Floats, temperature: float = 1.0) -> float:
    """KL(one ‖ other) of two distributions given by their logits (V,), in nats: from 0, where they are equal, up.

    The sum over tokens of p·log(p / q): how many nats more than needed it costs to expect `other` where `one` is true
    (S. Kullback, R. Leibler 1951). NaN where a logit is NaN, infinite where `other` rules out what `one` does not.
    """
    if one.shape != other.shape:
        raise ValueError(f"distributions over {one.shape[0]:,} and over {other.shape[0]:,} tokens can't be compared")
    ours, theirs = log_likely(one, temperature), log_likely(other, temperature)
    share = np.exp(ours)
    with np.errstate(invalid="ignore"):
        terms = np.where(share == 0, 0.0, share * (ours - theirs))
    total = float(terms.sum())
    return total if total != total else max(total, 0.0)


def paired_order(one: Doubles, other: Doubles, by: str) -> npt.NDArray[np.int64]:
    """The ids of two distributions (V,) as they are listed: the largest mean first, or the largest difference.

    `by` is one of ORDERS; of equals the lower id comes first.
    """
    weight = np.abs(one - other) if by == "difference" else one + other
    order: npt.NDArray[np.int64] = np.argsort(-weight, kind="stable")
    return order


def first_difference(one: Sequence[str], other: Sequence[str]) -> int | None:
    """The first place at which two texts have another token; None as far as both of them go."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
