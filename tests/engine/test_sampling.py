"""Temperature, cuts and draws: every setting completes or is refused by name, and a seed is a text."""

import math

import pytest
import torch

from gpt_viz.config import ConfigError
from gpt_viz.engine import sampling
from gpt_viz.engine.sampling import (
    BrokenOutput,
    ImpossibleDraw,
    Sampler,
    SettingError,
    check_settings,
    check_tokens,
    distribution,
    rank,
)


def logits_of(seed, vocabulary=11, scale=1.0):
    return torch.randn(vocabulary, generator=torch.Generator().manual_seed(seed)) * scale


def test_at_temperature_1_it_is_the_plain_softmax_to_the_bit():
    for seed in range(50):
        logits = logits_of(seed, 65, 3.0)
        assert torch.equal(distribution(logits), torch.softmax(logits, -1))


@pytest.mark.parametrize("temperature", [0.3, 0.7, 0.8, 1.3, 2, 50.0])
def test_other_temperatures_divide_the_logits(temperature):
    logits = logits_of(3, 65)
    expected = torch.softmax(logits.double() / temperature, -1)
    assert torch.allclose(distribution(logits, temperature).double(), expected, atol=1e-7)


def test_b01_temperature_0_is_greedy_for_every_seed():
    logits = logits_of(0)
    probabilities = distribution(logits, 0)
    assert probabilities.tolist() == [float(id == int(logits.argmax())) for id in range(11)]
    assert {Sampler(seed, 11).draw(probabilities, 0) for seed in (1, 2, 3)} == {int(logits.argmax())}


def test_b01_greedy_takes_the_lowest_id_of_equal_ones():
    assert distribution(torch.tensor([0.0, 2.0, 1.0, 2.0]), 0).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("temperature", [1e-2, 1e-4, 1e-8, 1e-30, 1e-45, 5e-324])
@pytest.mark.parametrize("scale", [1.0, 500.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_b02_tiny_temperatures_stay_finite_and_end_in_the_greedy_choice(temperature, scale, dtype):
    for seed in range(20):
        logits = (logits_of(seed) * scale).to(dtype)
        probabilities = distribution(logits, temperature)
        assert torch.isfinite(probabilities).all()
        assert float(probabilities.sum()) == pytest.approx(1, abs=1e-6)
        best, second = logits.float().topk(2).values.tolist()
        if (best - second) / temperature > 60:
            assert Sampler(seed, 11).draw(probabilities, 0) == int(logits.argmax())


def test_a_huge_temperature_makes_all_tokens_alike():
    assert distribution(logits_of(1), 1e308).tolist() == pytest.approx([1 / 11] * 11)


def test_b04_a_top_k_of_the_vocabulary_or_above_cuts_nothing():
    logits = logits_of(5)
    for top_k in (11, 12, 100_000):
        assert torch.equal(distribution(logits, top_k=top_k), distribution(logits))


def test_b05_top_k_0_is_off():
    assert torch.equal(distribution(logits_of(5), top_k=0), distribution(logits_of(5)))


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("top_k", -1, "top-k -1 is out of range; 0 is off"),
        ("top_k", -5, "top-k -5 is out of range"),
        ("top_k", "ten", "top-k must be a whole number, not 'ten'"),
        ("top_k", 3.5, "top-k must be a whole number, not 3.5"),
        ("top_k", True, "top-k must be a whole number"),
        ("temperature", -0.1, r"temperature -0.1 is out of range; it goes from 0 \(greedy\) up"),
        ("temperature", math.nan, "temperature nan is out of range"),
        ("temperature", math.inf, "temperature inf is out of range"),
        ("temperature", "abc", "the temperature must be a number, not 'abc'"),
        ("top_p", 0, r"top-p 0 is out of range; it goes from above 0 to 1 \(off\)"),
        ("top_p", 1.01, "top-p 1.01 is out of range"),
        ("top_p", math.nan, "top-p nan is out of range"),
        ("top_p", None, "top-p must be a number, not None"),
    ],
)
def test_b05_a_setting_out_of_range_is_refused_by_its_name(setting, value, message):
    with pytest.raises(SettingError, match=message) as refused:
        distribution(logits_of(0), **{setting: value})
    assert refused.value.field == setting
    assert isinstance(refused.value, ValueError)


