"""Which trained weights that ship belong to a model. Knows no view, and opens no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpt_viz import resources
from gpt_viz.config import PRESETS, GPTConfig, Preset

if TYPE_CHECKING:
    from gpt_viz.protocol import ModelInfo

SEED = 1337  # that the untrained model beside them is drawn from


def preset_of_shipped(model: ModelInfo) -> Preset | None:
    """The preset of which there are trained weights that fit a model: of the same sizes, for the same characters."""
    if model.alphabet != resources.alphabet():
        return None
    alike = (each for each in PRESETS.values() if each.characters and _alike(model.config, each.config))
    return next((each for each in alike if resources.checkpoint(each.name) is not None), None)


def fitting(model: ModelInfo) -> Path | None:
    """Those trained weights; None where none ship."""
    preset = preset_of_shipped(model)
    return None if preset is None else resources.checkpoint(preset.name)


def trained_from(model: ModelInfo) -> Path | None:
    """The trained weights that stand beside just this untrained model; None where none ship, or for an opened file."""
    return fitting(model) if model.seed == SEED and not model.source else None


def is_shipped(model: ModelInfo) -> bool:
    """Whether a model that was opened is one of them: it has its sizes, its characters and its file's name."""
    path = fitting(model)
    return path is not None and model.source == path.name


def title_of_shipped(model: ModelInfo) -> str:
    """What such a model is called: as its preset, whatever the file's name is; "" for any other model."""
    preset = preset_of_shipped(model)
    return preset.title if preset is not None and is_shipped(model) else ""


def untrained_config(model: ModelInfo) -> GPTConfig:
    """The sizes and options of the untrained model beside one of them."""
    preset = preset_of_shipped(model)
    return model.config if preset is None else preset.config


def ships(path: str) -> bool:
    """Whether a file is one of them."""
    shipped = filter(None, map(resources.checkpoint, PRESETS))
    return bool(path) and Path(path).resolve() in [each.resolve() for each in shipped]


def _alike(one: GPTConfig, other: GPTConfig) -> bool:
    """Dropout changes no weight, and nothing of a model that is looked at."""
    return replace(one, dropout=0.0) == replace(other, dropout=0.0)
