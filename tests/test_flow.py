"""What each step takes in and costs, held against the whole pass's own closed formulas."""

from dataclasses import replace

import pytest

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig

CHANGES = [
    {},
    {"heads": 1},
    {"layers": 0},
    {"layers": 1, "bias": False, "qkv_bias": False},
    {"tied_head": False, "head_bias": True},
]


def spec(config, name):
    steps = ledger.steps(config)
    return steps[steps.index_of(name)]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("tokens", [1, 5, 8])
@pytest.mark.parametrize("batch", [1, 3])
def test_the_steps_multiply_adds_add_up_to_those_of_the_pass(change, tokens, batch, tiny):
    config = replace(tiny, **change)
    each = [ledger.step_multiply_adds(config, step, tokens, batch) for step in ledger.steps(config)]
    assert sum(each) == batch * ledger.multiply_adds(config, tokens)


@pytest.mark.parametrize("name", ["step5", "build-gpt", "gpt2"])
def test_the_presets_multiply_adds_add_up_as_well(name):
    config = PRESETS[name].config
    each = [ledger.step_multiply_adds(config, step, config.block_size) for step in ledger.steps(config)]
    assert sum(each) == ledger.multiply_adds(config)


def test_plain_figures_of_the_first_notebooks_model():
    config = PRESETS["step5"].config  # T = 64, C = 128, H = 4, D = 32, V = 65
    cost = {step.name: ledger.step_multiply_adds(config, step, 64) for step in ledger.steps(config)}
    assert cost["blocks.0.attn.heads.0.q"] == 64 * 128 * 32 == 262_144
    assert cost["blocks.0.attn.heads.3.products"] == cost["blocks.3.attn.heads.0.out"] == 64 * 64 * 32 == 131_072
    assert cost["blocks.1.mlp.expand"] == cost["blocks.1.mlp.contract"] == 64 * 4 * 128 * 128
    assert cost["logits"] == 64 * 128 * 65
    assert {name for name, number in cost.items() if not number} >= {"ids", "token_embedding", "blocks.0.ln1", "loss"}


@pytest.mark.parametrize("change", CHANGES)
def test_every_parameter_is_used_by_exactly_one_step_but_a_tied_one_by_two(change, tiny):
    config = replace(tiny, **change)
    used = sum(ledger.parameters_used(config, step) for step in ledger.steps(config))
    shared = config.vocabulary * config.width if config.tied_head else 0
    assert used == ledger.total(config) + shared
    names = [tensor.name for step in ledger.steps(config) for tensor in ledger.step_parameters(config, step)]
    assert sorted(names) == sorted(tensor.name for tensor in ledger.tensors(config))


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_step_takes_in_exists_and_came_before_it(change, tiny):
    config = replace(tiny, **change)
    steps, parameters = ledger.steps(config), {tensor.name for tensor in ledger.tensors(config)}
    fed = set()
    for number, step in enumerate(steps):
        for name in ledger.inputs(config, step):
            assert name in parameters or steps.index_of(name) < number
            fed.add(name)
    assert {step.name for step in steps} - fed == {"loss"}  # nothing is computed in vain


def test_inputs_stand_in_the_order_of_the_formula(tiny):
    assert ledger.inputs(tiny, spec(tiny, "blocks.1.ln1")) == (
        "blocks.0.out", "blocks.1.ln1.weight", "blocks.1.ln1.bias",
    )  # fmt: skip
    head = "blocks.0.attn.heads.2."
    assert ledger.inputs(tiny, spec(tiny, head + "products")) == (head + "q", head + "k")
    assert ledger.inputs(tiny, spec(tiny, head + "out")) == (head + "A", head + "v")
    assert ledger.inputs(tiny, spec(tiny, head + "q")) == (
        "blocks.0.ln1", head + "query.weight", head + "query.bias",
    )  # fmt: skip
    assert ledger.inputs(tiny, spec(tiny, "blocks.0.attn.concat")) == tuple(
        f"blocks.0.attn.heads.{number}.out" for number in range(3)
    )
    assert ledger.inputs(tiny, spec(tiny, "blocks.0.mid")) == ("embedded", "blocks.0.attn.proj")
    assert ledger.inputs(tiny, spec(tiny, "logits")) == ("ln_f", "head.weight")
    assert ledger.inputs(tiny, spec(tiny, "loss")) == ("logits", "ids")


def test_without_layers_the_last_norm_takes_the_embedding():
    config = GPTConfig(layers=0)
    assert ledger.inputs(config, spec(config, "ln_f"))[0] == "embedded"


def test_a_step_of_the_largest_preset_is_worked_out_without_the_others():
    config = PRESETS["gpt3"].config
    step = spec(config, "blocks.95.attn.heads.95.out")
    assert ledger.inputs(config, step) == ("blocks.95.attn.heads.95.A", "blocks.95.attn.heads.95.v")
    assert ledger.step_multiply_adds(config, step, 2048) == 2048 * 2048 * 128
