"""The worker thread and its mailbox. Threads are steered by locks; nothing sleeps."""

import threading

import pytest

from gpt_viz.protocol import (
    OTHER,
    Attended,
    Cancel,
    Cancelled,
    Distribution,
    Drawn,
    Failed,
    Finished,
    Progress,
    Sample,
    Tokens,
    Traced,
)
from gpt_viz.worker import Mailbox, Worker

LONG_S = 20.0


def progress(job, done=0):
    return Progress(job=job, done=done, total=0)


def traced(job, slot="current"):
    return Traced(job=job, slot=slot, tokens=Tokens((), ()), steps=(), loss=None, first_bad="", elapsed_s=0.0)


def attended(job):
    return Attended(job=job, tokens=Tokens((), ()), patterns=None, head=(0, 0), whole=None)


def drawn(job, id):
    return Drawn(job=job, id=id, piece="", position=0, probability=1.0, rank=0, tokens_per_second=0.0)


def put_all(events):
    mailbox = Mailbox()
    for event in events:
        mailbox.put(event)
    return mailbox.drain()


def test_every_ordinary_event_is_kept_in_its_order():
    events = [drawn(1, number) for number in range(1000)]
    assert put_all(events) == events


def test_of_a_picture_kind_only_the_newest_of_each_job_and_slot_is_kept():
    old, new, others, patterns = traced(1), traced(1), traced(1, OTHER), attended(1)
    assert put_all([old, others, patterns, new]) == [others, patterns, new]


def test_a_picture_that_was_asked_for_once_is_not_lost_among_those_of_another_job():
    asked = traced(1)
    assert put_all([asked, *(traced(2) for _ in range(100))])[0] is asked


def test_a_picture_stands_where_the_newest_of_its_kind_came():
    first, second, old, new = drawn(1, 1), drawn(1, 2), traced(1), traced(1)
    assert put_all([old, first, new, second]) == [first, new, second]


def test_a_drained_mailbox_is_empty_and_starts_anew():
    mailbox = Mailbox()
    mailbox.put(traced(1))
    assert len(mailbox.drain()) == 1
    assert mailbox.drain() == []
    newest = traced(2)
    mailbox.put(newest)
    assert mailbox.drain() == [newest]


def test_pictures_that_no_one_fetches_do_not_pile_up():
    mailbox = Mailbox()
    for _ in range(10_000):
        mailbox.put(traced(1))
    assert len(mailbox.drain()) == 1


def test_which_kinds_are_pictures():
    assert [kind.picture for kind in (Traced, Attended, Distribution)] == [True] * 3
    assert [kind.picture for kind in (Drawn, Progress, Finished, Failed, Cancelled)] == [False] * 5


