"""How a check went: what was expected, what was found, and the numbers behind it. Knows no check."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor

from gpt_viz.engine.taps import Array, snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """`passed` None: the claim does not apply to this model or text, and `detail` says why.

    `expected` and `found` are written as they are read; `tolerance` None means exactly,
    or a range that `expected` names. `facts` are named values for
    the texts, `arrays` float32 pictures by name, `labels` the names along their axes. `running`: not the last word.
    """

    passed: bool | None
    expected: str = ""
    found: str = ""
    tolerance: float | None = None
    detail: str = ""
    facts: dict[str, int | float | str] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    running: bool = False


Trial: TypeAlias = Generator[Outcome | None, None, Outcome]


def does_not_apply(reason: str) -> Outcome:
    """The claim says nothing about this model or this text; the reason is one sentence without its full stop."""
    return Outcome(passed=None, detail=reason)


def picture(numbers: Tensor | list[float]) -> Array:
    """Numbers as an array of an event: read-only, float32."""
    return snapshot(torch.as_tensor(numbers, dtype=torch.float32))


def several(names: list[str], most: int = 3) -> str:
    """Some names in one phrase: the first few, and how many more there are.

    >>> several(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    shown = names[:most]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
