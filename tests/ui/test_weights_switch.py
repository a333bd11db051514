"""Untrained or trained at one key, from the first start on: the weights that ship stand behind the model as drawn."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gpt_viz import resources, settings
from gpt_viz.config import PRESETS, GPTConfig, Preset
from gpt_viz.engine.checkpoints.saving import save
from gpt_viz.engine.engine import Engine, make_engine
from gpt_viz.engine.initialise import build
from gpt_viz.engine.trace import inspect
from gpt_viz.protocol import CURRENT, Attended, Build, SaveCheckpoint, Train
from gpt_viz.schedule import TrainingSettings
from gpt_viz.ui.model import shipped
from gpt_viz.ui.palette import keys_of
from gpt_viz.ui.widgets.segments import Segments

SMALL = GPTConfig(layers=2, heads=3, width=12, block_size=16)
WORDS = ["--set", "layers=2", "--set", "heads=3", "--set", "width=12", "--set", "block_size=16"]
STEPS = 12
WAIT = 20_000


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A stand-in for what ships: a small model trained for a few steps by the program, and saved by it."""
    path = tmp_path_factory.mktemp("ships") / "step5.safetensors"
    engine = Engine(threads=1)
    for command in (
        Build(job=1, config=SMALL, seed=1337, alphabet=resources.alphabet()),
        Train(job=2, settings=TrainingSettings(steps=STEPS, batch=4, rate=0.02), tokens=0, windows=2),
        SaveCheckpoint(job=3, path=str(path), resumable=False),
    ):
        for _ in engine.run(command):
            pass
    return path


@pytest.fixture
def ships(monkeypatch, trained):
    """As if these were the weights that ship, and SMALL the preset that they are of."""
    monkeypatch.setitem(PRESETS, "step5", Preset("step5", "Step 5", SMALL, True))
    monkeypatch.setattr(resources, "checkpoint", lambda name: trained if name == "step5" else None)
    return trained


class Held:
    """Makes the window's engine and keeps it, to look at its weights while nothing runs."""

    def __call__(self, emit):
        self.engine = make_engine(emit)
        return self.engine

    def weights(self):
        return torch.cat([each.detach().flatten() for each in self.engine.model(CURRENT).model.parameters()])


@pytest.fixture
def start(open_window):
    def open_one(*argv):
        held = Held()
        window = open_window(*(argv or WORDS), make_engine=held)
        window.weights_now = held.weights
        return window

    return open_one


def switch(window):
    return window.findChild(Segments, "weights.switch")


def press(window, qtbot, state):
    """The one key; then wait until the panels show those weights."""
    heard = []
    window.bridge.listen(heard.append)
    QTest.keyClick(window, Qt.Key.Key_T)
    qtbot.waitUntil(lambda: switch(window).state() == state, timeout=WAIT)
    qtbot.waitUntil(lambda: any(isinstance(each, Attended) for each in heard), timeout=WAIT)
    qtbot.waitUntil(lambda: not window.conductor.busy, timeout=WAIT)
    return [each for each in heard if isinstance(each, Attended)][-1]


def drawn():
    return torch.cat([each.detach().flatten() for each in build(SMALL, 1337).parameters()])


def in_file(path):
    from gpt_viz.engine.checkpoints.opening import open_checkpoint

    return torch.cat([each.detach().flatten() for each in open_checkpoint(path).model.parameters()])


# --- at the first start ----------------------------------------------------------------------------------------------


def test_it_begins_untrained_with_the_trained_weights_one_key_away(start, qtbot, ships):
    window = start()
    assert switch(window).state() == "untrained"
    assert switch(window).findChild(object, "weights.switch.trained").isEnabled()
    assert "the trained ones that ship" in switch(window).toolTip()
    assert keys_of(window.actions_["weights"]) == "T"
    assert torch.equal(window.weights_now(), drawn())
    press(window, qtbot, "trained")
    assert torch.equal(window.weights_now(), in_file(ships))
    press(window, qtbot, "untrained")
    assert torch.equal(window.weights_now(), drawn())
    press(window, qtbot, "trained")
    assert torch.equal(window.weights_now(), in_file(ships))


