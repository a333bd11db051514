"""What every panel does, whichever panels there are: one suite that each of them passes."""

import gc
import itertools

import pytest
from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from gpt_viz import protocol
from gpt_viz.config import GPTConfig
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import CURRENT, Attended, Build, Built, Distribution, Drawn, Inspect, Predict, Sample, Traced
from gpt_viz.runner import Runner
from gpt_viz.ui.panel import Panel, find_panels
from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.manners import named

CONFIG = GPTConfig(vocabulary=5, block_size=8, layers=2, heads=3, width=12)
ALPHABET = tuple("abc\n<")
TEXT = "ab\n<c"
SIZES = ((372, 292), (660, 460), (1500, 900))
KINDS = find_panels()
every_panel = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def answers(engine, command):
    """All that the worker would say about a command, its end and its failure too."""
    told = []
    runner = Runner(engine, told.append)
    runner.submit(command)
    while runner.advance():
        pass
    return told


@pytest.fixture(scope="module")
def story():
    """What the engine says about a small model, as it says it: each kind of event, in order."""
    engine = Engine()
    told = answers(engine, Build(job=1, config=CONFIG, alphabet=ALPHABET))
    told += answers(engine, Inspect(job=2, text=TEXT))
    told += answers(engine, Predict(job=3, text=TEXT))
    told += answers(engine, Sample(job=4, text=TEXT, tokens=2))
    return told


class Stage:
    """A panel alone, led as the bridge and the conductor lead it."""

    def __init__(self, kind, world, qtbot, size=(660, 460)):
        self.world = world
        self.engine = Engine()
        world.selection.choose(layer=0, head=0)
        self.panel = kind(world.context)
        qtbot.addWidget(self.panel)
        qtbot.addWidget(self.panel.header)
        self.panel.resize(*size)
        self.panel.show()

    def tell(self, event):
        if isinstance(event, Built) and event.slot == CURRENT:
            answers(self.engine, Build(job=0, config=event.model.config, alphabet=event.model.alphabet))
            self.world.subject.set_built(event.model)
            self.world.selection.fit(event.model.config, event.model.config.block_size)
        if isinstance(event, (Traced, Attended)) and event.slot == CURRENT:
            self.world.study.saw(event.tokens)
        if isinstance(event, self.panel.events):
            self.panel.handle(event)

    def draw(self):
        """One frame; what the panel asks for by itself is answered, and drawn in the next one."""
        self.panel.dirty = False
        self.panel.draw()
        asked, self.world.sent[:] = list(self.world.sent), []
        for command in asked if self.world.subject.built else ():
            for event in answers(self.engine, command):
                self.tell(event)
        if asked:
            self.panel.draw()

    def picture(self) -> QImage:
        return self.panel.grab().toImage()


@pytest.fixture
def stage(world, qtbot):
    world.study.set_prompt(TEXT)
    return lambda kind, size=(660, 460): Stage(kind, world, qtbot, size)


def test_the_four_panels_of_the_first_start_are_found_in_their_order():
    names = [kind.name for kind in KINDS]
    assert names[:4] == ["parameters", "shapes", "attention", "sampling"]
    assert len(set(names)) == len(names)
    assert len({kind.order for kind in KINDS}) == len(KINDS)


@every_panel
def test_it_says_what_it_is(kind, stage):
    assert issubclass(kind, Panel)
    assert kind.name.isidentifier()
    assert kind.title
    assert all(issubclass(event, protocol.Event) for event in kind.events)
    assert kind.needs <= {"trace", "attention"}
    panel = stage(kind).panel
    assert panel.objectName() == f"panel.{kind.name}"
    assert panel.accessibleName() == kind.title
    assert panel.header.title.text() == kind.title


@every_panel
def test_every_control_has_a_name_for_code_and_one_for_readers(kind, stage):
    it = stage(kind)
    controls = (QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit)
    for root in (it.panel, it.panel.header):
        for each in root.findChildren(QWidget):
            inner = each.objectName().startswith("qt_") or isinstance(each.parent(), (QAbstractSpinBox, QComboBox))
            if isinstance(each, controls) and not inner and "Scroll" not in type(each).__name__:
                assert each.objectName(), f"{type(each).__name__} {each.accessibleName()}"
                assert each.accessibleName(), each.objectName()


