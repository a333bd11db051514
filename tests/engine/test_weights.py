"""Parameters looked at: whole in the figures, whole or standing out in the picture, all of one moment."""

import math

import numpy as np
import pytest
import torch

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine import weights
from gpt_viz.engine.course import Course
from gpt_viz.engine.engine import Engine, NoModel
from gpt_viz.engine.initialise import build, promised_std
from gpt_viz.engine.loaded import loaded
from gpt_viz.engine.stages import finished
from gpt_viz.engine.tokenizer import tokenizer_for
from gpt_viz.engine.weights import UnknownParameter, opening_weights, tensors_of
from gpt_viz.measures import round_limit
from gpt_viz.protocol import Build, OpenWeights, WeightsOpened

STEP5, BUILD = PRESETS["step5"].config, PRESETS["build-gpt"].config
TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)


def held_of(config, seed=1337):
    tokenizer = tokenizer_for(None, config.vocabulary)
    return loaded(build(config, seed), tokenizer, seed=seed, alphabet=None, elapsed_s=0.0)


@pytest.fixture(scope="module")
def step5():
    return held_of(STEP5)


def names(config, parameter):
    return [spec.name for spec in tensors_of(config, parameter)]


def test_a_name_stands_for_a_tensor_a_module_or_a_head():
    head = "blocks.1.attn.heads.2"
    assert names(STEP5, "blocks.0.mlp.fc.bias") == ["blocks.0.mlp.fc.bias"]
    assert names(STEP5, "blocks.0.mlp.fc") == ["blocks.0.mlp.fc.weight", "blocks.0.mlp.fc.bias"]
    assert names(STEP5, "head") == ["head.weight"]
    assert names(STEP5, head) == [f"{head}.{each}.weight" for each in ("query", "key", "value")]
    assert names(TINY, head)[:3] == [f"{head}.query.weight", f"{head}.query.bias", f"{head}.key.weight"]
    assert len(names(TINY, head)) == 6


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("", "nearest"),
        ("blocks.1", "nearest tensor is blocks.1."),
        ("blocks.*.mlp.*", "nearest"),
        ("blocks.0.mlp.fc.wieght", "nearest tensor is blocks.0.mlp.fc.weight"),
        ("token_embeding.weight", "nearest tensor is token_embedding.weight"),
        ("head.bias", "nearest tensor is head.weight"),
        ("blocks.4.ln1.weight", "the model has 4 layers, counted from 0"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(parameter, said):
    with pytest.raises(UnknownParameter, match="there are no weights called") as refused:
        tensors_of(STEP5, parameter)
    assert said in str(refused.value)


@pytest.mark.parametrize("config", [STEP5, BUILD, TINY])
def test_every_tensor_is_shown_whole_with_figures_of_its_own_numbers(config):
    held = held_of(config)
    for spec in ledger.tensors(config):
        (found,) = finished(opening_weights(held, spec.name))
        tensor = held.model.get_parameter(spec.name).detach().numpy()
        assert (found.picture.name, found.picture.shape, found.picture.symbols) == (spec.name, spec.shape, spec.symbols)
        assert found.picture.cells.dtype == np.float32
        assert not found.picture.cells.flags.writeable
        assert np.array_equal(found.picture.cells, tensor.reshape(-1, tensor.shape[-1]))
        wide = tensor.astype(np.float64)
        assert found.figures.mean == pytest.approx(wide.mean(), abs=1e-12)
        assert found.figures.std == pytest.approx(wide.std(), abs=1e-12)
        assert (found.figures.smallest, found.figures.largest) == (tensor.min(), tensor.max())
        assert sum(found.histogram.counts) == tensor.size
        assert found.histogram.high == -found.histogram.low == round_limit(float(np.abs(tensor).max()))
        assert found.promised_std == promised_std(config, spec.name)
        assert found.initial_std == found.figures.std
        assert found.shared_with == spec.shared_with


@pytest.mark.parametrize("config", [STEP5, BUILD])
def test_a_new_models_matrices_have_the_spread_that_was_promised(config):
    held = held_of(config)
    for parameter in ("token_embedding.weight", "blocks.3.attn.heads.1", "blocks.0.mlp.proj.weight", "head.weight"):
        for each in finished(opening_weights(held, parameter)):
            count = math.prod(each.picture.shape)
            assert each.figures.std == pytest.approx(each.promised_std, rel=4 / math.sqrt(count))


def test_a_large_tensor_keeps_what_stands_out_of_each_rectangle():
    held = held_of(GPTConfig(vocabulary=1500, block_size=4, layers=0, heads=1, width=700))
    with torch.no_grad():
        held.model.token_embedding.weight[1234, 567] = -50.0
    (found,) = finished(opening_weights(held, "token_embedding.weight"))
    assert found.picture.span == (3, 2)
    assert found.picture.cells.shape == (500, 350)
    assert found.picture.cells[1234 // 3, 567 // 2] == -50.0
    assert found.picture.index(1234 // 3, 567 // 2) == (1234, 567)
    assert found.figures.smallest == -50.0
    tensor = held.model.token_embedding.weight.detach().numpy()
    wanted = np.abs(tensor).reshape(500, 3, 350, 2).max((1, 3))
    assert np.array_equal(np.abs(found.picture.cells), wanted)


@pytest.mark.parametrize(
    ("largest", "limit"),
    [
        (0.0884, 0.1),
        (0.1, 0.1),
        (0.1001, 0.15),
        (2.0, 2.0),
        (4.1, 5.0),
        (9.99, 10.0),
        (0.0, 1.0),
        (3.1e-30, 4e-30),
        (7.0, 8.0),
    ],
)
def test_a_scale_ends_at_a_round_number(largest, limit):
    assert round_limit(largest) == limit


def test_numbers_that_are_not_finite_are_counted_and_shown():
    held = held_of(TINY)
    with torch.no_grad():
        held.model.head.weight[3, 4] = math.nan
        held.model.head.weight[5, 6] = math.inf
    (found,) = finished(opening_weights(held, "head.weight"))
    assert found.figures.not_finite == 2
    assert math.isnan(found.picture.cells[3, 4])
    assert sum(found.histogram.counts) == 11 * 12 - 2


# -- while others work on the same weights ----------------------------------------------------------------------------


def test_one_look_sees_one_moment_though_the_weights_change_at_its_pauses(monkeypatch):
    monkeypatch.setattr(weights, "_AT_ONCE", 100)
    held = held_of(STEP5)
    before = held.model.get_parameter("blocks.0.mlp.fc.weight").detach().clone()
    steps = opening_weights(held, "blocks.0.mlp.fc")
    next(steps)
    with torch.no_grad():
        held.model.get_parameter("blocks.0.mlp.fc.weight").add_(1.0)
        held.model.get_parameter("blocks.0.mlp.fc.bias").add_(1.0)
    found = finished(steps)
    assert np.array_equal(found[0].picture.cells, before.numpy())
    assert found[0].figures.mean == pytest.approx(float(before.double().mean()), abs=1e-12)
    assert abs(found[1].figures.mean) < 0.1


def test_it_pauses_in_a_large_tensor_and_finds_the_same():
    held = held_of(GPTConfig(vocabulary=5000, block_size=4, layers=0, heads=1, width=500))
    steps = opening_weights(held, "token_embedding.weight")
    pauses = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            (found,) = end.value
            break
        pauses += 1
    assert pauses >= 3 * 3
    tensor = held.model.token_embedding.weight.detach().double()
    assert found.figures.std == pytest.approx(float(tensor.std(correction=0)), rel=1e-12)
    assert sum(found.histogram.counts) == tensor.numel()


# -- trained ----------------------------------------------------------------------------------------------------------


def test_trained_weights_have_the_spread_that_they_were_drawn_with_beside_their_own():
    held = held_of(STEP5)
    names = ("blocks.2.attn.heads.1.key.weight", "head.weight", "token_embedding.weight", "ln_f.bias")
    drawn = {name: finished(opening_weights(held, name))[0].figures.std for name in names}
    held.course = Course(held.model)
    with torch.no_grad():
        for parameter in held.model.parameters():
            parameter.mul_(2.0)
    held.course.step = 7
    for name in names:
        for _ in range(2):  # the second time it is remembered
            (found,) = finished(opening_weights(held, name))
            assert found.initial_std == pytest.approx(drawn[name], abs=1e-9)
            assert found.figures.std == pytest.approx(2 * drawn[name], abs=1e-7)


def test_of_weights_out_of_a_file_it_is_not_known_how_they_were_drawn(step5):
    held = loaded(
        step5.model, step5.tokenizer, seed=1, alphabet=None, elapsed_s=0.0, history={"steps": 100, "runs": []}
    )
    (found,) = finished(opening_weights(held, "head.weight"))
    assert found.initial_std is None
    assert found.promised_std == pytest.approx(1 / math.sqrt(3 * 128))


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_is_answered_with_the_tensors_of_that_name():
    engine = Engine()
    list(engine.run(Build(job=1, config=TINY, device="cpu")))
    events = [event for event in engine.run(OpenWeights(job=2, parameter="blocks.0.attn.proj")) if event is not None]
    (event,) = events
    assert isinstance(event, WeightsOpened)
    assert (event.job, event.parameter, event.step) == (2, "blocks.0.attn.proj", 0)
    assert [each.picture.name for each in event.tensors] == ["blocks.0.attn.proj.weight", "blocks.0.attn.proj.bias"]


def test_without_a_model_or_such_a_parameter_the_command_is_refused():
    engine = Engine()
    with pytest.raises(NoModel):
        list(engine.run(OpenWeights(job=1, parameter="head")))
    list(engine.run(Build(job=2, config=TINY, device="cpu")))
    with pytest.raises(UnknownParameter):
        list(engine.run(OpenWeights(job=3, parameter="tail")))


def test_a_model_that_is_replaced_meanwhile_ends_the_look_without_an_answer():
    engine = Engine()
    config = GPTConfig(vocabulary=5000, block_size=4, layers=0, heads=1, width=500)
    list(engine.run(Build(job=1, config=config, device="cpu")))
    look = engine.run(OpenWeights(job=2, parameter="token_embedding"))
    assert next(look) is None
    list(engine.run(Build(job=3, config=TINY, device="cpu")))
    assert [event for event in look if event is not None] == []
