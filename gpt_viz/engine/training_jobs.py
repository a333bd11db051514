"""Answers the commands about training: a generator of events for each. Knows no window and no thread.

Between any two yields others may use the model that is training, look at an earlier moment of it, or replace it. What
a run does never depends on that: it puts the newest weights back before it goes on, and ends once its model is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from gpt_viz.engine.course import Course, Run
from gpt_viz.engine.initialise import build_steps
from gpt_viz.engine.loaded import Loaded
from gpt_viz.engine.material import reading
from gpt_viz.engine.past import understood
from gpt_viz.engine.sampling import check_tokens
from gpt_viz.engine.session import Session, moments_kept, steps_untold, windows_of
from gpt_viz.engine.timeline import flat
from gpt_viz.engine.training_memory import check_room, told
from gpt_viz.protocol import (
    Command,
    Event,
    MomentShown,
    Progress,
    ReportTraining,
    ShowMoment,
    Train,
    TrainingBegan,
    Untrain,
    Validated,
)

Events = Generator[Event | None, None, None]


class TrainingJobs:
    """The engine's methods for training. `model` gives what is in a slot, `slots` is all there is; clock in seconds."""

    def __init__(self, model: Callable[[str], Loaded], slots: Mapping[str, Loaded], clock: Callable[[], float]) -> None:
        self._model, self._slots, self._clock = model, slots, clock

    def methods(self) -> dict[type[Command], Callable[[Any], Events]]:
        """Which method answers which command."""
        return {
            Train: self._train,
            Untrain: self._untrain,
            ShowMoment: self._show_moment,
            ReportTraining: self._report,
        }

    def _train(self, command: Train) -> Events:
        check_tokens(command.tokens)
        held = self._model(command.slot)
        run = yield from self._run(held, command)
        if run is None or held.course is None:
            return
        course, session = held.course, Session(held, held.course, run, command, self._clock)
        steps, back = session.steps(), False
        try:
            while self._slots.get(command.slot) is held and course.run is run:
                back = course.wear_newest() or back
                if back:  # told before the next step: what that one has to tell must not wait, for a run may be ended
                    session.tempo.away()
                    yield _shown(command, course)
                    session.tempo.back()
                    back = course.wear_newest()  # and on at once, though someone may have wanted another moment again
                try:
                    event = next(steps)
                except StopIteration:
                    return
                except Exception as error:
                    yield from session.untold()
                    if told(error, held.info.config, run.settings.batch, held.info.device) is None:
                        raise
                    # Not kept under a name: this frame and the error would keep each other, and the tensors, alive.
                    raise told(error, held.info.config, run.settings.batch, held.info.device) from error  # type: ignore[misc]
                session.tempo.away()
                yield event
                session.tempo.back()
        finally:
            steps.close()

    def _run(self, held: Loaded, command: Train) -> Generator[Event, None, Run | None]:
        """The run to go on with, or a new one; None where the model has gone while the text was read."""
        source, settings = (command.corpus, command.encoding), command.settings
        check_room(held.info.config, settings.batch, held.info.device)
        if command.anew or held.course is None or not held.course.goes_on(source, settings):
            for_this = reading(*source, held.tokenizer, held.info.alphabet)
            material = yield from _progress(for_this, command)
            if self._slots.get(command.slot) is not held:
                return None
            course = held.course or _course(held)
            looked_back = not course.wears_newest
            if command.anew:
                course.undo()
            course.begin(source, material, settings)
            held.course = course
            if command.anew:
                yield moments_kept(command, course)
            if looked_back or command.anew:
                yield _shown(command, course)
        run = held.course.run
        assert run is not None
        yield TrainingBegan(
            job=command.job,
            slot=command.slot,
            first=run.first,
            step=held.course.step,
            last=run.last,
            name=run.material.name,
            sha256=run.material.sha256,
            tokens=len(run.material.ids) - len(run.validation),
            validation_tokens=len(run.validation),
            windows=windows_of(run, held.info.config.block_size, command.windows),
        )
        return run

    def opened(self, command: Command, held: Loaded, state: Mapping[str, Tensor]) -> Events:
        """Tell of the training that a model out of a file has had, and find its weights from before it, if need be."""
        past = understood(held.history)
        if not past.steps:
            return
        origin = None
        if past.drawn:
            drawn = yield from _progress(build_steps(held.info.config, held.info.seed, "cpu"), command)
            origin = flat(drawn.parameters())
        held.course = Course(held.model, history=held.history, state=state, origin=origin)
        for step, loss in past.validations:
            yield Validated(job=command.job, slot=command.slot, step=step, loss=loss, windows=0)
        yield from self._all_told(command, held.course)

    def _untrain(self, command: Untrain) -> Events:
        course = self._model(command.slot).course
        if course is not None:
            course.undo()
        yield moments_kept(command, course)
        yield MomentShown(job=command.job, slot=command.slot, step=0, newest=True)

    def _show_moment(self, command: ShowMoment) -> Events:
        held = self._model(command.slot)
        course = held.course or _course(held)  # which has one moment
        course.wear(course.step if command.step is None else command.step)
        yield _shown(command, course)

    def _report(self, command: ReportTraining) -> Events:
        course = self._model(command.slot).course
        if course is None:
            yield moments_kept(command, None)
        else:
            yield from self._all_told(command, course)

    def _all_told(self, command: Command, course: Course) -> Events:
        yield from steps_untold(command, course)
        yield moments_kept(command, course)


def history_of(held: Loaded) -> Mapping[str, Any]:
    """What a file is to tell of the training that the model has had, here and before."""
    return held.history if held.course is None else {**held.history, **held.course.history()}


def state_of(held: Loaded) -> Mapping[str, Tensor]:
    """What a file is to hold, so that the run can go on where it stands."""
    return {} if held.course is None else held.course.state()


@contextmanager
def newest_worn(held: Loaded) -> Iterator[None]:
    """Within: the model has its newest weights; afterwards those of the moment that was shown. Not over a yield."""
    course = held.course
    shown = None if course is None else course.shown
    if course is not None:
        course.wear_newest()
    try:
        yield
    finally:
        if course is not None and shown is not None:
            course.wear(shown)


def _course(held: Loaded) -> Course:
    return Course(held.model, history=held.history, drawn=not held.info.source or bool(held.history))


def _shown(command: Command, course: Course) -> MomentShown:
    return MomentShown(job=command.job, slot=command.slot, step=course.shown, newest=course.wears_newest)


def _progress(steps: Generator[tuple[int, int, str], None, Any], command: Command) -> Generator[Event, None, Any]:
    """The steps' result, their progress told as events."""
    while True:
        try:
            done, total, what = next(steps)
        except StopIteration as end:
            return end.value
        yield Progress(job=command.job, slot=command.slot, done=done, total=total, what=what)
