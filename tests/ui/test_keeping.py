"""Training that has cost minutes is kept without a question: written while one trains, offered when it is replaced."""

import pytest
from PySide6.QtWidgets import QMessageBox
from test_learner import MODEL, PLAN, asked, began, kept, steps

from gpt_viz import settings
from gpt_viz.protocol import (
    Built,
    Cancel,
    CheckpointOpened,
    CheckpointSaved,
    Failed,
    Finished,
    SaveCheckpoint,
    Train,
    Untrain,
)
from gpt_viz.ui.training import keeping
from gpt_viz.ui.training.keeping import RESTING_S, WORTH_S, Keeping
from gpt_viz.ui.training.learner import Learner
from gpt_viz.ui.training.places import Place


@pytest.fixture
def it(world):
    """Keeping beside a learner in a run; `tell` hands an event to both, `train` lets seconds and steps go by."""
    world.now, world.said, world.proposed, world.opened = [0.0], [], [], []
    world.subject.set_built(MODEL)
    world.learner = Learner(world.subject, world.new_job, world.send)
    world.keeping = Keeping(
        world.learner, world.subject, world.new_job, world.send,
        lambda why, act: world.proposed.append((why, act)), world.opened.append, lambda: world.now[0],
    )  # fmt: skip
    world.keeping.said.connect(lambda *said: world.said.append(said))

    def tell(event):
        world.learner.handle(event)
        world.keeping.handle(event)

    def train(seconds):
        for _ in range(int(seconds)):
            world.now[0] += 1.0
            tell(steps(world.job, world.learner.newest, 3.0))

    world.tell, world.train = tell, train
    world.learner.run(PLAN)
    world.job = asked(world, Train)[0].job
    tell(began(world.job))
    return world


def saves(world):
    return asked(world, SaveCheckpoint)


def write(world):
    """The file is written, as the engine would."""
    save = saves(world)[-1]
    world.keeping.place.path.parent.mkdir(parents=True, exist_ok=True)
    world.keeping.place.path.write_bytes(b"weights")
    world.tell(CheckpointSaved(job=save.job, path=save.path, bytes=7))
    world.tell(Finished(job=save.job))


def test_a_few_seconds_of_training_are_no_file(it):
    it.train(WORTH_S - 2)
    assert not saves(it)
    it.tell(Built(job=90, model=MODEL))
    assert not it.proposed


def test_after_that_it_is_written_in_the_users_folder_now_and_then(it):
    it.train(WORTH_S + 1)
    (save,) = saves(it)
    assert save.path == str(settings.trainings_dir() / "training.safetensors")
    assert save.newest
    assert save.resumable
    it.train(WORTH_S)
    assert len(saves(it)) == 1  # one at a time
    write(it)
    assert it.keeping.holds
    it.train(WORTH_S + 1)
    assert len(saves(it)) == 2


def test_at_rest_less_is_worth_a_file(it):
    it.train(RESTING_S + 1)
    assert not saves(it)
    it.learner.pause()
    assert len(saves(it)) == 1
    assert it.keeping.unkept
    write(it)
    assert not it.keeping.unkept


def test_what_closes_waits_until_all_of_it_is_written(it):
    done = []
    it.train(WORTH_S + 1)  # a file is under way, and does not hold what comes now
    it.train(1)
    it.tell(Finished(job=it.job))
    it.keeping.keep(lambda: done.append(True))
    write(it)
    assert not done
    assert len(saves(it)) == 2
    write(it)
    assert done == [True]
    assert not it.keeping.unkept


def test_what_closes_does_not_wait_for_a_disk_that_is_full(it):
    done = []
    it.train(1)
    it.keeping.keep(lambda: done.append(True))
    it.tell(Failed(job=saves(it)[0].job, message="no space left", details="", expected=True))
    assert done == [True]
    assert not it.keeping.possible


