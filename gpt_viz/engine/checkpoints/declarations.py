"""What a checkpoint says of its model, under each program's names, in ours. Knows no tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpt_viz.config import CHOICES, RANGES, parse_setting
from gpt_viz.engine.checkpoints.report import Report

_NAMES: dict[str, tuple[str, ...]] = {
    "vocabulary": ("vocab_size", "vocabulary", "V"),
    "block_size": ("block_size", "n_positions", "n_ctx", "context_length", "T", "N"),
    "layers": ("n_layer", "n_layers", "layers", "L"),
    "heads": ("n_head", "n_heads", "heads", "H"),
    "width": ("n_embd", "n_embed", "d_model", "width", "d", "C"),
}
_FLAGS: dict[str, tuple[str, ...]] = {
    "qkv_bias": ("qkv_bias",),
    "bias": ("bias",),
    "head_bias": ("head_bias",),
    "tied_head": ("tied_head", "tie_word_embeddings"),
}
_DROPOUT = ("dropout", "resid_pdrop")
# nanoGPT's `bias` is that of every layer; ours knows two.
_FUSED_BIAS = ("model_args", "config")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person who opens the file says of it: settings by our names, and the alphabet."""

    settings: Mapping[str, Any]
    alphabet: tuple[str, ...] | None = None


def asked(settings: tuple[str, ...]) -> Asked:
    """`("heads=4", "alphabet=ABC")` taken apart; an alphabet is taken as it stands. Raises ConfigError."""
    found: dict[str, Any] = {}
    alphabet = None
    for setting in settings:
        name, sign, text = setting.partition("=")
        if name.strip() == "alphabet" and sign:
            alphabet = tuple(text)
        else:
            name, value = parse_setting(setting)
            found[name] = value
    return Asked(found, alphabet)


def declared(said: Mapping[str, Any], entry: str, report: Report) -> dict[str, Any]:
    """The settings that a file states, by our names. What is no setting of a model is left out, and reported."""
    found: dict[str, Any] = {}
    used: set[str] = set()
    for field, names in _NAMES.items():
        for name in names:
            value = said.get(name)
            if type(value) is int and field not in found:
                found[field] = value
                used.add(name)
    for field, names in _FLAGS.items():
        for name in names:
            if type(said.get(name)) is bool:
                found[field] = said[name]
                used.add(name)
    if "bias" in found and entry in _FUSED_BIAS:
        found["qkv_bias"] = found["bias"]
    for name in _DROPOUT:
        value = said.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1:
            found.setdefault("dropout", float(value))
            used.add(name)
    for field, allowed in CHOICES.items():
        if said.get(field) in allowed:
            found[field] = said[field]
            used.add(field)
    # A training config has dozens of entries that are none of the model; its model_args have only such.
    if entry != "config":
        report.ignored([str(name) for name in said if name not in used], f"settings in {entry or 'the file'}")
    return found


SIZES = tuple(RANGES)
