"""A block's weights packed: one matrix for the queries, keys and values of all its heads. Knows no pass.

What is packed while gradients are on hands them back to the model's own weights.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from torch import Tensor, nn

from gpt_viz.engine.model import Block, Head


class Linear(NamedTuple):
    """x·weight + bias, where the weight (in, out) is a view of the model's own (out, in)."""

    weight: Tensor
    bias: Tensor | None


class Layer(NamedTuple):
    """One block's weights. `qkv` is C wide in and 3·C out: all queries, then all keys, then all values."""

    ln1: nn.LayerNorm
    qkv: Linear
    proj: Linear
    ln2: nn.LayerNorm
    expand: Linear
    contract: Linear


def packed(block: Block) -> Layer:
    """The block's weights, its heads' matrices side by side; the others are the model's own tensors."""
    heads = [head for head in block.attn.heads if isinstance(head, Head)]
    maps = [getattr(head, name) for name in ("query", "key", "value") for head in heads]
    bias = torch.cat([each.bias for each in maps]) if maps[0].bias is not None else None
    return Layer(
        ln1=block.ln1,
        qkv=Linear(torch.cat([each.weight for each in maps]).t(), bias),
        proj=_own(block.attn.proj),
        ln2=block.ln2,
        expand=_own(block.mlp.fc),
        contract=_own(block.mlp.proj),
    )


def linear(x: Tensor, weights: Linear, out: Tensor | None = None) -> Tensor:
    """x (T, in) through the weights: (T, out)."""
    if weights.bias is None:
        return torch.mm(x, weights.weight, out=out)
    return torch.addmm(weights.bias, x, weights.weight, out=out)


def norm(weights: nn.LayerNorm, x: Tensor) -> Tensor:
    """LayerNorm of each row of x (T, C)."""
    return F.layer_norm(x, weights.normalized_shape, weights.weight, weights.bias, weights.eps)


def _own(weights: nn.Linear) -> Linear:
    return Linear(weights.weight.t(), weights.bias)
