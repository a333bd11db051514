"""Shares as they are read, in percent to a tenth. Knows only counts."""

from __future__ import annotations

from collections.abc import Sequence


def percents(counts: Sequence[int]) -> tuple[str, ...]:
    """Each count's share of all, rounded to a tenth; where together they miss 100 by more, the large ones give way.

    >>> percents([1, 1, 1])
    ('33.3 %', '33.3 %', '33.3 %')
    """
    whole = max(sum(counts), 1)
    tenths = [round(1000 * count / whole) for count in counts]
    missing = (1000 if any(counts) else 0) - sum(tenths)
    step = 1 if missing > 0 else -1
    large = [i for i, each in enumerate(tenths) if each >= 10]
    for i in sorted(large, key=lambda i: step * (tenths[i] - 1000 * counts[i] / whole))[: max(abs(missing) - 1, 0)]:
        tenths[i] += step
    return tuple(percent(each, count) for each, count in zip(tenths, counts, strict=True))


def percent(tenths: int, count: int) -> str:
    """Tenths of a percent as they are read; something that rounds to nothing is not said to be nothing."""
    return "< 0.1 %" if count and not tenths else f"{tenths / 10:.1f} %"
