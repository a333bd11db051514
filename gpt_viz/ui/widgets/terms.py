"""The terms of a sum as a list needs them: what each adds, and how each is written. Knows no widget and no model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NAME, NUMBER, SIGN, RESULT = "name", "number", "sign", "result"
LARGEST_FIRST, IN_ORDER = "largest", "order"


@dataclass(frozen=True, slots=True)
class Piece:
    """One column of the terms; of those with `hides` above 0 the highest is the first to go where room is short.

    One that is `instead` of another, by its number, is shown only where that one has gone.
    """

    style: str
    hides: int = 0
    instead: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The terms of one sum. `amounts` (n,) is what each adds; `row(k)` writes the k-th, a text for each piece."""

    title: str
    amounts: npt.NDArray[np.float64]
    pieces: tuple[Piece, ...]
    row: Callable[[int], tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.amounts)

    def order(self, by: str) -> npt.NDArray[np.intp]:
        """The terms' numbers: as they come, or those first that add or take most; NaN counts as the most."""
        if by == IN_ORDER:
            return np.arange(len(self))
        return np.argsort(-np.nan_to_num(np.abs(self.amounts), nan=np.inf), kind="stable")

    @property
    def signed(self) -> bool:
        """Whether some of the terms take away."""
        return bool((self.amounts < 0).any())

    def most(self) -> float:
        """What the largest finite term adds or takes; 0 where there is none."""
        finite = np.abs(self.amounts[np.isfinite(self.amounts)])
        return float(finite.max()) if finite.size else 0.0
