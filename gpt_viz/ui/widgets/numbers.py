"""How a measured number is written: few digits that count, a true minus, ∞ and NaN by name. Knows no widget."""

from __future__ import annotations

import math

MINUS = "−"


def written(number: float | None, digits: int = 4) -> str:
    """A number with so many digits that count; a dash where there is none.

    >>> written(-0.0371263), written(1536.0), written(2.5e-7), written(None)
    ('−0.03713', '1536', '2.5e−7', '–')
    """
    if number is None:
        return "–"
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else f"{MINUS}∞"
    text = f"{number:.{digits}g}"
    if number == int(number) and abs(number) < 1e7:
        text = f"{number:.0f}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return "0" if text == "-0" else text.replace("-", MINUS)


def duration(seconds: float | None) -> str:
    """A time in the unit that gives it three digits: 3.2 µs, 1.45 ms; a dash where there is none.

    >>> duration(0.0000032), duration(0.00145), duration(2.5)
    ('3.2 µs', '1.45 ms', '2.5 s')
    """
    if seconds is None:
        return "–"
    for size, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
