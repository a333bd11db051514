"""A measured step as figures that are read. Knows no view."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ledger import StepSpec
from gpt_viz.measures import StepMeasure
from gpt_viz.quantities import size
from gpt_viz.ui.widgets.numbers import duration, written

if TYPE_CHECKING:
    from gpt_viz.ui.steps.opened_step import OpenedStep


def step_figures(step: StepMeasure) -> tuple[tuple[str, str], ...]:
    """Pairs of name and figure: what the numbers are like, then what they cost."""
    found = step.figures
    numbers = (
        ("mean", written(found.mean)), ("std", written(found.std)), ("min", written(found.smallest)),
        ("max", written(found.largest)), ("norm", written(found.norm)),
    )  # fmt: skip
    odd = (("not finite", f"{found.not_finite:,}"),) if found.not_finite else ()
    return (
        *numbers, *odd, ("dtype", step.dtype), ("device", step.device), ("bytes", size(step.bytes)),
        ("parameters", f"{step.parameters:,}"), ("multiply-adds", f"{step.multiply_adds:,}"),
        ("time", duration(step.elapsed_s)),
    )  # fmt: skip


def known_figures(spec: StepSpec, config: GPTConfig, tokens: int) -> tuple[tuple[str, str], ...]:
    """The same for a step that did not run, as far as formulas tell."""
    count = math.prod(spec.shape(config, tokens))
    return (
        ("numbers", f"{count:,}"),
        ("bytes", size(count * ledger.BYTES_PER_NUMBER)),
        ("parameters", f"{ledger.parameters_used(config, spec):,}"),
        ("multiply-adds", f"{ledger.step_multiply_adds(config, spec, tokens):,}"),
    )


def notes(opened: OpenedStep, not_finite: bool) -> tuple[str, ...]:
    """The marks that the picture has beside its colours."""
    return (*(["masked"] if opened.masked else []), *(["not finite"] if not_finite else []))
