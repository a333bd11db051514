"""Typeset formulas: what is read, where it stands, and that every step of every model has one with its numbers."""

from dataclasses import replace

import pytest

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.ui.steps.step_formulas import formulas
from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.formula import Formula
from gpt_viz.ui.widgets.formula_text import Cases, Fraction, Gap, Line, Paren, Root, Script, Total, Word, read
from gpt_viz.ui.widgets.typesetting import LEAST, Typesetter

STEP5, GPT3 = PRESETS["step5"].config, PRESETS["gpt3"].config


def kinds(text):
    return [type(part) for part in read(text).parts]


def plain(part):
    """All words of a formula in order."""
    if isinstance(part, Word):
        return part.text
    if isinstance(part, Gap):
        return " "
    children = {
        Line: lambda: part.parts,
        Fraction: lambda: (part.above, part.below),
        Root: lambda: (part.inner,),
        Paren: lambda: (part.inner,),
        Cases: lambda: part.rows,
        Script: lambda: [each for each in (part.base, part.low, part.high) if each],
        Total: lambda: (),
    }[type(part)]()
    return "".join(map(plain, children))


@pytest.fixture
def laid(qapp):
    def lay(text, scale=1.2):
        return Typesetter(scale).lay(read(text))

    return lay


# -- reading ---------------------------------------------------------------------------------------------------------


def test_letters_lean_and_words_numbers_and_quotes_do_not():
    assert read("A").parts == (Word("A", leans=True),)
    assert [part.leans for part in read('scores 65,536 "x"').parts if isinstance(part, Word)] == [False] * 3
    assert read("65,536.25").parts == (Word("65,536.25"),)
    assert plain(read('"ln_f is " x')) == "ln_f is  x"


def test_commands_are_read_with_what_is_in_their_braces():
    assert kinds(r"\frac{a}{b}\sqrt{c}\paren{d}\cases{e}{f}\sum") == [Fraction, Root, Paren, Cases, Total]
    script = read(r"x_{t,c}^2").parts[0]
    assert (plain(script.base), plain(script.low), plain(script.high)) == ("x", "t,c", "2")
    nested = read(r"e^{z_{t,ids_{t+1}}}").parts[0]
    assert plain(nested) == "ezt,idst+1"


def test_a_sign_binds_where_it_stands_between_two_and_not_where_it_is_one():
    def binds(text):
        return [part.binds for part in read(text).parts if isinstance(part, Word) and part.text in "−+=·"]

    assert binds("a − b") == [True]
    assert binds("−a") == [False]
    assert binds("a = −b") == [True, False]
    assert binds("a · (−b)") == [True, False]


@pytest.mark.parametrize("wrong", ["a}", "{a", r"\frac{a}", r"\pi", "x_"])
def test_what_can_not_be_read_is_said_at_once(wrong):
    with pytest.raises(ValueError, match="formula"):
        read(wrong)


# -- laying out ------------------------------------------------------------------------------------------------------


def test_fractions_roots_and_sums_are_higher_than_their_letters(laid):
    line = laid("x")
    assert laid(r"\frac{x}{x}").height > 1.6 * line.height
    assert laid(r"\sqrt{x}").ascent > line.ascent
    assert laid(r"\sum_{c=0}^{127}").height > 2 * line.height
    assert laid(r"\paren{\frac{x}{x}}").height > laid(r"\frac{x}{x}").height
    assert laid(r"\cases{x}{x}").height > 1.9 * line.height


def test_low_and_high_letters_stand_off_their_line_and_clear_of_each_other(laid):
    low, high, both = laid("x_i"), laid("x^i"), laid("x_i^i")
    assert low.descent > laid("x").descent
    assert high.ascent > laid("x").ascent
    assert both.height >= low.height
    assert laid("out^{(2)}_{20,11}").height > laid("out_{20,11}").height


def test_no_letter_is_smaller_than_the_least(qapp):
    setter = Typesetter(0.9)
    setter.lay(read(r"x_{t_{i_{j_{k}}}}"))
    assert min(scale for scale, _ in setter._fonts) == LEAST


