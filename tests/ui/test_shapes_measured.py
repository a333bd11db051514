"""The shape table with what was measured, the calls of torch below each step, the slider and the speed."""

import numpy as np
import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.initialise import build
from gpt_viz.engine.stepstats import measure
from gpt_viz.engine.trace import inspect
from gpt_viz.protocol import Build, Finished, Inspect, MeasureSteps, StepsMeasured, Tokens
from gpt_viz.ui.panels.shapes import Shapes
from gpt_viz.ui.steps.measured_rows import MEASURED, MeasuredRows
from gpt_viz.ui.steps.step_rows import TITLES
from gpt_viz.ui.steps.walk import BEAT
from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.pass_slider import PassSlider

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12)
IDS = [1, 2, 3, 4, 5]
ALPHABET = tuple("abcdefghijk")


@pytest.fixture(scope="module")
def ran():
    model = build(TINY, 1)
    return inspect(model, IDS), measure(model, IDS)


def rows(ran, **changes):
    seen, measured = ran
    return MeasuredRows(TINY, len(IDS), tuple(seen.steps), **({"measured": measured, "figures": True} | changes))


def cells(rows, place):
    index = rows.steps.index_of(place)
    return dict(zip((*TITLES, *MEASURED), rows.line(rows.path_of(index)).cells, strict=True))


class Stage:
    """The panel led as the bridge leads it; `answer` lets the engine answer what was asked."""

    def __init__(self, world, qtbot, size):
        self.world, self.engine = world, FakeEngine()
        world.study.set_prompt("abcd")
        self.panel = Shapes(world.context)
        for each in (self.panel, self.panel.header):
            qtbot.addWidget(each)
        self.panel.resize(*size)
        self.panel.show()
        for event in (*self.engine.run(Build(job=1, config=TINY, alphabet=ALPHABET)), *self.inspected(2)):
            self.tell(event)
        self.settle()

    def inspected(self, job):
        return self.engine.run(Inspect(job=job, text=self.world.study.prompt, attention=False))

    def tell(self, event):
        name = type(event).__name__
        if name == "Built":
            self.world.subject.set_built(event.model)
        if name == "Traced":
            self.world.study.saw(event.tokens)
        if isinstance(event, self.panel.events):
            self.panel.handle(event)

    def settle(self):
        for _ in range(3):
            self.panel.draw()
            QApplication.processEvents()

    def answer(self):
        asked, self.world.sent[:] = list(self.world.sent), []
        for command in asked:
            for event in self.engine.run(command):
                self.tell(event)
            self.tell(Finished(job=command.job))
        self.settle()
        return asked


@pytest.fixture
def stage(world, qtbot):
    return lambda size=(1500, 900): Stage(world, qtbot, size)


# -- the rows --------------------------------------------------------------------------------------------------------


def test_the_figures_are_those_of_the_tensors_that_ran(ran):
    found = rows(ran)
    expand = cells(found, "blocks.0.mlp.expand")
    assert (expand["dtype"], expand["bytes"], expand["parameters"]) == ("float32", "960 B", "624")
    assert expand["mult-adds"] == "2.88 k"
    step = ran[1][found.steps.index_of("blocks.0.mlp.expand")]
    assert float(expand["norm"]) == pytest.approx(step.figures.norm, rel=5e-3)
    assert expand["time"].endswith("s")
    ids = cells(found, "ids")
    assert (ids["dtype"], ids["bytes"], ids["parameters"], ids["min"], ids["max"]) == ("int64", "40 B", "", "1", "5")


def test_what_formulas_know_is_there_before_anything_was_measured(ran):
    built = cells(rows(ran, measured=()), "blocks.0.mlp.expand")
    assert (built["parameters"], built["mult-adds"], built["bytes"], built["mean"]) == ("624", "2.88 k", "", "")
    unbuilt = MeasuredRows(PRESETS["gpt3"].config, 2048, None, figures=True)
    assert cells(unbuilt, "blocks.95.mlp.expand")["parameters"] == "604,028,928"
    assert cells(unbuilt, "blocks.95.mlp.expand")["bytes"] == "403 MB"
    assert unbuilt.line((20,)).cells[len(TITLES) + 2] == "1,812,099,072"


def test_a_blocks_row_and_a_heads_row_add_up_what_is_in_them(ran):
    found = rows(ran)
    block, head = found.line((4,)).cells, found.line((4, 2)).cells
    per_block = sum(tensor.count for tensor in ledger.tensors(TINY) if tensor.name.startswith("blocks.0."))
    assert block[len(TITLES) + 2] == f"{per_block:,}"
    assert head[len(TITLES) + 2] == str(3 * 12 * 4)
    assert block[len(TITLES) + 4].endswith("s")


