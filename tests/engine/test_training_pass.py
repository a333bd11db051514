"""The pass that a model is trained by gives the lesson's loss and gradients, and leaves the model as it was."""

import functools
from dataclasses import replace

import pytest
import torch
from models import CONFIGS, TINY, model_of

from gpt_viz.engine.model import Head
from gpt_viz.engine.training_pass import TrainingPass

BATCH = 3
# In float64 what is left of another order of sums is far below any mistake.
EXACTLY = {"rtol": 1e-9, "atol": 1e-11}


def windows(config, tokens):
    """Ids and targets (BATCH, tokens)."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(config.vocabulary, (BATCH, tokens + 1), generator=generator)
    return ids[:, :-1], ids[:, 1:]


def gradients(model, loss):
    """Of each parameter by name, taken away from the model."""
    loss.backward()
    found = {name: parameter.grad for name, parameter in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    return found


def both(model, tokens):
    """Loss and gradients of the lesson's pass in train mode, and of the training pass of the model in eval mode."""
    ids, targets = windows(model.config, tokens)
    lesson = model.train()(ids, targets)[1]
    first = gradients(model, lesson)
    ours = TrainingPass(model.eval()).loss(ids, targets)
    return (lesson.detach(), first), (ours.detach(), gradients(model, ours))


def assert_same(one, other):
    torch.testing.assert_close(one[0], other[0], **EXACTLY)
    assert list(one[1]) == list(other[1])
    for name, gradient in one[1].items():
        torch.testing.assert_close(other[1][name], gradient, **EXACTLY, msg=functools.partial("{0}: {1}".format, name))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("short", [False, True])
def test_loss_and_gradients_are_the_lessons_for_each_kind_of_model(name, short):
    config = replace(CONFIGS[name], dropout=0.0)
    tokens = max(config.block_size // 2, 1) if short else config.block_size
    assert_same(*both(model_of(config).double(), tokens))


def test_dropout_stands_where_the_lesson_has_it(monkeypatch):
    """With one that only stretches, by its own share, both must be stretched alike."""
    monkeypatch.setattr(
        "torch.nn.functional.dropout", lambda x, p=0.5, training=True, inplace=False: x * (1 + p) if training else x
    )
    dropped = both(model_of(replace(TINY, dropout=0.3)).double(), TINY.block_size)
    assert_same(*dropped)
    assert dropped[0][0] != both(model_of(TINY).double(), TINY.block_size)[0][0]


def test_dropout_draws_from_the_global_numbers_anew_for_each_pass():
    model = model_of(replace(TINY, dropout=0.5))
    ids, targets = windows(TINY, TINY.block_size)
    torch.manual_seed(7)
    first, second = (TrainingPass(model).loss(ids, targets).item() for _ in range(2))
    torch.manual_seed(7)
    assert TrainingPass(model).loss(ids, targets).item() == first != second


def test_with_all_dropped_out_only_the_embeddings_are_left():
    everything = replace(TINY, dropout=1.0)
    assert_same(*both(model_of(everything).double(), TINY.block_size))


def test_no_token_sees_a_later_one():
    model = model_of(TINY)
    ids, _ = windows(TINY, TINY.block_size)
    other = ids.clone()
    other[:, 5] = (other[:, 5] + 1) % TINY.vocabulary
    these, those = TrainingPass(model), TrainingPass(model)

    def passed(pass_, ids):
        x = pass_.begin(ids)
        for number in range(TINY.layers):
            x = pass_.block(number, x, pass_.mask(x, ids.shape[-1]))
        return x.view(*ids.shape, -1)

    one, two = passed(these, ids), passed(those, other)
    assert torch.equal(one[:, :5], two[:, :5])
    assert not torch.equal(one[:, 5:], two[:, 5:])


def test_modes_and_stashes_are_left_alone():
    model = model_of(replace(TINY, dropout=0.5)).eval()
    TrainingPass(model).loss(*windows(TINY, TINY.block_size))
    assert not any(module.training for module in model.modules())
    assert all(head.stash and head.A is None for head in model.modules() if isinstance(head, Head))
