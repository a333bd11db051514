"""Which columns are shown in a given room and how wide each becomes: arithmetic alone. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence


def fitting(natural: Sequence[int], hides: Sequence[int], room: int) -> list[int]:
    """The columns that find room: those that never hide (0), then the others, the lowest of `hides` first.

    A column without a single cell has the natural width 0 and is left out.

    >>> fitting([50, 80, 30], [0, 1, 2], 100)
    [0, 2]
    """
    shown = [i for i, each in enumerate(hides) if not each]
    left = room - sum(natural[i] for i in shown)
    for i in sorted((i for i, each in enumerate(hides) if each), key=lambda i: hides[i]):
        if 0 < natural[i] <= left:
            left -= natural[i]
            shown.append(i)
    return sorted(shown)


def spread(natural: Sequence[int], shown: Sequence[int], firm: Sequence[bool], room: int, least: int) -> dict[int, int]:
    """The width of each shown column: what is spare goes to those that are not firm; what is short, the first gives.

    >>> spread([50, 30], [0, 1], [False, True], 100, 40)
    {0: 70, 1: 30}
    """
    widths = {i: natural[i] for i in shown}
    spare = room - sum(widths.values())
    if spare < 0:
        widths[0] = max(widths[0] + spare, least)
        return widths
    loose = [i for i in shown if not firm[i]]
    for i in loose:
        widths[i] += spare // len(loose)
    widths[0] += spare % len(loose)
    return widths
