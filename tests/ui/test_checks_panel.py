"""The checks panel: it asks only when told to, marks each claim by shape, opens one, and lets it be tried anew."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from gpt_viz import claims
from gpt_viz.claims import NAMES
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    CURRENT,
    OTHER,
    Build,
    Built,
    Cancel,
    Cancelled,
    Checked,
    Failed,
    Finished,
    Progress,
    RunChecks,
    TrainedSteps,
)
from gpt_viz.ui.panels.checks import Checks
from gpt_viz.ui.widgets.check_list import CheckRow
from gpt_viz.ui.widgets.check_mark import FAILED, PASSED, RUNNING, SILENT, WAITING, WORDS, CheckMark
from gpt_viz.ui.widgets.check_picture import figure, ticks

CONFIG = GPTConfig(vocabulary=20, block_size=32, layers=2, heads=2, width=16)
ALPHABET = tuple("abcdefghijklmno <&\n")
TEXT = "abcdefghijklmno <&\nabcdefghijklmno <&"


@pytest.fixture(scope="module")
def told():
    """What a real engine says of a small model: the model, and every event of all its checks."""
    from gpt_viz.engine.engine import Engine

    engine = Engine()
    build = Build(job=1, config=CONFIG, seed=1, device="cpu", alphabet=ALPHABET)
    model = next(event.model for event in engine.run(build) if isinstance(event, Built))
    return model, [event for event in engine.run(RunChecks(job=0, text=TEXT)) if event is not None]


@pytest.fixture
def stage(world, qtbot, told):
    """The panel with a model and a text, drawn."""
    panel = Checks(world.context)
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.header)
    world.subject.set_built(told[0])
    world.study.set_prompt(TEXT)
    panel.resize(680, 430)
    panel.show()
    settle(panel)
    return panel


def settle(panel):
    """Some frames, as the window has them."""
    for _ in range(2):
        panel.draw()
        QApplication.processEvents()


def job_of(world):
    return next(each.job for each in reversed(world.sent) if isinstance(each, RunChecks))


def finish(panel, world, told, *, changes=None):
    """Tell the panel how the run that it asked for went; `changes` are made to events of that name."""
    job = job_of(world)
    for event in told[1]:
        if isinstance(event, Checked) and changes and event.name in changes:
            event = replace(event, **changes[event.name])
        panel.handle(replace(event, job=job))
    panel.handle(Finished(job=job))
    settle(panel)


@pytest.fixture
def done(stage, world, told):
    """The panel after all checks."""
    stage.run()
    finish(stage, world, told)
    world.sent.clear()
    return stage


def states(panel):
    return {row.name: row.state for row in rows(panel)}


def rows(panel):
    return [panel.list.row_at(place) for place in range(panel.list.count())]


# --- asking ----------------------------------------------------------------------------------------------------------


def test_nothing_is_tried_before_it_is_asked_for(stage, world):
    assert world.sent == []
    assert set(states(stage).values()) == {WAITING}
    assert stage.header.sentence.whole() == "13 claims, none of them tried yet: press Run all."


def test_run_all_asks_for_all_of_them_on_the_text_under_study_and_becomes_stop(stage, world):
    button = stage.header.findChild(QPushButton, "checks.run")
    button.click()
    assert world.sent == [RunChecks(job=1, text=TEXT)]
    settle(stage)
    assert (button.text(), button.accessibleName()) == ("Stop", "Stop the checks")
    assert not stage.detail.one.isEnabled()
    button.click()
    assert world.sent[1:] == [Cancel(job=2, target=1)]
    settle(stage)
    assert not button.isEnabled()
    stage.handle(Cancelled(job=1))
    settle(stage)
    assert (button.text(), button.isEnabled()) == ("Run all", True)


def test_one_check_can_be_tried_by_itself(stage, world):
    stage.choose("mask")
    settle(stage)
    assert stage.detail.one.text() == "Try"
    stage.detail.one.click()
    assert world.sent == [RunChecks(job=1, text=TEXT, names=("mask",))]
    settle(stage)
    assert stage.header.sentence.whole() == "First a copy of the model is made."
    stage.handle(Progress(job=1, done=0, total=1, what="mask"))
    settle(stage)
    assert states(stage)["mask"] == RUNNING
    assert stage.header.sentence.whole() == "Trying “The mask at huge scores”: 1 of 1."


def test_without_a_model_it_says_what_to_press_and_asks_nothing(stage, world):
    world.subject.set_built(None)
    settle(stage)
    assert stage.covered == "No model yet: press Build."
    stage.run()
    assert world.sent == []
    assert not stage.run_all.isEnabled()


# --- answers ---------------------------------------------------------------------------------------------------------


def test_every_claim_gets_its_mark_and_its_words(done):
    assert states(done) == {name: SILENT if name in ("validation_loss", "device") else PASSED for name in NAMES}
    assert done.header.sentence.whole() == "11 of 11 claims hold; 2 do not apply."
    row = next(row for row in rows(done) if row.name == "parameter_count")
    assert (row.expected, row.found) == ("7,648", "7,648")
    assert row.spoken() == "Parameter count: passed, expected 7,648, found 7,648"


def test_what_fails_is_named_and_opened(stage, world, told):
    stage.run()
    changes = {"mask": {"passed": False, "found": "0.25 at most", "detail": "in layer 1"}}
    finish(stage, world, told, changes=changes)
    assert states(stage)["mask"] == FAILED
    assert stage.header.sentence.whole() == (
        "1 of 11 claims fails: The mask at huge scores; 2 do not apply."
    )  # fmt: skip
    assert stage.detail.title.text() == "The mask at huge scores"
    assert stage.detail.found.text() == "0.25 at most"
    assert stage.detail.found.property("bad") == "true"
    assert stage.detail.reason.text() == "In layer 1."


def test_what_does_not_apply_says_why(done):
    done.choose("device")
    settle(done)
    assert done.detail.reason.text() == "Does not apply: the model is on the CPU itself."
    assert done.detail._facts.isHidden()
    assert done.detail.reading.isHidden()


def test_the_marks_are_told_apart_without_colour(qtbot):
    pictures = []
    for state in WORDS:
        mark = CheckMark()
        qtbot.addWidget(mark)
        mark.show_state(state)
        assert mark.accessibleName() == WORDS[state]
        picture = mark.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        pictures.append(bytes(picture.constBits()))
    assert len(set(pictures)) == len(WORDS)


def test_the_curve_grows_while_the_window_is_being_learnt(stage, world, told):
    stage.run()
    job = job_of(world)
    lengths = []
    for event in told[1]:
        stage.handle(replace(event, job=job))
        if isinstance(event, Checked) and event.running:
            settle(stage)
            assert stage.detail.title.text() == "Memorising one window"  # it is opened by itself
            assert states(stage)["memorise"] == RUNNING
            lengths.append(len(stage.detail.pictures.drawings["memorise"]._y))
    assert lengths
    assert lengths == sorted(lengths)


def test_the_check_under_way_is_opened_until_somebody_chooses(stage, world, told):
    stage.run()
    job = job_of(world)
    stage.handle(Progress(job=job, done=3, total=13, what="mask"))
    settle(stage)
    assert stage.detail.title.text() == "The mask at huge scores"
    assert stage.header.sentence.whole() == "Trying “The mask at huge scores”: 4 of 13."
    stage.list.setCurrentRow(0)
    stage.handle(Progress(job=job, done=4, total=13, what="initial_loss"))
    settle(stage)
    assert stage.detail.title.text() == "Parameter count"


def test_what_was_stopped_half_way_is_not_taken_for_an_answer(stage, world, told):
    stage.run()
    job = job_of(world)
    running = next(event for event in told[1] if isinstance(event, Checked) and event.running)
    stage.handle(replace(running, job=job))
    stage.handle(Cancelled(job=job))
    settle(stage)
    assert set(states(stage).values()) == {WAITING}


def test_answers_of_other_jobs_and_slots_are_not_ours(stage, world, told):
    stage.run()
    event = next(event for event in told[1] if isinstance(event, Checked))
    stage.handle(replace(event, job=99))
    stage.handle(replace(event, job=job_of(world), slot=OTHER))
    settle(stage)
    assert set(states(stage).values()) == {WAITING}


def test_a_run_that_fails_says_why(stage, world):
    stage.run()
    stage.handle(Failed(job=job_of(world), message="the model can't read 'ß' at 3", details="", expected=True))
    settle(stage)
    assert stage.header.sentence.whole() == "Nothing more was tried: the model can't read 'ß' at 3."
    assert stage.run_all.text() == "Run all"


def test_another_model_clears_the_answers_and_ends_the_run(done, world, told):
    done.run()
    job = job_of(world)
    world.subject.set_built(replace(told[0], seed=2))
    assert world.sent[-1].target == job
    settle(done)
    assert set(states(done).values()) == {WAITING}


def test_another_text_is_said_to_be_another(done, world):
    world.study.set_prompt("abc")
    settle(done)
    assert done.header.sentence.whole() == "11 of 11 claims hold; 2 do not apply, on the text as it was."


def test_training_on_makes_them_answers_about_other_weights(done):
    none = np.zeros(0, np.float32)
    trained = TrainedSteps(
        job=50, first=0, losses=none, rates=none, gradient_norms=none, tokens_per_second=1.0, left_s=1.0
    )
    done.handle(replace(trained, slot=OTHER))
    settle(done)
    assert done.header.sentence.whole().endswith("2 do not apply.")
    done.handle(trained)
    settle(done)
    assert done.header.sentence.whole().endswith("2 do not apply, with the weights as they were.")


def test_a_draft_does_not_hide_what_was_found_of_the_built_model(done, world):
    world.subject.set_draft(replace(CONFIG, layers=3))
    settle(done)
    assert done.header.sentence.whole().startswith("Of the built model: 11 of 11")


# --- the opened one --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("validation_loss", "device")])
def test_each_is_drawn_and_explained_with_its_numbers(done, name):
    done.choose(name)
    settle(done)
    page = claims.page(name)
    assert done.detail.title.text() == page.title
    assert done.detail.claim.text() == page.claim
    picture = done.detail.pictures.drawings[name]
    assert picture.isVisible()
    assert picture.height() >= 100
    assert [each for each in done.detail.pictures.drawings.values() if each.isVisible()] == [picture]
    text = done.detail.explanation.text()
    assert "{" not in text
    assert text.count("\n\n") == len(page.paragraphs) - 1
    image = picture.grab().toImage()
    assert len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}) > 3


def test_before_it_was_tried_only_what_needs_no_numbers_is_said(stage):
    stage.choose("layernorm")
    settle(stage)
    assert stage.detail.explanation.text().startswith("Taking the mean away")
    assert "LayerNorms were tried" not in stage.detail.explanation.text()
    assert stage.detail.choice.isHidden()


def test_pointing_at_a_drawing_names_what_is_there(done):
    done.choose("causality")
    settle(done)
    grid = done.detail.pictures.drawings["causality"]
    plot = grid._plot()
    grid._say(grid.words_at(QPointF(plot.x() + 3, plot.y() + 3)))
    assert done.detail.reading.whole() == "embedded, “e” at 0: bitwise the same"
    grid._say(grid.words_at(QPointF(plot.x() + plot.width() * 20.5 / 32, plot.bottom() - 2)))
    assert done.detail.reading.whole().startswith("logits, “f” at 20: changed by ")
    done.choose("gradients")
    settle(done)
    profile = done.detail.pictures.drawings["gradients"]
    plot = profile._plot()
    assert profile.words_at(QPointF(plot.x() + 1, plot.bottom() - 2)).startswith("token_embedding.weight: norm ")
    assert profile.words_at(QPointF(plot.x() - 4, plot.y())) == ""


# --- causality -------------------------------------------------------------------------------------------------------


def test_another_position_is_tried_at_once(done, world):
    done.choose("causality")
    settle(done)
    assert done.detail.choice.value()[0] == 20
    done.detail.choice.position.setValue(7)
    assert world.sent == [RunChecks(job=2, text=TEXT, names=("causality",), position=7)]


def test_another_token_is_tried_at_once(done, world):
    done.choose("causality")
    settle(done)
    choice = done.detail.choice
    assert choice.token.count() == 20
    assert choice.token.itemText(15) == "␣"
    choice.token.setCurrentIndex(2)
    choice.token.activated.emit(2)
    assert world.sent == [RunChecks(job=2, text=TEXT, names=("causality",), position=20, token=2)]


def test_a_click_on_a_token_changes_that_one(done, world):
    done.choose("causality")
    settle(done)
    grid = done.detail.pictures.drawings["causality"]
    plot = grid._plot()
    at = QPointF(plot.x() + plot.width() * 3.5 / 32, plot.y() + 5)
    QTest.mouseClick(grid, Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert [each.position for each in world.sent] == [3]


def test_drawing_the_answer_asks_nothing(done, world):
    done.choose("causality")
    for _ in range(3):
        settle(done)
    assert world.sent == []


def test_while_a_run_is_under_way_nothing_else_is_asked(done, world):
    done.choose("causality")
    settle(done)
    done.run()
    settle(done)
    assert not done.detail.choice.isEnabled()
    world.sent.clear()
    done.detail.choice.position.setValue(3)
    assert world.sent == []


def test_of_a_large_vocabulary_the_id_is_typed(stage, world, told):
    large = replace(told[0], config=replace(CONFIG, vocabulary=5000), alphabet=None)
    world.subject.set_built(large)
    stage.run()
    finish(stage, world, told)
    stage.choose("causality")
    settle(stage)
    choice = stage.detail.choice
    assert choice.token.isHidden()
    assert choice.id.isVisibleTo(stage)
    world.sent.clear()
    choice.id.setValue(4321)
    assert [(each.position, each.token) for each in world.sent] == [(20, 4321)]


# --- LayerNorm -------------------------------------------------------------------------------------------------------


def test_the_slider_shrinks_the_input_until_epsilon_shows(done):
    done.choose("layernorm")
    settle(done)
    norm = done.detail.pictures.drawings["layernorm"]
    assert norm.words.text().startswith("Input times 1: ")
    assert norm.words.text().endswith("and it reaches 4.0000 of 4.0000.")
    norm.slider.setValue(20)  # a tenth of a power of ten each, from 10^-6
    assert norm.words.text().startswith("Input times 1.0e-4: ")
    assert norm.sphere._reach < 0.1
    assert norm.curve._marked == 20
    settle(done)
    assert norm.slider.value() == 20  # drawing it again does not move it back


# --- room and manners ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(372, 292), (420, 330), (680, 430), (1500, 900)])
def test_list_and_opened_check_never_overlap_and_no_row_is_cut(done, size):
    done.resize(*size)
    for name in NAMES:
        done.choose(name)
        settle(done)
        one, other = done.list.geometry(), done.detail.geometry()
        assert not one.intersects(other)
        assert done.body.rect().contains(one.united(other).translated(done._stage.pos()))
        assert (done.list.viewport().height() % done.list.pitch == 0) or one.height() >= done.list.content_height()
        inner = done.detail._inner
        assert inner.minimumSizeHint().width() <= done.detail.scroller.viewport().width()


def test_on_a_wide_panel_the_list_shows_what_was_expected_too(done):
    assert len(done.list.columns()) == 1
    done.resize(1500, 900)
    settle(done)
    assert len(done.list.columns()) == 3
    (_, first), (second_left, _), (third_left, third) = done.list.columns()
    assert first < second_left < third_left
    assert third_left + third <= done.list.viewport().width()


def test_the_list_leaves_letters_to_the_window_and_takes_the_arrows(done):
    done.list.setCurrentRow(0)
    QTest.keyClick(done.list, Qt.Key.Key_Down)
    assert done._chosen == "causality"
    QTest.keyClick(done.list, Qt.Key.Key_M)
    assert done._chosen == "causality"


def test_e07_whatever_a_token_is_it_is_shown_as_plain_text(done):
    done.choose("before_sample")
    settle(done)
    for label in done.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText, label.text()
    assert CheckRow("a", "<b>", PASSED).spoken() == "<b>: passed"
    text = done.detail.pictures.drawings["before_sample"].views[0].text()
    assert len(text) > 280
    assert set(text) <= set(ALPHABET) | set("‹19›")


def test_e09_runs_leave_no_objects_behind(stage, world, told):
    def once():
        stage.run()
        finish(stage, world, told)
        for name in NAMES:
            stage.choose(name)
            settle(stage)

    for _ in range(2):
        once()
    gc.collect()
    before = len(stage.findChildren(QObject))
    for _ in range(3):
        once()
    gc.collect()
    assert len(stage.findChildren(QObject)) == before


def test_the_table_has_a_row_for_every_claim(done):
    table = done.table()
    assert table[0] == ["check", "claim", "result", "expected", "found", "detail"]
    assert [row[0] for row in table[1:]] == list(NAMES)
    assert table[1][2:5] == ["passed", "7,648", "7,648"]
    assert table[-1][2] == "does not apply"


def test_numbers_beside_drawings_are_short():
    assert [figure(value) for value in (1e-7, 12345.6, np.float32(0.1), float("nan"), float("-inf"))] == [
        "1.0e-7",
        "12,346",
        "0.1",
        "NaN",
        "−∞",
    ]
    assert ticks(3.1, 5.2, 4) == [4.0, 5.0]
    assert ticks(2.0, 2.0, 4) == [2.0]


def test_in_the_window_all_checks_run_on_the_real_engine_beside_everything_else(window, qtbot):
    panel = window.panels["checks"]
    window.desk.fill("checks")
    model = window.subject.built
    panel.run_all.click()
    qtbot.waitUntil(lambda: panel.checker.ended == "finished", timeout=30_000)
    qtbot.waitUntil(lambda: panel.header.sentence.whole().startswith("11 of 11 claims hold"), timeout=5_000)
    assert window.subject.built is model
    assert panel.checker.result("parameter_count").slot == CURRENT


def test_where_several_bars_share_a_pixel_the_highest_and_every_wrong_one_are_drawn(qtbot):
    from gpt_viz.ui.widgets.check_profile import CheckProfile

    profile = CheckProfile()
    qtbot.addWidget(profile)
    values = np.ones(10_000, np.float32)
    values[1234] = 50.0
    profile.show_profile(values, across="steps", up="numbers", tell=str, wrong=frozenset({77}))
    profile.resize(400, 150)
    drawn = profile._worth_drawing(values.astype(np.float64), 300)
    assert {77, 1234} <= set(drawn)
    assert len(drawn) <= 301
    assert not profile.grab().isNull()
