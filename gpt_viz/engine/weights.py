"""Parameter tensors as they are now, and what their initialisation promised of them. Knows no command and no event."""

from __future__ import annotations

import difflib
import re
from collections.abc import Generator
from dataclasses import replace
from weakref import WeakKeyDictionary

from torch import Tensor

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.course import Course
from gpt_viz.engine.initialise import promised_std
from gpt_viz.engine.loaded import Loaded
from gpt_viz.engine.model import GPT
from gpt_viz.engine.pictures import picturing
from gpt_viz.engine.stepstats import counting, figuring
from gpt_viz.ledger import TensorSpec
from gpt_viz.measures import Figures, round_limit
from gpt_viz.protocol import Weights

_AT_ONCE = 1_000_000  # so many numbers are looked at without a pause
_HEAD = re.compile(r"blocks\.\d+\.attn\.heads\.\d+")
_MATRICES = ("query", "key", "value")  # of a head, in the order in which they are spoken of
# The spread of each tensor at moment 0, which stays what it is.
_spreads: WeakKeyDictionary[Course, dict[str, float | None]] = WeakKeyDictionary()


class UnknownParameter(ValueError):  # noqa: N818 (what it is says more than "Error")
    """A name that is no tensor of this model, nor a module or head that has some; the message names the nearest."""


def tensors_of(config: GPTConfig, parameter: str) -> tuple[TensorSpec, ...]:
    """The tensors that a name stands for: a tensor's own, a module's weight and bias, a head's query, key and value.

    Raises UnknownParameter.
    """
    known = ledger.tensors(config)
    modules = [f"{parameter}.{name}" for name in _MATRICES] if _HEAD.fullmatch(parameter) else [parameter]
    names = [parameter, *(f"{module}.{kind}" for module in modules for kind in ("weight", "bias"))]
    found = []
    for name in names:
        try:
            found.append(known[known.index_of(name)])
        except ValueError:  # most names are those of a tensor or of a module, and not all modules have a bias
            continue
    if not found:
        raise UnknownParameter(f"there are no weights called {parameter!r}; {_nearest(config, parameter)}")
    return tuple(found)


def opening_weights(held: Loaded, parameter: str) -> Generator[None, None, tuple[Weights, ...]]:
    """Look at the tensors of that name, all in the state in which they are at the beginning; pauses in large ones.

    Raises UnknownParameter.
    """
    specs = tensors_of(held.info.config, parameter)
    tensors = [held.model.get_parameter(spec.name).detach() for spec in specs]
    if sum(tensor.numel() for tensor in tensors) > _AT_ONCE:
        tensors = [tensor.clone() for tensor in tensors]  # they may change at a pause
    found = []
    for spec, tensor in zip(specs, tensors, strict=True):
        measured = yield from figuring(tensor)
        limit = round_limit(max(abs(measured.smallest or 0.0), abs(measured.largest or 0.0)))
        even = measured if measured.largest is None else replace(measured, smallest=-limit, largest=limit)
        counted = yield from counting(tensor, even)
        picture = yield from picturing(spec.name, tensor, spec.symbols)
        initial = yield from _initial_std(held, spec.name, measured)
        promised = promised_std(held.info.config, spec.name)
        found.append(Weights(picture, measured, counted, promised, initial, spec.shared_with))
    return tuple(found)


def _initial_std(held: Loaded, name: str, now: Figures) -> Generator[None, None, float | None]:
    """The spread with which the tensor was really drawn; None where that is not known."""
    course = held.course
    if course is None:
        return None if held.history else now.std
    if not course.drawn or 0 not in course.timeline.steps:
        return None
    kept = _spreads.setdefault(course, {})
    if name not in kept:
        measured = yield from figuring(_part(held.model, course.timeline.at(0), name))
        kept[name] = measured.std
    return kept[name]


def _part(model: GPT, weights: Tensor, name: str) -> Tensor:
    """The numbers of one tensor among all weights (total,), which stand in the order of the model's parameters."""
    wanted, start = model.get_parameter(name), 0
    for parameter in model.parameters():
        if parameter is wanted:
            break
        start += parameter.numel()
    return weights[start : start + wanted.numel()]


def _nearest(config: GPTConfig, parameter: str) -> str:
    known = ledger.tensors(config)
    block = re.match(r"blocks\.(\d+)", parameter)
    if block and int(block[1]) >= config.layers:
        return f"the model has {config.layers:,} layer{'s' * (config.layers != 1)}, counted from 0"
    names = [spec.name for spec in known[:500]] + [spec.name for spec in known[-4:]]
    inside = [name for name in names if name.startswith(f"{parameter}.")]
    near = inside or difflib.get_close_matches(parameter, names, n=1, cutoff=0.0)
    return f"the nearest tensor is {near[0]}"
