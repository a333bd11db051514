"""Mixing two of the theme's colours into a quieter one. Knows only QColor."""

from __future__ import annotations

from PySide6.QtGui import QColor


def mixed(colour: str, ground: str, share: float) -> QColor:
    """`share` (0 to 1) of the colour on the ground, opaque.

    >>> mixed("#000000", "#FFFFFF", 0.0).name()
    '#ffffff'
    """
    a, b = QColor(colour), QColor(ground)
    return QColor(
        round(a.red() * share + b.red() * (1 - share)),
        round(a.green() * share + b.green() * (1 - share)),
        round(a.blue() * share + b.blue() * (1 - share)),
    )
