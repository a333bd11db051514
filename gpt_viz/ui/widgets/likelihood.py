"""The arithmetic of a distribution that is to be seen: before the cuts, in order, in percent. Knows no widget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def percent(probability: float) -> str:
    """A probability as it is read: one decimal, more where there would be no figure left.

    >>> percent(0.4123), percent(0.00002), percent(1.0), percent(0.0)
    ('41.2 %', '0.002 %', '100 %', '0 %')
    """
    if probability in (0.0, 1.0):
        return f"{probability * 100:.0f} %"
    if probability >= 0.001:
        return f"{probability * 100:.1f} %"
    return f"{probability * 100:.1g} %" if probability >= 1e-6 else "≈ 0 %"


def before_cuts(logits: Floats, temperature: float) -> NDArray[np.float64]:
    """What each token had before the cuts: softmax of logits / temperature. logits (V,) -> (V,), sums to 1.

    At temperature 0, where the likeliest takes all, the logits' own softmax: what the model holds likely.
    """
    scaled = logits.astype(np.float64)
    scaled -= scaled.max()
    if temperature > 0:
        with np.errstate(over="ignore"):
            scaled /= temperature
    likely: NDArray[np.float64] = np.exp(scaled)
    likely /= likely.sum()
    return likely


def likeliest(logits: Floats, count: int) -> NDArray[np.int64]:
    """At least `count` ids, the likeliest first, of equals the lower id. Sorting all of 50,257 takes 10 ms."""
    ids = np.arange(len(logits))
    if count < len(logits):
        least = np.partition(logits, -count)[-count]
        ids = np.flatnonzero(logits >= least)
    ranked: NDArray[np.int64] = ids[np.argsort(-logits[ids], kind="stable")]
    return ranked
