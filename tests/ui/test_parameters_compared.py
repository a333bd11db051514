# ruff: noqa: F811, F401 (a fixture of another file is used here)
"""The parameters panel held against another model, against the rule of thumb, and while sizes are dragged."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QSpinBox
from test_parameters import GPT2, GPT3, STEP5, model, panel_of, settle

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.ui.model.model_form import ModelForm
from gpt_viz.ui.parameters.dragging import followed
from gpt_viz.ui.parameters.parameter_rows import ParameterRows
from gpt_viz.ui.parameters.parameter_sums import (
    difference_sum,
    difference_words,
    heads_sum,
    heads_words,
    rule_sum,
    signed,
)
from gpt_viz.ui.parameters.parameter_view import ParameterView, heads_alone

BUILD = PRESETS["build-gpt"].config
TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)


def shown(panel, column):
    return [panel.view.line((g,)).cells[column] for g in range(panel.view.count(()))]


def column_of(panel):
    return [slot.column for slot in panel.tree.slots()]


# -- the rule of thumb ------------------------------------------------------------------------------------------------


def test_the_rule_of_thumb_stands_below_the_table_with_what_is_beyond_it(panel_of):
    panel = panel_of(STEP5)
    assert panel.sums.isVisible()
    assert panel.sums.shown() == (
        "rule of thumb 12·L·C² = 12·4·128² = 786,432 the blocks hold 791,552: 5,120 more (0.7 %)"
        " L·C = 4·128 = 512 projection biases + L·5·C = 4·5·128 = 2,560 feed-forward biases"
        " + L·4·C = 4·4·128 = 2,048 block LayerNorms"
    )
    assert panel.sums.geometry().top() > panel.totals.mapTo(panel.body, panel.totals.rect().bottomLeft()).y()
    assert panel.sums.objectName() == "parameters.sums"
    assert "786,432" in panel.sums.accessibleDescription()


def test_the_rule_follows_a_draft_at_once(panel_of, world):
    panel = panel_of(STEP5)
    world.subject.set_draft(GPT3)
    panel.draw()
    assert "12·96·12288² = 173,946,175,488 the blocks hold 173,961,510,912: 15,335,424 more" in panel.sums.shown()


def test_where_there_is_no_room_the_total_says_it_in_its_tool_tip(panel_of):
    panel = panel_of(STEP5, size=(420, 270))
    assert not panel.sums.isVisible()
    assert "12·4·128² = 786,432" in panel.totals.lines[0].note
    assert not panel.tree.paint.compact


def test_without_biases_the_blocks_are_beyond_the_rule_by_their_norms_alone():
    told = rule_sum(replace(STEP5, bias=False)).text()
    assert told.endswith("1,024 more (0.1 %) L·2·C = 4·2·128 = 1,024 block LayerNorms")


def test_a02_without_layers_there_is_no_rule(panel_of, tiny):
    assert rule_sum(replace(tiny, layers=0)) is None
    assert panel_of(replace(tiny, layers=0)).sums.sums == ()


# -- another model ----------------------------------------------------------------------------------------------------


def test_nothing_is_compared_until_it_is_asked_for(panel_of):
    panel = panel_of(STEP5, size=(1500, 900))
    assert panel.compare.objectName() == "parameters.compare"
    assert (panel.compare.choice, panel.compare.title()) == ("", "compare")
    assert set(shown(panel, 6)) == {""}
    assert 6 not in column_of(panel)


def test_the_two_presets_differ_by_8192_positions_and_65_head_biases(panel_of):
    panel = panel_of(STEP5)
    panel.compare.choose("build-gpt")
    assert panel.dirty
    settle(panel)
    assert shown(panel, 6) == ["0", "−8,192", "0", "0", "0", "0", "−65"]
    assert 6 in column_of(panel)
    total, _, other = panel.totals.lines
    assert (total.cells[4], total.cells[6]) == ("816,640", "−8,257")
    assert (other.cells[0], other.cells[4]) == ("Build the GPT", "824,897")
    assert panel.sums.shown().startswith(
        "Build the GPT has 8,257 more from block size 64 → 128, head bias off → on"
        " (128−64)·128 = 8,192 positions + 65 head biases"
        " not in the count: initialisation step5 → build-gpt, scale divide → multiply"
    )
    assert (
        panel.header.sentence.whole() == "8,257 fewer: 8,192 positions and 65 head biases, held against Build the GPT."
    )
    note = panel.view.line((1,)).note
    assert note == "positions (64−128)·128 = −8,192 (block size 128 → 64)"


def test_the_other_way_round_there_is_more_and_the_same_sum(panel_of):
    panel = panel_of(BUILD)
    panel.compare.choose("step5")
    settle(panel)
    assert shown(panel, 6) == ["0", "+8,192", "0", "0", "0", "0", "+65"]
    assert panel.sums.shown().startswith("this model has 8,257 more than Step 5 from block size 64 → 128")
    assert "(128−64)·128 = 8,192 positions + 65 head biases" in panel.sums.shown()


@pytest.mark.parametrize("by", ledger.GROUPINGS)
@pytest.mark.parametrize(
    ("this", "other"),
    [(STEP5, BUILD), (STEP5, GPT2), (TINY, STEP5), (replace(TINY, layers=0), TINY), (TINY, replace(TINY, bias=False))],
)
def test_the_differences_of_the_rows_add_up_in_every_grouping(this, other, by):
    view = ParameterView(ParameterRows(this, by), ParameterRows(other, by))
    found = [view.difference((g,)) for g in range(view.count(()))]
    assert sum(found) == ledger.total(this) - ledger.total(other)
    assert [view.line((g,)).cells[6] for g in range(view.count(()))] == [signed(each) for each in found]


def test_single_tensors_and_heads_are_held_against_those_of_the_same_name():
    view = ParameterView(
        ParameterRows(replace(STEP5, head_bias=True, layers=6), "kind"),
        ParameterRows(replace(STEP5, width=256), "kind"),
    )
    names = {view.rows.name(path): view.difference(path) for path in ((0, 0), (2, 0), (2, 0, 1), (2, 0, 1, 0))}
    assert names == {
        "token_embedding.weight": -65 * 128,
        "blocks.0.attn.heads.*": 3 * (128**2 - 256**2),
        "blocks.0.attn.heads.1": 3 * (128 * 32 - 256 * 64),
        "blocks.0.attn.heads.1.key.weight": 128 * 32 - 256 * 64,
    }
    assert view.difference((2, 5)) == 3 * 128**2  # a block that the other has not
    assert view.difference((6, 1)) == 65  # a tensor that the other has not


def test_the_built_model_can_be_compared_with_while_sizes_are_dragged(panel_of, world):
    panel = panel_of(STEP5)
    panel.compare.choose("built")
    panel.draw()
    assert set(shown(panel, 6)) == {"0"}
    assert panel.header.sentence.whole() == "As many parameters as the built model."
    world.subject.set_draft(replace(STEP5, layers=8))
    panel.draw()
    assert panel.totals.lines[0].cells[6] == "+791,552"
    assert panel.header.sentence.whole().startswith("What-if, not built: 791,552 more: 524,288 feed-forward, 196,608")
    assert panel.totals.lines[2].cells[:5] == ("the built model", "", "compared with", "", "816,640")


def test_without_a_built_model_there_is_nothing_to_compare_with(panel_of):
    panel = panel_of(STEP5, built=False)
    panel.compare.choose("built")
    panel.draw()
    assert set(shown(panel, 6)) == {""}
    assert len(panel.totals.lines) == 2


def test_what_is_open_stays_open_when_the_column_comes_and_goes(panel_of):
    panel = panel_of(STEP5)
    panel.tree.expand(panel.tree.rows.at((2,)))
    for choice in ("build-gpt", "gpt2", ""):
        panel.compare.choose(choice)
        settle(panel)
        assert panel.tree.is_open((2,))
    assert 6 not in column_of(panel)


def test_in_a_narrow_panel_the_difference_is_the_last_column_to_hide(panel_of):
    panel = panel_of(STEP5, size=(362, 270))
    panel.compare.choose("build-gpt")
    settle(panel)
    assert column_of(panel) == [0, 4, 6]
    panel.resize(420, 270)
    settle(panel)
    assert column_of(panel) == [0, 2, 4, 6]
    assert panel.totals.geometry().bottom() <= panel.body.rect().bottom()


def test_the_difference_is_copied_too(panel_of):
    panel = panel_of(STEP5)
    panel.compare.choose("build-gpt")
    panel.draw()
    table = panel.table()
    assert table[0][-1] == "differs"
    assert [row[-1] for row in table[1:]] == ["0", "-8192", "0", "0", "0", "0", "-65", "-8257"]


def test_terms_that_go_both_ways_are_said_with_their_signs():
    told = difference_sum(STEP5, replace(STEP5, tied_head=True, block_size=65), "it").text()
    assert told == (
        "this model has 8,192 more than it from block size 65 → 64, tied head on → off"
        " 65·128 = 8,320 output head − (65−64)·128 = 128 positions"
    )
    words = difference_words(STEP5, replace(STEP5, tied_head=True, block_size=65), "it")
    assert words == "8,192 more: +8,320 output head and −128 positions, held against it."


def test_models_of_as_many_parameters_are_said_to_be_so():
    assert difference_words(STEP5, replace(STEP5, heads=8), "it") == "As many parameters as it, with other heads."
    told = difference_sum(STEP5, replace(STEP5, heads=8), "it").text()
    assert told == "as many as it not in the count: heads 4 → 8"


# -- heads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [1, 2, 8, 128])
def test_g04_while_heads_are_changed_the_row_and_a_sum_say_why_the_count_stays(panel_of, world, heads):
    panel = panel_of(STEP5)
    world.subject.set_draft(replace(STEP5, heads=heads))
    panel.draw()
    row = panel.view.line((2,))
    assert row.cells[2:5] == ("L·3·C², H·D = C", "", "196,608")
    said = f"H·3·C·D = {heads}·3·128·{128 // heads} = 49,152 = 3·128² = 3·C² in each block for any H, as D = C / H"
    assert panel.sums.shown().startswith(said)
    assert f"{heads} head{'s' * (heads > 1)} of width {128 // heads}" in panel.header.sentence.whole()
    assert "3·C² = 49,152 in each block" in panel.header.sentence.whole()
    assert panel.totals.lines[0].cells[4] == "816,640"


def test_the_note_on_heads_goes_when_something_else_is_changed_or_built(panel_of, world):
    panel = panel_of(STEP5)

    def noted(draft):
        world.subject.set_draft(draft)
        panel.draw()
        return panel.view.heads

    assert not noted(replace(STEP5, layers=8))
    assert noted(replace(STEP5, layers=8, heads=8))
    assert not noted(replace(STEP5, layers=6, heads=8))
    assert noted(replace(STEP5, layers=6, heads=2))
    world.subject.set_built(model(replace(STEP5, layers=6, heads=2)))
    panel.draw()
    assert not panel.view.heads
    assert panel.view.line((2,)).cells[2] == "L·3·C²"


def test_the_note_on_heads_is_worked_out_for_any_size():
    assert heads_sum(GPT3).text().startswith("H·3·C·D = 96·3·12288·128 = 452,984,832 = 3·12288² = 3·C²")
    assert heads_words(replace(STEP5, heads=1)).startswith("1 head of width 128, as many numbers")
    assert heads_alone(STEP5, replace(STEP5, heads=8))
    assert not heads_alone(None, STEP5)
    assert not heads_alone(STEP5, STEP5)
    assert not heads_alone(STEP5, replace(STEP5, heads=3, width=129))


# -- drawing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["", "built", "gpt3"])
@pytest.mark.parametrize("size", [(420, 330), (680, 430), (420, 800), (1500, 900)])
def test_g08_no_figure_is_cut_whatever_is_compared(panel_of, choice, size):
    panel = panel_of(GPT2, size=size)
    panel.compare.choose(choice)
    settle(panel)
    slots = panel.tree.slots()
    assert slots[-1].left + slots[-1].width <= panel.tree.viewport().width()
    assert 4 in column_of(panel)
    assert not panel.pie.geometry().intersects(panel.tree.geometry())
    if panel.sums.isVisible():
        assert panel.body.rect().contains(panel.sums.geometry())


def test_dragging_sizes_resets_no_row_and_rebuilds_no_item(panel_of, world):
    panel = panel_of(STEP5)
    resets = []
    panel.tree.rows.modelReset.connect(lambda: resets.append(1))
    for width in (132, 256, 1024, 12_288):
        world.subject.set_draft(replace(STEP5, width=width))
        panel.draw()
        assert panel.view.line((2,)).cells[4] == f"{4 * 3 * width**2:,}"
        assert sum(wedge.count for wedge in panel.pie._rings[1]) == ledger.total(replace(STEP5, width=width))
    assert resets == []


@pytest.mark.parametrize(
    ("field", "moves"),
    [
        ("layers", (5, 8, 96)), ("heads", (8, 16, 32)), ("width", (132, 256, 12_288)), ("block_size", (65, 1024, 2048)),
        ("vocabulary", (66, 1000, 50_257)),
    ],
)  # fmt: skip
def test_what_the_form_holds_is_drawn_in_the_next_frame_and_asks_for_no_build(panel_of, world, qtbot, field, moves):
    panel = panel_of(STEP5)
    form = ModelForm(world.subject)
    qtbot.addWidget(form)
    form.show_config(STEP5, 1337, "cpu")
    panel.dirty = False
    for value in moves:
        form.findChild(QSpinBox, f"model.{field}").setValue(value)
        assert panel.dirty
        panel.dirty = False
        panel.draw()
        whole = ledger.total(replace(STEP5, **{field: value}))
        assert panel.totals.lines[0].cells[4] == f"{whole:,}"
        assert sum(wedge.count for wedge in panel.pie._rings[1]) == whole
        assert panel.view.heads is (field == "heads")
    assert world.sent == []


def test_the_time_to_follow_a_drag_is_measured_for_each_step_of_it(qapp):
    drafts = [replace(GPT3, layers=layers) for layers in (95, 96, 97)]
    taken = followed(drafts, "gpt2")
    assert len(taken) == 3
    assert all(0 < each < 1 for each in taken)
