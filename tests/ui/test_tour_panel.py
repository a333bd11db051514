"""The tour: every line can be reached and is explained, a line leads to its step, and a step to its line."""

from dataclasses import replace
from pathlib import Path

import pytest
from frames import settle
from PySide6.QtCore import QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QWidget

from gpt_viz import ledger, tour
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.protocol import OTHER, ModelInfo, Tokens, Traced
from gpt_viz.tour import STOPS
from gpt_viz.ui.panels.tour import Tour
from gpt_viz.ui.theme import THEMES, contrast, theme, tokens
from gpt_viz.ui.tour.tour_links import line_of, links
from gpt_viz.ui.widgets.code_colours import COMMENT, DEFINED, KEYWORD, PLAIN, ROLES, VALUE, colour, coloured
from gpt_viz.ui.widgets.code_layout import CodeRow, pieces
from gpt_viz.ui.widgets.code_view import CodeView
from gpt_viz.ui.widgets.prose import CODE, LINK, TEXT, TITLE, Part, Prose
from gpt_viz.ui.widgets.stop_list import StopList

STEP5 = PRESETS["step5"].config
NAMES = [stop.name for stop in STOPS]
HEAD, GPT = NAMES.index("Head"), NAMES.index("GPT")


def model(config):
    return ModelInfo(config=config, seed=1, device="cpu", alphabet=None, tensors=(), total=1, bytes=1, elapsed_s=0.0)


def traced(ids=(0, 1, 2, 3, 4), loss=2.25, **changes):
    told = {"job": 1, "tokens": Tokens(tuple(ids), tuple(map(str, ids))), "steps": (), "loss": loss, "first_bad": ""}
    return Traced(elapsed_s=0.001, **(told | changes))


@pytest.fixture
def panel_of(world, qtbot):
    def make(config=STEP5, event=None, size=(680, 430)):
        panel = Tour(world.context)
        qtbot.addWidget(panel)
        qtbot.addWidget(panel.header)
        world.subject.set_built(model(config))
        world.subject.set_draft(config)
        if event is not None:
            panel.handle(event)
        panel.resize(*size)
        panel.show()
        settle(panel)
        return panel

    return make


@pytest.fixture
def panel(panel_of):
    return panel_of(event=traced())


def press(widget, key, modifiers=Qt.KeyboardModifier.NoModifier):
    event = QKeyEvent(QKeyEvent.Type.KeyPress, key, modifiers)
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def said(panel):
    return panel.text.toPlainText()


def line(stop, start):
    """The number of the line of a stop that begins so."""
    return next(i for i, each in enumerate(tour.chapter(STOPS[stop]).lines) if each.code.startswith(start))


def line_number(start):
    """Where a line that begins so stands in the model's file, counted from 1."""
    source = (Path(tour.__file__).parent / tour.MODEL).read_text(encoding="utf-8").splitlines()
    return next(number for number, text in enumerate(source, 1) if text.startswith(start))


def click(panel, qtbot, number):
    row = next(i for i, row in enumerate(panel.code.rows) if row.unit == number)
    qtbot.mouseClick(panel.code.viewport(), Qt.MouseButton.LeftButton, pos=panel.code.row_rect(row).center().toPoint())
    panel.draw()


# --- where one stands ------------------------------------------------------------------------------------------------


def test_it_begins_at_the_first_stop_whatever_is_selected(world, panel_of):
    world.selection.choose(layer=1, head=2)
    panel = panel_of()
    assert (panel.stop, panel.line) == (0, None)
    assert panel.header.sentence.whole() == "model.py: from ids to scores."
    assert "816,640 parameters in all" in said(panel)
    assert panel.transport.position() == "1 / 8"


def test_every_line_is_reached_by_one_key_and_is_explained(panel):
    seen = []
    for _ in range(400):
        if panel.line is not None:
            each = tour.chapter(STOPS[panel.stop]).lines[panel.line]
            seen.append((panel.stop, panel.line))
            assert each.code in said(panel).replace("\u00a0", " ")
            assert "{" not in said(panel)
            assert panel.code.unit == panel.line
        before = (panel.stop, panel.line)
        press(panel.code, Qt.Key.Key_Down)
        panel.draw()
        if (panel.stop, panel.line) == before:
            break
    assert seen == [(stop, i) for stop in range(8) for i in range(len(tour.chapter(STOPS[stop]).lines))]
    for _ in range(400):
        press(panel.code, Qt.Key.Key_Up)
    assert (panel.stop, panel.line) == (0, None)


