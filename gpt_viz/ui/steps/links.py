"""What in one view belongs to what in another: the step a parameter is for, the module a step is computed by.

Knows names and the ledger, and no view.
"""

from __future__ import annotations

import re

from gpt_viz import ledger
from gpt_viz.config import GPTConfig

_COMPUTES = {"mlp.fc": "mlp.expand", "mlp.proj": "mlp.contract", "head": "logits"}


def step_of(parameter: str) -> str:
    """The step of a pass that a tensor, its module or a whole head is for: "" for a group, which is for many.

    >>> step_of("blocks.1.attn.heads.2.query.weight")
    'blocks.1.attn.heads.2.q'
    """
    module = re.sub(r"\.(weight|bias)$", "", parameter)
    head = re.fullmatch(r"(blocks\.\d+\.attn\.heads\.\d+)(?:\.(key|query|value))?", module)
    if head:
        return f"{head[1]}.{head[2][0] if head[2] else 'A'}"
    block = re.fullmatch(r"(blocks\.\d+)\.(ln1|attn\.proj|ln2|mlp\.fc|mlp\.proj)", module)
    if block:
        return f"{block[1]}.{_COMPUTES.get(block[2], block[2])}"
    outside = ("token_embedding", "position_embedding", "ln_f", "head")
    return _COMPUTES.get(module, module) if module in outside else ""


def module_of(step: str, config: GPTConfig) -> str:
    """The module that computes a step; "" for none, and for a step of a model with more blocks than this one."""
    try:
        steps = ledger.steps(config)
        return steps[steps.index_of(step)].module
    except ValueError:
        return ""


def has_step(config: GPTConfig, step: str) -> bool:
    """Whether a pass through such a model has the step."""
    try:
        return ledger.steps(config).index_of(step) >= 0
    except ValueError:
        return False