def test_what_replaces_the_model_waits_until_its_training_is_written(it):
    done = []
    it.train(2)
    it.keeping.before(lambda: done.append("at once"))  # two seconds are no file
    assert done == ["at once"]
    it.train(RESTING_S)
    it.keeping.before(lambda: done.append("kept"))
    assert done == ["at once"]
    assert it.learner.running  # a build that fails finds everything as it was
    write(it)
    assert done == ["at once", "kept"]
    it.learner.pause()
    it.keeping.before(lambda: done.append("nothing new"))
    assert done[-1] == "nothing new"


def test_what_was_put_aside_can_be_opened_later(it):
    it.keeping.open_before()
    assert it.said[-1][0].startswith("No training has been put aside")
    it.train(WORTH_S + 1)
    write(it)
    it.tell(Built(job=90, model=MODEL))
    it.keeping.open_before()
    assert it.opened[-1].endswith("training-before.safetensors")


def test_standing_still_is_no_training(it):
    it.train(5)
    it.now[0] += 1000.0
    it.train(5)
    assert not saves(it)


def test_it_is_not_what_the_user_calls_saved(it):
    it.train(WORTH_S + 1)
    write(it)
    assert it.learner.unsaved > 0
    it.tell(CheckpointSaved(job=80, path="mine.safetensors", bytes=7))
    assert it.learner.unsaved == 0
    assert not it.keeping.holds


@pytest.mark.parametrize("how", ["built", "reset"])
def test_a_model_that_is_replaced_or_reset_can_be_had_back(it, how):
    it.train(WORTH_S + 1)
    write(it)
    if how == "built":
        it.tell(Built(job=90, model=MODEL))
    else:
        it.learner.reset()
        assert not asked(it, Untrain)  # the last steps are written first
        write(it)
        assert asked(it, Untrain)
    ((why, act),) = it.proposed
    assert why == f"The model before had {20 if how == 'built' else 21} steps of training; it is kept."
    act()
    (path,) = it.opened
    assert path.endswith("training-before.safetensors")
    assert not it.keeping.place.path.exists()
    assert not it.keeping.holds


def test_what_the_user_saved_is_not_offered(it):
    it.train(WORTH_S + 1)
    write(it)
    it.tell(CheckpointSaved(job=80, path="mine.safetensors", bytes=7))
    it.tell(Built(job=90, model=MODEL))
    assert not it.proposed


def test_a_file_under_way_when_the_model_is_replaced_is_given_up_and_counts_for_nothing(it):
    it.train(WORTH_S + 1)
    write(it)
    it.train(WORTH_S + 1)
    late = saves(it)[-1]
    it.tell(Built(job=90, model=MODEL))
    assert asked(it, Cancel)[-1].target == late.job
    it.tell(CheckpointSaved(job=late.job, path=late.path, bytes=7))
    it.learner.run(PLAN)
    it.job = asked(it, Train)[-1].job
    it.tell(began(it.job))
    it.train(1)
    assert it.keeping.unkept  # the new model's training is in no file, whatever the late one holds


def test_what_was_opened_again_is_still_only_in_that_file(it):
    path = str(it.keeping.place.path)
    it.keeping.place.path.parent.mkdir(parents=True, exist_ok=True)
    it.keeping.place.path.write_bytes(b"weights")
    it.tell(Built(job=90, model=MODEL))
    it.tell(CheckpointOpened(job=90, path=path, report=()))
    it.tell(steps(90, 0, 3.0, 2.0))
    it.tell(kept(90, 0, 2, newest=2))
    assert it.learner.unsaved == 0
    it.tell(Built(job=91, model=MODEL))
    assert it.proposed[0][0] == "The model before had 2 steps of training; it is kept."


def test_a_disk_that_is_full_is_said_once(it):
    it.train(WORTH_S + 1)
    it.tell(Failed(job=saves(it)[0].job, message="no space left", details="", expected=True))
    assert it.said == [("Training can't be kept: no space left; save it yourself.", True, "")]
    it.train(3 * WORTH_S)
    assert len(saves(it)) == 1