@every_panel
def test_with_nothing_at_all_it_draws_and_says_what_to_press(kind, stage):
    it = stage(kind)
    it.draw()
    assert it.panel.covered == it.world.subject.missing == "No model yet: press Build."
    rows = it.panel.table()
    if kind.name == "checks":  # which there are is known before any model
        assert {row[2] for row in rows[1:]} == {"not tried yet"}
    elif kind.name == "training":  # and so is with which settings it would be
        assert rows[0] == ["setting", "value"]
    else:
        assert len(rows) <= 1, "no more than captions"


@every_panel
def test_it_draws_after_every_event_in_every_order(kind, stage, story):
    newest = {type(event): event for event in story}
    kinds = [each for each in newest if each in (Built, Traced, Attended, Distribution, Drawn)]
    for order in itertools.permutations(kinds, 2):
        it = stage(kind)
        for each in order:
            it.tell(newest[each])
            it.draw()


@every_panel
def test_with_everything_told_it_is_filled_and_says_a_sentence(kind, stage, story):
    it = stage(kind)
    for event in story:
        it.tell(event)
        it.draw()
    assert it.panel.covered == ""
    assert it.panel.header.sentence.whole()
    rows = it.panel.table()
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    assert all(isinstance(cell, str) for row in rows for cell in row)


@every_panel
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_it_draws_at_every_size_in_every_theme(kind, stage, story, size):
    it = stage(kind, size)
    for event in story:
        it.tell(event)
    pictures = []
    for name in THEMES:
        theme.use(name)
        it.draw()
        pictures.append(it.picture())
    theme.use("light")
    assert all(one != other for one, other in itertools.combinations(pictures, 2))


class Resizes(QObject):
    """Counts how often anything in a panel is resized."""

    count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.Resize
        return False


@every_panel
@pytest.mark.parametrize("points", [10.0, 14.0])
def test_at_every_size_it_comes_to_rest(kind, stage, story, points):
    theme.use("light", points)
    it = stage(kind)
    for event in story:
        it.tell(event)
    it.draw()
    resizes = Resizes()
    for each in (it.panel, *it.panel.findChildren(QWidget)):
        each.installEventFilter(resizes)
    for width, height in ((484, 282), (372, 292), (320, 180), (900, 240), (300, 800)):
        it.panel.resize(width, height)
        it.draw()
        for _ in range(20):
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
        resizes.count = 0
        for _ in range(20):
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
        assert resizes.count == 0, (width, height)


@every_panel
def test_a02_without_layers_it_draws_and_with_layers_again_too(kind, stage, story):
    it = stage(kind)
    for event in story:
        it.tell(event)
    it.draw()
    engine = Engine()
    for config in (GPTConfig(vocabulary=5, block_size=8, layers=0, heads=3, width=12), CONFIG):
        for event in answers(engine, Build(job=11, config=config, alphabet=ALPHABET)):
            it.tell(event)
        for event in answers(engine, Inspect(job=12, text=TEXT, attention=config.layers > 0)):
            it.tell(event)
        it.draw()
    assert it.panel.covered == ""


@every_panel
def test_a_model_that_only_is_examined_is_shown_or_said_why_not(kind, stage, story):
    it = stage(kind)
    for event in story:
        it.tell(event)
    huge = GPTConfig(vocabulary=50_257, block_size=2048, layers=96, heads=96, width=12_288)
    it.world.subject.set_draft(huge, "it needs 1.5 TB and cpu has 16 GB")
    it.draw()
    assert it.panel.covered in ("", "It needs 1.5 TB and cpu has 16 GB")
    it.world.subject.set_draft(None)
    it.draw()
    assert it.panel.covered == ""


@every_panel
def test_every_selection_can_be_drawn(kind, stage, story):
    it = stage(kind)
    for event in story:
        it.tell(event)
    choose = it.world.selection.choose
    for step in ("ids", "embedded", "blocks.1.attn.heads.2.A", "blocks.0.mlp.gelu", "ln_f", "loss"):
        choose(step=step)
        it.draw()
    for changes in ({"layer": 1, "head": 2}, {"query": 4, "key": 0}, {"query": None, "key": None}):
        choose(**changes)
        it.draw()