def test_left_and_right_and_the_buttons_go_from_class_to_class(panel, qtbot):
    press(panel.code, Qt.Key.Key_Left)
    assert panel.stop == 0
    press(panel.code, Qt.Key.Key_Right)
    panel.draw()
    assert (panel.stop, panel.transport.position()) == (1, "2 / 8")
    assert panel.code.accessibleName() == "Source of GPTConfig"
    for name, expected in (("tour.next", 2), ("tour.next", 3), ("tour.previous", 2)):
        button = panel.header.findChild(QWidget, name)
        assert button.isVisibleTo(panel.header)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        panel.draw()
        assert panel.stop == expected
    panel.go_to(7)
    panel.draw()
    assert not panel.header.findChild(QWidget, "tour.next").isEnabled()
    for wrong in (8, -1):
        panel.go_to(wrong)
    panel.go_to(7, 99)
    assert (panel.stop, panel.line) == (7, None)


def test_a_stop_that_is_chosen_shows_its_class(panel, qtbot):
    panel.go_to(HEAD, 3)
    panel.draw()
    spot = panel.stops.spots()[HEAD]
    qtbot.mouseClick(panel.stops, Qt.MouseButton.LeftButton, pos=spot.center().toPoint())
    panel.draw()
    assert (panel.stop, panel.line) == (HEAD, None)
    assert said(panel).startswith("Head: one pattern of attention")


