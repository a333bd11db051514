"""The window as a whole: up at once, filled without a question, and nothing in it is lost."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fake_engine import DEVICES
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from gpt_viz import app, resources, settings
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.protocol import Build, Cancelled, EngineReady, Inspect, OpenText, Sample
from gpt_viz.ui.sampling.sampling_words import unreadable

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "model.preset", "model.layers", "model.heads", "model.width", "model.block_size", "model.vocabulary",
    "model.dropout", "model.seed", "model.device", "model.build", "text.prompt", "status.message", "status.cancel",
)  # fmt: skip
PANEL_NAMES = (
    "panel.parameters", "panel.shapes", "panel.attention", "panel.sampling", "shapes.first", "shapes.previous",
    "shapes.next", "shapes.last", "shapes.play", "attention.grid", "attention.head", "sampling.run", "sampling.step",
    "sampling.stop", "sampling.temperature", "sampling.top_k", "sampling.top_p", "sampling.seed", "sampling.text",
)  # fmt: skip


def child(window, name):
    return window.findChild(QWidget, name)


def status(window):
    return child(window, "status.message").text()


def press(window, key, text="", modifiers=Qt.KeyboardModifier.NoModifier):
    target = QApplication.focusWidget() or window
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(target, QKeyEvent(kind, key, modifiers, text))


# --- the start -----------------------------------------------------------------------------------------------------


def test_form_text_and_status_are_there_before_anything_is_loaded(open_window):
    window = open_window(wait=False)
    for name in NAMES:
        assert child(window, name) is not None, name
        assert child(window, name).accessibleName(), name
    assert "torch" in child(window, "status.message").text()
    assert child(window, "model.preset").currentData() == "step5"


def test_create_window_returns_form_text_and_status_in_place(qtbot, monkeypatch):
    window = app.create_window(["--preset", "build-gpt", "--text", "To be"])
    qtbot.addWidget(window)
    assert not window.isVisible()
    assert all(child(window, name) is not None for name in NAMES)
    assert child(window, "model.preset").currentData() == "build-gpt"
    assert child(window, "text.prompt").text() == "To be"
    window.close()


def test_f16_a_window_that_is_closed_before_the_rest_is_loaded_loads_nothing(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, wait=False)
    window.close()
    window.begin()
    assert window.panels == {}


def test_f16_a_window_that_has_not_been_painted_yet_takes_keys_and_can_be_closed(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, wait=False, early=True)
    child(window, "text.prompt").setText("typed at once")
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Space, Qt.Key.Key_1):
        press(window, key)
    child(window, "text.sample").click()
    window.close()
    window.begin()
    assert window.panels == {}
    assert not settings.settings_file().exists()  # nothing was changed that could be remembered


def test_what_answers_is_put_up_once(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, wait=False, early=True)
    assert child(window, "model.preset") is None
    window.put_up()
    form = window.form
    window.put_up()
    assert window.form is form
    assert len(window.findChildren(QWidget, "model.preset")) == 1


def test_escape_leaves_a_field_before_anything_else(fake, qtbot):
    fake.activateWindow()
    for name in ("text.prompt", "model.layers", "model.preset", "model.seed"):
        field = child(fake, name)
        field.setFocus()
        qtbot.waitUntil(field.hasFocus)
        press(fake, Qt.Key.Key_Escape)
        assert not field.hasFocus(), name
    fake.desk.fill("shapes")
    child(fake, "text.prompt").setFocus()
    qtbot.waitUntil(child(fake, "text.prompt").hasFocus)
    press(fake, Qt.Key.Key_Escape)
    assert fake.desk.full == "shapes"
    press(fake, Qt.Key.Key_Escape)
    assert fake.desk.full == ""


def test_a_button_that_can_not_be_pressed_any_more_hands_its_focus_to_no_other(window, qtbot):
    window.desk.dock("training").raise_()
    panel = window.panels["training"]
    panel.controls.steps.setValue(100_000)
    panel.controls.batch.setValue(2)
    panel.run()
    qtbot.waitUntil(lambda: window.learner.newest > 2, timeout=30_000)
    qtbot.waitUntil(lambda: "training, step" in status(window), timeout=10_000)
    stop = child(window, "training.stop")
    window.activateWindow()
    stop.setFocus()
    qtbot.waitUntil(stop.hasFocus)
    stop.click()
    qtbot.waitUntil(lambda: not window.learner.live, timeout=30_000)
    panel.draw()
    assert not stop.isEnabled()
    assert not child(window, "training.reset").hasFocus()
    qtbot.waitUntil(lambda: "training" not in status(window), timeout=10_000)


def test_while_torch_loads_and_the_first_model_is_built_the_panels_say_so(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, wait=False)
    window.begin()
    window.bridge.stop()  # what the engine says is given by hand
    seen = [window.panels[name] for name in ("attention", "sampling", "training", "checks", "weights")]

    def drawn():
        for panel in (*seen, window.panels["parameters"]):
            panel.draw()
        return {panel.covered for panel in seen}, window.panels["parameters"].header.sentence.whole()

    covered, sentence = drawn()
    assert covered == {"Torch is loading; the model comes after it"}
    assert sentence.startswith("Torch is loading; the model comes after it. ")
    window.builder.handle(EngineReady(job=0, torch_version="0", devices=DEVICES, threads=1))
    covered, sentence = drawn()
    assert covered == {"The model is being built"}
    assert sentence.startswith("The model is being built. ")
    window.builder.handle(Cancelled(job=window.builder._build_job))
    covered, sentence = drawn()
    assert all("press Build" in each for each in covered)
    assert sentence.startswith("What-if, not built: ")


def test_the_first_start_fills_every_panel_without_a_question(open_window, qtbot):
    window = open_window()
    for name in PANEL_NAMES:
        assert child(window, name) is not None, name
        assert child(window, name).accessibleName(), name
    model = window.subject.built
    assert (model.total, model.config) == (816_640, PRESETS["step5"].config)
    assert window.study.prompt == resources.passage()[:32]
    assert window.prompt.text() == window.study.prompt
    assert window.study.tokens.pieces == tuple(window.study.prompt)
    for name in ("parameters", "shapes", "attention", "sampling"):
        panel = window.panels[name]
        assert panel.in_sight()
        assert panel.covered == ""
        # What has news at once is painted in frames one after the other.
        qtbot.waitUntil(lambda panel=panel: bool(panel.header.sentence.whole()))
    qtbot.waitUntil(lambda: "built in" in status(window))
    assert "816,640" in window.windowTitle()
    qtbot.waitUntil(lambda: "loss 4." in child(window, "text.loss").text())


def test_a_size_that_does_not_fit_is_examined_and_not_built(open_window):
    window = open_window("--preset", "gpt3")
    assert window.subject.built is None
    assert window.subject.obstacle
    assert "174,604,259,328" in window.windowTitle()
    assert window.panels["parameters"].covered == ""
    assert window.panels["shapes"].covered == ""
    assert window.panels["attention"].covered
    assert window.panels["sampling"].covered


# --- the model -----------------------------------------------------------------------------------------------------


def wait_built(qtbot, window, act):
    with qtbot.waitSignal(window.builder.settled, timeout=10_000):
        act()
    qtbot.waitUntil(lambda: not window.conductor.busy)


def test_a_build_from_the_form_takes_its_place_everywhere(fake, qtbot):
    child(fake, "model.layers").setValue(1)
    assert "not built" in fake.windowTitle()
    wait_built(qtbot, fake, child(fake, "model.build").click)
    assert fake.subject.built.config.layers == 1
    assert not fake.subject.what_if


def test_f05_a_failed_build_leaves_everything_and_is_said(fake, qtbot):
    before = fake.subject.built
    fake.engine.mistake = (Build, RuntimeError("the disk is full"))
    child(fake, "model.layers").setValue(1)
    wait_built(qtbot, fake, child(fake, "model.build").click)
    assert fake.subject.built is before
    assert "the disk is full" in fake.messages.strip.text()
    assert "the disk is full" in status(fake)
    assert child(fake, "model.build").isEnabled()
    wait_built(qtbot, fake, child(fake, "model.build").click)
    assert fake.subject.built.config.layers == 1
    assert fake.messages.strip.text() == ""


def test_f05_what_is_entered_while_a_model_is_built_is_not_lost(fake, qtbot):
    def change():
        child(fake, "model.layers").setValue(1)
        child(fake, "model.build").click()
        child(fake, "model.layers").setValue(3)
        child(fake, "model.seed").setText("7")

    wait_built(qtbot, fake, change)
    assert fake.subject.built.config.layers == 1
    assert (child(fake, "model.layers").value(), child(fake, "model.seed").text()) == (3, "7")
    assert fake.subject.what_if


def test_a07_a_size_that_is_examined_while_a_model_is_built_stays(fake, qtbot):
    def change():
        fake.topbar.preset_chosen.emit("build-gpt")
        fake.topbar.preset_chosen.emit("gpt3")

    wait_built(qtbot, fake, change)
    assert fake.subject.built.config == PRESETS["build-gpt"].config
    assert fake.subject.config == PRESETS["gpt3"].config


def test_f05_what_is_entered_or_built_while_torch_is_loading_is_not_lost(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, wait=False)
    child(window, "model.layers").setValue(3)
    window.builder.handle(EngineReady(job=0, torch_version="0", devices=DEVICES, threads=1))
    assert child(window, "model.layers").value() == 3

    other = open_window(make_engine=fake_engine, wait=False)
    child(other, "model.layers").setValue(1)
    child(other, "model.build").click()
    job = other.builder._build_job
    other.builder.handle(EngineReady(job=0, torch_version="0", devices=DEVICES, threads=1))
    assert other.builder._build_job == job
    assert child(other, "model.layers").value() == 1


def test_a_refused_build_is_said_without_a_traceback(fake, qtbot):
    fake.engine.mistake = (Build, ValueError("width 13 will not do"))
    wait_built(qtbot, fake, child(fake, "model.build").click)
    assert fake.messages.strip.text() == "Not built: width 13 will not do"
    assert not fake.messages.strip.findChild(QWidget, "strip.copy").isVisible()


def test_a_model_of_ids_gets_ids_to_read_and_the_text_comes_back(fake, qtbot):
    wait_built(qtbot, fake, lambda: fake.topbar.preset_chosen.emit("gpt2"))
    assert fake.subject.built.alphabet is None
    assert fake.study.prompt == " ".join(map(str, range(32)))
    assert fake.study.tokens.ids == tuple(range(32))
    fake.selection.choose(query=12)
    wait_built(qtbot, fake, lambda: fake.topbar.preset_chosen.emit("step5"))
    assert fake.study.prompt == resources.passage()[:32]


def test_another_model_of_the_same_alphabet_keeps_the_text(fake, qtbot):
    fake.prompt.setText("who?")
    child(fake, "model.layers").setValue(1)
    wait_built(qtbot, fake, child(fake, "model.build").click)
    assert fake.study.prompt == "who?"


def test_the_presets_in_the_first_row_build(fake, qtbot):
    wait_built(qtbot, fake, lambda: fake.topbar.preset_chosen.emit("build-gpt"))
    assert fake.subject.built.config == PRESETS["build-gpt"].config
    assert fake.topbar.preset.text() == PRESETS["build-gpt"].title


def test_beside_a_model_that_cannot_be_built_no_loss_of_another_stands(fake, qtbot):
    loss = fake.topbar.loss
    qtbot.waitUntil(lambda: "loss " in loss.text())
    before = loss.text()
    fake.topbar.preset_chosen.emit("gpt3")
    qtbot.waitUntil(lambda: not loss.text())
    assert fake.subject.obstacle
    assert not loss.toolTip()
    fake.subject.set_draft(None)
    qtbot.waitUntil(lambda: loss.text() == before)


@pytest.mark.parametrize(("size", "words"), [((1024, 768), "text loss "), ((1600, 900), "loss of this text ")])
def test_the_loss_in_the_first_row_says_whose_it_is_and_is_never_cut(open_window, fake_engine, qtbot, size, words):
    window = open_window(make_engine=fake_engine, size=size)
    loss = window.topbar.loss
    qtbot.waitUntil(lambda: bool(loss.text()))
    assert loss.text().startswith(words)
    assert loss.isVisible()
    qtbot.waitUntil(lambda: loss.width() >= loss.fontMetrics().horizontalAdvance(loss.text()))  # laid out a frame later
    assert loss.accessibleName() == "Loss of this text"
    assert loss.toolTip().startswith("Loss of this text: the mean over its own ")


def test_f11_a_device_that_is_gone_falls_back_to_cpu_with_a_note(open_window, fake_engine):
    settings.save(settings.Settings(device="cuda:7", config=GPTConfig(layers=1)))
    window = open_window(make_engine=fake_engine)
    assert window.subject.built.device == "cpu"
    assert "cuda:7" in window.messages.strip.text()
    asked = [command for command in fake_engine.engine.asked if isinstance(command, Build)]
    assert [command.device for command in asked] == ["cpu"]


def test_f11_a_device_that_is_there_and_can_not_be_used_falls_back_too(open_window, fake_engine):
    window = open_window("--device", "cuda", make_engine=fake_engine)
    assert window.subject.built.device == "cpu"
    assert "cuda" in window.messages.strip.text()


def test_a_missing_torch_is_said_and_the_window_stays(open_window):
    def no_engine(emit):
        raise ModuleNotFoundError("No module named 'torch'")

    window = open_window(make_engine=no_engine)
    assert "No module named 'torch'" in window.messages.strip.text()
    assert window.panels["parameters"].covered == ""


# --- the text ------------------------------------------------------------------------------------------------------


def test_typing_updates_shapes_and_attention(fake, qtbot):
    fake.prompt.setText("abc")
    qtbot.waitUntil(lambda: fake.study.tokens.pieces == ("a", "b", "c"))
    asked = [command for command in fake.engine.asked if isinstance(command, Inspect)]
    assert asked[-1].text == "abc"


def test_a_character_that_the_model_lacks_is_named_and_the_rest_stays(fake, qtbot):
    before = fake.study.tokens
    fake.prompt.setText("café")
    qtbot.waitUntil(lambda: fake.study.refused is not None)
    assert fake.study.refused.unknown == ((3, "é"),)
    assert "'é' at 4" in status(fake)
    assert fake.study.tokens == before
    fake.prompt.setText("cafe")
    qtbot.waitUntil(lambda: fake.study.refused is None)
    qtbot.waitUntil(lambda: "built in" in status(fake))


def test_b10_status_line_and_sampling_panel_count_an_unknown_character_alike(fake, qtbot):
    fake.prompt.setText("a~b")
    qtbot.waitUntil(lambda: fake.study.refused is not None)
    assert "'~' at 2" in status(fake)
    assert "“~” at 2" in unreadable("a~b", fake.subject.built)


def test_why_nothing_was_sampled_is_forgotten_once_the_reason_is_gone(fake, qtbot):
    def refuse():
        fake.prompt.setText("")
        fake.call("sampling", "run")
        assert fake.messages.strip.text().startswith("Nothing was sampled: ")

    refuse()
    fake.prompt.setText("a")
    assert fake.messages.strip.text() == ""
    refuse()
    wait_built(qtbot, fake, child(fake, "model.build").click)
    assert fake.messages.strip.text() == ""


def test_a_refused_job_is_forgotten_once_a_later_one_could_be_done(fake, qtbot):
    fake.engine.mistake = (Sample, ValueError("the temperature is too hot"))
    fake.call("sampling", "run")
    qtbot.waitUntil(lambda: fake.messages.strip.text() == "The temperature is too hot")
    fake.call("sampling", "step")
    qtbot.waitUntil(lambda: fake.study.draws != [])
    assert fake.messages.strip.text() == ""
    fake.engine.mistake = (Sample, RuntimeError("a defect"))
    fake.call("sampling", "step")
    qtbot.waitUntil(lambda: "a defect" in fake.messages.strip.text())
    fake.prompt.setText("a")
    assert "a defect" in fake.messages.strip.text()


def test_a_text_of_known_characters_keeps_the_model(fake, qtbot, tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("the quick brown fox jumps over the lazy dog", encoding="utf-8")
    before = fake.subject.built
    fake.texts.open(str(path))
    qtbot.waitUntil(lambda: fake.study.prompt == "the quick brown ")  # the block is 16 long
    assert fake.subject.built is before


def test_a_text_of_other_characters_brings_its_alphabet_and_a_model_for_it(fake, qtbot, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("éàü" * 20, encoding="utf-8")
    fake.texts.open(str(path))
    qtbot.waitUntil(lambda: "other.txt" in fake.texts.offer.text())
    wait_built(qtbot, fake, child(fake, "offer.answer.0").click)
    assert fake.subject.built.alphabet == ("à", "é", "ü")
    assert fake.subject.built.config.vocabulary == 3
    assert fake.subject.built.config.layers == 2
    assert fake.study.prompt == ("éàü" * 6)[:16]
    assert child(fake, "model.vocabulary").value() == 3


def test_a_text_whose_model_can_not_be_built_changes_nothing(fake, qtbot, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("éàü", encoding="utf-8")
    before, prompt = fake.subject.built, fake.study.prompt
    fake.engine.mistake = (Build, MemoryError("no room"))
    fake.texts.open(str(path))
    qtbot.waitUntil(lambda: "other.txt" in fake.texts.offer.text())
    wait_built(qtbot, fake, child(fake, "offer.answer.0").click)
    assert fake.subject.built is before
    assert fake.study.prompt == prompt
    assert child(fake, "model.vocabulary").value() == 65
    assert not fake.subject.what_if


def test_a_file_that_can_not_be_read_is_said(fake, qtbot, tmp_path):
    fake.texts.open(str(tmp_path / "<i>missing.txt"))
    qtbot.waitUntil(lambda: "<i>missing.txt" in fake.messages.strip.text())


def test_a_dropped_file_is_opened_wherever_it_falls(fake, qtbot, tmp_path):
    path = tmp_path / "dropped.txt"
    path.write_text("fell from the sky", encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    drop = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )  # fmt: skip
    fake.dropEvent(drop)
    qtbot.waitUntil(lambda: fake.study.prompt == "fell from the sk")
    assert [c.path for c in fake.engine.asked if isinstance(c, OpenText)] == [str(path)]


def test_a_file_on_the_command_line_is_the_text_of_the_first_model(open_window, fake_engine, tmp_path):
    path = tmp_path / "given.txt"
    path.write_text("ab" * 40, encoding="utf-8")
    window = open_window(str(path), make_engine=fake_engine)
    assert window.subject.built.alphabet == resources.alphabet()
    assert window.study.prompt == "ab" * 16
    assert sum(isinstance(command, Build) for command in fake_engine.engine.asked) == 1


def test_a_file_on_the_command_line_that_is_not_there_leaves_the_built_in_text(open_window, fake_engine, tmp_path):
    window = open_window(str(tmp_path / "none.txt"), make_engine=fake_engine)
    assert window.study.prompt == resources.passage()[:32]
    assert window.subject.built is not None
    assert "none.txt" in window.messages.strip.text()


def test_a_text_on_the_command_line_is_taken_literally(open_window, fake_engine):
    window = open_window("--text", "-- <b>&", make_engine=fake_engine)
    assert window.study.prompt == "-- <b>&"


# --- what comes back -----------------------------------------------------------------------------------------------


def test_text_model_theme_and_inputs_come_back(open_window, fake_engine):
    window = open_window(make_engine=fake_engine)
    window.prompt.setText("again\n")
    window.looks.use("dark", 12.0)
    child(window, "sampling.temperature").setValue(0.5)
    window.selection.choose(layer=2, head=3)
    window.close()
    window = open_window(make_engine=fake_engine)
    assert window.study.prompt == "again\n"
    assert window.looks.wanted == "dark"
    assert window.looks.points == 12.0
    assert child(window, "sampling.temperature").value() == 0.5
    assert (window.selection.value.layer, window.selection.value.head) == (2, 3)


def test_the_layout_comes_back_also_when_a_panel_filled_the_window(open_window, fake_engine):
    window = open_window(make_engine=fake_engine)
    window.desk.close_panel("shapes")
    window.desk.fill("attention")
    window.close()
    window = open_window(make_engine=fake_engine)
    assert not window.panels["shapes"].isVisible()
    assert window.panels["attention"].isVisible()
    assert window.panels["parameters"].isVisible()
    assert window.form.isVisible()


def test_a_presentation_does_not_come_back_without_being_asked_for(open_window, fake_engine):
    window = open_window("--present", make_engine=fake_engine)
    assert not window.form.isVisible()
    window.close()
    window = open_window(make_engine=fake_engine)
    assert window.form.isVisible()
    assert window.looks.points == 10.0


def test_f10_a_foreign_settings_file_still_opens_the_window(open_window, fake_engine):
    settings.settings_file().write_text(
        '{"geometry": "garbage!", "layout": "QUJD", "points": "abc", "layer": 99, "device": "cuda:7", "flux": 1,'
        ' "config": {"width": 12, "heads": 5}, "controls": {"sampling.temperature": "abc", "sampling.top_k": -3}}'
    )
    window = open_window(make_engine=fake_engine)
    assert window.subject.built.config == GPTConfig()
    assert child(window, "sampling.temperature").value() == 1.0
    lines = settings.log_file().read_text(encoding="utf-8").splitlines()
    for name in ("geometry", "layout", "points", "layer", "flux", "config", "sampling.temperature", "sampling.top_k"):
        assert sum(f"{name}" in line for line in lines) == 1, name


def test_f10_reset_settings_on_the_command_line_begins_anew(open_window, fake_engine):
    settings.save(settings.Settings(prompt="old", theme="dark"))
    window = open_window("--reset-settings", make_engine=fake_engine)
    assert window.study.prompt == resources.passage()[:32]
    assert window.looks.wanted == "system"


def test_f10_reset_settings_in_the_menu_begins_anew_at_the_next_start(open_window, fake_engine):
    window = open_window(make_engine=fake_engine)
    window.prompt.setText("old")
    window.actions_["reset"].trigger()
    window.close()
    assert not settings.settings_file().exists()
    assert open_window(make_engine=fake_engine).study.prompt == resources.passage()[:32]


@pytest.mark.parametrize(("x", "y", "width", "height"), [(9999, 9999, 800, 600), (-4000, 100, 5000, 4000)])
def test_f09_a_window_off_the_screen_is_pulled_back(open_window, fake_engine, x, y, width, height):
    window = open_window(make_engine=fake_engine)
    window.setGeometry(x, y, width, height)
    window.close()
    window = open_window(make_engine=fake_engine, size=None)
    screen = window.screen().availableGeometry()
    assert screen.contains(window.geometry().center())
    assert window.width() <= screen.width()
    assert window.height() <= screen.height()
    assert window.geometry().top() >= screen.top()


# --- room ----------------------------------------------------------------------------------------------------------


def test_f08_at_853_by_480_the_window_fits_and_everything_can_be_scrolled_to(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, size=(853, 480))
    assert (window.width(), window.height()) == (853, 480)
    assert window.minimumSizeHint().width() <= 853
    assert window.minimumSizeHint().height() <= 480


@pytest.mark.parametrize("size", [(400, 300), (640, 480), (853, 480)])
@pytest.mark.parametrize("points", [10.0, 13.0])
def test_f08_nothing_in_the_first_row_is_cut_and_text_and_sample_stay(open_window, fake_engine, qtbot, size, points):
    window = open_window(make_engine=fake_engine)
    window.looks.use("light", points)
    window.topbar.show_sampling(True)
    window.topbar.show_sampling(False)
    window.resize(*size)
    row = window.topbar
    qtbot.waitUntil(lambda: row.width() == window.width())
    qtbot.waitUntil(lambda: row.layout().geometry().width() == row.width())
    shown = [each for each in row._everything if each.isVisible()]
    for widget in (row.prompt, row.sample, row.menu):
        assert widget in shown
    for widget in shown:
        assert widget.width() >= widget.minimumSizeHint().width(), widget.objectName()
        assert row.rect().contains(widget.geometry()), widget.objectName()
    window.resize(1600, 1000)
    qtbot.waitUntil(lambda: all(each.isVisible() for each in row._everything))


def test_f08_at_1024_by_768_no_panel_has_to_be_scrolled_sideways(open_window, fake_engine, qtbot):
    window = open_window(make_engine=fake_engine, size=(1024, 768))
    for name, panel in window.panels.items():
        window.desk.dock(name).raise_()
        qtbot.waitUntil(panel.isVisible)
        QApplication.processEvents()
        scroller = window.desk.dock(name).widget()
        assert scroller.horizontalScrollBar().maximum() == 0, name


def test_f08_at_1024_by_768_nothing_of_the_desk_is_out_of_sight(open_window, fake_engine):
    window = open_window(make_engine=fake_engine, size=(1024, 768))
    desk = window.desk
    view = desk.parentWidget()
    assert desk.width() <= view.width()
    assert desk.height() <= view.height()


# --- one fills all, presentation, keys -----------------------------------------------------------------------------


def settled_layout(qtbot, desk):
    """The desk's layout once what was asked of it has been done: two rounds of events leave it as it is."""
    states = [b""]

    def same():
        states.append(desk.saveState())
        return states[-1] == states[-2]

    qtbot.waitUntil(same)
    return states[-1]