def test_the_number_of_tokens_goes_from_0_up_or_has_no_end():
    for fine in (0, 1, 10**9, None):
        check_tokens(fine)
    for wrong in (-1, 2.0, "3", True):
        with pytest.raises(SettingError) as refused:
            check_tokens(wrong)
        assert refused.value.field == "tokens"


def test_whole_numbers_of_any_length_are_judged_and_never_overflow():
    check_settings(temperature=1, top_k=10**400)
    with pytest.raises(SettingError):
        check_settings(top_p=10**400)


@pytest.mark.parametrize(
    ("logits", "top_k", "kept"),
    [
        ([1, 1, 1, 0], 1, [0]),
        ([1, 1, 1, 0], 2, [0, 1]),
        ([3, 2, 1, 0], 1, [0]),
        ([3, 2, 1, 0], 2, [0, 1]),
        ([3, 2, 1, 0], 3, [0, 1, 2]),
        ([0, 1, 1, 1], 2, [1, 2]),
        ([0, 5, 1, 1], 2, [1, 2]),
        ([0, 0, 0, 0], 3, [0, 1, 2]),
        ([-math.inf, 1, -math.inf, 0], 3, [1, 3]),
    ],
)
def test_b06_exactly_k_tokens_stay_of_equal_logits_the_lowest_ids(logits, top_k, kept):
    probabilities = distribution(torch.tensor(logits, dtype=torch.float32), top_k=top_k)
    assert probabilities.nonzero().flatten().tolist() == kept
    sampler = Sampler(0, 4)
    assert {sampler.draw(probabilities, at) for at in range(200)} <= set(kept)
    assert float(probabilities.sum()) == pytest.approx(1)


def test_top_p_keeps_the_likeliest_tokens_that_reach_it():
    logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    for top_p, kept in ((0.4, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.8, 3), (0.9, 4), (1, 4)):
        probabilities = distribution(logits, top_p=top_p)
        assert int((probabilities > 0).sum()) == kept, top_p
        assert float(probabilities.sum()) == pytest.approx(1)
    assert distribution(logits, top_p=0.75).tolist() == pytest.approx([2 / 3, 1 / 3, 0, 0])


def test_top_p_leaves_one_token_however_small_it_is():
    probabilities = distribution(torch.zeros(4), top_p=1e-300)
    assert probabilities.tolist() == [1, 0, 0, 0]


def test_top_p_comes_after_top_k():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    # Two stay with 4/7 and 3/7: 0.5 of that is reached by the first, 0.6 by both.
    assert distribution(logits, top_k=2, top_p=0.5).tolist() == pytest.approx([1, 0, 0, 0])
    assert distribution(logits, top_k=2, top_p=0.6).tolist() == pytest.approx([4 / 7, 3 / 7, 0, 0])


@pytest.mark.parametrize(
    ("logits", "what"),
    [
        ([0.0, math.nan, 1.0], "NaN"),
        ([math.nan] * 3, "NaN"),
        ([math.inf, math.nan, 0.0], "NaN"),
        ([math.inf, 0.0, 0.0], "infinity"),
        ([-math.inf] * 3, "nothing but -infinity"),
    ],
)
@pytest.mark.parametrize("temperature", [0, 1.0])
def test_b07_broken_logits_end_in_one_sentence_with_the_position(logits, what, temperature):
    with pytest.raises(BrokenOutput, match=f"the model's output contains {what} at position 7$"):
        distribution(torch.tensor(logits), temperature, position=7)


def test_a_masked_logit_is_no_error():
    assert distribution(torch.tensor([-math.inf, 0.0, 0.0])).tolist() == [0, 0.5, 0.5]


def test_a05_a_vocabulary_of_one_is_certain():
    probabilities = distribution(torch.tensor([3.0]), 0.7, top_k=5, top_p=0.5)
    assert probabilities.tolist() == [1.0]
    assert Sampler(0, 1).draw(probabilities, 0) == 0