@every_panel
def test_e07_whatever_is_said_of_a_model_or_a_text_is_shown_as_plain_text(kind, stage, story):
    it = stage(kind)

    def labels():
        return {each: each.text() for root in (it.panel, it.panel.header) for each in root.findChildren(QLabel)}

    fixed = labels()  # the program's own words
    it.draw()
    for event in story:
        it.tell(event)
    it.draw()
    said = {label: text for label, text in labels().items() if text and text != fixed.get(label)}
    assert said
    for label, text in said.items():
        assert label.textFormat() == Qt.TextFormat.PlainText, (label.objectName(), text)


@every_panel
def test_e09_redrawing_makes_no_more_objects(kind, stage, story, world):
    it = stage(kind)

    def round_of():
        for event in story:
            it.tell(event)
            it.draw()
        world.selection.choose(layer=1, head=1)
        it.draw()
        world.selection.choose(layer=0, head=0)
        it.draw()
        it.panel.grab()

    def count():
        gc.collect()
        return len(it.panel.findChildren(QObject)), len(it.panel.header.findChildren(QObject)), scene_items(it.panel)

    for _ in range(3):
        round_of()
    before = count()
    for _ in range(20):
        round_of()
    assert count() == before


def scene_items(panel):
    return sum(len(scene.items()) for view in panel.findChildren(QWidget) if (scene := scene_of(view)) is not None)


def scene_of(view):
    scene = getattr(view, "scene", None)
    return scene() if callable(scene) else None


@every_panel
def test_a_hidden_panel_that_is_shown_again_asks_to_be_drawn(kind, stage):
    it = stage(kind)
    it.draw()
    it.panel.hide()
    shown = []
    it.panel.shown.connect(lambda: shown.append(1))
    it.panel.show()
    assert it.panel.dirty
    assert shown == [1]


# --- what the shell adds to each -----------------------------------------------------------------------------------


def test_a_panel_that_breaks_at_once_leaves_the_others_and_is_said(open_window, fake_engine, monkeypatch):
    import gpt_viz.ui.panel as module

    class Broken(Panel):
        name, title, order = "broken", "Broken", 99

        def __init__(self, context):
            raise ZeroDivisionError("at once")

    monkeypatch.setattr(module, "find_panels", lambda *_: [*KINDS, Broken])
    window = open_window(make_engine=fake_engine)
    assert list(window.panels) == [kind.name for kind in KINDS]
    assert "at once" in window.messages.strip.text()


def test_a_file_that_can_not_be_loaded_is_reported_and_left_out(monkeypatch):
    import importlib

    from gpt_viz.ui.panels import shapes

    load = importlib.import_module

    def broken(name):
        if name == shapes.__name__:
            raise SyntaxError("half a file")
        return load(name)

    monkeypatch.setattr(importlib, "import_module", broken)
    told = []
    assert [kind.name for kind in find_panels(told.append)] == [kind.name for kind in KINDS if kind.name != "shapes"]
    assert [str(error) for error in told] == ["half a file"]
    with pytest.raises(SyntaxError):
        find_panels()


def test_a_fifth_panel_just_appears(open_window, fake_engine, monkeypatch):
    import gpt_viz.ui.panel as module

    class Fifth(Panel):
        name, title, order = "fifth", "A fifth one", 50

        def draw(self):
            self.say("It is here.")

    monkeypatch.setattr(module, "find_panels", lambda *_: [*KINDS, Fifth])
    window = open_window(make_engine=fake_engine)
    assert window.desk.dock("fifth").isVisibleTo(window)
    window.actions_["panel.fifth"].trigger()
    assert window.panels["fifth"].isVisible()
    assert window.desk.full == "fifth"