def test_a_digit_lets_a_panel_fill_the_window_and_escape_brings_all_back(fake, qtbot):
    fake.activateWindow()
    fake.setFocus()
    qtbot.waitUntil(fake.hasFocus)
    before = settled_layout(qtbot, fake.desk)
    press(fake, Qt.Key.Key_3, "3")
    assert [name for name, panel in fake.panels.items() if panel.isVisible()] == ["attention"]
    assert not fake.form.isVisible()
    press(fake, Qt.Key.Key_1, "1")
    assert [name for name, panel in fake.panels.items() if panel.isVisible()] == ["parameters"]
    press(fake, Qt.Key.Key_Escape)
    assert all(panel.isVisible() for panel in fake.panels.values())
    assert fake.form.isVisible()
    qtbot.waitUntil(lambda: fake.desk.saveState() == before)
    press(fake, Qt.Key.Key_0, "0")
    assert all(panel.isVisible() for panel in fake.panels.values())
    names = list(fake.panels)
    press(fake, Qt.Key.Key_9, "9")
    assert fake.desk.full == (names[8] if len(names) > 8 else "")


def test_attention_that_comes_back_into_sight_is_computed_for_the_text_of_now(fake, qtbot):
    fake.desk.fill("parameters")
    fake.prompt.setText("hidden")
    qtbot.waitUntil(lambda: fake.study.tokens.pieces == tuple("hidden"))
    qtbot.waitUntil(lambda: not fake.conductor.busy)
    assert not [c for c in fake.engine.asked if isinstance(c, Inspect)][-1].attention
    fake.leave()
    qtbot.waitUntil(lambda: [c for c in fake.engine.asked if isinstance(c, Inspect)][-1].attention)


