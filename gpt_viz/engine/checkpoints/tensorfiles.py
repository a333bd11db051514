"""The safetensors format, read: named tensors and texts; nothing in it can be code. Knows no model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from gpt_viz.engine.checkpoints.refusals import CheckpointError


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    """The tensors, mapped and not yet read, and the writer's texts. Raises CheckpointError for a damaged file."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118 (no mapping)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OSError):
        raise CheckpointError(
            f"{path.name} could not be read as a checkpoint: probably it is damaged; fetch it again"
        ) from None
