"""Training on command: what it leaves alone, what it refuses, and what is told of it."""

import gc
import math
import weakref
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from engines import LETTERS, TINY, built, ended, of

from gpt_viz import resources
from gpt_viz.config import GPTConfig
from gpt_viz.engine import training_memory
from gpt_viz.engine.backpropagation import Backpropagation, Embedding, Loss
from gpt_viz.engine.engine import Engine
from gpt_viz.engine.initialise import build
from gpt_viz.engine.limits import OutOfMemory
from gpt_viz.engine.material import CHUNK, UnreadableText, reading
from gpt_viz.engine.session import REPORT_S
from gpt_viz.engine.timeline import NoMoment, flat
from gpt_viz.engine.tokenizer import CharacterTokenizer, IdTokenizer
from gpt_viz.engine.training import Trainer, TrainingError, check_length
from gpt_viz.protocol import (
    CURRENT,
    Build,
    Cancel,
    Cancelled,
    Failed,
    Finished,
    Inspect,
    MomentShown,
    MomentsKept,
    OpenCheckpoint,
    Pause,
    Predict,
    ReportTraining,
    Resume,
    Sample,
    SaveCheckpoint,
    ShowMoment,
    Traced,
    Train,
    TrainedSteps,
    TrainingBegan,
    TrainingSample,
    Untrain,
    Validated,
)
from gpt_viz.runner import Runner
from gpt_viz.schedule import TrainingSettings

TEXT = "abcdefghijkabcabcdefkjihgfedcba" * 12
SHORT = TrainingSettings(steps=5, batch=4, rate=3e-3, validation=0.0)


