"""How well a model predicts a text that it is not trained on. Knows no run and no command."""

from __future__ import annotations

from collections.abc import Generator

import torch
from torch import Tensor

from gpt_viz.engine.model import GPT
from gpt_viz.engine.taps import device_of, evaluating, stashing

EVALUATION_BATCH = 64


def windows_in(tokens: int, window: int) -> int:
    """How many windows that do not overlap so many tokens hold, each with its next token."""
    return max(tokens - 1, 0) // window


def evaluate(
    model: GPT, ids: Tensor, windows: int | None = None, batch: int = EVALUATION_BATCH
) -> Generator[None, None, float]:
    """The mean loss over the ids (n,) in nats per token, cut into windows that do not overlap; yields between batches.

    At most `windows` of them, spread evenly, `batch` at a time. nan where the ids hold no window and its next token.
    """
    N = model.config.block_size
    device = device_of(model)
    count = windows_in(len(ids), N)
    if count == 0:
        return float("nan")
    starts = torch.arange(count) * N
    if windows is not None and windows < count:
        starts = starts[torch.linspace(0, count - 1, windows).round().long()]
    total = 0.0
    for chosen in torch.split(starts, batch):
        texts = ids[chosen[:, None] + torch.arange(N + 1)].to(device)
        with evaluating(model), stashing(model, False):
            _, loss = model(texts[:, :-1], texts[:, 1:])
        assert loss is not None  # targets were given
        total += loss.item() * len(chosen)
        yield
    return total / len(starts)
