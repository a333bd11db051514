"""Writes to a model's weights are seen, whoever makes them and whatever they are."""

import pytest
import torch
from models import TINY, model_of

from gpt_viz.engine.adamw import AdamW, Group
from gpt_viz.engine.writes import Writes


def same_numbers(model):
    model.head.weight.copy_(model.head.weight.clone())


def other_memory(model):
    model.head.weight.data = model.head.weight.data.clone()


def a_state(model):
    model.load_state_dict({name: tensor.clone() for name, tensor in model.state_dict().items()})


def an_optimizer(model):
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    AdamW([Group(list(model.parameters()), 0.0)]).step(1e-3)


@pytest.mark.parametrize("write", [same_numbers, other_memory, a_state, an_optimizer])
def test_each_write_is_seen_until_it_is_noted(write):
    model = model_of(TINY)
    writes = Writes(model)
    assert not writes.any
    with torch.no_grad():
        write(model)
    assert writes.any
    writes.noted()
    assert not writes.any


def test_reading_and_a_pass_are_no_writes():
    model = model_of(TINY)
    writes = Writes(model)
    model(torch.tensor([[1, 2]]))
    model.state_dict()
    assert not writes.any


def test_weights_made_in_inference_mode_can_be_watched():
    with torch.inference_mode():
        model = model_of(TINY)
    assert not Writes(model).any
