"""The checks: what must be true of every model of this kind, tried out on this one. Knows no command and no window.

One file holds one idea; each check is a generator that pauses as often as it can and returns its Outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

import torch

from gpt_viz.claims import NAMES
from gpt_viz.engine.checks.attention import attention_rows, mask
from gpt_viz.engine.checks.causality import causality
from gpt_viz.engine.checks.counting import parameter_count, shapes
from gpt_viz.engine.checks.elsewhere import device
from gpt_viz.engine.checks.exam import Exam, exam_of
from gpt_viz.engine.checks.generalising import validation_loss
from gpt_viz.engine.checks.initial import initial_loss
from gpt_viz.engine.checks.learning import gradients, memorise
from gpt_viz.engine.checks.norms import layernorm
from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply
from gpt_viz.engine.checks.scaling import scaled_scores
from gpt_viz.engine.checks.specimen import CheckError, Specimen, prepared
from gpt_viz.engine.checks.writing import before_sample

CHECKS: dict[str, Callable[[Specimen], Trial]] = {
    each.__name__: each
    for each in (
        parameter_count,
        causality,
        attention_rows,
        mask,
        initial_loss,
        memorise,
        gradients,
        shapes,
        layernorm,
        scaled_scores,
        before_sample,
        validation_loss,
        device,
    )
}

__all__ = ["CHECKS", "CheckError", "Exam", "Outcome", "Specimen", "chosen", "exam_of", "prepared", "tried"]


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """These checks in their order; all of them where none is named. Raises CheckError for an unknown one."""
    wanted = set(names)
    unknown = sorted(wanted - set(NAMES))
    if unknown:
        raise CheckError("names", f"there is no check {unknown[0]!r}; choose {', '.join(NAMES)}")
    return tuple(name for name in NAMES if name in wanted or not wanted)


def tried(name: str, specimen: Specimen) -> Generator[Outcome | None, None, Outcome]:
    """One check; where the model itself breaks under it, the check has failed and says by what."""
    if specimen.obstacle and name != "parameter_count":
        return does_not_apply(specimen.obstacle)
    try:
        return (yield from CHECKS[name](specimen))
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        return Outcome(passed=False, found="an error", detail=f"{type(error).__name__}: {first}")
