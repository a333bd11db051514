"""Checks why and how scores are scaled: by the model's own attention, and by random vectors of the same width."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from gpt_viz.engine.checks.attention import NO_LAYERS, Seen, attending
from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen, drawn

FACTOR = 0.01  # of the factor itself
PAIRS, NUMBERS = 20_000, 2e7
_KEYS = 32
# Below this a weight is rounded too coarsely for its logarithm to be trusted.
_LEAST_WEIGHT, _LEAST_SPREAD = 1e-30, 1e-8


def scaled_scores(specimen: Specimen) -> Trial:
    """What the softmax is given are the products q·k times D^-½, so that their variance does not grow with D.

    The factor is read off the model's own weights: log A rises with q·k as steeply as the scores were scaled.
    """
    config = specimen.config
    if config.layers == 0:
        return does_not_apply(NO_LAYERS)
    if specimen.tokens == 1:
        return does_not_apply("the text has a single token: its only weight is 1, whatever its score")
    layers = yield from attending(specimen)
    D = config.head_width
    wanted = D**-0.5
    factors = torch.stack([_factors(each) for each in layers])  # (L, H)
    known = factors[factors.isfinite()]
    if known.numel() == 0:
        return does_not_apply("all products q·k are alike, so no factor can be read off the weights")
    farthest = float(known[(known / wanted - 1).abs().argmax()])
    yield None
    random_before, random_after, soft, sharp, noise = _random(D)
    measured = torch.stack([_measured(each, wanted) for each in layers])  # (L, 4, H)
    before, after, entropy_sharp, entropy_soft = measured.mean((0, 2)).tolist()
    right = abs(farthest / wanted - 1) <= FACTOR and abs(random_before / D - 1) <= noise
    return Outcome(
        passed=right,
        expected=f"times 1/√{D} = {wanted:.4f}",
        found=f"times {farthest:.4f}",
        tolerance=FACTOR * wanted,
        detail=f"random q·k of {D} numbers have variance {random_before:.3g} ≈ D·var, and {random_after:.3g} once "
        f"scaled; here {before:.3g} and {after:.3g}",
        facts={
            "head_width": D,
            "factor": farthest,
            "wanted": wanted,
            "random_before": random_before,
            "random_after": random_after,
            "before": before,
            "after": after,
            "entropy_unscaled": entropy_sharp,
            "entropy_scaled": entropy_soft,
        },
        arrays={
            "variance": picture([random_before, random_after, before, after]),
            "sharp": picture(sharp),
            "soft": picture(soft),
            "factors": picture(factors),
        },
    )


def _factors(seen: Seen) -> Tensor:
    """How steeply log A rises with q·k within the rows of each head, (H,); NaN where all its products are alike."""
    products = (seen.q.double() @ seen.k.double().transpose(-2, -1)).cpu()  # (H, T, T)
    A = seen.A.double().cpu()
    T = A.shape[-1]
    used = (A > _LEAST_WEIGHT) & torch.ones(T, T, dtype=torch.bool).tril()
    count = used.sum(-1, keepdim=True).clamp(min=1)

    def centred(numbers: Tensor) -> Tensor:
        numbers = numbers.masked_fill(~used, 0.0)
        return (numbers - numbers.sum(-1, keepdim=True) / count).masked_fill(~used, 0.0)

    x, y = centred(products), centred(A.log())
    spread = (x * x).sum((-2, -1))
    slope = (x * y).sum((-2, -1)) / spread
    return torch.where(spread > _LEAST_SPREAD * used.sum((-2, -1)), slope, math.nan)


def _measured(seen: Seen, factor: float) -> Tensor:
    """Of each head (H,): the variance of its products and of its scores, and the entropy in bits of the softmax of
    either, the mean over rows; (4, H)."""
    products = (seen.q @ seen.k.transpose(-2, -1)).double().cpu()
    T = products.shape[-1]
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    variance = products[:, allowed].var(-1)
    return torch.stack(
        [variance, variance * factor**2, _entropy(products, allowed), _entropy(products * factor, allowed)]
    )


def _entropy(scores: Tensor, allowed: Tensor) -> Tensor:
    """The mean entropy in bits of the rows' softmax, from the second row on: (H, T, T) to (H,)."""
    logs = scores.masked_fill(~allowed, -math.inf).log_softmax(-1)[..., 1:, :]
    return -(logs.exp() * logs.masked_fill(logs == -math.inf, 0.0)).sum(-1).mean(-1) / math.log(2)


def _random(D: int) -> tuple[float, float, Tensor, Tensor, float]:
    """Queries and keys of D numbers with variance 1: the variance of their products before and after scaling, one row
    of softmax over 32 keys scaled and not, and how far the first variance may be off by chance."""
    draws, count = drawn(0), min(PAIRS, max(int(NUMBERS / D), 200))
    q, k = torch.randn(count, D, generator=draws), torch.randn(count, D, generator=draws)
    products = (q * k).sum(-1)
    one = (k[:_KEYS] @ q[0]).sort(descending=True).values
    # The variance of n such products is off by sqrt((kurtosis - 1) / n) of itself, and their kurtosis is 3 + 6 / D.
    noise = 6 * math.sqrt((2 + 6 / D) / count)
    before = float(products.var())
    return before, before / D, torch.softmax(one / math.sqrt(D), -1), torch.softmax(one, -1), noise
