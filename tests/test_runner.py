"""The runner, stepped by hand with a clock of the test's own: time is shared, and nothing acts between two yields."""

import gc
import weakref
from dataclasses import dataclass

import pytest

from gpt_viz.protocol import (
    OTHER,
    Build,
    Cancel,
    Cancelled,
    Drop,
    Failed,
    Finished,
    Inspect,
    OpenText,
    Pause,
    Predict,
    Progress,
    Resume,
    Sample,
)
from gpt_viz.runner import Runner

# A step that fills a turn, and adds up without rounding.
TURN = 1 / 64


class Clock:
    """Seconds that pass only where a step says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Engine:
    """Each job yields Progress with its step's number; `costs[job]` is what a step takes, `lengths[job]` how many."""

    def __init__(self, clock):
        self.clock = clock
        self.costs = {}
        self.lengths = {}
        self.endings = {}
        self.closed = []
        self.order = []

    def run(self, command):
        number = command.job
        done = 0
        try:
            while number not in self.lengths or done < self.lengths[number]:
                self.clock.now += self.costs.get(number, 0.001)
                self.order.append(number)
                done += 1
                yield Progress(job=number, slot=command.slot, done=done, total=0)
            if number in self.endings:
                raise self.endings[number]
        finally:
            self.closed.append(number)


@dataclass
class Bench:
    """A runner with what it was made of."""

    clock: Clock
    engine: Engine
    events: list
    runner: Runner

    def kinds(self, job):
        return [type(event).__name__ for event in self.events if event.job == job]

    def done(self, job):
        return sum(isinstance(event, Progress) for event in self.events if event.job == job)


@pytest.fixture
def bench():
    clock = Clock()
    engine, events = Engine(clock), []
    return Bench(clock, engine, events, Runner(engine, events.append, clock=clock))


def sample(job, **settings):
    return Sample(job=job, text="", **settings)


def inspect(job, **settings):
    return Inspect(job=job, text="", **settings)


def test_a_runner_without_jobs_has_nothing_to_do(bench):
    assert not bench.runner.busy
    assert not bench.runner.advance()
    assert bench.events == []


def test_nothing_runs_before_it_is_advanced(bench):
    bench.runner.submit(sample(1))
    assert bench.runner.busy
    assert bench.engine.order == []


def test_a_job_runs_to_its_end_and_is_finished_once(bench):
    bench.engine.lengths[1] = 3
    bench.runner.submit(sample(1, slot=OTHER))
    while bench.runner.advance():
        pass
    assert bench.kinds(1) == ["Progress"] * 3 + ["Finished"]
    assert bench.events[-1].slot == OTHER
    assert not bench.runner.busy
    assert bench.engine.closed == [1]


def test_the_end_tells_how_long_the_job_took_without_those_beside_it_and_without_pauses(bench):
    bench.engine.costs, bench.engine.lengths = {1: TURN, 2: TURN / 4}, {1: 4, 2: 9}
    bench.runner.submit(sample(1))
    bench.runner.advance()
    bench.runner.submit(Pause(job=3, target=1))
    bench.runner.submit(inspect(2))
    bench.runner.advance()
    bench.runner.submit(Resume(job=4, target=1))
    while bench.runner.advance():
        pass
    took = {event.job: event.took_s for event in bench.events if isinstance(event, Finished)}
    assert took == {1: 4 * TURN, 2: 9 * TURN / 4}


def test_a_turn_is_ten_milliseconds_of_small_steps(bench):
    bench.engine.costs[1] = 0.003
    bench.runner.submit(sample(1))
    bench.runner.advance()
    assert bench.engine.order == [1] * 4
    bench.engine.costs[1] = 0.2
    bench.runner.advance()
    assert bench.engine.order == [1] * 5


def test_a_turn_ends_with_the_step_during_which_someone_calls(bench):
    bench.runner.submit(sample(1))
    assert bench.runner.advance(called=lambda: len(bench.engine.order) == 3)
    assert bench.engine.order == [1] * 3
    assert bench.runner.advance(called=lambda: True)
    assert bench.engine.order == [1] * 4


