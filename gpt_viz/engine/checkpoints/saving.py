"""Writes a model to a file, whole or not at all: what was there before stays until the new file is complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from gpt_viz.engine.checkpoints import own
from gpt_viz.engine.checkpoints.contents import read
from gpt_viz.engine.checkpoints.location import located
from gpt_viz.engine.checkpoints.recognition import KEPT_STATE
from gpt_viz.engine.checkpoints.refusals import CheckpointError
from gpt_viz.engine.checkpoints.tensorfiles import write_safetensors
from gpt_viz.engine.model import GPT


def save(
    path: str | Path,
    model: GPT,
    *,
    alphabet: tuple[str, ...] | None,
    seed: int,
    history: own.History | None = None,
    tokenizer: str | None = None,
    state: Mapping[str, Tensor] | None = None,
) -> int:
    """Write the model in our own format, as it is at this moment. Returns the file's size in bytes.

    `history` is any JSON object: what was done to the model since it was drawn from `seed`. `state` are
    tensors that a training run goes on from; an opened model does without them. Raises CheckpointError.
    """
    target = Path(os.path.realpath(path))  # a link goes on pointing to the file
    check_writable(target)
    tensors: dict[str, Tensor] = dict(model.named_parameters())
    tensors |= {f"{KEPT_STATE}{name}": each for name, each in (state or {}).items()}
    texts = own.written(model.config, alphabet, tokenizer, seed, history or {})
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(part, "xb") as file:
            write_safetensors(file, tensors, texts)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except OSError as error:
        raise CheckpointError(f"{path} could not be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def kept_state(path: str | Path) -> dict[str, Tensor]:
    """The `state` that a file of ours was saved with; empty where it has none. Raises CheckpointError."""
    tensors = read(located(Path(path)).weights).tensors
    return {
        name.removeprefix(KEPT_STATE): each.clone() for name, each in tensors.items() if name.startswith(KEPT_STATE)
    }


def check_writable(path: Path) -> None:
    """Raise CheckpointError where no file can be written at this path, before any work is done for it."""
    try:
        if path.is_dir():
            raise CheckpointError(f"{path} is a folder; give the name of a file")
        if path.exists() and not path.is_file():
            raise CheckpointError(f"{path} is not an ordinary file")
        if not path.parent.is_dir():
            raise CheckpointError(f"there is no folder {path.parent} to write {path.name} to")
    except OSError as error:
        raise CheckpointError(f"{path} can't be written: {error.strerror or error}") from None
    if not os.access(path.parent, os.W_OK):
        raise CheckpointError(f"no permission to write to the folder {path.parent}")