def test_a_double_click_on_the_title_fills_the_window_and_another_goes_back(fake, qtbot):
    header = fake.panels["shapes"].header
    qtbot.mouseDClick(header, Qt.MouseButton.LeftButton)
    assert fake.desk.full == "shapes"
    assert not fake.desk.dock("shapes").isFloating()
    qtbot.mouseDClick(header, Qt.MouseButton.LeftButton)
    assert fake.desk.full == ""


def test_the_panel_of_the_command_line_fills_the_window(open_window, fake_engine):
    window = open_window("--panel", "attention", make_engine=fake_engine)
    assert window.desk.full == "attention"
    window = open_window("--panel", "nonsense", make_engine=fake_engine)
    assert "nonsense" in window.messages.strip.text()


def test_present_shows_panels_and_text_larger_and_escape_ends_it(fake):
    fake.actions_["present"].trigger()
    assert not fake.form.isVisible()
    assert not fake.messages.status.isVisible()
    assert fake.prompt.isVisible()
    assert QApplication.font().pointSizeF() == pytest.approx(14.0)
    fake.leave()
    assert fake.form.isVisible()
    assert QApplication.font().pointSizeF() == pytest.approx(10.0)


def test_single_keys_are_left_to_a_field_that_has_a_use_for_them(fake, qtbot):
    fake.activateWindow()
    fake.prompt.setText("")
    fake.prompt.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is fake.prompt)
    qtbot.keyClicks(fake.prompt, "a 1.3")
    qtbot.keyClick(fake.prompt, Qt.Key.Key_Backspace)
    assert fake.prompt.text() == "a 1."
    assert fake.desk.full == ""
    assert not [command for command in fake.engine.asked if isinstance(command, Sample)]


