"""Asking the engine about the text that was read: one question at a time, the newest after it, answers of now only."""

import pytest

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    Cancelled,
    Failed,
    Finished,
    ModelInfo,
    OpenStep,
    StepOpened,
    TextRefused,
    Tokens,
)
from gpt_viz.ui.asking.inquiry import INTERVAL_S, Inquiry
from gpt_viz.ui.study import Passage

TOKENS = Tokens((0, 1), ("a", "b"))


def model(seed=1):
    return ModelInfo(
        config=GPTConfig(layers=1), seed=seed, device="cpu", alphabet=("a", "b"), tensors=(), total=1, bytes=1,
        elapsed_s=0.0,
    )  # fmt: skip


class Asked:
    """An inquiry of its own world, with a clock that is set by hand."""

    def __init__(self, world):
        self.world, self.now, self.seen = world, 100.0, True
        self.inquiry = Inquiry(world.context, OpenStep, StepOpened, lambda: self.seen, clock=lambda: self.now)
        world.subject.set_built(model())
        self.read("ab")

    def read(self, text, continuation=()):
        self.world.study.saw(TOKENS, Passage(text, continuation))

    @property
    def sent(self):
        return [(each.step, each.text, each.continuation) for each in self.world.sent]

    def answer(self, at=-1, **changes):
        told = {"job": self.world.sent[at].job, "tokens": TOKENS, "step": None, "histogram": None, "tensor": None}
        self.inquiry.handle(StepOpened(**{**told, "inputs": (), **changes}))
        self.inquiry.handle(Finished(job=self.world.sent[at].job))
        return self.inquiry.answer()


@pytest.fixture
def asked(world):
    return Asked(world)


def test_the_text_that_was_read_is_asked_about_and_not_what_was_typed_since(asked):
    asked.world.study.set_prompt("abba")
    asked.inquiry.ask(step="ids")
    assert asked.sent == [("ids", "ab", ())]


def test_without_a_model_or_a_text_nothing_is_asked(world):
    inquiry = Inquiry(world.context, OpenStep, StepOpened, lambda: True)
    inquiry.ask(step="ids")
    world.subject.set_built(model())
    inquiry.ask(step="ids")
    assert world.sent == []
    assert inquiry.answer() is None


def test_one_question_is_under_way_and_the_newest_comes_after_it(asked):
    for step in ("ids", "embedded", "ln_f", "logits"):
        asked.inquiry.ask(step=step)
    assert [step for step, *_ in asked.sent] == ["ids"]
    assert asked.inquiry.busy
    assert asked.answer() is not None
    assert [step for step, *_ in asked.sent] == ["ids", "logits"]
    asked.answer()
    assert not asked.inquiry.busy


def test_what_is_known_is_not_asked_again(asked):
    asked.inquiry.ask(step="ids")
    asked.answer()
    asked.inquiry.ask(step="ids")
    assert len(asked.sent) == 1


def test_what_nobody_sees_is_not_asked_for(asked):
    asked.seen = False
    asked.inquiry.ask(step="ids")
    assert asked.sent == []
    asked.seen = True
    asked.inquiry.ask(step="ids")
    assert asked.sent == [("ids", "ab", ())]


def test_a_text_that_grows_is_followed_four_times_a_second_and_a_person_at_once(asked, qtbot):
    asked.inquiry.ask(step="ids")
    asked.answer()
    asked.read("ab", (1,))
    asked.inquiry.ask(step="ids")
    assert len(asked.sent) == 1
    assert asked.inquiry.busy
    asked.inquiry.ask(step="logits")  # another step: someone chose it
    assert asked.sent[-1] == ("logits", "ab", (1,))
    asked.answer()
    asked.now += INTERVAL_S
    asked.read("ab", (1, 0))
    asked.inquiry.ask(step="logits")
    assert asked.sent[-1] == ("logits", "ab", (1, 0))
    assert len(asked.sent) == 3


def test_a_slow_answer_leaves_the_engine_most_of_its_time(asked):
    asked.inquiry.ask(step="ids")
    asked.now += 2.0
    asked.answer()
    asked.read("ab", (1,))
    for waited, count in ((1.0, 1), (4.9, 1), (6.1, 2)):
        asked.now = 102.0 + waited
        asked.inquiry.ask(step="ids")
        assert len(asked.sent) == count


def test_other_weights_are_looked_at_anew(asked):
    asked.inquiry.ask(step="ids")
    asked.answer()
    asked.now += 1.0
    asked.world.subject.step()
    asked.inquiry.ask(step="ids")
    assert len(asked.sent) == 2


def test_an_answer_of_the_model_before_is_not_shown_for_the_one_after(asked):
    asked.inquiry.ask(step="ids")
    asked.world.subject.set_built(model(seed=2))
    assert asked.answer() is None
    asked.inquiry.ask(step="ids")
    assert asked.answer() is not None
    asked.world.subject.set_built(model(seed=3))
    assert asked.inquiry.answer() is None


def test_an_answer_to_somebody_else_is_left_alone(asked):
    asked.inquiry.ask(step="ids")
    assert asked.answer(job=12345) is None


@pytest.mark.parametrize(
    ("event", "failure"),
    [
        (lambda job: Failed(job=job, message="no", details="", expected=True), "no"),
        (lambda job: Cancelled(job=job, superseded=True), ""),
        (lambda job: TextRefused(job=job, unknown=()), ""),
    ],
)
def test_a_question_that_is_not_answered_is_over_and_not_repeated(asked, event, failure):
    heard = []
    asked.inquiry.changed.connect(lambda: heard.append(1))
    asked.inquiry.ask(step="ids")
    asked.inquiry.handle(event(asked.world.sent[0].job))
    assert (asked.inquiry.busy, asked.inquiry.failure, heard) == (False, failure, [1])
    asked.inquiry.ask(step="ids")
    assert len(asked.sent) == 1
    asked.inquiry.ask(step="logits")
    assert len(asked.sent) == 2


def test_the_window_remembers_which_text_the_tokens_were_read_from(fake, qtbot):
    assert fake.study.passage == Passage(fake.study.prompt, fake.study.continuation)
    with qtbot.waitSignal(fake.study.read):
        fake.study.set_prompt("First")
    qtbot.waitUntil(lambda: fake.study.passage == Passage("First", ()))
