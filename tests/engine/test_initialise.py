"""How weights are drawn: from a state of their own, the same everywhere, as wide as promised, a module at a time."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from gpt_viz.config import PRESETS, ConfigError, GPTConfig
from gpt_viz.engine.initialise import build, build_steps, promised_std, residual_std, skeleton

STEP5 = PRESETS["step5"].config
BUILD_GPT = PRESETS["build-gpt"].config
SMALL_GPT2 = replace(PRESETS["gpt2"].config, vocabulary=96, block_size=32, layers=2, heads=2, width=64)


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_building_leaves_torchs_own_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    model = build(STEP5, 1337)
    assert torch.equal(torch.rand(3), expected)
    assert not model.training


def test_the_random_numbers_of_others_are_in_place_at_every_yield_and_after_an_early_end():
    torch.manual_seed(5)
    state = torch.get_rng_state()
    steps = build_steps(BUILD_GPT, 1337)
    for _ in range(20):
        next(steps)
        assert torch.equal(torch.get_rng_state(), state)
    steps.close()
    assert torch.equal(torch.get_rng_state(), state)


def test_what_others_draw_between_the_yields_does_not_change_the_model(tiny):
    steps = build_steps(tiny, 3)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            disturbed = end.value
            break
        torch.rand(7)
    assert same(disturbed, build(tiny, 3))


def test_an_error_in_a_draw_gives_the_random_numbers_back(tiny, monkeypatch):
    state = torch.get_rng_state()

    def fail(self):
        if not self.weight.is_meta:  # not in the skeleton, where nothing is drawn
            torch.rand(3)
            raise RuntimeError("out of memory")

    monkeypatch.setattr(torch.nn.LayerNorm, "reset_parameters", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        build(tiny, 0)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(("config", "count"), [(STEP5, 72 + 8), (BUILD_GPT, 72 + 63), (SMALL_GPT2, 26)])
def test_progress_counts_every_module_to_the_end_and_names_it(config, count):
    seen = list(build_steps(config, 0))
    assert [done for done, _, _ in seen] == list(range(1, len(seen) + 1))
    assert {total for _, total, _ in seen} == {len(seen)}
    assert seen[0][2] == "token_embedding"
    assert len(seen) == count


def test_a_seed_means_one_model_and_another_seed_another():
    assert same(build(STEP5, 7), build(STEP5, 7))
    assert not same(build(STEP5, 7), build(STEP5, 8))


def test_dropout_and_the_scale_expression_do_not_change_the_draws():
    assert same(build(STEP5, 7), build(replace(STEP5, dropout=0.2, scale="multiply", gelu="tanh"), 7))


@pytest.mark.parametrize("seed", [-1, 2**63, "abc", 1.5, True])
def test_b14_a_bad_seed_is_refused_before_anything_is_made(seed, tiny):
    with pytest.raises(ConfigError, match="seed"):
        next(build_steps(tiny, seed))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("initialisation", ["step5", "build-gpt", "gpt2"])
def test_every_matrix_is_drawn_as_wide_as_promised(initialisation, tied):
    config = GPTConfig(
        vocabulary=200, block_size=128, layers=2, heads=2, width=128, qkv_bias=True, head_bias=True,
        tied_head=tied, initialisation=initialisation,
    )  # fmt: skip
    model = build(config, 11)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        promised = promised_std(config, name)
        if promised is None:
            expected = torch.ones_like(parameter) if name.endswith("weight") else torch.zeros_like(parameter)
            assert torch.equal(parameter, expected), name
        elif promised == 0.0:
            assert torch.equal(parameter, torch.zeros_like(parameter)), name
        else:
            # Five standard errors of a standard deviation found from n numbers.
            tolerance = 5 * promised / (2 * parameter.numel()) ** 0.5
            assert parameter.std().item() == pytest.approx(promised, abs=tolerance), name
            assert abs(parameter.mean().item()) < 5 * promised / parameter.numel() ** 0.5, name


def test_residual_projections_are_narrower_the_deeper_the_model():
    assert residual_std(STEP5) == pytest.approx(0.02 / 8**0.5)
    assert residual_std(replace(STEP5, layers=0)) == pytest.approx(0.02 / 2**0.5)


@pytest.mark.parametrize("initialisation", ["step5", "build-gpt", "gpt2"])
@pytest.mark.parametrize("change", [{"layers": 0}, {"vocabulary": 1}, {"block_size": 1}, {"width": 1, "heads": 1}])
def test_a02_the_smallest_sizes_build_under_every_rule(initialisation, change, tiny):
    model = build(replace(tiny, initialisation=initialisation, **change), 0)
    assert all(torch.isfinite(each).all() for each in model.parameters())


@pytest.mark.parametrize("initialisation", ["step5", "build-gpt", "gpt2"])
def test_a_tied_head_stays_tied_and_draws_nothing_of_its_own(initialisation, tiny):
    config = replace(tiny, initialisation=initialisation)
    tied, free = build(config, 4), build(replace(config, tied_head=False), 4)
    assert tied.head.weight is tied.token_embedding.weight
    if initialisation != "build-gpt":  # there the second round of draws begins after the head's
        assert torch.equal(tied.token_embedding.weight, free.token_embedding.weight)
    assert len(list(tied.parameters())) == len(list(free.parameters())) - 1


def test_every_module_is_moved_to_the_device_by_itself_and_a_tied_head_stays_tied(tiny):
    steps = build_steps(tiny, 0, "meta")
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            model = end.value
            break
    assert {each.device.type for each in model.parameters()} == {"meta"}
    assert model.head.weight is model.token_embedding.weight
    places = [place for _, _, place in seen]
    assert places[-1] == "head"
    assert places.count("blocks.1.attn.heads.2.value") == 2  # drawn, then moved
    assert [done for done, _, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][0] == seen[-1][1]


def test_a_skeleton_holds_shapes_and_no_numbers_and_draws_nothing(tiny):
    state = torch.get_rng_state()
    model = skeleton(PRESETS["gpt2"].config)
    assert all(each.is_meta for each in model.parameters())
    assert sum(each.numel() for each in model.parameters()) == 124_439_808
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(each.is_meta for each in build(tiny, 0).parameters())


def test_building_imports_neither_the_compiler_nor_sympy():
    code = (
        "import sys; from gpt_viz.config import GPTConfig; from gpt_viz.engine.initialise import build; "
        "build(GPTConfig(layers=1), 0); print(sorted({'torch._dynamo', 'sympy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"
