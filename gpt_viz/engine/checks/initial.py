"""Checks that an untrained model knows nothing but how many tokens there are: its loss stands just above ln V.

Where it should stand follows from how the head's weights are drawn. ln_f hands it vectors of squared length C, so a
logit is a sum of C of its weights: its variance is s² = C·var(W) + var(b). If V logits spread by s around nothing in
particular, the loss is ln V + s²/2 on average (the mean of e^z is e^(s²/2)); that only so many different tokens come
next, each with its share f of them, moves it by a few s·sqrt(Σ f²).
"""

from __future__ import annotations

import math

import torch

from gpt_viz.config import GPTConfig
from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen, passing
from gpt_viz.engine.initialise import promised_std

# Beyond this spread of the logits the initialisation itself gives the promise up.
MOST_SPREAD = 1.5
_SIGMAS = 3.0
_ROUNDING = 0.02


def initial_loss(specimen: Specimen) -> Trial:
    """Before any training the loss is near ln V, as far above it as the head's initialisation spreads the logits."""
    config = specimen.config
    if config.vocabulary == 1:
        return does_not_apply("with a single token in the vocabulary the loss is 0 = ln 1, whatever the weights")
    if specimen.targets.numel() == 0:
        return does_not_apply("the text has a single token, so there is no next one to be surprised by")
    if not specimen.untrained:
        return does_not_apply("this model has been trained, and ln V is where an untrained one begins")
    spread = promised_spread(config)
    V = config.vocabulary
    if spread > MOST_SPREAD:
        return does_not_apply(
            f"this head is drawn so wide that its logits spread by {spread:.1f}; such a model doesn't begin at "
            f"ln V = {math.log(V):.4f}"
        )
    *_, logits = yield from passing(specimen.model, specimen.inputs)
    targets = specimen.targets[0]
    surprises = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none").cpu()
    loss, std = float(surprises.mean()), float(logits.std(-1, correction=0).mean())
    low, high = _range(specimen, spread)
    return Outcome(
        passed=low <= loss <= high,
        expected=f"{low:.2f} to {high:.2f}, about ln {V:,} = {math.log(V):.4f}",
        found=f"{loss:.4f}",
        detail=f"the logits spread by {std:.3f} (drawn for {spread:.3f}), which alone adds {std**2 / 2:.3f} to ln V",
        facts={
            "loss": loss,
            "ln_v": math.log(V),
            "vocabulary": V,
            "low": low,
            "high": high,
            "logit_std": std,
            "promised_std": spread,
            "above": loss - math.log(V),
            "added": std**2 / 2,
            "tokens": len(targets),
        },
        arrays={"surprises": picture(surprises)},
    )


def promised_spread(config: GPTConfig) -> float:
    """The standard deviation of the logits that the initialisation gives: s = sqrt(C·var(W) + var(b))."""
    weight = promised_std(config, "head.weight") or 0.0
    bias = (promised_std(config, "head.bias") or 0.0) if config.head_bias else 0.0
    return math.sqrt(config.width * weight**2 + bias**2)


def _range(specimen: Specimen, spread: float) -> tuple[float, float]:
    """Between which losses an untrained model stands on this text."""
    config, targets = specimen.config, specimen.targets[0]
    V = config.vocabulary
    shares = torch.bincount(targets.cpu()).double() / len(targets)
    chance = _SIGMAS * spread * float(shares.norm()) + _ROUNDING
    low, high = math.log(V) - chance, math.log(V) + spread**2 / 2 + chance
    if config.tied_head:
        # A tied head knows the token that it reads: its own logit may reach C·σ/√2. That takes from the others, and
        # helps where a token is followed by itself.
        own = config.width * (promised_std(config, "head.weight") or 0.0) / math.sqrt(2)
        high += math.log1p(math.expm1(min(own, 700.0)) / V)
        low -= own * float((specimen.inputs[0] == targets).float().mean())
    return low, high