def test_every_panel_is_told_of_the_weights_that_are_shown(start, qtbot, ships):
    window = start()
    row = window.topbar.loss
    qtbot.waitUntil(lambda: bool(row.text()), timeout=WAIT)  # it changes four times a second at most
    untrained_loss = row.text()
    one = press(window, qtbot, "trained")
    qtbot.waitUntil(lambda: row.text() not in ("", untrained_loss), timeout=WAIT)
    trained_loss = row.text()
    assert float(trained_loss.split()[-1]) < float(untrained_loss.split()[-1])
    assert window.learner.newest == window.learner.shown == STEPS
    other = press(window, qtbot, "untrained")
    assert abs(one.whole - other.whole).max() > 1e-3
    qtbot.waitUntil(lambda: row.text() == untrained_loss, timeout=WAIT)


def test_the_text_stays_and_what_the_other_weights_have_sampled_goes(start, qtbot, ships):
    window = start()
    window.prompt.setText("To be or not")
    qtbot.waitUntil(lambda: window.study.tokens.pieces == tuple("To be or not"), timeout=WAIT)
    window.call("sampling", "step")
    qtbot.waitUntil(lambda: len(window.study.draws) == 1, timeout=WAIT)
    press(window, qtbot, "trained")
    assert window.study.prompt == window.prompt.text() == "To be or not"
    assert window.study.draws == []
    assert window.study.tokens.pieces == tuple("To be or not")


def test_the_model_keeps_its_name_and_nothing_has_to_be_read_first(start, qtbot, ships):
    window = start()
    assert window.topbar.preset.text() == "Step 5"
    press(window, qtbot, "trained")
    assert window.topbar.preset.text() == "Step 5"
    assert not window.messages.strip.isVisible()
    assert window.learner.unsaved == 0


@pytest.mark.parametrize("history", [{}, {"steps": 9, "drawn": False, "losses": [], "runs": [], "validations": []}])
def test_a_file_that_does_not_say_where_it_began_is_trained_and_the_way_back_is_drawn_anew(
    start, qtbot, monkeypatch, tmp_path, ships, history
):
    path = tmp_path / "step5.safetensors"
    config = replace(SMALL, dropout=0.2)  # as it may have been trained with
    save(path, build(config, 5), alphabet=resources.alphabet(), seed=1337, history=history)
    monkeypatch.setattr(resources, "checkpoint", lambda name: path if name == "step5" else None)
    window = start()
    for _ in range(2):
        press(window, qtbot, "trained")
        assert torch.equal(window.weights_now(), in_file(path))
        assert window.topbar.preset.text() == "Step 5"
        assert switch(window).findChild(object, "weights.switch.untrained").isEnabled()
        press(window, qtbot, "untrained")
        assert torch.equal(window.weights_now(), drawn())
        assert window.subject.built.config == SMALL


def test_the_button_does_what_the_key_does(start, qtbot, ships):
    window = start()
    switch(window).findChild(object, "weights.switch.untrained").click()
    assert switch(window).state() == "untrained"
    switch(window).findChild(object, "weights.switch.trained").click()
    qtbot.waitUntil(lambda: switch(window).state() == "trained", timeout=WAIT)
    assert torch.equal(window.weights_now(), in_file(ships))


def test_in_a_text_the_key_writes_its_letter(start, qtbot, ships):
    window = start()
    window.prompt.setFocus()
    before = window.study.prompt
    QTest.keyClick(window.prompt, Qt.Key.Key_T, Qt.KeyboardModifier.NoModifier)
    assert window.study.prompt in (f"t{before}", f"T{before}")
    assert switch(window).state() == "untrained"


