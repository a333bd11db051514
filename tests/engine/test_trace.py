"""One pass as ordered steps: every place, with the shape that the ledger's letters stand for, in every mode."""

import contextlib
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.initialise import build
from gpt_viz.engine.model import GPT, Head
from gpt_viz.engine.taps import NoStash, capture
from gpt_viz.engine.trace import inspect, inspect_steps, trace

IDS = [3, 1, 4, 1, 5]


@pytest.fixture
def model(tiny):
    return build(tiny, 0)


def finish(steps):
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def expected(config, tokens, batch=1):
    specs = ledger.steps(config, loss=tokens > 1)
    return [(spec.name, spec.shape(config, tokens, batch)) for spec in specs]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"heads": 1},
        {"heads": 12},
        {"qkv_bias": False, "tied_head": False, "bias": False},
        {"head_bias": True, "gelu": "tanh", "scale": "multiply"},
        {"layers": 0},
        {"vocabulary": 1},
        {"block_size": 1},
    ],
)
def test_a_trace_shows_every_place_with_exactly_the_shape_that_its_letters_stand_for(change, tiny):
    config = replace(tiny, **change)
    model = build(config, 0)
    for tokens in sorted({1, min(5, config.block_size), config.block_size}):
        found = trace(model, [0] * tokens)
        assert [(step.name, step.shape) for step in found] == expected(config, tokens)
        assert {step.dtype for step in found if step.name != "ids"} == {"float32"}
        assert found[0].dtype == "int64"


def test_the_first_notebooks_pass_has_171_steps_and_a_batch_keeps_its_axis():
    config = PRESETS["step5"].config
    found = trace(build(config, 1337), [list(range(64))] * 2)
    assert len(found) == 4 + 4 * (1 + 4 * 8 + 8) + 3 == 171
    assert [(step.name, step.shape) for step in found] == expected(config, 64, 2)


