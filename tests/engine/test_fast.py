"""The packed weights give what the model gives, and see when it changes."""

from dataclasses import replace

import pytest
import torch
from models import CONFIGS, TINY, model_of

from gpt_viz.engine import fast as module
from gpt_viz.engine.fast import Fast
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.model import Head


def plain(model, ids):
    """The logits (T, V) of the model's own pass over the last ids that fit."""
    window = torch.tensor([list(ids)[-model.config.block_size :]])
    with torch.no_grad():
        return model.eval()(window)[0][0]


def some_ids(config, count):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(config.vocabulary, (count,), generator=generator).tolist()


def gap(a, b):
    return float((a - b).abs().max())


@pytest.fixture(params=CONFIGS)
def config(request):
    return CONFIGS[request.param]


def test_e08_the_logits_are_those_of_the_model_at_every_position(config):
    model = model_of(config)
    for count in {1, (config.block_size + 1) // 2, config.block_size}:
        ids = some_ids(config, count)
        assert gap(Fast(model).logits(ids), plain(model, ids)) < 1e-5


def test_e08_token_by_token_it_agrees_while_the_window_fills_and_when_it_slides(config):
    model = model_of(config)
    fast = Fast(model)
    ids = some_ids(config, 3 * config.block_size)
    for count in range(1, len(ids) + 1):
        assert gap(fast.next_logits(ids[:count]), plain(model, ids[:count])[-1]) < 1e-5


def test_any_text_may_follow_any_other():
    model = model_of(TINY)
    fast = Fast(model)
    generator = torch.Generator().manual_seed(2)
    ids = [1]
    for _ in range(200):
        what = int(torch.randint(5, (1,), generator=generator))
        more = torch.randint(11, (3,), generator=generator).tolist()
        ids = [ids[:-1] or [2], ids + more[:1], ids + more, more, [*ids[:-1], more[0]]][what][-20:]
        assert gap(fast.next_logits(ids), plain(model, ids)[-1]) < 1e-5


def test_the_same_ids_are_not_computed_again(monkeypatch):
    fast = Fast(model_of(TINY))
    for ids in ([1, 2, 3], list(range(11))):
        assert fast.next_logits(ids) is fast.next_logits(ids)


def test_a_new_token_is_passed_alone_while_the_window_fills(monkeypatch):
    fast = Fast(model_of(TINY))
    seen = []
    block = Fast._block
    monkeypatch.setattr(Fast, "_block", lambda self, x, *rest: seen.append(len(x)) or block(self, x, *rest))
    ids = some_ids(TINY, 10)
    for count in range(4, 11):
        fast.next_logits(ids[:count])
    assert seen[::2] == [4, 1, 1, 1, 1, 8, 8]


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
@pytest.mark.parametrize("options", [{"foreach": False}, {"foreach": True}, {"fused": True}])
def test_it_is_stale_after_every_kind_of_optimizer_step(optimizer, options):
    model = model_of(TINY)
    fast = Fast(model)
    ids = some_ids(TINY, 5)
    before = fast.next_logits(ids)
    step = getattr(torch.optim, optimizer)(model.parameters(), lr=0.1, **options)
    model(torch.tensor([ids]), torch.tensor([ids]))[1].backward()
    step.step()
    if options.get("fused"):  # torch's fused steps write past the counters
        torch.autograd.graph.increment_version(model.parameters())
    assert fast.stale
    after = fast.next_logits(ids)
    assert not fast.stale
    assert gap(after, plain(model, ids)[-1]) < 1e-5
    assert gap(after, before) > 1e-3


def test_it_is_stale_after_other_weights_were_loaded_into_the_model():
    model, other = model_of(TINY), model_of(TINY, seed=5)
    fast = Fast(model)
    fast.next_logits([1, 2])
    model.load_state_dict(other.state_dict())
    assert fast.stale
    assert gap(fast.next_logits([1, 2, 3]), plain(other, [1, 2, 3])[-1]) < 1e-5


def test_replaced_parameters_are_seen_after_repacking():
    model = model_of(replace(TINY, tied_head=False))
    fast = Fast(model)
    model.head.weight = torch.nn.Parameter(torch.zeros(11, 12))
    fast.repack()
    assert float(fast.next_logits([1]).abs().max()) == 0.0


def test_a08_dropout_is_off_in_any_mode_and_the_mode_is_left_alone():
    model = model_of(replace(TINY, dropout=0.5))
    expected = plain(model, [1, 2, 3])[-1]
    model.train()
    fast = Fast(model)
    assert torch.equal(fast.next_logits([1, 2, 3]), Fast(model).next_logits([1, 2, 3]))
    assert gap(fast.next_logits([1, 2, 3]), expected) < 1e-5
    assert model.training
    assert model.blocks[0].attn.dropout.training


def test_e08_nothing_is_stashed_and_a_stash_is_left_alone():
    model = model_of(TINY)
    heads = [each for each in model.modules() if isinstance(each, Head)]
    fast = Fast(model)
    fast.next_logits([1, 2])
    assert [head.A for head in heads] == [None] * 6
    plain(model, [1, 2, 3])
    stashes = [head.A for head in heads]
    fast.next_logits([1, 2, 3, 4])
    assert all(head.A is stash for head, stash in zip(heads, stashes, strict=True))


def test_gradients_are_as_they_were_and_no_pass_holds_a_graph():
    fast = Fast(model_of(TINY))
    assert torch.is_grad_enabled()
    assert not fast.next_logits([1, 2, 3]).requires_grad
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@pytest.mark.parametrize("ids", [[], [11], [-1], [1, 2, 99], [1.5]])
def test_f14_impossible_ids_are_refused_and_the_next_text_is_read(ids):
    model = model_of(TINY)
    fast = Fast(model)
    fast.next_logits([1, 2])
    for read in (fast.next_logits, fast.logits):
        with pytest.raises(IdsError):
            read(ids)
    assert gap(fast.next_logits([1, 2, 3]), plain(model, [1, 2, 3])[-1]) < 1e-5


def test_f14_more_ids_than_the_window_are_no_single_pass():
    with pytest.raises(IdsError, match="block size"):
        Fast(model_of(TINY)).logits(range(9))


@pytest.fixture
def large(monkeypatch):
    """Any pass counts as a large one."""
    monkeypatch.setattr(module, "LARGE", 0)


def finish(steps):
    """How often the pass paused, and its result."""
    pauses = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return pauses, end.value
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()
        pauses += 1


def test_a_small_pass_does_not_pause():
    assert finish(Fast(model_of(TINY)).steps([1, 2, 3]))[0] == 0


def test_a_large_pass_pauses_after_each_block(large):
    model = model_of(TINY)
    pauses, logits = finish(Fast(model).steps([1, 2, 3]))
    assert pauses == 2
    assert gap(logits, plain(model, [1, 2, 3])[-1]) < 1e-5
    assert finish(Fast(model).steps([1, 2, 3], pausing=False))[0] == 0


def test_two_large_passes_under_way_at_once_do_not_mix(large):
    model = model_of(replace(TINY, layers=4))
    fast = Fast(model)
    one, two = fast.steps([1, 2, 3]), fast.steps([4, 5, 6, 7])
    next(one)
    next(two)
    next(one)
    assert gap(finish(two)[1], plain(model, [4, 5, 6, 7])[-1]) < 1e-5
    assert gap(finish(one)[1], plain(model, [1, 2, 3])[-1]) < 1e-5
    fast.next_logits([4, 5])
    assert gap(fast.next_logits([4, 5, 6]), plain(model, [4, 5, 6])[-1]) < 1e-5


def test_a_pass_sees_one_state_of_the_weights_and_ends_however_often_they_change(large):
    model = model_of(replace(TINY, layers=4))
    steps = Fast(model).steps([1, 2, 3])
    changes = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            logits = end.value
            break
        with torch.no_grad():
            model.blocks[0].mlp.fc.weight.mul_(1.1)
        changes += 1
    assert changes == 2
    assert gap(logits, plain(model, [1, 2, 3])[-1]) < 1e-5


def test_a_pass_that_is_closed_early_leaves_nothing_half_read(large):
    model = model_of(TINY)
    fast = Fast(model)
    fast.next_logits([1, 2])
    steps = fast.steps([1, 2, 3])
    next(steps)
    steps.close()
    assert gap(fast.next_logits([1, 2, 3, 4]), plain(model, [1, 2, 3, 4])[-1]) < 1e-5
