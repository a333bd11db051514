"""What a run needs to go on after its program has ended, as named tensors and plain values. Knows no file.

With the weights themselves and the text, it makes the run go on with the same numbers as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from torch import Tensor

from gpt_viz.config import ConfigError
from gpt_viz.engine.training import Trainer, TrainingError
from gpt_viz.schedule import TrainingSettings

_MEANS = ("exp_avg", "exp_avg_sq")
_STATES = ("draws", "dropout", "device_dropout")


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """What is left of a run from another start of the program: its settings, its text's sha256, its first moment."""

    settings: TrainingSettings
    sha256: str
    first: int
    made: int
    tensors: Mapping[str, Tensor]


def state_of(trainer: Trainer) -> dict[str, Tensor]:
    """The optimizer's means and the random numbers' states, by name; each a copy on the CPU."""
    state = trainer.state()
    found = {
        f"optimizer.{number}.{name}": value
        for number, means in sorted(state["optimizer"].items())
        for name, value in sorted(means.items())
    }
    found |= {name: state[name] for name in _STATES if state[name] is not None}
    return {name: value.detach().to("cpu", copy=True) for name, value in found.items()}


def put_back(trainer: Trainer, rest: Rest) -> None:
    """Let a new trainer go on where that run stopped. Raises TrainingError where the state is not one of its kind."""
    means: dict[int, dict[str, Tensor]] = {}
    for name, value in rest.tensors.items():
        kind, *rest_of_name = name.split(".")
        if kind == "optimizer" and len(rest_of_name) == 2 and rest_of_name[0].isdecimal():
            means.setdefault(int(rest_of_name[0]), {})[rest_of_name[1]] = value
    parameters = list(trainer.parameters())
    good = (not means and rest.made == 0) or set(means) == set(range(len(parameters)))
    for place, each in means.items():
        good = good and set(each) == {"step", *_MEANS}
        good = good and all(each[mean].shape == parameters[place].shape for mean in _MEANS)
    if not good or not {"draws", "dropout"} <= set(rest.tensors):
        raise TrainingError("the file does not hold what this run needs to go on; begin a new one")
    random = {name: rest.tensors.get(name) for name in _STATES}
    trainer.restore({"step": rest.made, "optimizer": means, **random})


def rest_of(history: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Rest | None:
    """What a checkpoint's history and state say of its last run; None where it can't go on."""
    runs = history.get("runs")
    if not tensors or not isinstance(runs, list) or not runs or not isinstance(runs[-1], dict):
        return None
    last = runs[-1]
    try:
        settings = settings_of(last["settings"])
        first, made, sha256 = last["first"], last["steps"], last["sha256"]
    except (KeyError, TypeError, ConfigError):
        return None
    if not isinstance(first, int) or not isinstance(made, int) or not isinstance(sha256, str):
        return None
    return Rest(settings, sha256, first, made, dict(tensors))


def settings_of(values: Mapping[str, Any]) -> TrainingSettings:
    """The settings that a history tells. Raises ConfigError for values that can't be, KeyError for missing ones."""
    return TrainingSettings(**{each.name: values[each.name] for each in fields(TrainingSettings)})
