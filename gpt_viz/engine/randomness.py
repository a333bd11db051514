"""torch's global random numbers, lent to one job for a while. Knows no model.

Dropout takes no generator: it draws from the global one, which is everybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import torch
from torch import Tensor

# The states of the global generators: the CPU's, and the device's where it has one of its own.
Random: TypeAlias = tuple[Tensor, Tensor | None]


@contextmanager
def own_randomness(state: Random | None, device: torch.device) -> Iterator[Callable[[], Random]]:
    """torch's global generators set to `state` within and to what they were afterwards; yields how to get the new one.

    That of the CPU and, where the device has one of its own, the device's.
    """
    before = random_state(device)
    reached: list[Random] = []
    if state is not None:
        _set(state, device)
    try:
        yield lambda: reached[0]
    finally:
        reached.append(random_state(device))
        _set(before, device)


def random_state(device: torch.device) -> Random:
    """Where the global generators stand that work on this device draws from."""
    own = {"cuda": torch.cuda.get_rng_state, "mps": lambda _: torch.mps.get_rng_state()}.get(device.type)
    return torch.get_rng_state(), None if own is None else own(device)


def _set(state: Random, device: torch.device) -> None:
    torch.set_rng_state(state[0])
    if state[1] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(state[1], device)
    elif state[1] is not None:
        torch.mps.set_rng_state(state[1])
