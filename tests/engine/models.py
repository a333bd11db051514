"""Small models of every kind, for tests that hold another pass against the lesson's own."""

from dataclasses import replace

import torch

from gpt_viz.config import GPTConfig, preset
from gpt_viz.engine.initialise import build

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
CONFIGS = {
    "step5": replace(preset("step5").config, block_size=16, width=32),
    "build-gpt": replace(preset("build-gpt").config, block_size=16, width=32),
    "gpt2": replace(preset("gpt2").config, vocabulary=101, block_size=16, layers=3, heads=4, width=32),
    "tiny": TINY,
    "no biases": replace(TINY, qkv_bias=False, bias=False),
    "own head with bias": replace(TINY, tied_head=False, head_bias=True, gelu="tanh", scale="multiply"),
    "no layers": replace(TINY, layers=0),
    "one token in the vocabulary": replace(TINY, vocabulary=1),
    "a head for each number": replace(TINY, heads=12),
    "one head": replace(TINY, heads=1),
    "one layer": replace(TINY, layers=1),
    "a window of one": replace(TINY, block_size=1),
    "dropout": replace(TINY, dropout=0.5),
}


def model_of(config, seed=0):
    """A model whose every weight is drawn wide, so that a wrong one shows."""
    model = build(config, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return model
