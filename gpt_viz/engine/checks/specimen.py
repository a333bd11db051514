"""What the checks look at: a copy of the model that nobody else has, and a window of a text. Knows no check.

The copy is made once, so that all checks see one state of the weights, whatever is trained meanwhile, and none of them
can change the model. It stays in eval mode: no check depends on what dropout would have drawn.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.devices import SHARE, free_bytes
from gpt_viz.engine.ids import check_ids
from gpt_viz.engine.model import GPT, Head
from gpt_viz.engine.taps import device_of, evaluating, stashing
from gpt_viz.engine.writes import Writes
from gpt_viz.quantities import size

if TYPE_CHECKING:
    from gpt_viz.engine.checks.exam import Exam

# The notebooks try 32 and 64 tokens; more than this adds cost and no proof.
MOST_TOKENS = 128
LEAST_TOKENS = 16
# Multiply-adds of one pass: about half a second of two cores.
PASS = 2e10
NO_EXAM = "no text is given that it was trained on"
# The notebooks' test of causality: token 20 of 32.
CAUSAL_TOKENS, CAUSAL_SHARE, SHIFT = 32, 0.625, 7


class CheckError(ValueError):
    """A check that can't be made as it was asked for; `field` is the setting at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(slots=True, eq=False)
class Specimen:
    """`model` is the private copy; `ids` (1, T) on its device; `targets` (1, n), the next tokens of the first n ids.

    `piece` gives the text of an id, and `gap` stands between two of them. `position` and `token` are what the test of
    causality changes. `obstacle` says why there is no copy: then `model` is the original, only to be counted. `exam` is
    what a trained model is examined with, or in one sentence why there is none.
    """

    model: GPT
    ids: Tensor
    targets: Tensor
    piece: Callable[[int], str]
    gap: str
    alphabet: tuple[str, ...] | None
    seed: int
    position: int
    token: int
    obstacle: str = ""
    exam: Exam | str = NO_EXAM

    @property
    def config(self) -> GPTConfig:
        """The model's sizes."""
        return self.model.config

    @property
    def tokens(self) -> int:
        """T, the tokens of the window."""
        return self.ids.shape[-1]

    @property
    def inputs(self) -> Tensor:
        """Those ids whose next token is known, (1, n)."""
        return self.ids[:, : self.targets.shape[-1]]

    @property
    def untrained(self) -> bool:
        """Whether no training has moved the weights: each rule of drawing leaves every LayerNorm at exactly 1 and 0,
        and the first step of any optimizer moves them."""
        norms = [each for each in self.model.modules() if isinstance(each, nn.LayerNorm)]
        return all(bool((norm.weight == 1).all()) and (norm.bias is None or not norm.bias.any()) for norm in norms)


def prepared(
    model: GPT,
    ids: list[int],
    *,
    piece: Callable[[int], str] = str,
    gap: str = " ",
    alphabet: tuple[str, ...] | None = None,
    seed: int = 0,
    position: int | None = None,
    token: int | None = None,
    exam: Exam | str = NO_EXAM,
) -> Generator[None, None, Specimen]:
    """The specimen for a text's ids, of which the last are taken. Raises IdsError and CheckError."""
    config = model.config
    per_token = ledger.multiply_adds(config, 1)
    longest = min(config.block_size, MOST_TOKENS, max(int(PASS / per_token), LEAST_TOKENS))
    seen = ids[-(longest + 1) :]
    window = check_ids(seen[:longest], config)
    targets = check_ids(seen[1:], config) if len(seen) > 1 else window[:, :0]
    place, other = changed(config, window[0].tolist(), position, token)
    obstacle = obstacle_to(model, 1, "a copy of its own to be checked on")
    own = model if obstacle else (yield from copied(model))
    device = device_of(model)
    return Specimen(
        own, window.to(device), targets.to(device), piece, gap, alphabet, seed, place, other, obstacle, exam,
    )  # fmt: skip


def changed(config: GPTConfig, ids: list[int], position: int | None, token: int | None) -> tuple[int, int]:
    """Which position gets which token in the test of causality. Raises CheckError for a choice that can't be."""
    count = min(len(ids), CAUSAL_TOKENS)
    place = int(count * CAUSAL_SHARE) if position is None else position
    if not 0 <= place < count:
        raise CheckError("position", f"position {place} is not in this text; choose one from 0 to {count - 1}")
    V = config.vocabulary
    other = (ids[place] + (SHIFT if SHIFT % V else 1)) % V if token is None else token
    if not 0 <= other < V:
        raise CheckError("token", f"id {other} is not in the vocabulary; choose one from 0 to {V - 1:,}")
    if token is not None and token == ids[place]:
        raise CheckError("token", f"id {token} stands at position {place} already; choose another token")
    return place, other


def obstacle_to(model: GPT, times: float, why: str) -> str:
    """Why so many times the weights find no room; "" where they do, or where nobody knows."""
    needed, free = int(times * ledger.weight_bytes(model.config)), free_bytes(device_of(model))
    if free is None or needed <= SHARE * free:
        return ""
    return f"it needs {size(needed)} for {why}, and {device_of(model)} has {size(int(SHARE * free))}"


def copied(model: GPT) -> Generator[None, None, GPT]:
    """A copy of the model in eval mode, without gradients and stash. Pauses between tensors, yet all are of one state:
    where the weights changed meanwhile, they are copied anew without a pause."""
    for pausing in (True, False):
        writes = Writes(model)
        memo: dict[int, object] = {id(each.A): None for each in model.modules() if isinstance(each, Head)}
        for parameter in model.parameters():
            memo[id(parameter)] = nn.Parameter(parameter.detach().clone(), parameter.requires_grad)
            if pausing:
                yield
        if not writes.any:
            break
    return copy.deepcopy(model, memo).eval()


def passing(model: GPT, ids: Tensor) -> Generator[None, None, list[Tensor]]:
    """One pass, pausing between the blocks: the residual stream (T, C) before and after each block, then the logits
    (T, V)."""
    with evaluating(model), stashing(model, False):
        x = model.embed(ids)
        mask = model.mask(x)
    found = [x[0]]
    for block in model.blocks:
        yield
        with evaluating(model), stashing(model, False):
            x = block(x, mask)
        found.append(x[0])
    yield
    with evaluating(model), stashing(model, False):
        found.append(model.read_out(x)[0])
    return found


def drawn(seed: int) -> torch.Generator:
    """Random numbers of a check's own, on the CPU."""
    return torch.Generator().manual_seed(seed)
