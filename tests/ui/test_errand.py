"""One question at a time and only the newest after it; what changes by itself is asked about now and then."""

import pytest

from gpt_viz.protocol import Cancelled, Distribution, Failed, Finished, Predict
from gpt_viz.ui.asking.errand import INTERVAL_S, Errand


@pytest.fixture
def errand(qapp, world):
    made = Errand(world.new_job, world.send, clock=lambda: made.now)
    made.now = 100.0
    made.changes = []
    made.changed.connect(lambda: made.changes.append(made.key))
    return made


def ask(errand, text, version=0):
    errand.ask(text, lambda job: Predict(job=job, text=text), version)


def texts(world):
    return [each.text for each in world.sent]


def test_the_same_question_is_sent_once(errand, world):
    for _ in range(3):
        ask(errand, "a")
    assert texts(world) == ["a"]
    assert errand.busy
    errand.handle(Finished(job=1))
    ask(errand, "a")
    assert texts(world) == ["a"]
    assert not errand.busy


def test_while_one_is_under_way_only_the_newest_waits(errand, world):
    for text in "abcd":
        ask(errand, text)
    assert texts(world) == ["a"]
    errand.handle(Finished(job=1))
    assert texts(world) == ["a", "d"]


def test_answers_are_there_when_the_question_has_come_to_its_end(errand, world):
    ask(errand, "a")
    answer = object.__new__(Distribution)
    object.__setattr__(answer, "job", 1)
    errand.handle(answer)
    assert errand.answers == {}
    errand.handle(Finished(job=1))
    assert errand.answers == {Distribution: answer}
    assert errand.key == "a"
    assert errand.changes == ["a"]


def test_events_of_other_jobs_are_nobody_s_answer(errand, world):
    ask(errand, "a")
    errand.handle(Finished(job=7))
    assert errand.busy
    assert errand.changes == []


def test_what_failed_is_said_and_not_tried_again_by_itself(errand, world):
    ask(errand, "a")
    errand.handle(Finished(job=1))
    ask(errand, "b")
    errand.handle(Failed(job=2, message="no", details="", expected=True))
    assert (errand.failure, errand.key) == ("no", "a")
    ask(errand, "b")
    assert texts(world) == ["a", "b"]
    ask(errand, "c")
    errand.handle(Cancelled(job=3))
    assert errand.failure == ""


def test_what_changes_by_itself_waits_a_little_and_a_person_does_not(errand, world, qtbot):
    ask(errand, "a")
    errand.handle(Finished(job=1))
    ask(errand, "a", version=1)
    assert texts(world) == ["a"]
    assert errand.busy  # it comes when its time has come
    errand.now += INTERVAL_S + 0.001
    ask(errand, "a", version=1)
    assert texts(world) == ["a", "a"]
    errand.handle(Finished(job=2))
    ask(errand, "b", version=1)
    assert texts(world) == ["a", "a", "b"]


def test_nothing_wanted_and_all_forgotten(errand, world):
    ask(errand, "a")
    ask(errand, "b")
    errand.want_nothing()
    errand.handle(Finished(job=1))
    assert texts(world) == ["a"]
    errand.forget()
    assert (errand.key, errand.answers, errand.busy) == (None, {}, False)
    ask(errand, "a")
    assert texts(world) == ["a", "a"]
