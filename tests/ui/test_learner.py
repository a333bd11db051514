"""The learner: what it asks of the engine, how it waits for who looks back, and whom it tells of other weights."""

from dataclasses import replace

import numpy as np
import pytest

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    OTHER,
    Attended,
    Built,
    Cancel,
    Cancelled,
    CheckpointOpened,
    CheckpointSaved,
    Failed,
    Finished,
    ModelInfo,
    MomentShown,
    MomentsKept,
    Pause,
    ReportTraining,
    Resume,
    ShowMoment,
    Train,
    TrainedSteps,
    TrainingBegan,
    TrainingSample,
    Untrain,
    Validated,
)
from gpt_viz.schedule import TrainingSettings
from gpt_viz.ui.training.learner import LATEST_S, LOOK_SHARE, TELL_S, Learner, Plan
from gpt_viz.ui.training.moment import Moment

PLAN = Plan(None, None, TrainingSettings(steps=100))
MODEL = ModelInfo(config=GPTConfig(), seed=0, device="cpu", alphabet=None, tensors=(), total=0, bytes=0, elapsed_s=0.0)


def frozen(*values):
    array = np.array(values, np.float32)
    array.setflags(write=False)
    return array


def began(job, first=0, step=0, last=100):
    return TrainingBegan(
        job=job, first=first, step=step, last=last, name="text", sha256="", tokens=90, validation_tokens=10, windows=1
    )


def steps(job, first, *losses):
    array = frozen(*losses)
    return TrainedSteps(
        job=job, first=first, losses=array, rates=array, gradient_norms=array, tokens_per_second=5.0, left_s=3.0
    )


def kept(job, *moments, newest):
    return MomentsKept(job=job, steps=moments, newest=newest, bytes=10, limit_bytes=20)


@pytest.fixture
def learner(world):
    return Learner(world.subject, world.new_job, world.send)


def asked(world, kind):
    return [each for each in world.sent if isinstance(each, kind)]


@pytest.fixture
def running(learner, world):
    """A run with two steps made."""
    learner.run(PLAN)
    job = asked(world, Train)[0].job
    for event in (began(job), steps(job, 0, 4.0, 3.0), kept(job, 0, 1, newest=2)):
        learner.handle(event)
    world.sent.clear()
    return job


def test_a_run_asks_once_and_takes_in_every_step(learner, world):
    learner.run(PLAN)
    (command,) = world.sent
    assert (command.settings, command.corpus, command.limit) == (PLAN.settings, None, None)
    assert learner.running
    learner.handle(began(command.job))
    learner.handle(steps(command.job, 0, 4.0, 3.5))
    learner.handle(steps(command.job, 2, 3.0))
    learner.handle(Validated(job=command.job, step=2, loss=3.1, windows=4))
    learner.handle(TrainingSample(job=command.job, step=2, prompt="\n", text="abc", seed=0))
    assert list(learner.losses) == [4.0, 3.5, 3.0]
    assert (learner.newest, learner.shown, learner.trained) == (3, 3, True)
    assert learner.validations == [(2, pytest.approx(3.1))]
    assert [sample.text for sample in learner.samples] == ["abc"]
    learner.handle(Finished(job=command.job))
    assert (learner.live, learner.ended, learner.incomplete) == (False, "finished", True)


def test_pausing_asks_for_what_was_not_told_and_going_on_resumes_the_same_job(learner, world, running):
    learner.pause()
    assert [type(each) for each in world.sent] == [Pause, ReportTraining]
    assert world.sent[0].target == running
    assert (learner.running, learner.live, learner.paused) == (False, True, True)
    learner.run(PLAN)
    assert (type(world.sent[-1]), world.sent[-1].target) == (Resume, running)
    assert learner.running


def test_other_settings_begin_a_new_run_also_from_a_pause(learner, world, running):
    learner.pause()
    other = replace(PLAN, settings=TrainingSettings(rate=0.1))
    learner.run(other)
    assert asked(world, Train)[-1].settings.rate == 0.1
    assert not asked(world, Resume)


def test_a_single_step_asks_for_one_and_rests(learner, world):
    learner.step(PLAN)
    (command,) = world.sent
    assert command.limit == 1
    for event in (began(command.job), steps(command.job, 0, 4.0), Finished(job=command.job)):
        learner.handle(event)
    assert (learner.live, learner.ended) == (False, "paused")
    learner.run(PLAN)  # and from there on without a limit
    assert asked(world, Train)[-1].limit is None


def test_stopping_cancels_and_asks_for_what_was_not_told(learner, world, running):
    learner.stop()
    learner.stop()
    assert [type(each) for each in world.sent] == [Cancel]
    assert learner.stopping
    learner.handle(Cancelled(job=running))
    assert (learner.live, learner.stopping, learner.ended) == (False, False, "stopped")
    assert type(world.sent[-1]) is ReportTraining
    learner.handle(steps(world.sent[-1].job, 2, 2.5))
    assert list(learner.losses) == [4.0, 3.0, 2.5]


