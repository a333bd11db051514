"""One step of a pass, opened: its tensor and those it was computed from as pictures. Knows no command and no event."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.engine.ids import Ids, IdsError, check_ids
from gpt_viz.engine.model import GPT
from gpt_viz.engine.operations import Recorder
from gpt_viz.engine.pictures import picture
from gpt_viz.engine.stages import finished, staged, step_of
from gpt_viz.engine.stepstats import Clock, histogram, measured, seen
from gpt_viz.ledger import StepSpec
from gpt_viz.measures import Histogram, Picture, StepMeasure


@dataclass(frozen=True, slots=True, eq=False)
class OpenedStep:
    """What was found in one step: its measure, of the whole tensor, the tensor itself and all that made it.

    `inputs` are those places and then those parameters, as `ledger.inputs` lists them. `histogram` is None where no
    number of the tensor is finite.
    """

    measure: StepMeasure
    histogram: Histogram | None
    picture: Picture
    inputs: tuple[Picture, ...]


def open_step(model: GPT, ids: Ids, name: str, *, clock: Clock = time.perf_counter) -> OpenedStep:
    """`opening` in one go."""
    return finished(opening(model, ids, name, clock=clock))


def opening(model: GPT, ids: Ids, name: str, *, clock: Clock = time.perf_counter) -> Generator[None, None, OpenedStep]:
    """Open one step of a pass over one text, which goes only as far; pauses between blocks, then between pictures.

    Raises IdsError, also for a batch of texts, and UnknownPlace where the pass has no step of that name.
    """
    shape = one_text(ids, model).shape
    config = model.config
    spec = step_of(config, name, shape[-1])
    parameters = ledger.step_parameters(config, spec)
    places = ledger.inputs(config, spec)[: -len(parameters) or None]
    found = yield from staged(model, ids, lambda: _Opening(frozenset((name, *places)), _paths(spec), clock), name)
    # The weights at once, for they may change at a pause; the pass's tensors are its own, and large ones take time.
    weights = [picture(each.name, model.get_parameter(each.name), each.symbols) for each in parameters]
    yield
    result = seen(found.kept[name])
    yield
    counted = histogram(found.kept[name], result.figures)
    pictures = []
    for place in (name, *places):
        yield
        pictures.append(picture(place, found.kept[place], step_of(config, place, shape[-1]).symbols))
    return OpenedStep(
        measure=measured(config, spec, result, found.recorder.operations(), (shape[0], shape[1])),
        histogram=counted,
        picture=pictures[0],
        inputs=(*pictures[1:], *weights),
    )


def one_text(ids: Ids, model: GPT) -> Tensor:
    """The ids of one text, (1, T). Raises IdsError, also for a batch of more."""
    checked = check_ids(ids, model.config)
    if checked.shape[0] != 1:
        raise IdsError(f"a step is opened for one text at a time, not for {checked.shape[0]}")
    return checked


class Keeping:
    """Keeps the tensors of a few places until they have been looked at."""

    def __init__(self, names: frozenset[str]) -> None:
        self.kept: dict[str, Tensor] = {}
        self._names = names

    def see(self, name: str, tensor: Tensor) -> None:
        """Keep it, if it is one of them."""
        if name in self._names:
            self.kept[name] = tensor

    def around(self, module: nn.Module, path: str) -> AbstractContextManager[object]:
        """Nothing is set."""
        return nullcontext()


class _Opening(Keeping):
    """Writes down the calls, too, in those pieces of the pass that have one of the `paths`."""

    def __init__(self, names: frozenset[str], paths: frozenset[str], clock: Clock) -> None:
        super().__init__(names)
        self.recorder = Recorder(clock)
        self._paths = paths

    def around(self, module: nn.Module, path: str) -> AbstractContextManager[object]:
        """Write down the calls of this piece of the pass, where it can have helped to compute the step."""
        return self.recorder.over(module, path) if path in self._paths else super().around(module, path)


def _paths(spec: StepSpec) -> frozenset[str]:
    """Where the calls are made that a step needs: its block; the first block's mask comes from before it."""
    if spec.layer is None:
        return frozenset([""])
    return frozenset(["", "blocks.0"] if spec.layer == 0 else [f"blocks.{spec.layer}"])
