"""Rows of text as aligned columns. Knows nothing of what stands in them."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """The rows, each column as wide as its widest text and two spaces from the next; `right` ones end together.

    >>> print(aligned([("a", "1"), ("bb", "10")], right=[1]))
    a    1
    bb  10
    """
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if number in right else text.ljust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def tuple_text(parts: Sequence[object]) -> str:
    """A shape as it is read: `(1, 24, 128)`; a single one without a comma behind it, and () for none.

    >>> tuple_text([24])
    '(24)'
    """
    return f"({', '.join(map(str, parts))})"
