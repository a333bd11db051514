"""A model in its slot, with what is needed to feed it a text and to continue one. Knows no command and no event."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gpt_viz.engine.census import census, total, weight_bytes
from gpt_viz.engine.course import Course
from gpt_viz.engine.fast import Fast
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.model import GPT
from gpt_viz.engine.pieces import PieceTokenizer
from gpt_viz.engine.sampling import BrokenOutput, Sampler, distribution
from gpt_viz.engine.taps import device_of, evaluating, stashing
from gpt_viz.engine.tokenizer import Tokenizer, UnknownCharacters
from gpt_viz.engine.trace import inspect
from gpt_viz.protocol import ModelInfo, Tokens

# How many random numbers are drawn at once while a long continuation is skipped: some milliseconds.
_NUMBERS = 200_000
# As many seeds are remembered with where they stand.
_SEEDS = 4


class Loaded:
    """One model with its facts (`info`), its tokenizer and, once something is sampled, its packed weights (`fast`).

    `history` is what was done to the model since its weights were drawn: what a checkpoint tells of it.
    """

    def __init__(
        self, model: GPT, tokenizer: Tokenizer, info: ModelInfo, history: Mapping[str, Any] | None = None
    ) -> None:
        self.model = model
        self.info = info
        self.tokenizer = tokenizer
        self.history: Mapping[str, Any] = history or {}
        self.course: Course | None = None  # its training here, made when that begins
        self._fast: Fast | None = None
        self._encoded: tuple[str, list[int]] = ("", [])
        self._samplers: dict[int, Sampler] = {}

    @property
    def fast(self) -> Fast:
        """The weights packed, made when they are first asked for."""
        if self._fast is None:
            self._fast = Fast(self.model)
        return self._fast

    def ids(self, text: str, continuation: tuple[int, ...] = ()) -> list[int]:
        """The ids of the text and the continuation after it. Raises UnknownCharacters and IdsError."""
        if text != self._encoded[0]:
            self._encoded = (text, self.tokenizer.encode(text))
        self.check(continuation)
        return [*self._encoded[1], *continuation]

    def tried(self, text: str, continuation: tuple[int, ...]) -> tuple[list[int], tuple[tuple[int, str], ...]]:
        """The ids, and (position, character) of what stood in the way. No ids at all: the text can't be read.

        Raises IdsError for a continuation that this model can't have drawn.
        """
        try:
            return self.ids(text, continuation), ()
        except UnknownCharacters as error:
            return [], error.unknown

    def readable(self, text: str, continuation: tuple[int, ...] = ()) -> list[int]:
        """The same, of which there must be one at least. Raises IdsError where there is none."""
        ids = self.ids(text, continuation)
        if not ids:
            raise IdsError("there is no text to go on from; type at least one character")
        return ids

    def check(self, ids: Sequence[int]) -> None:
        """Raise IdsError where one of them is not in the vocabulary."""
        vocabulary = self.info.config.vocabulary
        if not ids or (set(map(type, ids)) == {int} and min(ids) >= 0 and max(ids) < vocabulary):
            return
        wrong = next(id for id in ids if type(id) is not int or not 0 <= id < vocabulary)
        raise IdsError(f"id {wrong!r} is not in the vocabulary; ids go from 0 to {vocabulary - 1:,}")

    def tokens(self, ids: list[int]) -> Tokens:
        """The last of the ids, as many as the model can see at once."""
        window = tuple(ids[-self.info.config.block_size :])
        return Tokens(window, tuple(map(self.tokenizer.piece, window)), len(ids) - len(window))

    def piece(self, id: int) -> str:
        """The text of one id."""
        return self.tokenizer.piece(id)

    def probabilities(self, ids: list[int], logits: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
        """The distribution (V,) of what comes after the ids. Raises BrokenOutput that says where it went wrong."""
        try:
            return distribution(logits, temperature, top_k, top_p, position=len(ids))
        except BrokenOutput as error:
            first = inspect(self.model, self.tokens(ids).ids).first_bad
            raise BrokenOutput(f"{error}; it begins in {first}" if first else str(error)) from None

    def plain_pass(self, ids: tuple[int, ...], clock: Callable[[], float]) -> float:
        """How long a pass takes without any recording, in seconds."""
        on_device = torch.tensor([ids], device=device_of(self.model))
        with evaluating(self.model), stashing(self.model, False):
            began = clock()
            logits, _ = self.model(on_device)
            logits[0, -1, 0].item()  # waits for a device that works on by itself
            return clock() - began

    def sampler(self, seed: int, at: int) -> Generator[None, None, Sampler]:
        """The sampler of a seed, standing before draw `at`; yields on a long way there. Raises ConfigError."""
        sampler = self._samplers.pop(seed, None) or Sampler(seed, self.info.config.vocabulary)
        self._samplers[seed] = sampler
        if len(self._samplers) > _SEEDS:
            del self._samplers[next(iter(self._samplers))]
        while not sampler.seek(at, at_most=max(1, _NUMBERS // self.info.config.vocabulary)):
            yield
        return sampler


def loaded(
    model: GPT,
    tokenizer: Tokenizer,
    *,
    seed: int,
    alphabet: tuple[str, ...] | None,
    elapsed_s: float,
    source: str = "",
    history: Mapping[str, Any] | None = None,
) -> Loaded:
    """A model that was just built, or opened from the file `source`, with its census."""
    info = ModelInfo(
        config=model.config,
        seed=seed,
        device=str(device_of(model)),
        alphabet=alphabet,
        tensors=census(model),
        total=total(model),
        bytes=weight_bytes(model),
        elapsed_s=elapsed_s,
        pieces=tokenizer.pieces if isinstance(tokenizer, PieceTokenizer) else None,
        source=source,
    )
    return Loaded(model, tokenizer, info, history)
