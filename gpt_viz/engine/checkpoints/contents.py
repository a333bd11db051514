"""What a checkpoint holds, wherever in it that lies: tensors, settings, alphabet. Knows no layout of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from gpt_viz.engine.checkpoints.containers import Kind, kind_of
from gpt_viz.engine.checkpoints.pickles import read_torch
from gpt_viz.engine.checkpoints.refusals import CheckpointError, listed
from gpt_viz.engine.checkpoints.tensorfiles import read_safetensors

# Where programs put the weights, the settings and the alphabet, the likeliest first.
_WEIGHTS = ("model", "model_state_dict", "state_dict", "model_state", "weights")
_SETTINGS = ("model_args", "config", "model_config", "cfg", "hparams", "args")


@dataclass(slots=True)
class Contents:
    """A file's tensors, with what it says of itself.

    `said` are its settings under the writer's own names, `entry` where they stood (`model_args`); `notes` are the
    texts of a safetensors file; `spelling` is what may hold an alphabet (`chars`, `itos`, ...).
    """

    name: str
    tensors: dict[str, Tensor]
    said: Mapping[str, Any] = field(default_factory=dict)
    entry: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    spelling: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def read(path: Path) -> Contents:
    """What the file holds, its tensors on the CPU. Raises CheckpointError, WantsCode."""
    kind = kind_of(path)
    if kind is Kind.SAFETENSORS:
        tensors, notes = read_safetensors(path)
        return Contents(path.name, tensors, notes=notes)
    return _of_container(path.name, read_torch(path, kind is Kind.ZIP))


def _of_container(name: str, found: Any) -> Contents:
    """Weights alone, or a dictionary that holds them beside other things."""
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{name} is not a checkpoint: it holds a {type(found).__name__}, not named tensors")
    if found and all(isinstance(each, Tensor) for each in found.values()):
        return Contents(name, _named(name, found))
    where = next((each for each in _WEIGHTS if _holds_tensors(found.get(each))), None)
    if where is None:
        loose = [str(each) for each, value in found.items() if isinstance(value, Tensor)]
        inside = f"tensors ({listed(loose)}) among other things" if loose else f"only {listed([*map(str, found)])}"
        raise CheckpointError(f"{name} is not a GPT checkpoint: it holds {inside if found else 'nothing'}")
    said = [(each, found[each]) for each in _SETTINGS if isinstance(found.get(each), Mapping)]
    entry, settings = said[0] if said else ("", {})
    if entry == "config" and isinstance(settings.get("model"), Mapping):  # minGPT keeps them by part
        settings = settings["model"]
    used = {where, *(each for each, _ in said)}
    return Contents(
        name,
        _named(name, found[where]),
        said=settings,
        entry=entry,
        spelling=found,
        left_out=tuple(str(each) for each in found if each not in used),
    )


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(each, Tensor) for each in value.values())


def _named(name: str, found: Mapping[Any, Any]) -> dict[str, Tensor]:
    others = [str(each) for each, value in found.items() if not isinstance(value, Tensor) or not isinstance(each, str)]
    if others:
        raise CheckpointError(f"{name} is not a GPT checkpoint: {listed(others)} among its weights is no tensor")
    return dict(_plain(found))


def _plain(found: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in found.items():
        yield name, tensor.detach()
