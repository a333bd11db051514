"""A trained model is examined on the end of the very text that it was trained on, and on no other one."""

from dataclasses import replace

import pytest
import torch

from gpt_viz.config import GPTConfig
from gpt_viz.engine.checks import exam as module
from gpt_viz.engine.engine import Engine
from gpt_viz.engine.material import reading
from gpt_viz.protocol import CURRENT, Build, Checked, OpenCheckpoint, RunChecks, SaveCheckpoint, ShowMoment, Train
from gpt_viz.schedule import TrainingSettings

TEXT = "To be, or not to be: that is the question.\n" * 30
ALPHABET = tuple(sorted(set(TEXT)))
CONFIG = GPTConfig(vocabulary=len(ALPHABET), block_size=8, layers=1, heads=2, width=8)
SETTINGS = TrainingSettings(steps=6, batch=2, rate=0.01, eval_every=3, validation=0.2)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "hamlet.txt"
    path.write_text(TEXT, newline="")
    return str(path)


@pytest.fixture
def engine():
    made = Engine(threads=1)
    list(made.run(Build(job=1, config=CONFIG, seed=3, device="cpu", alphabet=ALPHABET)))
    return made


def train(engine, corpus, windows=0, **changes):
    list(engine.run(Train(job=2, corpus=corpus, settings=replace(SETTINGS, **changes), windows=windows, tokens=0)))


def checked(engine, corpus, name="validation_loss"):
    events = engine.run(RunChecks(job=3, text="To be", names=(name,), corpus=corpus))
    return next(each for each in events if isinstance(each, Checked))


@pytest.mark.parametrize("windows", [0, 4])
def test_what_was_recorded_is_found_again(engine, corpus, windows):
    train(engine, corpus, windows)
    found = checked(engine, corpus)
    recorded = engine.model(CURRENT).course.validations[-1][1]
    facts = dict(found.facts)
    assert found.passed is True
    assert facts["loss"] == pytest.approx(recorded, abs=1e-5)
    assert facts["windows"] == (windows or (len(TEXT) // 5 - 1) // CONFIG.block_size)
    assert dict(found.arrays)["steps"].tolist() == [0, 3, 6]
    assert "last 20% of hamlet.txt, after 6 steps" in found.detail


def test_a_file_proves_itself_to_another_engine(engine, corpus, tmp_path):
    path = str(tmp_path / "model.safetensors")
    train(engine, corpus)
    list(engine.run(SaveCheckpoint(job=4, path=path)))
    other = Engine(threads=1)
    list(other.run(OpenCheckpoint(job=1, path=path)))
    found = checked(other, corpus)
    assert found.passed is True
    assert found.expected.startswith(f"{engine.model(CURRENT).course.validations[-1][1]:.4f}")


def test_weights_that_are_not_those_of_the_history_fail(engine, corpus):
    train(engine, corpus)
    with torch.no_grad():
        engine.model(CURRENT).model.head.weight.mul_(1.5)
    found = checked(engine, corpus)
    assert found.passed is False
    assert abs(dict(found.facts)["loss"] - dict(found.facts)["recorded"]) > found.tolerance


def reason(engine, corpus):
    found = checked(engine, corpus)
    assert found.passed is None
    return found.detail


def test_an_untrained_model_has_nothing_to_be_held_to(engine, corpus):
    assert "has not been trained" in reason(engine, corpus)


def test_another_text_proves_nothing(engine, corpus, tmp_path):
    train(engine, corpus)

    other = tmp_path / "other.txt"
    other.write_text(TEXT + "To be.", newline="")
    assert reason(engine, str(other)) == (
        "it was estimated on the end of hamlet.txt, and other.txt is another text; choose that one"
    )


def test_weights_between_two_estimates_have_none(engine, corpus):
    train(engine, corpus)
    list(engine.run(Train(job=5, corpus=corpus, settings=replace(SETTINGS, steps=7), windows=0, tokens=0, limit=1)))
    course = engine.model(CURRENT).course
    assert course.step == 7
    course.run.estimates.pop()
    assert reason(engine, corpus) == "its newest estimate is of step 6, and these weights are of step 7"


def test_an_estimate_is_held_to_its_own_windows_and_its_own_text(engine, corpus, tmp_path):
    train(engine, corpus)
    list(engine.run(Train(job=5, corpus=corpus, settings=replace(SETTINGS, steps=9), windows=4, tokens=0)))
    assert checked(engine, corpus).passed is True  # gone on with fewer windows than before
    list(engine.run(ShowMoment(job=6, step=6)))
    assert checked(engine, corpus).passed is True
    list(engine.run(ShowMoment(job=7, step=None)))
    other = tmp_path / "other.txt"
    other.write_text(TEXT[: len(TEXT) // 2], newline="")
    train(engine, str(other))  # begins with an estimate of its own, of the weights as they are
    course = engine.model(CURRENT).course
    assert [at for at, _, _ in course.run.estimates] == [9, 12, 15]
    list(engine.run(ShowMoment(job=8, step=9)))
    found = checked(engine, corpus)
    assert found.passed is True
    assert "hamlet.txt, after 9 steps" in found.detail


def test_what_is_learned_while_the_text_is_read_is_not_held_against_the_copy(engine, corpus, monkeypatch):
    train(engine, corpus)
    more = Train(job=5, corpus=corpus, settings=replace(SETTINGS, steps=12), windows=0, tokens=0)

    def reading_meanwhile(*given):
        list(engine.run(more))
        return (yield from reading(*given))

    monkeypatch.setattr(module, "reading", reading_meanwhile)
    found = checked(engine, corpus)
    assert engine.model(CURRENT).course.step == 12
    assert found.passed is True
    assert "after 6 steps" in found.detail


def test_an_end_that_an_earlier_run_has_seen_is_no_exam(engine, corpus):
    train(engine, corpus, validation=0.0)
    train(engine, corpus, seed=1)
    assert reason(engine, corpus) == "an earlier run has trained it on that end of hamlet.txt, too"


def test_without_a_validation_part_nothing_was_estimated(engine, corpus):
    train(engine, corpus, validation=0.0)
    assert "no estimate of it is known" in reason(engine, corpus)


def test_a_text_that_is_gone_is_said_and_no_mistake_of_the_model(engine, corpus, tmp_path):
    train(engine, corpus)
    assert "the text can't be used for it" in reason(engine, str(tmp_path / "gone.txt"))


DAMAGES: list[dict[str, object]] = [
    {"sha256": 5},
    {"settings": None},
    {"text": None},
    {"estimates": "many"},
    {"estimates": [[6, "low", 3], 5, [6, 1.0]]},
    {"estimates": [[6, None, 3]]},
    {"estimates": [[6, 1.0, 10**9]]},
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: str(each)[:30])
def test_a_history_that_was_tampered_with_is_no_crash(engine, corpus, damage):
    train(engine, corpus)
    held = engine.model(CURRENT)
    history = held.course.history()
    history["runs"][-1].update(damage)
    held.course, held.history = None, history
    broken = damage.get("estimates") == DAMAGES[-1]["estimates"]  # only its loss is not the model's
    assert checked(engine, corpus).passed is (True if "text" in damage else False if broken else None)
