"""Where the slices of a ring lie, and their outlines: arithmetic on counts. Knows no widget and no colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

SMALL = 0.01  # slices below this share are drawn together
LEAST_DEGREES = 2.4  # no arc is thinner


@dataclass(frozen=True, slots=True)
class Arc:
    """One slice as it is drawn: `members` are the numbers of the wedges in it; degrees clockwise from the top."""

    members: tuple[int, ...]
    start: float
    span: float


def arcs(counts: Sequence[int]) -> tuple[Arc, ...]:
    """Where each slice is drawn: together a full circle, tiny ones as one, zeros not at all.

    >>> arcs([3, 0, 1])
    (Arc(members=(0,), start=0.0, span=270.0), Arc(members=(2,), start=270.0, span=90.0))
    """
    whole = sum(counts)
    if not whole:
        return ()
    groups: list[tuple[int, ...]] = [(i,) for i, count in enumerate(counts) if count >= SMALL * whole]
    small = tuple(i for i, count in enumerate(counts) if 0 < count < SMALL * whole)
    if small:
        groups.append(small)
    spans = [360 * sum(counts[i] for i in group) / whole for group in groups]
    # What a thin slice gains in order to be seen is taken from the widest.
    widest = max(range(len(spans)), key=spans.__getitem__)
    raised = [max(span, LEAST_DEGREES) for span in spans]
    raised[widest] -= sum(raised) - 360
    starts = [sum(raised[:i]) for i in range(len(raised))]
    return tuple(Arc(group, start, span) for group, start, span in zip(groups, starts, raised, strict=True))


def outline(centre: QPointF, low: float, high: float, arc: Arc) -> QPainterPath:
    """The outline of a slice; a full circle has no seam."""
    outer = QRectF(centre.x() - high, centre.y() - high, 2 * high, 2 * high)
    inner = QRectF(centre.x() - low, centre.y() - low, 2 * low, 2 * low)
    path = QPainterPath()
    if arc.span >= 360:
        path.addEllipse(outer)
        path.addEllipse(inner)
        return path
    begin = 90 - arc.start  # Qt counts counter-clockwise from three o'clock
    path.arcMoveTo(outer, begin)
    path.arcTo(outer, begin, -arc.span)
    path.arcTo(inner, begin - arc.span, arc.span)
    path.closeSubpath()
    return path
