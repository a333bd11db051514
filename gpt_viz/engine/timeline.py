"""The weights of one model at points along its training, to go back to. Knows no run, no command and no event.

Dense at first, since that is when a model changes most, then sparser; when the memory that they may take is full, the
moment goes that lies closest between its neighbours, measured as a share of the way. The first one never goes.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from gpt_viz.engine.model import GPT

LIMIT_BYTES = 256 * 2**20
# The next moment is due when the run is longer by this share.
SPACING = 1 / 20
# As many moments at least can be held, however large the model: the untrained one and one on the way.
LEAST = 2


class NoMoment(ValueError):  # noqa: N818 (what it is says more than "Error")
    """The weights of that step were not kept; the message names the nearest ones that were."""


class Timeline:
    """Moments of one model by their step, each all of its weights in one tensor (total,) on the CPU.

    They take at most `limit_bytes`, or what LEAST of them take where that is more.
    """

    def __init__(self, model: GPT, limit_bytes: int = LIMIT_BYTES) -> None:
        self.limit_bytes = limit_bytes
        self._parameters = list(model.parameters())
        self._moments: dict[int, Tensor] = {}
        each = sum(parameter.numel() * parameter.element_size() for parameter in self._parameters)
        self._most = max(LEAST, limit_bytes // each)

    def __len__(self) -> int:
        return len(self._moments)

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps whose weights are kept, rising."""
        return tuple(self._moments)

    @property
    def bytes(self) -> int:
        """What all of them take."""
        return sum(moment.nbytes for moment in self._moments.values())

    def wants(self, step: int) -> bool:
        """Whether it is time to keep the weights again."""
        return not self._moments or step - next(reversed(self._moments)) >= max(1, int(step * SPACING))

    def keep(self, step: int, weights: Tensor | None = None) -> None:
        """Keep `weights` (None: as they are now) for a step after those kept; another moment may have to go."""
        self._moments[step] = self.now() if weights is None else weights
        if len(self._moments) > self._most:
            del self._moments[self._dispensable()]

    def forget(self) -> None:
        """Forget all but the first moment."""
        for step in self.steps[1:]:
            del self._moments[step]

    def now(self) -> Tensor:
        """A copy of all weights as they are now, (total,) on the CPU."""
        return flat(self._parameters)

    def at(self, step: int) -> Tensor:
        """The weights after so many steps. Raises NoMoment. Not to be changed."""
        if step not in self._moments:
            raise NoMoment(f"the weights after step {step:,} were not kept; {self._nearest(step)}")
        return self._moments[step]

    def put(self, weights: Tensor) -> None:
        """Give the model these weights (total,), bit for bit."""
        parts = torch.split(weights, [parameter.numel() for parameter in self._parameters])
        with torch.no_grad():
            for parameter, part in zip(self._parameters, parts, strict=True):
                parameter.copy_(part.view_as(parameter))

    def _dispensable(self) -> int:
        """The step that is missed least: its neighbours are closest, as a share of the way. Never the first or last."""
        steps = self.steps
        threes = zip(steps, steps[1:], steps[2:], strict=False)
        return min(threes, key=lambda three: (three[2] - three[0]) / (three[1] + 1 / SPACING))[1]

    def _nearest(self, step: int) -> str:
        near = sorted(self._moments, key=lambda each: abs(each - step))[:2]
        return f"the nearest that were are {' and '.join(f'{each:,}' for each in sorted(near))}" if near else "none was"


def flat(parameters: Iterable[Tensor]) -> Tensor:
    """A copy of these weights in one tensor (total,) on the CPU."""
    with torch.no_grad():
        return torch.cat([parameter.detach().reshape(-1) for parameter in parameters]).to("cpu")
