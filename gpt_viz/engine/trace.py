"""One forward pass as ordered steps, as it really ran. Knows no command and no event of the engine's.

The pass is the model's own, driven block by block. It can pause between blocks, and still sees one state of the
weights: where they changed meanwhile, it begins anew and goes through without a pause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.engine.ids import Ids, check_ids
from gpt_viz.engine.model import GPT
from gpt_viz.engine.taps import (
    Array,
    device_of,
    evaluating,
    own_loss,
    shrink,
    snapshot,
    stashing,
    take_stash,
    watching,
)
from gpt_viz.engine.writes import Writes
from gpt_viz.protocol import StepSeen

CELLS = 128  # the most cells a side of a pattern that is shown among all others


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """What one pass showed. `loss` is in nats per token, None for a single token and where nothing was traced.

    `first_bad` is the first place whose numbers are not all finite, else empty; -inf is meant in `masked`.
    `patterns` (L, H, t, t) float32: t = T up to 128, else each cell is the largest of a square of cells. `whole`
    (T, T) is the pattern of `head` (layer, head) at full size, empty without layers. Both None where not asked for.
    """

    steps: tuple[StepSeen, ...]
    loss: float | None
    first_bad: str
    patterns: Array | None
    head: tuple[int, int]
    whole: Array | None


def trace(model: GPT, ids: Ids, *, loss: bool = True) -> list[StepSeen]:
    """Each step of one pass over the ids, in order of execution, with the shape and dtype that it really had.

    The loss is that of the text's own next tokens; a single token has none. Raises IdsError.
    """
    return [step for step in inspect(model, ids).steps if loss or step.name != "loss"]


def inspect(
    model: GPT, ids: Ids, *, trace: bool = True, attention: bool = False, head: tuple[int, int] = (0, 0)
) -> Inspection:
    """`inspect_steps` in one go."""
    steps = inspect_steps(model, ids, trace=trace, attention=attention, head=head)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            inspection: Inspection = end.value
            return inspection


def inspect_steps(
    model: GPT, ids: Ids, *, trace: bool = True, attention: bool = False, head: tuple[int, int] = (0, 0)
) -> Generator[None, None, Inspection]:
    """One pass in eval mode, pausing between the blocks; with `attention` over one text only, not over a batch.

    With `trace` it tells the steps, the loss and the first bad place; with `attention` the patterns. For a `head` that
    the model lacks the nearest is taken. At each pause the modes, the profile function and the stash are what they
    were before. Raises IdsError.
    """
    on_device = check_ids(ids, model.config).to(device_of(model))
    pausing = True
    while True:
        writes = Writes(model)
        this = _Pass(model, on_device, trace, attention, head)
        for number, stage in enumerate(this.stages()):
            if number and pausing:
                yield
                if writes.any:
                    pausing = False
                    break
            stage()
        else:
            return this.result()


class _Pass:
    """One pass over ids that are on the device: what its stages have computed and seen so far."""

    def __init__(self, model: GPT, ids: Tensor, trace: bool, attention: bool, head: tuple[int, int]) -> None:
        self._model, self._ids, self._trace, self._attention = model, ids, trace, attention
        layer, number = head
        self._head = (min(layer, max(model.config.layers - 1, 0)), min(number, model.config.heads - 1))
        self._x = self._mask = torch.empty(0)
        self._loss: float | None = None
        self._seen: dict[str, StepSeen] = {}
        self._extremes: list[tuple[str, Tensor]] = []
        self._bad: set[str] = set()
        self._patterns: list[Tensor] = []
        self._whole = torch.empty(0, 0)

    def stages(self) -> list[Callable[[], None]]:
        """The pass in pieces, each of which gives back what it sets."""
        blocks = [partial(self._layer, layer, block) for layer, block in enumerate(self._model.blocks)]
        ending = [self._read_out, self._compare] if self._trace else []  # attention needs neither
        return [self._begin, *blocks, *ending]

    def result(self) -> Inspection:
        """What was seen, in the ledger's order of execution. Raises KeyError for a place that the pass did not show."""
        config, T = self._model.config, self._ids.shape[-1]
        order = []
        if self._trace:
            order = [step.name for step in ledger.steps(config, loss=self._loss is not None)]
        patterns = torch.stack(self._patterns) if self._patterns else torch.empty(0, config.heads, T, T)
        return Inspection(
            steps=tuple(self._seen[name] for name in order),
            loss=self._loss,
            first_bad=next((name for name in order if name in self._bad), ""),
            patterns=snapshot(patterns) if self._attention else None,
            head=self._head,
            whole=snapshot(self._whole) if self._attention else None,
        )

    def _begin(self) -> None:
        with self._open(self._model, ""):
            self._x = self._model.embed(self._ids)
            self._mask = self._model.mask(self._x)
        self._judge()

    def _layer(self, layer: int, block: nn.Module) -> None:
        with self._open(block, f"blocks.{layer}"):
            self._x = block(self._x, self._mask)
            if self._attention:
                patterns = take_stash(block)
                self._patterns.append(shrink(patterns, CELLS))
                if layer == self._head[0]:
                    self._whole = patterns[self._head[1]].clone()
        self._judge()

    def _read_out(self) -> None:
        with self._open(self._model, ""):
            self._x = self._model.read_out(self._x)
        self._judge()

    def _compare(self) -> None:
        with self._open(self._model, ""):
            loss = own_loss(self._model, self._x, self._ids)
            self._loss = None if loss is None else loss.item()
        self._judge()

    def _open(self, module: nn.Module, path: str) -> ExitStack:
        """All that a stage needs set, to be given back at its end."""
        with ExitStack() as stack:
            stack.enter_context(evaluating(module))
            stack.enter_context(stashing(module, self._attention))
            if self._trace:
                stack.enter_context(watching(module, self._see, path))
            return stack.pop_all()

    def _see(self, name: str, tensor: Tensor) -> None:
        """Note shape and dtype, and the extremes, which are finite only where every number is; the tensor goes."""
        self._seen[name] = StepSeen(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
        if tensor.is_floating_point():
            self._extremes.append((name, tensor.amax()))
            if not name.endswith(".masked"):  # where -inf is meant
                self._extremes.append((name, tensor.amin()))

    def _judge(self) -> None:
        """Which places of this stage are bad. Asked once a stage, for asking makes the device come to rest."""
        if self._extremes:
            numbers = torch.stack([extreme.float() for _, extreme in self._extremes]).tolist()
            self._bad.update(
                name for (name, _), number in zip(self._extremes, numbers, strict=True) if not math.isfinite(number)
            )
        self._extremes = []
