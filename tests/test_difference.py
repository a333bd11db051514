"""Differences of two configs and the rule of thumb: every term's formulas are worth its count, and all add up."""

from dataclasses import fields, replace
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.ledger.difference import (
    PRIME,
    RULE_OF_THUMB,
    Term,
    beyond_rule,
    block_total,
    difference,
    rule_of_thumb,
    without_effect,
)

STEP5, BUILD, GPT3 = (PRESETS[name].config for name in ("step5", "build-gpt", "gpt3"))
COUNTLESS = {"heads", "dropout", "gelu", "initialisation", "scale"}


@st.composite
def configs(draw):
    heads = draw(st.sampled_from([1, 2, 3, 8]))
    return GPTConfig(
        vocabulary=draw(st.sampled_from([1, 11, 65, 50_257])),
        block_size=draw(st.sampled_from([1, 64, 1024])),
        layers=draw(st.sampled_from([0, 1, 4, 96])),
        heads=heads,
        width=heads * draw(st.sampled_from([1, 16, 128])),
        qkv_bias=draw(st.booleans()),
        bias=draw(st.booleans()),
        head_bias=draw(st.booleans()),
        tied_head=draw(st.booleans()),
    )


def letters(config, prime=""):
    sizes = {"V": config.vocabulary, "N": config.block_size, "C": config.width, "L": config.layers}
    return {letter + prime: number for letter, number in sizes.items()}


def worth(formula, names=None):
    python = formula.replace("·", "*").replace("²", "**2").replace("−", "-").replace(PRIME, "_")
    return eval(python, {}, names or {})


# -- two configs ------------------------------------------------------------------------------------------------------


def test_the_two_presets_differ_by_8192_positions_and_65_head_biases():
    terms = difference(STEP5, BUILD)
    assert [(t.name, t.formula, t.numbers, t.count, t.causes) for t in terms] == [
        ("positions", "(N′−N)·C", "(128−64)·128", 8_192, ("block_size",)),
        ("head biases", "V", "65", 65, ("head_bias",)),
    ]
    assert sum(t.count for t in terms) == 8_257 == ledger.total(BUILD) - ledger.total(STEP5)
    assert without_effect(STEP5, BUILD) == ("initialisation", "scale")


@given(configs(), configs())
def test_the_terms_add_up_to_the_difference_of_the_totals_and_each_formula_is_worth_its_count(a, b):
    terms = difference(a, b)
    assert sum(term.count for term in terms) == ledger.total(b) - ledger.total(a)
    both = letters(a) | letters(b, "_")
    for term in terms:
        assert term.count != 0
        assert worth(term.formula, both) == term.count
        assert worth(term.numbers) == term.count


@given(configs(), configs())
def test_the_other_way_round_every_term_has_the_other_sign(a, b):
    def signed(terms, sign):
        return {term.name: sign * term.count for term in terms}

    assert signed(difference(a, b), 1) == signed(difference(b, a), -1)
    assert difference(a, a) == ()


@given(configs(), configs())
def test_the_terms_of_a_row_add_up_to_its_difference(a, b):
    before, after = ({row.name: row.count for row in ledger.rows(config)} for config in (a, b))
    found = dict.fromkeys(before, 0)
    for term in difference(a, b):
        found[term.row] += term.count
        assert term.kind in {row.kind for row in ledger.rows(a) if row.name == term.row}
    assert found == {name: after[name] - before[name] for name in before}


@given(configs(), configs())
def test_the_causes_are_settings_that_differ_and_can_matter(a, b):
    changed = {field.name for field in fields(a) if getattr(a, field.name) != getattr(b, field.name)}
    for term in difference(a, b):
        assert term.causes
        assert set(term.causes) <= changed - COUNTLESS
    causes = {cause for term in difference(a, b) for cause in term.causes}
    assert set(without_effect(a, b)) == changed - causes