@pytest.fixture
def text(tmp_path):
    """A function that writes a text and gives its path."""

    def write(content, name="text.txt"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        return str(path)

    return write


class Clock:
    """Seconds that pass with each look, a little."""

    def __init__(self, tick=0.001):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


def weights(engine):
    return flat(engine.model(CURRENT).model.parameters())


def trained(engine, path, settings=SHORT, **options):
    """The events of a run, without the pauses; no samples unless asked for."""
    command = Train(job=2, corpus=path, settings=settings, **{"tokens": 0, **options})
    return [event for event in engine.run(command) if event is not None]


def losses(events):
    return [float(loss) for event in of(TrainedSteps, events) for loss in event.losses]


# --- the smallest models and texts ---------------------------------------------------------------------------------


def test_a02_a_model_without_layers_trains(text):
    engine = built(replace(TINY, layers=0))
    assert engine.model(CURRENT).info.total == 252
    found = losses(trained(engine, text(TEXT), replace(SHORT, steps=3)))
    assert len(found) == 3
    assert all(math.isfinite(loss) for loss in found)


def test_a05_a_vocabulary_of_one_has_a_loss_of_exactly_zero(text):
    engine = built(replace(TINY, vocabulary=1), ("a",))
    assert engine.model(CURRENT).info.total == 3_900
    events = trained(engine, text("a" * 64), tokens=10)
    assert losses(events) == [0.0] * 5
    assert {event.text for event in of(TrainingSample, events)} == {"a" * 10}


@pytest.mark.parametrize("length", [1, 7, 8])
def test_c07_c08_a_text_shorter_than_the_context_is_refused_with_what_is_needed(text, length):
    engine = built()
    path = text("abcdefghijk"[:length])
    before = weights(engine)
    with pytest.raises(TrainingError, match=r"needs at least T\+1 = 9") as caught:
        trained(engine, path)
    assert str(length) in str(caught.value)
    assert ("block size of at most" in str(caught.value)) is (length > 1)
    if length > 1:
        assert f"at most {length - 1}" in str(caught.value)
    assert caught.value.field == "corpus"
    assert torch.equal(before, weights(engine))


def test_c08_what_is_offered_works():
    check_length(8, 7)
    with pytest.raises(TrainingError, match=r"at most 7\b"):
        check_length(8, 8)


def test_c08_a_text_of_exactly_one_window_and_its_next_token_trains(text):
    assert len(losses(trained(built(), text("abcdefghi")))) == 5


def test_c08_a_text_of_two_windows_begins_at_both_and_at_no_other():
    trainer = Trainer(build(TINY, 0), torch.arange(10), replace(SHORT, batch=1))
    starts = Counter(int(trainer.batch()[0][0, 0]) for _ in range(200))
    assert set(starts) == {0, 1}
    assert min(starts.values()) > 60


def test_c08_the_validation_share_counts_against_the_length(text):
    engine = built()
    with pytest.raises(TrainingError, match="has 8 tokens to train on"):
        trained(engine, text("abcdefghij"), replace(SHORT, validation=0.2))


# --- the text ------------------------------------------------------------------------------------------------------


def material(path, tokenizer, alphabet):
    return ended(reading(path, None, tokenizer, alphabet))


def test_the_built_in_passage_is_read_where_no_file_is_given():
    alphabet = resources.alphabet()
    found = material(None, CharacterTokenizer(alphabet, 65), alphabet)
    assert found.characters == len(resources.passage()) == len(found.ids)
    assert "".join(alphabet[id] for id in found.ids.tolist()) == resources.passage()


def test_a_long_text_is_encoded_in_parts_as_in_one(text):
    content = ("abcdefghijk" * (CHUNK // 11 + 20))[: CHUNK + 100]
    found = material(text(content), CharacterTokenizer(LETTERS, 11), LETTERS)
    assert found.ids.tolist() == [LETTERS.index(each) for each in content]
    assert len(found.sha256) == 64


def test_the_sha256_is_that_of_a_plain_file(text):
    import hashlib

    path = text("abc\nabc")
    alphabet = ("\n", "a", "b", "c")
    found = material(path, CharacterTokenizer(alphabet, 4), alphabet)
    assert found.sha256 == hashlib.sha256(b"abc\nabc").hexdigest()


def test_a_text_with_characters_the_model_does_not_know_is_refused_by_name(text):
    engine = built()
    with pytest.raises(UnreadableText) as caught:
        trained(engine, text("abcXYabcZQXX", "essay.txt"))
    message = str(caught.value)
    assert "'X' (first at 4), 'Y' (first at 5), 'Z' (first at 9) and 1 other of the characters in essay.txt" in message
    assert caught.value.unknown == ((3, "X"), (4, "Y"), (8, "Z"), (9, "Q"))
    assert caught.value.field == "corpus"
    assert engine.model(CURRENT).course is None


def test_a_model_of_ids_takes_a_text_of_ids_and_refuses_words(text):
    content = " ".join(str(number % 11) for number in range(200_000))
    found = material(text(content), IdTokenizer(11), None)
    assert found.ids.tolist() == [number % 11 for number in range(200_000)]
    with pytest.raises(UnreadableText, match=r"'to' \(at 5 in text.txt\) is none"):
        material(text("1 2 to be"), IdTokenizer(11), None)
    with pytest.raises(UnreadableText, match="the model is fed with ids"):
        trained(built(characters=None), None)


# --- what is told --------------------------------------------------------------------------------------------------


def test_a_run_tells_every_step_in_order_with_estimates_samples_and_moments(text):
    clock = Clock()
    engine = built(engine=Engine(clock=clock))
    settings = replace(SHORT, steps=20, eval_every=10, validation=0.2)
    events = trained(engine, text(TEXT), settings, tokens=6)
    began = of(TrainingBegan, events)
    assert [(each.first, each.step, each.last) for each in began] == [(0, 0, 20)]
    assert began[0].tokens + began[0].validation_tokens == len(TEXT)
    assert began[0].windows == (began[0].validation_tokens - 1) // 8
    chunks = of(TrainedSteps, events)
    assert [chunk.first + at for chunk in chunks for at in range(len(chunk.losses))] == list(range(20))
    assert all(len(each.losses) == len(each.rates) == len(each.gradient_norms) for each in chunks)
    assert all(not each.losses.flags.writeable for each in chunks)
    assert [each.step for each in of(Validated, events)] == [0, 10, 20]
    samples = of(TrainingSample, events)
    assert (samples[0].step, samples[-1].step) == (0, 20)
    assert {len(each.text) for each in samples} == {6}
    assert of(MomentsKept, events)[-1].steps[:20] == tuple(range(20))
    assert chunks[-1].left_s == 0.0
    assert chunks[-1].tokens_per_second > 0


def test_chunks_come_at_most_thirty_times_a_second_and_hold_every_step(text):
    clock = Clock(tick=0.002)
    engine = built(engine=Engine(clock=clock))
    times = [
        clock.now
        for event in engine.run(Train(job=2, corpus=text(TEXT), settings=replace(SHORT, steps=80), tokens=0))
        if isinstance(event, TrainedSteps)
    ]
    assert len(times) > 3
    assert all(after - before >= REPORT_S for before, after in pairwise(times[1:-1]))


def test_samples_come_more_often_at_the_beginning_and_never_twice_of_the_same_weights(text, monkeypatch):
    clock = Clock(tick=0.02)
    engine, path = built(engine=Engine(clock=clock)), text(TEXT)
    first = trained(engine, path, replace(SHORT, steps=800), tokens=6)
    at = [sample.step for sample in of(TrainingSample, first)]
    gaps = [later - sooner for sooner, later in pairwise(at[:-1])]  # the last one comes with the end
    assert len(gaps) > 4
    assert max(gaps[:2]) < min(gaps[4:])
    again = trained(engine, path, replace(SHORT, steps=900), tokens=6)
    assert at[-1] == 800
    assert all(sample.step > 800 for sample in of(TrainingSample, again))
    other = trained(engine, path, replace(SHORT, steps=900, rate=1e-4), tokens=6)  # a new run from these weights
    assert all(sample.step > 900 for sample in of(TrainingSample, other))


def test_samples_are_of_the_same_seed_and_show_what_was_learned(text):
    engine = built(replace(TINY, tied_head=False, layers=1))
    path, settings = text("abc" * 100), replace(SHORT, steps=30, rate=3e-2)
    one = of(TrainingSample, trained(engine, path, settings, tokens=30))
    list(engine.run(Untrain(job=3)))
    two = of(TrainingSample, trained(engine, path, settings, tokens=30))
    assert (one[0].text, one[-1].text) == (two[0].text, two[-1].text)
    assert "abcabcabc" in one[-1].text
    assert "abcabcabc" not in one[0].text


def test_what_is_estimated_in_the_window_is_bounded_and_can_be_all(text):
    path = text(TEXT)
    settings = replace(SHORT, validation=0.5)
    assert {each.windows for each in of(Validated, trained(built(), path, settings, windows=3))} == {3}
    assert {each.windows for each in of(Validated, trained(built(), path, settings, windows=0))} == {(186 - 1) // 8}
    assert not of(Validated, trained(built(), path, SHORT))


# --- taking turns --------------------------------------------------------------------------------------------------


def turns(engine, *commands, clock=None):
    """Run the commands as the window's worker does, each turn one step; the events."""
    heard = []
    runner = Runner(engine, heard.append, turn_s=1e-9, clock=clock or Clock())
    for command in commands:
        runner.submit(command)
    while runner.advance():
        pass
    return heard


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("large", [False, True])
def test_looking_and_sampling_meanwhile_give_bit_equal_weights(text, dropout, large, monkeypatch):
    monkeypatch.setattr(Trainer, "large", large)
    config, path = replace(TINY, dropout=dropout), text(TEXT)
    settings = replace(SHORT, steps=8, validation=0.2, eval_every=3)
    alone = built(config)
    trained(alone, path, settings)
    beside = built(config)
    looks = [Inspect(job=10 + number, slot=CURRENT, text="abcabc") for number in range(3)]
    heard = turns(
        beside,
        Train(job=2, corpus=path, settings=settings, tokens=12),
        Sample(job=3, text="abc", tokens=40),
        Predict(job=4, text="abc"),
        *[replace(look) for look in looks[:1]],
    )
    assert {type(event) for event in heard} >= {Traced, TrainedSteps, Validated, TrainingSample}
    assert torch.equal(weights(alone), weights(beside))
    assert losses(heard) == losses(trained(built(config), path, settings))


def test_an_inspection_among_training_steps_sees_one_state_of_the_weights(text):
    """Its loss is that of one moment, also where a step came between its pieces."""
    engine = built()
    course_of = engine.model(CURRENT)
    settings = replace(SHORT, steps=12)
    look = engine.run(Inspect(job=3, text="abcabcab"))
    train = engine.run(Train(job=2, corpus=text(TEXT), settings=settings, tokens=0))
    found, over = [], False
    while not over:
        over = next(train, StopIteration) is StopIteration
        event = next(look, None)
        found += [event.loss] if isinstance(event, Traced) else []
    moments = []
    for step in course_of.course.timeline.steps:
        list(engine.run(ShowMoment(job=4, step=step)))
        moments += [event.loss for event in engine.run(Inspect(job=5, text="abcabcab")) if isinstance(event, Traced)]
    assert len(found) == 1
    assert found[0] in moments
    assert len(set(moments)) == len(moments)


def test_the_packed_weights_follow_every_step(text):
    engine = built()
    held = engine.model(CURRENT)
    held.fast.next_logits([0, 1, 2])
    trained(engine, text(TEXT), replace(SHORT, steps=1))
    assert held.fast.stale
    fresh = held.fast.next_logits([0, 1, 2])
    with torch.no_grad():
        expected = held.model(torch.tensor([[0, 1, 2]]))[0][0, -1]
    assert torch.allclose(fresh, expected, atol=1e-5)


def test_pause_keeps_the_run_where_it_stands_and_resume_goes_on(text):
    engine, heard = built(), []
    runner = Runner(engine, heard.append, turn_s=1e-9, clock=Clock())
    path, settings = text(TEXT), replace(SHORT, steps=10)
    runner.submit(Train(job=2, corpus=path, settings=settings, tokens=0))
    for _ in range(6):
        runner.advance()
    runner.submit(Pause(job=3, target=2))
    stands = weights(engine)
    assert not runner.advance()
    assert torch.equal(stands, weights(engine))
    runner.submit(ReportTraining(job=4))
    runner.advance()
    runner.advance()
    course = engine.model(CURRENT).course
    assert len(losses(heard)) == course.step > 0
    runner.submit(Resume(job=5, target=2))
    while runner.advance():
        pass
    other = built()
    assert losses(heard) == losses(trained(other, path, settings))
    assert torch.equal(weights(other), weights(engine))


def test_single_steps_stops_and_going_on_give_the_numbers_of_an_unbroken_run(text):
    path, settings = text(TEXT), replace(SHORT, steps=12, warmup=4, decay=0.1)
    config = replace(TINY, dropout=0.2)
    unbroken, broken = built(config), built(config)
    expected = losses(trained(unbroken, path, settings))
    heard = trained(broken, path, settings, limit=1)
    heard += trained(broken, path, settings, limit=3)
    events = []
    runner = Runner(broken, events.append, turn_s=1e-9, clock=Clock())
    runner.submit(Train(job=6, corpus=path, settings=settings, tokens=0))
    for _ in range(6):
        runner.advance()
    runner.submit(Cancel(job=7, target=6))
    runner.submit(ReportTraining(job=8))
    while runner.advance():
        pass
    assert of(Cancelled, events)
    heard += events
    heard += trained(broken, path, settings)
    assert losses(heard) == expected
    assert torch.equal(weights(unbroken), weights(broken))


def test_more_steps_lengthen_a_run_that_was_complete_and_the_same_begin_a_new_one(text):
    path = text(TEXT)
    long, short = built(), built()
    expected = losses(trained(long, path, replace(SHORT, steps=8)))
    heard = trained(short, path, replace(SHORT, steps=5))
    heard += trained(short, path, replace(SHORT, steps=8))
    assert losses(heard) == expected
    assert torch.equal(weights(long), weights(short))
    again = trained(short, path, replace(SHORT, steps=8))
    began = of(TrainingBegan, again)[0]
    assert (began.first, began.step, began.last) == (8, 8, 16)
    assert of(TrainedSteps, again)[0].first == 8


def test_untraining_gives_back_the_first_weights_and_the_same_run_once_more(text):
    engine, path = built(replace(TINY, dropout=0.2)), text(TEXT)
    before = weights(engine)
    one = losses(trained(engine, path))
    after = weights(engine)
    assert not torch.equal(before, after)
    events = list(engine.run(Untrain(job=3)))
    assert torch.equal(before, weights(engine))
    assert of(MomentsKept, events)[0].steps == (0,)
    assert (of(MomentShown, events)[0].step, of(MomentShown, events)[0].newest) == (0, True)
    assert losses(trained(engine, path)) == one
    assert torch.equal(after, weights(engine))


def test_untraining_ends_a_run_that_is_under_way(text):
    engine = built()
    before = weights(engine)
    heard = []
    runner = Runner(engine, heard.append, turn_s=1e-9, clock=Clock())
    runner.submit(Train(job=2, corpus=text(TEXT), settings=replace(SHORT, steps=10_000), tokens=0))
    for _ in range(8):
        runner.advance()
    runner.submit(Untrain(job=3))
    while runner.advance():
        pass
    assert [event.superseded for event in of(Cancelled, heard)] == [True]
    assert torch.equal(before, weights(engine))
    assert engine.model(CURRENT).course.step == 0


# --- moments -------------------------------------------------------------------------------------------------------


def test_showing_a_moment_and_coming_back_changes_nothing_of_the_run(text):
    path, settings = text(TEXT), replace(SHORT, steps=10)
    plain, shown = built(), built()
    trained(plain, path, settings, limit=6)
    at_six = weights(plain)
    trained(plain, path, settings)
    trained(shown, path, settings, limit=6)
    for step in (0, 3, 5, 2):
        events = list(shown.run(ShowMoment(job=3, step=step)))
        assert [(event.step, event.newest) for event in of(MomentShown, events)] == [(step, False)]
    assert not torch.equal(at_six, weights(shown))
    assert of(MomentShown, list(shown.run(ShowMoment(job=4))))[0].newest
    assert torch.equal(at_six, weights(shown))
    list(shown.run(ShowMoment(job=5, step=1)))
    events = trained(shown, path, settings)  # goes on from the newest, whatever is shown
    assert [event.newest for event in of(MomentShown, events)] == [True]
    assert torch.equal(weights(plain), weights(shown))


@pytest.mark.parametrize("large", [False, True])
def test_a_run_that_is_under_way_puts_the_newest_weights_back_itself(text, large, monkeypatch):
    monkeypatch.setattr(Trainer, "large", large)
    path, settings = text(TEXT), replace(SHORT, steps=6, validation=0.3, eval_every=2)
    plain, shown = built(), built()
    expected = trained(plain, path, settings)
    steps = shown.run(Train(job=2, corpus=path, settings=settings, tokens=0))
    heard = []
    for number, event in enumerate(steps):
        heard += [] if event is None else [event]
        if number > 3 and shown.model(CURRENT).course.step:
            list(shown.run(ShowMoment(job=3, step=0)))
    assert losses(heard) == losses(expected)
    assert [each.loss for each in of(Validated, heard)] == [each.loss for each in of(Validated, expected)]
    list(shown.run(ShowMoment(job=3)))
    assert torch.equal(weights(plain), weights(shown))


def test_the_untrained_model_is_the_built_one_bit_for_bit(text):
    engine = built()
    before = weights(engine)
    trained(engine, text(TEXT))
    list(engine.run(ShowMoment(job=3, step=0)))
    assert torch.equal(before, weights(engine))
    assert torch.equal(before, flat(build(TINY, 0).parameters()))


def test_a_model_that_was_never_trained_has_one_moment():
    engine = built()
    assert [(event.step, event.newest) for event in engine.run(ShowMoment(job=3, step=0))] == [(0, True)]
    with pytest.raises(NoMoment):
        list(engine.run(ShowMoment(job=3, step=4)))
    assert [event.steps for event in engine.run(ReportTraining(job=4))] == [(0,)]
    assert [type(event) for event in engine.run(Untrain(job=5))] == [MomentsKept, MomentShown]


def ways():
    """All that remember a batch."""
    gc.collect()
    return sum(type(each) is Backpropagation for each in gc.get_objects())


@pytest.mark.parametrize("end", ["complete", "cancelled", "failed"])
def test_after_a_run_nothing_of_its_last_batch_is_held(text, end, monkeypatch):
    engine, heard = built(), []
    runner, before = Runner(engine, heard.append, clock=Clock()), ways()
    settings = replace(SHORT, steps=40 if end == "complete" else 10**6)
    runner.submit(Train(job=2, corpus=text(TEXT), settings=settings, tokens=0))
    while not losses(heard):
        runner.advance()
    assert ways() == before + 1
    if end == "cancelled":
        runner.submit(Cancel(job=3, target=2))
    elif end == "failed":
        monkeypatch.setattr(Embedding, "back", lambda self, d: 1 / 0)
    while runner.advance():
        pass
    assert {"complete": Finished, "cancelled": Cancelled, "failed": Failed}[end] is type(heard[-1])
    assert ways() == before


@pytest.mark.parametrize("yields", range(8))
def test_a_run_that_is_ended_while_another_moment_was_shown_tells_of_every_step(text, yields):
    engine, path = built(), text(TEXT)
    events = trained(engine, path, limit=3)
    list(engine.run(ShowMoment(job=3, step=0)))
    run = engine.run(Train(job=4, corpus=path, settings=SHORT, tokens=0))
    for _, event in zip(range(yields), run, strict=False):
        events.append(event)
    run.close()
    events += list(engine.run(ReportTraining(job=5)))
    events += trained(engine, path)
    made = list(engine.model(CURRENT).course.losses)
    assert len(made) >= SHORT.steps
    assert losses([event for event in events if event is not None]) == pytest.approx(made)


# --- what goes wrong -----------------------------------------------------------------------------------------------


def test_f19_a_loss_that_is_not_finite_ends_the_run_with_its_step_and_leaves_the_weights(text):
    engine, heard = built(), []
    path = text(TEXT)
    runner = Runner(engine, heard.append, clock=Clock())
    runner.submit(Train(job=2, corpus=path, settings=replace(SHORT, steps=50, rate=1e6, clip=0.0), tokens=5))
    while runner.advance():
        pass
    failed = of(Failed, heard)[0]
    course = engine.model(CURRENT).course
    assert failed.expected
    assert failed.field == "rate"
    assert f"at step {course.step}" in failed.message
    assert len(losses(heard)) == course.step < 50
    before = weights(engine)
    with pytest.raises(TrainingError, match=f"at step {course.step}"):  # and again, at the same step
        trained(engine, path, replace(SHORT, steps=50, rate=1e6, clip=0.0))
    assert torch.equal(before, weights(engine))
    list(engine.run(Untrain(job=3)))
    assert all(math.isfinite(loss) for loss in losses(trained(engine, path)))


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("[enforce fail] DefaultCPUAllocator: no")]
)
def test_f13_out_of_memory_is_one_sentence_and_the_next_run_works(text, error, monkeypatch):
    engine, heard, held = built(), [], []
    runner, there, calls = Runner(engine, heard.append, clock=Clock()), Loss.there, []

    def failing(self, x, targets):
        calls.append(len(calls))
        if len(calls) == 4:
            tensor = torch.zeros(7)
            held.append(weakref.ref(tensor))
            raise error.with_traceback(None)
        return there(self, x, targets)

    monkeypatch.setattr(Loss, "there", failing)
    path = text(TEXT)
    runner.submit(Train(job=2, corpus=path, settings=SHORT, tokens=0))
    while runner.advance():
        pass
    monkeypatch.setattr(Loss, "there", there)
    failed = of(Failed, heard)[0]
    assert failed.expected
    assert failed.field == "batch"
    assert "lower the batch" in failed.message
    assert "a training step of 4 windows needs about" in failed.message
    assert failed.message.count(". ") == 0
    assert len(losses(heard)) == 3
    error.__traceback__ = None
    gc.collect()
    assert held[0]() is None
    runner.submit(Train(job=3, corpus=path, settings=SHORT, tokens=0))
    while runner.advance():
        pass
    assert of(Finished, heard)
    assert losses(heard) == losses(trained(built(), path))


def test_f13_a_batch_that_memory_has_no_room_for_is_refused_beforehand(text, monkeypatch):
    monkeypatch.setattr(training_memory, "free_bytes", lambda device: 10**6)
    with pytest.raises(
        OutOfMemory, match=r"a training step of 4,000 windows needs about .* has 900 kB .*lower the batch"
    ):
        trained(built(), text(TEXT), replace(SHORT, batch=4000))
    assert training_memory.needed_bytes(GPTConfig(), 32) < training_memory.needed_bytes(GPTConfig(), 64)


def test_f05_what_was_done_before_a_failure_is_told_before_it(text, monkeypatch):
    engine, heard = built(), []
    runner, step = Runner(engine, heard.append, clock=Clock(tick=0.0)), Trainer.step

    def failing(self):
        if self.step_number == 3:
            raise RuntimeError("the worker fell over")
        return step(self)

    monkeypatch.setattr(Trainer, "step", failing)
    runner.submit(Train(job=2, corpus=text(TEXT), settings=SHORT, tokens=0))
    while runner.advance():
        pass
    assert [type(event) for event in heard[-2:]] == [MomentsKept, Failed]
    assert len(losses(heard)) == 3
    assert heard[-1].message == "RuntimeError: the worker fell over"
    assert not of(Finished, heard)


def test_a_run_ends_when_its_model_is_replaced_and_lets_it_go(text):
    engine, heard = built(), []
    runner = Runner(engine, heard.append, turn_s=1e-9, clock=Clock())
    runner.submit(Train(job=2, corpus=text(TEXT), settings=replace(SHORT, steps=10_000), tokens=0))
    for _ in range(8):
        runner.advance()
    old = weakref.ref(engine.model(CURRENT).model)
    runner.submit(Build(job=3, config=TINY, device="cpu", alphabet=LETTERS))
    while runner.advance():
        pass
    assert {event.job for event in of(Finished, heard)} == {2, 3}
    gc.collect()
    assert old() is None


def test_e09_runs_and_moments_leave_nothing_behind(text):
    engine, path = built(), text(TEXT)
    counts = []
    for round_ in range(5):
        trained(engine, path, replace(SHORT, steps=3), tokens=3)
        list(engine.run(ShowMoment(job=3, step=1)))
        list(engine.run(Untrain(job=4)))
        gc.collect()
        counts.append(sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects()))
        assert all(not module._forward_hooks for module in engine.model(CURRENT).model.modules()), round_
    assert len(set(counts[2:])) == 1


# --- files ---------------------------------------------------------------------------------------------------------


def test_a_saved_run_goes_on_in_another_engine_with_the_same_numbers(text, tmp_path):
    path, saved = text(TEXT), str(tmp_path / "half.safetensors")
    settings = replace(SHORT, steps=10, warmup=3, decay=0.1, validation=0.2, eval_every=4)
    config = replace(TINY, dropout=0.2)
    unbroken, first, second = built(config), built(config), Engine()
    expected = losses(trained(unbroken, path, settings))
    trained(first, path, settings, limit=6)
    list(first.run(SaveCheckpoint(job=3, path=saved)))
    opened = list(second.run(OpenCheckpoint(job=1, path=saved, device="cpu")))
    assert losses(opened) == pytest.approx(expected[:6], abs=1e-5)
    assert [each.step for each in of(Validated, opened)] == [0, 4]
    assert of(MomentsKept, opened)[0].steps == (0, 6)
    events = trained(second, path, settings)
    assert (of(TrainingBegan, events)[0].first, of(TrainingBegan, events)[0].step) == (0, 6)
    assert losses(events) == expected[6:]
    assert torch.equal(weights(unbroken), weights(second))
    list(second.run(ShowMoment(job=4, step=0)))
    assert torch.equal(weights(second), flat(build(config, 0).parameters()))


def test_a_saved_moment_tells_of_its_own_steps_alone(text, tmp_path):
    engine, saved = built(), tmp_path / "early.safetensors"
    trained(engine, text(TEXT), replace(SHORT, validation=0.2, eval_every=2))
    list(engine.run(ShowMoment(job=3, step=3)))
    list(engine.run(SaveCheckpoint(job=4, path=str(saved))))
    other = Engine()
    events = list(other.run(OpenCheckpoint(job=1, path=str(saved), device="cpu")))
    assert torch.equal(weights(engine), weights(other))
    assert len(losses(events)) == 3
    assert [each.step for each in of(Validated, events)] == [0, 2]
    history = other.model(CURRENT).history
    assert (history["steps"], history["runs"][0]["steps"]) == (3, 3)
    assert history["runs"][0]["settings"]["batch"] == 4
    assert history["runs"][0]["sha256"] == of(TrainingBegan, trained(other, text(TEXT)))[0].sha256


def test_the_newest_weights_can_be_saved_while_an_earlier_moment_is_shown(text, tmp_path):
    engine, path, saved = built(), text(TEXT), tmp_path / "newest.safetensors"
    trained(engine, path, replace(SHORT, steps=8), limit=5)
    newest = weights(engine)
    list(engine.run(ShowMoment(job=3, step=2)))
    shown = weights(engine)
    list(engine.run(SaveCheckpoint(job=4, path=str(saved), newest=True)))
    assert torch.equal(shown, weights(engine))
    assert engine.model(CURRENT).course.shown == 2
    other = Engine()
    list(other.run(OpenCheckpoint(job=1, path=str(saved), device="cpu")))
    assert torch.equal(newest, weights(other))
    assert losses(trained(other, path, replace(SHORT, steps=8))) == losses(
        trained(engine, path, replace(SHORT, steps=8))
    )


@pytest.mark.parametrize(
    "history",
    [
        {"steps": "many"},
        {"steps": 3, "losses": [1.0] * 9},
        {"steps": 3, "losses": "none", "validations": [[9, 1.0], [1], 4, [2, None]], "runs": [5, {"first": 1}]},
        {"steps": -1},
        {"note": "something else"},
    ],
)
def test_a_history_that_says_something_else_does_no_harm(history, text, tmp_path):
    from gpt_viz.engine.checkpoints.saving import save

    path = tmp_path / "odd.safetensors"
    save(path, build(TINY, 0), alphabet=LETTERS, seed=0, history=history)
    engine = Engine()
    list(engine.run(OpenCheckpoint(job=1, path=str(path), device="cpu")))
    assert len(losses(trained(engine, text(TEXT)))) == 5


def test_a_new_run_begun_while_looking_back_says_that_the_newest_weights_are_worn(text):
    engine = built()
    trained(engine, text(TEXT), replace(SHORT, steps=4))
    list(engine.run(ShowMoment(job=4, step=0)))
    events = list(engine.run(Train(job=5, corpus=str(text(TEXT)), settings=replace(SHORT, steps=2, seed=9), tokens=0)))
    assert [(each.step, each.newest) for each in of(MomentShown, events)] == [(4, True)]
    assert of(TrainingBegan, events)[0].step == 4
    assert engine.model(CURRENT).course.wears_newest


def test_a_run_anew_begins_with_the_first_weights_and_forgets_the_others(text):
    engine = built()
    first = flat(engine.model(CURRENT).model.parameters())
    trained(engine, text(TEXT), replace(SHORT, steps=4))
    command = Train(job=5, corpus=str(text(TEXT)), settings=replace(SHORT, steps=4), tokens=0, anew=True, limit=1)
    events = list(engine.run(command))
    assert of(TrainingBegan, events)[0].step == 0
    assert engine.model(CURRENT).course.step == 1
    course = engine.model(CURRENT).course
    course.wear(0)
    assert torch.equal(flat(course.model.parameters()), first)
