"""Ids as a model may be given them: checked on the CPU, before any device sees them. Knows no model and no text.

On a GPU one id outside the vocabulary ends the whole process, so the check comes first, and everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from gpt_viz.config import GPTConfig

Ids: TypeAlias = Tensor | Sequence[int] | Sequence[Sequence[int]]


class IdsError(ValueError):
    """Ids that the model can't read; the message says which and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.field = "text"


def check_ids(ids: Ids, config: GPTConfig) -> Tensor:
    """The ids as a tensor (B, T) int64 on the CPU; one text may be given as a plain list.

    Raises IdsError where they are no whole numbers, none at all, more than the block size, or not in the vocabulary.
    """
    try:
        tensor = torch.as_tensor(ids).to("cpu")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise IdsError("ids must be whole numbers, as many in each text of the batch") from error
    if tensor.numel() == 0:
        raise IdsError("there are no ids; the model needs one at least")
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        kind = str(tensor.dtype).removeprefix("torch.")
        raise IdsError(f"ids must be whole numbers, not {kind}")
    if tensor.dim() not in (1, 2):
        raise IdsError(f"ids must be one text (T) or a batch of texts (B, T), not {tensor.dim()} axes")
    tensor = tensor.to(torch.int64).reshape(-1, tensor.shape[-1])
    T, N = tensor.shape[-1], config.block_size
    if T > N:
        raise IdsError(f"{T:,} ids are more than the block size of {N:,}; give the last {N:,}")
    outside = (tensor < 0) | (tensor >= config.vocabulary)
    if outside.any():
        at = int(outside.flatten().nonzero()[0])
        raise IdsError(
            f"id {int(tensor.flatten()[at])} at position {at % T} is not in the vocabulary; "
            f"ids go from 0 to {config.vocabulary - 1:,}"
        )
    return tensor