@given(configs(), configs())
def test_each_term_counts_the_tensor_it_names(a, b):
    for term in difference(a, b):
        assert any(fnmatchcase(term.member, row.members) for row in ledger.rows(a) if row.name == term.row)


@pytest.mark.parametrize("heads", [1, 2, 8, 16, 32, 128])
def test_g04_the_number_of_heads_is_in_no_term(heads):
    other = replace(STEP5, heads=heads)
    assert difference(STEP5, other) == ()
    assert without_effect(STEP5, other) == ("heads",)


@pytest.mark.parametrize(
    ("changes", "name", "formula", "numbers", "count"),
    [
        ({"layers": 8}, "query, key, value", "(L′−L)·3·C²", "(8−4)·3·128²", 196_608),
        ({"width": 256}, "projection", "L·(C′²−C²)", "4·(256²−128²)", 196_608),
        ({"layers": 2, "width": 256}, "feed-forward", "L′·8·C′²−L·8·C²", "2·8·256²−4·8·128²", 524_288),
        ({"bias": False}, "block LayerNorms", "L·(2−4)·C", "4·(2−4)·128", -1_024),
        ({"bias": False}, "final LayerNorm", "(1−2)·C", "(1−2)·128", -128),
        ({"bias": False}, "feed-forward biases", "−L·5·C", "−4·5·128", -2_560),
        ({"qkv_bias": True}, "query, key, value biases", "L·3·C", "4·3·128", 1_536),
        ({"tied_head": True}, "output head", "−V·C", "−65·128", -8_320),
        ({"vocabulary": 100}, "output head", "(V′−V)·C", "(100−65)·128", 4_480),
    ],
)
def test_what_is_shared_is_written_once(changes, name, formula, numbers, count):
    term = next(term for term in difference(STEP5, replace(STEP5, **changes)) if term.name == name)
    assert (term.formula, term.numbers, term.count) == (formula, numbers, count)


def test_what_does_not_exist_on_one_side_has_that_alone_as_its_cause():
    terms = {term.name: term for term in difference(STEP5, PRESETS["gpt2"].config)}
    assert terms["output head"].causes == ("tied_head",)
    assert terms["query, key, value biases"].causes == ("qkv_bias",)
    assert terms["positions"].causes == ("block_size", "width")


# -- the rule of thumb ------------------------------------------------------------------------------------------------


def test_step_5_has_5120_beyond_the_rule_its_biases_and_layernorms():
    assert (rule_of_thumb(STEP5), block_total(STEP5)) == (786_432, 791_552)
    assert [(t.name, t.formula, t.numbers, t.count) for t in beyond_rule(STEP5)] == [
        ("projection biases", "L·C", "4·128", 512),
        ("feed-forward biases", "L·5·C", "4·5·128", 2_560),
        ("block LayerNorms", "L·4·C", "4·4·128", 2_048),
    ]
    assert sum(term.count for term in beyond_rule(STEP5)) == 5_120


@given(configs())
def test_rule_and_terms_add_up_to_what_the_blocks_hold(config):
    terms = beyond_rule(config)
    assert rule_of_thumb(config) + sum(term.count for term in terms) == block_total(config)
    assert block_total(config) == next(s.count for s in ledger.groups(config, "place") if s.name == "blocks")
    assert worth(RULE_OF_THUMB, letters(config)) == rule_of_thumb(config)
    for term in terms:
        assert isinstance(term, Term)
        assert worth(term.formula, letters(config)) == worth(term.numbers) == term.count > 0


def test_gpt_3_differs_from_the_rule_by_15_million():
    assert rule_of_thumb(GPT3) == 173_946_175_488
    assert block_total(GPT3) == 173_961_510_912
    assert sum(term.count for term in beyond_rule(GPT3)) == 15_335_424


def test_without_layers_rule_and_blocks_are_nothing():
    none = replace(STEP5, layers=0)
    assert (rule_of_thumb(none), block_total(none), beyond_rule(none)) == (0, 0, ())