def test_keys_without_a_use_here_are_left_to_the_window(panel):
    for key in (Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_Period, Qt.Key.Key_Escape):
        assert not press(panel.code, key)
    assert not press(panel.code, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert press(panel.code, Qt.Key.Key_Down)


# --- a line and its step ---------------------------------------------------------------------------------------------


def test_a_click_on_a_line_chooses_its_step_at_the_current_head(panel, qtbot, world):
    world.selection.choose(layer=2, head=3)
    panel.draw()
    for start, step in (("products", "blocks.2.attn.heads.3.products"), ("v = ", "blocks.2.attn.heads.3.v")):
        click(panel, qtbot, line(HEAD, start))
        assert world.selection.value.step == step
        assert (panel.stop, panel.line) == (HEAD, line(HEAD, start))
    panel.go_to(NAMES.index("Block"), line(NAMES.index("Block"), "mid"))
    press(panel.code, Qt.Key.Key_Return)
    assert world.selection.value.step == "blocks.2.mid"


def test_a_line_that_makes_weights_leads_to_them(panel, world):
    world.selection.choose(layer=1, head=2)
    panel.draw()
    panel.go_to(HEAD, line(HEAD, "self.query"))
    panel.draw()
    assert "Show the weights blocks.1.attn.heads.2.query: (D, C) = 32 × 128" in said(panel)
    panel.text.followed.emit("")
    assert world.selection.value.parameter == "blocks.1.attn.heads.2.query"
    assert world.selection.value.step == "blocks.1.attn.heads.2.A"
    panel.draw()
    assert panel.line == line(HEAD, "self.query")


def test_a_line_that_computes_nothing_leaves_the_selection(panel, qtbot, world):
    before = world.selection.value
    panel.go_to(HEAD)
    panel.draw()
    click(panel, qtbot, line(HEAD, "super()"))
    assert panel.line == line(HEAD, "super()")
    assert world.selection.value == before
    panel.go_to(HEAD)
    press(panel.code, Qt.Key.Key_Enter)
    assert world.selection.value == before


def test_the_link_says_the_sizes_and_goes_to_the_step(panel, world):
    panel.go_to(HEAD, line(HEAD, "A = F.softmax"))
    panel.draw()
    assert "Go to the step blocks.0.attn.heads.0.A: (B, T, T) = 1 × 5 × 5" in said(panel)
    panel.text.anchorClicked.emit(QUrl("blocks.0.attn.heads.0.A"))
    assert world.selection.value.step == "blocks.0.attn.heads.0.A"
    world.selection.choose(layer=3, head=1)
    panel.draw()
    assert "Go to the step blocks.3.attn.heads.1.A" in said(panel)


def test_a_step_that_is_chosen_elsewhere_shows_its_line(panel, world):
    config = GPTConfig(layers=2, heads=2, width=8)
    for step in ledger.steps(config):
        world.selection.choose(step=step.name)
        panel.draw()
        owner, code = STOPS[panel.stop].part, tour.chapter(STOPS[panel.stop]).lines[panel.line].code
        variable = step.name.rpartition(".")[2]
        assert code.startswith((f"{variable} = ", f"{variable}: Tensor = ")) or step.name == "ids"
        assert owner == ("Head" if step.head is not None else owner)
        assert links(tour.chapter(STOPS[panel.stop]))[panel.line].at(world.selection.value) == step.name
    assert NAMES[line_of("loss")[0]] == "GPT"
    assert line_of("nothing.at.all") is None


def test_from_every_marked_line_and_back(panel, world):
    world.selection.choose(layer=1, head=3)
    for stop in range(len(STOPS)):
        for number, link in links(tour.chapter(STOPS[stop])).items():
            if link.weights:
                continue
            panel.go_to(stop, number)
            panel.open_step()
            step = world.selection.value.step
            assert step == link.at(world.selection.value)
            world.selection.choose(step="ids" if step != "ids" else "loss")
            panel.draw()
            world.selection.choose(step=step)
            panel.draw()
            assert (panel.stop, panel.line) == (stop, number)


def test_another_query_or_parameter_does_not_move_the_tour(panel, world):
    panel.go_to(NAMES.index("generate"), 3)
    world.selection.choose(query=3, key=1)
    world.selection.choose(parameter="ln_f")
    panel.draw()
    assert (panel.stop, panel.line) == (NAMES.index("generate"), 3)


def test_marks_have_the_colour_of_their_kind(panel):
    panel.go_to(GPT)
    panel.draw()
    marks = {row.text.split("#")[0].strip(): (row.mark, row.hollow) for row in panel.code.rows if row.mark}
    assert marks["ln_f = self.ln_f(x)"] == ("LayerNorm", False)
    assert marks["embedded: Tensor = token_embedding + position_embedding"] == ("residual", False)
    assert marks["self.head = nn.Linear(config.width, config.vocabulary, bias=config.head_bias)"] == (
        "output head",
        True,
    )
    assert {mark for mark, _ in marks.values()} <= set(tokens().kinds)


def test_a02_without_blocks_a_line_in_them_leads_nowhere(panel_of, world):
    panel = panel_of(GPTConfig(layers=0))
    panel.go_to(HEAD, line(HEAD, "q = "))
    panel.draw()
    assert "This model has no blocks" in said(panel)
    panel.open_step()
    assert world.selection.value.step == ""
    panel.go_to(GPT, line(GPT, "ln_f = "))
    panel.open_step()
    assert world.selection.value.step == "ln_f"


def test_a_text_of_one_token_has_no_loss_to_go_to(panel_of, world):
    panel = panel_of(event=traced((7,), None))
    panel.go_to(GPT, line(GPT, "loss"))
    panel.draw()
    assert "A text of a single token has no loss." in said(panel)
    panel.open_step()
    assert world.selection.value.step == ""


def test_the_selection_stands_in_the_built_model_and_not_in_the_draft(panel_of, world):
    panel = panel_of(GPTConfig(layers=1))
    world.subject.set_draft(GPTConfig(layers=6))
    world.selection.choose(layer=4, head=0)
    panel.go_to(HEAD, line(HEAD, "q = "))
    panel._followed = world.selection.value.step
    panel.draw()
    assert "This model has no blocks.4.attn.heads.0.q" in said(panel)


# --- the numbers -----------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_last_pass(panel):
    panel.go_to(GPT, line(GPT, "loss"))
    panel.draw()
    assert "ln V = 4.17. The text under study: 2.25 nats per token." in said(panel)
    panel.handle(traced(range(32), 4.0))
    panel.handle(traced(range(9), 1.0, slot=OTHER))
    panel.go_to(GPT, line(GPT, "x = self.embed"))
    panel.draw()
    assert "here 32 tokens of 128 numbers each" in said(panel)


def test_a_draft_shows_its_own_numbers_and_says_so(panel, world):
    panel.go_to(GPT, line(GPT, "x = self.embed"))
    world.subject.set_draft(replace(STEP5, width=256, block_size=16))
    panel.draw()
    assert "here 16 tokens of 256 numbers each" in said(panel)
    assert "with the numbers of the draft" in panel.header.sentence.whole()
    world.subject.set_draft(STEP5)
    panel.draw()
    assert "here 5 tokens of 128 numbers each" in said(panel)


def test_without_a_model_or_a_source_it_says_why(world, qtbot, monkeypatch):
    panel = Tour(world.context)
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.header)
    panel.draw()
    assert panel.covered == "No model yet: press Build."
    assert panel.table() == []
    world.subject.set_draft(PRESETS["gpt3"].config)

    def gone(stop):
        raise LookupError(f"{stop.file} is not there as text")

    monkeypatch.setattr(tour, "chapter", gone)
    panel.draw()
    assert panel.covered == "The tour reads the program's own source, and engine/model.py is not there as text."
    monkeypatch.undo()
    panel.draw()
    assert panel.covered == ""
    assert "174,604,259,328 parameters in all" in said(panel)