def test_g05_the_shapes_of_a_prompt_of_five(model):
    shapes = {step.name: step.shape for step in trace(model, IDS)}
    assert shapes["embedded"] == (1, 5, 12)
    head = "blocks.1.attn.heads.2."
    assert [shapes[head + name] for name in ("q", "k", "v", "out")] == [(1, 5, 4)] * 4
    assert [shapes[head + name] for name in ("products", "scores", "masked", "A")] == [(1, 5, 5)] * 4
    assert shapes["blocks.1.attn.concat"] == (1, 5, 12)
    assert shapes["blocks.1.mlp.expand"] == shapes["blocks.1.mlp.gelu"] == (1, 5, 48)
    assert shapes["blocks.1.mlp.contract"] == (1, 5, 12)
    assert shapes["logits"] == (1, 5, 11)
    assert shapes["loss"] == ()


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("outer", [contextlib.nullcontext, torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_g07_the_steps_are_the_same_in_every_mode(training, outer, model, tiny):
    model.train(training)
    with outer():
        found = trace(model, IDS)
    assert [(step.name, step.shape) for step in found] == expected(tiny, 5)
    assert all(each.training == training for each in model.modules())


def test_a08_inspecting_with_dropout_is_repeatable_to_the_bit(tiny):
    model = build(replace(tiny, dropout=0.5), 0).train()
    one, other = (inspect(model, IDS, attention=True) for _ in range(2))
    np.testing.assert_array_equal(one.patterns, other.patterns)
    np.testing.assert_allclose(one.patterns.sum(-1), 1, atol=1e-5)
    assert one.loss == other.loss
    assert one.steps == other.steps
    assert all(each.training for each in model.modules())


def test_the_loss_is_that_of_the_texts_own_next_tokens(model):
    with torch.no_grad():
        _, loss = model(torch.tensor([IDS[:-1]]), torch.tensor([IDS[1:]]))
    assert inspect(model, IDS).loss == pytest.approx(loss.item(), abs=1e-6)
    assert inspect(model, [3]).loss is None
    assert trace(model, [3])[-1].name == "logits"
    assert trace(model, IDS, loss=False)[-1].name == "logits"


def test_a05_a_vocabulary_of_one_has_a_loss_of_exactly_zero(tiny):
    assert inspect(build(replace(tiny, vocabulary=1), 0), [0] * 8).loss == 0.0


def test_attention_comes_from_the_same_pass_and_is_what_capture_sees(model):
    found = inspect(model, IDS, attention=True, head=(1, 2))
    captured = capture(model, IDS, ["*.A"])
    assert found.patterns.shape == (2, 3, 5, 5)
    assert found.patterns.dtype == np.float32
    assert not found.patterns.flags.writeable
    assert not found.whole.flags.writeable
    np.testing.assert_array_equal(found.patterns.reshape(6, 5, 5), np.concatenate(list(captured.values())))
    np.testing.assert_array_equal(found.whole, found.patterns[1, 2])
    assert found.head == (1, 2)
    assert len(found.steps) == len(ledger.steps(model.config))


def test_only_what_is_asked_for_is_computed(model):
    reached = []
    model.head.register_forward_pre_hook(lambda *args: reached.append(args))
    quiet = inspect(model, IDS, trace=False, attention=True)
    assert reached == []
    assert quiet.steps == ()
    assert quiet.loss is None
    plain = inspect(model, IDS)
    assert plain.patterns is None
    assert plain.whole is None


def test_a_head_that_the_model_lacks_is_replaced_by_the_nearest(model):
    found = inspect(model, IDS, attention=True, head=(7, 7))
    assert found.head == (1, 2)
    np.testing.assert_array_equal(found.whole, found.patterns[1, 2])


def test_a_long_text_has_its_patterns_shrunk_and_one_head_whole():
    config = GPTConfig(vocabulary=11, block_size=300, layers=1, heads=2, width=8)
    found = inspect(build(config, 0), [1, 2] * 150, attention=True, head=(0, 1))
    assert found.patterns.shape == (1, 2, 100, 100)
    assert found.whole.shape == (300, 300)
    assert found.patterns[0, 1, 99, 0] == found.whole[297:, :3].max()


def test_a02_without_layers_there_are_no_patterns_and_no_error(tiny):
    found = inspect(build(replace(tiny, layers=0), 0), IDS, attention=True, head=(1, 2))
    assert found.patterns.shape == (0, 3, 5, 5)
    assert found.whole.shape == (0, 0)
    assert found.head == (0, 2)
    assert [step.name for step in found.steps] == [
        "ids", "token_embedding", "position_embedding", "embedded", "ln_f", "logits", "loss",
    ]  # fmt: skip


def test_attention_of_a_batch_is_refused(model):
    with pytest.raises(NoStash, match="one text at a time"):
        inspect(model, [IDS, IDS], attention=True)


def test_it_pauses_between_blocks_and_holds_nothing_meanwhile(tiny):
    model = build(replace(tiny, dropout=0.5), 0).train()
    profile = sys.getprofile()
    steps = inspect_steps(model, IDS, attention=True)
    pauses = 0
    for _ in steps:
        pauses += 1
        assert all(each.training for each in model.modules())
        assert torch.is_grad_enabled()
        assert sys.getprofile() is profile
        heads = [each for each in model.modules() if isinstance(each, Head)]
        assert all(head.A is None and head.stash for head in heads)
    assert pauses == 4  # after the embedding, two blocks and the logits


def test_it_can_be_closed_early_and_leaves_no_trace(model):
    model.train()
    steps = inspect_steps(model, IDS, attention=True)
    next(steps), next(steps)
    steps.close()
    assert all(each.training for each in model.modules())
    assert inspect(model, IDS).first_bad == ""


def test_weights_that_change_during_a_pause_are_never_mixed_with_the_old_ones(model):
    def change():
        with torch.no_grad():
            for each in model.parameters():
                each.mul_(1.5)

    steps = inspect_steps(model, IDS, attention=True)
    next(steps), next(steps)
    change()
    mixed = finish(steps)
    fresh = inspect(model, IDS, attention=True)
    np.testing.assert_array_equal(mixed.patterns, fresh.patterns)
    assert mixed.loss == fresh.loss


def test_weights_that_change_at_every_pause_do_not_keep_it_from_ending(model):
    pauses = 0
    for _ in inspect_steps(model, IDS):
        pauses += 1
        with torch.no_grad():
            model.ln_f.weight.add_(0.1)
    assert pauses == 1


@pytest.mark.parametrize(
    ("parameter", "value", "place"),
    [
        ("token_embedding.weight", float("nan"), "token_embedding"),
        ("position_embedding.weight", float("inf"), "position_embedding"),
        ("blocks.0.ln1.weight", float("nan"), "blocks.0.ln1"),
        ("blocks.0.attn.heads.1.value.bias", float("-inf"), "blocks.0.attn.heads.1.v"),
        ("blocks.1.attn.heads.2.query.weight", float("nan"), "blocks.1.attn.heads.2.q"),
        ("blocks.1.attn.proj.bias", float("inf"), "blocks.1.attn.proj"),
        ("blocks.1.ln2.bias", float("nan"), "blocks.1.ln2"),
        ("blocks.1.mlp.fc.bias", float("inf"), "blocks.1.mlp.expand"),
        ("ln_f.weight", float("nan"), "ln_f"),
        ("head.bias", float("-inf"), "logits"),
    ],
)
def test_b07_the_first_bad_place_is_named_and_inspection_goes_on(parameter, value, place, tiny):
    model = build(replace(tiny, tied_head=False, head_bias=True), 0)
    with torch.no_grad():
        model.get_parameter(parameter).view(-1)[0] = value
    found = inspect(model, [0, 1, 2], attention=True)
    assert found.first_bad == place
    assert len(found.steps) == len(ledger.steps(model.config))


def test_minus_infinity_in_masked_is_meant(model):
    assert inspect(model, IDS).first_bad == ""


def test_scores_that_overflow_are_found_where_they_first_do(model):
    with torch.no_grad():
        for name in ("query", "key"):
            model.blocks[1].attn.heads[0].get_submodule(name).weight.mul_(1e25)
    assert inspect(model, IDS).first_bad == "blocks.1.attn.heads.0.products"


def test_large_but_finite_numbers_are_not_called_bad(model):
    with torch.no_grad():
        model.position_embedding.weight.fill_(3e38)
    assert inspect(model, IDS).first_bad != "position_embedding"


def test_an_inspection_does_not_disturb_torchs_random_numbers(tiny):
    model = build(replace(tiny, dropout=0.5), 0).train()
    state = torch.get_rng_state()
    inspect(model, IDS, attention=True)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_pass_in_pieces_is_the_models_own_pass(model, monkeypatch):
    logits = []
    read_out = GPT.read_out
    monkeypatch.setattr(GPT, "read_out", lambda self, x: logits.append(read_out(self, x)) or logits[-1])
    inspect(model, IDS)
    with torch.no_grad():
        whole, _ = model(torch.tensor([IDS]))
    assert len(logits) == 2
    assert torch.equal(logits[0], whole)
