"""A run at work: its steps, with an estimate and a sample now and then. Knows no slot and no other job.

It tells of every step, in chunks, and of nothing twice.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator

import numpy as np

from gpt_viz import ledger
from gpt_viz.engine.course import Course, Run
from gpt_viz.engine.evaluation import EVALUATION_BATCH, evaluate, windows_in
from gpt_viz.engine.fast import Fast
from gpt_viz.engine.loaded import Loaded
from gpt_viz.engine.sampling import BrokenOutput, Sampler, distribution
from gpt_viz.engine.tempo import Tempo
from gpt_viz.engine.timeline import LIMIT_BYTES
from gpt_viz.protocol import Command, Event, MomentsKept, Train, TrainedSteps, TrainingSample, Validated

Events = Generator[Event | None, None, None]

# Chunks of steps go out at most so often.
REPORT_S = 1 / 30
# Samples are drawn at least so far apart, and so far that they take no more than this share of the time, but for
# those at the beginning, when a model changes most: they have so much time on credit.
SAMPLE_S, SAMPLE_SHARE = 2.0, 0.03
# Multiply-adds of one piece of an estimate: some milliseconds of one core.
PIECE = 5e8


class Session:
    """One command's part of a run. Its `tempo` is to be told when others take over."""

    def __init__(self, held: Loaded, course: Course, run: Run, command: Train, clock: Callable[[], float]) -> None:
        self.tempo = Tempo(clock)
        self._held, self._course, self._run, self._command = held, course, run, command
        self._windows = windows_of(run, held.info.config.block_size, command.windows)
        self._reported_at = float("-inf")
        self._fast: Fast | None = None

    def steps(self) -> Events:
        """All that the command asks for. Raises TrainingError."""
        try:
            yield from self._steps()
        finally:
            self._run.trainer.rest()
        yield from self.untold()

    def _steps(self) -> Events:
        trainer, course, made = self._run.trainer, self._course, 0
        while True:
            yield from self._look_around()
            if self._run.complete or made == self._command.limit:
                break
            course.made((yield from trainer.parts()) if trainer.large else trainer.step())
            made += 1
            self._count()
            if self.tempo.now - self._reported_at >= REPORT_S:
                yield from self.untold()
            else:
                yield None

    def untold(self) -> Generator[Event, None, None]:
        """What was done and has not been said."""
        self._reported_at = self.tempo.now
        yield from steps_untold(self._command, self._course)
        if self._course.timeline.steps != self._course.moments_told:
            yield moments_kept(self._command, self._course)

    def _count(self) -> None:
        course, run = self._course, self._run
        if course.timeline.wants(course.step):
            course.timeline.keep(course.step)
        self.tempo.count()
        tokens = run.settings.batch * self._held.info.config.block_size
        course.tokens_per_second = self.tempo.steps_per_second * tokens
        course.left_s = self.tempo.left_s(run.last - course.step)

    def _look_around(self) -> Events:
        """Between two steps: an estimate and a sample, where one is due."""
        course, run = self._course, self._run
        made = run.trainer.step_number
        regular = made % run.settings.eval_every == 0 or run.complete
        if regular and self._windows and not course.validated(course.step):
            yield from self.untold()
            yield from self._estimate()
        due = run.sampled_at is None or run.complete or self.tempo.now >= run.sample_due
        if due and self._command.tokens and run.sampled_at != course.step:
            yield from self.untold()
            yield from self._sample()

    def _estimate(self) -> Events:
        config = self._held.info.config
        batch = max(1, min(EVALUATION_BATCH, int(PIECE / max(ledger.multiply_adds(config), 1))))
        steps = evaluate(self._held.model, self._run.validation, self._windows, batch)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                loss: float = end.value
                break
            yield None
        self._course.estimated(loss, self._windows)
        job, slot = self._command.job, self._command.slot
        yield Validated(job=job, slot=slot, step=self._course.step, loss=loss, windows=self._windows)

    def _sample(self) -> Events:
        began, command, step = self.tempo.now, self._command, self._course.step
        prompt = self._prompt()
        ids = list(prompt)
        sampler = Sampler(command.sample_seed, self._held.info.config.vocabulary)
        self._fast = self._fast or Fast(self._held.model)
        try:
            for draw in range(command.tokens):
                logits = yield from self._fast.steps(ids)
                ids.append(sampler.draw(distribution(logits), draw))
                yield None
        except BrokenOutput:
            return  # the next step says so with its number
        finally:
            took = self.tempo.now - began
            self._run.sampled_at = step
            on_credit = min(took, self._run.sample_credit_s)
            self._run.sample_credit_s -= on_credit
            self._run.sample_due = self.tempo.now + max(SAMPLE_S, (took - on_credit) / SAMPLE_SHARE)
        decode = self._held.tokenizer.decode
        yield TrainingSample(
            job=command.job,
            slot=command.slot,
            step=step,
            prompt=decode(prompt),
            text=decode(ids[len(prompt) :]),
            seed=command.sample_seed,
        )

    def _prompt(self) -> list[int]:
        """What samples begin after: a newline where the model knows one, else the first token of the text."""
        alphabet = self._held.info.alphabet
        if alphabet is not None and "\n" in alphabet:
            return [alphabet.index("\n")]
        return [int(self._run.material.ids[0])]


def windows_of(run: Run, block_size: int, most: int) -> int:
    """How many windows an estimate takes of the run's validation part, at most `most` (0: all)."""
    there = windows_in(len(run.validation), block_size)
    return min(there, most) if most else there


def steps_untold(command: Command, course: Course) -> Generator[Event, None, None]:
    """The steps that have not been told of, all in one event; none where there are none."""
    told, first = course.told, course.first_untold
    course.told = len(course.losses)
    if course.told > told:
        yield TrainedSteps(
            job=command.job,
            slot=command.slot,
            first=first,
            losses=_frozen(course.losses[told:]),
            rates=_frozen(course.rates[told:]),
            gradient_norms=_frozen(course.norms[told:]),
            tokens_per_second=course.tokens_per_second,
            left_s=course.left_s,
        )


def moments_kept(command: Command, course: Course | None) -> MomentsKept:
    """Which moments there are."""
    if course is None:
        return MomentsKept(job=command.job, slot=command.slot, steps=(0,), newest=0, bytes=0, limit_bytes=LIMIT_BYTES)
    course.moments_told = course.timeline.steps
    return MomentsKept(
        job=command.job,
        slot=command.slot,
        steps=course.timeline.steps,
        newest=course.step,
        bytes=course.timeline.bytes,
        limit_bytes=course.timeline.limit_bytes,
    )


def _frozen(values: array[float]) -> np.ndarray:
    found = np.array(values, np.float32)
    found.setflags(write=False)
    return found