def test_f05_a_failure_is_no_end_and_the_next_run_works(learner, world, running):
    learner.handle(Failed(job=running, message="no luck", details="", expected=True))
    assert (learner.live, learner.ended, learner.reason) == (False, "failed", "no luck")
    assert list(learner.losses) == [4.0, 3.0]
    learner.run(PLAN)
    assert (learner.running, learner.ended, learner.reason) == (True, "", "")


def test_resetting_forgets_everything_and_asks_for_the_first_weights(learner, world, running):
    learner.reset()
    assert [type(each) for each in world.sent] == [Untrain]
    assert (len(learner.losses), learner.newest, learner.trained, learner.live) == (0, 0, False, False)
    learner.handle(Cancelled(job=running, superseded=True))
    learner.handle(kept(world.sent[0].job, 0, newest=0))
    learner.handle(MomentShown(job=world.sent[0].job, step=0, newest=True))
    assert (learner.ended, learner.trained) == ("", False)


def test_looking_back_lets_the_run_wait_and_coming_back_goes_on(learner, world, running):
    learner.show(1)
    assert [type(each) for each in world.sent] == [Pause, ReportTraining, ShowMoment]
    assert learner.live
    assert not learner.running
    show = world.sent[-1]
    learner.handle(MomentShown(job=show.job, step=1, newest=False))
    learner.handle(Finished(job=show.job))
    assert (learner.shown, learner.at_newest) == (1, False)
    world.sent.clear()
    learner.show(None)
    assert [type(each) for each in world.sent] == [ShowMoment, Resume]
    assert world.sent[0].step is None
    assert learner.running


def test_a_run_that_was_paused_by_order_does_not_go_on_by_itself(learner, world, running):
    learner.show(1)
    learner.pause()
    learner.handle(Finished(job=world.sent[-1].job))
    world.sent.clear()
    learner.show(learner.newest)  # the newest by its number
    assert [(type(each), each.step) for each in world.sent] == [(ShowMoment, None)]
    assert not learner.running


def test_who_drags_a_slider_gets_the_last_moment_and_not_all_of_them(learner, world, running):
    learner.handle(Finished(job=running))
    for moment in (1, 0, 1, 0):
        learner.show(moment)
    (first,) = asked(world, ShowMoment)
    assert first.step == 1
    learner.handle(Finished(job=first.job))
    assert [each.step for each in asked(world, ShowMoment)] == [1, 0]


def test_the_moments_end_with_the_newest(learner, world, running):
    assert learner.moments == (0, 1, 2)
    learner.handle(steps(running, 2, 3.0, 3.0))
    assert learner.moments == (0, 1, 4)
    learner.handle(kept(running, 0, 1, 3, 4, newest=4))
    assert learner.moments == (0, 1, 3, 4)


def test_steps_made_while_an_earlier_moment_is_shown_leave_it_shown(learner, running):
    learner.handle(MomentShown(job=9, step=1, newest=False))
    learner.handle(steps(running, 2, 2.0))
    assert (learner.shown, learner.newest) == (1, 3)
    learner.handle(MomentShown(job=running, step=3, newest=True))
    assert learner.at_newest


def test_another_model_ends_the_run_that_would_keep_the_old_one_and_forgets_it(learner, world, running):
    learner.pause()
    world.sent.clear()
    learner.handle(Built(job=50, model=MODEL))
    assert [(type(each), each.target) for each in world.sent] == [(Cancel, running)]
    assert (learner.live, len(learner.losses), learner.trained) == (False, 0, False)
    learner.handle(Cancelled(job=running))
    assert learner.ended == ""


def test_what_happens_to_the_other_model_is_no_news(learner, running):
    before = list(learner.losses)
    learner.handle(replace(steps(running, 2, 1.0), slot=OTHER))
    learner.handle(Built(job=50, slot=OTHER, model=MODEL))
    assert list(learner.losses) == before


def test_what_a_file_brings_with_it_is_saved_and_what_is_trained_on_is_not(learner, world):
    learner.handle(Built(job=5, model=MODEL))
    learner.handle(CheckpointOpened(job=5, path="a", report=()))
    learner.handle(steps(5, 0, 4.0, 3.0, 2.0))
    learner.handle(kept(5, 0, 3, newest=3))
    assert (learner.trained, learner.unsaved) == (True, 0)
    assert not learner.live
    learner.handle(steps(6, 3, 1.0, 1.0))
    assert learner.unsaved == 2
    learner.handle(CheckpointSaved(job=7, path="b", bytes=1))
    assert learner.unsaved == 0


def test_those_who_show_weights_are_told_at_once_and_then_now_and_then(learner, world, running, qtbot):
    told = []
    world.subject.stepped.connect(lambda: told.append(world.subject.version))
    with qtbot.waitSignal(world.subject.stepped):  # the rest of what came before
        learner.handle(steps(running, 2, 3.0))
    count = len(told)
    for number in range(50):
        learner.handle(steps(running, 3 + number, 3.0))
    assert len(told) <= count + 1
    with qtbot.waitSignal(world.subject.stepped):
        pass
    assert len(told) <= count + 2


