"""Answers the commands that look into one pass of the text under study. Knows no slots, and holds nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator

from gpt_viz.engine.loaded import Loaded
from gpt_viz.engine.opened import opening
from gpt_viz.engine.provenance import explaining
from gpt_viz.engine.stepstats import measuring
from gpt_viz.protocol import (
    Event,
    Explain,
    Explained,
    MeasureSteps,
    OpenStep,
    StepOpened,
    StepsMeasured,
    TextRefused,
)


def looking(
    command: MeasureSteps | OpenStep | Explain, held: Loaded, clock: Callable[[], float]
) -> Generator[None, None, Event]:
    """The one event that answers the command, pausing between the blocks of its pass. `clock` is in seconds.

    Raises UnknownPlace and UnknownCell for what this model's pass of this text does not have.
    """
    job, slot, model = command.job, command.slot, held.model
    ids, unknown = held.tried(command.text, command.continuation)
    if not ids:
        return TextRefused(job=job, slot=slot, unknown=unknown)
    tokens = held.tokens(ids)
    if isinstance(command, MeasureSteps):
        steps = yield from measuring(model, tokens.ids, clock=clock)
        return StepsMeasured(job=job, slot=slot, tokens=tokens, steps=steps)
    if isinstance(command, Explain):
        explanation = yield from explaining(model, tokens.ids, command.step, command.index)
        return Explained(job=job, slot=slot, tokens=tokens, explanation=explanation)
    found = yield from opening(model, tokens.ids, command.step, clock=clock)
    return StepOpened(
        job=job,
        slot=slot,
        tokens=tokens,
        step=found.measure,
        histogram=found.histogram,
        tensor=found.picture,
        inputs=found.inputs,
    )
