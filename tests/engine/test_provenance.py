"""Where a number comes from: the written-out computation comes to the very cell, for every place of every model."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.initialise import build
from gpt_viz.engine.provenance import UnknownCell, explain, explaining
from gpt_viz.engine.stages import finished
from gpt_viz.engine.taps import UnknownPlace, capture
from gpt_viz.explanation import NUMBERS, Explanation, Region, Sum
from gpt_viz.written import written

IDS = [3, 1, 4, 1, 5]
EPSILON = 2.0**-23  # of float32
TINIEST = 2.0**-126  # below it float32 has fewer digits
TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
CONFIGS = [
    TINY,
    replace(TINY, layers=1, bias=False, qkv_bias=False, scale="multiply", gelu="tanh", tied_head=False),
    replace(TINY, dropout=0.5, head_bias=True, heads=1, initialisation="gpt2"),
    replace(TINY, heads=12, tied_head=False, head_bias=True, gelu="tanh", initialisation="build-gpt"),
]


def grown(config, seed):
    """A model whose norms and biases are not the ones and zeros that they begin as, in training mode."""
    model = build(config, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) + ("ln" in name))
            else:
                parameter.mul_(1.5)
    return model.train()


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """So small a model is as fast with one, and the machine may be busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


MODELS = [grown(config, seed) for seed, config in enumerate(CONFIGS)]


def magnitude(found):
    """How large the numbers are that were added, subtracted or multiplied: what rounding is relative to."""
    sizes = [abs(found.total)] if math.isfinite(found.total) else []
    for each in found.sums:
        sizes.append(sum(map(abs, each.products)) + abs(each.bias or 0.0))
    if found.kind == "LayerNorm":
        width = len(found.sums[0])
        root = math.sqrt(found.number("variance") + found.number("epsilon"))
        spread = (abs(found.number("x")) + sum(map(abs, found.sum("mean").values)) / width) / root
        return spread * abs(found.number("gain")) + abs(found.number("bias") if found.has("bias") else 0.0)
    if found.kind == "softmax":  # an error of the exponent is one of the result, relative to it
        return found.total * (1 + abs(found.number("masked")) + abs(found.number("largest"))) if found.total else 0.0
    if found.kind == "GELU":
        return abs(found.number("x"))
    if found.kind == "loss":
        return sum(found.sum("log-sum").products) + sum(map(abs, found.sum("logit").products))
    return max(sizes, default=0.0)


def recomputed(found):
    """The result worked out once more, from nothing but what is written."""
    known = dict(found.numbers)
    if found.kind == "LayerNorm":
        assert known["mean"] == found.sum("mean").total
        assert known["variance"] == found.sum("variance").total
        root = math.sqrt(known["variance"] + known["epsilon"])
        return (known["x"] - known["mean"]) / root * known["gain"] + known.get("bias", 0.0)
    if found.kind == "scaling":
        return known["product"] / known["divisor"] if "divisor" in known else known["product"] * known["factor"]
    if found.kind == "mask":
        return -math.inf if known["hidden"] else known["score"]
    if found.kind == "softmax":
        assert known["exponential"] == pytest.approx(math.exp(known["masked"] - known["largest"]), rel=1e-12)
        return known["exponential"] / math.fsum(found.sum("exponentials").values)
    if found.kind == "GELU":
        return known["x"] * known["phi"]
    if found.kind == "loss":
        return math.fsum(found.sum("log-sum").products) - math.fsum(found.sum("logit").products)
    if found.kind == "character":
        return known["id"]
    if found.kind in ("lookup", "copy"):
        return found.total
    (whole,) = found.sums
    return math.fsum([*whole.products, whole.bias or 0.0])


