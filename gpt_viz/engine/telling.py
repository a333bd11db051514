"""The progress of steps told as events. Knows no model, and not what the steps do."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import TypeVar

from gpt_viz.protocol import Command, Event, Progress

R = TypeVar("R")


def told(steps: Generator[tuple[int, int, str] | None, None, R], command: Command) -> Generator[Event | None, None, R]:
    """The steps' result. What they yield is (done, total, what), or None where they only pause."""
    with closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                result: R = end.value
                return result
            if step is None:
                yield None
            else:
                done, total, what = step
                yield Progress(job=command.job, slot=command.slot, done=done, total=total, what=what)
