"""Writing on after a text, in the plainest way: the whole window is passed for every token. Knows no command.

`fast.py` and `sampling.py` draw the same text with far less work; tests hold them to this loop.
"""

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from torch import Generator, Tensor

from gpt_viz.engine.model import GPT


@torch.no_grad()
def generate(
    model: GPT, ids: Tensor, tokens: int, temperature: float = 1.0, top_k: int = 0, generator: Generator | None = None
) -> Tensor:
    """Draw `tokens` more after `ids` (B, T) and return them all, (B, T + tokens). The model is to be in eval mode.

    `temperature` 0 takes the likeliest token; `top_k` 0 leaves all in the draw. The generator is one of the CPU.
    """
    for _ in range(tokens):
        window = ids[:, -model.config.block_size :]  # (B, T), T ≤ N
        logits, _ = model(window)  # (B, T, V)
        last = logits[:, -1].cpu()  # (B, V)
        if top_k:
            kept = last.topk(min(top_k, last.shape[-1]))  # (B, k)
            last = torch.full_like(last, float("-inf")).scatter(-1, kept.indices, kept.values)  # (B, V)
        if temperature == 0:
            drawn = last.argmax(-1, keepdim=True)  # (B, 1)
        else:
            probabilities = F.softmax(last / temperature, dim=-1)  # (B, V)
            drawn = torch.multinomial(probabilities, 1, generator=generator)  # (B, 1)
        ids = torch.cat([ids, drawn.to(ids.device)], dim=1)  # (B, T + 1)
    return ids
