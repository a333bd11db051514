"""Answers commands: one method for each, a generator of events. Knows no window, no thread and no queue.

Usable by itself: `for event in Engine().run(command)`. Whoever advances the generators may take turns between them:
nothing that torch keeps globally (modes, gradients, random numbers) is left set over a yield.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import nullcontext
from typing import Any, TypeVar

import torch

from gpt_viz.config import check_seed
from gpt_viz.engine import text_jobs
from gpt_viz.engine.checkpoints.opening import opening
from gpt_viz.engine.checkpoints.saving import kept_state, save
from gpt_viz.engine.checks.answering import checking
from gpt_viz.engine.devices import check_fits, devices, resolve
from gpt_viz.engine.heaviness import check_light
from gpt_viz.engine.initialise import build_steps
from gpt_viz.engine.limits import explained
from gpt_viz.engine.loaded import Loaded, loaded
from gpt_viz.engine.looking import looking
from gpt_viz.engine.pace import Pace, Stopwatch
from gpt_viz.engine.pieces import PieceTokenizer
from gpt_viz.engine.sampling import check_settings, check_tokens, rank
from gpt_viz.engine.taps import snapshot
from gpt_viz.engine.telling import told
from gpt_viz.engine.tokenizer import tokenizer_for
from gpt_viz.engine.trace import inspect_steps
from gpt_viz.engine.training_jobs import TrainingJobs, history_of, newest_worn, state_of
from gpt_viz.engine.weights import opening_weights
from gpt_viz.protocol import (
    Attended,
    Build,
    Built,
    CheckpointOpened,
    CheckpointSaved,
    Command,
    Distribution,
    Drawn,
    Drop,
    Dropped,
    EngineReady,
    Event,
    Explain,
    FetchText,
    Inspect,
    MeasureSteps,
    OpenCheckpoint,
    OpenStep,
    OpenText,
    OpenWeights,
    Predict,
    Progress,
    RunChecks,
    Sample,
    SaveCheckpoint,
    TextRefused,
    Traced,
    WeightsOpened,
)

Events = Generator[Event | None, None, None]
R = TypeVar("R")

# A pass that took longer with the recording is not made once more without it.
_QUICK_S = 0.020


class NoModel(ValueError):  # noqa: N818 (what it is says more than "Error")
    """There is no model in the slot that was asked for."""


class Engine:
    """Holds a model per slot and runs commands on them. `emit` gets one EngineReady; `threads` None leaves torch's."""

    def __init__(
        self,
        emit: Callable[[Event], None] | None = None,
        threads: int | None = None,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._slots: dict[str, Loaded] = {}
        self._clock = clock
        self._methods: dict[type[Command], Callable[[Any], Events]] = {
            Build: self._build,
            Drop: self._drop,
            Inspect: self._inspect,
            MeasureSteps: self._look,
            OpenStep: self._look,
            Explain: self._look,
            OpenWeights: self._open_weights,
            Predict: self._predict,
            Sample: self._sample,
            RunChecks: self._check,
            OpenCheckpoint: self._open_checkpoint,
            SaveCheckpoint: self._save_checkpoint,
        }
        self._training = TrainingJobs(self.model, self._slots, clock)
        self._methods |= self._training.methods() | text_jobs.methods()
        if threads is not None:
            torch.set_num_threads(threads)
        if emit is not None:
            ready = EngineReady(
                job=0, torch_version=torch.__version__, devices=devices(), threads=torch.get_num_threads()
            )
            emit(ready)

    def run(self, command: Command) -> Events:
        """The events of a command, in order; None is a place to pause at. Raises ValueErrors that say what to change.

        Nothing happens before the first `next`, and closing the generator early leaves the slots as they were.
        """
        if type(command) not in self._methods:
            raise TypeError(f"the engine knows no command {type(command).__name__}")
        try:
            yield from self._methods[type(command)](command)
        except (RuntimeError, MemoryError) as error:
            sentence = self._explained(error, command)
            if sentence is None:
                raise
            try:
                raise sentence from error
            finally:
                del sentence  # or this frame and the error would keep each other, and the failed tensors, alive

    def model(self, slot: str) -> Loaded:
        """What is in a slot. Raises NoModel."""
        if slot not in self._slots:
            raise NoModel("there is no model yet; build one first")
        return self._slots[slot]

    def _build(self, command: Build) -> Events:
        device = resolve(command.device)
        tokenizer = tokenizer_for(command.alphabet, command.config.vocabulary)
        check_fits(command.config, device)
        watch = Stopwatch(self._clock)
        steps = watch.timed(build_steps(command.config, command.seed, device))
        model = yield from told(steps, command)
        made = loaded(model, tokenizer, seed=command.seed, alphabet=command.alphabet, elapsed_s=watch.elapsed_s)
        self._slots[command.slot] = made
        yield Built(job=command.job, slot=command.slot, model=made.info)

    def _open_checkpoint(self, command: OpenCheckpoint) -> Events:
        check_light(command.path, command.at_most)
        watch = Stopwatch(self._clock)
        steps = watch.timed(opening(command.path, command.settings, resolve(command.device)))
        found = yield from told(steps, command)
        made = loaded(
            found.model,
            found.tokenizer,
            seed=found.seed,
            alphabet=found.alphabet,
            elapsed_s=watch.elapsed_s,
            source=found.name,
            history=found.history,
        )
        self._slots[command.slot] = made
        yield Built(job=command.job, slot=command.slot, model=made.info)
        yield CheckpointOpened(job=command.job, slot=command.slot, path=command.path, report=found.report)
        if found.history:
            yield from self._training.opened(command, made, kept_state(command.path))

    def _save_checkpoint(self, command: SaveCheckpoint) -> Events:
        held = self.model(command.slot)
        yield Progress(job=command.job, slot=command.slot, done=0, total=0, what=command.path)
        # In one go: between two yields the model may be trained on, and a file must hold one state of it.
        with newest_worn(held) if command.newest else nullcontext():
            size = save(
                command.path,
                held.model,
                alphabet=held.info.alphabet,
                seed=held.info.seed,
                history=history_of(held),
                tokenizer=held.tokenizer.description if isinstance(held.tokenizer, PieceTokenizer) else None,
                state=state_of(held) if command.resumable else None,
            )
        yield CheckpointSaved(job=command.job, slot=command.slot, path=command.path, bytes=size)

    def _drop(self, command: Drop) -> Events:
        dropped = self._slots.pop(command.slot, None)
        if dropped is not None and dropped.info.device.startswith("cuda"):
            del dropped
            torch.cuda.empty_cache()
        yield Dropped(job=command.job, slot=command.slot)

    def _inspect(self, command: Inspect) -> Events:
        job, slot, held = command.job, command.slot, self.model(command.slot)
        ids, unknown = held.tried(command.text, command.continuation)
        if not ids:
            yield TextRefused(job=job, slot=slot, unknown=unknown)
            return
        tokens = held.tokens(ids)
        watch = Stopwatch(self._clock)
        steps = inspect_steps(
            held.model, tokens.ids, trace=command.trace, attention=command.attention, head=command.head
        )
        found = yield from self._while_held(slot, held, watch.timed(steps))
        if found is None:
            return
        if command.trace:
            quick = watch.elapsed_s < _QUICK_S
            yield Traced(
                job=job,
                slot=slot,
                tokens=tokens,
                steps=found.steps,
                loss=found.loss,
                first_bad=found.first_bad,
                elapsed_s=held.plain_pass(tokens.ids, self._clock) if quick else watch.elapsed_s,
            )
        if found.patterns is not None and found.whole is not None:
            yield Attended(
                job=job, slot=slot, tokens=tokens, patterns=found.patterns, head=found.head, whole=found.whole
            )

    def _look(self, command: MeasureSteps | OpenStep | Explain) -> Events:
        held = self.model(command.slot)
        event = yield from self._while_held(command.slot, held, looking(command, held, self._clock))
        if event is not None:
            yield event

    def _open_weights(self, command: OpenWeights) -> Events:
        held = self.model(command.slot)
        step = held.course.shown if held.course else 0
        found = yield from self._while_held(command.slot, held, opening_weights(held, command.parameter))
        if found is not None:
            yield WeightsOpened(
                job=command.job, slot=command.slot, parameter=command.parameter, step=step, tensors=found
            )

    def _check(self, command: RunChecks) -> Events:
        held = self.model(command.slot)
        for event in checking(command, held):
            if self._slots.get(command.slot) is not held:
                return
            yield event

    def _predict(self, command: Predict) -> Events:
        cuts = (command.temperature, command.top_k, command.top_p)
        check_settings(*cuts)
        held = self.model(command.slot)
        held.check(() if command.chosen is None else (command.chosen,))
        ids = held.readable(command.text, command.continuation)
        logits = yield from self._while_held(command.slot, held, held.fast.steps(ids))
        if logits is not None:
            probabilities = held.probabilities(ids, logits, *cuts)
            yield _distribution(command, logits, probabilities, len(ids), command.chosen)

    def _sample(self, command: Sample) -> Events:
        job, slot = command.job, command.slot
        cuts = (command.temperature, command.top_k, command.top_p)
        check_settings(*cuts)
        check_tokens(command.tokens)
        check_seed(command.seed)
        held = self.model(slot)
        ids = held.readable(command.text, command.continuation)
        draw = len(command.continuation)
        end = None if command.tokens is None else draw + command.tokens
        sampler = yield from self._while_held(slot, held, held.sampler(command.seed, draw))
        pace = Pace(self._clock())
        while sampler is not None and draw != end:
            logits = yield from self._while_held(slot, held, held.fast.steps(ids))
            if logits is None:
                return
            logits = logits.to("cpu", torch.float32)
            probabilities = held.probabilities(ids, logits, *cuts)
            id = sampler.draw(probabilities, draw)
            yield Drawn(
                job=job,
                slot=slot,
                id=id,
                piece=held.piece(id),
                position=len(ids),
                probability=float(probabilities[id]),
                rank=rank(logits, id),
                tokens_per_second=pace.count(self._clock()),
            )
            yield _distribution(command, logits, probabilities, len(ids), id)
            ids.append(id)
            draw += 1

    def _while_held(self, slot: str, held: Loaded, steps: Generator[None, None, R]) -> Generator[None, None, R | None]:
        """The steps' result, or None once the slot holds another model: no job may mix two."""
        while self._slots.get(slot) is held:
            try:
                next(steps)
            except StopIteration as end:
                result: R = end.value
                return result
            yield
        return None

    def _explained(self, error: Exception, command: Command) -> ValueError | None:
        """The error as a sentence about the machine, for the model that the command builds or runs."""
        if isinstance(command, Build):
            return explained(error, command.config, command.device)
        held = self._slots.get(command.slot)
        if held is None or isinstance(command, (OpenText, FetchText)):
            return None
        return explained(error, held.info.config, held.info.device)


def _distribution(
    command: Predict | Sample, logits: torch.Tensor, probabilities: torch.Tensor, position: int, chosen: int | None
) -> Distribution:
    return Distribution(
        job=command.job,
        slot=command.slot,
        position=position,
        logits=snapshot(logits),
        probabilities=snapshot(probabilities),
        chosen=chosen,
        temperature=command.temperature,
        top_k=command.top_k,
        top_p=command.top_p,
    )


def make_engine(emit: Callable[[Event], None]) -> Engine:
    """The engine of a window: it leaves one core to the window, and emits EngineReady. To be called on its thread."""
    return Engine(emit, threads=max(1, _cores() - 1))


def _cores() -> int:
    """The cores that this process may use, which in a container are not all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
