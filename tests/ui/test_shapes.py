"""The shapes panel: sizes are those of the tensors that ran, the step is the selection's, and the line computes it."""

import math
from dataclasses import replace

import pytest
from frames import settle
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.initialise import build
from gpt_viz.engine.trace import inspect
from gpt_viz.protocol import ModelInfo, StepSeen, TextRefused, Tokens, Traced
from gpt_viz.ui.panels.shapes import Shapes
from gpt_viz.ui.steps.step_rows import StepRows
from gpt_viz.ui.steps.step_words import paragraph, step_words
from gpt_viz.ui.theme import KINDS, contrast, mono_font, theme, tokens
from gpt_viz.ui.widgets.code_strip import lit_ground

STEP5, GPT3 = PRESETS["step5"].config, PRESETS["gpt3"].config
ALPHABET = tuple("abcdefghijk")


def model(config, alphabet=ALPHABET):
    return ModelInfo(
        config=config, seed=1, device="cpu", alphabet=alphabet, tensors=(), total=1, bytes=1, elapsed_s=0.0
    )


def traced(config, text="abcde", **changes):
    """What a pass over the text would tell, without running it."""
    ids = tuple(ord(each) % config.vocabulary for each in text)
    seen = tuple(
        StepSeen(step.name, step.shape(config, len(ids)), "float32") for step in ledger.steps(config, loss=len(ids) > 1)
    )
    told = {
        "job": 1, "tokens": Tokens(ids, tuple(text)), "steps": seen, "loss": 2.345 if len(ids) > 1 else None,
        "first_bad": "", "elapsed_s": 0.001,
    }  # fmt: skip
    return Traced(**(told | changes))


def really_traced(config, text="abcde"):
    """What the engine tells of a pass that it ran."""
    ids = [ord(each) % config.vocabulary for each in text]
    found = inspect(build(config, 1), ids)
    return traced(config, text, steps=tuple(found.steps), loss=found.loss, first_bad=found.first_bad)


@pytest.fixture
def panel_of(world, qtbot):
    def make(config, event=None, *, built=True, size=(680, 430), alphabet=ALPHABET):
        panel = Shapes(world.context)
        qtbot.addWidget(panel)
        qtbot.addWidget(panel.header)
        if built:
            world.subject.set_built(model(config, alphabet))
        world.subject.set_draft(config, "" if built else "it does not fit in memory")
        if event is not None:
            panel.handle(event)
        panel.resize(*size)
        panel.show()
        settle(panel)
        return panel

    return make


def lines(rows):
    return {rows.steps[i].name: rows.line(rows.path_of(i)).cells for i in range(len(rows.steps))}


def sentence(panel):
    return panel.header.sentence.whole()


# -- the rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [STEP5, GPTConfig(layers=0), GPTConfig(layers=1, heads=1), GPTConfig(layers=3)])
def test_the_tree_holds_each_step_once_and_in_order(config):
    rows = StepRows(config, 5, None)

    def leaves(path=()):
        for i in range(rows.count(path)):
            below = (*path, i)
            if rows.count(below):
                yield from leaves(below)
            else:
                yield below

    found = list(leaves())
    assert found == [rows.path_of(i) for i in range(len(rows.steps))]
    assert [rows.index_of(path) for path in found] == list(range(len(rows.steps)))


def test_a_blocks_and_a_heads_row_are_no_steps():
    rows = StepRows(STEP5, 5, None)
    assert rows.index_of((4,)) is None
    assert rows.index_of((4, 1)) is None
    assert rows.line((5,)).cells[0] == "block 1"
    assert rows.line((5, 3)).cells == ("head 2", "(B, T, D)", "1 × 5 × 32", "", "blocks.1.attn.heads.2")


def test_74_599_steps_are_found_by_arithmetic():
    rows = StepRows(GPT3, 2048, None)
    assert len(rows.steps) == 74_599
    for index in (0, 4, 5, 12, 777, 40_000, 74_595, 74_596, 74_598):
        assert rows.index_of(rows.path_of(index)) == index
    assert rows.line(rows.path_of(rows.steps.index_of("blocks.95.attn.heads.95.A"))).cells[2] == "1 × 2048 × 2048"


