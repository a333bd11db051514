"""Which trained weights that ship belong to a model. Knows no view, and opens no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpt_viz import resources
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.protocol import ModelInfo

SEED = 1337  # that all of them were drawn from before they were trained


def fitting(model: ModelInfo) -> Path | None:
    """The trained weights of a model of the same sizes that reads the same characters; None where none ship.

    >>> resources.checkpoint("no such weights") is None
    True
    """
    if model.alphabet != resources.alphabet():
        return None
    found = (name for name, preset in PRESETS.items() if preset.characters and _alike(model.config, preset.config))
    return next(filter(None, map(resources.checkpoint, found)), None)


def trained_from(model: ModelInfo) -> Path | None:
    """The trained weights whose training began with just this model; None where none ship, or for an opened file."""
    return fitting(model) if model.seed == SEED and not model.source else None


def is_shipped(model: ModelInfo) -> bool:
    """Whether a model that was opened is one of them: it has its sizes, its characters and its file's name."""
    path = fitting(model)
    return path is not None and model.source == path.name


def ships(path: str) -> bool:
    """Whether a file is one of them."""
    return bool(path) and any(str(resources.checkpoint(name) or "") == path for name in PRESETS)


def _alike(one: GPTConfig, other: GPTConfig) -> bool:
    """Dropout changes no weight, and nothing of a model that is looked at."""
    return replace(one, dropout=0.0) == replace(other, dropout=0.0)