def test_arrows_and_the_presenters_remote_walk_through_the_steps(fake):
    fake.setFocus()
    fake.selection.choose(step="ids")
    press(fake, Qt.Key.Key_PageDown)
    assert fake.selection.value.step == "token_embedding"
    press(fake, Qt.Key.Key_Right)
    assert fake.selection.value.step == "position_embedding"
    press(fake, Qt.Key.Key_PageUp)
    assert fake.selection.value.step == "token_embedding"
    press(fake, Qt.Key.Key_End)
    assert fake.selection.value.step == "loss"


def test_dot_draws_one_token_and_backspace_takes_it_back(fake, qtbot):
    fake.setFocus()
    press(fake, Qt.Key.Key_Period, ".")
    qtbot.waitUntil(lambda: len(fake.study.draws) == 1)
    qtbot.waitUntil(lambda: child(fake, "sampling.step").isEnabled())
    press(fake, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: len(fake.study.draws) == 0)


def test_f03_stop_is_acknowledged_at_once_and_the_button_says_so(fake, qtbot):
    child(fake, "sampling.tokens").setValue(0)  # until it is stopped
    fake.actions_["sample"].trigger()
    assert fake.topbar.sample.text() == "Stop"
    qtbot.waitUntil(lambda: len(fake.study.draws) > 5)
    fake.actions_["sample"].trigger()
    assert not child(fake, "sampling.stop").isEnabled()
    qtbot.waitUntil(lambda: fake.topbar.sample.text() == "Sample")
    qtbot.waitUntil(lambda: child(fake, "sampling.run").isEnabled())


