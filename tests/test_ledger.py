"""The ledger's formulas against totals known from elsewhere, against themselves, and against the letters."""

import fnmatch
import math
import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
GPT2 = PRESETS["gpt2"].config
GPT3 = PRESETS["gpt3"].config
LECTURE = GPTConfig(vocabulary=65, block_size=256, layers=6, heads=6, width=384, head_bias=True)

TOTALS = [
    (PRESETS["step5"].config, 816_640),
    (PRESETS["build-gpt"].config, 824_897),
    (GPT2, 124_439_808),
    (replace(GPT2, vocabulary=50_304, qkv_bias=False, bias=False), 124_373_760),
    (PRESETS["gpt2-medium"].config, 354_823_168),
    (PRESETS["gpt2-large"].config, 774_030_080),
    (PRESETS["gpt2-xl"].config, 1_557_611_200),
    (GPT3, 174_604_259_328),
    (TINY, 4_020),
    (replace(TINY, qkv_bias=False, bias=False), 3_744),
    (replace(TINY, tied_head=False), 4_152),
    (replace(TINY, qkv_bias=False, bias=False, tied_head=False), 3_876),
    (replace(TINY, layers=0), 252),
    (replace(TINY, block_size=1), 3_936),
    (replace(TINY, vocabulary=1), 3_900),
    (LECTURE, 10_788_929),
    (GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, head_bias=True), 4_091),
]


def configs(largest=40, most_layers=4):
    flags = st.booleans()
    return st.builds(
        lambda V, N, L, H, D, **options: GPTConfig(
            vocabulary=V, block_size=N, layers=L, heads=H, width=H * D, **options
        ),
        V=st.integers(1, largest), N=st.integers(1, largest), L=st.integers(0, most_layers),
        H=st.integers(1, 5), D=st.integers(1, largest),
        qkv_bias=flags, bias=flags, head_bias=flags, tied_head=flags,
    )  # fmt: skip


many = settings(max_examples=60, deadline=None, database=None)


def value(formula, config=None):
    """What a formula string is worth, its letters standing for the config's sizes."""
    letters = {} if config is None else dict(zip("VNCHDL", ledger.evaluate(tuple("VNCHDL"), config, 0), strict=True))
    return eval(formula.replace("·", "*").replace("²", "**2"), {"__builtins__": {}}, letters)


@pytest.mark.parametrize(("config", "expected"), TOTALS)
def test_total_is_the_known_one(config, expected):
    assert ledger.total(config) == expected
    assert ledger.weight_bytes(config) == 4 * expected
    assert ledger.weight_bytes(config, 2) == 2 * expected
    assert sum(row.count for row in ledger.rows(config)) == expected
    for by in ledger.GROUPINGS:
        assert sum(part.count for part in ledger.groups(config, by)) == expected


@many
@given(configs())
def test_both_formulas_of_a_row_are_worth_its_count(config):
    for row in ledger.rows(config):
        assert re.fullmatch(r"[VNCHDL0-9·²+()]+", row.formula)
        assert re.fullmatch(r"[0-9·²+()]+", row.numbers)
        assert value(row.numbers) == value(row.formula, config)
        if row.shared_with and not config.head_bias:
            assert (row.count, value(row.numbers)) == (0, config.vocabulary * config.width)
        else:
            assert row.count == value(row.numbers)


@many
@given(configs())
def test_rows_and_groups_add_up_to_the_total_and_to_100_percent(config):
    assert sum(row.count for row in ledger.rows(config)) == ledger.total(config)
    assert math.isclose(sum(row.percent for row in ledger.rows(config)), 100, rel_tol=1e-12)
    for by in ledger.GROUPINGS:
        parts = ledger.groups(config, by)
        assert sum(part.count for part in parts) == ledger.total(config)
        assert math.isclose(sum(part.percent for part in parts), 100, rel_tol=1e-12)


