"""How far two models are apart: each measure against its definition, and what must be true of it for any input."""

import math

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import given as given_any
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpt_viz.compare_measures import (
    HeadDistance,
    divergence,
    first_difference,
    likely,
    log_likely,
    paired_order,
    ranked,
    total_variations,
)

FEW = settings(max_examples=25, deadline=None)
NUMBERS = st.floats(-30, 30, width=32)
LOGITS = st.integers(1, 40).flatmap(lambda size: arrays.arrays(np.float32, size, elements=NUMBERS))
PAIRS = st.integers(1, 40).flatmap(
    lambda size: st.tuples(*[arrays.arrays(np.float32, size, elements=NUMBERS) for _ in range(2)])
)
SCORES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 9)).flatmap(
    lambda sizes: st.tuples(
        *[arrays.arrays(np.float32, (*sizes, sizes[2]), elements=NUMBERS) for _ in range(3)],
    )
)


def given(*strategies):
    """Few examples of arrays, which take long to make."""
    return lambda test: FEW(given_any(*strategies)(test))


def attention(scores):
    """Causal patterns out of scores (L, H, T, T), as a model makes them."""
    masked = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf).astype(np.float64)
    weights = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


# --- heads -----------------------------------------------------------------------------------------------------------


@given(SCORES)
def test_the_distance_of_heads_is_a_distance_from_0_to_1(scores):
    a, b, c = map(attention, scores)
    found = total_variations(a, b)
    assert found.shape == a.shape[:2]
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert np.array_equal(found, total_variations(b, a))
    assert (total_variations(a, a) == 0).all()
    assert (total_variations(a, c) <= found + total_variations(b, c) + 1e-6).all()


@given(SCORES)
def test_the_distance_is_half_of_what_the_rows_differ_by_on_average(scores):
    a, b, _ = map(attention, scores)
    for layer, head in np.ndindex(*a.shape[:2]):
        rows = [sum(abs(float(x) - float(y)) for x, y in zip(p, q, strict=True)) / 2 for p, q in
                zip(a[layer, head], b[layer, head], strict=True)]  # fmt: skip
        assert total_variations(a, b)[layer, head] == pytest.approx(sum(rows) / len(rows), abs=1e-6)


def test_heads_that_never_look_at_one_place_are_1_apart_but_for_the_first_query():
    previous, itself = np.zeros((1, 1, 4, 4), np.float32), np.eye(4, dtype=np.float32)[None, None]
    for query in range(4):
        previous[0, 0, query, max(query - 1, 0)] = 1
    assert total_variations(previous, itself).tolist() == [[0.75]]


def test_a_head_with_a_number_that_is_not_finite_has_no_distance_and_comes_last():
    a, b = (np.full((1, 3, 2, 2), 0.5, np.float32) for _ in range(2))
    b[0, 2] = [[0.25, 0.75], [0.5, 0.5]]
    for bad in (np.nan, np.inf):
        a[0, 0, 0, 0] = bad
        found = ranked(total_variations(a, b))
        assert [(each.layer, each.head) for each in found] == [(0, 2), (0, 1), (0, 0)]
        assert found[0].distance == pytest.approx(0.125)
        assert math.isnan(found[2].distance)


def test_heads_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match="held against each other"):
        total_variations(np.zeros((1, 2, 3, 3), np.float32), np.zeros((1, 3, 3, 3), np.float32))


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(1, 4)), elements=st.floats(0, 1)))
def test_every_head_is_listed_once_the_furthest_first_and_of_equals_the_earlier(distances):
    found = ranked(distances)
    assert {(each.layer, each.head) for each in found} == set(np.ndindex(*distances.shape))
    assert all(each.distance == distances[each.layer, each.head] for each in found)
    keys = [(-each.distance, each.layer, each.head) for each in found]
    assert keys == sorted(keys)


def test_a_head_is_named_by_its_place():
    assert ranked(np.array([[0.25, 0.5]]))[0] == HeadDistance(0, 1, 0.5)


# --- distributions ---------------------------------------------------------------------------------------------------


@given(LOGITS, st.floats(0.1, 5))
def test_what_is_likely_adds_up_to_1_and_keeps_the_order_of_the_logits(logits, temperature):
    found = likely(logits, temperature)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert found[logits.argmax()] == found.max()
    assert np.allclose(log_likely(logits + np.float32(3), temperature), log_likely(logits, temperature), atol=1e-4)


@given(PAIRS)
def test_the_divergence_is_never_below_0_and_0_of_itself(pair):
    one, other = pair
    assert divergence(one, other) >= 0
    assert divergence(one, one) == 0


@given(PAIRS, st.floats(0.25, 4))
def test_the_divergence_is_the_sum_of_p_times_log_p_by_q(pair, temperature):
    p, q = (likely(each, temperature) for each in pair)
    assume(q.min() > 1e-200)
    direct = sum(float(a) * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    assert divergence(*pair, temperature) == pytest.approx(direct, rel=1e-6, abs=1e-9)


@given(PAIRS)
def test_the_divergence_bounds_the_distance_as_pinsker_says(pair):
    one, other = pair
    apart = np.abs(likely(one) - likely(other)).sum() / 2
    assert apart <= math.sqrt(divergence(one, other) / 2) + 1e-9


def test_a_known_divergence():
    half, fourth = np.log(np.float32([0.5, 0.5])), np.log(np.float32([0.25, 0.75]))
    assert divergence(half, fourth) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3), abs=1e-7)


def test_a_token_that_one_model_rules_out_costs_nothing_there_and_all_here():
    out, there = np.float32([0, -np.inf]), np.float32([0, 0])
    assert divergence(out, there) == pytest.approx(math.log(2))
    assert divergence(there, out) == math.inf
    assert math.isnan(divergence(np.float32([0, np.nan]), there))


def test_distributions_over_other_vocabularies_are_refused():
    with pytest.raises(ValueError, match="over 2 and over 3 tokens"):
        divergence(np.zeros(2, np.float32), np.zeros(3, np.float32))


@given(PAIRS, st.sampled_from(["probability", "difference"]))
def test_every_token_is_listed_once_by_what_was_asked_for(pair, by):
    p, q = map(likely, pair)
    order = paired_order(p, q, by)
    assert sorted(order) == list(range(len(p)))
    weight = np.abs(p - q) if by == "difference" else p + q
    assert (np.diff(weight[order]) <= 0).all()


# --- texts -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("ab")), st.lists(st.sampled_from("ab")))
def test_the_first_difference_is_where_both_go_on_and_go_apart(one, other):
    place = first_difference(one, other)
    both = min(len(one), len(other))
    if place is None:
        assert one[:both] == other[:both]
    else:
        assert place < both
        assert one[:place] == other[:place]
        assert one[place] != other[place]


def test_a_text_that_is_the_others_beginning_does_not_differ_from_it():
    assert first_difference("abc", "ab") is None
    assert first_difference("abc", "abd") == 2
