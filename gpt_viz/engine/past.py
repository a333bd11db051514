"""The training that a file tells of, as far as it can be understood. Knows no model and no file.

A file may have been written by hand, or by another version: what is not of the right kind is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Run = dict[str, Any]
# A moment, the mean loss in nats per token on the validation part, and over how many windows of it.
Estimate: TypeAlias = tuple[int, float, int]


@dataclass(frozen=True, slots=True)
class Past:
    """How many steps, in which runs, with which losses: those of the last steps, one each.

    `drawn` is whether the weights before the first of them were drawn from the model's seed.
    """

    steps: int
    drawn: bool
    runs: list[Run]
    losses: list[float]
    validations: list[tuple[int, float]]


def understood(history: Mapping[str, Any]) -> Past:
    """What a history tells; nothing of it can fail."""
    steps = history.get("steps")
    if not isinstance(steps, int) or not _is_count(steps):
        return Past(0, history.get("drawn") is not False, [], [], [])
    losses = [math.nan if each is None else each for each in _listed(history.get("losses"))]
    whole = len(losses) <= steps and all(map(_is_number, losses))
    return Past(
        steps,
        history.get("drawn") is not False,
        [dict(each) for each in _listed(history.get("runs")) if _is_run(each)],
        [float(each) for each in losses] if whole else [],
        [(each[0], float(each[1])) for each in _listed(history.get("validations")) if _is_point(each, steps)],
    )


def estimates_of(run: Mapping[str, Any]) -> list[Estimate]:
    """The estimates that a run's summary tells; nothing of it can fail."""
    return [
        (each[0], math.nan if each[1] is None else float(each[1]), each[2])
        for each in _listed(run.get("estimates"))
        if isinstance(each, list) and len(each) == 3 and _is_count(each[0]) and _is_count(each[2])
        if each[1] is None or _is_number(each[1])
    ]


def plain(value: float) -> float | None:
    """A number as it stands in a file: five digits after the point, None for what is not finite."""
    return round(value, 5) if math.isfinite(value) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and _is_count(value.get("first")) and _is_count(value.get("steps"))


def _is_point(value: Any, steps: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and _is_count(value[0])
        and value[0] <= steps
        and _is_number(value[1])
    )