def test_time_is_shared_and_not_turns(bench):
    bench.engine.costs = {1: 0.200, 2: 0.0005}
    bench.runner.submit(Build(job=1, config=None))
    bench.runner.submit(sample(2))
    while bench.clock.now < 60:
        bench.runner.advance()
    used = {job: bench.engine.order.count(job) * bench.engine.costs[job] for job in (1, 2)}
    assert used[1] == pytest.approx(30, abs=0.21)
    assert used[2] == pytest.approx(30, abs=0.21)
    assert bench.done(2) / bench.done(1) == pytest.approx(400, rel=0.02)
    # And the small one never waits for more than one step of the large one.
    turns = "".join(map(str, bench.engine.order))
    assert "11" not in turns


def test_three_jobs_get_a_third_each(bench):
    bench.engine.costs = {1: 0.2, 2: 0.0005, 3: 0.004}
    for command in (Build(job=1, config=None), sample(2), inspect(3)):
        bench.runner.submit(command)
    while bench.clock.now < 60:
        bench.runner.advance()
    for job, cost in bench.engine.costs.items():
        assert bench.engine.order.count(job) * cost == pytest.approx(20, abs=0.4)


def test_a_newcomer_has_the_next_turn_and_then_no_more_than_its_share(bench):
    bench.engine.costs = {1: TURN, 2: TURN}
    bench.runner.submit(sample(1))
    for _ in range(500):
        bench.runner.advance()
    bench.runner.submit(inspect(2))
    for _ in range(10):
        bench.runner.advance()
    assert bench.engine.order[500] == 2
    assert bench.engine.order[500:].count(2) == 5


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (sample(1), sample(2)),
        (inspect(1), inspect(2)),
        (Predict(job=1, text=""), Predict(job=2, text="")),
        (Build(job=1, config=None), Build(job=2, config=None)),
        (Build(job=1, config=None), Drop(job=2)),
        (OpenText(job=1, path=""), OpenText(job=2, path="")),
    ],
)
def test_a_newer_command_of_the_lane_takes_the_older_one_s_place(bench, first, second):
    bench.runner.submit(first)
    bench.runner.advance()
    bench.runner.submit(second)
    assert bench.engine.closed == [1]
    ended = bench.events[-1]
    assert (type(ended), ended.job, ended.superseded) == (Cancelled, 1, True)
    bench.runner.advance()
    assert 1 not in bench.engine.order[10:]
    assert bench.done(2) > 0


def test_lanes_and_slots_leave_each_other_alone(bench):
    commands = [sample(1), inspect(2), Predict(job=3, text=""), Build(job=4, config=None), sample(5, slot=OTHER)]
    for command in commands:
        bench.runner.submit(command)
    for _ in range(5):
        bench.runner.advance()
    assert {job for job in range(1, 6) if bench.done(job)} == {1, 2, 3, 4, 5}
    assert bench.engine.closed == []


def test_views_that_ask_for_themselves_leave_each_other_s_jobs_alone(bench):
    bench.engine.lengths |= dict.fromkeys(range(1, 5), 1000)
    for command in (Predict(job=1, text=""), Predict(job=2, text="", asker="compare"), sample(3)):
        bench.runner.submit(command)
    for _ in range(3):  # each has begun: what never ran is let go without a word to the engine
        bench.runner.advance()
    assert set(bench.engine.order) == {1, 2, 3}
    bench.runner.submit(Sample(job=4, text="", asker="compare"))
    assert bench.engine.closed == []
    bench.runner.submit(Predict(job=5, text="", asker="compare"))
    assert bench.engine.closed == [2]


def test_a_job_s_number_that_comes_again_takes_its_own_place(bench):
    bench.runner.submit(sample(1))
    bench.runner.advance()
    bench.runner.submit(inspect(1))
    assert bench.kinds(1)[-1] == "Cancelled"
    assert bench.runner.advance()


