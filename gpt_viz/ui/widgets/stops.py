"""What a diagram of a flow consists of: rows of stops from top to bottom. Knows no widget and no model."""

from __future__ import annotations

from dataclasses import dataclass

TRUNK, BRANCH, SUM, FRAME, FOLDED = "trunk", "branch", "sum", "frame", "folded"


@dataclass(frozen=True, slots=True)
class Stop:
    """A place in the flow: its label, the kind that colours it, where it leads to, and whether one stands there."""

    label: str
    kind: str
    target: str
    here: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Floor:
    """One row: `trunk` stops carry the stream, `branch` stops hang beside it, a `sum` joins them; a `frame` begins a
    part that is drawn in full and ends at the first row that is not `inside`; `folded` ones stand for such a part.
    """

    style: str
    stops: tuple[Stop, ...]
    inside: bool = False
