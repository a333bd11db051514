"""Answers the command that asks for checks. Knows no slots, and holds nothing."""

from __future__ import annotations

from collections.abc import Generator

from gpt_viz.engine.checks import chosen, exam_of, prepared, tried
from gpt_viz.engine.checks.outcome import Outcome
from gpt_viz.engine.loaded import Loaded
from gpt_viz.engine.past import understood
from gpt_viz.engine.training_jobs import history_of
from gpt_viz.protocol import Checked, Event, Progress, RunChecks


def checking(command: RunChecks, held: Loaded) -> Generator[Event | None, None, None]:
    """The events of the command, of which each may be the last. Raises UnknownCharacters, IdsError and CheckError."""
    job, slot = command.job, command.slot
    names = chosen(command.names)
    ids = held.readable(command.text, command.continuation)
    specimen = yield from prepared(
        held.model,
        ids,
        piece=held.piece,
        gap=" " if held.info.alphabet is None and held.info.pieces is None else "",
        alphabet=held.info.alphabet,
        seed=held.info.seed,
        position=command.position,
        token=command.token,
    )
    if "validation_loss" in names:
        past = understood(history_of(held))  # of the very weights that were copied: nothing came in between
        specimen.exam = yield from exam_of(held, past, command.corpus, command.encoding)
    for done, name in enumerate(names):
        yield Progress(job=job, slot=slot, done=done, total=len(names), what=name)
        trial = tried(name, specimen)
        while True:
            try:
                outcome = next(trial)
            except StopIteration as end:
                yield _told(command, name, end.value)
                break
            yield None if outcome is None else _told(command, name, outcome)
    yield Progress(job=job, slot=slot, done=len(names), total=len(names))


def _told(command: RunChecks, name: str, outcome: Outcome) -> Checked:
    return Checked(
        job=command.job,
        slot=command.slot,
        name=name,
        passed=outcome.passed,
        expected=outcome.expected,
        found=outcome.found,
        tolerance=outcome.tolerance,
        detail=outcome.detail,
        running=outcome.running,
        facts=tuple(outcome.facts.items()),
        labels=tuple(outcome.labels.items()),
        arrays=tuple(outcome.arrays.items()),
    )
