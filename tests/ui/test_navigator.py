"""The diagram of the model: which stops there are, where they stand, and where they lead."""

from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.ui.steps.architecture import counterpart, floors
from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.navigator import Navigator
from gpt_viz.ui.widgets.stops import FOLDED, FRAME

STEP5, GPT2, GPT3 = (PRESETS[name].config for name in ("step5", "gpt2", "gpt3"))


def stops(config, step="", layer=0, head=0):
    return [stop for floor in floors(config, step, layer, head) for stop in floor.stops]


@pytest.fixture
def navigator(qtbot):
    def make(*asked, height=840):
        widget = Navigator()
        qtbot.addWidget(widget)
        widget.show_floors(floors(*asked))
        widget.resize(widget.sizeHint().width(), height)
        return widget

    return make


@pytest.mark.parametrize("config", [STEP5, GPT2, GPT3, GPTConfig(layers=0), GPTConfig(layers=1, heads=1)])
def test_every_stop_leads_to_a_step_that_there_is(config):
    steps = ledger.steps(config)
    for layer, head in {(0, 0), (max(config.layers - 1, 0), config.heads - 1)}:
        for stop in stops(config, "", layer, head):
            if stop.target:
                assert steps.index_of(stop.target) >= 0


@pytest.mark.parametrize("config", [STEP5, GPTConfig(layers=0), GPTConfig(layers=1, heads=1)])
def test_every_step_of_the_pass_can_be_reached_and_is_marked_when_one_stands_there(config):
    for step in ledger.steps(config):
        found = stops(config, step.name, step.layer or 0, step.head or 0)
        assert step.name in [stop.target for stop in found]
        here = [stop for stop in found if stop.here]
        assert {stop.target for stop in here} == {step.name}
        assert {stop.kind for stop in here} <= {step.kind, "attention"}


def test_96_blocks_are_one_of_96_and_two_folded_rows():
    rows = floors(GPT3, "blocks.40.attn.heads.17.A", 40, 17)
    assert [floor.stops[0].label for floor in rows if floor.style == FRAME] == ["block 40 of 96"]
    assert [floor.stops[0].label for floor in rows if floor.style == FOLDED] == ["blocks 0–39", "blocks 41–95"]
    assert [floor.stops[0].target for floor in rows if floor.style == FOLDED] == [
        "blocks.39.attn.heads.17.A",
        "blocks.41.attn.heads.17.A",
    ]
    assert "head 17 of 96" in [stop.label for stop in stops(GPT3, "", 40, 17)]
    assert len(rows) < 25


def test_few_blocks_have_a_row_each_and_few_heads_a_stop_each():
    labels = [stop.label for stop in stops(STEP5, "", 1, 2)]
    assert [label for label in labels if label.startswith("block")] == ["block 0", "block 1 of 4", "block 2", "block 3"]
    assert [label for label in labels if label.isdigit()] == ["0", "1", "2", "3"]


def test_a_folded_block_leads_to_the_same_place_in_it():
    assert counterpart(STEP5, "blocks.1.mlp.gelu", 3) == "blocks.3.mlp.gelu"
    assert counterpart(STEP5, "logits", 3) == "blocks.3.ln1"
    assert counterpart(replace(STEP5, heads=2), "blocks.0.attn.heads.3.A", 1) == "blocks.1.ln1"


@pytest.mark.parametrize("height", [500, 640, 840, 1400])
@pytest.mark.parametrize(
    "asked", [(STEP5, "logits", 1, 2), (GPT3, "blocks.95.out", 95, 0), (GPTConfig(layers=0), "ids")]
)
def test_no_two_stops_overlap_and_none_is_cut(navigator, asked, height):
    widget = navigator(*asked, height=height)
    placed = widget.placed()
    assert all(not one.rect.intersects(other.rect) for one, other in combinations(placed, 2))
    assert all(each.rect.left() >= 0 and each.rect.right() <= widget.width() for each in placed)
    if height >= widget.minimumSizeHint().height():
        assert all(each.rect.bottom() <= height for each in placed)


def test_a_click_goes_there(navigator, qtbot):
    widget = navigator(STEP5, "blocks.1.attn.heads.2.A", 1, 2)
    went = []
    widget.went.connect(went.append)
    for label in ("logits", "gelu", "block 3", "0", "embedded"):
        where = next(each for each in widget.placed() if each.stop.label == label)
        qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=where.rect.center().toPoint())
    assert went == [
        "logits", "blocks.1.mlp.gelu", "blocks.3.attn.heads.2.A", "blocks.1.attn.heads.0.A", "embedded",
    ]  # fmt: skip
    assert widget.stop_at(QPointF(-5, -5)) is None


def test_the_first_block_has_none_before_it(navigator, qtbot):
    widget = navigator(STEP5, "blocks.0.ln1", 0, 0)
    sign = next(each for each in widget.placed() if each.stop.label == "◂")
    assert widget.stop_at(sign.rect.center()) is None


def test_arrows_walk_over_the_stops_from_where_one_stands_and_enter_goes_there(navigator):
    widget = navigator(STEP5, "blocks.0.ln2", 0, 0)
    went = []
    widget.went.connect(went.append)
    QTest.keyClick(widget, Qt.Key.Key_Return)
    assert went == []
    QTest.keyClick(widget, Qt.Key.Key_Down)
    QTest.keyClick(widget, Qt.Key.Key_Down)
    QTest.keyClick(widget, Qt.Key.Key_Return)
    assert went == ["blocks.0.mlp.gelu"]


@pytest.mark.parametrize("name", list(THEMES))
def test_it_is_painted_in_every_theme_and_the_place_is_marked(navigator, name):
    theme.use(name)
    one, other = navigator(STEP5, "blocks.0.ln1", 0, 0), navigator(STEP5, "blocks.0.ln2", 0, 0)
    assert one.grab().toImage() != other.grab().toImage()
    assert one.accessibleDescription() == "at blocks.0.ln1"