def test_f05_a_run_that_fails_is_not_taken_for_a_finished_one(fake, qtbot):
    fake.engine.mistake = (Sample, RuntimeError("out of luck"))
    fake.actions_["sample"].trigger()
    qtbot.waitUntil(lambda: "out of luck" in fake.messages.strip.text())
    assert fake.topbar.sample.text() == "Sample"
    qtbot.waitUntil(lambda: child(fake, "sampling.run").isEnabled())


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_all_commands_are_listed_narrowed_and_done(fake, qtbot):
    fake.actions_["palette"].trigger()
    palette = fake.palette_
    everything = palette.shown()
    assert len(everything) >= 20
    qtbot.keyClicks(palette.field, "theme dark")
    assert palette.shown() == ["Theme: dark"]
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert fake.looks.wanted == "dark"
    assert not palette.isVisible()


def test_every_command_has_a_name_of_its_own_and_every_key_only_one(fake):
    names = [action.text() for action in fake.actions_]
    assert len(set(names)) == len(names)
    keys = [keys.toString() for action in fake.actions_ for keys in action.shortcuts()]
    assert len(set(keys)) == len(keys)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_help_names_every_key(fake):
    fake.actions_["help"].trigger()
    text = fake.help.browser.toPlainText()
    for key in ("Ctrl+B", "Ctrl+Return", "F5", "Ctrl+Shift+P", "Esc"):
        assert key in text
    fake.help.close()