@st.composite
def cells(draw):
    model = draw(st.sampled_from(MODELS))
    config = model.config
    ids = draw(st.lists(st.integers(0, config.vocabulary - 1), min_size=1, max_size=config.block_size))
    steps = ledger.steps(config, loss=len(ids) > 1)
    family = draw(st.sampled_from(sorted({step.name.rpartition(".")[2] for step in steps})))
    step = draw(st.sampled_from([step for step in steps if step.name.rpartition(".")[2] == family]))
    index = tuple(draw(st.integers(0, size - 1)) for size in step.shape(config, len(ids)))
    return model, ids, step.name, index


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cells())
def test_the_written_out_computation_comes_to_the_very_cell(cell):
    model, ids, place, index = cell
    found = explain(model, ids, place, index)
    (truth,) = capture(model, ids, [place]).values()
    assert found.value == truth[index]
    if math.isinf(found.value):
        assert found.total == found.value == -math.inf
    else:
        assert abs(found.total - found.value) <= 8 * EPSILON * magnitude(found) + TINIEST
    assert recomputed(found) == pytest.approx(found.total, rel=1e-12, abs=1e-300)
    assert {name for name, _ in found.numbers} <= set(NUMBERS[found.kind])
    assert pickle.loads(pickle.dumps(found)) == found


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cells())
def test_what_is_lit_up_exists_and_is_what_the_ledger_says_the_step_takes_in(cell):
    model, ids, place, index = cell
    found = explain(model, ids, place, index)
    steps = ledger.steps(model.config)
    spec = steps[steps.index_of(place)]
    wanted = ledger.inputs(model.config, spec)
    names = [region.name for region in found.sources]
    assert set(names) <= set(wanted)
    if found.kind != "copy":
        assert names == list(wanted)
    for region in found.sources:
        if region.name.endswith((".weight", ".bias")):
            shape = tuple(model.get_parameter(region.name).shape)
        else:
            shape = steps[steps.index_of(region.name)].shape(model.config, len(ids))
        assert len(region.spans) == len(shape)
        assert all(0 <= start < stop <= size for (start, stop), size in zip(region.spans, shape, strict=True))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_only_the_lit_cells_made_the_number(model):
    """Change everything else that a linear step takes in: the cell stays; change a lit one: it does not."""
    place, index = "blocks.0.mlp.expand", (0, 2, 7)
    found = explain(model, IDS, place, index)
    weight = model.get_parameter(found.sources[1].name)
    before = weight.detach().clone()
    lit = torch.zeros_like(weight, dtype=torch.bool)
    lit[tuple(slice(*span) for span in found.sources[1].spans)] = True
    with torch.no_grad():
        weight.copy_(torch.where(lit, before, before + 1))
        same = explain(model, IDS, place, index)
        weight.copy_(torch.where(lit, before + 1, before))
        other = explain(model, IDS, place, index)
        weight.copy_(before)
    assert (same.value, same.total) == (found.value, found.total)
    assert other.value != found.value


def test_every_kind_occurs_and_each_place_of_a_pass_can_be_explained():
    model = MODELS[0]
    kinds = set()
    for step in ledger.steps(model.config):
        index = tuple(size - 1 for size in step.shape(model.config, len(IDS)))
        kinds.add(explain(model, IDS, step.name, index).kind)
    assert kinds == set(NUMBERS)


def test_plain_figures_of_a_projection_lit_up_row_by_row():
    model = MODELS[0]
    head = "blocks.1.attn.heads.2"
    found = explain(model, IDS, f"{head}.q", (0, 3, 1))
    assert found.kind == "linear"
    assert found.sources == (
        Region("blocks.1.ln1", ((0, 1), (3, 4), (0, 12))),
        Region(f"{head}.query.weight", ((1, 2), (0, 12))),
        Region(f"{head}.query.bias", ((1, 2),)),
    )
    row = capture(model, IDS, ["blocks.1.ln1"])["blocks.1.ln1"][0, 3]
    (whole,) = found.sums
    assert whole.coefficients == tuple(map(float, row))
    assert whole.values == tuple(map(float, model.get_parameter(f"{head}.query.weight")[1].detach()))
    assert whole.bias == model.get_parameter(f"{head}.query.bias")[1].item()


def test_attention_cells_light_a_row_of_queries_and_a_row_of_keys():
    model, head = MODELS[0], "blocks.0.attn.heads.1"
    found = explain(model, IDS, f"{head}.products", (0, 4, 2))
    assert found.sources == (
        Region(f"{head}.q", ((0, 1), (4, 5), (0, 4))),
        Region(f"{head}.k", ((0, 1), (2, 3), (0, 4))),
    )
    mixed = explain(model, IDS, f"{head}.out", (0, 1, 3))
    assert mixed.sources == (
        Region(f"{head}.A", ((0, 1), (1, 2), (0, 5))),
        Region(f"{head}.v", ((0, 1), (0, 5), (3, 4))),
    )
    assert mixed.sums[0].coefficients[2:] == (0.0, 0.0, 0.0)  # the future has no weight
    assert math.fsum(mixed.sums[0].coefficients) == pytest.approx(1, abs=1e-6)