def test_what_was_kept_earlier_and_is_not_open_is_put_aside_and_not_written_over(it):
    path = it.keeping.place.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"minutes of last week")
    it.train(WORTH_S + 1)
    assert it.keeping.place.before.read_bytes() == b"minutes of last week"
    assert it.said == [("The training that was kept before is put aside: the menu opens it.", False, "")]
    write(it)
    it.train(WORTH_S + 1)  # its own is written over
    assert it.keeping.place.before.read_bytes() == b"minutes of last week"
    assert len(it.said) == 1
    it.keeping.open_before()
    assert it.opened == [str(it.keeping.place.before)]


def test_a_window_that_leaves_no_trace_keeps_nothing(it):
    it.keeping.wanted = False
    it.train(2 * WORTH_S)
    done = []
    it.keeping.before(lambda: done.append(True))
    assert done == [True]
    assert not saves(it)
    assert not settings.trainings_dir().exists()


def test_two_windows_never_write_the_same_file(it):
    it.train(WORTH_S + 1)
    write(it)
    other = Place(settings.trainings_dir())
    assert other.path == it.keeping.place.path
    assert not other.take()
    assert other.path == it.keeping.place.path.with_name("training-2.safetensors")
    assert other.before.name == "training-2-before.safetensors"
    third = Place(settings.trainings_dir())
    assert not third.take()
    assert third.path.name == "training-3.safetensors"
    for place in (other, third):
        place.give_up()


def test_a_file_that_another_window_has_is_looked_at_and_not_taken_over(it, world):
    other = Place(settings.trainings_dir())
    other.take()
    other.path.write_bytes(b"being written")
    path = str(other.path)
    it.tell(Built(job=90, model=MODEL))
    it.tell(CheckpointOpened(job=90, path=path, report=()))
    it.tell(steps(90, 0, 3.0, 2.0))
    it.tell(kept(90, 0, 2, newest=2))
    it.tell(Built(job=91, model=MODEL))
    assert not it.proposed
    assert other.path.read_bytes() == b"being written"
    other.give_up()
    assert it.keeping.place.take_over(other.path)
    it.keeping.place.give_up()


@pytest.mark.parametrize("name", ["training-before.safetensors", "mine.safetensors", "training-x.safetensors"])
def test_no_other_file_is_ever_taken_over(it, name):
    assert not it.keeping.place.take_over(settings.trainings_dir() / name)
    assert not it.keeping.place.take_over(settings.trainings_dir().parent / "training.safetensors")


def begun(open_window, steps):
    """A window in which a run of so many steps has just begun."""
    from conftest import SMALL

    window = open_window(*SMALL)
    panel = window.panels["training"]
    panel.controls.steps.setValue(steps)
    panel.controls.batch.setValue(2)
    panel.run()
    return window


def trained(open_window, qtbot, steps=8):
    """A window whose model has just been trained for so many steps, in a moment."""
    window = begun(open_window, steps)
    qtbot.waitUntil(lambda: window.learner.ended == "finished", timeout=30_000)
    return window


def in_full_swing(open_window, qtbot):
    """A window whose model is being trained, with no end near."""
    window = begun(open_window, 100_000)
    qtbot.waitUntil(lambda: window.learner.newest > 3, timeout=30_000)
    return window


def test_closing_loses_nothing_and_the_next_start_goes_on_with_it(open_window, qtbot):
    first = trained(open_window, qtbot)
    assert first.keeping.unkept  # it took no time that would be worth a file
    with qtbot.waitSignal(first.closed, timeout=30_000):
        assert not first.close()
    assert first.worker.stop(10)
    second = open_window()
    qtbot.waitUntil(lambda: second.learner.trained, timeout=30_000)
    assert second.learner.newest == 8
    assert second.subject.built.source == "training.safetensors"
    assert len(second.learner.losses) == 8


def test_a_second_try_to_close_waits_for_nothing(open_window, qtbot):
    window = trained(open_window, qtbot)
    assert not window.close()
    assert window.close()


