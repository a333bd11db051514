"""Training a model on a text, one step at a time. Knows no command, no file and no window.

Modes and stashes are never touched, and at each pause torch's global generator is as it was; gradients are gone after
each step. So panels may look at the very model that is training, and a run gives the same weights whether they look or
not.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.engine.adamw import AdamW, Group
from gpt_viz.engine.backpropagation import Backpropagation
from gpt_viz.engine.model import GPT
from gpt_viz.engine.randomness import Random, own_randomness, random_state
from gpt_viz.engine.taps import device_of
from gpt_viz.engine.training_memory import needed_bytes
from gpt_viz.engine.writes import Writes
from gpt_viz.schedule import TrainingSettings

# Multiply-adds of a step, its way back included, from which on it pauses between its blocks: some 20 ms of one core.
LARGE = 1e9
# So much of what a step remembers stays for the next one: more would be missed by whoever looks or draws in between.
KEPT_BYTES = 256 * 2**20
# So often a step in parts begins anew.
PATIENCE = 2


class TrainingError(ValueError):
    """A run that can't be, or that came to numbers which are not finite; the message says what to change.

    `field` is the setting at fault, `step` the number of the step that failed, where there is one.
    """

    def __init__(self, message: str, field: str = "", step: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.step = step


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step: its number from 0, the batch's loss in nats per token before it, learning rate, gradient norm."""

    step: int
    loss: float
    rate: float
    gradient_norm: float


