"""Watching places, taking snapshots, and the stash: what is seen is what ran, and nothing stays behind."""

import gc
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.initialise import build
from gpt_viz.engine.model import Head
from gpt_viz.engine.taps import (
    NoStash,
    UnknownPlace,
    capture,
    collect_attention,
    evaluating,
    places,
    shrink,
    snapshot,
    stashing,
    watching,
)

IDS = [3, 1, 4, 1, 5]


@pytest.fixture
def model(tiny):
    return build(tiny, 0)


def heads(model):
    return [each for each in model.modules() if isinstance(each, Head)]


def test_a_snapshot_does_not_change_with_the_weights_and_is_read_only():
    weight = torch.nn.Parameter(torch.ones(2, 2))
    array = snapshot(weight)
    with torch.no_grad():
        weight.add_(1)
    assert array.tolist() == [[1, 1], [1, 1]]
    assert array.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 5


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_a_snapshot_is_float32_whatever_the_tensor_was(kind):
    array = snapshot(torch.tensor([0.5, float("-inf")], dtype=kind))
    assert array.dtype == np.float32
    assert array.tolist() == [0.5, float("-inf")]


def test_a_snapshot_of_whole_numbers_stays_whole():
    array = snapshot(torch.tensor([2**24 + 1, -1], dtype=torch.int32))
    assert array.dtype == np.int64
    assert array.tolist() == [2**24 + 1, -1]


def test_everything_that_is_captured_is_what_the_ledger_promises(model, tiny):
    found = capture(model, IDS, ["*"])
    specs = list(ledger.steps(tiny))
    assert list(found) == [spec.name for spec in specs]
    for spec in specs:
        array = found[spec.name]
        assert array.shape == spec.shape(tiny, tokens=5), spec.name
        assert array.dtype == (np.int64 if spec.name == "ids" else np.float32)
        assert not array.flags.writeable


def test_captured_numbers_follow_from_each_other(model):
    found = capture(model, IDS, ["*"])
    assert found["ids"].tolist() == [IDS]
    np.testing.assert_array_equal(found["embedded"], found["token_embedding"] + found["position_embedding"])
    x = found["embedded"]
    for block in ("blocks.0", "blocks.1"):
        for number in range(3):
            head = f"{block}.attn.heads.{number}"
            q, k = found[f"{head}.q"], found[f"{head}.k"]
            np.testing.assert_allclose(found[f"{head}.products"], q @ k.transpose(0, 2, 1), atol=1e-5)
            np.testing.assert_allclose(found[f"{head}.scores"], found[f"{head}.products"] / 2, atol=1e-6)
            masked = found[f"{head}.masked"][0]
            assert np.isneginf(masked[np.triu_indices(5, 1)]).all()
            lower = np.tril_indices(5)
            np.testing.assert_array_equal(masked[lower], found[f"{head}.scores"][0][lower])
            np.testing.assert_allclose(found[f"{head}.A"].sum(-1), 1, atol=1e-6)
            np.testing.assert_allclose(found[f"{head}.out"], found[f"{head}.A"] @ found[f"{head}.v"], atol=1e-5)
        joined = np.concatenate([found[f"{block}.attn.heads.{number}.out"] for number in range(3)], axis=-1)
        np.testing.assert_array_equal(found[f"{block}.attn.concat"], joined)
        np.testing.assert_array_equal(found[f"{block}.mid"], x + found[f"{block}.attn.proj"])
        np.testing.assert_array_equal(found[f"{block}.out"], found[f"{block}.mid"] + found[f"{block}.mlp.contract"])
        x = found[f"{block}.out"]
    np.testing.assert_allclose(found["logits"], found["ln_f"] @ snapshot(model.head.weight).T, atol=1e-5)
    logits = found["logits"][0, :-1].astype(np.float64)
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    assert found["loss"] == pytest.approx(-log_p[np.arange(4), IDS[1:]].mean(), abs=1e-6)