def test_a_panel_behind_another_ones_tab_is_neither_drawn_nor_computed_for(
    open_window, fake_engine, monkeypatch, qtbot
):
    import gpt_viz.ui.panel as module

    class Behind(Panel):
        name, title, order = "behind", "Behind", 50
        needs = frozenset({"attention"})
        drawn = 0

        def draw(self):
            self.drawn += 1

    monkeypatch.setattr(module, "find_panels", lambda *_: [KINDS[0], Behind])
    window = open_window(make_engine=fake_engine)
    first, behind = window.panels.values()
    window.desk.tabifyDockWidget(window.desk.dock(first.name), window.desk.dock("behind"))
    window.desk.dock(first.name).raise_()
    qtbot.waitUntil(lambda: not behind.in_sight())
    qtbot.waitUntil(lambda: not window.conductor.busy)
    count = behind.drawn
    window.prompt.setText("another text")
    qtbot.waitUntil(lambda: window.study.tokens.pieces == tuple("another text"))
    assert not [c for c in fake_engine.engine.asked if isinstance(c, Inspect)][-1].attention
    assert behind.drawn == count
    window.desk.dock("behind").raise_()
    qtbot.waitUntil(lambda: behind.drawn > count)
    qtbot.waitUntil(lambda: [c for c in fake_engine.engine.asked if isinstance(c, Inspect)][-1].attention)


@every_panel
@pytest.mark.parametrize("kind_of_file", ["png", "svg", "csv"])
def test_the_small_menu_writes_every_panel(kind, kind_of_file, stage, story, tmp_path, qtbot):
    from gpt_viz.ui.panel_menu import PanelMenu

    it = stage(kind)
    for event in story:
        it.tell(event)
    it.draw()
    told = []
    menu = PanelMenu(
        it.panel, fill=lambda: None, close=lambda: None, help=None, tell=lambda text, mistake: told.append(text)
    )  # fmt: skip
    qtbot.addWidget(menu)
    assert menu.accessibleName()
    path = tmp_path / f"it.{kind_of_file}"
    menu.save(kind_of_file, path)
    assert told == [f"Written: {path}"]
    assert path.stat().st_size > 50
    menu.save(kind_of_file, tmp_path / "nowhere" / "it")
    assert "nowhere" in told[-1]


def test_a_header_full_of_tools_has_its_sentence_below_them_where_the_window_is_high(qtbot):
    from gpt_viz.ui.panel import Header

    window = QWidget()
    qtbot.addWidget(window)
    header = Header("Title")
    header.setParent(window)
    tool = named(QWidget(), "tool", "Tool")
    tool.setMinimumWidth(300)
    header.tools.addWidget(tool)
    header.sentence.say("A: how much each position takes from each earlier one.")
    header.resize(650, 60)
    window.resize(650, 1000)
    window.show()
    qtbot.waitUntil(lambda: header.sentence.y() >= header.title.geometry().bottom())
    assert header.sentence.text() == header.sentence.whole()
    tool.hide()
    qtbot.waitUntil(lambda: header.sentence.y() < header.title.geometry().bottom())
    tool.show()
    qtbot.waitUntil(lambda: header.sentence.y() >= header.title.geometry().bottom())
    window.resize(650, 480)
    header.resize(651, 60)
    qtbot.waitUntil(lambda: header.sentence.y() < header.title.geometry().bottom())


def test_a_header_that_is_narrow_has_its_sentence_below_the_title(qtbot):
    from gpt_viz.ui.panel import Header

    header = Header("Title")
    qtbot.addWidget(header)
    header.add_menu(named(QWidget(), "menu", "Menu"))
    header.sentence.say("One plain sentence that is not short")
    header.resize(900, 40)
    header.show()
    assert header.sentence.y() < header.title.geometry().bottom()
    header.resize(340, 60)
    qtbot.waitUntil(lambda: header.sentence.y() >= header.title.geometry().bottom())
    header.resize(900, 60)
    qtbot.waitUntil(lambda: header.sentence.y() < header.title.geometry().bottom())


@pytest.mark.parametrize("name", ["shapes", "sampling", "step", "weights", "compare"])
def test_what_asks_for_something_of_the_weights_is_drawn_anew_when_they_are_other_ones(name, world, qtbot, story):
    stage = Stage(next(kind for kind in KINDS if kind.name == name), world, qtbot)
    for event in story:
        stage.tell(event)
    stage.draw()
    stage.panel.dirty = False
    world.subject.step()
    assert stage.panel.dirty
