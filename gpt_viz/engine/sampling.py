"""From logits to the next token: temperature, the two cuts, one draw. Knows no model and no text.

`distribution` and `rank` are pure. `Sampler` makes draw number k of a seed the same draw always, on every device and
whether the text was sampled in one go or token by token.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from gpt_viz.config import check_seed

# float32 ends near 1e-38; below this the division is done in float64.
_TINY = 1e-30
# A sampler keeps its generator's state every so many draws, and at most so many states of 5 KB.
_SPACING = 64
_MARKS = 256


class SettingError(ValueError):
    """A sampling setting out of its range; `field` is its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class BrokenOutput(ValueError):  # noqa: N818
    """Logits that nothing can be drawn from."""


class ImpossibleDraw(ValueError):  # noqa: N818
    """A draw gave an id that does not exist or that has no probability."""


def check_settings(temperature: object = 1.0, top_k: object = 0, top_p: object = 1.0) -> None:
    """Raise SettingError for a temperature that is negative or not finite, a negative top-k, a top-p outside (0, 1]."""
    if not _is_number(temperature):
        raise SettingError("temperature", f"the temperature must be a number, not {temperature!r}")
    if not _within(temperature, 0.0, math.inf) or temperature == math.inf:
        raise SettingError("temperature", f"temperature {temperature} is out of range; it goes from 0 (greedy) up")
    _check_count("top_k", "top-k", top_k, "0 is off, 1 and more is how many tokens stay")
    if not _is_number(top_p):
        raise SettingError("top_p", f"top-p must be a number, not {top_p!r}")
    if not _within(top_p, 0.0, 1.0) or top_p == 0.0:
        raise SettingError("top_p", f"top-p {top_p} is out of range; it goes from above 0 to 1 (off)")


def check_tokens(tokens: object) -> None:
    """Raise SettingError for a number of tokens that is no whole number from 0 up; None is without end."""
    if tokens is not None:
        _check_count("tokens", "the number of tokens", tokens, "it goes from 0 up")


def distribution(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    *,
    position: int | None = None,
) -> Tensor:
    """How likely each token is to be drawn. logits (V,) become probabilities (V,) float32 on the CPU, which sum to 1.

    Temperature first, then the `top_k` largest logits stay (of equal ones those with the lower id), then the likeliest
    tokens that together reach `top_p`. Temperature 0 is greedy: all of it on the largest logit, the lowest id of
    equals. Raises SettingError, and BrokenOutput where the logits hold NaN or nothing finite; `position` is for its
    message.
    """
    check_settings(temperature=temperature, top_k=top_k, top_p=top_p)
    logits = logits.detach().to("cpu", torch.float32)
    largest = check_logits(logits, position)
    if temperature == 0:
        greedy = torch.zeros_like(logits)
        greedy[logits.argmax()] = 1.0
        return greedy
    # The largest becomes 0 before the division, so that no temperature is small enough to overflow.
    scaled = logits - largest
    if temperature < _TINY:
        scaled = (scaled.double() / temperature).float()
    elif temperature != 1:
        scaled = scaled / temperature
    if 0 < top_k < logits.numel():
        scaled.masked_fill_(~_largest(logits, top_k), -math.inf)
    probabilities = torch.softmax(scaled, dim=-1)
    return probabilities if top_p == 1 else _nucleus(probabilities, top_p)


def check_logits(logits: Tensor, position: int | None = None) -> float:
    """The largest logit. Raises BrokenOutput where they hold NaN or +inf, or are -inf throughout."""
    largest = float(logits.max())
    if math.isfinite(largest):
        return largest
    what = {math.inf: "infinity", -math.inf: "nothing but -infinity"}.get(largest, "NaN")
    where = "" if position is None else f" at position {position}"
    raise BrokenOutput(f"the model's output contains {what}{where}")


def rank(logits: Tensor, id: int) -> int:
    """How many tokens the model prefers to this one, before any cut. 0: the likeliest; of equals the lower id leads."""
    own = logits[id]
    return int((logits > own).sum()) + int((logits[:id] == own).sum())


def pick(probabilities: Tensor, noise: Tensor) -> int:
    """The id with the largest probability / noise. With exponential noise that is a draw from the probabilities.

    It uses up the same random numbers as `torch.multinomial(probabilities, 1)` and gives the same id.
    """
    return int((probabilities / noise).argmax())


class Sampler:
    """The draws of one seed over one vocabulary, in order: draw k is the same whichever draws were made before it.

    Raises ConfigError for a bad seed.
    """

    def __init__(self, seed: int, vocabulary: int) -> None:
        # On the CPU whatever the model runs on, so that a seed means the same text everywhere.
        self._generator = torch.Generator().manual_seed(check_seed(seed))
        self._noise = torch.empty(vocabulary, dtype=torch.float32)
        self._next = 0
        self._spacing = _SPACING
        self._marks = {0: self._generator.get_state()}

    def seek(self, at: int, at_most: int | None = None) -> bool:
        """Make draw `at` the next one. Skips `at_most` draws per call and returns whether it is there."""
        if at < self._next or at - self._next > self._spacing:
            nearest = max(mark for mark in self._marks if mark <= at)
            if not nearest <= self._next <= at:
                self._generator.set_state(self._marks[nearest])
                self._next = nearest
        last = at if at_most is None else min(at, self._next + at_most)
        while self._next < last:
            self._make_noise()
        return self._next == at

    def draw(self, probabilities: Tensor, at: int) -> int:
        """Draw number `at` (from 0) of the seed. probabilities (V,) float32 on the CPU. Raises ImpossibleDraw."""
        self.seek(at)
        self._make_noise()
        id = pick(probabilities, self._noise)
        if not _possible(probabilities, id):
            # The same draw once more, without the library that failed.
            id = int((probabilities.numpy() / self._noise.numpy()).argmax())
        if not _possible(probabilities, id):
            raise ImpossibleDraw(
                f"the draw gave id {id}, which is not among the {probabilities.numel():,} possible ones"
            )
        return id

    def _make_noise(self) -> None:
        if self._next % self._spacing == 0 and self._next not in self._marks:
            self._marks[self._next] = self._generator.get_state()
            if len(self._marks) > _MARKS:
                self._spacing *= 2
                self._marks = {mark: state for mark, state in self._marks.items() if mark % self._spacing == 0}
        self._noise.exponential_(generator=self._generator)
        self._next += 1


def _largest(logits: Tensor, k: int) -> Tensor:
    """True for exactly k logits: the largest, of equal ones those with the lower id."""
    smallest = logits.topk(k).values[-1]
    larger = logits > smallest
    equal = logits == smallest
    return larger | (equal & (equal.cumsum(0) <= k - larger.sum()))


def _nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """The likeliest tokens that together reach top_p, made to sum to 1 again; the last one may overshoot."""
    ordered, ids = probabilities.sort(descending=True, stable=True)
    before = ordered.double().cumsum(0) - ordered
    kept = torch.zeros_like(probabilities)
    inside = before < top_p
    inside[0] = True
    kept[ids[inside]] = ordered[inside]
    return kept / kept.sum()


def _possible(probabilities: Tensor, id: int) -> bool:
    return 0 <= id < probabilities.numel() and float(probabilities[id]) > 0


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _within(value: object, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and low <= value <= high


def _check_count(field: str, named: str, value: object, range_: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingError(field, f"{named} must be a whole number, not {value!r}")
    if value < 0:
        raise SettingError(field, f"{named} {value} is out of range; {range_}")
