"""Inspecting and predicting: a pass of the text under study, of one model, with nothing that was not asked for."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from engines import LETTERS, TINY, built, inspected, of, sampled

from gpt_viz import ledger
from gpt_viz.engine import engine as module
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.model import GPT, Head
from gpt_viz.engine.sampling import BrokenOutput, distribution
from gpt_viz.protocol import (
    CURRENT,
    Attended,
    Distribution,
    Drawn,
    Inspect,
    Predict,
    Sample,
    TextRefused,
    Traced,
)


@pytest.fixture
def engine():
    return built()


def test_an_inspection_is_traced_and_attended_over_the_same_tokens(engine):
    traced, attended = inspected(engine, "abcde")
    assert isinstance(traced, Traced)
    assert isinstance(attended, Attended)
    assert traced.tokens == attended.tokens
    assert traced.tokens.ids == (0, 1, 2, 3, 4)
    assert traced.tokens.pieces == tuple("abcde")
    assert [step.name for step in traced.steps] == [step.name for step in ledger.steps(TINY)]
    assert traced.first_bad == ""
    assert traced.elapsed_s > 0


def test_the_loss_is_that_of_the_texts_own_next_characters(engine):
    (traced,) = inspected(engine, "abcde", attention=False)
    model = engine.model(CURRENT).model
    with torch.no_grad():
        logits, _ = model(torch.tensor([[0, 1, 2, 3, 4]]))
        expected = torch.nn.functional.cross_entropy(logits[0, :-1], torch.tensor([1, 2, 3, 4]))
    assert traced.loss == pytest.approx(float(expected), abs=1e-6)
    assert inspected(engine, "a", attention=False)[0].loss is None


def test_only_what_is_asked_for_is_computed(engine, monkeypatch):
    assert [type(event) for event in inspected(engine, trace=False)] == [Attended]
    assert inspected(engine, trace=False, attention=False) == []
    stashes = []
    forward = Head.forward

    def watched(self, x, mask):
        stashes.append(self.stash)
        return forward(self, x, mask)

    monkeypatch.setattr(Head, "forward", watched)
    assert [type(event) for event in inspected(engine, trace=False, attention=False)] == []
    assert not any(stashes)


def test_after_an_inspection_no_head_holds_a_stash_and_the_mode_is_as_it_was(engine):
    model = engine.model(CURRENT).model
    model.train()
    inspected(engine)
    assert [each.A for each in model.modules() if isinstance(each, Head)] == [None] * 6
    assert all(each.training for each in model.modules())
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("count", [1, 3, 5, 8])
def test_e10_the_pattern_is_as_large_as_the_text_with_as_many_labels(engine, count):
    _, attended = inspected(engine, "abcdefgh"[:count])
    assert attended.patterns.shape == (2, 3, count, count)
    assert attended.whole.shape == (count, count)
    assert len(attended.tokens.pieces) == count
    assert np.allclose(attended.patterns.sum(-1), 1, atol=1e-5)


def test_e10_during_sampling_the_pattern_grows_by_one_a_step_and_then_slides_with_its_labels(engine):
    ids = [event.id for event in of(Drawn, engine.run(Sample(job=2, text="abc", tokens=10)))]
    text = "abc" + "".join(LETTERS[id] for id in ids)
    for drawn in range(11):
        _, attended = inspected(engine, "abc", continuation=tuple(ids[:drawn]))
        size = min(3 + drawn, 8)
        assert attended.patterns.shape[-2:] == (size, size)
        assert "".join(attended.tokens.pieces) == text[: 3 + drawn][-8:]
        assert attended.tokens.dropped == max(3 + drawn - 8, 0)


def test_e08_there_are_patterns_of_all_heads_also_right_after_sampling(engine):
    for _ in range(3):
        sampled(engine, "abcdefghij", tokens=3)
        _, attended = inspected(engine)
        assert attended.patterns.shape == (2, 3, 3, 3)
        assert np.allclose(np.triu(attended.patterns, 1), 0)


def test_e08_what_is_sampled_and_what_is_inspected_are_the_same_model(engine):
    held = engine.model(CURRENT)
    for text in ("a", "abcde", "abcdefgh", "kjihgfedcba"):
        (predicted,) = engine.run(Predict(job=1, text=text))
        with torch.no_grad():
            expected = held.model(torch.tensor([held.ids(text)[-8:]]))[0][0, -1]
        assert np.abs(predicted.logits - expected.numpy()).max() < 1e-5


def test_e08_after_another_model_was_built_nothing_of_the_old_one_is_shown(engine):
    text = "abcdefgh"
    inspected(engine, text)
    sampled(engine, text)
    built(engine=engine, seed=4)
    fresh = built(seed=4)
    assert np.array_equal(inspected(engine, text)[1].patterns, inspected(fresh, text)[1].patterns)
    assert sampled(engine, text) == sampled(fresh, text)


def test_the_chosen_head_is_whole_and_a_long_text_s_patterns_are_the_largest_of_squares():
    engine = built(replace(TINY, block_size=300))
    text = "abcdefghijk" * 24
    attended = inspected(engine, text, trace=False, head=(1, 2))[0]
    assert attended.whole.shape == (264, 264)
    assert attended.head == (1, 2)
    assert attended.patterns.shape == (2, 3, 88, 88)
    padded = np.zeros((264, 264), np.float32)
    padded[:264, :264] = attended.whole
    assert np.array_equal(attended.patterns[1, 2], padded.reshape(88, 3, 88, 3).max(axis=(1, 3)))


def test_a_head_that_the_model_lacks_is_replaced_by_the_nearest(engine):
    _, attended = inspected(engine, head=(9, 9))
    assert attended.head == (1, 2)
    assert np.array_equal(attended.whole, attended.patterns[1, 2])


def test_b08_a_long_text_is_inspected_at_its_last_tokens(engine):
    traced, attended = inspected(engine, "abcdefghijkabcdefghi")
    assert traced.tokens.pieces == tuple("bcdefghi")
    assert traced.tokens.dropped == 12
    assert attended.patterns.shape == (2, 3, 8, 8)


def test_b09_an_empty_text_is_no_error_of_the_inspection(engine):
    (refused,) = inspected(engine, "")
    assert isinstance(refused, TextRefused)
    assert refused.unknown == ()


def test_b10_unknown_characters_are_told_with_their_places(engine):
    (refused,) = inspected(engine, "a?b\t")
    assert isinstance(refused, TextRefused)
    assert refused.unknown == ((1, "?"), (3, "\t"))


def test_a02_without_layers_everything_still_answers():
    engine = built(replace(TINY, layers=0))
    assert engine.model(CURRENT).info.total == 252
    traced, attended = inspected(engine, "abc")
    assert [step.name for step in traced.steps] == [
        "ids", "token_embedding", "position_embedding", "embedded", "ln_f", "logits", "loss",
    ]  # fmt: skip
    assert attended.patterns.shape == (0, 3, 3, 3)
    assert len(sampled(engine, tokens=5)) == 5


def test_a05_a_vocabulary_of_one_character():
    engine = built(replace(TINY, vocabulary=1), ("a",))
    assert engine.model(CURRENT).info.total == 3900
    assert sampled(engine, "a", tokens=10, top_k=5) == "a" * 10
    (predicted,) = engine.run(Predict(job=1, text="a", top_k=5))
    assert predicted.probabilities.tolist() == [1.0]
    assert inspected(engine, "aaaa")[0].loss == 0.0


def test_a08_dropout_is_off_while_inspecting_sampling_and_predicting():
    engine = built(replace(TINY, dropout=0.5))
    one, two = inspected(engine), inspected(engine)
    assert np.array_equal(one[1].patterns, two[1].patterns)
    assert np.allclose(one[1].patterns.sum(-1), 1, atol=1e-5)
    assert one[0].loss == two[0].loss
    assert sampled(engine) == sampled(engine) == sampled(built(TINY))


def test_b07_the_place_where_nan_begins_is_named(engine):
    held = engine.model(CURRENT)
    with torch.no_grad():
        held.model.ln_f.weight[3] = math.nan
    traced, attended = inspected(engine)
    assert traced.first_bad == "ln_f"
    assert math.isnan(traced.loss)
    assert np.isfinite(attended.patterns).all()
    for command in (Sample(job=1, text="abc", tokens=5), Predict(job=1, text="abc")):
        with pytest.raises(BrokenOutput, match="the model's output contains NaN at position 3; it begins in ln_f"):
            list(engine.run(command))
    built(engine=engine)
    assert len(sampled(engine)) == 20


def test_a_small_pass_is_timed_without_the_recording_and_a_long_one_is_not_made_twice(engine, monkeypatch):
    passes = []
    forward = GPT.forward
    monkeypatch.setattr(GPT, "forward", lambda self, *args: passes.append(1) or forward(self, *args))
    monkeypatch.setattr(module, "_QUICK_S", float("inf"))
    inspected(engine)
    assert len(passes) == 1
    monkeypatch.setattr(module, "_QUICK_S", 0.0)
    traced = inspected(engine)[0]
    assert len(passes) == 1
    assert traced.elapsed_s > 0


def test_f14_ids_outside_the_vocabulary_are_refused_before_any_pass(engine):
    for continuation in ((11,), (-1,), (1.5,), (True,)):
        for command in (
            Inspect(job=1, text="a", continuation=continuation),
            Sample(job=1, text="a", continuation=continuation),
            Predict(job=1, text="a", continuation=continuation),
        ):
            with pytest.raises(IdsError, match="ids go from 0 to 10"):
                list(engine.run(command))
    assert len(sampled(engine)) == 20


def test_without_an_alphabet_the_text_is_the_ids_and_so_are_the_labels():
    engine = built(TINY, None)
    traced, _ = inspected(engine, "1 10 3")
    assert traced.tokens.ids == (1, 10, 3)
    assert traced.tokens.pieces == ("1", "10", "3")
    assert inspected(engine, "1 11 x")[0].unknown == ((2, "11"), (5, "x"))
    drawn = of(Drawn, engine.run(Sample(job=1, text="1 2", tokens=3)))
    assert [event.piece for event in drawn] == [str(event.id) for event in drawn]


def test_an_inspection_pauses_between_blocks_and_gives_way_to_a_new_model(engine):
    steps = engine.run(Inspect(job=1, text="abc"))
    assert next(steps) is None
    built(engine=engine, seed=3)
    assert list(steps) == []


def test_a_prediction_is_the_distribution_after_the_text(engine):
    (event,) = engine.run(Predict(job=4, text="abc", continuation=(3,), temperature=0.5, top_k=3, top_p=0.9, chosen=2))
    assert isinstance(event, Distribution)
    assert (event.job, event.position, event.chosen) == (4, 4, 2)
    assert (event.temperature, event.top_k, event.top_p) == (0.5, 3, 0.9)
    assert event.logits.shape == event.probabilities.shape == (11,)
    expected = distribution(torch.tensor(event.logits), 0.5, 3, 0.9)
    assert np.array_equal(event.probabilities, expected.numpy())


def test_a_chosen_id_that_does_not_exist_is_refused(engine):
    with pytest.raises(IdsError):
        list(engine.run(Predict(job=1, text="a", chosen=11)))
