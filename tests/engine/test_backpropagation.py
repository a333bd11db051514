"""The way there and back that is written out gives the loss and the gradients of the lesson's forward and autograd."""

import functools
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from models import CONFIGS, TINY, model_of

from gpt_viz.engine.backpropagation import Backpropagation, Dropout
from gpt_viz.engine.model import Head

BATCH = 3
# In float64 what is left of another order of sums is far below any mistake.
EXACTLY = {"rtol": 1e-9, "atol": 1e-11}


def windows(config, tokens, seed=1):
    """Ids and targets (BATCH, tokens)."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(config.vocabulary, (BATCH, tokens + 1), generator=generator)
    return ids[:, :-1], ids[:, 1:]


def taken(model):
    """The gradient of each parameter by name, taken away from the model."""
    found = {name: parameter.grad for name, parameter in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    return found


def of_lesson(model, ids, targets):
    """Loss and gradients by the lesson's forward in train mode and torch's autograd."""
    loss = model.train()(ids, targets)[1]
    loss.backward()
    model.eval()
    return loss.item(), taken(model)


def of_way(way, ids, targets):
    """The loss, after the whole way there and back."""
    with torch.no_grad():
        x = way.embedding.there(ids)
        for block in way.blocks:
            x = block.there(x)
        loss = way.loss.there(x, targets).item()
        d = way.loss.back()
        for block in reversed(way.blocks):
            d = block.back(d)
        way.embedding.back(d)
    return loss


def written_out(model, ids, targets):
    """Loss and gradients by the way that is written out."""
    return of_way(Backpropagation(model, ids.shape[-1]), ids, targets), taken(model)


def assert_same(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-9)
    assert list(one[1]) == list(other[1])
    for name, gradient in one[1].items():
        told = functools.partial("{0}: {1}".format, name)
        assert (gradient is None) == (other[1][name] is None), name
        if gradient is not None:
            torch.testing.assert_close(gradient, other[1][name], **EXACTLY, msg=told)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("short", [False, True])
def test_loss_and_gradients_are_the_lessons_for_each_kind_of_model(name, short):
    model = model_of(replace(CONFIGS[name], dropout=0.0)).double()
    tokens = max(model.config.block_size // 2, 1) if short else model.config.block_size
    batch = windows(model.config, tokens)
    assert_same(written_out(model, *batch), of_lesson(model, *batch))


def test_in_float32_they_agree_to_rounding():
    model = model_of(TINY)
    batch = windows(TINY, TINY.block_size)
    ours, lesson = written_out(model, *batch), of_lesson(model, *batch)
    assert ours[0] == pytest.approx(lesson[0], rel=1e-6)
    for name, gradient in ours[1].items():
        torch.testing.assert_close(gradient, lesson[1][name], rtol=1e-4, atol=1e-5)


def test_one_way_serves_batch_after_batch():
    model = model_of(TINY).double()
    way = Backpropagation(model, TINY.block_size)
    for seed in (1, 2):
        batch = windows(TINY, TINY.block_size, seed)
        assert_same((of_way(way, *batch), taken(model)), of_lesson(model, *batch))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.1)


def test_gradients_add_up_until_they_are_taken():
    model = model_of(TINY).double()
    batch = windows(TINY, TINY.block_size)
    once = written_out(model, *batch)[1]
    way = Backpropagation(model, TINY.block_size)
    of_way(way, *batch)
    of_way(way, *batch)
    for name, gradient in taken(model).items():
        torch.testing.assert_close(gradient, 2 * once[name])


def test_a_weight_that_is_frozen_gets_no_gradient():
    model = model_of(replace(TINY, tied_head=False)).double()
    for frozen in (model.blocks[0].attn.heads[1].key, model.ln_f):
        frozen.requires_grad_(False)
    batch = windows(TINY, TINY.block_size)
    ours = written_out(model, *batch)
    assert ours[1]["blocks.0.attn.heads.1.key.weight"] is None
    assert_same(ours, of_lesson(model, *batch))


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout_is_torchs_own_there_and_back(p):
    x = torch.randn(50, 40, generator=torch.Generator().manual_seed(2), requires_grad=True)
    d = torch.randn(50, 40, generator=torch.Generator().manual_seed(3))
    with torch.random.fork_rng():
        torch.manual_seed(4)
        theirs = F.dropout(x, p)
        torch.manual_seed(4)
        dropout = Dropout(p)
        with torch.no_grad():
            ours = dropout.there(x)
            gradient = dropout.back(d)
    theirs.backward(d)
    assert torch.equal(ours, theirs.detach())
    assert torch.equal(gradient, x.grad)


def test_dropout_stands_where_the_lesson_has_it(monkeypatch):
    """With one that only stretches, each number by its place in its row, both must be stretched alike."""

    def stretched(x, p):
        return x * (1 + p * torch.arange(x.shape[-1]))

    monkeypatch.setattr(
        "torch.nn.functional.dropout", lambda x, p, training, inplace: stretched(x, p) if training else x
    )
    monkeypatch.setattr(Dropout, "there", lambda self, x: stretched(x, self._p))
    monkeypatch.setattr(Dropout, "back", lambda self, d: stretched(d, self._p))
    batch = windows(TINY, TINY.block_size)
    dropped, plain = model_of(replace(TINY, dropout=0.3)).double(), model_of(TINY).double()
    assert_same(written_out(dropped, *batch), of_lesson(dropped, *batch))
    assert written_out(dropped, *batch)[0] != written_out(plain, *batch)[0]


def test_no_token_sees_a_later_one():
    model = model_of(TINY)
    ids, _ = windows(TINY, TINY.block_size)
    other = ids.clone()
    other[:, 5] = (other[:, 5] + 1) % TINY.vocabulary

    def passed(ids):
        way = Backpropagation(model, ids.shape[-1])
        with torch.no_grad():
            x = way.embedding.there(ids)
            for block in way.blocks:
                x = block.there(x)
        return x.view(*ids.shape, -1)

    one, two = passed(ids), passed(other)
    assert torch.equal(one[:, :5], two[:, :5])
    assert not torch.equal(one[:, 5:], two[:, 5:])


def test_modes_and_stashes_are_left_alone():
    model = model_of(replace(TINY, dropout=0.5)).eval()
    with torch.random.fork_rng():
        written_out(model, *windows(TINY, TINY.block_size))
    assert not any(module.training for module in model.modules())
    assert all(head.stash and head.A is None for head in model.modules() if isinstance(head, Head))