def test_patterns_choose_places_and_keep_the_order_of_execution(model):
    found = capture(model, IDS, ["logits", "blocks.1.attn.heads.[02].A", "blocks.?.ln1"])
    assert list(found) == [
        "blocks.0.ln1", "blocks.1.ln1", "blocks.1.attn.heads.0.A", "blocks.1.attn.heads.2.A", "logits",
    ]  # fmt: skip


def test_a_batch_keeps_its_axis(model):
    found = capture(model, [IDS, IDS[::-1]], ["blocks.0.attn.heads.0.A", "position_embedding", "loss"])
    assert found["blocks.0.attn.heads.0.A"].shape == (2, 5, 5)
    assert found["position_embedding"].shape == (5, 12)
    assert found["loss"].shape == ()


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("blocks.1.mlp.GELU", "no place is called 'blocks.1.mlp.GELU'; the nearest is blocks.1.mlp.gelu"),
        ("logit", "no place is called 'logit'; the nearest is logits"),
        ("blocks.7.ln1", "no place is called 'blocks.7.ln1'; the nearest is blocks.1.ln1"),
        ("*.a", "no place is called '*.a'; the nearest is blocks.0.attn.heads.0.A"),
    ],
)
def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest_place(glob, message, tiny):
    with pytest.raises(UnknownPlace) as caught:
        places(tiny, ["ids", glob])
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


def test_a_single_token_has_no_loss_to_capture(model):
    assert "loss" not in capture(model, [3], ["*"])
    with pytest.raises(UnknownPlace, match="a text of one token has no loss"):
        capture(model, [3], ["loss"])


def test_a08_capturing_with_dropout_is_repeatable_and_gives_the_mode_back(tiny):
    model = build(replace(tiny, dropout=0.5), 0).train()
    model.blocks[1].eval()
    modes = [each.training for each in model.modules()]
    one, other = capture(model, IDS, ["*"]), capture(model, IDS, ["*"])
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])
    assert [each.training for each in model.modules()] == modes
    with torch.no_grad():
        model.train()
        assert not torch.equal(model(torch.tensor([IDS]))[0], model(torch.tensor([IDS]))[0])


def test_evaluating_gives_modes_and_gradients_back_after_an_error(model):
    seen = []

    def fail():
        with evaluating(model):
            seen.append((torch.is_grad_enabled(), any(each.training for each in model.modules())))
            raise RuntimeError

    model.train()
    with pytest.raises(RuntimeError):
        fail()
    assert seen == [(False, False)]
    assert torch.is_grad_enabled()
    assert all(each.training for each in model.modules())


