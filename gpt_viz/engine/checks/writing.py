"""Checks that a seed means a text: what the untrained model writes, twice the same, and kept to compare with."""

from __future__ import annotations

from collections.abc import Generator

import torch

from gpt_viz import ledger
from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen, obstacle_to
from gpt_viz.engine.fast import Fast
from gpt_viz.engine.initialise import build_steps
from gpt_viz.engine.model import GPT
from gpt_viz.engine.sampling import Sampler, distribution
from gpt_viz.engine.taps import device_of

SEED, TOKENS = 0, 300
# Multiply-adds of all draws together: some seconds of two cores.
MOST = 1e10


def before_sample(specimen: Specimen) -> Trial:
    """The model as its seed drew it writes 300 tokens from seed 0; asked again, the very same ones.

    Where the model has been trained since, it writes too, from the same seed, so that the two can be compared.
    """
    cost = 2 * TOKENS * ledger.multiply_adds_per_token(specimen.config)
    if cost > MOST:
        return does_not_apply(
            f"not at this size: {2 * TOKENS} tokens take about {cost:.1e} multiply-adds, "
            f"and a check stops at {MOST:.0e}"
        )
    reason = obstacle_to(specimen.model, 2, "the untrained model")
    if reason:
        return does_not_apply(reason)
    untrained = specimen.untrained
    model = specimen.model if untrained else (yield from _redrawn(specimen))
    newline = specimen.alphabet is not None and "\n" in specimen.alphabet
    start = specimen.alphabet.index("\n") if specimen.alphabet is not None and newline else 0
    first = yield from _written(model, start)
    again = yield from _written(model, start)
    now = [] if untrained else (yield from _written(specimen.model, start))
    same = next((place for place, pair in enumerate(zip(first, again, strict=True)) if pair[0] != pair[1]), TOKENS)
    counts = torch.bincount(torch.tensor(first), minlength=specimen.config.vocabulary)
    text, after = (specimen.gap.join(map(specimen.piece, ids)) for ids in (first, now))
    detail = f"from {'a newline' if newline else f'id {start}'} by seed {SEED}"
    if same < TOKENS:
        detail += f"; the two differ from token {same} on"
    return Outcome(
        passed=same == TOKENS,
        expected=f"{TOKENS} tokens, twice the same",
        found=f"{same} the same",
        detail=detail,
        facts={
            "tokens": TOKENS,
            "seed": SEED,
            "model_seed": specimen.seed,
            "kinds": int((counts > 0).sum()),
            "vocabulary": specimen.config.vocabulary,
            "text": text,
            "now": after,
        },
        labels={"before": tuple(map(specimen.piece, first)), "now": tuple(map(specimen.piece, now))},
        arrays={"counts": picture(counts.float())},
    )


def _redrawn(specimen: Specimen) -> Generator[None, None, GPT]:
    """The model as it was before any training."""
    steps = build_steps(specimen.config, specimen.seed, device_of(specimen.model))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            model: GPT = end.value
            return model
        yield


def _written(model: GPT, start: int) -> Generator[None, None, list[int]]:
    """The ids that the model writes after the first one, read and drawn anew."""
    fast, sampler = Fast(model), Sampler(SEED, model.config.vocabulary)
    ids = [start]
    for draw in range(TOKENS):
        logits = yield from fast.steps(ids)
        ids.append(sampler.draw(distribution(logits.to("cpu", torch.float32), position=len(ids)), draw))
        yield
    return ids[1:]
