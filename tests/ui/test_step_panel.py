"""The step panel on the real engine: the step is the selection's, every number leads to those that made it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import (
    Attended,
    Build,
    Built,
    Explain,
    Failed,
    Finished,
    Inspect,
    OpenStep,
    TextRefused,
    Traced,
)
from gpt_viz.ui.panels.step import Step
from gpt_viz.ui.steps.step_cursor import StepCursor
from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.shades import STRETCHED
from gpt_viz.ui.widgets.terms import IN_ORDER

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12)
ALPHABET = tuple("abcdefghij\n")
A = "blocks.1.attn.heads.2.A"
SIZES = [(420, 330), (680, 430), (400, 800), (1500, 900)]


class Live:
    """A panel on the real engine, led as the bridge and the conductor lead it."""

    def __init__(self, world, qtbot, config=TINY, text="abc\ne", size=(1500, 900), built=True):
        self.world, self.engine = world, Engine()
        world.study.set_prompt(text)
        self.panel = Step(world.context)
        for each in (self.panel, self.panel.header):
            qtbot.addWidget(each)
        self.panel.resize(*size)
        self.panel.show()
        if built:
            self.build(config)
        self.settle()

    def build(self, config, seed=1):
        self.run(Build(job=self.world.new_job(), config=config, seed=seed, alphabet=ALPHABET))
        self.read()

    def read(self):
        self.run(Inspect(job=self.world.new_job(), text=self.world.study.prompt, attention=False))

    def run(self, command):
        for event in self.engine.run(command):
            if isinstance(event, Built):
                self.world.subject.set_built(event.model)
                self.world.selection.fit(event.model.config, event.model.config.block_size)
            elif isinstance(event, Traced | Attended):
                self.world.study.saw(event.tokens)
            if isinstance(event, self.panel.events):
                self.panel.handle(event)
        self.panel.handle(Finished(job=command.job))

    def asked(self):
        self.panel.draw()
        QApplication.processEvents()
        sent, self.world.sent[:] = list(self.world.sent), []
        return sent

    def settle(self):
        """Until nothing more is asked and everything is drawn."""
        for _ in range(8):
            asked = self.asked()
            for command in asked:
                self.run(command)
            if not asked and not self.panel.waiting:
                break
        self.panel.draw()
        QApplication.processEvents()

    def at(self, step, **changes):
        self.world.selection.choose(step=step, **changes)
        self.settle()
        return self.panel

    def hurry(self):
        """From now on long enough passes between two frames for anything to be asked anew."""
        clock = itertools.count(1e9)
        for inquiry in (self.panel.opening, self.panel.explaining):
            inquiry._took_s, inquiry._asked_at = 0.0, float("-inf")
            inquiry._clock = lambda: next(clock)

    @property
    def said(self):
        return self.panel.header.sentence.whole()

    @property
    def index(self):
        return self.panel.opened.index


@pytest.fixture
def live(world, qtbot):
    return lambda *args, **changes: Live(world, qtbot, *args, **changes)


def click(picture, row, column):
    QTest.mouseClick(picture, Qt.MouseButton.LeftButton, pos=picture.cell_rect(row, column).center().toPoint())


# -- the step --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [TINY, replace(TINY, layers=0), replace(TINY, heads=1, bias=False)])
def test_every_kind_of_step_is_opened_and_its_number_is_found_as_it_is_written(live, config):
    it = live(config)
    each = {step.name.rpartition(".")[2] + str(step.head is None): step for step in ledger.steps(config)}
    for step in each.values():
        panel = it.at(step.name)
        assert panel.opened.name == step.name
        assert panel.parts.title.strong == step.name
        found = panel.opened.derivation
        assert found is not None, step.name
        assert found.agrees
        assert found.explanation.place == step.name
        assert found.explanation.index == it.index
        assert panel.parts.found.quiet.endswith("✓")
        assert it.said == found.sentence


def test_what_is_seen_of_a_step(live):
    it = live()
    panel = it.at(A)
    parts = panel.parts
    assert parts.picture.sheet.cells.shape == (5, 5)
    assert parts.title.quiet == "(B, T, T)  1 × 5 × 5"
    assert dict(parts.figures.pairs)["max"] == "1"
    assert dict(parts.figures.pairs)["dtype"] == "float32"
    assert parts.code.lines[parts.code.lit[0]].startswith("A = F.softmax(")
    assert parts.about.text().startswith("The softmax makes weights")
    assert parts.formula.lines[0].startswith("A_{i,j} = ")
    assert [stop.target for floor in parts.navigator.floors for stop in floor.stops if stop.here] == [
        "blocks.1.attn.heads.2.A",
        A,
    ]
    assert [each.sheet.name for each in panel.opened.inputs] == ["masked"]


def test_picture_and_terms_change_to_another_text_together(live):
    it = live()
    panel = it.at(A)
    it.hurry()

    def texts():
        opened = panel.opened
        labels = panel.parts.picture.sheet.cells.shape[-1]
        return opened.event.tokens.pieces, opened.derivation.tokens.pieces, labels

    before = texts()
    assert before == (tuple("abc\ne"), tuple("abc\ne"), 5)
    it.world.study.set_prompt("jihgfed")
    it.read()
    (asked,) = it.asked()
    assert isinstance(asked, OpenStep)
    it.run(asked)
    (asked,) = it.asked()
    assert isinstance(asked, Explain)
    assert asked.text == "jihgfed"
    assert texts() == before  # the tensor of the other text is here, what made its number is not
    it.run(asked)
    panel.draw()
    assert texts() == (tuple("jihgfed"), tuple("jihgfed"), 7)
    assert panel.opened.derivation.explanation.index == it.index


def test_another_text_whose_number_can_not_be_explained_is_shown_all_the_same(live):
    it = live()
    panel = it.at(A)
    it.hurry()
    it.world.study.set_prompt("jihgfed")
    it.read()
    it.run(it.asked()[0])
    (asked,) = it.asked()
    panel.handle(Failed(job=asked.job, message="no such luck", details="", expected=True))
    panel.draw()
    assert panel.opened.event.tokens.pieces == tuple("jihgfed")
    assert panel.opened.derivation is None


def test_while_a_text_streams_in_what_is_shown_goes_with_it_step_by_step(live):
    it = live()
    panel = it.at(A)
    it.hurry()
    shown = set()
    for count in range(1, 9):  # each answer finds that the text has gone on
        it.world.study.set_prompt("jihgfedc"[:count])
        it.read()
        for command in it.asked():
            it.run(command)
        opened = panel.opened
        assert opened.derivation is None or opened.derivation.tokens == opened.event.tokens
        shown.add(opened.event.tokens.pieces)
    assert len(shown) >= 4


def test_g05_the_sizes_in_the_formula_are_those_of_the_head_and_not_of_the_model(live):
    it = live()
    assert "(5 × 12) · (12 × 4) → 5 × 4" in it.at("blocks.0.attn.heads.1.q").parts.formula.lines[1]


def test_a_step_is_chosen_in_the_diagram(live, world):
    it = live()
    it.at("ids")
    it.panel.parts.navigator.went.emit("blocks.1.mlp.gelu")
    it.settle()
    assert world.selection.value.step == "blocks.1.mlp.gelu"
    assert it.panel.opened.name == "blocks.1.mlp.gelu"
    assert world.selection.value.layer == 1


def test_a_step_that_this_model_does_not_have_is_the_beginning(live, world):
    it = live()
    world.selection.choose(step="nowhere")
    it.settle()
    assert it.panel.opened.name == "ids"


def test_a_single_token_has_no_loss(live):
    it = live(text="a")
    panel = it.at("loss")
    assert panel.opened is None
    assert it.said == "A single token has no loss: nothing follows it."
    assert it.at("logits").opened.name == "logits"


# -- the number ------------------------------------------------------------------------------------------------------


def test_a_click_on_a_cell_says_where_its_number_came_from(live, world):
    it = live()
    panel = it.at("blocks.0.attn.heads.1.products")
    click(panel.parts.picture, 3, 2)
    it.settle()
    assert it.index == (0, 3, 2)
    assert (world.selection.value.query, world.selection.value.key) == (3, 2)
    assert [box for boxes in panel.opened.lit() for box in boxes] == [
        panel.opened.inputs[0].box(panel.opened.derivation.explanation.sources[0]),
        panel.opened.inputs[1].box(panel.opened.derivation.explanation.sources[1]),
    ]
    q, k = (boxes[0] for boxes in panel.opened.lit())
    assert ((q.top, q.bottom), (k.top, k.bottom)) == ((3, 4), (2, 3))
    assert len(panel.parts.terms.sums[0]) == 4


def test_arrows_and_enter_choose_a_number_without_the_mouse(live):
    it = live()
    panel = it.at("blocks.0.ln1", query=1)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(panel.parts.picture, key)
    before = it.index
    it.settle()
    assert it.index[1] == before[1] + 1


def test_where_nobody_chose_it_is_the_number_furthest_from_0_of_the_last_token(live):
    it = live()
    panel = it.at("blocks.0.ln1")
    row = panel.opened.main.sheet.cells[4]
    assert it.index == (0, 4, int(np.abs(row).argmax()))


def test_the_token_and_the_place_along_an_axis_stay_from_step_to_step(live):
    it = live()
    click(it.at("blocks.0.ln1").parts.picture, 2, 7)
    it.settle()
    for step, index in (("blocks.0.mid", (0, 2, 7)), ("ln_f", (0, 2, 7)), ("ids", (0, 2))):
        it.at(step)
        assert it.index == index
    it.at("blocks.0.attn.heads.0.q")
    assert it.index[1] == 2


def test_rows_of_keys_and_values_are_the_key(live, world):
    it = live()
    it.at("blocks.0.attn.heads.0.k", query=4, key=1)
    assert it.index[1] == 1
    click(it.panel.parts.picture, 3, 0)
    assert (world.selection.value.query, world.selection.value.key) == (4, 3)


def test_query_and_key_that_are_chosen_elsewhere_are_followed(live, world):
    it = live()
    it.at(A)
    world.selection.choose(query=3, key=1)
    it.settle()
    assert it.index == (0, 3, 1)
    assert it.panel.parts.picture._chosen == (3, 1)


def test_a_lit_cell_leads_to_its_step_and_back_again(live, world):
    it = live()
    it.at(A, query=3, key=1)
    click(it.panel.parts.inputs.pictures[0], 3, 0)
    it.settle()
    assert (world.selection.value.step, it.index) == ("blocks.1.attn.heads.2.masked", (0, 3, 0))
    assert it.panel.back.text() == "◂ A[3, 1]"
    click(it.panel.parts.inputs.pictures[0], 3, 0)
    it.settle()
    assert it.panel.opened.name == "blocks.1.attn.heads.2.scores"
    assert it.panel.back.isVisibleTo(it.panel.header)
    QTest.keyClick(it.panel.parts.picture, Qt.Key.Key_Backspace)
    it.settle()
    assert it.panel.opened.name == "blocks.1.attn.heads.2.masked"
    it.panel.back.click()
    it.settle()
    assert (it.panel.opened.name, it.index) == (A, (0, 3, 1))
    assert not it.panel.back.isVisibleTo(it.panel.header)
    it.panel.step_back()
    assert it.panel.opened.name == A


def test_one_can_follow_a_number_all_the_way_to_the_ids(live):
    it = live()
    it.at("loss")
    seen = []
    for _ in range(60):
        seen.append(it.panel.opened.name)
        if it.panel.opened.name == "ids":
            break
        place = next(i for i, each in enumerate(it.panel.opened.inputs) if not each.name.endswith((".weight", ".bias")))
        box = next(iter(it.panel.opened.lit()[place] or ()))
        click(it.panel.parts.inputs.pictures[place], box.top, box.left)
        it.settle()
        assert it.panel.opened.derivation.agrees
    assert seen[0] == "loss"
    assert seen[-1] == "ids"
    assert len(it.panel.stand.trail) == len(seen) - 1


def test_going_elsewhere_ends_the_way_back(live):
    it = live()
    it.at(A)
    click(it.panel.parts.inputs.pictures[0], 4, 0)
    it.settle()
    assert it.panel.stand.trail
    it.at("logits")
    assert it.panel.stand.trail == []
    assert not it.panel.back.isVisibleTo(it.panel.header)


def test_a_cell_of_a_parameter_leads_to_the_parameter(live, world):
    it = live()
    panel = it.at("blocks.0.attn.heads.1.q")
    click(panel.parts.inputs.pictures[1], 0, 0)
    it.settle()
    assert world.selection.value.parameter == "blocks.0.attn.heads.1.query.weight"
    assert world.selection.value.step == "blocks.0.attn.heads.1.q"
    assert "Wq is the parameter blocks.0.attn.heads.1.query.weight" in world.told[-1]


def test_a_term_that_is_pointed_at_is_marked_in_the_inputs_and_leads_there(live):
    it = live()
    panel = it.at("blocks.0.attn.heads.1.q", query=2)
    panel.parts.terms.setFocus()
    QTest.keyClick(panel.parts.terms, Qt.Key.Key_Down)
    at, number = panel.parts.terms.pointed_term
    assert panel.opened.term_marks((at, number))[0] == (2, number)
    assert panel.parts.inputs.pictures[0]._marked == (2, number)
    QTest.keyClick(panel.parts.terms, Qt.Key.Key_Return)
    it.settle()
    assert (panel.opened.name, it.index) == ("blocks.0.ln1", (0, 2, number))


def test_the_number_under_the_pointer_is_read_in_the_tensor_and_in_its_inputs(live):
    it = live()
    panel = it.at("logits", query=2)
    value = panel.parts.value
    panel.parts.picture.set_hovered((1, 4))
    cells = panel.opened.main.sheet.cells
    assert value.strong == f"logits[1, 4] = {cells[1, 4]:.4g}".replace("-", "−")
    assert value.quiet == "token 1 “b” · next “e”"
    panel.parts.inputs.pictures[1].set_hovered((4, 6))
    assert value.strong.startswith("Wu[4, 6] = ")
    assert value.quiet == "head.weight"
    panel.parts.inputs.pictures[1].set_hovered(None)
    panel.parts.picture.set_hovered(None)
    assert value.strong.startswith("logits[2, ")


def test_a04_a_large_tensor_is_shown_by_what_stands_out_and_read_exactly(live):
    config = GPTConfig(vocabulary=11, block_size=8, layers=1, heads=1, width=160)
    it = live(config)
    panel = it.at("blocks.0.mlp.expand")
    assert panel.opened.main.picture.span == (1, 2)
    click(panel.parts.picture, 2, 100)
    it.settle()
    assert it.index[2] in (200, 201)
    assert panel.opened.derivation.explanation.index == it.index
    cell = panel.opened.main.sheet.cells[2, 100]
    assert panel.opened.derivation.explanation.value == pytest.approx(float(cell))


def test_e02_numbers_that_are_not_finite_are_shown_and_said(live, world):
    it = live()
    it.at("logits")
    with np.errstate(all="ignore"):
        it.engine.model("current").model.head.weight.data[3] = float("nan")
        world.subject.step()
        it.panel.opening._asked_at = it.panel.explaining._asked_at = float("-inf")
        it.settle()
    assert it.panel.parts.picture.not_finite
    assert dict(it.panel.parts.figures.pairs)["not finite"] == "5"


# -- when it asks ----------------------------------------------------------------------------------------------------


def test_one_question_of_each_kind_is_under_way_and_the_newest_step_is_opened(live, world):
    it = live()
    it.at("ids")
    for step in ("embedded", "ln_f", "logits"):
        world.selection.choose(step=step)
        it.panel.draw()
    sent = [each for each in world.sent if isinstance(each, OpenStep)]
    assert [each.step for each in sent] == ["embedded"]
    it.settle()
    assert it.panel.opened.name == "logits"


def test_nothing_is_asked_while_it_can_not_be_seen(live, world):
    it = live()
    it.at("ids")
    it.panel.hide()
    world.selection.choose(step="logits")
    it.panel.draw()
    it.read()
    assert world.sent == []
    it.panel.show()
    assert {type(each) for each in it.asked()} == {OpenStep}


def test_another_text_is_opened_and_explained_anew(live, world):
    it = live()
    it.at(A)
    world.study.set_prompt("abcde\nf")
    it.read()
    for inquiry in (it.panel.opening, it.panel.explaining):
        inquiry._asked_at = float("-inf")
    it.settle()
    assert it.panel.opened.event.tensor.shape == (1, 7, 7)
    assert it.panel.opened.derivation.explanation.index[1] == 6


def test_the_picture_keeps_its_own_name_until_the_next_step_has_come(live, world):
    it = live()
    it.at("ids")
    world.selection.choose(step="logits")
    it.panel.draw()
    assert it.panel.parts.title.strong == "ids"
    assert it.panel.opened.derivation is not None
    it.settle()
    assert it.panel.parts.title.strong == "logits"


def test_an_answer_of_the_model_before_is_not_shown(live):
    it = live()
    it.at("logits")
    before = it.panel.opened.main.sheet.cells.copy()
    it.build(TINY, seed=2)
    it.panel.draw()
    assert it.panel.opened is None
    it.settle()
    assert not np.array_equal(it.panel.opened.main.sheet.cells, before)


def test_a_text_that_can_not_be_read_leaves_the_last_one_and_says_so(live, world):
    it = live()
    it.at("ids")
    world.study.refuse(TextRefused(job=9, unknown=((0, "é"),)))
    it.settle()
    assert it.said.startswith("The last text that could be read. ids[4] = ")


def test_a_draft_leaves_the_built_model_in_sight(live, world):
    it = live()
    it.at("embedded")
    world.subject.set_draft(replace(TINY, layers=5))
    it.settle()
    assert it.said.startswith("The built model, not the draft. embedded[")
    assert it.panel.opened is not None


def test_a_model_that_is_only_examined_has_all_that_formulas_know(live, world):
    it = live(built=False)
    assert it.panel.covered
    world.subject.set_draft(PRESETS["gpt3"].config, "it needs 700 GB")
    world.selection.choose(step="blocks.40.attn.heads.17.q")
    it.settle()
    assert it.panel.covered == ""
    assert it.said.startswith("Not run: it needs 700 GB. q: ")
    assert dict(it.panel.parts.figures.pairs)["parameters"] == "1,572,992"
    assert "(2,048 × 12,288) · (12,288 × 128)" in it.panel.parts.formula.lines[1]
    assert "block 40 of 96" in [s.label for floor in it.panel.parts.navigator.floors for s in floor.stops]
    assert world.sent == []
    assert it.panel.table() == []


# -- how it looks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("step", ["ids", "blocks.0.attn.heads.1.A", "blocks.1.ln2", "blocks.1.mlp.contract", "loss"])
def test_no_two_parts_overlap_and_none_is_cut_at_any_size(live, step, size):
    it = live(PRESETS["step5"].config, size=size)
    panel = it.at(step)
    shown = [each for each in panel.parts.all() if each.isVisible()]
    for at, one in enumerate(shown):
        assert panel.stage.rect().adjusted(0, 0, 0, 1).contains(one.geometry()), one.objectName()
        for other in shown[at + 1 :]:
            assert not one.geometry().intersects(other.geometry()), (one.objectName(), other.objectName())
    names = {each.objectName() for each in shown}
    assert {"step.picture", "step.title", "step.value"} <= names
    assert ("step.navigator" in names) == (size == (1500, 900))
    assert "step.written" in names
    for each in (panel.parts.formula, panel.parts.written):
        if each.isVisible():
            assert each.fits(each.width())
            assert each.height() >= each.needed_height(each.width()) - 1


@pytest.mark.parametrize("name", list(THEMES))
def test_e12_another_theme_is_taken_over_while_shown(live, name):
    it = live()
    panel = it.at(A)
    before = panel.grab().toImage()
    theme.use(name, 12.0)
    it.settle()
    assert panel.grab().toImage() != before


def test_colours_and_terms_can_be_shown_another_way(live):
    it = live()
    panel = it.at("blocks.0.mid")
    before = panel.parts.picture.grab().toImage()
    panel.scale.choose(STRETCHED)
    it.settle()
    assert panel.parts.picture.grab().toImage() != before
    panel = it.at("logits")
    panel.sorted.choose(IN_ORDER)
    assert [panel.parts.terms.term(row)[1] for row in range(1, 5)] == [0, 1, 2, 3]


def test_every_part_has_its_name(live):
    panel = live().panel
    assert panel.objectName() == "panel.step"
    assert (panel.needs, panel.behind) == ({"trace"}, "shapes")
    for each in (*panel.parts.all(), panel.back, panel.scale, panel.sorted, *panel.parts.inputs.pictures):
        assert each.objectName().startswith("step.")
        assert each.accessibleName()


def test_it_draws_with_little_work_for_the_presets(live, calls_in):
    it = live(PRESETS["step5"].config)
    for step in ("blocks.1.mlp.contract", A, "logits"):
        it.at(step)
        assert calls_in(it.panel.draw) < 20_000


def test_in_the_window_it_is_a_tab_behind_shapes_and_opens_what_is_chosen(window, qtbot):
    assert window.panels["step"].behind == "shapes"
    assert not window.panels["step"].in_sight()
    window.desk.fill("step")
    panel = window.panels["step"]
    window.selection.choose(step="blocks.1.attn.heads.2.A")
    qtbot.waitUntil(lambda: panel.opened is not None and panel.opened.name == A and panel.opened.derivation is not None)
    assert panel.opened.derivation.agrees
    window.desk.fill("")
    assert window.desk.tabifiedDockWidgets(window.desk.dock("step")).count(window.desk.dock("shapes")) == 1


def test_the_cursor_turns_an_index_into_a_choice_and_back(world):
    cursor = StepCursor(world.selection)
    cursor.choose("blocks.0.mlp.expand", ("B", "T", "4C"), (0, 3, 40))
    assert (world.selection.value.step, world.selection.value.query) == ("blocks.0.mlp.expand", 3)
    cursor.walk("expand[3, 40]", "loss", (), ())
    assert world.selection.value.step == "loss"
    cursor.back()
    assert (world.selection.value.step, world.selection.value.query) == ("blocks.0.mlp.expand", 3)
    cursor.back()
    assert cursor.trail == []


def test_explained_numbers_are_asked_for_with_their_whole_index(live, world):
    it = live()
    it.at(A, query=2, key=1)
    world.selection.choose(key=0)
    (asked,) = [each for each in it.asked() if isinstance(each, Explain)]
    assert (asked.step, asked.index) == (A, (0, 2, 0))