def test_cancel_closes_the_job_between_two_yields_and_says_so_at_once(bench):
    bench.runner.submit(sample(1))
    bench.runner.advance()
    bench.runner.submit(Cancel(job=9, target=1))
    assert bench.engine.closed == [1]
    ended = bench.events[-1]
    assert (type(ended), ended.job, ended.superseded) == (Cancelled, 1, False)
    assert not bench.runner.busy


def test_c12_cancelling_when_nothing_runs_does_nothing(bench):
    bench.runner.submit(Cancel(job=9, target=1))
    bench.engine.lengths[1] = 1
    bench.runner.submit(sample(1))
    while bench.runner.advance():
        pass
    for command in (Cancel(job=9, target=1), Pause(job=9, target=1), Resume(job=9, target=1)):
        bench.runner.submit(command)
    assert bench.kinds(1) == ["Progress", "Finished"]
    assert bench.kinds(9) == []


def test_a_job_may_be_cancelled_in_answer_to_its_own_event(bench):
    events = bench.events

    def emit(event):
        events.append(event)
        if isinstance(event, Progress) and (event.job, event.done) == (1, 3):
            runner.submit(Cancel(job=9, target=1))

    runner = Runner(bench.engine, emit, clock=bench.clock)
    runner.submit(sample(1))
    runner.submit(inspect(2))
    for _ in range(4):
        runner.advance()
    assert bench.kinds(1) == ["Progress"] * 3 + ["Cancelled"]
    assert bench.done(2) > 0


def test_a_paused_job_stands_still_and_goes_on_where_it_was(bench):
    bench.engine.costs = {1: TURN, 2: TURN}
    bench.runner.submit(sample(1))
    bench.runner.advance()
    bench.runner.submit(Pause(job=9, target=1))
    assert not bench.runner.busy
    assert not bench.runner.advance()
    bench.runner.submit(Resume(job=9, target=1))
    bench.runner.advance()
    assert [event.done for event in bench.events] == [1, 2]


def test_a_paused_job_may_be_cancelled(bench):
    bench.runner.submit(sample(1))
    bench.runner.advance()
    bench.runner.submit(Pause(job=9, target=1))
    bench.runner.submit(Cancel(job=9, target=1))
    assert bench.engine.closed == [1]
    assert isinstance(bench.events[-1], Cancelled)


def test_a_job_that_was_paused_does_not_catch_up_on_the_others(bench):
    bench.engine.costs = {1: TURN, 2: TURN}
    bench.runner.submit(sample(1))
    bench.runner.submit(inspect(2))
    bench.runner.advance()
    bench.runner.submit(Pause(job=9, target=1))
    while bench.clock.now < 30:
        bench.runner.advance()
    bench.runner.submit(Resume(job=9, target=1))
    before = len(bench.engine.order)
    for _ in range(100):
        bench.runner.advance()
    assert bench.engine.order[before:].count(1) == pytest.approx(50, abs=1)


def test_pausing_twice_and_resuming_what_runs_changes_nothing(bench):
    bench.engine.costs = {1: TURN, 2: TURN}
    bench.runner.submit(sample(1))
    bench.runner.submit(inspect(2))
    for command in (Resume(job=9, target=1), Pause(job=9, target=1), Pause(job=9, target=1), Resume(job=9, target=1)):
        bench.runner.submit(command)
    for _ in range(100):
        bench.runner.advance()
    assert bench.engine.order.count(1) == 50


def test_f05_a_job_that_raises_at_its_third_step_has_failed_and_is_not_finished(bench):
    bench.engine.lengths[1] = 3
    bench.engine.endings[1] = ZeroDivisionError("division by zero")
    bench.runner.submit(sample(1, slot=OTHER))
    bench.runner.submit(inspect(2))
    for _ in range(10):
        bench.runner.advance()
    assert bench.kinds(1) == ["Progress"] * 3 + ["Failed"]
    failed = next(event for event in bench.events if isinstance(event, Failed))
    assert (failed.job, failed.slot, failed.expected, failed.field) == (1, OTHER, False, "")
    assert failed.message == "ZeroDivisionError: division by zero"
    assert "Traceback" in failed.details
    assert "raise self.endings" in failed.details
    assert not any(isinstance(event, Finished) for event in bench.events)
    assert bench.done(2) > 10
    assert bench.runner.busy