@pytest.mark.parametrize("name", list(THEMES))
def test_every_part_is_drawn_within_the_widget(qtbot, name):
    theme.use(name)
    widget = Formula()
    qtbot.addWidget(widget)
    widget.show_lines((r"A_{i,j} = \frac{e^{x}}{\sum_{m=0}^{T−1} e^{x}} + \sqrt{D} · \paren{a^2} = \cases{a}{b}",))
    widget.resize(460, widget.needed_height(460))
    image = widget.grab().toImage()
    ground = image.pixelColor(459, image.height() - 1)
    for x in range(image.width()):
        assert image.pixelColor(x, 0) == ground
        assert image.pixelColor(x, image.height() - 1) == ground
    assert any(image.pixelColor(x, image.height() // 2) != ground for x in range(image.width()))


def test_a_formula_that_is_too_wide_becomes_smaller_and_then_goes_on_in_the_next_line(qtbot):
    widget = Formula()
    qtbot.addWidget(widget)
    widget.show_lines((r"contract_{20,69} = \sum_{m} gelu_{20,m} · W2_{69,m} + b2_{69} = 0.1 + 0.2 = 0.3",))
    heights = [widget.needed_height(width) for width in (700, 440, 260, 140)]
    assert heights[0] > heights[1]
    assert heights[1] < heights[2] < heights[3]
    for width in (700, 440, 260, 140):
        assert widget.fits(width)


def test_a_larger_font_takes_more_room(qtbot):
    widget = Formula()
    qtbot.addWidget(widget)
    widget.show_lines((r"\frac{x}{2}",))
    before = widget.needed_height(300)
    theme.use("light", 16.0)
    assert widget.needed_height(300) > 1.3 * before


# -- the steps' formulas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [
        STEP5, GPT3, PRESETS["build-gpt"].config, PRESETS["gpt2"].config, GPTConfig(layers=1, heads=1, width=1),
        GPTConfig(layers=1, vocabulary=1, block_size=1, bias=False),
    ],
)  # fmt: skip
def test_every_step_of_every_model_has_a_formula_that_can_be_read(qapp, config):
    setter, steps = Typesetter(1.2), ledger.steps(config)
    seen = {step.name.rpartition(".")[2] + str(step.head is None): step for step in steps[: 40 if config.layers else 7]}
    for step in [*seen.values(), steps[-1], steps[-2], steps[-3]]:
        for line in formulas(step, config, config.block_size):
            assert setter.lay(read(line)).width > 20, (step.name, line)


def of(place, config=STEP5, tokens=64):
    steps = ledger.steps(config)
    return formulas(steps[steps.index_of(place)], config, tokens)


@pytest.mark.parametrize(
    ("place", "numbers"),
    [
        ("blocks.0.attn.heads.0.q", "(64 × 128) · (128 × 32) → 64 × 32"),
        ("blocks.0.attn.heads.0.products", "(64 × 32) · (32 × 64) → 64 × 64"),
        ("blocks.0.attn.heads.0.scores", "5.657"),
        ("blocks.0.attn.heads.0.masked", "2,016"),
        ("blocks.0.attn.heads.0.out", "(64 × 64) · (64 × 32) → 64 × 32"),
        ("blocks.0.attn.concat", "4 · 32 = 128"),
        ("blocks.0.mlp.expand", "(64 × 128) · (128 × 512) → 64 × 512"),
        ("blocks.0.ln1", "10^{−5}"),
        ("logits", "(64 × 128) · (128 × 65) → 64 × 65"),
        ("loss", "log 65 = 4.174"),
    ],
)
def test_this_models_numbers_are_in_it(place, numbers):
    assert numbers in of(place)[1]


def test_one_row_is_spoken_of_as_one():
    assert of("blocks.0.attn.heads.0.A", tokens=1)[1] == '1 "row over" 1 "key, adding up to" 1'
    assert '64 "rows, each over" 64 "keys at most' in of("blocks.0.attn.heads.0.A")[1]


def test_the_formula_says_which_biases_scale_bend_and_head_the_model_has():
    other = replace(STEP5, bias=False, scale="multiply", gelu="tanh", tied_head=True, qkv_bias=True, head_bias=False)
    assert "b1_m" in of("blocks.0.mlp.expand")[0]
    assert "b1" not in of("blocks.0.mlp.expand", other)[0]
    assert "bq_d" in of("blocks.0.attn.heads.0.q", other)[0]
    assert "β" in of("ln_f")[0]
    assert "β" not in of("ln_f", other)[0]
    assert r"\sqrt{D}" in of("blocks.0.attn.heads.0.scores")[0]
    assert "D^{−1/2}" in of("blocks.0.attn.heads.0.scores", other)[0]
    assert "erf" in of("blocks.0.mlp.gelu")[1]
    assert "tanh" in of("blocks.0.mlp.gelu", other)[1]
    assert "Wu_{v,c}" in of("logits")[0]
    assert "E_{v,c}" in of("logits", other)[0]
