"""The order in which the heads of a layer are packed into one matrix. Knows no pass."""

from __future__ import annotations

from torch import nn

from gpt_viz.engine.model import Head, MultiHeadAttention


def query_key_value(attention: MultiHeadAttention) -> list[nn.Linear]:
    """The matrices of all heads: all queries, then all keys, then all values, each in the heads' order."""
    heads = [head for head in attention.heads if isinstance(head, Head)]
    return [getattr(head, name) for name in ("query", "key", "value") for head in heads]