def test_sizes_that_ran_are_shown_even_where_the_letters_say_others():
    event = traced(STEP5)
    steps = list(event.steps)
    steps[7] = replace(steps[7], shape=(1, 5, 33))
    rows = StepRows(STEP5, 5, tuple(steps))
    wrong, right = rows.line(rows.path_of(7)), rows.line(rows.path_of(8))
    assert (wrong.cells[2], wrong.wrong) == ("1 × 5 × 33 ≠ 1 × 5 × 32", True)
    assert "the tensor that ran is 1 × 5 × 33" in wrong.note
    assert (right.cells[2], right.wrong) == ("1 × 5 × 5", False)


def test_a_step_that_did_not_run_is_marked():
    rows = StepRows(STEP5, 5, traced(STEP5).steps[:20])
    line = rows.line(rows.path_of(20))
    assert (line.cells[2], line.wrong) == ("not run", True)


# -- the panel --------------------------------------------------------------------------------------------------------


def test_g05_every_size_is_that_of_the_tensor_that_ran(panel_of, tiny):
    event = really_traced(tiny)
    shown = lines(panel_of(tiny, event).rows)
    assert {seen.name: " × ".join(map(str, seen.shape)) or "one number" for seen in event.steps} == {
        name: cells[2] for name, cells in shown.items()
    }
    expected = {
        "embedded": ("(B, T, C)", "1 × 5 × 12"),
        "blocks.0.attn.heads.1.q": ("(B, T, D)", "1 × 5 × 4"),
        "blocks.0.attn.heads.1.scores": ("(B, T, T)", "1 × 5 × 5"),
        "blocks.0.attn.heads.1.A": ("(B, T, T)", "1 × 5 × 5"),
        "blocks.1.attn.heads.2.out": ("(B, T, D)", "1 × 5 × 4"),
        "blocks.1.attn.concat": ("(B, T, C)", "1 × 5 × 12"),
        "blocks.1.mlp.expand": ("(B, T, 4C)", "1 × 5 × 48"),
        "blocks.1.mlp.contract": ("(B, T, C)", "1 × 5 × 12"),
        "logits": ("(B, T, V)", "1 × 5 × 11"),
        "loss": ("()", "one number"),
    }
    assert {name: shown[name][1:3] for name in expected} == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"layers": 0}, {"heads": 1}, {"heads": 12}, {"vocabulary": 1}, {"dropout": 1.0}, {"bias": False},
        {"scale": "multiply", "head_bias": True, "tied_head": False},
    ],
)  # fmt: skip
def test_a02_a05_g07_every_step_of_every_model_runs_and_agrees_with_its_letters(panel_of, tiny, changes):
    config = replace(tiny, **changes)
    rows = panel_of(config, really_traced(config)).rows
    assert len(rows.seen) == len(rows.steps) == 7 + config.layers * (9 + 8 * config.heads)
    assert all(rows.agrees(i) for i in range(len(rows.steps)))
    assert not any(rows.line(rows.path_of(i)).wrong for i in range(len(rows.steps)))


