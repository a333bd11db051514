"""How large numbers are written: 842 k, 3.3 MB, 174,604,259,328. Knows no widget and no engine."""

from __future__ import annotations

_THOUSANDS = ("", "k", "M", "G", "T", "P", "E")


def short(number: float) -> str:
    """Three digits and the letter of its thousands, as on a meter.

    >>> short(841_728), short(12), short(174_000_000_000)
    ('842 k', '12', '174 G')
    """
    power = 0
    while number >= 999.5 and power < len(_THOUSANDS) - 1:
        number /= 1000
        power += 1
    digits = f"{number:,.0f}" if number >= 99.5 else f"{number:.3g}"
    return f"{digits} {_THOUSANDS[power]}".strip()


def size(count: int) -> str:
    """A number of bytes, in thousands of thousands: 3.27 MB, 698 GB.

    >>> size(3_266_560), size(0)
    ('3.27 MB', '0 B')
    """
    text = short(count)
    return text + ("B" if text[-1].isalpha() else " B")