def test_many_threads_may_put_at_once():
    mailbox = Mailbox()
    start = threading.Barrier(4)

    def put(job):
        start.wait(LONG_S)
        for number in range(500):
            mailbox.put(drawn(job, number))

    threads = [threading.Thread(target=put, args=(job,)) for job in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    events = mailbox.drain()
    assert len(events) == 2000
    for job in range(4):
        assert [event.id for event in events if event.job == job] == list(range(500))


class Engine:
    """Jobs that wait for the test at each step: `begun` counts the steps, `allow(n)` lets n of them end."""

    def __init__(self, emit):
        self.emit = emit
        self.thread = threading.current_thread()
        self._allowed = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.closed = threading.Event()

    def allow(self, steps):
        for _ in range(steps):
            self._allowed.release()

    def run(self, command):
        try:
            for done in range(command.tokens):
                self.begun.release()
                assert self._allowed.acquire(timeout=LONG_S)
                yield progress(command.job, done)
        finally:
            self.closed.set()


@pytest.fixture
def made():
    """A worker with the engine that it makes."""
    engines, there = [], threading.Event()

    def make_engine(emit):
        engines.append(Engine(emit))
        there.set()
        return engines[0]

    worker = Worker(make_engine)
    worker.mailbox = Post()

    def started():
        worker.start()
        assert there.wait(LONG_S)
        return engines[0]

    yield worker, started
    if engines:
        engines[0].allow(100)
    assert worker.stop(LONG_S)


class Post(Mailbox):
    """A mailbox that can be waited at."""

    def __init__(self):
        super().__init__()
        self._arrived = threading.Condition()
        self._kinds = []

    def put(self, event):
        super().put(event)
        with self._arrived:
            self._kinds.append(type(event))
            self._arrived.notify_all()

    def wait_for(self, kind):
        """All events, once there is one of this kind among them."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: kind in self._kinds, LONG_S)
            self._kinds.clear()
            return self.drain()


def sample(job, tokens):
    return Sample(job=job, text="", tokens=tokens)


def test_the_engine_is_made_on_the_worker_s_thread_and_may_speak_at_once(made):
    worker, started = made
    engine = started()
    assert engine.thread is not threading.current_thread()
    assert engine.thread.name == "gpt-viz-worker"
    assert engine.thread.daemon
    engine.emit(progress(0))
    assert [event.job for event in worker.mailbox.drain()] == [0]


def test_commands_sent_before_the_start_are_kept(made):
    worker, started = made
    worker.send(sample(1, 2))
    started().allow(2)
    events = worker.mailbox.wait_for(Finished)
    assert [type(event) for event in events] == [Progress, Progress, Finished]


def test_a_command_wakes_a_worker_that_waits(made):
    worker, started = made
    engine = started()
    for job in (1, 2, 3):
        worker.send(sample(job, 1))
        engine.allow(1)
        assert [event.job for event in worker.mailbox.wait_for(Finished)] == [job, job]


def test_f03_a_cancel_acts_at_the_end_of_the_running_step(made):
    worker, started = made
    engine = started()
    worker.send(sample(1, 1000))
    assert engine.begun.acquire(timeout=LONG_S)
    worker.send(Cancel(job=2, target=1))
    assert not engine.closed.is_set()  # the step is still under way
    engine.allow(1)
    assert [type(event) for event in worker.mailbox.wait_for(Cancelled)] == [Progress, Cancelled]
    assert engine.closed.is_set()


def test_f01_stopping_ends_the_running_job_and_the_thread(made):
    worker, started = made
    engine = started()
    worker.send(sample(1, 1000))
    assert engine.begun.acquire(timeout=LONG_S)
    assert not worker.stop(0.0)  # a step is under way
    engine.allow(1)
    assert worker.stop(LONG_S)
    assert engine.closed.is_set()
    assert not engine.thread.is_alive()
    assert [type(event) for event in worker.mailbox.drain()] == [Progress, Cancelled]


def test_a_worker_that_waits_or_never_started_can_be_stopped(made):
    worker, started = made
    started()
    assert worker.stop(LONG_S)
    assert worker.stop(LONG_S)
    assert Worker(Engine).stop(LONG_S)


def test_an_engine_that_cannot_be_made_is_a_failure_of_job_0():
    def make_engine(emit):
        raise ImportError("libtorch_cpu.so: cannot open shared object file")

    worker = Worker(make_engine)
    worker.send(sample(1, 1))
    worker.start()
    assert worker.stop(LONG_S)
    (failed,) = worker.mailbox.drain()
    assert isinstance(failed, Failed)
    assert failed.job == 0
    assert failed.message == "ImportError: libtorch_cpu.so: cannot open shared object file"


def test_f05_a_job_that_fails_leaves_the_worker_at_work(made):
    worker, started = made
    engine = started()
    worker.send(Sample(job=1, text="", tokens="many"))
    (failed,) = worker.mailbox.wait_for(Failed)
    assert failed.job == 1
    worker.send(sample(2, 1))
    engine.allow(1)
    assert [type(event) for event in worker.mailbox.wait_for(Finished)] == [Progress, Finished]