@many
@given(configs())
def test_tensors_add_up_to_each_row_to_each_place_and_to_each_kind(config):
    tensors = ledger.tensors(config)
    assert len({tensor.name for tensor in tensors}) == len(tensors)
    for row in ledger.rows(config):
        by_glob = [tensor for tensor in tensors if fnmatch.fnmatchcase(tensor.name, row.members)]
        assert list(tensors.members(row.name)) == by_glob
        assert sum(tensor.count for tensor in by_glob) == row.count
        assert {tensor.kind for tensor in by_glob} <= {row.kind}
    for by in ("place", "kind"):
        counts = Counter()
        for tensor in tensors:
            counts[getattr(tensor, by)] += tensor.count
        assert counts == Counter({part.name: part.count for part in ledger.groups(config, by)})


@many
@given(configs())
def test_index_of_finds_every_tensor_and_every_step(config):
    for listing in (ledger.tensors(config), ledger.steps(config), ledger.steps(config, loss=False)):
        assert [listing.index_of(entry.name) for entry in listing] == list(range(len(listing)))
        assert listing[-1] == listing[len(listing) - 1]
        assert listing[1:3] == (listing[1], listing[2])
        with pytest.raises(IndexError):
            listing[len(listing)]


@many
@given(configs(), st.integers(1, 40), st.integers(1, 3))
def test_symbols_of_tensors_and_steps_evaluate_to_their_shapes(config, tokens, batch):
    letters = {
        "B": batch, "T": tokens, "V": config.vocabulary, "N": config.block_size, "C": config.width,
        "D": config.width // config.heads, "4C": 4 * config.width,
    }  # fmt: skip
    for tensor in ledger.tensors(config):
        assert tensor.shape == tuple(letters[symbol] for symbol in tensor.symbols)
        assert tensor.count == (0 if tensor.shared_with else math.prod(tensor.shape))
    for step in ledger.steps(config):
        assert step.shape(config, tokens, batch) == tuple(letters[symbol] for symbol in step.symbols)