# --- threads and the end -------------------------------------------------------------------------------------------


def test_f06_every_widget_is_touched_on_the_main_thread_while_it_samples(fake, qtbot):
    seen = set()
    for panel in fake.panels.values():
        for name in ("handle", "draw"):
            original = getattr(panel, name)
            setattr(panel, name, lambda *a, original=original: (seen.add(threading.get_ident()), original(*a))[1])
    fake.actions_["sample"].trigger()
    qtbot.waitUntil(lambda: len(fake.study.draws) > 50)
    fake.call("sampling", "stop")
    assert seen == {threading.main_thread().ident}
    # What Qt had to say about threads, timers or painters would have failed this test by itself.


END = """
import sys
sys.argv = ["gpt-viz"]
from PySide6.QtCore import QTimer
from gpt_viz import app
from gpt_viz.ui.window import MainWindow
how, when = {how!r}, {when!r}
def end(window):
    if how == "menu":
        window.actions_["quit"].trigger()
    elif how == "sampling":
        window.actions_["sample"].trigger()
        QTimer.singleShot(100, window.close)
    elif how == "card":
        window.show_text()
        QTimer.singleShot(100, window.actions_["quit"].trigger)
    elif how == "building":
        from gpt_viz.config import PRESETS
        window.builder.build(PRESETS["gpt2"].config, 1, "cpu")
        QTimer.singleShot(100, window.close)
    else:
        window.close()
shown = MainWindow.showEvent
def show(self, event):
    shown(self, event)
    if when == "at once":
        end(self)
    elif when == "ready":
        self.ready.connect(lambda: end(self))
    else:
        QTimer.singleShot(when, lambda: end(self))
MainWindow.showEvent = show
sys.exit(app.run([]))
"""


@pytest.mark.parametrize(
    ("how", "when"),
    [
        ("button", "at once"),
        ("button", 0),
        ("button", 150),
        ("button", 700),
        ("menu", "ready"),
        ("sampling", "ready"),
        ("building", "ready"),
        ("card", "ready"),
    ],
)
def test_f01_f16_closing_at_any_time_ends_with_0_and_in_silence(how, when, tmp_path):
    environment = os.environ | {"GPT_VIZ_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", END.format(how=how, when=when)], capture_output=True, text=True, cwd=ROOT,
        env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert [line for line in done.stderr.splitlines() if "propagateSizeHints" not in line] == []