class Watched:
    """A learner in a run, with a clock of the test's own, and how often it told of other weights."""

    def __init__(self, world):
        self.now, self.world = 0.0, world
        self.learner = Learner(world.subject, world.new_job, world.send, clock=lambda: self.now)
        self.learner.run(PLAN)
        self.job = asked(world, Train)[-1].job
        self.learner.handle(began(self.job))
        self.step()

    @property
    def told(self):
        return self.world.subject.version

    def step(self):
        """One step is made; whether it was told of."""
        before = self.told
        self.learner.handle(steps(self.job, len(self.learner.losses), 3.0))
        return self.told > before

    def looked(self, took_s, job=99):
        """Those who were told have had a pass that took the engine so long."""
        self.learner.handle(Attended(job=job, tokens=None, patterns=None, head=(0, 0), whole=None))
        self.learner.handle(Finished(job=job, took_s=took_s))


@pytest.mark.parametrize(
    ("took_s", "pause_s"), [(0.0, TELL_S), (LOOK_SHARE * TELL_S, TELL_S), (LOOK_SHARE * 2, 2.0), (50.0, LATEST_S)]
)
def test_the_longer_a_look_takes_the_seldomer_it_is_asked_for_up_to_a_limit(world, took_s, pause_s):
    watched = Watched(world)
    for job in range(80, 100):  # however many there are: typing and sampling ask for them, too
        watched.looked(took_s, job)
    watched.now = pause_s * 0.99
    assert not watched.step()
    watched.now = pause_s * 1.01
    assert watched.step()
    watched.looked(0.0, job=101)
    watched.now += TELL_S * 1.01
    assert watched.step()


def test_what_else_the_engine_does_makes_looks_no_seldomer(world):
    watched = Watched(world)
    watched.learner.handle(Finished(job=99, took_s=50.0))
    watched.now = TELL_S * 1.01
    assert watched.step()


@pytest.mark.parametrize("end", [lambda it: it.learner.pause(), lambda it: it.learner.handle(Finished(job=it.job))])
def test_the_last_weights_of_a_run_are_told_of_without_waiting_for_a_costly_look(world, end):
    watched = Watched(world)
    watched.looked(50.0)
    watched.now = TELL_S * 1.01
    assert not watched.step()
    before = watched.told
    end(watched)
    assert watched.told == before + 1


def test_another_model_is_told_of_neither_late_nor_for_the_one_before(world):
    watched = Watched(world)
    watched.looked(50.0)
    watched.now = TELL_S * 1.01
    assert not watched.step()  # it would be told of in seconds
    watched.learner.handle(Built(job=70, model=MODEL))
    before = watched.told
    watched.now = LATEST_S * 2
    watched.learner._soon.timeout.emit()
    assert watched.told == before
    watched.learner.handle(steps(watched.job, 0, 3.0))
    watched.now += TELL_S * 1.01
    assert watched.step()


def test_weights_have_a_name_that_comes_back_with_them_and_not_with_those_of_another_training(learner, running):
    first = Moment(0, 0)
    assert learner.moment == Moment(learner.moment.origin, 2)
    trained = learner.moment
    assert first.became(trained)
    assert not trained.became(first)
    learner.handle(MomentShown(job=9, step=0, newest=False))
    assert learner.moment == first
    learner.handle(MomentShown(job=10, step=2, newest=True))
    assert learner.moment == trained
    learner.reset()
    learner.handle(MomentShown(job=11, step=0, newest=True))
    assert learner.moment == first
    learner.handle(steps(12, 0, 4.0, 3.0))
    assert learner.moment.step == trained.step
    assert learner.moment != trained
    assert not trained.became(learner.moment)


def test_a_moment_is_told_of_at_once(learner, world, running):
    version = world.subject.version
    learner.handle(MomentShown(job=9, step=1, newest=False))
    assert world.subject.version == version + 1


def test_first_weights_that_are_shown_are_trained_anew_where_nothing_is_lost_by_it(world):
    world.subject.set_built(MODEL)
    learner = Learner(world.subject, world.new_job, world.send)
    learner.handle(CheckpointOpened(job=90, path="trained.safetensors", report=()))
    learner.handle(steps(90, 0, 3.0, 2.0))
    learner.handle(kept(90, 0, 2, newest=2))
    learner.show(0)
    learner.handle(MomentShown(job=asked(world, ShowMoment)[-1].job, step=0, newest=False))
    assert learner.unsaved == 0
    learner.run(PLAN)
    assert asked(world, Train)[-1].anew
    assert (learner.newest, list(learner.losses), learner.undone) == (0, [], True)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_training_that_is_in_no_file_goes_on_whatever_moment_is_shown(world, step):
    world.subject.set_built(MODEL)
    learner = Learner(world.subject, world.new_job, world.send)
    learner.run(PLAN)
    job = asked(world, Train)[-1].job
    learner.handle(began(job))
    learner.handle(steps(job, 0, 3.0, 2.0))
    learner.handle(kept(job, 0, 1, 2, newest=2))
    learner.handle(Finished(job=job))
    learner.show(step)
    learner.handle(MomentShown(job=asked(world, ShowMoment)[-1].job, step=step, newest=step == 2))
    learner.run(PLAN)
    assert not asked(world, Train)[-1].anew