@pytest.mark.parametrize("words", [["--set", "layers=1", *WORDS[2:]], [*WORDS, "--model-seed", "7"]])
def test_a_model_that_they_did_not_come_from_has_none(start, ships, words):
    window = start(*words)
    assert not switch(window).findChild(object, "weights.switch.trained").isEnabled()
    assert "train this model" in switch(window).accessibleDescription()
    QTest.keyClick(window, Qt.Key.Key_T)
    assert window.subject.built.source == ""


def test_where_none_ship_it_says_how_to_come_by_some(start, monkeypatch):
    monkeypatch.setattr(resources, "checkpoint", lambda name: None)
    window = start()
    assert not switch(window).findChild(object, "weights.switch.trained").isEnabled()
    assert "train this model" in switch(window).toolTip()


def test_a_broken_file_costs_nobody_the_model(start, qtbot, monkeypatch, tmp_path, ships):
    broken = tmp_path / "step5.safetensors"
    broken.write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00not a header")
    monkeypatch.setattr(resources, "checkpoint", lambda name: broken)
    window = start()
    with qtbot.waitSignal(window.builder.settled, timeout=WAIT):
        QTest.keyClick(window, Qt.Key.Key_T)
    assert switch(window).state() == "untrained"
    assert window.messages.strip.text().startswith("Not opened: ")
    assert torch.equal(window.weights_now(), drawn())


# --- beside a run in the window --------------------------------------------------------------------------------------


def test_a_run_in_the_window_has_its_own_trained_weights(start, qtbot, ships):
    window = start()
    controls = window.panels["training"].controls
    controls.steps.setValue(3)
    controls.batch.setValue(2)
    window.call("training", "toggle")
    qtbot.waitUntil(lambda: window.learner.newest == 3 and not window.learner.live, timeout=WAIT)
    mine = window.weights_now()
    assert switch(window).state() == "trained"
    assert not torch.equal(mine, in_file(ships))
    press(window, qtbot, "untrained")
    assert torch.equal(window.weights_now(), drawn())
    press(window, qtbot, "trained")
    assert torch.equal(window.weights_now(), mine)
    assert window.subject.built.source == ""


def test_opened_as_any_checkpoint_it_is_trained_and_its_first_weights_are_behind_it(start, qtbot, ships):
    window = start("--checkpoint", str(ships))
    qtbot.waitUntil(lambda: switch(window).state() == "trained", timeout=WAIT)
    assert torch.equal(window.weights_now(), in_file(ships))
    press(window, qtbot, "untrained")
    assert torch.equal(window.weights_now(), drawn())


def test_reset_of_the_weights_that_ship_is_untrained_and_the_switch_brings_them_back(start, qtbot, ships):
    window = start()
    press(window, qtbot, "trained")
    window.panels["training"].reset()
    qtbot.waitUntil(lambda: torch.equal(window.weights_now(), drawn()), timeout=WAIT)
    qtbot.waitUntil(lambda: switch(window).state() == "untrained", timeout=WAIT)
    press(window, qtbot, "trained")
    assert torch.equal(window.weights_now(), in_file(ships))


def test_training_the_untrained_ones_begins_at_their_first_step(start, qtbot, ships):
    window = start()
    press(window, qtbot, "trained")
    press(window, qtbot, "untrained")
    panel = window.panels["training"]
    panel.controls.batch.setValue(2)
    panel.step()
    qtbot.waitUntil(lambda: window.learner.newest == 1, timeout=WAIT)
    assert window.learner.at_newest
    assert switch(window).state() == "trained"


def test_the_next_start_begins_untrained_too_with_the_same_model(start, qtbot, ships):
    window = start()
    press(window, qtbot, "trained")
    window.close()
    kept = settings.load()
    assert (kept.checkpoint, kept.config, kept.seed) == ("", SMALL, 1337)
    window = start("--theme", "light")
    assert switch(window).state() == "untrained"
    assert window.subject.built.config == SMALL
    assert switch(window).findChild(object, "weights.switch.trained").isEnabled()