@pytest.mark.parametrize(
    "name",
    [
        "", "blocks", "blocks.2.ln1.weight", "blocks.0.attn.heads.3.query.weight", "blocks.0.ln1",
        "blocks.-1.ln1.weight",
        "blocks.00.ln1.weight", "head.bias", "head", "blocks.0.attn.heads.weight", "blocks.0.ln9.weight", "ln_f.scale",
    ],
)  # fmt: skip
def test_unknown_tensors_are_refused_by_name(name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        ledger.tensors(TINY).index_of(name)


@pytest.mark.parametrize(
    "name", ["", "blocks.2.ln1", "blocks.0.attn.heads.3.q", "blocks.0.attn.heads.0.wei", "blocks.0.mlp.relu", "logit"]
)
def test_unknown_steps_are_refused_by_name(name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        ledger.steps(TINY).index_of(name)


def test_a_step_without_loss_is_not_found():
    assert "loss" not in [step.name for step in ledger.steps(TINY, loss=False)]
    with pytest.raises(ValueError, match="no step 'loss'"):
        ledger.steps(TINY, loss=False).index_of("loss")


def test_tensors_stand_in_the_order_in_which_the_module_registers_them():
    config = GPTConfig(layers=1, heads=1, head_bias=True)
    assert [tensor.name for tensor in ledger.tensors(config)] == [
        "token_embedding.weight", "position_embedding.weight",
        "blocks.0.ln1.weight", "blocks.0.ln1.bias",
        "blocks.0.attn.heads.0.key.weight", "blocks.0.attn.heads.0.query.weight", "blocks.0.attn.heads.0.value.weight",
        "blocks.0.attn.proj.weight", "blocks.0.attn.proj.bias",
        "blocks.0.ln2.weight", "blocks.0.ln2.bias",
        "blocks.0.mlp.fc.weight", "blocks.0.mlp.fc.bias", "blocks.0.mlp.proj.weight", "blocks.0.mlp.proj.bias",
        "ln_f.weight", "ln_f.bias", "head.weight", "head.bias",
    ]  # fmt: skip


def test_steps_stand_in_the_order_of_execution_and_name_their_modules():
    steps = ledger.steps(replace(TINY, layers=1, heads=1))
    assert [(step.name, step.module) for step in steps] == [
        ("ids", ""),
        ("token_embedding", "token_embedding"),
        ("position_embedding", "position_embedding"),
        ("embedded", ""),
        ("blocks.0.ln1", "blocks.0.ln1"),
        ("blocks.0.attn.heads.0.q", "blocks.0.attn.heads.0.query"),
        ("blocks.0.attn.heads.0.k", "blocks.0.attn.heads.0.key"),
        ("blocks.0.attn.heads.0.v", "blocks.0.attn.heads.0.value"),
        ("blocks.0.attn.heads.0.products", "blocks.0.attn.heads.0"),
        ("blocks.0.attn.heads.0.scores", "blocks.0.attn.heads.0"),
        ("blocks.0.attn.heads.0.masked", "blocks.0.attn.heads.0"),
        ("blocks.0.attn.heads.0.A", "blocks.0.attn.heads.0"),
        ("blocks.0.attn.heads.0.out", "blocks.0.attn.heads.0"),
        ("blocks.0.attn.concat", "blocks.0.attn"),
        ("blocks.0.attn.proj", "blocks.0.attn.proj"),
        ("blocks.0.mid", "blocks.0"),
        ("blocks.0.ln2", "blocks.0.ln2"),
        ("blocks.0.mlp.expand", "blocks.0.mlp.fc"),
        ("blocks.0.mlp.gelu", "blocks.0.mlp"),
        ("blocks.0.mlp.contract", "blocks.0.mlp.proj"),
        ("blocks.0.out", "blocks.0"),
        ("ln_f", "ln_f"),
        ("logits", "head"),
        ("loss", ""),
    ]
    assert len(ledger.steps(PRESETS["step5"].config)) == 171


def test_formulas_of_steps_follow_the_options():
    def formula(name, config):
        steps = ledger.steps(config)
        return steps[steps.index_of(name)].formula

    plain = GPTConfig(bias=False)
    assert formula("blocks.0.attn.heads.0.q", plain) == "x·Wq"
    assert formula("blocks.0.attn.heads.0.q", TINY) == "x·Wq + bq"
    assert formula("blocks.0.attn.heads.0.scores", plain) == "q·kᵀ / √D"
    assert formula("blocks.0.attn.heads.0.scores", replace(plain, scale="multiply")) == "q·kᵀ · D^−½"
    assert "β" not in formula("ln_f", plain)
    assert "β" in formula("ln_f", TINY)
    assert formula("logits", TINY) == "x·Eᵀ"
    assert formula("blocks.0.mlp.gelu", plain) != formula("blocks.0.mlp.gelu", replace(plain, gelu="tanh"))


def test_a02_zero_layers_count_252_and_go_from_the_embedding_to_the_final_norm():
    config = replace(TINY, layers=0)
    assert ledger.total(config) == 252
    assert [step.name for step in ledger.steps(config)] == [
        "ids", "token_embedding", "position_embedding", "embedded", "ln_f", "logits", "loss",
    ]  # fmt: skip
    assert [row.count for row in ledger.rows(config)] == [132, 96, 0, 0, 0, 24, 0]
    assert [part.name for part in ledger.groups(config, "build-gpt")][2] == "0 transformer blocks"
    assert list(ledger.tensors(config).members("feed-forward")) == []
    assert ledger.multiply_adds(config) == 8 * 12 * 11


def test_a05_a_vocabulary_of_one_counts_3900():
    assert ledger.total(replace(TINY, vocabulary=1)) == 3_900


def test_a07_what_can_never_fit_is_estimated_at_once_by_formula(calls_in):
    config = GPTConfig(vocabulary=100_000, block_size=65_536, layers=96, heads=64, width=65_536)
    C = 65_536
    needed, total = ledger.needed_bytes(config), ledger.total(config)
    assert calls_in(lambda: (ledger.needed_bytes(config), ledger.total(config))) < 2_000
    assert total == 96 * (12 * C * C + 6 * C + 4 * C) + 65_536 * C + 2 * 100_000 * C + 2 * C
    assert needed > 4 * (2 * total + 96 * 64 * C * C)


def test_needed_bytes_counts_the_weights_twice_and_what_a_pass_holds():
    N, C, V, H, L = 8, 12, 11, 3, 2
    largest_moment = max(3 * N * N, 8 * N * C, 2 * N * V)
    assert ledger.needed_bytes(TINY) == 8 * 4_020 + 4 * (L * H * N * N + 4 * N * C + largest_moment) + N * N
    # GPT-2 at its size: 1.0 GB of weights, 0.6 GB of stashed attention, 0.4 GB of logits.
    assert 1.9e9 < ledger.needed_bytes(GPT2) < 2.2e9


def test_multiply_adds_count_each_matrix_product_of_a_pass():
    for config in (TINY, GPTConfig(), LECTURE):
        for T in (1, 5, config.block_size):
            C, D, V = config.width, config.head_width, config.vocabulary
            head = 3 * T * C * D + T * D * T + T * T * D
            expected = config.layers * (config.heads * head + T * C * C + 2 * T * C * 4 * C) + T * C * V
            assert ledger.multiply_adds(config, T) == expected
    assert ledger.multiply_adds(GPTConfig()) == ledger.multiply_adds(GPTConfig(), 64)
    assert ledger.multiply_adds_per_token(GPTConfig()) == ledger.multiply_adds(GPTConfig()) / 64


def test_g01_a_tied_head_counts_nothing_and_says_with_what_it_is_shared():
    rows = {row.name: row for row in ledger.rows(TINY)}
    counts = {part.name: part.count for part in ledger.groups(TINY, "kind")}
    assert counts == {
        "token embedding": 132, "position embedding": 96, "attention": 1_248, "feed-forward": 2_424, "LayerNorm": 120,
        "output head": 0,
    }  # fmt: skip
    head = rows["output head"]
    assert (head.count, head.percent, head.shared_with) == (0, 0.0, "token_embedding.weight")
    assert (head.formula, head.numbers, value(head.numbers)) == ("V·C", "11·12", 132)
    tensors = ledger.tensors(TINY)
    weight = tensors[tensors.index_of("head.weight")]
    assert (weight.shape, weight.count, weight.shared_with) == ((11, 12), 0, "token_embedding.weight")
    untied = {row.name: row for row in ledger.rows(replace(TINY, tied_head=False))}
    assert (untied["output head"].count, untied["output head"].shared_with) == (132, "")


def test_a_tied_head_with_a_bias_counts_its_bias_alone():
    config = replace(TINY, head_bias=True)
    head = ledger.rows(config)[-1]
    assert (head.formula, head.numbers, head.count) == ("V", "11", 11)
    assert ledger.total(config) == 4_031


def test_g02_the_mask_is_no_parameter():
    assert ledger.total(replace(TINY, block_size=512)) - ledger.total(TINY) == 6_048


def test_g03_one_total_with_the_position_embedding_as_a_row_of_its_own():
    for config, without in ((TINY, 3_924), (GPT2, 123_653_376)):
        position = next(row for row in ledger.rows(config) if row.name == "position embedding")
        assert ledger.total(config) - position.count == without


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 12])
def test_g04_counts_do_not_depend_on_the_number_of_heads_but_shapes_do(heads):
    config = replace(TINY, heads=heads)
    assert ledger.total(config) == 4_020
    row = next(row for row in ledger.rows(config) if row.name == "query, key, value")
    assert (row.formula, row.numbers, row.count) == ("L·(3·C²+3·C)", "2·(3·12²+3·12)", 936)
    tensors, steps = ledger.tensors(config), ledger.steps(config)
    assert tensors[tensors.index_of("blocks.0.attn.heads.0.query.weight")].shape == (12 // heads, 12)
    assert steps[steps.index_of("blocks.0.attn.heads.0.q")].shape(config, 5) == (1, 5, 12 // heads)


def test_g05_the_width_of_a_head_is_d_and_the_length_is_the_texts():
    shapes = {step.name: step.shape(TINY, 5) for step in ledger.steps(TINY)}
    head = "blocks.0.attn.heads.0."
    assert shapes["embedded"] == shapes["blocks.0.ln1"] == shapes["blocks.0.attn.concat"] == (1, 5, 12)
    assert shapes["position_embedding"] == (5, 12)
    assert shapes[f"{head}q"] == shapes[f"{head}k"] == shapes[f"{head}v"] == shapes[f"{head}out"] == (1, 5, 4)
    assert shapes[f"{head}products"] == shapes[f"{head}scores"] == shapes[f"{head}masked"] == (1, 5, 5)
    assert shapes[f"{head}A"] == (1, 5, 5)
    assert shapes["blocks.0.mlp.expand"] == shapes["blocks.0.mlp.gelu"] == (1, 5, 48)
    assert shapes["blocks.0.mlp.contract"] == shapes["blocks.1.out"] == (1, 5, 12)
    assert shapes["logits"] == (1, 5, 11)
    assert shapes["loss"] == ()
    assert ledger.steps(TINY)[5].symbols == ("B", "T", "D")


def test_the_notebooks_groupings_give_the_notebooks_figures():
    step5 = {part.name: part.count for part in ledger.groups(PRESETS["step5"].config, "step5")}
    assert step5 == {
        "embeddings": 16_512, "attention": 262_656, "MLPs": 526_848, "block LayerNorms": 2_048,
        "final norm + head": 8_576,
    }  # fmt: skip
    build = ledger.groups(PRESETS["build-gpt"].config, "build-gpt")
    assert {part.name: part.count for part in build} == {
        "token embedding": 8_320, "position embedding": 16_384, "4 transformer blocks": 791_552,
        "final LayerNorm": 256, "output head": 8_385,
    }  # fmt: skip
    assert round(build[2].percent) == 96
    assert ledger.groups(replace(TINY, layers=1), "build-gpt")[2].name == "1 transformer block"
    with pytest.raises(ValueError, match="'colour'; choose kind, place, step5, build-gpt"):
        ledger.groups(TINY, "colour")


def test_kinds_are_those_that_have_a_colour():
    known = {
        "token embedding", "position embedding", "attention", "feed-forward", "LayerNorm", "output head", "residual",
    }  # fmt: skip
    kinds = {row.kind for row in ledger.rows(TINY)} | {tensor.kind for tensor in ledger.tensors(TINY)}
    kinds |= {step.kind for step in ledger.steps(TINY)}
    kinds |= {part.kind for by in ledger.GROUPINGS for part in ledger.groups(TINY, by)}
    assert kinds <= known


def test_gpt3_is_examined_at_once_and_its_lists_are_worked_out_entry_by_entry(calls_in):
    assert calls_in(lambda: (ledger.rows(GPT3), ledger.groups(GPT3, "kind"), ledger.total(GPT3))) < 2_000
    tensors, steps = ledger.tensors(GPT3), ledger.steps(GPT3)
    assert len(tensors) == 2 + 96 * (10 + 6 * 96) + 3
    assert len(steps) == 4 + 96 * (9 + 8 * 96) + 3
    name = "blocks.95.attn.heads.95.value.bias"
    assert tensors[tensors.index_of(name)].name == name
    assert tensors[-1].name == "head.weight"
    assert calls_in(lambda: (ledger.tensors(GPT3)[-4], ledger.steps(GPT3)[70_000])) < 500
    members = tensors.members("query, key, value")
    assert len(members) == 96 * 96 * 6
    assert members[-1].name == name


def test_entries_can_be_compared_and_are_not_to_be_changed():
    assert ledger.tensors(TINY)[3] == ledger.tensors(TINY)[3]
    with pytest.raises(AttributeError):
        ledger.rows(TINY)[0].count = 1
