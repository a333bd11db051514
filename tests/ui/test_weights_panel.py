"""The weights panel: it shows the weights of what is selected, as they are, beside what was promised of them."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from pointer import point_at
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.measures import Figures, Histogram, Picture, round_limit
from gpt_viz.protocol import (
    Cancelled,
    Failed,
    Finished,
    ModelInfo,
    OpenWeights,
    TensorInfo,
    Weights,
    WeightsOpened,
)
from gpt_viz.ui.panels.weights import POINT, WeightsPanel
from gpt_viz.ui.selection import Selection
from gpt_viz.ui.theme import theme
from gpt_viz.ui.training.learner import Learner
from gpt_viz.ui.weights.weight_place import exists, first_place, owner, place_of
from gpt_viz.ui.weights.weight_words import (
    cell_words,
    limit_of,
    pairs,
    rounded,
    sentence,
    short_name,
    sizes_words,
    table,
)
from gpt_viz.ui.weights.weights_inquiry import INTERVAL_S, WeightsInquiry
from gpt_viz.ui.widgets.histogram import Bins
from gpt_viz.ui.widgets.histogram import Histogram as Bars
from gpt_viz.ui.widgets.shades import SIGNED

STEP5, GPT2 = PRESETS["step5"].config, PRESETS["gpt2"].config
TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
HEAD = "blocks.1.attn.heads.2"
LETTERS = tuple("abcdefghij ")


def model(config=TINY, alphabet=LETTERS):
    return ModelInfo(
        config=config, seed=1, device="cpu", alphabet=alphabet if config.vocabulary == len(LETTERS) else None,
        tensors=tuple(TensorInfo(t.name, t.shape, t.count, t.shared_with) for t in ledger.tensors(config)),
        total=ledger.total(config), bytes=1, elapsed_s=0.0,
    )  # fmt: skip


def weights(name, config=TINY, *, std=0.05, promised=0.05, drawn=0.05, seed=0, span=(1, 1)):
    """A tensor of normal numbers."""
    spec = ledger.tensors(config)[ledger.tensors(config).index_of(name)]
    cells = np.random.default_rng(seed).normal(0, std, spec.shape).astype(np.float32).reshape(-1, spec.shape[-1])
    cells.setflags(write=False)
    low, high, size = float(cells.min()), float(cells.max()), float(cells.std())
    figures = Figures(float(cells.mean()), size, low, high, float(np.linalg.norm(cells)), 0)
    limit = round_limit(max(-low, high))
    counts = np.histogram(cells, 64, (-limit, limit))[0].tolist()
    picture = Picture(name, spec.shape, spec.symbols, cells, span)
    return Weights(
        picture, figures, Histogram(-limit, limit, tuple(counts)), promised, size if drawn == std else drawn,
        spec.shared_with,
    )  # fmt: skip


def opened(place, config=TINY, job=1, step=0, **changes):
    """What the engine answers for a place of the model."""
    if ".heads." in place and not place.endswith(("weight", "bias")):
        names = [f"{place}.{part}.{kind}" for part in ("query", "key", "value") for kind in ("weight", "bias")]
    else:
        names = [place, f"{place}.weight", f"{place}.bias"]
    known = {tensor.name for tensor in ledger.tensors(config)}
    found = tuple(weights(name, config, seed=at, **changes) for at, name in enumerate(names) if name in known)
    return WeightsOpened(job=job, parameter=place, step=step, tensors=found)


@pytest.fixture
def panel_of(world, qtbot):
    def make(config=TINY, *, select=HEAD, size=(680, 430), alphabet=LETTERS):
        panel = WeightsPanel(world.context)
        qtbot.addWidget(panel)
        qtbot.addWidget(panel.header)
        world.subject.set_built(model(config, alphabet))
        world.subject.set_draft(config)
        world.selection.choose(parameter=select)
        panel.resize(*size)
        panel.show()
        panel.draw()
        return panel

    return make


def answer(panel, world, **changes):
    """Answer what the panel asked last, and draw it."""
    question = world.sent[-1]
    panel.handle(opened(question.parameter, world.subject.built.config, question.job, **changes))
    panel.handle(Finished(job=question.job))
    panel.draw()
    QApplication.processEvents()
    return question


def asked(world):
    return [command.parameter for command in world.sent]


# -- what is meant ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "place"),
    [
        (Selection(parameter=HEAD), HEAD),
        (Selection(parameter=f"{HEAD}.query.weight"), f"{HEAD}.query.weight"),
        (Selection(parameter="blocks.2.mlp.fc"), "blocks.2.mlp.fc"),
        (Selection(parameter="head.weight"), "head.weight"),
        (Selection(parameter="blocks.*.attn.heads.*", layer=2, head=3), "blocks.2.attn.heads.3"),
        (Selection(parameter="blocks.*.mlp.*", layer=2), "blocks.2.mlp.fc"),
        (Selection(parameter="blocks.3.mlp.*", layer=2), "blocks.3.mlp.fc"),
        (Selection(parameter="blocks.*", layer=1), "blocks.1.ln1"),
        (Selection(parameter="*ln[12_]*", layer=1), "blocks.1.ln1"),
        (Selection(parameter="*_embedding.weight"), "token_embedding"),
        (Selection(parameter="ln_f.*"), "ln_f"),
        (Selection(step="blocks.0.mlp.expand"), "blocks.0.mlp.fc"),
        (Selection(step="blocks.0.attn.heads.1.A", layer=0, head=1), "blocks.0.attn.heads.1"),
        (Selection(step="blocks.1.attn.concat", layer=1, head=3), "blocks.1.attn.heads.3"),
        (Selection(step="logits"), "head"),
        (Selection(step="ids"), ""),
        (Selection(), ""),
        (Selection(parameter="nothing"), ""),
        (Selection(parameter="blocks.9.mlp.fc"), ""),
        (Selection(parameter="blocks.0.attn.heads.9"), ""),
    ],
)
def test_what_is_selected_has_its_place(selection, place):
    assert place_of(selection, STEP5) == place


def test_every_tensor_module_and_head_is_a_place_of_its_own():
    for tensor in ledger.tensors(TINY):
        module = tensor.name.rpartition(".")[0]
        assert exists(tensor.name, TINY)
        assert exists(module, TINY) is (".heads." not in module)
    assert exists(HEAD, TINY)
    assert not exists("", TINY)
    assert not exists("blocks.0", TINY)
    assert exists(first_place(TINY), TINY)
    assert exists(first_place(replace(TINY, layers=0)), replace(TINY, layers=0))


def test_a_tensor_leads_to_what_is_shown_beside_it():
    assert owner(f"{HEAD}.key.bias", TINY) == HEAD
    assert owner("blocks.0.mlp.fc.bias", TINY) == "blocks.0.mlp.fc"
    assert owner("head.weight", TINY) == ""
    assert owner("head.weight", replace(TINY, head_bias=True)) == "head"
    assert owner(HEAD, TINY) == owner("nothing", TINY) == ""


# -- words ------------------------------------------------------------------------------------------------------------


def test_figures_keep_their_last_digits():
    assert [rounded(number) for number in (0.05103, 1.0, 0.0, -0.02, 123.4, 1e-9, None)] == [
        "0.0510", "1.00", "0", "−0.0200", "123", "1e−9", "–"
    ]  # fmt: skip
    assert rounded(math.nan) == "NaN"


def test_an_untrained_head_is_said_to_have_what_was_promised():
    said = sentence(opened(HEAD))
    stds = [f"{each.figures.std:.4f}" for each in opened(HEAD).tensors if len(each.picture.shape) == 2]
    assert said == (
        f"Head 2 of layer 1: query, key and value have std {stds[0]}, {stds[1]} and {stds[2]}; 0.0500 was promised."
    )


def test_trained_weights_are_said_beside_what_they_were_drawn_with():
    event = opened("blocks.0.mlp.fc.weight", std=0.08, drawn=0.0512)
    assert sentence(event).endswith("; drawn with 0.0512, 0.0500 was promised.")
    named = dict(pairs(event.tensors[0]))
    assert named["std"].startswith("0.08")
    assert (named["std as drawn"], named["std promised"], named["numbers"]) == ("0.05120", "0.05000", "576")
    assert "std as drawn" not in dict(pairs(opened("blocks.0.mlp.fc.weight").tensors[0]))
    assert "std as drawn" not in dict(pairs(weights("blocks.0.mlp.fc.weight", drawn=None)))


def test_a_layernorm_is_said_to_lie_between_two_numbers():
    def constant(name, number):
        spec = weights(name)
        figures = Figures(number, 0.0, number, number, number * math.sqrt(12), 0)
        return replace(spec, figures=figures, promised_std=None, initial_std=0.0)

    event = WeightsOpened(
        job=1, parameter="ln_f", step=0, tensors=(constant("ln_f.weight", 1.0), constant("ln_f.bias", 0.0))
    )
    assert sentence(event) == "ln_f: γ is 1.00 everywhere and β is 0 everywhere."
    trained = replace(event, tensors=(replace(weights("ln_f.weight"), promised_std=None),))
    assert "γ lies between −0." in sentence(trained)
    assert dict(pairs(event.tensors[0]))["std promised"] == "0, a constant"
    assert limit_of(event.tensors[1]) == 0.0


def test_a_tied_head_is_said_to_be_the_embedding():
    assert sentence(opened("head")).startswith("head, which is token_embedding.weight: std 0.0")


def test_a_cell_is_named_by_what_its_row_and_column_are():
    info = model()
    matrix = weights(f"{HEAD}.query.weight")
    number = rounded(float(matrix.picture.cells[3, 7]), 4)
    assert cell_words(matrix, HEAD, 3, 7, info) == f"query, out 3, in 7: {number}"
    assert cell_words(matrix, f"{HEAD}.query.weight", 3, 7, info) == f"out 3, in 7: {number}"
    assert cell_words(weights("token_embedding.weight"), "token_embedding", 10, 1, info).startswith(
        "weight, token 10 “␣”, C 1"
    )
    positions = weights("position_embedding.weight")
    assert cell_words(positions, "position_embedding.weight", 2, 1, info).startswith("position 2, C 1: ")
    assert cell_words(weights("blocks.0.mlp.fc.bias"), "blocks.0.mlp.fc", 0, 9, info).startswith("bias, out 9: ")
    assert cell_words(weights("ln_f.bias"), "ln_f", 0, 9, info).startswith("β, the bias, C 9: ")
    pooled = replace(matrix, picture=replace(matrix.picture, span=(99, 2)))
    assert cell_words(pooled, HEAD, 1, 1, info).endswith("(furthest from 0 of 99 × 2)")


def test_names_and_axes_are_short():
    assert short_name("blocks.0.mlp.fc.weight", "blocks.0.mlp.fc.weight") == "mlp.fc.weight"
    assert short_name("blocks.0.mlp.fc.bias", "blocks.0.mlp.fc") == "bias"
    assert sizes_words(weights("blocks.0.mlp.fc.weight")).startswith("out 4C × in C, std 0.0")
    assert sizes_words(weights("token_embedding.weight")).startswith("token V × C, std")
    assert sizes_words(weights("ln_f.weight")).startswith("C, std")


def test_colours_end_at_three_times_the_usual_size_or_where_the_numbers_end():
    assert limit_of(weights("blocks.0.mlp.fc.weight", std=0.049)) == 0.15
    assert limit_of(weights("blocks.0.mlp.fc.weight", std=0.0198)) == 0.06
    pooled = weights("blocks.0.mlp.fc.weight", std=0.02)
    assert limit_of(replace(pooled, picture=replace(pooled.picture, span=(3, 1)))) == pooled.histogram.high
    spiked = replace(pooled, histogram=Histogram(-0.03, 0.03, (576,)))
    assert limit_of(spiked) == 0.03


def test_one_number_is_counted_as_one(qapp):
    bars = Bars()
    bars.show_bins(Bins(0.5, 1.5, (0, 1, 0)), SIGNED)
    assert bars.caption() == "1 number"
    bars.show_bins(Bins(0.5, 1.5, (2, 1, 0)), SIGNED)
    assert bars.caption() == "3 numbers"


# -- asking -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def inquiry(world, qapp):
    world.now = 100.0
    world.subject.set_built(model())
    return WeightsInquiry(world.context, clock=lambda: world.now)


def test_a_place_is_asked_for_once(inquiry, world):
    for _ in range(3):
        inquiry.ask("ln_f")
    assert asked(world) == ["ln_f"]
    inquiry.handle(opened("ln_f", job=world.sent[-1].job))
    inquiry.ask("ln_f")
    assert asked(world) == ["ln_f"]
    assert inquiry.answer("ln_f").parameter == "ln_f"
    assert inquiry.answer("head") is None
    assert not inquiry.busy


def test_another_place_is_asked_for_at_once_and_a_late_answer_is_left_alone(inquiry, world):
    inquiry.ask("ln_f")
    late = world.sent[-1].job
    inquiry.ask("head")
    assert asked(world) == ["ln_f", "head"]
    inquiry.handle(Cancelled(job=late, superseded=True))
    inquiry.handle(opened("ln_f", job=late))
    assert inquiry.busy
    assert inquiry.answer("ln_f") is None
    inquiry.handle(opened("head", job=world.sent[-1].job))
    assert inquiry.answer("head") is not None


def test_weights_that_change_are_asked_for_at_most_four_times_a_second(inquiry, world):
    times = []
    inquiry.ask("ln_f")
    for _ in range(400):
        world.now += 0.01
        if inquiry.busy:
            inquiry.handle(opened("ln_f", job=world.sent[-1].job))
        world.subject.step()
        count = len(world.sent)
        inquiry.ask("ln_f")
        if len(world.sent) > count:
            times.append(world.now)
    assert 14 <= len(times) <= 16
    assert all(later - sooner >= INTERVAL_S - 1e-9 for sooner, later in pairwise(times))


def test_a_look_that_takes_long_is_followed_by_as_long_a_pause(inquiry, world):
    inquiry.ask("ln_f")
    world.now += 3.0
    inquiry.handle(opened("ln_f", job=world.sent[-1].job))
    world.subject.step()
    world.now += 2.9
    inquiry.ask("ln_f")
    assert len(world.sent) == 1
    world.now += 0.2
    inquiry.ask("ln_f")
    assert len(world.sent) == 2


def test_no_second_look_at_the_same_place_begins_while_one_is_under_way(inquiry, world):
    inquiry.ask("ln_f")
    world.now += 10
    world.subject.step()
    inquiry.ask("ln_f")
    assert len(world.sent) == 1


def test_after_the_pause_it_is_said_that_it_is_time_to_ask_again(inquiry, world, qtbot):
    inquiry.ask("ln_f")
    inquiry.handle(opened("ln_f", job=world.sent[-1].job))
    world.now += INTERVAL_S - 0.01
    world.subject.step()
    with qtbot.waitSignal(inquiry.changed, timeout=1000):
        inquiry.ask("ln_f")
    assert len(world.sent) == 1


def test_the_weights_of_a_model_that_was_replaced_are_not_shown(inquiry, world):
    inquiry.ask("ln_f")
    inquiry.handle(opened("ln_f", job=world.sent[-1].job))
    world.subject.set_built(model())
    assert inquiry.answer("ln_f") is None
    inquiry.ask("ln_f")
    assert len(world.sent) == 2


# -- the panel --------------------------------------------------------------------------------------------------------


def test_a_heads_matrices_stand_beside_each_other_on_one_scale(panel_of, world):
    panel = panel_of()
    assert isinstance(answer(panel, world), OpenWeights)
    shown = [picture for picture in panel.stage.pictures if picture.isVisible()]
    assert [picture.sheet.name for picture in shown] == [
        "query", "query bias", "key", "key bias", "value", "value bias"
    ]  # fmt: skip
    assert len({picture.shades.limit for picture in shown[::2]}) == 1
    assert len({picture.shades.limit for picture in shown[1::2]}) == 1
    geometries = [picture.geometry() for picture in shown]
    for i, one in enumerate(geometries):
        assert panel.stage.rect().contains(one)
        assert not any(one.intersects(other) for other in geometries[:i])
    assert panel.header.sentence.whole().startswith("Head 2 of layer 1: query, key and value have std")


def test_the_picture_is_the_tensor_with_its_axes_named(panel_of, world):
    panel = panel_of(select="token_embedding.weight")
    answer(panel, world)
    picture = panel.stage.pictures[0]
    assert not picture.small
    assert picture.sheet.cells is panel._drawn.tensors[0].picture.cells
    assert (picture.sheet.down.title, picture.sheet.across.title) == ("token V →", "C →")
    assert picture.sheet.down.names == LETTERS
    panel = panel_of(select=f"{HEAD}.query.weight")
    answer(panel, world)
    sheet = panel.stage.pictures[0].sheet
    assert (sheet.down.title, sheet.across.title) == ("out D →", "in C →")


def test_pointing_at_a_cell_reads_its_number_and_marks_it_on_the_scale(panel_of, world):
    panel = panel_of(select=f"{HEAD}.query.weight")
    answer(panel, world)
    picture = panel.stage.pictures[0]
    assert panel.stage.words.text() == POINT
    point_at(picture, picture.cell_rect(2, 5).center())
    number = rounded(float(picture.sheet.cells[2, 5]), 4)
    assert panel.stage.words.text() == f"out 2, in 5: {number}"
    assert panel.stage.histogram._number == float(picture.sheet.cells[2, 5])
    picture.leaveEvent(None)
    assert panel.stage.words.text() == POINT


def test_pointing_at_one_of_several_shows_its_figures(panel_of, world):
    panel = panel_of()
    answer(panel, world)
    assert panel.stage.figures.pairs[0] == ("tensor", "query")
    panel.stage.pictures[2].hovered.emit((1, 1))
    assert panel.stage.figures.pairs[0] == ("tensor", "key")
    panel.stage.pictures[2].hovered.emit(None)
    assert panel.stage.figures.pairs[0] == ("tensor", "key")
    assert panel.stage.figures.pairs[-1][0] == "colours end at"


def test_a_click_shows_one_alone_and_the_button_goes_back(panel_of, world, qtbot):
    panel = panel_of()
    answer(panel, world)
    assert panel.up.isHidden()
    picture = panel.stage.pictures[2]
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=picture.picture().center().toPoint())
    assert world.selection.value.parameter == f"{HEAD}.key.weight"
    assert world.selection.value.step == f"{HEAD}.k"
    panel.draw()
    answer(panel, world)
    assert panel.up.text() == "◂ head 2 of layer 1"
    assert [each.isVisible() for each in panel.stage.pictures] == [True, *[False] * 5]
    panel.up.click()
    assert world.selection.value.parameter == HEAD
    panel.draw()
    assert world.sent[-1].parameter == HEAD


def test_a_selection_without_weights_leaves_what_was_shown(panel_of, world):
    panel = panel_of(select="ln_f")
    answer(panel, world)
    world.selection.choose(step="ids")
    panel.draw()
    assert asked(world) == ["ln_f"]
    assert panel.header.sentence.whole().startswith("ln_f")


def test_what_was_shown_stays_until_the_new_weights_are_there(panel_of, world):
    panel = panel_of(select="ln_f")
    assert panel.covered == "Looking at ln_f …"
    assert panel.waiting
    answer(panel, world)
    assert panel.covered == ""
    assert not panel.waiting
    world.selection.choose(parameter="head")
    panel.draw()
    assert panel.covered == ""
    assert panel.stage.pictures[0].sheet.name == "γ, the weight"
    answer(panel, world)
    assert panel.stage.pictures[0].sheet.name == "weight"


def test_trained_weights_move_on_a_scale_that_does_not_shrink(panel_of, world):
    panel = panel_of(select="blocks.0.mlp.fc.weight")
    panel._inquiry._clock = lambda: world.now
    world.now = 1e6
    answer(panel, world, std=0.05)
    panel._inquiry._took = 0.0
    picture, limits = panel.stage.pictures[0], []
    for std in (0.19, 0.05, 0.01):
        world.now += 10
        world.subject.step()
        panel.draw()
        answer(panel, world, std=std, drawn=0.05)
        limits.append(picture.shades.limit)
    assert limits == [0.6, 0.6, 0.6]
    assert len(world.sent) == 4
    world.selection.choose(parameter="blocks.1.mlp.fc.weight")
    panel.draw()
    answer(panel, world, std=0.049)
    assert picture.shades.limit == 0.15


def test_a_bias_has_a_scale_of_its_own(panel_of, world):
    panel = panel_of(select="blocks.0.attn.proj")
    event = opened("blocks.0.attn.proj", job=world.sent[-1].job)
    panel.handle(replace(event, tensors=(weights("blocks.0.attn.proj.weight", std=0.006), event.tensors[1])))
    panel.draw()
    matrix, bias = panel.stage.pictures[:2]
    assert (matrix.shades.limit, bias.shades.limit) == (0.015, limit_of(event.tensors[1]))
    assert ("colours end at", "±0.015") in panel.stage.figures.pairs
    bias.hovered.emit((0, 0))
    assert panel.stage.histogram._shades.limit == bias.shades.limit


def test_zeros_do_not_fade_what_stands_beside_them(panel_of, world):
    panel = panel_of()
    question = world.sent[-1]
    event = opened(HEAD, job=question.job)
    zeros = np.zeros((1, 4), np.float32)
    zero = Figures(0.0, 0.0, 0.0, 0.0, 0.0, 0)
    tensors = tuple(
        each
        if len(each.picture.shape) == 2
        else replace(
            each, picture=replace(each.picture, cells=zeros), figures=zero, histogram=Histogram(-1.0, 1.0, (4,))
        )
        for each in event.tensors
    )
    panel.handle(replace(event, tensors=tensors))
    panel.draw()
    assert panel.stage.pictures[0].shades.limit < 0.2


def test_numbers_that_are_not_finite_are_named(panel_of, world):
    panel = panel_of(select="head.weight")
    event = opened("head.weight", job=world.sent[-1].job)
    figures = replace(event.tensors[0].figures, not_finite=3)
    panel.handle(replace(event, tensors=(replace(event.tensors[0], figures=figures),)))
    panel.draw()
    assert ("not finite", "3") in panel.stage.figures.pairs
    assert "not finite" in panel.stage.histogram.accessibleDescription()


def test_a_failure_is_said_and_another_selection_tries_again(panel_of, world):
    panel = panel_of(select="head")
    panel.handle(Failed(job=world.sent[-1].job, message="there is no model yet", details="", expected=True))
    panel.draw()
    assert panel.covered == "There is no model yet."
    world.selection.choose(parameter="ln_f")
    panel.draw()
    answer(panel, world)
    assert panel.covered == ""


def test_a_what_if_that_can_be_built_goes_on_showing_the_built_model(panel_of, world):
    panel = panel_of(select="ln_f")
    answer(panel, world)
    world.subject.set_draft(replace(TINY, layers=1))
    panel.draw()
    assert panel.covered == ""
    assert panel.header.sentence.whole().startswith("Built model: ln_f")
    world.subject.set_draft(replace(TINY, layers=96), "it does not fit")
    panel.draw()
    assert panel.covered == "It does not fit"


def test_a02_without_layers_it_begins_with_the_token_embedding(panel_of, world):
    panel = panel_of(replace(TINY, layers=0), select="")
    assert asked(world) == ["token_embedding"]
    answer(panel, world)
    assert panel.covered == ""


def test_without_a_model_it_says_what_to_press(world, qtbot):
    panel = WeightsPanel(world.context)
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.header)
    panel.draw()
    assert "press Build" in panel.covered
    assert panel.table() == []
    panel._take(0)
    panel._go_up()
    assert world.sent == []


def test_the_table_has_every_figure_as_a_plain_number(panel_of, world):
    panel = panel_of()
    answer(panel, world)
    rows = panel.table()
    assert rows == table(panel._drawn)
    assert rows[0][:4] == ["name", "shape", "numbers", "mean"]
    assert rows[1][:3] == [f"{HEAD}.query.weight", "4 x 12", "48"]
    assert float(rows[1][4]) == pytest.approx(panel._drawn.tensors[0].figures.std, rel=1e-8)
    assert {len(row) for row in rows} == {10}


@pytest.mark.parametrize("config", [TINY, STEP5, GPT2])
@pytest.mark.parametrize("place", [HEAD, f"{HEAD}.key.weight", "blocks.0.mlp.fc", "ln_f", "position_embedding"])
@pytest.mark.parametrize("size", [(330, 420), (372, 292), (420, 330), (680, 430), (1500, 900)])
def test_everything_finds_its_place_at_every_size(panel_of, world, config, place, size):
    if config is GPT2 and place == "position_embedding":
        place = "blocks.1.attn.proj"
    panel = panel_of(config, select=place, size=size)
    answer(panel, world)
    stage = panel.stage
    seen = [picture.geometry() for picture in stage.pictures if picture.isVisible()]
    seen += [stage.histogram.geometry(), stage.figures.geometry(), stage.words.geometry()]
    for i, one in enumerate(seen):
        assert stage.rect().contains(one), one
        assert not any(one.intersects(other) for other in seen[:i])
    for picture in stage.pictures:
        if picture.isVisible():
            assert QPointF(picture.width(), picture.height()).x() >= picture.picture().right()
            assert picture.picture().bottom() <= picture.height()


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_another_theme_is_taken_over_while_shown(panel_of, world, name):
    panel = panel_of()
    answer(panel, world)
    theme.use(name, 13.0)
    panel.draw()
    assert not panel.grab().isNull()


def test_the_spread_is_marked_on_the_bars(panel_of, world):
    panel = panel_of(select=f"{HEAD}.query.weight")
    answer(panel, world, std=0.1, drawn=0.05)
    bars = panel.stage.histogram
    area, image = bars.bars(), bars.grab().toImage()
    accent = image.pixelColor(0, 0)
    found = []
    for sign in (-1, 1):
        figures = panel._drawn.tensors[0].figures
        number = figures.mean + sign * figures.std
        x = round(area.x() + area.width() * (number - bars.bins.low) / (bars.bins.high - bars.bins.low))
        found.append(image.pixelColor(QPoint(x, round(area.center().y()))))
    assert found[0] == found[1] != accent


def test_every_control_has_its_name(panel_of, world):
    panel = panel_of()
    assert panel.objectName() == "panel.weights"
    for widget in (panel.up, panel.stage.histogram, panel.stage.figures, *panel.stage.pictures):
        assert widget.objectName().startswith("weights.")
        assert widget.accessibleName()


def test_training_on_the_real_engine_is_followed_and_held_against_what_was_drawn(world, qtbot):
    from gpt_viz import resources
    from gpt_viz.engine.engine import Engine
    from gpt_viz.protocol import Build, Built, Train
    from gpt_viz.schedule import TrainingSettings

    engine = Engine()
    config = GPTConfig(block_size=8, layers=1, heads=2, width=8)

    def run(command):
        for event in engine.run(command):
            if event is not None:
                learner.handle(event)
            if isinstance(event, panel.events):
                panel.handle(event)
            if isinstance(event, Built):
                world.subject.set_built(event.model)

    learner = Learner(world.subject, world.new_job, world.send)
    panel = WeightsPanel(world.context)
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.header)
    panel._inquiry._clock = lambda: world.now
    world.now = 100.0
    run(Build(job=1, config=config, device="cpu", alphabet=tuple(resources.alphabet())))
    world.selection.choose(parameter="head.weight")

    def look():
        world.now += 10
        panel.draw()
        while world.sent:
            run(world.sent.pop())
        panel.draw()
        return dict(panel.stage.figures.pairs)

    before = look()
    assert "std as drawn" not in before
    run(Train(job=2, settings=TrainingSettings(steps=3, batch=2, rate=0.05, warmup=0), tokens=0))
    after = look()
    assert after["std"] != before["std"]
    assert after["std as drawn"] == before["std"]
    assert after["std promised"] == before["std promised"]
