"""The steps of a pass, measured: each result's figures, bytes, time and what it took. Knows no command and no event."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.ids import Ids
from gpt_viz.engine.model import GPT
from gpt_viz.engine.operations import Recorder
from gpt_viz.engine.stages import finished, staged
from gpt_viz.ledger import StepSpec
from gpt_viz.measures import Figures, Histogram, Operation, StepMeasure

BINS = 64
_AT_ONCE = 1_000_000  # so many numbers are taken to float64 in one go
Clock = Callable[[], float]


def measure(model: GPT, ids: Ids, *, clock: Clock = time.perf_counter) -> tuple[StepMeasure, ...]:
    """`measuring` in one go."""
    return finished(measuring(model, ids, clock=clock))


def measuring(
    model: GPT, ids: Ids, *, clock: Clock = time.perf_counter
) -> Generator[None, None, tuple[StepMeasure, ...]]:
    """Every step of one pass, in order of execution, pausing between the blocks. Raises IdsError.

    `ids` are one text or a batch of texts; the loss is that of the texts' own next tokens, so one token has none.
    """
    found = yield from staged(model, ids, lambda: _Measuring(clock))
    return found.measures(model.config)


@dataclass(frozen=True, slots=True)
class Seen:
    """A result by itself: what its tensor is and what its numbers are like."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    bytes: int
    figures: Figures


def seen(tensor: Tensor) -> Seen:
    """Look at a result, whole."""
    return Seen(
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        bytes=tensor.numel() * tensor.element_size(),
        figures=figures(tensor),
    )


def measured(
    config: GPTConfig, step: StepSpec, result: Seen, operations: Iterable[Operation], ids: tuple[int, ...]
) -> StepMeasure:
    """All about one step: its result, the calls that made it, and what the ledger knows; `ids` is the shape (B, T)."""
    own = tuple(each for each in operations if each.place == step.name)
    times = [each.elapsed_s for each in own if each.elapsed_s is not None]
    return StepMeasure(
        name=step.name,
        shape=result.shape,
        dtype=result.dtype,
        device=result.device,
        bytes=result.bytes,
        figures=result.figures,
        parameters=ledger.parameters_used(config, step),
        multiply_adds=ledger.step_multiply_adds(config, step, ids[1], ids[0]),
        elapsed_s=sum(times) if times and len(times) == len(own) else None,
        operations=own,
    )


def figures(tensor: Tensor) -> Figures:
    """`figuring` in one go."""
    return finished(figuring(tensor))


def figuring(tensor: Tensor) -> Generator[None, None, Figures]:
    """A tensor's mean, std, extremes and norm, worked out in float64 over its finite numbers.

    Pauses after each million; the tensor must not change meanwhile.
    """
    count, not_finite, mean, squares = 0, 0, 0.0, 0.0  # squares: of the distances to the mean
    low, high, norm = math.inf, -math.inf, 0.0
    for part in _parts(tensor):
        finite = _finite(part)
        n = finite.numel()
        not_finite += part.numel() - n
        yield
        if not n:
            continue
        variance, middle = torch.var_mean(finite, correction=0)
        numbers = torch.stack([variance, middle, *finite.aminmax(), torch.linalg.vector_norm(finite)]).tolist()
        low, high, norm = min(low, numbers[2]), max(high, numbers[3]), math.hypot(norm, numbers[4])
        far = numbers[1] - mean
        squares += numbers[0] * n + far * far * (count * n / (count + n))
        mean += far * n / (count + n)
        count += n
    if not count:
        return Figures(None, None, None, None, None, not_finite)
    return Figures(mean, math.sqrt(squares / count), low, high, norm, not_finite)


def histogram(tensor: Tensor, known: Figures, bins: int = BINS) -> Histogram | None:
    """`counting` in one go."""
    return finished(counting(tensor, known, bins))


def counting(tensor: Tensor, known: Figures, bins: int = BINS) -> Generator[None, None, Histogram | None]:
    """How often each size occurs among the finite numbers, from the smallest to the largest; None where none is.

    `known` are the tensor's figures. Where all are one number, the bins go from half of it below to half above it.
    Pauses after each million numbers; the tensor must not change meanwhile.
    """
    if known.smallest is None or known.largest is None:
        return None
    low, high = known.smallest, known.largest
    if low == high:
        half = abs(low) / 2 or 0.5
        low, high = low - half, high + half
    counts = torch.zeros(bins, dtype=torch.float64)
    for part in _parts(tensor):
        counts += torch.histc(_finite(part), bins, low, high).cpu()
        yield
    return Histogram(low, high, tuple(map(int, counts.tolist())))


class _Measuring:
    """Measures every place, and keeps no tensor."""

    def __init__(self, clock: Clock) -> None:
        self._recorder = Recorder(clock)
        self._seen: dict[str, Seen] = {}

    def see(self, name: str, tensor: Tensor) -> None:
        """Measure it, out of the recorder's hearing."""
        self._seen[name] = self._recorder.unheard(lambda: seen(tensor))

    def around(self, module: nn.Module, path: str) -> AbstractContextManager[object]:
        """Write down the calls of this piece of the pass."""
        return self._recorder.over(module, path)

    def measures(self, config: GPTConfig) -> tuple[StepMeasure, ...]:
        """All steps, in the ledger's order."""
        by_place: dict[str, list[Operation]] = {}
        for each in self._recorder.operations():
            by_place.setdefault(each.place, []).append(each)
        ids = self._seen["ids"].shape
        return tuple(
            measured(config, step, self._seen[step.name], by_place.get(step.name, ()), ids)
            for step in ledger.steps(config, loss="loss" in self._seen)
        )


def _parts(tensor: Tensor) -> Iterator[Tensor]:
    """The numbers in float64, a million at a time. Metal has no float64, so from there they come to the CPU."""
    flat = tensor.detach().flatten()
    if flat.device.type == "mps":
        flat = flat.cpu()
    for part in torch.split(flat, _AT_ONCE):
        yield part.double()


def _finite(part: Tensor) -> Tensor:
    finite = part.isfinite()
    return part if finite.all() else part[finite]