def test_what_can_not_be_kept_is_asked_about_once(open_window, qtbot, monkeypatch):
    monkeypatch.setattr(keeping, "LARGEST_BYTES", 0)
    window = trained(open_window, qtbot)

    def question():
        return next(each for each in window.findChildren(QMessageBox, "leaving") if each.isVisible())

    assert not window.close()
    assert question().text() == "8 steps of training are in no file."
    question().button(QMessageBox.StandardButton.Cancel).click()
    assert window.isVisible()
    assert not window.close()
    with qtbot.waitSignal(window.closed, timeout=10_000):
        question().button(QMessageBox.StandardButton.Discard).click()


@pytest.mark.parametrize("how", ["folder", "writing"])
def test_what_could_not_be_written_at_closing_is_asked_about(open_window, qtbot, tmp_path, how):
    window = trained(open_window, qtbot)
    blocked = tmp_path / "no folder"
    blocked.write_text("a file")
    window.keeping.place.path = blocked / "training.safetensors" if how == "folder" else tmp_path
    assert not window.close()
    qtbot.waitUntil(
        lambda: any(each.isVisible() for each in window.findChildren(QMessageBox, "leaving")), timeout=5_000
    )
    assert window.isVisible()
    assert window.keeping.unkept
    assert window.close()  # a second try


def test_training_goes_on_where_one_stays(open_window, qtbot, monkeypatch):
    window = in_full_swing(open_window, qtbot)
    monkeypatch.setattr(keeping, "LARGEST_BYTES", 0)
    assert not window.close()
    (question,) = (each for each in window.findChildren(QMessageBox, "leaving") if each.isVisible())
    question.button(QMessageBox.StandardButton.Cancel).click()
    steps = window.learner.newest
    qtbot.waitUntil(lambda: window.learner.newest > steps, timeout=30_000)


def test_a_run_that_is_closed_in_full_swing_is_kept_whole(open_window, qtbot):
    window = in_full_swing(open_window, qtbot)
    with qtbot.waitSignal(window.closed, timeout=30_000):
        assert not window.close()
    assert window.worker.stop(10)
    steps = window.learner.newest
    second = open_window()
    qtbot.waitUntil(lambda: second.learner.trained, timeout=30_000)
    assert second.learner.newest == steps


def test_what_the_user_saves_is_written_before_the_window_closes_and_beside_what_is_kept(open_window, qtbot, tmp_path):
    window = trained(open_window, qtbot)
    paths = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    for path in paths:
        window.checkpoints.save(str(path))
    with qtbot.waitSignal(window.closed, timeout=30_000):
        assert not window.close()
    assert all(path.is_file() for path in paths)


def test_what_was_saved_is_not_asked_about(open_window, qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(keeping, "LARGEST_BYTES", 0)
    window = trained(open_window, qtbot)
    window.checkpoints.save(str(tmp_path / "mine.safetensors"))
    qtbot.waitUntil(lambda: window.learner.unsaved == 0, timeout=30_000)
    assert window.close()


def test_building_keeps_the_training_of_a_few_seconds_too(open_window, qtbot, monkeypatch):
    monkeypatch.setattr(keeping, "RESTING_S", 0.0)
    window = trained(open_window, qtbot)
    qtbot.waitUntil(lambda: not window.keeping.unkept, timeout=10_000)
    window.panels["training"].step()
    qtbot.waitUntil(lambda: window.learner.newest == 9, timeout=10_000)
    window.builder.choose_preset("step5")
    qtbot.waitUntil(lambda: window.subject.built.config.layers == 4, timeout=30_000)
    qtbot.waitUntil(lambda: not window.texts.offer.isHidden(), timeout=10_000)
    assert window.keeping.place.before.is_file()
    window.actions_["training.kept"].trigger()
    qtbot.waitUntil(lambda: window.learner.newest == 9, timeout=30_000)


def test_a_build_that_waits_for_it_can_be_cancelled(open_window, qtbot):
    window = trained(open_window, qtbot)
    window.builder.before = lambda then: None  # it is being written, and takes its time
    before = window.subject.built
    window.builder.choose_preset("step5")
    window.builder.cancel()
    assert window.subject.built is before
    assert window.builder._build_job is None
