"""Every call of torch in a pass, and the place it helped to compute. Knows no numbers, only names, shapes and times.

The calls are heard where Python makes them, above all that autograd or a mode of the model could change, so the list
is the same in training, evaluation, without gradients and in inference mode. Which place a call belongs to is read
from the line of the lesson that is being run; a call on a line that computes no place belongs to the place that first
uses its result: the positions to the position embedding, the mask to the first head's `masked`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from gpt_viz import ledger, lesson
from gpt_viz.config import GPTConfig
from gpt_viz.engine import model as lesson_module
from gpt_viz.measures import Operation

# Python's operators, by the name that torch gives the same.
_NAMES = {"truediv": "div", "rsub": "sub", "radd": "add", "rmul": "mul", "rtruediv": "div"}


@dataclass(slots=True)
class _Call:
    """A call that was heard; `place` is filled in once it is known."""

    name: str
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    dtype: str
    view: bool
    elapsed_s: float | None
    place: str = ""


@dataclass(slots=True)
class _Loose:
    """A result that no place has used yet, and the calls that made it."""

    tensor: Tensor
    calls: list[_Call] = field(default_factory=list)


class Recorder:
    """Writes down the calls made inside `over`, over any number of pieces of one pass. `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._calls: list[_Call] = []
        self._loose: dict[int, _Loose] = {}
        self._owners: dict[int, str] = {}
        self._deaf = False

    @contextmanager
    def over(self, module: nn.Module, path: str = "") -> Iterator[None]:
        """Inside: torch's calls are written down. `path` is where `module` is in its model, such as `blocks.0`."""
        self._owners = {id(each): f"{name}." if name else "" for name, each in module.named_modules(prefix=path)}
        with _Mode(self._hear):
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside: nothing is written down, such as what measures a tensor while the pass goes on."""
        before, self._deaf = self._deaf, True
        try:
            yield
        finally:
            self._deaf = before

    def operations(self) -> tuple[Operation, ...]:
        """The calls so far, in order."""
        return tuple(
            Operation(call.place, call.name, call.inputs, call.output, call.dtype, call.view, call.elapsed_s)
            for call in self._calls
        )

    def _hear(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._deaf:
            return func(*args, **kwargs)
        given = _tensors((*args, *kwargs.values()))
        device = given[0].device if given else None
        _rest(device)
        began = self._clock()
        result = func(*args, **kwargs)
        _rest(device)
        elapsed_s = self._clock() - began
        if isinstance(result, Tensor):  # else a question: a shape, a device, a number
            self._write(func, given, result, elapsed_s if _measurable(result.device) else None)
        return result

    def _write(self, func: Callable[..., Any], given: list[Tensor], result: Tensor, elapsed_s: float | None) -> None:
        name = getattr(func, "__name__", str(func)).strip("_")
        call = _Call(
            name=_NAMES.get(name, name),
            inputs=tuple(tuple(each.shape) for each in given),
            output=tuple(result.shape),
            dtype=str(result.dtype).removeprefix("torch."),
            view=any(_same_memory(each, result) for each in given),
            elapsed_s=elapsed_s,
            place=self._place(),
        )
        self._calls.append(call)
        before = [call for each in given if id(each) in self._loose for call in self._loose.pop(id(each)).calls]
        if call.place:
            for each in before:
                each.place = call.place
        else:
            self._loose[id(result)] = _Loose(result, [*before, call])

    def _place(self) -> str:
        """The place that the running line of the lesson computes; empty where it computes none."""
        frame: FrameType | None = sys._getframe(1)
        codes, lines = _codes(), _lines()
        while frame is not None and frame.f_code not in codes:
            frame = frame.f_back
        if frame is None:
            return ""
        variable = lines.get(frame.f_lineno)
        owner = self._owners.get(id(frame.f_locals.get("self")))
        return "" if variable is None or owner is None else f"{owner}{variable}"


class _Mode(TorchFunctionMode):
    """Hands each call of torch's functions on to someone who makes it."""

    def __init__(self, hear: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> None:
        super().__init__()
        self._hear = hear

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self._hear(func, args, kwargs or {})


def _tensors(values: tuple[Any, ...]) -> list[Tensor]:
    """The tensors that a call was given, those in a list too."""
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [each for each in value if isinstance(each, Tensor)]
    return found


def _same_memory(one: Tensor, other: Tensor) -> bool:
    if one is other:
        return True
    return one.device == other.device and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr() != 0


def _measurable(device: torch.device) -> bool:
    return device.type in ("cpu", "cuda", "mps")


def _rest(device: torch.device | None) -> None:
    """Wait until a device that works on by itself has done what it was given."""
    if device is not None and device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device is not None and device.type == "mps":
        torch.mps.synchronize()


@cache
def _codes() -> frozenset[CodeType]:
    """The lesson's own functions."""
    classes = [each for each in vars(lesson_module).values() if isinstance(each, type) and issubclass(each, nn.Module)]
    own = [each for each in classes if each.__module__ == lesson_module.__name__]
    return frozenset(part.__code__ for each in own for part in vars(each).values() if hasattr(part, "__code__"))


@cache
def _lines() -> dict[int, str]:
    """Which variable, if it is a place, each line of the lesson gives a value to; empty where its text is not there."""
    found = {}
    for step in ledger.steps(GPTConfig(layers=1, heads=1)):
        try:
            line = lesson.line_of(step.name)
        except LookupError:
            continue
        for number in range(line.number, line.number + len(line.lit)):
            found[number] = step.name.rpartition(".")[2]
    return found