def test_a_profile_function_of_someone_else_is_put_back_also_after_an_error(model):
    def other(frame, event, value):
        pass

    before = sys.getprofile()
    sys.setprofile(other)
    try:
        capture(model, IDS, ["logits"])
        assert sys.getprofile() is other
        with pytest.raises(ZeroDivisionError), watching(model, lambda name, tensor: 1 // 0):
            model(torch.tensor([IDS]))
        assert sys.getprofile() is other
    finally:
        sys.setprofile(before)


def test_a_forward_that_fails_shows_what_it_had_and_gives_everything_back(model):
    seen, before = [], sys.getprofile()
    model.train()
    broken = model.blocks[1].attn.heads[2]
    broken.value = None
    with pytest.raises(TypeError), watching(model, lambda name, _: seen.append(name)):
        model(torch.tensor([IDS]))
    assert seen[-3:] == ["blocks.1.attn.heads.2.q", "blocks.1.attn.heads.2.k", "blocks.1.ln1"]
    assert sys.getprofile() is before
    assert model.training


def test_watching_one_model_does_not_see_another(model, tiny):
    seen = []
    with watching(model, lambda name, _: seen.append(name)):
        build(tiny, 1)(torch.tensor([IDS]))
    assert seen == []


def test_nothing_of_a_pass_outlives_it_and_no_head_holds_anothers_products(model):
    alive = []
    most = 0

    def see(name, tensor):
        nonlocal most
        if name.endswith((".products", ".scores", ".masked")):
            alive.append(weakref.ref(tensor))
            most = max(most, sum(each() is not None for each in alive))

    with evaluating(model), stashing(model, False), watching(model, see):
        model(torch.tensor([IDS]))
    gc.collect()
    assert len(alive) == 18
    assert most == 3
    assert not any(each() is not None for each in alive)


def test_e08_attention_is_collected_from_every_head_and_the_stash_is_empty_afterwards(model):
    with torch.no_grad():
        model(torch.tensor([IDS]))
    stashed = [head.A[0].numpy().copy() for head in heads(model)]
    patterns = collect_attention(model)
    assert patterns.shape == (2, 3, 5, 5)
    assert patterns.dtype == np.float32
    assert not patterns.flags.writeable
    np.testing.assert_array_equal(patterns.reshape(6, 5, 5), np.stack(stashed))
    np.testing.assert_allclose(patterns.sum(-1), 1, atol=1e-6)
    assert [head.A for head in heads(model)] == [None] * 6
    with pytest.raises(NoStash, match="no attention was kept"):
        collect_attention(model)


def test_e10_patterns_are_as_large_as_the_text(model):
    for count in (1, 3, 5, 8):
        model(torch.zeros(1, count, dtype=torch.long))
        assert collect_attention(model).shape == (2, 3, count, count)


def test_attention_of_a_batch_is_refused(model):
    model(torch.tensor([IDS, IDS]))
    with pytest.raises(NoStash, match="one text at a time"):
        collect_attention(model)


def test_a02_without_layers_there_is_no_attention(tiny):
    model = build(replace(tiny, layers=0), 0)
    model(torch.tensor([IDS]))
    assert collect_attention(model).shape == (0, 0, 0, 0)


def test_capturing_leaves_no_stash_and_the_heads_as_they_were(model):
    heads(model)[0].stash = False
    capture(model, IDS, ["*.A"])
    assert [head.A for head in heads(model)] == [None] * 6
    assert [head.stash for head in heads(model)] == [False] + [True] * 5


@pytest.mark.parametrize(("T", "cells", "t"), [(8, 8, 8), (9, 8, 5), (64, 8, 8), (65, 8, 8), (1, 8, 1)])
def test_shrunk_patterns_hold_the_largest_of_each_square(T, cells, t):
    patterns = torch.rand(2, T, T)
    side = -(-T // cells)
    found = shrink(patterns, cells)
    assert found.shape == (2, -(-T // side), -(-T // side))
    assert found.shape[1] <= cells
    for row in range(found.shape[1]):
        for column in range(found.shape[1]):
            square = patterns[:, row * side : (row + 1) * side, column * side : (column + 1) * side]
            assert torch.equal(found[:, row, column], square.amax((1, 2)))


def test_a_nan_survives_shrinking():
    patterns = torch.zeros(1, 16, 16)
    patterns[0, 3, 2] = float("nan")
    assert torch.isnan(shrink(patterns, 8)).nonzero().tolist() == [[0, 1, 1]]


def test_a06_the_captured_weights_are_scaled_by_the_head_width():
    for count in (1, 3, 12):
        config = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=count, width=12, qkv_bias=True, tied_head=True)
        found = capture(build(config, 0), [3, 1, 4, 1, 5, 9], ["*.q", "*.k", "*.A"])
        for layer in range(2):
            for head in range(count):
                path = f"blocks.{layer}.attn.heads.{head}."
                q, k = found[f"{path}q"][0].astype(np.float64), found[f"{path}k"][0].astype(np.float64)
                scores = np.where(np.tri(6, dtype=bool), q @ k.T / np.sqrt(12 / count), -np.inf)
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                weights /= weights.sum(-1, keepdims=True)
                np.testing.assert_allclose(found[f"{path}A"][0], weights, atol=1e-6, rtol=0)


def test_the_places_are_the_variables_of_the_lesson(model, tiny):
    seen = []
    with watching(model, lambda name, _: seen.append(name)):
        logits, _ = model(torch.tensor([IDS]))
        model.compare(logits, torch.tensor([IDS]))
    assert sorted(seen) == sorted(step.name for step in ledger.steps(tiny))
