"""What training takes of the memory, and how to say that it is too much. Knows no run and no command."""

from __future__ import annotations

import torch

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.devices import SHARE, free_bytes
from gpt_viz.engine.limits import OutOfMemory, explained
from gpt_viz.quantities import size

_BYTES = 4  # float32


class BatchTooLarge(OutOfMemory):
    """The memory does not do for a training step; `field` is `batch`."""

    field = "batch"


def needed_bytes(config: GPTConfig, batch: int) -> int:
    """An estimate of the bytes that a training step of so many windows takes beside the weights, all in float32.

    The gradients and the optimizer's two means of each weight; and what the way back needs of the way there: in each
    layer 16·C numbers a token (norms, query, key and value, the sums, expand and GELU) and every head's attention (T),
    with dropout also what it made of that, and by which factors (2·T + 2·C). The layer that is at work takes its
    scores and wide gradients besides (3·T of each head, 8·C). Then embeddings, and the logits with their log-softmax.
    """
    V, T, C, H, L = config.vocabulary, config.block_size, config.width, config.heads, config.layers
    layer = 16 * C + H * T + (2 * H * T + 2 * C if config.dropout else 0)
    token = L * layer + 3 * H * T + 8 * C + 4 * C + 3 * V
    return _BYTES * (3 * ledger.total(config) + batch * T * token)


def check_room(config: GPTConfig, batch: int, device: torch.device | str) -> None:
    """Refuse a batch that the device has no memory for, before anything is allocated. Raises OutOfMemory."""
    free, needed = free_bytes(device), needed_bytes(config, batch)
    if free is not None and needed > SHARE * free:
        raise _too_much(config, batch, f"{device} has {size(int(SHARE * free))} for it")


def told(error: Exception, config: GPTConfig, batch: int, device: str) -> ValueError | None:
    """The library's error as one sentence, where it is about what the machine can't do; else None."""
    found = explained(error, config, device)
    return _too_much(config, batch, f"{device} ran out of memory") if isinstance(found, OutOfMemory) else found


def _too_much(config: GPTConfig, batch: int, why: str) -> BatchTooLarge:
    return BatchTooLarge(
        f"a training step of {batch:,} windows needs about {size(needed_bytes(config, batch))} beside the weights, and "
        f"{why}; lower the batch{' or the block size' if config.block_size > 1 else ''}"
    )