def split(ids: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """The ids (n,) as those to train on and the last `share` of them, for validation."""
    kept = len(ids) - int(len(ids) * share)
    return ids[:kept], ids[kept:]


class Trainer:
    """A run of AdamW over random windows of the ids (n,) for the model, which it changes in place.

    Batches are drawn from a generator of the run's own, on the CPU; dropout, which takes none, gets the run's own
    global state swapped in for each piece of a step. What a step remembers is kept for the next one where it is small,
    until `rest`. Raises TrainingError where the text is shorter than one window and its next token.
    """

    def __init__(self, model: GPT, ids: Tensor, settings: TrainingSettings) -> None:
        check_length(len(ids), model.config.block_size)
        self.model = model
        self.settings = settings
        self.step_number = 0
        self._ids = ids
        self._draws = torch.Generator().manual_seed(settings.seed)
        self._device = device_of(model)
        self._weights = list(model.parameters())
        self._writes = Writes(model)
        self._way: Backpropagation | None = None
        self._before: tuple[Tensor, Random] | None = None  # the random numbers from before the step under way
        self._keeps = needed_bytes(model.config, settings.batch) <= KEPT_BYTES
        with own_randomness(None, self._device):
            torch.manual_seed(settings.seed)
            self._dropout_state = random_state(self._device)
        matrices = [p for p in self._weights if p.dim() >= 2]
        others = [p for p in self._weights if p.dim() < 2]
        self._optimizer = AdamW([Group(matrices, settings.weight_decay), Group(others, 0.0)])

    @property
    def large(self) -> bool:
        """Whether a step takes long enough that it should be made in `parts`."""
        config = self.model.config
        return 3 * self.settings.batch * ledger.multiply_adds(config) > LARGE

    def rest(self) -> None:
        """No step comes soon: let go of the memory that one hands on to the next."""
        self._way = None

    def batch(self) -> tuple[Tensor, Tensor]:
        """Random windows (batch, N) and the tokens that follow each of theirs, on the model's device."""
        N = self.model.config.block_size
        starts = torch.randint(len(self._ids) - N, (self.settings.batch, 1), generator=self._draws)
        windows = self._ids[starts + torch.arange(N + 1)]
        windows = windows.to(self._device)
        return windows[:, :-1], windows[:, 1:]

    def step(self) -> StepResult:
        """One step: draw a batch, compare, go down the gradient.

        Raises TrainingError at a loss or a gradient that is not finite; whatever it raises, the weights and the run's
        random numbers are those from before the step.
        """
        with self._undone_unless_made():
            *_, made = self._pieces(*self.batch())
            assert made is not None  # the last piece gives it
            return made

    def parts(self) -> Generator[None, None, StepResult]:
        """The same step to the last bit, with a pause between any two of its pieces: each block, there and back.

        Where the weights are written to between two pieces, also with the same numbers, the step begins anew, and after
        a few times goes through without a pause. Closed early, it leaves everything as it was before the step.
        """
        with self._undone_unless_made():
            ids, targets = self.batch()
            dropout, attempt = self._dropout_state, 0
            while True:
                self._writes.noted()
                for made in self._pieces(ids, targets):
                    if made is not None:
                        return made
                    if attempt < PATIENCE:
                        yield
                        if self._writes.any:
                            break
                attempt += 1
                self._dropout_state = dropout
                self._drop_gradients()

    def _pieces(self, ids: Tensor, targets: Tensor) -> Iterator[StepResult | None]:
        """What a step consists of, each with all that it needs set and given back."""
        with self._working():
            way = self._way = self._way or Backpropagation(self.model, self.model.config.block_size)
            x = way.embedding.there(ids)
        for block in way.blocks:
            yield None
            with self._working():
                x = block.there(x)
        yield None
        with self._working():
            value = self._finite(way.loss.there(x, targets).item(), "loss")
            d = way.loss.back()
        for block in reversed(way.blocks):
            yield None
            with self._working():
                d = block.back(d)
        yield None
        with self._working():
            way.embedding.back(d)
        yield None
        with self._working():
            made = self._go_down(value)
        yield made

    def _go_down(self, value: float) -> StepResult:
        """With the gradients there: clip them if asked for, move the weights, count the step."""
        rate = self.settings.rate_at(self.step_number)
        norm = nn.utils.get_total_norm(each.grad for each in self._weights if each.grad is not None)
        result = StepResult(self.step_number, value, rate, self._finite(float(norm), "gradient"))
        if 0 < self.settings.clip < result.gradient_norm:
            nn.utils.clip_grads_with_norm_(self._weights, self.settings.clip, norm)
        self._optimizer.step(rate)
        self.step_number += 1
        return result

    def _finite(self, value: float, what: str) -> float:
        if math.isfinite(value):
            return value
        rate = self.settings.rate_at(self.step_number)
        raise TrainingError(
            f"the {what} became {value} at step {self.step_number}; lower the learning rate {rate:g}",
            field="rate",
            step=self.step_number,
        )

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Within: the run's own random numbers, and nothing that is done is to be differentiated."""
        with torch.no_grad():
            if self.model.config.dropout:
                with own_randomness(self._dropout_state, self._device) as kept:
                    yield
                self._dropout_state = kept()
            else:
                yield

    @contextmanager
    def _undone_unless_made(self) -> Iterator[None]:
        """A step leaves no gradients; one that is not made to its end has used up no random numbers either."""
        number = self.step_number
        self._before = draws, dropout = self._draws.get_state(), self._dropout_state
        try:
            yield
        finally:
            self._before = None
            self._drop_gradients()
            if not self._keeps:
                self.rest()
            if self.step_number == number:
                self._draws.set_state(draws)
                self._dropout_state = dropout

    def _drop_gradients(self) -> None:
        for parameter in self._weights:
            parameter.grad = None

    def parameters(self) -> Iterator[Tensor]:
        """The weights in the order in which the optimizer counts them."""
        yield from self._optimizer.weights

    def state(self) -> dict[str, Any]:
        """All that a run needs to go on where it stands, besides the weights: plain values and tensors.

        Amid a step, where it stood before it.
        """
        draws, dropout = self._before or (self._draws.get_state(), self._dropout_state)
        return {
            "step": self.step_number,
            "optimizer": self._optimizer.state(),
            "draws": draws,
            "dropout": dropout[0],
            "device_dropout": dropout[1],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state()` of a run with the same settings and a model with that run's weights."""
        self.step_number = state["step"]
        self._optimizer.restore(state["optimizer"])
        self._draws.set_state(state["draws"])
        self._dropout_state = state["dropout"], state.get("device_dropout")


def check_length(tokens: int, window: int) -> None:
    """Raise TrainingError where so many tokens hold no window of that length and its next token."""
    if tokens > window:
        return
    smaller = f" or a block size of at most {tokens - 1:,}" if tokens > 1 else ""
    raise TrainingError(
        f"the text has {tokens:,} token{'' if tokens == 1 else 's'} to train on and needs at least T+1 = "
        f"{window + 1:,}; take a longer text{',' if smaller else ' or'} a smaller validation share{smaller}",
        field="corpus",
    )
