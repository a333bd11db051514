"""Numbers written out: what is found and what is written agree, for every step of different models."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.initialise import build
from gpt_viz.engine.opened import open_step
from gpt_viz.engine.provenance import explain
from gpt_viz.explanation import Explanation, Region, Sum
from gpt_viz.protocol import ModelInfo, StepOpened, Tokens
from gpt_viz.ui.steps.derivation import derivation, term_cells
from gpt_viz.ui.steps.opened_step import OpenedStep
from gpt_viz.ui.steps.step_names import cell_name, symbol, without_batch
from gpt_viz.ui.steps.step_sheets import WRAPPED
from gpt_viz.ui.widgets.formula_text import read
from gpt_viz.ui.widgets.numbers import duration, written
from gpt_viz.ui.widgets.terms import IN_ORDER, LARGEST_FIRST

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12)
TEXT = 'ab\n"<'
TOKENS = Tokens(tuple(range(len(TEXT))), tuple(TEXT))
CHANGES = [
    {},
    {"bias": False, "qkv_bias": True, "head_bias": True},
    {"scale": "multiply", "gelu": "tanh", "tied_head": True},
    {"heads": 1, "width": 1, "vocabulary": 5},
]
INFO = ModelInfo(
    config=TINY, seed=1, device="cpu", alphabet=tuple('ab\n"<cdefgh'), tensors=(), total=1, bytes=1, elapsed_s=0.0
)


@pytest.fixture(scope="module")
def models():
    return {str(changes): build(replace(TINY, **changes), 1) for changes in CHANGES}


@pytest.fixture(scope="module")
def tiny_model(models):
    return models["{}"]


def explained(model, place, index, tokens=TOKENS):
    return explain(model, list(tokens.ids), place, index)


def derived(model, place, index):
    return derivation(explained(model, place, index), TOKENS, tied=model.config.tied_head)


def opened(model, place, tokens=TOKENS, info=INFO):
    found = open_step(model, list(tokens.ids), place)
    return OpenedStep(
        StepOpened(
            job=1, tokens=tokens, step=found.measure, histogram=found.histogram, tensor=found.picture,
            inputs=found.inputs,
        ),
        replace(info, config=model.config),
        (0,) * len(found.measure.shape),
    )  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_every_step_is_written_out_and_agrees_with_what_the_pass_found(models, changes):
    model = models[str(changes)]
    for step in ledger.steps(model.config):
        shape = step.shape(model.config, len(TEXT))
        for index in {tuple(size - 1 for size in shape), tuple(size // 2 for size in shape)}:
            found = derived(model, step.name, index)
            assert found.agrees, (step.name, index, found.verdict)
            assert found.verdict.endswith("✓")
            assert read(found.formula).parts
            assert found.sentence.startswith(f"{found.name} = ")
            for terms in found.terms:
                assert len(terms.row(0)) == len(terms.pieces)
                assert all(len(terms.row(k)) == len(terms.pieces) for k in range(len(terms)))


def test_what_does_not_agree_is_said(tiny_model):
    it = explained(tiny_model, "logits", (0, 2, 3))
    wrong = derivation(replace(it, total=it.value + 0.01), TOKENS)
    assert not wrong.agrees
    assert "but written out it is" in wrong.verdict
    both = derivation(replace(it, value=math.nan, total=math.nan), TOKENS)
    assert both.agrees


def test_rounding_is_allowed_for_by_what_was_added_up_and_not_by_what_came_of_it():
    whole = Sum("sum", (1.0, 1.0), (1e6, -1e6))
    it = Explanation("blocks.0.mid", (0, 0, 0), "sum", 0.05, 0.0, (Region("a", ()), Region("b", ())), (whole,))
    assert derivation(it, TOKENS).agrees
    assert not derivation(replace(it, value=50.0), TOKENS).agrees


def test_a_product_is_written_term_by_term_and_the_largest_come_first(tiny_model):
    found = derived(tiny_model, "blocks.0.attn.heads.1.products", (0, 3, 2))
    (terms,) = found.terms
    assert terms.title == "4 products"
    row = terms.row(1)
    assert row[1:] == ("q[3, 1]", row[2], "×", "k[2, 1]", row[5], "=", row[7])
    sizes = np.abs(terms.amounts[terms.order(LARGEST_FIRST)])
    assert all(sizes[:-1] >= sizes[1:])
    assert terms.order(IN_ORDER).tolist() == [0, 1, 2, 3]
    assert math.fsum(terms.amounts) == pytest.approx(found.explanation.value, rel=1e-5)


def test_a_weighted_sum_names_the_tokens_that_are_looked_at(tiny_model):
    (terms,) = derived(tiny_model, "blocks.0.attn.heads.1.out", (0, 4, 1)).terms
    assert [terms.row(k)[1] for k in range(5)] == ["A[4, 0] a", "A[4, 1] b", "A[4, 2] ↵", 'A[4, 3] "', "A[4, 4] <"]
    assert terms.row(2)[4] == "v[2, 1]"
    assert terms.row(2)[0] == "2 ↵"


def test_a_softmax_is_a_share_of_its_row(tiny_model):
    found = derived(tiny_model, "blocks.0.attn.heads.1.A", (0, 3, 2))
    (terms,) = found.terms
    assert len(terms) == 5
    assert terms.amounts[4] == 0  # masked
    assert terms.amounts[2] / terms.amounts.sum() == pytest.approx(found.explanation.value, rel=1e-5)
    assert r"\frac{e^{" in found.formula
    assert not terms.signed


def test_a_norm_has_the_terms_of_its_mean_and_of_its_variance(tiny_model):
    found = derived(tiny_model, "blocks.1.ln1", (0, 3, 2))
    mean, variance = found.terms
    assert (len(mean), len(variance)) == (12, 12)
    assert mean.row(5)[1] == "blocks.0.out[3, 5]"
    assert variance.row(5)[1] == "(blocks.0.out[3, 5] − mean)²"
    assert "10^{−5}" in found.formula


def test_the_loss_is_written_token_by_token(tiny_model):
    found = derived(tiny_model, "loss", ())
    (terms,) = found.terms
    assert [terms.row(k)[0] for k in range(4)] == ["a → b", "b → ↵", '↵ → "', '" → <']
    assert terms.amounts.mean() == pytest.approx(found.explanation.value, rel=1e-5)
    assert found.name == "loss"


@pytest.mark.parametrize(
    ("place", "index", "said"),
    [
        ("ids", (0, 2), "the number of “↵” in the vocabulary."),
        ("token_embedding", (0, 3, 1), 'looked up in E, in the row of “"”, token 3 of the vocabulary.'),
        ("position_embedding", (3, 1), "looked up in P, in the row of position 3."),
        ("blocks.0.mid", (0, 1, 1), "embedded and proj, added."),
        ("blocks.1.mid", (0, 1, 1), "blocks.0.out and proj, added."),
        ("blocks.0.attn.heads.0.masked", (0, 1, 3), "hidden, since key 3 comes later than query 1."),
        ("blocks.0.attn.heads.0.scores", (0, 1, 3), "the product, divided by √D."),
        ("blocks.0.attn.concat", (0, 1, 6), "column 2 of head 1, unchanged."),
        ("blocks.0.mlp.contract", (0, 1, 6), "48 products of gelu and W2, and a bias."),
        ("blocks.0.attn.heads.0.A", (0, 1, 1), "its share of row 1 of masked, by the softmax."),
    ],
)
def test_one_sentence_says_how(tiny_model, place, index, said):
    assert derived(tiny_model, place, index).sentence.endswith(said)


def test_e07_a_token_of_quotes_and_brackets_can_be_written_in_a_formula(tiny_model):
    for position in range(len(TEXT)):
        assert read(derived(tiny_model, "ids", (0, position)).formula)


# -- where a term's numbers stand ------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_the_cells_of_a_term_hold_the_numbers_it_was_written_with(models, changes):
    model = models[str(changes)]
    for place in ("blocks.0.attn.heads.0.q", "blocks.0.attn.heads.0.products", "blocks.0.attn.heads.0.out", "logits"):
        step = ledger.steps(model.config)[ledger.steps(model.config).index_of(place)]
        index = tuple(size - 1 for size in step.shape(model.config, len(TEXT)))
        it, shown = explained(model, place, index), opened(model, place)
        whole = it.sum("sum")
        tensors = {sheet.name: sheet for sheet in shown.inputs}
        for k in range(len(whole)):
            left, right = term_cells(it, 0, k).items()
            assert tensors[left[0]].number(left[1]) == pytest.approx(whole.coefficients[k])
            assert tensors[right[0]].number(right[1]) == pytest.approx(whole.values[k])


def test_the_two_numbers_of_a_sum_are_one_in_each_input(tiny_model):
    it = explained(tiny_model, "blocks.1.out", (0, 3, 7))
    assert term_cells(it, 0, 0) == {"blocks.1.mid": (0, 3, 7)}
    assert term_cells(it, 0, 1) == {"blocks.1.mlp.contract": (0, 3, 7)}


def test_what_made_a_number_is_lit_in_the_inputs(tiny_model):
    shown = opened(tiny_model, "blocks.0.attn.heads.1.q")
    shown.look_at((0, 3, 2))
    assert shown.lit() == [None, None]

    class Answer:
        explanation, tokens = explained(tiny_model, shown.name, (0, 3, 2)), TOKENS

    shown.take(Answer)
    x, weight = shown.lit()
    assert [(box.top, box.bottom, box.left, box.right) for box in (*x, *weight)] == [(3, 4, 0, 12), (2, 3, 0, 12)]
    assert shown.term_marks((0, 5)) == [(3, 5), (2, 5)]
    assert shown.reading(None) == (f"q[3, 2] = {written(shown.number(None))}", 'token 3 “"”')


def test_of_many_heads_the_one_that_matters_is_among_those_shown(models):
    model = build(replace(TINY, heads=12), 1)
    shown = opened(model, "blocks.0.attn.concat")
    assert len(shown.inputs) == 4
    shown.look_at((0, 1, 9))

    class Answer:
        explanation, tokens = explained(model, shown.name, (0, 1, 9)), TOKENS

    shown.take(Answer)
    assert [sheet.name.split(".")[4] for sheet in shown.inputs] == ["8", "9", "10", "11"]
    assert [len(boxes) for boxes in shown.lit()] == [0, 1, 0, 0]
    assert "8 more" in shown.origin


def test_ids_stand_in_rows_with_their_tokens(tiny_model):
    tokens = Tokens((0, 1, 2, 3, 4, 5, 6, 7), tuple("abcdefgh"))
    longer = build(replace(TINY, block_size=20), 1)
    many = Tokens(tuple(range(10)) + (0,) * 10, tuple("abcdefghijklmnopqrst"))
    assert opened(tiny_model, "ids", tokens).main.wrapped == 0
    shown = opened(longer, "ids", many)
    assert shown.main.wrapped == WRAPPED
    assert shown.main.sheet.cells.shape == (3, 8)
    assert shown.main.sheet.text(1, 1) == "j 9"
    assert shown.main.index((1, 1)) == (0, 9)
    assert shown.main.cell((0, 9)) == (1, 1)
    assert shown.main.sheet.blank == 4
    assert shown.bins is None


def test_masked_cells_are_known_as_masked_and_a_weight_where_none_may_be_is_not(tiny_model):
    assert opened(tiny_model, "blocks.0.attn.heads.0.masked").main.sheet.masked.sum() == 10
    shown = opened(tiny_model, "blocks.0.attn.heads.0.A")
    assert shown.main.sheet.masked.sum() == 10
    assert shown.masked
    assert opened(tiny_model, "blocks.0.attn.heads.0.scores").main.sheet.masked is None


def test_the_numbers_are_copied_as_a_table_with_their_places(tiny_model):
    table = opened(tiny_model, "blocks.0.attn.heads.0.q").table()
    assert table[0] == ["", "0", "1", "2", "3"]
    assert [row[0] for row in table[1:]] == list(TEXT)
    assert all(len(row) == 5 for row in table)


# -- names and numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("token_embedding.weight", "E"), ("position_embedding.weight", "P"), ("head.weight", "Wu"), ("head.bias", "bu"),
        ("blocks.0.attn.heads.2.key.bias", "bk"), ("blocks.10.attn.proj.weight", "Wo"),
        ("blocks.0.mlp.fc.weight", "W1"), ("blocks.0.mlp.proj.bias", "b2"), ("ln_f.weight", "γ"),
        ("blocks.0.ln2.bias", "β"), ("blocks.3.out", "blocks.3.out"), ("blocks.0.attn.heads.1.out", "heads.1.out"),
        ("blocks.0.attn.concat", "concat"), ("embedded", "embedded"),
    ],
)  # fmt: skip
def test_parameters_have_the_letters_of_the_formulas_and_steps_their_last_name(name, letters):
    assert symbol(name) == letters


def test_the_batch_is_left_out_of_names():
    assert cell_name("A", without_batch("blocks.0.attn.heads.0.A", (0, 5, 3))) == "A[5, 3]"
    assert cell_name("P", without_batch("position_embedding.weight", (5, 3))) == "P[5, 3]"
    assert without_batch("position_embedding", (5, 3)) == (5, 3)
    assert cell_name("loss", without_batch("loss", ())) == "loss"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-0.03712634, "−0.03713"), (123456.0, "123456"), (1.5e9, "1.5e9"),
        (2.5e-7, "2.5e−7"), (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "NaN"), (None, "–"), (0.99999999, "1"),
    ],
)  # fmt: skip
def test_numbers_are_written_with_few_digits_and_a_true_minus(number, text):
    assert written(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.2e-6, "3.2 µs"), (1.45e-3, "1.45 ms"), (0.9999e-3, "1 ms"), (2.5, "2.5 s"), (None, "–")]
)
def test_times_are_written_in_their_unit(seconds, text):
    assert duration(seconds) == text