def test_the_step_is_the_selections_and_can_be_walked(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    assert panel.transport.position() == "– / 171"
    panel.next_step()
    assert world.selection.value.step == "ids"
    panel.previous_step()
    assert world.selection.value.step == "ids"
    panel.last_step()
    assert world.selection.value.step == "loss"
    panel.next_step()
    assert world.selection.value.step == "loss"
    panel.previous_step()
    assert world.selection.value.step == "logits"
    panel.draw()
    assert panel.transport.position() == "170 / 171"
    panel.first_step()
    panel.draw()
    assert panel.transport.position() == "1 / 171"


def test_a_head_chosen_elsewhere_opens_its_block_and_is_brought_into_sight(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(layer=3, head=2)
    settle(panel)
    assert panel.tree.current() == (7, 3, 6)
    assert panel.tree.is_open((7, 3))
    assert panel.tree.viewport().rect().contains(panel.tree.visualRect(panel.tree.currentIndex()).center())
    assert panel.transport.position() == "151 / 171"
    assert sentence(panel) == "A: how much each position takes from each earlier one."


def test_a_row_chosen_here_is_the_step_everywhere(panel_of, world, qtbot):
    panel = panel_of(STEP5, traced(STEP5))
    where = panel.tree.visualRect(panel.tree.rows.at((3,))).center()
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert world.selection.value.step == "embedded"
    qtbot.keyClick(panel.tree, Qt.Key.Key_PageDown)
    assert world.selection.value.step == "blocks.0.ln1"
    qtbot.keyClick(panel.tree, Qt.Key.Key_PageUp)
    assert world.selection.value.step == "embedded"


def test_a_click_on_a_blocks_row_opens_it_and_moves_no_cursor(panel_of, world, qtbot):
    panel = panel_of(STEP5, traced(STEP5))
    where = panel.tree.visualRect(panel.tree.rows.at((4,))).center()
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert panel.tree.is_open((4,))
    assert world.selection.value.step == ""
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert not panel.tree.is_open((4,))


def test_playing_walks_to_the_end_and_stops_there(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(step="ln_f")
    panel.toggle_play()
    assert (world.selection.value.step, panel.walk.playing) == ("logits", True)
    panel.walk.timer.timeout.emit()
    assert (world.selection.value.step, panel.walk.playing) == ("loss", False)
    panel.toggle_play()  # at the end it begins again
    assert (world.selection.value.step, panel.walk.playing) == ("ids", True)
    panel.draw()
    assert panel.transport.buttons["play"].accessibleName() == "Pause"
    panel.toggle_play()
    assert (world.selection.value.step, panel.walk.playing) == ("ids", False)


@pytest.mark.parametrize(
    "move",
    [
        lambda panel, world: panel.next_step(),
        lambda panel, world: panel.first_step(),
        lambda panel, world: world.selection.choose(layer=2, head=1),
        lambda panel, world: panel.hide(),
    ],
)
def test_playing_ends_when_someone_moves_or_hides(panel_of, world, move):
    panel = panel_of(STEP5, traced(STEP5))
    panel.toggle_play()
    panel.walk.timer.timeout.emit()
    assert panel.walk.playing
    move(panel, world)
    assert not panel.walk.playing


def test_playing_takes_no_focus(panel_of, world, qtbot):
    panel = panel_of(STEP5, traced(STEP5))
    panel.transport.buttons["play"].setFocus()
    focused = QApplication.focusWidget()
    panel.toggle_play()
    for _ in range(3):
        panel.walk.timer.timeout.emit()
        settle(panel)
    assert QApplication.focusWidget() is focused


def test_the_buttons_walk_and_carry_their_names(panel_of, world, qtbot):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(step="embedded")
    panel.draw()
    for name, step in (("next", "blocks.0.ln1"), ("previous", "embedded"), ("last", "loss"), ("first", "ids")):
        button = panel.transport.buttons[name]
        assert button.objectName() == f"shapes.{name}"
        assert button.accessibleName()
        assert button.toolTip()
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert world.selection.value.step == step
        panel.draw()
    assert not panel.transport.buttons["first"].isEnabled()
    qtbot.mouseClick(panel.transport.buttons["play"], Qt.MouseButton.LeftButton)
    assert panel.walk.playing


def test_the_line_that_computes_the_step_is_lit_between_its_neighbours(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(step="blocks.0.attn.heads.1.A")
    panel.draw()
    assert panel.code.lines[panel.code.lit[0]].startswith("A = F.softmax(")
    assert len(panel.code.lines) == 3
    assert panel.code.where.startswith("engine/model.py, line ")


def test_a_lit_line_is_broken_and_never_cut_where_room_is_short(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(step="blocks.0.attn.heads.1.scores")
    settle(panel)
    whole = panel.code.lines[panel.code.lit[0]].partition("  #")[0]
    assert [code for code, _, lit in panel.code.rows() if lit] == [whole]
    panel.resize(320, 430)
    settle(panel)
    rows = panel.code.rows()
    pieces = [code for code, _, lit in rows if lit]
    assert len(pieces) > 1
    assert "".join(pieces).replace(" ", "") == whole.replace(" ", "")
    room = panel.code.width() - 24
    assert all(QFontMetrics(mono_font(0.9)).horizontalAdvance(piece) <= room for piece in pieces)
    assert panel.code.height() >= panel.code.sizeHint().height()


def test_a_large_panel_explains_the_step_with_this_models_numbers(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5), size=(680, 760))
    world.selection.choose(step="blocks.0.out")
    panel.draw()
    assert "5 tokens of 128 numbers" in panel.explanation.text()
    assert panel.explanation.isVisible()
    height = panel.tree.height()
    world.selection.choose(step="loss")
    settle(panel)
    assert "loses ln 65" in panel.explanation.text()
    assert panel.tree.height() == height
    panel.resize(680, 430)
    assert not panel.explanation.isVisible()


def test_every_step_has_a_label_and_a_paragraph():
    for step in ledger.steps(STEP5):
        last = step.name.rpartition(".")[2]
        assert step_words(step, None).startswith(f"{last}: ")
        assert "{" not in paragraph(step, STEP5, 5)
        assert len(paragraph(step, STEP5, 5)) > 100


def test_the_loss_of_the_text_stands_beside_the_code(panel_of):
    panel = panel_of(replace(STEP5, vocabulary=65), traced(STEP5, "a" * 32, loss=4.2134))
    assert panel.loss.text() == "loss 4.21 nats per token over 31 next characters (ln 65 = 4.17)"
    assert panel.loss.isVisible()


@pytest.mark.parametrize(
    ("text", "alphabet", "said"),
    [
        ("ab", ALPHABET, "over 1 next character (ln 11 = 2.40)"),
        ("abc", None, "over 2 next tokens (ln 11 = 2.40)"),
        ("a", ALPHABET, "loss: it takes at least two tokens"),
    ],
)
def test_the_loss_is_said_of_any_number_of_tokens(panel_of, tiny, text, alphabet, said):
    panel = panel_of(tiny, really_traced(tiny, text), alphabet=alphabet)
    assert panel.loss.accessibleDescription().endswith(said)


def test_a_narrow_panel_says_the_loss_in_fewer_words(panel_of):
    panel = panel_of(STEP5, traced(STEP5, "a" * 32), size=(300, 330))
    assert panel.loss.text() == "loss 2.35 nats per token (ln 65 = 4.17)"
    assert "over 31 next characters" in panel.loss.toolTip()


def test_a_single_token_has_no_loss_step(panel_of, tiny):
    panel = panel_of(tiny, really_traced(tiny, "a"))
    assert panel.rows.steps[-1].name == "logits"
    panel.last_step()
    panel.draw()
    assert panel.transport.position() == f"{6 + 2 * 33} / {6 + 2 * 33}"


def test_a05_one_token_of_vocabulary_has_a_loss_of_zero(panel_of, tiny):
    config = replace(tiny, vocabulary=1)
    panel = panel_of(config, really_traced(config, "aaa"), alphabet=("a",))
    assert panel.loss.accessibleDescription() == "loss 0.00 nats per token over 2 next characters (ln 1 = 0.00)"


def test_a_model_that_is_only_examined_has_sizes_for_a_full_context(panel_of, world):
    panel = panel_of(GPT3, built=False)
    assert sentence(panel) == "Not run: sizes for a full context of 2,048 tokens."
    world.selection.choose(step="blocks.40.attn.heads.3.scores")
    settle(panel)
    assert panel.rows.line(panel.tree.current()).cells[2] == "1 × 2048 × 2048"
    assert panel.transport.position() == "31,114 / 74,599"
    assert not panel.loss.isVisible()


def test_a_built_model_that_has_not_run_says_so(panel_of):
    assert sentence(panel_of(STEP5)) == "Not run yet: sizes for a full context of 64 tokens."


def test_a_draft_that_can_be_built_leaves_the_built_model_in_sight(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(step="embedded")
    world.subject.set_draft(replace(STEP5, layers=8))
    panel.draw()
    assert len(panel.rows.steps) == 171
    assert sentence(panel).startswith("The built model, not the draft. embedded: ")


def test_a_trace_of_the_model_before_is_not_shown_for_the_one_after(panel_of, world, tiny):
    panel = panel_of(STEP5, traced(STEP5))
    world.subject.set_built(model(tiny))
    world.subject.set_draft(tiny)
    panel.draw()
    assert sentence(panel) == "Not run yet: sizes for a full context of 8 tokens."
    assert lines(panel.rows)["embedded"][2] == "1 × 8 × 12"
    panel.handle(really_traced(tiny))
    panel.draw()
    assert lines(panel.rows)["embedded"][2] == "1 × 5 × 12"


def test_a_trace_of_the_other_slot_is_none_of_ours(panel_of):
    panel = panel_of(STEP5, traced(STEP5, "ab", slot="other"))
    assert sentence(panel).startswith("Not run yet")


def test_numbers_that_are_no_longer_finite_are_said_to_begin_somewhere(panel_of):
    panel = panel_of(STEP5, traced(STEP5, first_bad="blocks.1.mid", loss=math.nan))
    assert sentence(panel) == "From blocks.1.mid on, numbers are no longer finite."
    assert "loss nan nats" in panel.loss.text()


def test_a_text_that_cannot_be_read_leaves_the_last_one_and_says_so(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.study.refuse(TextRefused(job=2, unknown=((0, "é"),)))
    panel.draw()
    assert sentence(panel) == "The last text that could be read."
    assert lines(panel.rows)["ids"][2] == "1 × 5"


def test_e07_tokens_are_shown_plainly(panel_of, world):
    text = "<b>&\n\t x"
    panel = panel_of(STEP5, traced(STEP5, text))
    world.selection.choose(step="ids")
    panel.draw()
    assert sentence(panel).startswith("ids: the text as numbers, one for each token: < is 60, b is 33, > is 62, …")
    note = panel.rows.line((0,)).note
    assert note == "ids: < 60, b 33, > 62, & 38, ↵ 10, ⇥ 9, ␣ 32, x 55"
    tip = panel.tree.tip(panel.tree.rows.at((0,)))
    assert "&lt; 60, b 33, &gt; 62, &amp; 38" in tip


def test_a_longer_text_is_put_into_the_same_rows(panel_of, world):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(layer=1, head=1)
    settle(panel)
    resets, before = [], panel.tree.verticalScrollBar().value()
    panel.tree.rows.modelReset.connect(lambda: resets.append(1))
    for text in ("abcdef", "abcdefg"):
        panel.handle(traced(STEP5, text))
        assert panel.dirty
        panel.draw()
    assert lines(panel.rows)["blocks.1.attn.heads.1.A"][2] == "1 × 7 × 7"
    assert (resets, panel.tree.current()) == ([], (5, 2, 6))
    assert panel.tree.verticalScrollBar().value() == before


def test_without_any_model_the_panel_says_what_to_press(world, qtbot):
    panel = Shapes(world.context)
    qtbot.addWidget(panel)
    panel.draw()
    assert "press Build" in panel.covered
    assert panel.table() == []
    panel.next_step()
    panel.toggle_play()
    assert (world.selection.value.step, panel.walk.playing) == ("", False)


def test_the_steps_are_copied_as_a_table(panel_of, tiny):
    table = panel_of(tiny, really_traced(tiny)).table()
    assert table[0] == ["step", "symbols", "sizes", "formula", "module"]
    assert len(table) == 1 + 73
    assert table[1][:3] == ["ids", "(B, T)", "1 × 5"]
    assert table[6] == ["blocks.0.attn.heads.0.q", "(B, T, D)", "1 × 5 × 4", "x·Wq + bq", "blocks.0.attn.heads.0.query"]


def test_a_very_long_pass_is_copied_by_its_first_block(panel_of):
    table = panel_of(GPT3, built=False).table()
    assert len(table) == 1 + 4 + 777 + 1 + 3
    assert table[-4][:2] == ["blocks.1 to blocks.95", "as blocks.0"]
    assert table[-1][0] == "loss"


@pytest.mark.parametrize("size", [(420, 330), (680, 430), (1500, 900)])
@pytest.mark.parametrize("config", [STEP5, GPTConfig(layers=0), GPT3])
def test_nothing_is_cut_at_any_size(panel_of, world, config, size):
    panel = panel_of(config, None if config is GPT3 else traced(config), built=config is not GPT3, size=size)
    world.selection.choose(step="logits")
    settle(panel)
    last = panel.tree.slots()[-1]
    assert last.left + last.width <= panel.tree.viewport().width()
    assert 2 in [slot.column for slot in panel.tree.slots()]
    assert not panel.tree.geometry().intersects(panel.code.geometry())
    assert panel.body.rect().contains(panel.code.geometry())


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_another_theme_is_taken_over_while_shown(panel_of, world, name):
    panel = panel_of(STEP5, traced(STEP5))
    world.selection.choose(step="blocks.0.mlp.gelu")
    theme.use(name, 12.0)
    settle(panel)
    assert not panel.grab().isNull()


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_lit_line_can_be_read(qapp, name, kind):
    theme.use(name)
    assert contrast(tokens().text, lit_ground(kind).name()) >= 4.5


def test_every_part_has_its_name(panel_of):
    panel = panel_of(STEP5, traced(STEP5))
    assert panel.objectName() == "panel.shapes"
    assert panel.needs == {"trace"}
    for widget in (panel.tree, panel.code, panel.loss):
        assert widget.objectName().startswith("shapes.")
        assert widget.accessibleName()


def test_the_mouse_over_a_row_shows_nothing_but_a_hint_of_it(panel_of, qtbot):
    panel = panel_of(STEP5, traced(STEP5))
    qtbot.mouseMove(panel.tree.viewport(), QPoint(60, 10))
    assert not panel.grab().isNull()
