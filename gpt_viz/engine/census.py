"""What the real module holds, counted tensor by tensor, and whether the ledger says the same. Knows no forward pass."""

from __future__ import annotations

from torch import nn

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import TensorInfo


def census(model: nn.Module) -> tuple[TensorInfo, ...]:
    """Every parameter in the order in which the module registers them. A shared one counts where it first appears.

    Buffers are no parameters, so they are not in it.
    """
    first: dict[int, str] = {}
    tensors = []
    for name, parameter in model.named_parameters(remove_duplicate=False):
        owner = first.setdefault(id(parameter), name)
        shared_with = "" if owner == name else owner
        count = 0 if shared_with else parameter.numel()
        tensors.append(TensorInfo(name, tuple(parameter.shape), count, shared_with))
    return tuple(tensors)


def total(model: nn.Module) -> int:
    """How many numbers the model has learned or will learn: unique parameters, each counted once."""
    return sum(tensor.count for tensor in census(model))


def weight_bytes(model: nn.Module) -> int:
    """What the unique parameters take on their device, in bytes."""
    return sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())


def agrees(model: nn.Module, config: GPTConfig) -> bool:
    """Whether the ledger's tensors are the module's: names, order, shapes, counts, what is shared, and the sum."""
    promised = ledger.tensors(config)
    found = census(model)
    if len(promised) != len(found) or ledger.total(config) != total(model):
        return False
    return all(
        (spec.name, spec.shape, spec.count, spec.shared_with) == (info.name, info.shape, info.count, info.shared_with)
        for spec, info in zip(promised, found, strict=True)
    )