def test_below_each_step_stand_the_calls_of_torch_that_made_it(ran):
    found = rows(ran)

    def calls(place):
        path = found.path_of(found.steps.index_of(place))
        return [found.line((*path, k)).cells[0] for k in range(found.count(path))]

    assert calls("ids") == []
    assert calls("position_embedding") == ["arange", "embedding"]
    assert calls("blocks.1.attn.heads.0.products") == ["transpose", "matmul"]
    assert calls("blocks.0.attn.heads.0.masked") == ["ones", "triu", "masked_fill"]
    assert calls("blocks.1.attn.concat") == ["cat"]
    assert calls("loss")[-1] == "cross_entropy"
    path = found.path_of(found.steps.index_of("blocks.1.attn.heads.0.products"))
    view, product = found.line((*path, 0)), found.line((*path, 1))
    assert (view.cells[2], view.cells[3], view.cells[4]) == ("1 × 4 × 5", "of 1 × 5 × 4", "view")
    assert product.cells[3] == "of 1 × 5 × 4, 1 × 4 × 5"
    assert "torch’s matmul(1 × 5 × 4, 1 × 4 × 5)" in product.note
    assert found.count((*path, 0)) == 0


def test_a_call_belongs_to_its_step_and_is_none_itself(ran):
    found = rows(ran)
    for place in ("embedded", "blocks.0.ln1", "blocks.1.attn.heads.2.A", "blocks.1.out", "logits"):
        path = found.path_of(found.steps.index_of(place))
        assert found.is_step(path)
        assert found.index_of((*path, 0)) == found.steps.index_of(place)
        assert not found.is_step((*path, 0))
    assert not found.is_step((4,))
    assert not found.is_step((4, 1))


def test_a_step_can_be_opened_before_it_was_measured(ran):
    found = rows(ran, measured=())
    assert found.count((1,)) == 1
    assert found.line((1, 0)).cells[0] == "not measured yet"
    assert found.count((0,)) == 0
    assert MeasuredRows(TINY, 5, None).count((1,)) == 0


def test_g07_the_steps_are_the_same_whether_measured_or_not(ran):
    plain, measured = rows(ran, measured=(), figures=False), rows(ran)
    assert [step.name for step in ran[1]] == [step.name for step in measured.steps]
    assert [plain.path_of(i) for i in range(len(plain.steps))] == [measured.path_of(i) for i in range(len(plain.steps))]
    assert all(not measured.line(measured.path_of(i)).wrong for i in range(len(measured.steps)))


# -- the panel -------------------------------------------------------------------------------------------------------


def test_a_wide_panel_has_them_measured_and_a_narrow_one_does_not(stage):
    wide = stage((1500, 900))
    asked = wide.answer()
    assert [type(each) for each in asked] == [MeasureSteps]
    columns = [slot.column for slot in wide.panel.tree.slots()]
    assert len(columns) == len(TITLES) + len(MEASURED)
    narrow = stage((680, 430))
    assert narrow.answer() == []
    assert max(slot.column for slot in narrow.panel.tree.slots()) < len(TITLES)


def test_a_narrow_panel_is_as_before_also_after_it_was_wide(stage):
    it = stage((1500, 900))
    it.answer()
    it.panel.resize(680, 430)
    it.settle()
    assert max(slot.column for slot in it.panel.tree.slots()) < len(TITLES)
    assert len(it.panel.table()[0]) == len(TITLES)


def test_the_columns_go_one_by_one_as_room_gets_short(stage):
    it = stage((1500, 900))
    it.answer()
    counts = []
    for width in (1500, 1300, 1150, 1000, 900):
        it.panel.resize(width, 700)
        it.settle()
        slots = it.panel.tree.slots()
        counts.append(len(slots))
        assert slots[-1].left + slots[-1].width <= it.panel.tree.viewport().width()
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 15
    assert counts[-1] <= 5


def test_a_step_that_is_opened_in_a_narrow_panel_is_measured_then(stage, qtbot):
    it = stage((680, 430))
    it.panel.tree.expand(it.panel.tree.rows.at((1,)))
    it.settle()
    assert [type(each) for each in it.answer()] == [MeasureSteps]
    assert it.panel.rows.line((1, 0)).cells[0] == "made"
    assert it.panel.tree.is_open((1,))


def test_a_click_on_a_step_opens_nothing_and_the_keys_do(stage, world, qtbot):
    it = stage((680, 430))
    tree = it.panel.tree
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(tree.rows.at((3,))).center())
    assert (world.selection.value.step, tree.is_open((3,))) == ("embedded", False)
    qtbot.keyClick(tree, Qt.Key.Key_Right)
    assert tree.is_open((3,))
    it.settle()
    it.answer()
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    it.settle()
    assert (tree.current(), world.selection.value.step) == ((3, 0), "embedded")
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    assert tree.current() == (4,)


def test_figures_of_a_text_that_goes_on_stay_until_the_new_ones_come(stage):
    it = stage((1500, 900))
    it.answer()
    it.world.study.set_prompt("abcdef")
    for event in it.inspected(7):
        it.tell(event)
    it.settle()
    assert it.panel.rows.line((1,)).cells[2] == "1 × 6 × 12"
    assert it.panel.rows.line((1,)).cells[len(TITLES)] == "float32"


