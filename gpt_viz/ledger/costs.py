"""What a model costs: bytes and multiply-adds, by formula. Knows no torch and no machine."""

from __future__ import annotations

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.table import total

BYTES_PER_NUMBER = 4  # float32


def weight_bytes(config: GPTConfig, bytes_per_number: int = BYTES_PER_NUMBER) -> int:
    """What the weights take, in bytes."""
    return total(config) * bytes_per_number


def needed_bytes(config: GPTConfig) -> int:
    """An estimate of the bytes it takes to build the model and to run one pass over N tokens, all in float32.

    The weights count twice: the module's own and the packed copy that fast sampling makes. Of the pass it counts what
    is alive at once: every head's stashed attention (L·H·N²), the mask (N² bytes), the residual stream with what is
    added to it (4·N·C), and the largest of three moments: one head at work (products, scores, masked: 3·N²), a
    feed-forward layer (expand and GELU: 8·N·C), the logits with their log-softmax for the loss (2·N·V). Torch's own
    few hundred MB are not in it.
    """
    V, N, C, H, L = config.vocabulary, config.block_size, config.width, config.heads, config.layers
    moments = [2 * N * V] + ([3 * N * N, 8 * N * C] if L else [])
    numbers = L * H * N * N + 4 * N * C + max(moments)
    return 2 * weight_bytes(config) + numbers * BYTES_PER_NUMBER + N * N


def multiply_adds(config: GPTConfig, tokens: int | None = None) -> int:
    """Multiply-adds of the matrix products of one pass over `tokens` (N if not given), attention counted full.

    Per layer 12·T·C² for the matrices and 2·T²·C for q·kᵀ and A·v, then T·C·V for the head.
    """
    T = config.block_size if tokens is None else tokens
    V, C, L = config.vocabulary, config.width, config.layers
    return L * (12 * T * C * C + 2 * T * T * C) + T * C * V


def multiply_adds_per_token(config: GPTConfig) -> float:
    """Multiply-adds of one pass over N tokens, divided by N."""
    return multiply_adds(config) / config.block_size
