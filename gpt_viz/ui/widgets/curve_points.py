"""Many numbers as the few that a picture has room for, and the scale they stand on. Knows no widget.

Numbers that are not finite are gaps: they are in no mean and on no scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Numbers span this share more than the scale's ends at each side.
_MARGIN = 0.05
# Loss 0 has no logarithm; below this everything is drawn at the lower end.
SMALLEST = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """Runs of neighbours as one point each: `at` (m,) their middle as an index, `mean`, `low`, `high`; NaN: a gap."""

    at: Floats
    mean: Floats
    low: Floats
    high: Floats


def folded(values: NDArray[np.float32], most: int) -> Folded:
    """At most so many points for the values (n,); each finite value is in exactly one of them."""
    count = len(values)
    size = max(ceil(count / max(most, 1)), 1)
    padded = np.full(ceil(count / size) * size, np.nan)
    padded[:count] = values
    rows = padded.reshape(-1, size)
    finite = np.isfinite(rows)
    number = finite.sum(axis=1)
    empty = number == 0
    mean = np.where(finite, rows, 0.0).sum(axis=1) / np.maximum(number, 1)
    low = np.where(finite, rows, np.inf).min(axis=1, initial=np.inf)
    high = np.where(finite, rows, -np.inf).max(axis=1, initial=-np.inf)
    for each in (mean, low, high):
        each[empty] = np.nan
    starts = np.arange(len(rows)) * size
    return Folded((starts + np.minimum(starts + size, count) - 1) / 2, mean, low, high)


def smoothed(values: Floats, reach: int) -> Floats:
    """The mean of each value (n,) and the `reach` on either side of it, where finite; NaN stays NaN.

    Where it begins, as many on the one side as on the other: there it falls, and the mean must not lag behind.
    """
    finite, count = np.isfinite(values), len(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(finite, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(finite)])
    at = np.arange(count)
    before = np.minimum(at, reach)
    starts, ends = at - before, at + np.minimum(before, count - 1 - at) + 1
    mean = (sums[ends] - sums[starts]) / np.maximum(counts[ends] - counts[starts], 1)
    return np.where(finite, mean, np.nan)


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` to `high`, both finite and `low` the smaller; `log` counts in powers of ten."""

    low: float
    high: float
    log: bool = False

    def place(self, values: Floats | float) -> Floats:
        """Where values stand, as shares of the way from low to high; NaN stays NaN."""
        given = np.asarray(values, np.float64)
        if not self.log:
            return (given - self.low) / (self.high - self.low)
        bottom, top = log10(self.low), log10(self.high)
        with np.errstate(invalid="ignore"):  # NaN stays NaN without a word
            return (np.log10(np.maximum(given, SMALLEST)) - bottom) / (top - bottom)

    def ticks(self, most: int) -> list[float]:
        """Round numbers on it, about so many at most."""
        if not self.log:
            span = self.high - self.low
            step = 10.0 ** floor(log10(span / max(most, 1)))
            step *= next(times for times in (1, 2, 5, 10, 20) if span / (times * step) <= most)
            first = ceil(self.low / step - 1e-9)
            return [round(at * step, 12) for at in range(first, floor(self.high / step + 1e-9) + 1)]
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for figures in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
            found = [figure * 10.0**power for power in powers for figure in figures]
            shown = [each for each in found if self.low * 0.999 <= each <= self.high * 1.001]
            if len(shown) <= most:
                return shown
        return shown[:: ceil(len(shown) / max(most, 1))]


def scale_for(numbers: Floats, log: bool) -> Scale:
    """A scale on which all finite numbers have room; 0 to 1 where there are none."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return Scale(0.1, 1.0, True) if log else Scale(0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    if log:
        low, high = max(low, SMALLEST), max(high, SMALLEST)
        by = max((high / low) ** _MARGIN, 1.05)
        return Scale(low / by, high * by, True)
    by = max((high - low) * _MARGIN, abs(high) * 0.02, 1e-3)
    return Scale(min(low - by, low) if low < 0 else max(low - by, 0.0), high + by)