def test_what_was_measured_of_the_model_before_is_not_shown(stage):
    it = stage((1500, 900))
    it.answer()
    for event in (*it.engine.run(Build(job=5, config=TINY, alphabet=ALPHABET)), *it.inspected(6)):
        it.tell(event)
    it.settle()
    assert it.panel.rows.line((1,)).cells[len(TITLES)] == ""


def test_nothing_is_measured_while_nobody_looks(stage):
    it = stage((1500, 900))
    it.world.sent.clear()
    it.panel.hide()
    it.world.study.set_prompt("abcde")
    for event in it.inspected(8):
        it.tell(event)
    assert it.world.sent == []


def test_what_was_measured_is_copied_with_the_table(stage):
    it = stage((1500, 900))
    it.answer()
    table = it.panel.table()
    assert table[0] == [*TITLES, *MEASURED]
    assert {len(row) for row in table} == {15}
    assert table[2][5:8] == ["float32", "192 B", "132"]


def test_draw_takes_little_work(stage, calls_in):
    it = stage((1500, 900))
    it.answer()
    assert calls_in(it.panel.draw) < 20_000


# -- slider and speed ------------------------------------------------------------------------------------------------


def test_the_slider_stands_where_one_stands_and_moves_there(stage, world):
    it = stage((680, 430))
    slider = it.panel.slider
    assert slider.objectName() == "shapes.slider"
    assert slider.maximum() == len(it.panel.rows.steps) - 1
    world.selection.choose(step="logits")
    it.settle()
    assert slider.value() == it.panel.rows.steps.index_of("logits")
    slider.moved.emit(3)
    assert world.selection.value.step == "embedded"


def test_the_slider_is_dragged_with_the_mouse_and_moved_with_keys(qtbot):
    slider = PassSlider()
    qtbot.addWidget(slider)
    slider.resize(210, 20)
    slider.show_steps(100, lambda at: "attention" if at % 2 else "residual", "one")
    slider.stand(0)
    moved = []
    slider.moved.connect(moved.append)
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(105, 10))
    assert moved == [50]
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert moved == [50, 51]
    slider.stand(7)
    assert moved == [50, 51]


@pytest.mark.parametrize("name", list(THEMES))
def test_the_slider_shows_the_kinds_in_every_theme_for_any_number_of_steps(qtbot, name):
    theme.use(name)
    slider = PassSlider()
    qtbot.addWidget(slider)
    slider.resize(300, 20)
    kinds = ["token embedding", "attention", "output head"]
    for count in (1, 3, 74_599):
        slider.show_steps(count, lambda at: kinds[at % 3], count)
        image = slider.grab().toImage()
        assert len({image.pixelColor(x, 10).name() for x in range(20, 290)}) >= min(count, 3)


def test_the_speed_of_playing_can_be_chosen(stage, world):
    it = stage((680, 430))
    assert it.panel.walk.timer.interval() == BEAT
    it.panel.speed.choose("4")
    assert it.panel.walk.timer.interval() == BEAT // 4
    it.panel.speed.choose("0.5")
    assert it.panel.walk.timer.interval() == 2 * BEAT
    it.panel.toggle_play()
    it.panel.speed.choose("8")
    assert (it.panel.walk.playing, it.panel.walk.timer.interval()) == (True, round(BEAT / 8))


def test_a_small_panel_leaves_the_room_to_the_table(stage):
    assert not stage((420, 330)).panel.way.isVisible()
    assert stage((680, 430)).panel.way.isVisible()


def test_the_steps_can_be_walked_through_while_the_table_is_not_shown(stage, world):
    it = stage((680, 430))
    it.panel.hide()
    config = GPTConfig(vocabulary=11, block_size=8, layers=3, heads=3, width=12)
    for event in (*it.engine.run(Build(job=5, config=config, alphabet=ALPHABET)), *it.inspected(6)):
        it.tell(event)
    world.selection.choose(step="blocks.2.out")
    it.panel.next_step()
    assert world.selection.value.step == "ln_f"


def test_numbers_that_are_not_there_are_dashes():
    from gpt_viz.measures import Figures, StepMeasure

    odd = StepMeasure("ids", (1, 5), "int64", "cpu", 40, Figures(None, None, None, None, None, 5), 0, 0, None, ())
    found = MeasuredRows(TINY, 5, (), measured=(odd,), figures=True)
    assert found.line((0,)).cells[len(TITLES) :] == ("int64", "40 B", "", "", "–", "–", "–", "–", "–", "–")
    assert np.isfinite(len(found.steps))


def test_a_measurement_says_which_tokens_it_is_of():
    event = StepsMeasured(job=1, tokens=Tokens((0,), ("a",)), steps=())
    assert event.tokens.pieces == ("a",)
