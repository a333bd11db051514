"""Where the parts of a checkpoint lie: a file by itself, or a folder of them. Reads no weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from gpt_viz.engine.checkpoints.contents import Contents, read
from gpt_viz.engine.checkpoints.huggingface import CONFIG, read_json, stated
from gpt_viz.engine.checkpoints.refusals import CheckpointError, listed

_WHOLE = ("model.safetensors", "pytorch_model.bin")
_SHARDED = tuple(f"{name}.index.json" for name in _WHOLE)
# What is written beside a config.json that describes it.
_DESCRIBED = (*_WHOLE, "model.pt")
_SUFFIXES = (".safetensors", ".pt", ".pth", ".ckpt", ".bin")


@dataclass(frozen=True, slots=True)
class Location:
    """The file of the weights (or the index of its shards), and whether a config.json and a tokenizer belong to it."""

    weights: Path
    described: bool

    @property
    def folder(self) -> Path:
        """Where the other files lie."""
        return self.weights.parent


def located(path: Path) -> Location:
    """The files of a checkpoint, given one of them or their folder. Raises CheckpointError."""
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if not is_folder:
        return Location(path, path.name in (*_DESCRIBED, *_SHARDED))
    for name in (*_WHOLE, *_SHARDED):
        if (path / name).is_file():
            return Location(path / name, True)
    try:
        files = sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES and each.is_file())
    except OSError as error:
        raise CheckpointError(f"the folder {path} could not be read: {error.strerror or error}") from None
    if len(files) == 1:
        return Location(files[0], files[0].name in _DESCRIBED)
    if files:
        raise CheckpointError(
            f"the folder {path.name} holds {len(files)} checkpoints, {listed([each.name for each in files])}; open one"
        )
    raise CheckpointError(f"the folder {path.name} holds no {_WHOLE[0]}, no {_WHOLE[1]} and no other checkpoint")


def contents_of(place: Location) -> Contents:
    """All the weights there, with what is said of them. Raises CheckpointError, WantsCode."""
    found = _shards(place.weights) if place.weights.name in _SHARDED else read(place.weights)
    config = place.folder / CONFIG
    if place.described and not found.said and "gpt_viz" not in found.notes and config.is_file():
        said = stated(read_json(config), CONFIG)
        return replace(found, said=said, entry=CONFIG)
    return found


def _shards(index: Path) -> Contents:
    """The tensors of all files that an index names."""
    table: Any = read_json(index).get("weight_map")
    if not isinstance(table, dict) or not all(isinstance(each, str) for each in table.values()):
        raise CheckpointError(f"{index.name} is damaged: it lists no files")
    names = sorted(set(table.values()))
    for name in names:
        if PurePath(name).name != name or "\\" in name:
            raise CheckpointError(f"{index.name} names a file in another folder: {name}")
    whole = Contents(index.parent.name or index.name, {})
    for name in names:
        whole.tensors.update(read(index.parent / name).tensors)
    return whole