def test_the_logits_are_left_as_they_were():
    logits = logits_of(2)
    before = logits.clone()
    distribution(logits, 0.5, 3, 0.5)
    assert torch.equal(logits, before)


def test_rank_counts_what_the_model_prefers():
    logits = torch.tensor([1.0, 3.0, 1.0, 2.0])
    assert [rank(logits, id) for id in range(4)] == [2, 0, 3, 1]


@pytest.mark.parametrize("vocabulary", [1, 11, 65, 257])
def test_a_draw_is_multinomials_draw_from_the_same_stream(vocabulary):
    sampler = Sampler(5, vocabulary)
    generator = torch.Generator().manual_seed(5)
    for at in range(200):
        probabilities = distribution(logits_of(at, vocabulary, 2.0), top_k=7)
        assert sampler.draw(probabilities, at) == int(torch.multinomial(probabilities, 1, generator=generator))
    assert torch.equal(sampler._generator.get_state(), generator.get_state())


def test_a_draw_is_multinomials_draw_of_the_global_generator_as_a_notebook_makes_it():
    sampler = Sampler(0, 65)
    probabilities = [distribution(logits_of(at, 65)) for at in range(100)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        expected = [int(torch.multinomial(each.unsqueeze(0), 1)) for each in probabilities]
    assert [sampler.draw(each, at) for at, each in enumerate(probabilities)] == expected


def test_drawing_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    Sampler(0, 11).draw(distribution(logits_of(0)), 3)
    assert torch.equal(torch.get_rng_state(), before)


def test_b14_draw_k_of_a_seed_is_the_same_in_any_order_and_greedy_uses_one_up_too():
    probabilities = distribution(torch.zeros(65))
    sampler = Sampler(7, 65)
    inorder = [sampler.draw(probabilities, at) for at in range(400)]
    for at in (399, 0, 130, 129, 64, 63, 65, 398, 200, 200):
        assert sampler.draw(probabilities, at) == inorder[at]
        assert Sampler(7, 65).draw(probabilities, at) == inorder[at]
    mixed = Sampler(7, 65)
    mixed.draw(distribution(torch.zeros(65), 0), 0)
    assert mixed.draw(probabilities, 1) == inorder[1]
    assert [Sampler(8, 65).draw(probabilities, at) for at in range(20)] != inorder[:20]


@pytest.mark.parametrize("seed", [-1, 2**64, "abc", 1.0, None])
def test_b14_bad_seeds_are_refused(seed):
    with pytest.raises(ConfigError, match="seed"):
        Sampler(seed, 11)


def test_a_long_way_can_be_skipped_in_parts():
    probabilities = distribution(torch.zeros(11))
    sampler = Sampler(3, 11)
    calls = 1
    while not sampler.seek(1000, at_most=64):
        calls += 1
    assert calls == 16
    straight = Sampler(3, 11)
    straight.seek(1000)
    assert sampler.draw(probabilities, 1000) == straight.draw(probabilities, 1000)


def test_going_back_skips_at_most_the_spacing_of_the_kept_states():
    sampler = Sampler(3, 11)
    sampler.seek(50_000)
    assert len(sampler._marks) <= sampling._MARKS
    made = []
    noise = sampler._noise

    class Counted:
        def exponential_(self, generator):
            made.append(1)
            return noise.exponential_(generator=generator)

    sampler._noise = Counted()
    sampler.seek(49_999)
    assert len(made) < sampler._spacing <= 256


def test_b16_an_impossible_id_is_never_returned(monkeypatch):
    probabilities = distribution(logits_of(5), top_k=2)
    expected = [Sampler(1, 11).draw(probabilities, at) for at in range(3)]
    impossible = int((probabilities == 0).nonzero()[0])
    answers = iter([-9223372036854775808, 11, impossible])
    monkeypatch.setattr(sampling, "pick", lambda probabilities, noise: next(answers))
    sampler = Sampler(1, 11)
    assert [sampler.draw(probabilities, at) for at in range(3)] == expected


def test_b16_where_nothing_is_possible_it_says_so():
    with pytest.raises(ImpossibleDraw, match="11 possible"):
        Sampler(1, 11).draw(torch.zeros(11), 0)