def test_a_mistake_in_what_was_asked_is_one_sentence_with_the_setting_at_fault(bench):
    class SettingError(ValueError):
        field = "top_k"

    bench.engine.lengths[1] = 0
    bench.engine.endings[1] = SettingError("top-k -1 is out of range")
    bench.runner.submit(sample(1))
    bench.runner.advance()
    (failed,) = bench.events
    assert (failed.message, failed.expected, failed.field) == ("top-k -1 is out of range", True, "top_k")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("first line\nsecond line"), "RuntimeError: first line"),
        (RuntimeError(""), "RuntimeError: RuntimeError"),
        (EOFError(), "EOFError: EOFError"),
        (KeyError("A"), "KeyError: 'A'"),
        (ValueError(""), "ValueError"),
    ],
)
def test_no_failure_is_without_a_message(bench, error, message):
    bench.engine.lengths[1] = 0
    bench.engine.endings[1] = error
    bench.runner.submit(sample(1))
    bench.runner.advance()
    assert bench.events[0].message == message


def test_after_a_failure_the_same_may_be_asked_again(bench):
    bench.engine.lengths = {1: 0, 2: 2}
    bench.engine.endings[1] = RuntimeError("no")
    bench.runner.submit(sample(1))
    bench.runner.advance()
    bench.runner.submit(sample(2))
    while bench.runner.advance():
        pass
    assert bench.kinds(2) == ["Progress", "Progress", "Finished"]


class Large:
    """Stands for what a step had made when it failed."""


def test_f13_a_failure_keeps_nothing_of_the_failed_step_alive():
    held = []

    class Failing:
        def run(self, command):
            large = Large()
            held.append(weakref.ref(large))
            yield None
            raise RuntimeError("no memory") from ValueError("deep down")

    events = []
    runner = Runner(Failing(), events.append)
    runner.submit(sample(1))
    gc.collect()
    gc.disable()
    try:
        while runner.advance():
            pass
        assert held[0]() is None
    finally:
        gc.enable()
    assert isinstance(events[0], Failed)
    assert "deep down" in events[0].details


def test_an_engine_that_refuses_the_command_itself_fails_that_job_alone(bench):
    class Refusing(Engine):
        def run(self, command):
            if command.job == 2:
                raise TypeError("what is that?")
            return super().run(command)

    bench.engine = Refusing(bench.clock)
    runner = Runner(bench.engine, bench.events.append, clock=bench.clock)
    runner.submit(sample(1))
    runner.submit(sample(2))
    assert bench.kinds(2) == ["Failed"]
    runner.advance()
    assert bench.done(1) > 0


def test_closing_ends_every_job_and_runs_what_it_must(bench):
    for command in (sample(1), inspect(2), Build(job=3, config=None)):
        bench.runner.submit(command)
        bench.runner.advance()
    bench.runner.submit(Pause(job=9, target=2))
    bench.runner.close()
    assert sorted(bench.engine.closed) == [1, 2, 3]
    assert [bench.kinds(job)[-1] for job in (1, 2, 3)] == ["Cancelled"] * 3
    assert not bench.runner.busy


def test_a_job_that_fails_while_it_is_closed_has_failed():
    class Stubborn:
        def run(self, command):
            try:
                yield None
                yield None
            finally:
                raise OSError("the disk is full")

    events = []
    runner = Runner(Stubborn(), events.append, clock=iter(range(100)).__next__)
    runner.submit(sample(1))
    runner.advance()
    runner.submit(Cancel(job=2, target=1))
    (failed,) = events
    assert failed.message == "OSError: the disk is full"


def test_a_pause_of_the_engine_is_no_event(bench):
    class Pausing:
        def run(self, command):
            yield None
            yield Progress(job=command.job, done=1, total=1)
            yield None

    runner = Runner(Pausing(), bench.events.append)
    runner.submit(sample(1))
    while runner.advance():
        pass
    assert bench.kinds(1) == ["Progress", "Finished"]
