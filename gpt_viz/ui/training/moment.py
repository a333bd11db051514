"""Which weights the model under study had: what was made with them is told apart from what others make of it.

Knows no weights and no view.
"""

from __future__ import annotations

from typing import NamedTuple


class Moment(NamedTuple):
    """Equal where the weights are the same ones, as long as the model is: `origin` counts how often training began
    anew, 0 for the weights before any of it; `step` is how many steps they have had.
    """

    origin: int
    step: int

    def became(self, later: Moment) -> bool:
        """Whether training made the later weights of these."""
        return self.origin in (0, later.origin) and self.step < later.step