def test_the_table_holds_every_line(panel):
    rows = panel.table()
    assert rows[0] == ["class", "line", "code", "explanation"]
    assert len(rows) == 1 + len(STOPS) + sum(len(tour.chapter(stop).lines) for stop in STOPS)
    assert [row[2] for row in rows if row[0] == "Block"][-1] == "return out"
    assert next(row[1] for row in rows if row[2] == "class GPT(nn.Module):") == str(line_number("class GPT"))


# --- how it lies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "upright", "beside"), [((1500, 900), 1, 1), ((900, 500), 0, 1), ((420, 330), 0, 0)])
def test_it_uses_the_room_there_is(panel_of, size, upright, beside):
    panel = panel_of(size=size)
    panel.go_to(HEAD, line(HEAD, "masked"))
    settle(panel)
    assert panel.stops.upright == bool(upright)
    code, text = panel.code.geometry(), panel.text.geometry()
    assert (code.right() < text.left()) == bool(beside)
    assert (code.bottom() < text.top()) != bool(beside)
    assert code.width() > text.width() * 1.2 if beside else code.width() == text.width()
    row = next(i for i, each in enumerate(panel.code.rows) if each.unit == panel.line)
    rect = panel.code.row_rect(row)
    assert rect.top() >= 0
    assert rect.bottom() <= panel.code.viewport().height()


def test_where_room_is_short_the_line_comes_before_the_class(panel_of):
    panel = panel_of(size=(420, 330))
    panel.go_to(HEAD)
    settle(panel)
    assert said(panel).startswith("Head: one pattern of attention")
    panel.go_to(HEAD, line(HEAD, "masked"))
    settle(panel)
    assert said(panel).lstrip().startswith("masked = ")
    panel.resize(1500, 900)
    settle(panel)
    assert said(panel).startswith("Head: one pattern of attention")
    assert "masked = " in said(panel)


def test_it_is_a_tab_behind_others_and_the_four_main_panels_stay_in_sight(fake):
    dock = fake.desk.dock("tour")
    assert fake.desk.tabifiedDockWidgets(dock)
    for name in ("parameters", "shapes", "attention", "sampling"):
        assert not fake.panels[name].visibleRegion().isEmpty()
    assert fake.panels["tour"].visibleRegion().isEmpty()
    dock.raise_()
    QApplication.processEvents()
    assert not fake.panels["tour"].visibleRegion().isEmpty()


# --- its widgets -----------------------------------------------------------------------------------------------------


def test_code_is_coloured_by_what_it_is():
    def parts(*lines):
        return [
            [(text[s.start : s.end], s.role) for s in spans] for text, spans in zip(lines, coloured(lines), strict=True)
        ]

    assert parts("def go(self) -> None:  # why") == [
        [("def", KEYWORD), (" ", PLAIN), ("go", DEFINED), ("(self) -> ", PLAIN), ("None", VALUE), (":  ", PLAIN),
         ("# why", COMMENT)]
    ]  # fmt: skip
    assert parts('x = "if # 1" if y else -1e5') == [
        [("x = ", PLAIN), ('"if # 1"', VALUE), (" ", PLAIN), ("if", KEYWORD), (" y ", PLAIN), ("else", KEYWORD),
         (" -", PLAIN), ("1e5", VALUE)]
    ]  # fmt: skip
    assert parts('    """One', "", 'if."""', "@property")[1:] == [[], [('if."""', COMMENT)], [("@property", KEYWORD)]]
    assert parts('"""Whole."""  # then') == [[('"""Whole."""', COMMENT), ("  ", PLAIN), ("# then", COMMENT)]]


@pytest.mark.parametrize("stop", range(len(STOPS)))
def test_the_spans_hold_every_character_once(stop):
    rows = [row.text for row in tour.chapter(STOPS[stop]).rows]
    for text, spans in zip(rows, coloured(rows), strict=True):
        assert "".join(text[span.start : span.end] for span in spans) == text
        assert all(span.role in ROLES for span in spans)