def test_compared_are_the_weights_that_are_not_shown(start, qtbot, ships):
    window = start()
    compare = window.panels["compare"]
    window.desk.dock("compare").raise_()
    found = compare.comparison
    qtbot.waitUntil(lambda: found.heads is not None and not found.busy, timeout=WAIT)
    assert found.counterpart.title().endswith(f"after {STEPS} steps")
    assert float(found.heads.distances.max()) > 0.001
    QTest.keyClick(window, Qt.Key.Key_T)
    qtbot.waitUntil(lambda: found.counterpart.title().endswith("untrained, seed 1337"), timeout=WAIT)
    qtbot.waitUntil(lambda: found.heads is not None and not found.busy, timeout=WAIT)
    assert found.counterpart.current_title().endswith(f"after {STEPS} steps")


# --- what really ships -----------------------------------------------------------------------------------------------


@pytest.fixture
def step5():
    path = resources.checkpoint("step5")
    if path is None:
        pytest.skip("no trained weights ship in this checkout")
    return path


def test_the_weights_that_ship_are_of_the_preset_and_reached_1_50(step5):
    from safetensors import safe_open

    with safe_open(step5, "pt") as file:
        about = json.dumps(file.metadata())
    assert "sha256" in about
    engine = Engine(threads=1)
    from gpt_viz.protocol import OpenCheckpoint

    told = list(engine.run(OpenCheckpoint(job=1, path=str(step5))))
    model = next(event.model for event in told if type(event).__name__ == "Built")
    assert shipped.fitting(model) == Path(step5)
    assert (model.seed, model.alphabet) == (shipped.SEED, resources.alphabet())
    assert model.config.width == PRESETS["step5"].config.width
    losses = [event.loss for event in told if type(event).__name__ == "Validated"]
    assert losses
    assert min(losses) <= 1.50
    assert losses[-1] <= 1.50


def test_the_weights_that_ship_prove_their_loss_on_the_end_of_the_text(step5, shared):
    from gpt_viz.protocol import Checked, OpenCheckpoint, RunChecks

    engine = Engine(threads=1)
    for _ in engine.run(OpenCheckpoint(job=1, path=str(step5))):
        pass
    corpus = str(shared / "data" / "tinyshakespeare.txt")
    events = engine.run(RunChecks(job=2, text="First", names=("validation_loss",), corpus=corpus))
    found = next(event for event in events if isinstance(event, Checked))
    assert found.passed is True
    assert dict(found.facts)["loss"] <= 1.50
    assert "last 10% of tinyshakespeare.txt" in found.detail


def test_the_weights_that_ship_read_the_built_in_passage_and_look_at_the_previous_character(step5):
    from gpt_viz.engine.checkpoints.opening import open_checkpoint

    model, alphabet = open_checkpoint(step5).model, resources.alphabet()
    ids = torch.tensor([alphabet.index(character) for character in resources.passage()])
    N = model.config.block_size
    windows = torch.stack([ids[at : at + N + 1] for at in range(0, len(ids) - N, N)])
    with torch.no_grad():
        _, loss = model(windows[:, :-1], windows[:, 1:])
    assert float(loss) == pytest.approx(1.7727, abs=1e-3)  # a text that no training has seen
    back = inspect(model, ids[None, :N], attention=True).patterns[0].diagonal(-1, 1, 2).mean(1)  # of layer 0, by head
    assert back.argmax() == 3
    assert back[3] == pytest.approx(0.961, abs=1e-2)


def test_the_weights_that_ship_are_known_by_any_path_to_them(step5, monkeypatch):
    monkeypatch.chdir(step5.parent)
    assert shipped.ships(str(step5))
    assert shipped.ships(step5.name)
    assert shipped.ships(f"./{step5.name}")
    assert not shipped.ships(f"other/{step5.name}")
    assert not shipped.ships("")
