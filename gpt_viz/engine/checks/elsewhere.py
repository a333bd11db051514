"""Checks that the chosen device computes what the CPU computes."""

from __future__ import annotations

import copy

import torch

from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen, passing
from gpt_viz.engine.taps import device_of

# Of the largest logit: devices add in another order, and each sum of C float32 numbers is off by some 1e-7 of itself.
SHARE = 1e-3


def device(specimen: Specimen) -> Trial:
    """The same weights give the same logits on the CPU, but for rounding."""
    there = device_of(specimen.model)
    if not is_elsewhere(there):
        return does_not_apply("the model is on the CPU itself")
    *_, logits = yield from passing(specimen.model, specimen.ids)
    here = copy.deepcopy(specimen.model).to("cpu")
    yield None
    *_, reference = yield from passing(here, specimen.ids.cpu())
    off = (logits.cpu() - reference).abs().amax(-1)
    worst, tolerance = float(off.max()), SHARE * max(float(reference.abs().max()), 1.0)
    return Outcome(
        passed=worst <= tolerance,
        expected="the CPU's logits",
        found=f"off by {worst:.1e} at most",
        tolerance=tolerance,
        detail=f"{off.numel()} tokens, on {there} and on the CPU",
        facts={"device": str(there), "worst": worst, "tokens": off.numel()},
        labels={"tokens": tuple(specimen.piece(id) for id in specimen.ids[0].tolist())},
        arrays={"off": picture(off)},
    )


def is_elsewhere(there: torch.device) -> bool:
    """Whether that is another device than the CPU."""
    return there.type != "cpu"
