"""Training a model on a text, one step at a time. Knows no command, no file and no window.

Nothing is left switched on between two steps: the mode, the stash, the gradients and torch's global generator are as
they were, so that panels may look at the very model that is training, and a run gives the same weights whether they
look or not.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpt_viz.engine.model import GPT, Head
from gpt_viz.schedule import TrainingSettings

EVALUATION_BATCH = 64


class TrainingError(ValueError):
    """A run that can't be, or that came to numbers which are not finite; the message says what to change."""


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
    global state swapped in for each step. Raises TrainingError where the text is shorter than one window and its
    next token.
    """

    def __init__(self, model: GPT, ids: Tensor, settings: TrainingSettings) -> None:
        window = model.config.block_size
        if len(ids) < window + 1:
            raise TrainingError(
                f"the text has {len(ids)} tokens to train on and needs at least T+1 = {window + 1}; "
                f"take a longer text, a smaller validation share or a block size below {max(len(ids), 1)}"
            )
        self.model = model
        self.settings = settings
        self.step_number = 0
        self._ids = ids
        self._draws = torch.Generator().manual_seed(settings.seed)
        self._device = next(model.parameters()).device
        with _own_randomness(None):
            torch.manual_seed(settings.seed)
            self._dropout_state = torch.get_rng_state()
        matrices = [p for p in model.parameters() if p.dim() >= 2]
        others = [p for p in model.parameters() if p.dim() < 2]
        self._optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": settings.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=settings.rate,
            betas=(0.9, 0.99),
        )

    def batch(self) -> tuple[Tensor, Tensor]:
        """Random windows (batch, N) and the tokens that follow each of theirs, on the model's device."""
        N = self.model.config.block_size
        starts = torch.randint(len(self._ids) - N, (self.settings.batch, 1), generator=self._draws)
        windows = self._ids[starts + torch.arange(N + 1)]
        windows = windows.to(self._device)
        return windows[:, :-1], windows[:, 1:]

    def step(self) -> StepResult:
        """One step: draw a batch, compare, go down the gradient. Raises TrainingError at a loss that is not finite."""
        rate = self.settings.rate_at(self.step_number)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        ids, targets = self.batch()
        with _training(self.model), _own_randomness(self._dropout_state) as kept, torch.enable_grad():
            _, loss = self.model(ids, targets)
            assert loss is not None  # targets were given
            value = loss.item()
            if value != value or value in (float("inf"), float("-inf")):
                raise TrainingError(
                    f"the loss became {value} at step {self.step_number}; lower the learning rate {rate:g}"
                )
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip or float("inf"))
            self._optimizer.step()
            self._optimizer.zero_grad(set_to_none=True)
        self._dropout_state = kept()
        result = StepResult(self.step_number, value, rate, float(norm))
        self.step_number += 1
        return result

    def state(self) -> dict[str, Any]:
        """All that a run needs to go on where it stands, besides the weights: plain values and tensors."""
        return {
            "step": self.step_number,
            "optimizer": self._optimizer.state_dict(),
            "draws": self._draws.get_state(),
            "dropout": self._dropout_state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state()` of a run with the same settings and a model with that run's weights."""
        self.step_number = state["step"]
        self._optimizer.load_state_dict(state["optimizer"])
        self._draws.set_state(state["draws"])
        self._dropout_state = state["dropout"]


def evaluate(model: GPT, ids: Tensor, windows: int | None = None) -> Generator[None, None, float]:
    """The mean loss over the ids (n,) in nats per token, cut into windows that do not overlap; yields between batches.

    At most `windows` of them, spread evenly. nan where the ids hold no window and its next token.
    """
    N = model.config.block_size
    device = next(model.parameters()).device
    count = (len(ids) - 1) // N
    if count == 0:
        return float("nan")
    starts = torch.arange(count) * N
    if windows is not None and windows < count:
        starts = starts[torch.linspace(0, count - 1, windows).round().long()]
    total = 0.0
    for chosen in starts.split(EVALUATION_BATCH):
        texts = ids[chosen[:, None] + torch.arange(N + 1)].to(device)
        with torch.no_grad(), _unstashed(model):
            _, loss = model(texts[:, :-1], texts[:, 1:])
        assert loss is not None  # targets were given
        total += loss.item() * len(chosen)
        yield
    return total / len(starts)


@contextmanager
def _unstashed(model: GPT) -> Iterator[None]:
    """Heads keep no attention within: nobody reads it, and a batch's would take B·H·L·T² numbers."""
    heads = [each for each in model.modules() if isinstance(each, Head)]
    before = [head.stash for head in heads]
    for head in heads:
        head.stash = False
    try:
        yield
    finally:
        for head, stash in zip(heads, before, strict=True):
            head.stash = stash


@contextmanager
def _training(model: GPT) -> Iterator[None]:
    """Training mode within, the stash off; after it the mode that was, and no gradients, also after an error."""
    before = model.training
    model.train()
    try:
        with _unstashed(model):
            yield
    finally:
        model.train(before)
        model.zero_grad(set_to_none=True)


@contextmanager
def _own_randomness(state: Tensor | None) -> Iterator[Any]:
    """torch's global CPU generator set to `state` within and to what it was afterwards; yields how to get the new one."""
    before = torch.get_rng_state()
    reached = [state]

    def kept() -> Tensor | None:
        return reached[0]

    if state is not None:
        torch.set_rng_state(state)
    try:
        yield kept
    finally:
        reached[0] = torch.get_rng_state()
        torch.set_rng_state(before)
