"""Advances every live generator of the engine in turn, sharing time; knows neither torch nor Qt nor threads.

All of the engine's work runs through one runner, so jobs share the models without locks, in an order that a test can
predict: it hands in a clock and calls `advance` by hand. Cancel, Pause and a newer command of the same lane act only
between two yields, by closing or skipping the generator.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from gpt_viz.protocol import Cancel, Cancelled, Command, Event, Failed, Finished, Pause, Resume

Steps = Generator[Event | None, None, None]
TURN_S = 0.010


class Runs(Protocol):
    """What a runner needs of an engine."""

    def run(self, command: Command) -> Steps:
        """A generator of the command's events; None is a place to pause at."""
        ...


@dataclass(slots=True)
class _Job:
    """`used_s` decides whose turn it is, and is no real time: a newcomer starts level. `took_s` is, up to this turn."""

    command: Command
    steps: Steps
    used_s: float
    paused: bool = False
    took_s: float = 0.0
    turn_at: float = 0.0


class Runner:
    """Owns an engine and its live jobs. `emit` gets each event; `clock` is in seconds."""

    def __init__(
        self,
        engine: Runs,
        emit: Callable[[Event], None],
        *,
        turn_s: float = TURN_S,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._emit = emit
        self._turn_s = turn_s
        self._clock = clock
        self._jobs: dict[int, _Job] = {}

    @property
    def busy(self) -> bool:
        """Whether `advance` has something to do."""
        return any(not job.paused for job in self._jobs.values())

    def submit(self, command: Command) -> None:
        """Take a command: start its job, closing what it supersedes, or act on the job it targets."""
        if isinstance(command, Cancel):
            self._close(command.target, superseded=False)
        elif isinstance(command, Pause):
            if command.target in self._jobs:
                self._jobs[command.target].paused = True
        elif isinstance(command, Resume):
            self._resume(command.target)
        else:
            self._start(command)

    def advance(self, called: Callable[[], bool] = lambda: False) -> bool:
        """Give the job that had the least time one turn. Returns whether there was one.

        The turn ends early when `called` says that someone waits with a command, so that a cancel acts at the end of
        the running step.
        """
        ready = [job for job in reversed(self._jobs.values()) if not job.paused]
        if not ready:
            return False
        job = min(ready, key=lambda each: each.used_s)  # of equals the newest, which someone waits for
        began = job.turn_at = self._clock()
        spent = 0.0
        # Who hears of an event may cancel or pause the job in answer to it.
        while spent < self._turn_s and self._is_live(job) and self._step(job) and not called():
            spent = self._clock() - began
        turn = self._clock() - began
        job.used_s += turn
        job.took_s += turn
        return True

    def close(self) -> None:
        """End every job, as at the program's end."""
        for number in list(self._jobs):
            self._close(number, superseded=False)

    def _step(self, job: _Job) -> bool:
        """One yield of the job; False when it has ended."""
        number, slot = job.command.job, job.command.slot
        try:
            event = next(job.steps)
        except StopIteration:
            del self._jobs[number]
            self._emit(Finished(job=number, slot=slot, took_s=job.took_s + self._clock() - job.turn_at))
            return False
        except Exception as error:
            del self._jobs[number]
            self._emit(failure(error, number, slot))
            return False
        if event is not None:
            self._emit(event)
        return True

    def _start(self, command: Command) -> None:
        try:
            steps = self._engine.run(command)
        except Exception as error:
            self._emit(failure(error, command.job, command.slot))
            return
        self._supersede(command)
        self._jobs[command.job] = _Job(command, steps, self._least())

    def _resume(self, number: int) -> None:
        job = self._jobs.get(number)
        if job is not None and job.paused:
            # While it was paused the others had time that it has no claim to.
            job.used_s = max(job.used_s, self._least())
            job.paused = False

    def _least(self) -> float:
        """Where a newcomer starts: level with the one that had the least, so it neither waits nor catches up."""
        return min((job.used_s for job in self._jobs.values() if not job.paused), default=0.0)

    def _is_live(self, job: _Job) -> bool:
        return not job.paused and self._jobs.get(job.command.job) is job

    def _supersede(self, command: Command) -> None:
        for number, job in list(self._jobs.items()):
            if number == command.job or (command.lane and _road(job.command) == _road(command)):
                self._close(number, superseded=True)

    def _close(self, number: int, *, superseded: bool) -> None:
        job = self._jobs.pop(number, None)
        if job is None:
            return
        try:
            job.steps.close()
        except Exception as error:
            self._emit(failure(error, number, job.command.slot))
        else:
            self._emit(Cancelled(job=number, slot=job.command.slot, superseded=superseded))


def _road(command: Command) -> tuple[str, str, str]:
    """Of the commands on one road only the newest goes on."""
    return command.lane, command.slot, command.asker


def failure(error: Exception, job: int, slot: str) -> Failed:
    """The error as an event. Only text is kept: a traceback holds its frames' tensors alive."""
    expected = isinstance(error, ValueError)
    message = str(error).strip() or type(error).__name__
    return Failed(
        job=job,
        slot=slot,
        message=message if expected else f"{type(error).__name__}: {message.splitlines()[0]}",
        details="".join(traceback.format_exception(error)),
        expected=expected,
        field=getattr(error, "field", ""),
        candidates=getattr(error, "candidates", ()),
    )