def test_the_mask_says_what_it_hides():
    model, place = MODELS[0], "blocks.0.attn.heads.0.masked"
    hidden, open_ = (explain(model, IDS, place, (0, *cell)) for cell in ((1, 2), (2, 1)))
    assert (hidden.number("hidden"), hidden.total, hidden.value) == (1.0, -math.inf, -math.inf)
    assert math.isfinite(hidden.number("score"))
    assert open_.number("hidden") == 0.0
    assert open_.total == open_.value == open_.number("score")
    after = explain(model, IDS, "blocks.0.attn.heads.0.A", (0, 1, 2))
    assert (after.total, after.number("masked")) == (0.0, -math.inf)
    assert after.sum("exponentials").values[2:] == (0.0, 0.0, 0.0)


def test_a_copy_knows_the_head_and_the_column_that_it_came_from():
    found = explain(MODELS[0], IDS, "blocks.1.attn.concat", (0, 2, 9))
    assert (found.number("head"), found.number("column")) == (2, 1)
    assert found.sources == (Region("blocks.1.attn.heads.2.out", ((0, 1), (2, 3), (1, 2))),)


def test_lookups_name_the_row_of_the_table():
    model = MODELS[0]
    token = explain(model, IDS, "token_embedding", (0, 2, 5))
    assert token.sources == (
        Region("ids", ((0, 1), (2, 3))),
        Region("token_embedding.weight", ((4, 5), (5, 6))),
    )
    assert token.value == model.token_embedding.weight[4, 5].item()
    position = explain(model, IDS, "position_embedding", (2, 5))
    assert position.sources == (Region("position_embedding.weight", ((2, 3), (5, 6))),)
    assert explain(model, IDS, "ids", (0, 2)).value == 4


def test_a_tied_head_is_lit_up_as_the_heads_own_weight():
    found = explain(MODELS[0], IDS, "logits", (0, 0, 10))
    assert found.sources[1] == Region("head.weight", ((10, 11), (0, 12)))


def test_the_loss_is_the_mean_surprise_at_what_really_came():
    model = MODELS[1]
    found = explain(model, IDS, "loss", ())
    logits = torch.from_numpy(capture(model, IDS, ["logits"])["logits"].copy()).double()[0]
    surprise = -logits.log_softmax(-1)[torch.arange(4), torch.tensor(IDS[1:])]
    np.testing.assert_allclose(found.sum("surprise").values, surprise, rtol=1e-12)
    assert found.total == pytest.approx(surprise.mean().item(), rel=1e-12)
    assert found.number("tokens") == 4
    assert found.sources == (Region("logits", ((0, 1), (0, 4), (0, 11))), Region("ids", ((0, 1), (1, 5))))
    with pytest.raises(UnknownPlace, match="no loss"):
        explain(model, [3], "loss", ())


def test_every_term_of_a_long_sum_is_there_and_the_largest_can_be_chosen():
    config = PRESETS["step5"].config
    found = explain(build(config, 1337), list(range(64)), "blocks.3.mlp.contract", (0, 63, 5))
    (whole,) = found.sums
    assert len(whole) == 512
    chosen = whole.largest(3)
    assert [term.number for term in chosen] == sorted(term.number for term in chosen)
    assert {abs(term.product) for term in chosen} == set(sorted(map(abs, whole.products))[-3:])
    assert whole.largest(0) == ()
    assert len(whole.largest(10**6)) == 512


@pytest.mark.parametrize(
    ("place", "index"),
    [
        ("logits", (0, 5, 0)),
        ("logits", (0, 0, 11)),
        ("logits", (1, 0, 0)),
        ("logits", (0, 0, -1)),
        ("logits", (0, 0)),
        ("position_embedding", (0, 0, 0)),
        ("loss", (0,)),
        ("ids", (0, 5)),
    ],
)
def test_a_cell_that_the_place_lacks_is_refused_with_its_shape(place, index):
    with pytest.raises(UnknownCell, match=r"shape|figures"):
        explain(MODELS[0], IDS, place, index)


def test_a_place_that_the_model_lacks_is_refused():
    with pytest.raises(UnknownPlace, match=r"blocks\.7\.ln1"):
        explain(MODELS[0], IDS, "blocks.7.ln1", (0, 0, 0))
    with pytest.raises(IdsError, match="one text at a time"):
        explain(MODELS[0], [IDS, IDS], "logits", (0, 0, 0))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_b07_a_broken_model_is_explained_with_its_broken_numbers(value):
    model = grown(CONFIGS[1], 0)
    with torch.no_grad():
        model.token_embedding.weight[1, 3] = value
    for step in ledger.steps(model.config):
        index = tuple(size - 1 for size in step.shape(model.config, len(IDS)))
        found = explain(model, IDS, step.name, index)
        assert math.isnan(found.total) or math.isfinite(found.total) or found.total == found.value
        assert math.isfinite(found.total) == math.isfinite(found.value)
        assert written(found)
    lookup = explain(model, IDS, "token_embedding", (0, 1, 3))
    assert lookup.total == lookup.value or (math.isnan(lookup.total) and math.isnan(lookup.value) and math.isnan(value))


