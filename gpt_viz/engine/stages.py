"""One pass in pieces that can be looked into, and stopped where nothing more is wanted. Knows no command and no event.

The pass is the model's own, driven block by block. It pauses between the pieces, and still shows one state of the
weights: where they changed meanwhile, it begins anew and goes through without a pause.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.ids import Ids, check_ids
from gpt_viz.engine.model import GPT
from gpt_viz.engine.taps import UnknownPlace, device_of, evaluating, own_loss, stashing, watching
from gpt_viz.engine.writes import Writes
from gpt_viz.ledger import StepSpec

Stage: TypeAlias = tuple[nn.Module, str, Callable[[], None]]
R = TypeVar("R")

BEGINNING = ("ids", "token_embedding", "position_embedding", "embedded")


class Look(Protocol):
    """What looks into a pass: it sees each place, and may set something around each piece."""

    def see(self, name: str, tensor: Tensor) -> None:
        """A place was computed. The tensor is the pass's own."""
        ...

    def around(self, module: nn.Module, path: str) -> AbstractContextManager[object]:
        """Around a piece of the pass, which runs in `module`, whose path in the model is `path`."""
        ...


Looking = TypeVar("Looking", bound=Look)


def staged(
    model: GPT, ids: Ids, look: Callable[[], Looking], last: str | None = None
) -> Generator[None, None, Looking]:
    """One pass in eval mode with a new look, which is returned; after the piece with the place `last` it ends.

    At each pause the modes, the profile function and the stash are what they were. Raises IdsError; UnknownPlace
    before anything runs, where the pass has no place called `last`.
    """
    checked = check_ids(ids, model.config)
    spec = None if last is None else step_of(model.config, last, checked.shape[-1])
    on_device = checked.to(device_of(model))
    pausing = True
    while True:
        writes = Writes(model)
        this = look()
        for number, (module, path, run) in enumerate(_stages(model, on_device, spec)):
            if number and pausing:
                yield
                if writes.any:
                    pausing = False
                    break
            with (
                evaluating(module),
                stashing(module, False),
                watching(module, this.see, path),
                this.around(module, path),
            ):
                run()
        else:
            return this


def finished(steps: Generator[object, None, R]) -> R:
    """What the steps return, in one go."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: R = end.value
            return result


def step_of(config: GPTConfig, name: str, tokens: int) -> StepSpec:
    """The step of that name in a pass over so many tokens. Raises UnknownPlace."""
    steps = ledger.steps(config, loss=tokens > 1)
    try:
        return steps[steps.index_of(name)]
    except ValueError as error:
        lost = "a text of one token has no loss: there is no next token to compare with"
        raise UnknownPlace(lost if name == "loss" else str(error)) from None


def _stages(model: GPT, ids: Tensor, last: StepSpec | None) -> Iterator[Stage]:
    """The pieces of the pass: which module runs, where it is, and what it does."""
    x = mask = torch.empty(0)

    def begin() -> None:
        nonlocal x, mask
        x = model.embed(ids)
        mask = model.mask(x)

    def read_out() -> None:
        nonlocal x
        x = model.read_out(x)

    def compare() -> None:
        own_loss(model, x, ids)

    yield model, "", begin
    if last is not None and last.name in BEGINNING:
        return
    for layer, block in enumerate(model.blocks):

        def run(block: nn.Module = block) -> None:
            nonlocal x
            x = block(x, mask)

        yield block, f"blocks.{layer}", run
        if last is not None and last.layer == layer:
            return
    yield model, "", read_out
    if last is None or last.name == "loss":
        yield model, "", compare
