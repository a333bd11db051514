"""What the config.json of Hugging Face's GPT-2 says, in our names, and what of it this program can't do.

Knows no tensor. Only what changes the numbers is looked at; a config.json has dozens of entries that do not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpt_viz.engine.checkpoints.refusals import CheckpointError

CONFIG = "config.json"
_LARGEST = 2**20
_GELU = {
    "gelu_new": "tanh",
    "gelu_pytorch_tanh": "tanh",
    "gelu_fast": "tanh",
    "gelu": "exact",
    "gelu_python": "exact",
}
# Entries that change the computation, and the only value of each that is ours.
_FIXED: dict[str, Any] = {
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds one object. Raises CheckpointError."""
    try:
        if path.stat().st_size > _LARGEST * 64:
            raise CheckpointError(f"{path.name} is too large")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"{path.name} could not be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{path.name} is damaged: it is no JSON; probably an incomplete download") from None
    if not isinstance(found, dict):
        raise CheckpointError(f"{path.name} is not the description of a model")
    return found


def stated(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a config.json says of a model, as entries that `declared` knows. Raises CheckpointError where not GPT-2."""
    kind = config.get("model_type")
    if kind is None and isinstance(config.get("model"), Mapping):  # minGPT writes one as well
        return dict(config["model"])
    if kind not in (None, "gpt2"):
        raise CheckpointError(f"{name} describes a model of the type {kind!r}, not GPT-2")
    for entry, ours in _FIXED.items():
        if config.get(entry, ours) != ours:
            raise CheckpointError(
                f"{name} says {entry} = {json.dumps(config[entry])}, and this program's models have {json.dumps(ours)}"
            )
    activation = config.get("activation_function", "gelu_new")
    if activation not in _GELU:
        raise CheckpointError(f"{name} says that the activation is {activation!r}; this program has only GELU")
    width, inner = config.get("n_embd"), config.get("n_inner")
    if inner is not None and width is not None and inner != 4 * width:
        raise CheckpointError(
            f"{name} says that the feed-forward layers are {inner} wide; this program's are four times {width}"
        )
    return {**config, "gelu": _GELU[activation]}
