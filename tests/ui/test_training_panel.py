"""The training panel: what can be pressed when, what is refused, what is seen; and the window while a model learns."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QToolButton

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    Attended,
    CheckpointSaved,
    Failed,
    Finished,
    ModelInfo,
    MomentShown,
    MomentsKept,
    Pause,
    ReportTraining,
    ShowMoment,
    TextOpened,
    Train,
    TrainedSteps,
    TrainingBegan,
    TrainingSample,
    Untrain,
    Validated,
)
from gpt_viz.ui.panels.training import Training
from gpt_viz.ui.study import built_in
from gpt_viz.ui.training import training_words as words
from gpt_viz.ui.training.learner import Learner
from gpt_viz.ui.widgets.segments import Segments
from gpt_viz.ui.widgets.time_machine import FRAME_MS

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
LETTERS = tuple("abcdefghijk")


def model(config=TINY, alphabet=LETTERS, pieces=None):
    return ModelInfo(
        config=config,
        seed=0,
        device="cpu",
        alphabet=alphabet,
        tensors=(),
        total=0,
        bytes=0,
        elapsed_s=0.0,
        pieces=pieces,
    )


def text(characters, alphabet=LETTERS, path="/somewhere/short.txt"):
    return TextOpened(
        job=0, path=path, name=path.rpartition("/")[2], characters=characters, alphabet=tuple(alphabet), excerpt="abc",
        encoding="utf-8",
    )  # fmt: skip


def frozen(*values):
    array = np.array(values, np.float32)
    array.setflags(write=False)
    return array


@pytest.fixture
def panel(world, qtbot):
    """The panel with a model and a text of 200 characters, drawn."""
    learner = Learner(world.subject, world.new_job, world.send)
    made = Training(replace(world.context, learner=learner))
    qtbot.addWidget(made)
    qtbot.addWidget(made.header)
    world.subject.set_built(model())
    world.study.set_corpus(text(200))
    made.resize(680, 400)
    made.show()
    made.draw()
    return made


def button(panel, name):
    return panel.findChild(QPushButton, f"training.{name}")


def enabled(panel):
    return {name for name in ("run", "pause", "step", "stop", "reset") if button(panel, name).isEnabled()}


def asked(world, kind):
    return [each for each in world.sent if isinstance(each, kind)]


def tell(panel, *events):
    for event in events:
        panel.learner.handle(event)
    panel._at_once()
    panel.draw()


def steps(job, first, *losses):
    array = frozen(*losses)
    return TrainedSteps(
        job=job, first=first, losses=array, rates=array, gradient_norms=array, tokens_per_second=1234.0, left_s=65.0
    )


def began(job, last=500):
    return TrainingBegan(
        job=job, first=0, step=0, last=last, name="short.txt", sha256="", tokens=180, validation_tokens=20, windows=2
    )


def kept(job, *moments, newest):
    return MomentsKept(job=job, steps=moments, newest=newest, bytes=64_000, limit_bytes=256 * 2**20)


@pytest.fixture
def running(panel, world):
    """A run with three steps made; its job."""
    button(panel, "run").click()
    job = asked(world, Train)[-1].job
    tell(panel, began(job), steps(job, 0, 3.0, 2.5, 2.0), kept(job, 0, 1, 2, newest=3))
    return job


# --- what is asked -------------------------------------------------------------------------------------------------


def test_pressing_train_asks_for_what_the_fields_say(panel, world):
    panel.controls.batch.setValue(8)
    panel.controls.steps.setValue(200)
    panel.controls.rate.setValue(0.001)
    panel.controls.warmup.setValue(5)
    panel.controls.decay.setValue(0.5)
    panel.controls.validation.setValue(0.2)
    panel.controls.seed.setText("7")
    button(panel, "run").click()
    (command,) = asked(world, Train)
    settings = command.settings
    assert (settings.batch, settings.steps, settings.rate, settings.warmup) == (8, 200, 0.001, 5)
    assert (settings.decay, settings.validation, settings.seed, settings.eval_every) == (0.5, 0.2, 7, 10)
    assert (command.corpus, command.encoding) == ("/somewhere/short.txt", "utf-8")


def test_each_button_can_be_pressed_when_it_makes_sense(panel, world):
    assert enabled(panel) == {"run", "step"}
    button(panel, "run").click()
    assert enabled(panel) == {"pause", "stop", "reset"}
    job = asked(world, Train)[-1].job
    tell(panel, began(job), steps(job, 0, 3.0), kept(job, 0, newest=1))
    button(panel, "pause").click()
    assert enabled(panel) == {"run", "step", "stop", "reset"}
    assert button(panel, "run").text() == "Go on"
    assert [type(each) for each in world.sent[-2:]] == [Pause, ReportTraining]
    button(panel, "run").click()
    button(panel, "stop").click()
    assert enabled(panel) == {"reset"}
    tell(panel, Finished(job=job))
    assert enabled(panel) == {"run", "step", "reset"}
    button(panel, "reset").click()
    assert type(world.sent[-1]) is Untrain
    assert enabled(panel) == {"run", "step"}


def test_settings_stay_as_they_are_while_a_run_is_live(panel, running):
    assert not panel.controls.rate.isEnabled()
    assert not panel.controls.seed.isEnabled()
    tell(panel, Finished(job=running))
    assert panel.controls.rate.isEnabled()


def test_every_control_has_its_name_and_says_what_it_is(panel):
    for name in ("run", "pause", "step", "stop", "reset", "batch", "steps", "rate", "warmup", "decay", "validation"):
        widget = panel.findChild(object, f"training.{name}")
        assert widget is not None, name
        assert widget.accessibleName(), name
    for name in ("training.corpus", "training.scale", "moments.play", "moments.slider"):
        assert panel.findChild(object, name) or panel.header.findChild(object, name), name


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("batch", "0", "the batch is a whole number from 1 to 1,000,000, not “0”"),
        ("rate", "-1", "the learning rate is a number from 0 to 1,000,000, not “-1”"),
        ("rate", "nan", "the learning rate is a number from 0 to 1,000,000, not “nan”"),
        ("rate", "inf", "not “inf”"),
        ("steps", "0", "the number of steps goes from 1 to 1,000,000,000, not “0”"),
        ("warmup", "-3", "the warm-up is a whole number of steps from 0 (off) to 1,000,000,000, not “-3”"),
        ("decay", "2", "the decay is a share from 0 to 1 (off) of the learning rate, not “2”"),
        ("validation", "1", "the validation share is a number from 0 (none) to 0.9, not “1”"),
    ],
)
def test_a03_nonsense_is_refused_at_its_field_with_value_and_range(panel, world, name, typed, said):
    panel.controls.more.setChecked(True)
    field = panel.findChild(object, f"training.{name}")
    before = field.value()
    field.setFocus()
    field.lineEdit().selectAll()
    QTest.keyClicks(field, typed)
    assert said[:1].upper() + said[1:] in panel.problem.text() or said in panel.problem.text()
    assert field.property("mistake") == "true"
    assert enabled(panel) == set()
    button(panel, "run").click()
    assert not asked(world, Train)
    field.clearFocus()
    QTest.keyClick(field, Qt.Key.Key_Escape)
    panel.controls.commit()
    assert field.value() == before


def test_a03_a_seed_that_is_none_is_refused(panel, world):
    panel.controls.seed.setText("-1")
    assert "Seed -1 is out of range" in panel.problem.text()
    assert enabled(panel) == set()
    panel.controls.seed.setText("x")
    assert "whole number" in panel.problem.text()
    panel.controls.seed.setText("5")
    assert panel.problem.text() == ""
    assert enabled(panel) == {"run", "step"}


@pytest.mark.parametrize("length", [1, 7, 8])
def test_c07_c08_a_text_that_is_too_short_is_said_before_it_is_tried(panel, world, length):
    panel.controls.validation.setValue(0.0)
    world.study.set_corpus(text(length, LETTERS[:length]))
    assert enabled(panel) == set()
    said = panel.problem.text()
    assert f"short.txt has {length} character" in said
    assert "needs at least T+1 = 9" in said
    assert ("block size of at most" in said) is (length > 1)
    assert (
        said
        == panel.findChild(QPushButton, "training.run").accessibleDescription()[:1].upper()
        + button(panel, "run").accessibleDescription()[1:]
        + "."
    )


def test_c08_exactly_one_window_can_be_trained_on(panel, world):
    panel.controls.validation.setValue(0.0)
    world.study.set_corpus(text(9))
    assert enabled(panel) == {"run", "step"}
    panel.controls.validation.setValue(0.2)
    assert "8 characters to train on" in panel.problem.text()
    assert "a smaller validation share or a block size of at most 7" in panel.problem.text()


def test_the_words_agree_with_what_the_engine_refuses(panel):
    from gpt_viz.engine.training import TrainingError, check_length, split

    for length in range(1, 14):
        for share in (0.0, 0.1, 0.3):
            said = words.obstacle(model(), text(length), share)
            try:
                check_length(len(split(np.arange(length), share)[0]), 8)
                assert said == "", (length, share)
            except TrainingError:
                assert said, (length, share)


def test_a_text_that_the_model_can_not_read_is_named(panel, world):
    world.study.set_corpus(text(500, (*LETTERS, "é", "\n")))
    assert "has “é” and “↵”, which the model can't read" in panel.problem.text()
    assert enabled(panel) == set()


def test_models_of_ids_and_of_pieces_are_told_apart(world):
    assert "reads ids" in words.obstacle(model(alphabet=None), built_in(), 0.1)
    assert words.obstacle(model(alphabet=None), text(5), 0.1) == ""
    assert words.obstacle(model(alphabet=None, pieces=("a", "b")), built_in(), 0.1) == ""


def test_a_what_if_that_can_not_be_built_covers_the_panel(panel, world):
    world.subject.set_draft(replace(TINY, width=24), "it is too large")
    panel.draw()
    assert panel.covered == "It is too large"
    world.subject.set_draft(replace(TINY, width=24))
    panel.draw()
    assert panel.header.sentence.whole().startswith("Of the built model: ")


# --- the text ------------------------------------------------------------------------------------------------------


def test_the_text_under_study_is_trained_on_unless_the_passage_is_chosen(panel, world):
    menu = panel.text.menu()
    assert [each.text() for each in menu.actions() if each.text()] == [
        "short.txt", "the built-in passage", "Open a text …",
    ]  # fmt: skip
    assert panel.corpus().name == "short.txt"
    menu.actions()[1].trigger()
    assert panel.corpus().path == ""
    assert panel.text.text() == "the built-in passage"
    world.study.set_corpus(text(300, path="/a/other & more.txt"))
    assert panel.corpus().path == ""
    panel.text.menu().actions()[0].trigger()
    assert panel.corpus().name == "other & more.txt"


def test_opening_a_text_is_the_window_s_own_command(world, qtbot):
    told = []
    made = Training(replace(world.context, ask=told.append))
    qtbot.addWidget(made)
    qtbot.addWidget(made.header)
    made.text.menu().actions()[-1].trigger()
    assert told == ["open"]


# --- what is seen --------------------------------------------------------------------------------------------------


def test_before_the_first_step_it_says_what_a_fair_guess_is(panel):
    assert panel.header.sentence.whole() == "Not trained yet; a fair guess has the loss ln 11 = 2.398."
    assert panel.state.whole() == "180 characters to train on, the last 20 to test on"
    assert not panel.machine.slider.isEnabled()
    assert panel.covered == ""


def test_a_run_is_seen_as_it_goes(panel, running):
    tell(panel, Validated(job=running, step=3, loss=2.25, windows=2))
    assert panel.header.sentence.whole() == "After 3 steps: loss 2.000 on the last batch, 2.250 on text not trained on."
    assert panel.state.whole() == "Training · step 3 of 500 · 1,234 tokens/s · 1 min 5 s left · rate 2"
    assert panel.curve.words_at(1) == "step 1: batch 2.500"
    assert panel.machine.where.text() == "step 3"
    tell(panel, Finished(job=running))
    assert panel.state.whole() == "Complete · step 3 of 500"


def test_an_estimate_of_earlier_weights_is_said_with_its_step(panel, running):
    tell(panel, Validated(job=running, step=1, loss=2.25, windows=2))
    assert panel.header.sentence.whole() == (
        "After 3 steps: loss 2.000 on the last batch, 2.250 on text not trained on (at 1)."
    )


def test_where_there_is_little_room_settings_give_way_to_the_curve_while_a_run_is_live(panel, running):
    controls = panel.controls
    assert controls.batch.isVisible()
    panel.resize(370, 320)
    panel._at_once()
    panel.draw()
    assert not any(each.isVisible() for each in (controls.batch, controls.more, controls.seed, panel.text))
    assert controls.buttons["pause"].isVisible()
    tell(panel, Finished(job=running))
    assert controls.batch.isVisible()
    assert controls.more.isVisible()
    panel.resize(700, 600)
    panel.draw()
    assert controls.seed.isVisible()


def test_the_button_says_beforehand_that_it_would_begin_anew(panel, running):
    tell(panel, Finished(job=running))
    assert button(panel, "run").text() == "Train"
    tell(panel, CheckpointSaved(job=50, path="mine.safetensors", bytes=1))
    tell(panel, MomentShown(job=51, step=0, newest=False))
    assert button(panel, "run").text() == "Train anew"
    tell(panel, MomentShown(job=52, step=3, newest=True))
    assert button(panel, "run").text() == "Train"


def test_numbers_to_be_read_change_four_times_a_second_at_most(panel, running):
    now = [100.0]
    panel.clock = lambda: now[0]
    panel._at_once()
    panel.draw()
    before = panel.state.whole()
    for number in range(10):
        now[0] += 0.02
        panel.learner.handle(steps(running, 3 + number, 1.9))
        panel.draw()
    assert panel.state.whole() == before
    now[0] += 0.1
    panel.draw()
    assert "step 13 of 500" in panel.state.whole()


def test_f03_the_curve_is_drawn_four_times_a_second_at_most(panel, running):
    now, drawn = [100.0], []
    panel.clock = lambda: now[0]
    panel._at_once()
    show = panel.curve.show_losses
    panel.curve.show_losses = lambda *args, **options: (drawn.append(now[0]), show(*args, **options))
    for number in range(60):
        panel.learner.handle(steps(running, 3 + number, 1.9))
        panel.draw()
        now[0] += 1 / 64
    assert len(drawn) == 4
    assert len(panel.curve._losses) < 63
    now[0] += 1.0
    panel.draw()
    assert len(panel.curve._losses) == 63


def test_news_that_come_too_early_are_drawn_in_time_and_not_in_every_frame_until_then(panel, running, qtbot):
    now = [100.0]
    panel.clock = lambda: now[0]
    panel._at_once()
    panel.learner.handle(steps(running, 3, 1.9))
    panel.draw()
    panel.dirty = False
    now[0] += 0.01
    panel.learner.handle(steps(running, 4, 1.8))
    assert panel.dirty
    panel.dirty = False
    panel.draw()
    assert not panel.dirty
    assert len(panel.curve._losses) == 4
    now[0] += 1.0
    qtbot.waitUntil(lambda: panel.dirty)
    panel.draw()
    assert len(panel.curve._losses) == 5


def test_pressing_buttons_makes_no_more_timers(panel, running):
    before = len(panel.findChildren(QTimer))
    for _ in range(5):
        panel.pause()
        panel.run()
    assert len(panel.findChildren(QTimer)) == before


def test_every_step_reaches_curve_and_table(panel, running):
    tell(panel, *[steps(running, 3 + number, 1.0 + number) for number in range(40)])
    rows = panel.table()
    assert len(rows) == 1 + 43
    assert rows[1][:2] == ["0", "3"]
    assert rows[-1][:2] == ["42", "40"]
    assert len(panel.curve._losses) == 43


def test_samples_stand_newest_first_as_plain_text(panel, running):
    tell(
        panel,
        TrainingSample(job=running, step=0, prompt="\n", text="x<b>y</b>\nz", seed=0),
        TrainingSample(job=running, step=3, prompt="\n", text="abc", seed=0),
    )
    assert panel.samples.toPlainText() == "step 3 · seed 0\nabc\n\nstep 0 · seed 0\nx<b>y</b>\nz"
    tell(panel, MomentShown(job=9, step=1, newest=False))
    assert panel.samples.toPlainText() == "step 0 · seed 0\nx<b>y</b>\nz"


def test_f05_a_failed_run_says_where_and_why_and_can_be_begun_again(panel, world, running):
    tell(panel, Failed(job=running, message="RuntimeError: no luck", details="…", expected=False))
    assert panel.problem.text() == "Failed at step 3: RuntimeError: no luck."
    assert panel.state.whole() == ""
    assert enabled(panel) == {"run", "step", "reset"}
    assert panel.samples.toPlainText() == ""
    button(panel, "run").click()
    assert len(asked(world, Train)) == 2
    assert panel.problem.text() == ""


def test_f05_a_text_that_fails_to_load_is_no_failed_step(panel, world):
    button(panel, "run").click()
    tell(panel, Failed(job=asked(world, Train)[0].job, message="there is no file", details="", expected=True))
    assert panel.problem.text() == "Failed: there is no file."


def test_f19_a_loss_that_is_not_finite_is_named_with_its_step_and_reset_works(panel, world, running):
    tell(panel, Failed(job=running, message="the loss became nan at step 3; lower it", details="", expected=True))
    assert panel.problem.text() == "Failed: the loss became nan at step 3; lower it."
    button(panel, "reset").click()
    assert type(world.sent[-1]) is Untrain
    panel.draw()
    assert panel.problem.text() == ""


def test_f19_losses_that_are_not_finite_are_gaps_in_every_scale(panel, running):
    for scale in ("linear", "log"):
        panel.scale.choose(scale)
        tell(panel, steps(running, len(panel.learner.losses), 3.2, 2.9, math.nan, math.inf, 2.8))
        assert not panel.grab().toImage().isNull()
    assert "nan" not in panel.header.sentence.whole()


def test_a05_a_vocabulary_of_one_has_a_level_of_zero(panel, world):
    world.subject.set_built(model(replace(TINY, vocabulary=1), ("a",)))
    world.study.set_corpus(text(64, ("a",)))
    panel.draw()
    assert panel.header.sentence.whole() == "Not trained yet; a fair guess has the loss ln 1 = 0.000."
    button(panel, "run").click()
    job = panel.learner._job
    for scale in ("log", "linear"):
        panel.scale.choose(scale)
        tell(panel, began(job), steps(job, len(panel.learner.losses), 0.0, 0.0))
        assert not panel.grab().toImage().isNull()


# --- the time machine ----------------------------------------------------------------------------------------------


def test_the_slider_and_the_curve_show_kept_moments(panel, world, running):
    panel.machine.slider.setValue(1)
    assert asked(world, ShowMoment)[-1].step == 1
    tell(panel, MomentShown(job=asked(world, ShowMoment)[-1].job, step=1, newest=False))
    assert panel.machine.where.text() == "step 1"
    assert panel.header.sentence.whole() == "The model as it was after 1 step; training waits meanwhile."
    panel.learner.handle(Finished(job=asked(world, ShowMoment)[-1].job))
    panel.curve.chosen.emit(1000)
    assert asked(world, ShowMoment)[-1].step is None


def test_the_film_goes_from_moment_to_moment_as_they_are_shown(panel, world, running, qtbot):
    tell(panel, Finished(job=running))
    panel.machine.play.click()
    assert panel.machine.playing
    seen = []
    for _ in range(4):
        qtbot.waitUntil(lambda: len(asked(world, ShowMoment)) > len(seen), timeout=20 * FRAME_MS)
        show = asked(world, ShowMoment)[-1]
        seen.append(show.step)
        moment = 3 if show.step is None else show.step
        tell(panel, MomentShown(job=show.job, step=moment, newest=show.step is None), Finished(job=show.job))
    assert seen == [0, 1, 2, None]
    qtbot.waitUntil(lambda: not panel.machine.playing, timeout=20 * FRAME_MS)


def test_the_film_can_be_paused(panel, world, running):
    panel.machine.play.click()
    panel.machine.play.click()
    assert not panel.machine.playing
    assert len(asked(world, ShowMoment)) == 1


# --- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(648, 396), (388, 276), (1468, 860)])
def test_curve_slider_and_buttons_are_whole_at_any_size(panel, running, size):
    panel.resize(*size)
    for _ in range(3):
        panel.draw()
        QTest.qWait(0)
    for widget in (panel.curve, panel.machine, *panel.controls.buttons.values()):
        assert widget.isVisible()
        corner = widget.mapTo(panel, widget.rect().bottomRight())
        assert panel.rect().contains(corner), widget.objectName()
    assert panel.curve.height() >= 80
    assert not panel.curve.geometry().intersects(panel.machine.geometry())
    if panel.samples.isVisible():
        assert not panel.curve.geometry().intersects(panel.samples.geometry())


def test_seldom_settings_come_when_asked_for_or_where_there_is_room(panel):
    panel.draw()
    assert not panel.controls.warmup.isVisible()
    panel.findChild(QToolButton, "training.more").click()
    assert panel.controls.warmup.isVisible()
    panel.findChild(QToolButton, "training.more").click()
    panel.resize(1400, 800)
    panel.draw()
    assert panel.controls.warmup.isVisible()
    assert not panel.controls.more.isVisible()


# --- the window ----------------------------------------------------------------------------------------------------


def press(window, name):
    window.findChild(QPushButton, name).click()


@pytest.fixture
def learning(window, qtbot):
    """A window whose small model is in training."""
    panel = window.panels["training"]
    panel.controls.steps.setValue(100_000)
    panel.controls.batch.setValue(2)
    press(window, "training.run")
    qtbot.waitUntil(lambda: window.learner.newest > 5, timeout=30_000)
    return window


def test_all_panels_live_on_the_model_that_is_training(learning, qtbot):
    heard = []
    learning.bridge.listen(lambda event: heard.append(event) if isinstance(event, Attended) else None)
    before = learning.topbar.loss.text()
    qtbot.waitUntil(lambda: len(heard) >= 3, timeout=30_000)
    assert any((one.whole != other.whole).any() for one, other in pairwise(heard))
    qtbot.waitUntil(lambda: learning.topbar.loss.text() != before, timeout=30_000)
    assert learning.learner.running
    press(learning, "sampling.step")
    qtbot.waitUntil(lambda: len(learning.study.draws) == 1, timeout=30_000)
    press(learning, "training.stop")
    qtbot.waitUntil(lambda: not learning.learner.live, timeout=30_000)
    assert len(learning.learner.losses) == learning.learner.newest


def test_the_switch_goes_between_untrained_and_trained_and_training_waits(learning, qtbot):
    switch = learning.findChild(Segments, "weights.switch")
    assert switch.state() == "trained"
    switch.findChild(object, "weights.switch.untrained").click()
    qtbot.waitUntil(lambda: learning.learner.shown == 0, timeout=30_000)
    assert switch.state() == "untrained"
    assert learning.learner.live
    assert not learning.learner.running
    newest = learning.learner.newest
    switch.findChild(object, "weights.switch.trained").click()
    qtbot.waitUntil(lambda: learning.learner.newest > newest, timeout=30_000)
    assert (switch.state(), learning.learner.running) == ("trained", True)


def test_the_switch_is_off_with_a_reason_until_there_is_something_to_switch(window):
    switch = window.findChild(Segments, "weights.switch")
    assert not switch.findChild(object, "weights.switch.trained").isEnabled()
    assert "train this model" in switch.accessibleDescription()
    assert "train this model" in switch.toolTip()
    assert switch.accessibleName() == "Weights"


def test_another_model_ends_the_training_and_takes_its_place(learning, qtbot):
    press(learning, "model.build")
    qtbot.waitUntil(lambda: not learning.learner.live, timeout=30_000)
    assert not learning.learner.trained
    assert len(learning.learner.losses) == 0
    press(learning, "training.step")
    qtbot.waitUntil(lambda: learning.learner.newest == 1, timeout=30_000)


def test_f01_closing_the_window_while_it_learns_ends_the_worker(learning):
    learning.close()
    assert learning.worker.stop(10)


def test_f03_the_window_goes_on_drawing_while_a_model_learns_and_stop_acts(learning, qtbot):
    frames = []
    learning.desk.fill("training")
    learning.bridge.painted.connect(lambda: frames.append(learning.learner.newest))
    qtbot.waitUntil(lambda: len(set(frames)) >= 5, timeout=30_000)
    press(learning, "training.stop")
    assert learning.learner.stopping
    assert learning.panels["training"].problem.text() == ""
    qtbot.waitUntil(lambda: not learning.learner.live, timeout=30_000)


def test_the_four_main_panels_keep_their_places(window):
    for name in ("parameters", "shapes", "attention", "sampling"):
        assert window.panels[name].in_sight(), name
    assert not window.panels["training"].in_sight()