def test_a08_explaining_a_model_in_training_leaves_it_so_and_knows_no_dropout():
    model = MODELS[2]
    state = torch.get_rng_state()
    first, second = (explain(model, IDS, "blocks.1.mid", (0, 3, 3)) for _ in range(2))
    assert first == second
    assert all(each.training for each in model.modules())
    assert torch.equal(torch.get_rng_state(), state)


def test_the_pass_goes_only_as_far_as_the_place():
    model = MODELS[0]
    reached = []
    handles = [block.register_forward_pre_hook(lambda *args: reached.append(args[0])) for block in model.blocks]
    pauses = sum(1 for _ in explaining(model, IDS, "blocks.0.attn.heads.1.A", (0, 0, 0)))
    assert reached == [model.blocks[0]]
    assert pauses == 1
    explain(model, IDS, "embedded", (0, 0, 0))
    assert len(reached) == 1
    for handle in handles:
        handle.remove()


def test_weights_that_change_during_a_pause_are_never_mixed_with_the_old_ones():
    model = grown(TINY, 5)
    steps = explaining(model, IDS, "logits", (0, 4, 0))
    next(steps), next(steps)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.25)
    assert finished(steps) == explain(model, IDS, "logits", (0, 4, 0))


@pytest.mark.parametrize(
    ("kind", "total", "sums", "numbers", "line"),
    [
        ("linear", 0.207, [("sum", (0.5, -0.25, 1.0), (0.4, 0.5, -0.001), 0.25)], {},
         "0.5·0.4 + (−0.25)·0.5 + … + 0.25 = 0.207"),
        ("sum", -0.5, [("sum", (1.0, 1.0), (-0.75, 0.25), None)], {}, "−0.75 + 0.25 = −0.5"),
        ("softmax", 0.25, [("exponentials", (1.0, 1.0), (1.0, 3.0), None)],
         {"masked": -1.5, "largest": -0.5, "exponential": 1.0}, "exp(−1.5 − (−0.5)) / (1 + 3) = 0.25"),
        ("mask", -math.inf, [], {"score": 0.5, "hidden": 1.0}, "0.5 → −∞"),
        ("mask", 0.5, [], {"score": 0.5, "hidden": 0.0}, "0.5"),
        ("scaling", 1.5, [], {"product": 3.0, "divisor": 2.0}, "3 / 2 = 1.5"),
        ("scaling", 1.5, [], {"product": 3.0, "factor": 0.5}, "3 · 0.5 = 1.5"),
        ("GELU", -0.1, [], {"x": -0.5, "phi": 0.2}, "−0.5 · 0.2 = −0.1"),
        ("loss", 2.5, [("surprise", (0.5, 0.5), (2.0, 3.0), None)], {"tokens": 2}, "(2 + 3) / 2 = 2.5"),
        ("character", 17.0, [], {"id": 17.0}, "17"),
        ("LayerNorm", 0.1, [],
         {"x": 2.0, "mean": -1.0, "variance": 9.0, "epsilon": 1e-5, "normalised": 1.0, "gain": 0.5, "bias": -0.4},
         "(2 − (−1)) / √(9 + 1e−05) · 0.5 + (−0.4) = 0.1"),
    ],
)  # fmt: skip
def test_a_computation_is_written_as_one_line(kind, total, sums, numbers, line):
    found = Explanation(
        place="x",
        index=(0, 0, 0),
        kind=kind,
        value=total,
        total=total,
        sources=(Region("table", ((2, 3), (0, 1))),),
        sums=tuple(Sum(*each) for each in sums),
        numbers=tuple(numbers.items()),
    )
    assert written(found, digits=3, terms=2) == line


def test_a_lookup_is_written_as_the_cell_that_it_is():
    found = explain(MODELS[0], IDS, "token_embedding", (0, 2, 5))
    assert written(found, digits=2) == f"token_embedding.weight[4, 5] = {found.total:.2g}".replace("-", "−")
