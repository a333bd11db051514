"""Which weights belong to what is selected: a tensor, a module with its weight and bias, or a head's three matrices.

Knows names and the ledger, and no view.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ui.selection import Selection
from gpt_viz.ui.steps.links import module_of

_HEAD = re.compile(r"(blocks\.\d+\.attn\.heads\.\d+)\.(?:query|key|value)\.(?:weight|bias)")
_IN_BLOCK = ("ln1", "", "attn.proj", "ln2", "mlp.fc", "mlp.proj")  # "" is the chosen head


def place_of(selection: Selection, config: GPTConfig) -> str:
    """The place whose weights are meant; "" where what is selected has none. A group stands for its first module, of
    the selected layer and head.

    >>> place_of(Selection(parameter="blocks.*.mlp.*", layer=2), GPTConfig())
    'blocks.2.mlp.fc'
    """
    wanted = selection.parameter or module_of(selection.step, config)
    if not wanted:
        return ""
    if is_tensor(wanted, config):
        return wanted
    block = re.match(r"blocks\.(\d+)", wanted)
    layer = int(block[1]) if block else selection.layer
    for module in _modules(config, layer, selection.head, wanted):
        own = f"{module}.query.weight" if ".heads." in module else f"{module}.weight"
        if module == wanted or module.startswith(f"{wanted}.") or fnmatchcase(own, wanted):
            return module
    return ""


def first_place(config: GPTConfig) -> str:
    """Where to begin: the first head, or without layers the token embedding."""
    return "blocks.0.attn.heads.0" if config.layers else "token_embedding"


def exists(place: str, config: GPTConfig) -> bool:
    """Whether a model has the place."""
    return bool(place) and place_of(Selection(parameter=place), config) == place


def owner(tensor: str, config: GPTConfig) -> str:
    """The place that shows the tensor beside others: its head, or its module with weight and bias; "" where there is
    nothing to show beside it."""
    if not is_tensor(tensor, config):
        return ""
    head = _HEAD.fullmatch(tensor)
    if head:
        return head[1]
    module, _, kind = tensor.rpartition(".")
    return module if is_tensor(f"{module}.{'bias' if kind == 'weight' else 'weight'}", config) else ""


def is_tensor(name: str, config: GPTConfig) -> bool:
    """Whether that is the name of a single tensor."""
    try:
        return ledger.tensors(config).index_of(name) >= 0
    except ValueError:
        return False


def _modules(config: GPTConfig, layer: int, head: int, wanted: str) -> Iterator[str]:
    """The modules outside the blocks and those of one block, of whose heads there is one."""
    yield from ("token_embedding", "position_embedding")
    if layer < config.layers:
        named = re.search(r"\.heads\.(\d+)", wanted)
        number = int(named[1]) if named else min(head, config.heads - 1)
        for part in _IN_BLOCK:
            if part:
                yield f"blocks.{layer}.{part}"
            elif number < config.heads:
                yield f"blocks.{layer}.attn.heads.{number}"
    yield from ("ln_f", "head")
