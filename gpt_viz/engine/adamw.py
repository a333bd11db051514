"""AdamW: each weight goes down its own gradient, by a step that the gradient's recent size has scaled. Knows no run.

The numbers are those of `torch.optim.AdamW` (on a CPU with `fused=True`), since its own function makes them. The class
itself is left alone: the first one that is made imports all of torch's compiler, which takes seconds in which nothing
else can run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.autograd.graph import increment_version
from torch.optim.adamw import adamw

BETAS = (0.9, 0.99)
EPSILON = 1e-8

# What is remembered of each weight: how many steps, and the running means of its gradient and of that squared.
State = dict[str, Tensor]


@dataclass(slots=True)
class Group:
    """Weights that share a weight decay, with what is remembered of each."""

    weights: Sequence[Tensor]
    weight_decay: float
    states: list[State] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [
            {
                "step": torch.zeros((), dtype=torch.float32),
                "exp_avg": torch.zeros_like(weight, requires_grad=False),
                "exp_avg_sq": torch.zeros_like(weight, requires_grad=False),
            }
            for weight in self.weights
        ]


class AdamW:
    """Steps over groups of weights. Source: Loshchilov and Hutter, "Decoupled weight decay regularization"."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = tuple(groups)

    @property
    def weights(self) -> list[Tensor]:
        """All weights in the order in which `state` counts them."""
        return [weight for group in self._groups for weight in group.weights]

    def step(self, rate: float) -> None:
        """Move every weight that has a gradient, once."""
        for group in self._groups:
            moved = [
                (weight, weight.grad, state)
                for weight, state in zip(group.weights, group.states, strict=True)
                if weight.grad is not None
            ]
            # One pass over each weight in place of a dozen; elsewhere torch chooses by itself.
            fused = all(weight.device.type == "cpu" for weight, _, _ in moved) or None
            with torch.no_grad():
                adamw(
                    [weight for weight, _, _ in moved],
                    [gradient for _, gradient, _ in moved],
                    [state["exp_avg"] for _, _, state in moved],
                    [state["exp_avg_sq"] for _, _, state in moved],
                    [],
                    [state["step"] for _, _, state in moved],
                    amsgrad=False,
                    beta1=BETAS[0],
                    beta2=BETAS[1],
                    lr=rate,
                    weight_decay=group.weight_decay,
                    eps=EPSILON,
                    maximize=False,
                    fused=fused,
                )
            for weight, _, _ in moved if fused else ():
                increment_version(weight)  # the fused kernel leaves that out, and others see by it that weights changed

    def state(self) -> dict[int, State]:
        """What is remembered of each weight, by its number; not copied."""
        return dict(enumerate(state for group in self._groups for state in group.states))

    def restore(self, states: Mapping[int, State]) -> None:
        """Go on from what another one remembered of weights of the same shapes; what is missing begins anew."""
        for number, state in self.state().items():
            for name, kept in state.items():
                if number in states:
                    kept.copy_(states[number][name])
                else:
                    kept.zero_()