@pytest.mark.parametrize("name", THEMES)
def test_every_role_can_be_read_on_what_it_stands_on(qapp, name):
    theme.use(name)
    for role in ROLES:
        for ground in (tokens().field, tokens().selected):
            assert contrast(colour(role).name(), ground) >= 4.5, (role, ground)


@pytest.mark.parametrize("columns", [12, 30, 52, 80])
def test_a_long_line_goes_on_below_and_loses_nothing(columns):
    for stop in STOPS:
        for row in tour.chapter(stop).rows:
            found = pieces(row.text, columns, 4)
            assert "".join(row.text[start:end] for start, end, _ in found).replace(" ", "") == row.text.replace(" ", "")
            assert all(end - start + indent <= columns for start, end, indent in found)
    assert pieces("    q = self.query(x)  # (B, T, D)", 24, 4) == [(0, 21, 0), (23, 34, 8)]


def test_a_row_without_a_unit_belongs_to_the_one_before(qtbot):
    view = CodeView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show_rows((CodeRow(1, '"""Says."""'), CodeRow(2, "a = 1", 0), CodeRow(3, ""), CodeRow(4, "b = 2", 1)))
    view.show()
    assert [view.unit_at(view.row_rect(i).center().y()) for i in range(4)] == [None, 0, 0, 1]
    assert view.unit_at(190) is None
    assert view.unit_at(-5) is None
    view.choose(1)
    assert view.accessibleDescription() == "b = 2"


def test_a_row_of_stops_that_is_too_short_shows_the_neighbours_of_the_current_one(qtbot):
    stops = StopList()
    qtbot.addWidget(stops)
    stops.show_stops(tuple(NAMES), ("note",) * 8)
    chosen = []
    stops.chosen.connect(chosen.append)
    stops.resize(380, 24)
    for current in range(8):
        stops.choose(current)
        spots = stops.spots()
        assert current in spots
        assert list(spots) == list(range(min(spots), max(spots) + 1))
        assert all(spot.left() >= 0 and spot.right() <= 380 for spot in spots.values())
    stops.choose(4)
    spots = stops.spots()
    for x, to in ((4, min(spots) - 1), (spots[max(spots)].right() + 8, max(spots) + 1)):
        qtbot.mouseClick(stops, Qt.MouseButton.LeftButton, pos=QPointF(x, 12).toPoint())
        assert chosen[-1] == to
    for key, to in ((Qt.Key.Key_Right, 5), (Qt.Key.Key_Up, 3)):
        press(stops, key)
        assert chosen[-1] == to
    assert not press(stops, Qt.Key.Key_Space)
    stops.resize(900, 24)
    assert len(stops.spots()) == 8
    stops.stand_upright(True)
    assert stops.sizeHint().height() > 8 * 24
    stops.resize(stops.sizeHint())
    assert len(stops.spots()) == 8


def test_prose_is_plain_text_but_for_code_and_links(qtbot):
    prose = Prose()
    qtbot.addWidget(prose)
    prose.resize(400, 300)
    prose.show_parts(
        [Part(TITLE, "<b>T</b>"), Part(TEXT, "a < b & `x < y`\n\nmore"), Part(LINK, "go `there`", "to&fro")]
    )
    assert prose.toPlainText() == "<b>T</b>\na < b & x < y\nmore\ngo there"
    assert 'href="to&amp;fro"' in prose.toHtml()
    followed = []
    prose.followed.connect(followed.append)
    prose.anchorClicked.emit(QUrl("to&fro"))
    assert followed == ["to&fro"]


def test_prose_stays_where_it_was_read_while_only_its_numbers_change(qtbot):
    prose = Prose()
    qtbot.addWidget(prose)
    prose.resize(QSize(240, 90))
    prose.show()
    prose.show_parts([Part(CODE, "x = 1"), Part(TEXT, "one two three " * 60)], "first")
    bar = prose.verticalScrollBar()
    assert bar.maximum() > 60
    bar.setValue(50)
    prose.show_parts([Part(CODE, "x = 1"), Part(TEXT, "one two four " * 60)], "first")
    assert bar.value() == 50
    prose.show_parts([Part(CODE, "y = 1"), Part(TEXT, "one two four " * 60)], "second")
    assert bar.value() == 0
    assert prose.textCursor().movePosition(QTextCursor.MoveOperation.End)
