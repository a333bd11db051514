"""What `train` does: a run on a text, from the first step or from where it was broken off, into a checkpoint.

Knows no Qt. Torch is imported only once the options are known to be good. The file is written now and then, so that no
more than the last half minute is ever lost, and always whole or not at all.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TextIO

from gpt_viz import archive
from gpt_viz.arguments import UsageError
from gpt_viz.commands import WorkError, as_json
from gpt_viz.meter import Meter, span
from gpt_viz.protocol import (
    CURRENT,
    CheckpointSaved,
    SaveCheckpoint,
    Train,
    TrainedSteps,
    TrainingBegan,
    Validated,
)
from gpt_viz.training_options import Start, start

SAVE_S = 30.0
DONE, STOPPED = 0, 130


def train(
    args: argparse.Namespace, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
) -> tuple[str, int]:
    """The text for stdout, and the exit code. Raises ValueErrors that say what to change, and WorkError."""
    archive.check_writable(Path(args.out))
    if args.best:
        archive.check_writable(Path(args.best), "--best")
    if args.best and Path(args.best).resolve() == Path(args.out).resolve():
        raise UsageError(f"--best and --out are both {args.out}; the run and its best weights need a file each")
    begin = start(args)
    if args.best and begin.settings.validation == 0:
        raise UsageError("--best keeps the weights of the lowest estimate; give a --validation share above 0 for one")
    work = _Work(begin, args, Meter(sys.stderr if stream is None else stream, clock), clock)
    if begin.complete:
        work.nothing_to_do()
    else:
        with _interrupts() as interrupted:
            work.run(interrupted)
    return work.report()


class _Work:
    """A run at work, told on stderr and written to the file."""

    def __init__(
        self,
        begin: Start,
        args: argparse.Namespace,
        meter: Meter,
        clock: Callable[[], float],
    ) -> None:
        self._engine, self._settings, self._sha256 = begin.engine, begin.settings, begin.sha256
        self._args, self._meter, self._clock = args, meter, clock
        self._began: TrainingBegan | None = None
        self._loss = self._validation = math.nan
        self._speed = self._left_s = 0.0
        self._begun_at = self._saved_at = clock()
        self._bytes = 0
        self._lowest = math.inf  # the estimate of the weights in the file --best
        self._stopped = self._made = False  # `made`: whether there was a step

    def run(self, interrupted: Callable[[], bool]) -> None:
        """Train to the end, or until interrupted; the file is written either way. Raises WorkError."""
        from gpt_viz.engine.material import UnreadableText
        from gpt_viz.engine.training import TrainingError

        source = {"corpus": str(self._args.corpus), "encoding": self._args.encoding}
        steps = self._engine.run(Train(job=2, **source, settings=self._settings, windows=0, tokens=0))
        try:
            for event in steps:
                self._take(event)
                if interrupted():
                    self._stopped = True
                    break
        except UnreadableText as error:
            what = str(error).partition("; ")[0]
            raise UsageError(f"{what}; a text of its own takes a model of its own: give --own-alphabet") from None
        except TrainingError as error:
            if error.step is None:
                raise
            self._save()
            raise WorkError(f"{error}; the steps before it are in {self._args.out}") from None
        finally:
            steps.close()  # a step that was not made to its end is undone
            self._meter.end()
        if self._stopped and not self._made:
            return  # what the file held before stays
        self._save(whole=self._stopped or not self._args.compact)

    def nothing_to_do(self) -> None:
        """The run is complete already."""
        self._know_so_far()
        self._meter.say(f"the run in {self._args.out} is complete; give more --steps to go on with it")

    def report(self) -> tuple[str, int]:
        """What was done, in words or as a document, and the exit code."""
        held, out = self._engine.model(CURRENT), self._args.out
        if self._stopped and not self._made:
            self._meter.say(f"stopped before the first step; nothing was written to {out}")
            return "", STOPPED
        assert held.course is not None
        history, info = held.course.history(), held.info
        if self._stopped:
            self._meter.say(
                f"stopped after {history['steps']:,} steps and written to {out}; the same command with --resume goes on"
            )
            return "", STOPPED
        elapsed = self._clock() - self._begun_at
        if not self._args.json:
            figures = f"loss {self._loss:.4f}"
            if math.isfinite(self._validation):
                figures += f", validation {self._validation:.4f}"
            return f"{history['steps']:,} steps, {figures} nats per token, {span(elapsed)}; written to {out}\n", DONE
        text = {name: history["runs"][-1][name] for name in ("text", "sha256", "characters", "tokens")}
        document = {
            "steps": history["steps"],
            "loss": _plain(self._loss),
            "validation": _plain(self._validation),
            "elapsed_s": elapsed,
            "tokens_per_second": self._speed,
            "parameters": info.total,
            "config": asdict(info.config),
            "model_seed": info.seed,
            "settings": asdict(self._settings),
            **text,
            "losses": history["losses"],
            "validations": history["validations"],
            "out": str(out),
            "bytes": self._bytes,
        }
        return as_json(document), DONE

    def _take(self, event: object) -> None:
        if isinstance(event, TrainingBegan):
            self._begin(event)
        elif isinstance(event, TrainedSteps):
            self._made = True
            self._loss, self._speed, self._left_s = float(event.losses[-1]), event.tokens_per_second, event.left_s
            self._show(event.first + len(event.losses))
            if self._clock() - self._saved_at >= SAVE_S:
                self._save()
        elif isinstance(event, Validated):
            self._validation = event.loss
            self._show(event.step, mark=True)
            self._keep_best(event.loss)

    def _begin(self, event: TrainingBegan) -> None:
        self._began = event
        if self._sha256 is not None and self._sha256 != event.sha256:
            raise UsageError(f"{self._args.out} was trained on another text than {self._args.corpus}")
        self._know_so_far()
        if self._args.best and event.windows == 0:
            raise UsageError(
                f"--best keeps the weights of the lowest estimate, and {event.validation_tokens:,} tokens to validate "
                "hold no window for one; give a larger --validation share"
            )
        where = f", from step {event.step:,}" if event.step else ""
        self._meter.say(
            f"{event.name}: {event.tokens:,} tokens to train on, {event.validation_tokens:,} to validate{where}"
        )

    def _know_so_far(self) -> None:
        course = self._engine.model(CURRENT).course
        if course is None:
            return
        # Of this run alone: an earlier one may have been on another text.
        estimates = course.validations if course.run is None else [(at, loss) for at, loss, _ in course.run.estimates]
        if estimates:
            self._validation = estimates[-1][1]
        if self._args.best and Path(self._args.best).is_file():
            self._lowest = min((loss for _, loss in estimates if math.isfinite(loss)), default=math.inf)
        if course.losses:
            self._loss = course.losses[-1]

    def _show(self, step: int, *, mark: bool = False) -> None:
        assert self._began is not None
        figures = [f"loss {self._loss:.4f}"] if math.isfinite(self._loss) else []
        figures += [f"validation {self._validation:.4f}"] if math.isfinite(self._validation) else []
        if self._speed:
            figures += [f"{self._speed:,.0f} tokens/s", f"{span(self._left_s)} left"]
        self._meter.show(step - self._began.first, self._began.last - self._began.first, "  ".join(figures), mark=mark)

    def _keep_best(self, loss: float) -> None:
        """Write the weights of the estimate just made, where it is lower than that of those in the file."""
        if self._args.best and loss < self._lowest:
            self._lowest = loss
            for _ in self._engine.run(SaveCheckpoint(job=4, path=str(self._args.best), resumable=False)):
                pass

    def _save(self, *, whole: bool = True) -> None:
        for event in self._engine.run(SaveCheckpoint(job=3, path=str(self._args.out), resumable=whole)):
            if isinstance(event, CheckpointSaved):
                self._bytes = event.bytes
        self._saved_at = self._clock()


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Within: the first Ctrl+C is only noted, so that no step is broken off; the second one acts as always."""
    noted = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()

    if threading.current_thread() is not threading.main_thread():
        yield noted.is_set
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
