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
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from gpt_viz import ledger, lesson
from gpt_viz.config import GPTConfig
from gpt_viz.engine import model as lesson_module
from gpt_viz.measures import Operation

# Python's operators, by the name that torch gives the same.
_NAMES = {"truediv": "div", "rsub": "sub", "radd": "add", "rmul": "mul", "rtruediv": "div"}
_MEASURABLE = ("cpu", "cuda", "mps")


R = TypeVar("R")


@dataclass(slots=True)
class _Call:
    """A call that was heard; `place` is filled in once it is known."""

    func: Callable[..., Any]
    inputs: list[torch.Size]
    output: torch.Size
    dtype: torch.dtype
    view: bool
    elapsed_s: float | None
    place: str

    def operation(self) -> Operation:
        """The same in plain data."""
        name = getattr(self.func, "__name__", str(self.func)).strip("_")
        inputs = tuple(tuple(each) for each in self.inputs)
        dtype = str(self.dtype).removeprefix("torch.")
        return Operation(
            self.place, _NAMES.get(name, name), inputs, tuple(self.output), dtype, self.view, self.elapsed_s
        )


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
        self._codes, self._lines = _codes(), _lines()

    @contextmanager
    def over(self, module: nn.Module, path: str = "") -> Iterator[None]:
        """Inside: torch's calls are written down. `path` is where `module` is in its model, such as `blocks.0`."""
        self._owners = {id(each): f"{name}." if name else "" for name, each in module.named_modules(prefix=path)}
        with _Mode(self._hear):
            yield

    def unheard(self, do: Callable[[], R]) -> R:
        """What `do` returns; its calls are not written down, such as those that measure a tensor of the pass."""
        self._deaf = True
        try:
            return do()
        finally:
            self._deaf = False

    def operations(self) -> tuple[Operation, ...]:
        """The calls so far, in order."""
        return tuple(call.operation() for call in self._calls)

    def _hear(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # Few and plain steps: who watches the pass at the same time is told of each call that is made here.
        if self._deaf:
            return func(*args, **kwargs)
        given = []
        for value in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(value, Tensor):
                given.append(value)
            elif isinstance(value, (list, tuple)):
                given += [each for each in value if isinstance(each, Tensor)]
        if given and given[0].device.type != "cpu":
            _rest(given[0].device)
        began = self._clock()
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):  # else a question: a shape, a device, a number
            if result.device.type != "cpu":
                _rest(result.device)
            elapsed_s = self._clock() - began
            self._write(func, given, result, elapsed_s if result.device.type in _MEASURABLE else None)
        return result

    def _write(self, func: Callable[..., Any], given: list[Tensor], result: Tensor, elapsed_s: float | None) -> None:
        place = self._place()
        call = _Call(func, [each.shape for each in given], result.shape, result.dtype, False, elapsed_s, place)
        memory = result.untyped_storage().data_ptr()
        for each in given:
            if each is result or (memory and each.untyped_storage().data_ptr() == memory):
                call.view = True
        self._calls.append(call)
        loose = self._loose
        before = [call for each in given if id(each) in loose for call in loose.pop(id(each)).calls] if loose else []
        if place:
            for earlier in before:
                earlier.place = place
        else:
            loose[id(result)] = _Loose(result, [*before, call])

    def _place(self) -> str:
        """The place that the running line of the lesson computes; empty where it computes none."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code not in self._codes:
            frame = frame.f_back
        if frame is None:
            return ""
        variable = self._lines.get(frame.f_lineno)
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


def _rest(device: torch.device) -> None:
    """Wait until a device that works on by itself has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
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
