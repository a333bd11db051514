"""The compare panel: it asks only while it is seen, measures what the engine says, and says what can't be compared."""

import itertools
import time

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog

from gpt_viz import resources
from gpt_viz.compare_measures import total_variations
from gpt_viz.config import PRESETS, GPTConfig, Preset
from gpt_viz.engine.checkpoints.saving import save
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import (
    CURRENT,
    OTHER,
    Attended,
    Build,
    Built,
    Cancel,
    Distribution,
    Drawn,
    Inspect,
    MomentShown,
    OpenCheckpoint,
    Predict,
    Sample,
    Traced,
)
from gpt_viz.runner import Runner
from gpt_viz.ui.comparing.counterpart import AUTOMATIC, FILE, UNTRAINED, Pick
from gpt_viz.ui.panels.compare import HEADS, NEXT, TEXTS, Compare

CONFIG = GPTConfig(vocabulary=20, block_size=32, layers=2, heads=2, width=16)
ALPHABET = tuple("abcdefghijklmno <&\nx")
TEXT = "abc def <&\nabc xa"
ASKED = (Build, OpenCheckpoint, Inspect, Predict, Sample)


class Stage:
    """The panel with a real engine behind it, led as the window leads it."""

    def __init__(self, world, qtbot, size=(680, 430)):
        self.world, self.engine, self.told = world, Engine(threads=1), []
        self.runner = Runner(self.engine, self.told.append)
        self.panel = Compare(world.context)
        qtbot.addWidget(self.panel)
        qtbot.addWidget(self.panel.header)
        self.panel.resize(*size)
        self.panel.show()
        self.asked = []

    def answer(self):
        """Have all that was sent answered."""
        sent, self.world.sent[:] = list(self.world.sent), []
        self.asked += sent
        for command in sent:
            self.runner.submit(command)
        while self.runner.advance():
            pass
        told, self.told[:] = list(self.told), []
        for event in told:
            self.tell(event)
        return bool(sent)

    def tell(self, event):
        if isinstance(event, Built) and event.slot == CURRENT:
            self.world.subject.set_built(event.model)
        if isinstance(event, (Traced, Attended)) and event.slot == CURRENT:
            self.world.study.saw(event.tokens)
        if isinstance(event, self.panel.events):
            self.panel.handle(event)

    def settle(self):
        """Frames until nothing is asked any more."""
        for _ in range(30):
            self.panel.draw()
            busy = self.answer()
            QApplication.processEvents()
            if not busy and not self.panel.duet.running:
                break
        self.panel.draw()

    def do(self, command):
        """What the window asks for itself."""
        self.world.sent.append(command)
        self.answer()

    def build(self, config=CONFIG, alphabet=ALPHABET, seed=1337):
        self.do(Build(job=self.world.new_job(), config=config, seed=seed, alphabet=alphabet))

    def inspect(self, text=TEXT, continuation=()):
        self.world.study.set_prompt(text)
        config = self.world.subject.built.config
        self.do(
            Inspect(
                job=self.world.new_job(), text=text, continuation=continuation, attention=config.layers > 0,
                head=(self.world.selection.value.layer, self.world.selection.value.head),
            )
        )  # fmt: skip

    def compare_with(self, pick):
        self.panel.pick(pick)
        self.settle()

    def view(self, name):
        self.panel.view.choose(name)
        self.settle()

    @property
    def said(self):
        return self.panel.header.sentence.whole()

    def kinds(self):
        """What the panel itself has asked for: the kind and the slot of each command."""
        return [(type(each), each.slot) for each in self.asked if isinstance(each, ASKED) and each.job]


@pytest.fixture
def stage(world, qtbot):
    made = Stage(world, qtbot)
    made.build()
    made.inspect()
    made.asked.clear()
    made.settle()
    return made


def other_model(seed=5, config=CONFIG, alphabet=ALPHABET):
    engine = Engine(threads=1)
    for _ in engine.run(Build(job=1, config=config, seed=seed, alphabet=alphabet)):
        pass
    return engine.model(CURRENT).model


def write(path, *, model=None, alphabet=ALPHABET, seed=5, history=None):
    """A checkpoint of a small model, as the program itself saves it."""
    save(path, model or other_model(seed), alphabet=alphabet, seed=seed, history=history)
    return str(path)


def seen(model, text, alphabet=ALPHABET):
    """What a model makes of a text, by its own forward: patterns (L, H, T, T), loss, last logits."""
    ids = torch.tensor([[alphabet.index(each) for each in text]])
    with torch.no_grad():
        logits, loss = model(ids[:, :-1], ids[:, 1:])
        logits, _ = model(ids)
    patterns = np.stack([[head.A[0].numpy() for head in block.attn.heads] for block in model.blocks])
    return patterns, float(loss), logits[0, -1].double()


# --- asking ----------------------------------------------------------------------------------------------------------


def test_hidden_it_asks_for_nothing(world, qtbot):
    it = Stage(world, qtbot)
    it.panel.hide()
    it.build()
    it.inspect()
    it.asked.clear()
    it.settle()
    assert it.asked == []
    it.panel.show()
    it.settle()
    assert (Build, OTHER) in it.kinds()


def test_it_asks_once_for_the_other_model_and_what_both_make_of_the_text(stage):
    assert stage.kinds() == [(Build, OTHER), (Predict, CURRENT), (Inspect, OTHER), (Predict, OTHER)]
    build = next(each for each in stage.asked if isinstance(each, Build))
    assert (build.config, build.seed, build.alphabet) == (CONFIG, 1337, ALPHABET)
    assert {each.asker for each in stage.asked if isinstance(each, (Inspect, Predict))} == {"compare"}
    stage.asked.clear()
    for _ in range(3):
        stage.settle()
    assert stage.asked == []


def test_another_text_is_asked_about_and_of_many_only_the_newest(stage, world):
    stage.asked.clear()
    stage.inspect("abc")
    stage.panel.draw()
    asked = [each for each in world.sent if isinstance(each, Inspect)]
    assert [each.continuation for each in asked] == [(0, 1, 2)]
    waiting, world.sent[:] = list(world.sent), []
    for text in ("ab", "a", "abcd"):  # while the first answer is still on its way
        stage.inspect(text)
        stage.panel.draw()
    assert [each for each in world.sent if isinstance(each, Inspect) and each.slot == OTHER] == []
    world.sent[:0] = waiting
    stage.settle()
    asked = [each.continuation for each in stage.asked if isinstance(each, Inspect) and each.slot == OTHER]
    assert asked == [(0, 1, 2), (0, 1, 2, 3)]
    assert stage.panel.comparison.heads.other.tokens.ids == (0, 1, 2, 3)


def test_other_weights_are_asked_about_anew_and_the_other_model_is_not(stage, world):
    stage.asked.clear()
    clock = [time.monotonic() + 10]
    stage.panel.comparison._ours._clock = lambda: clock[0]
    world.subject.step()
    stage.settle()
    assert stage.kinds() == [(Predict, CURRENT)]
    world.subject.step()
    stage.settle()
    assert stage.kinds() == [(Predict, CURRENT)]  # at most four times a second
    clock[0] += 0.3
    stage.settle()
    assert stage.kinds() == [(Predict, CURRENT)] * 2


def test_without_a_model_it_says_what_to_press(world, qtbot):
    it = Stage(world, qtbot)
    it.settle()
    assert it.panel.covered == "No model yet: press Build."
    assert it.asked == []


# --- heads -----------------------------------------------------------------------------------------------------------


def test_a_model_and_itself_do_not_differ(stage):
    assert stage.said == "No head differs: on this text both models attend alike."
    assert [row[2] for row in stage.panel.table()[1:]] == ["0"] * 4
    assert stage.panel.next.facts.strong == "KL 0 nats"
    ours, theirs = (label.text() for label in stage.panel.sides.losses)
    assert ours == theirs == f"loss {seen(stage.engine.model(CURRENT).model, TEXT)[1]:.3f}"


def test_the_distances_and_losses_are_those_of_the_models_own_forward(stage, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    one, loss, _ = seen(stage.engine.model(CURRENT).model, TEXT)
    other, other_loss, _ = seen(other_model(), TEXT)
    expected = total_variations(one, other)
    heads = stage.panel.comparison.heads
    assert np.allclose(heads.distances, expected, atol=1e-6)
    assert expected.min() > 0.01
    order = sorted(np.ndindex(2, 2), key=lambda place: -expected[place])
    assert [(layer, head) for layer, head, _ in stage.panel.stage.ranking.rows] == order
    layer, head = order[0]
    assert stage.said.startswith(f"Layer {layer}, head {head} differs most: ")
    assert stage.panel.comparison.loss == pytest.approx(loss, abs=1e-5)
    assert stage.panel.comparison.other_loss == pytest.approx(other_loss, abs=1e-5)
    assert [label.text() for label in stage.panel.sides.losses] == [f"loss {loss:.3f}", f"loss {other_loss:.3f}"]
    rows = stage.panel.table()
    assert rows[0] == ["layer", "head", "attention elsewhere"]
    assert float(rows[1][2]) == pytest.approx(expected.max(), abs=1e-5)


def test_a_head_that_is_chosen_in_the_list_is_chosen_everywhere(stage, world, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    ranking = stage.panel.stage.ranking
    point = ranking.row_rect(2).center().toPoint()
    QTest.mouseClick(ranking.viewport(), Qt.MouseButton.LeftButton, pos=point)
    layer, head, _ = ranking.rows[2]
    assert (world.selection.value.layer, world.selection.value.head) == (layer, head)
    stage.settle()
    QTest.keyClick(ranking, Qt.Key.Key_Up)
    layer, head, _ = ranking.rows[1]
    assert (world.selection.value.layer, world.selection.value.head) == (layer, head)
    stage.panel.stage.mosaics[2].chosen.emit(1, 0)
    assert (world.selection.value.layer, world.selection.value.head) == (1, 0)


def test_pointing_at_a_cell_says_both_weights_and_their_difference(stage, world, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    world.selection.choose(layer=1, head=0)
    stage.settle()
    heads = stage.panel.comparison.heads
    one, other = (each.patterns[1, 0] for each in (heads.current, heads.other))
    difference = stage.panel.stage.difference
    cell = difference.cell_rect(5, 3).center()
    QTest.mouseMove(difference, cell.toPoint())
    difference.set_hovered(difference.cell_at(QPointF(cell)))
    text = stage.panel.stage.line.text()
    a, b = float(one[5, 3]), float(other[5, 3])
    assert text == f"e takes {a:.3f} from ␣ and {b:.3f} in the second: {f'{a - b:+.3f}'.replace('-', '−')}"
    difference.set_hovered((3, 5))
    assert stage.panel.stage.line.text().endswith("masked: it comes later")
    difference.chosen.emit(5, 3)
    assert (world.selection.value.query, world.selection.value.key) == (5, 3)


@pytest.mark.parametrize("stretch", ["linear", "log"])
def test_small_and_large_differences_have_the_one_scale_that_stands_below_them(stage, world, tmp_path, stretch):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    world.selection.choose(layer=1, head=0)
    shown = stage.panel.stage
    shown.set_stretch(stretch)
    stage.settle()
    count = len(TEXT)
    cells = np.arange(count), np.arange(count) + 1
    large, small = shown.difference.coloured(cells, cells), shown.differences.coloured(cells)
    assert small.shape == (2, 2, count, count)
    assert np.array_equal(small[1, 0], large)
    heads = stage.panel.comparison.heads
    apart = heads.current.patterns[1, 0] - heads.other.patterns[1, 0]
    more, less = np.unravel_index(apart.argmax(), apart.shape), np.unravel_index(apart.argmin(), apart.shape)
    assert apart[more] > 0.05 > -0.05 > apart[less]
    orange, blue = QColor(int(large[more])), QColor(int(large[less]))
    assert orange.red() > orange.blue()
    assert blue.blue() > blue.red()
    shown.scale.resize(300, 30)
    assert [text for _, text in shown.scale.labels()] == ["−1 second more", "0", "first more 1"]
    shown.scale.resize(60, 30)
    assert [text for _, text in shown.scale.labels()] == ["−1", "0", "1"]


def test_of_a_text_of_more_than_128_tokens_only_the_chosen_head_is_measured(world, qtbot, tmp_path):
    config = GPTConfig(vocabulary=20, block_size=200, layers=2, heads=2, width=16)
    it = Stage(world, qtbot)
    it.build(config)
    world.selection.choose(layer=1, head=1)
    text = TEXT * 10
    it.inspect(text)
    it.compare_with(Pick(FILE, write(tmp_path / "long.safetensors", model=other_model(config=config))))
    one, other = (seen(model, text)[0][1, 1] for model in (it.engine.model(CURRENT).model, other_model(config=config)))
    heads = it.panel.comparison.heads
    assert heads.distances is None
    assert it.panel.heads.chosen.distance == pytest.approx(float(total_variations(one, other)), abs=1e-6)
    assert it.said.startswith("Layer 1, head 1: ")
    assert it.said.endswith("in a text this long only the chosen head is measured.")
    assert it.panel.stage.paired
    assert not it.panel.stage.listed


# --- what can't be compared ------------------------------------------------------------------------------------------


def covers(stage):
    return {name: cover.reason for name, cover in stage.panel.covers.items()}


def test_models_with_other_alphabets_are_compared_by_their_heads_and_not_by_their_tokens(stage, tmp_path):
    alphabet = ALPHABET[::-1]
    stage.compare_with(Pick(FILE, write(tmp_path / "o.safetensors", alphabet=alphabet)))
    assert stage.panel.comparison.heads.distances.shape == (2, 2)
    assert covers(stage)[NEXT] == "Not to be compared: of their 20 tokens the two models share 20."
    assert stage.panel.comparison.next_token is None
    assert stage.panel.comparison.other_loss is not None


def test_a_model_that_does_not_know_a_character_says_which(stage, tmp_path):
    alphabet = tuple("ABCDEFGHIJKLMNOPQRST")
    stage.compare_with(Pick(FILE, write(tmp_path / "o.safetensors", alphabet=alphabet)))
    reason = "Not to be compared: the other model doesn't know “a”, “b”, “c” and 8 more."
    assert covers(stage)[HEADS] == covers(stage)[NEXT] == reason
    assert stage.said == "The other model doesn't know “a”, “b”, “c” and 8 more."
    assert (Inspect, OTHER) not in stage.kinds()[4:]


def test_models_with_other_heads_are_shown_side_by_side_without_a_difference(stage, tmp_path):
    config = GPTConfig(vocabulary=20, block_size=32, layers=1, heads=4, width=16)
    model = other_model(config=config)
    stage.compare_with(Pick(FILE, write(tmp_path / "o.safetensors", model=model)))
    assert covers(stage)[HEADS] == ""
    assert stage.said == "The two have other numbers of heads, which have no counterparts."
    assert not stage.panel.stage.paired
    assert stage.panel.stage.maps[2].isHidden()
    assert stage.panel.comparison.next_token is not None


def test_a_model_that_sees_less_of_the_text_says_how_much(stage, tmp_path):
    config = GPTConfig(vocabulary=20, block_size=8, layers=2, heads=2, width=16)
    stage.compare_with(Pick(FILE, write(tmp_path / "o.safetensors", model=other_model(config=config))))
    assert covers(stage)[HEADS] == ("Not to be compared: the other model sees at most 8 tokens, and this text has 17.")
    stage.inspect("abc")
    stage.settle()
    assert covers(stage)[HEADS] == ""


def test_a_model_of_ids_and_one_of_text_have_no_text_in_common(stage):
    engine = Engine(threads=1)
    config = GPTConfig(vocabulary=30, block_size=32, layers=1, heads=1, width=4)
    for event in engine.run(Build(job=999, slot=OTHER, config=config)):
        built = event
    stage.panel.comparison.counterpart._job = 999
    stage.panel.handle(built)
    stage.settle()
    reason = "Not to be compared: one model reads text and the other ids below 30, so no text can be given to both."
    assert covers(stage)[HEADS] == covers(stage)[NEXT] == reason


def test_a_model_without_layers_is_compared_by_what_it_holds_likely(stage, tmp_path):
    config = GPTConfig(vocabulary=20, block_size=32, layers=0, heads=2, width=16)
    stage.compare_with(Pick(FILE, write(tmp_path / "o.safetensors", model=other_model(config=config))))
    assert covers(stage)[HEADS] == "Not to be compared: a model without layers has no attention."
    assert covers(stage)[NEXT] == ""


# --- the next token --------------------------------------------------------------------------------------------------


def test_the_divergence_is_that_of_the_models_own_logits(stage, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    stage.view(NEXT)
    one, other = (seen(model, TEXT)[2] for model in (stage.engine.model(CURRENT).model, other_model()))
    p, q = one.softmax(0), other.softmax(0)
    kl = float((p * (p / q).log()).sum())
    assert stage.panel.next.facts.strong == f"KL {kl:.3f} nats"
    rows = stage.panel.table()
    assert rows[0] == ["token", "id", "first", "second"]
    assert len(rows) == 21
    for _, id, mine, theirs in rows[1:]:
        assert float(mine) == pytest.approx(float(p[int(id)]), rel=1e-4)
        assert float(theirs) == pytest.approx(float(q[int(id)]), rel=1e-4)
    sums = [float(mine) + float(theirs) for _, _, mine, theirs in rows[1:]]
    assert sums == sorted(sums, reverse=True)
    best = ALPHABET[int(p.argmax())]
    assert stage.said.startswith(("The first expects", "Both expect"))
    assert f"“{best}”" in stage.said


def test_the_bars_follow_order_and_temperature_without_asking_again(stage, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    stage.view(NEXT)
    stage.asked.clear()
    stage.panel.next.order.choose("difference")
    stage.settle()
    gaps = [abs(float(mine) - float(theirs)) for _, _, mine, theirs in stage.panel.table()[1:]]
    assert all(one >= other - 1e-6 for one, other in itertools.pairwise(gaps))
    before = stage.panel.next.facts.strong
    stage.panel.pane.temperature.setValue(0.25)
    stage.settle()
    assert stage.panel.next.facts.strong != before
    assert stage.panel.next.facts.quiet == "first from second, at temperature 0.25"
    stage.panel.pane.temperature.setValue(0.0)  # greedy has no spread; what the models hold likely is shown
    stage.settle()
    assert stage.panel.next.facts.strong == before
    assert stage.asked == []


# --- texts -----------------------------------------------------------------------------------------------------------


def written(engine_model_seed, *, tokens, seed, temperature):
    engine = Engine(threads=1)
    for _ in engine.run(Build(job=1, config=CONFIG, seed=engine_model_seed, alphabet=ALPHABET)):
        pass
    command = Sample(job=2, text=TEXT, tokens=tokens, temperature=temperature, seed=seed)
    return [event.piece for event in engine.run(command) if isinstance(event, Drawn)]


def test_both_write_from_the_same_text_with_the_same_seed_and_the_first_difference_is_marked(stage, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "other.safetensors")))
    stage.view(TEXTS)
    pane = stage.panel.pane
    pane.tokens.setValue(60)
    pane.seed.setValue(7)
    pane.temperature.setValue(0.9)
    stage.asked.clear()
    pane.button.click()
    stage.settle()
    samples = [each for each in stage.asked if isinstance(each, Sample)]
    assert [(each.slot, each.text, each.tokens, each.temperature, each.seed) for each in samples] == [
        (CURRENT, TEXT, 60, 0.9, 7),
        (OTHER, TEXT, 60, 0.9, 7),
    ]
    ours, theirs = (written(seed, tokens=60, seed=7, temperature=0.9) for seed in (1337, 5))
    assert [view.text() for view in pane.views] == [TEXT + "".join(ours), TEXT + "".join(theirs)]
    place = next(at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    assert stage.panel.duet.difference == place
    assert [view._chosen for view in pane.views] == [len(TEXT) + place] * 2
    assert pane.captions[0].quiet == "60 characters · temperature 0.9 · seed 7"
    rows = stage.panel.table()
    assert rows[place + 1] == [str(place), ours[place], theirs[place]]
    word = "from the first character on" if place == 0 else f"agree for {place} character"
    assert word in stage.said


def test_two_equal_models_write_the_same_text(stage):
    stage.view(TEXTS)
    stage.panel.pane.tokens.setValue(30)
    stage.panel.pane.button.click()
    stage.settle()
    assert stage.panel.pane.views[0].text() == stage.panel.pane.views[1].text()
    assert stage.said == "So far both write the same 30 characters."


def test_stop_ends_both(stage, world):
    stage.panel.pane.button.click()
    jobs = [each.job for each in world.sent if isinstance(each, Sample)]
    assert len(jobs) == 2
    stage.panel.draw()
    assert stage.panel.pane.button.text() == "Stop"
    stage.panel.pane.button.click()
    assert [each.target for each in world.sent if isinstance(each, Cancel)] == jobs
    stage.panel.draw()
    assert not stage.panel.pane.button.isEnabled()
    stage.settle()
    assert stage.panel.pane.button.isEnabled()
    assert stage.panel.pane.button.text() == "Run"


def test_another_prompt_or_another_model_takes_the_texts_away(stage, tmp_path):
    path = write(tmp_path / "o.safetensors")
    for change in (lambda: stage.inspect("abc"), lambda: stage.compare_with(Pick(FILE, path))):
        stage.panel.pane.tokens.setValue(5)
        stage.panel.pane.button.click()
        stage.settle()
        assert stage.panel.duet.written
        change()
        stage.settle()
        assert not stage.panel.duet.written
        assert stage.panel.pane.views[0].text() == stage.world.study.prompt


def test_texts_say_when_the_weights_have_changed_since(stage, world):
    stage.panel.pane.tokens.setValue(5)
    stage.panel.pane.button.click()
    stage.settle()
    assert not stage.panel.pane.captions[0].quiet.endswith("since")
    world.subject.step()
    stage.settle()
    assert stage.panel.pane.captions[0].quiet.endswith("weights have changed since")


def test_what_is_sampled_here_is_not_the_text_under_study(stage, world):
    stage.panel.pane.tokens.setValue(5)
    stage.panel.pane.button.click()
    stage.settle()
    assert world.study.draws == []
    assert world.study.prompt == TEXT


def test_a_model_that_can_t_read_the_prompt_says_so_beside_its_empty_text(stage, tmp_path):
    stage.compare_with(Pick(FILE, write(tmp_path / "o.safetensors", alphabet=tuple("ABCDEFGHIJKLMNOPQRST"))))
    stage.panel.pane.tokens.setValue(5)
    stage.panel.pane.button.click()
    stage.settle()
    assert len(stage.panel.duet.voices[CURRENT].pieces) == 5
    assert stage.panel.pane.captions[1].quiet == ("not written: the other model doesn't know “a”, “b”, “c” and 8 more")


# --- what it is compared with ----------------------------------------------------------------------------------------


@pytest.fixture
def ships(monkeypatch, tmp_path):
    """Trained weights that ship for CONFIG, as a stand-in."""
    path = tmp_path / "step5.safetensors"
    write(path, seed=1337, model=other_model(5), history={"steps": 40, "drawn": True})
    monkeypatch.setitem(PRESETS, "step5", Preset("step5", "Step 5", CONFIG, True))
    monkeypatch.setattr(resources, "checkpoint", lambda name: path)
    monkeypatch.setattr(resources, "alphabet", lambda: ALPHABET)
    return str(path)


def opened(stage):
    return [each.path for each in stage.asked if isinstance(each, OpenCheckpoint)]


def test_an_untrained_model_is_compared_with_the_trained_weights_that_ship(world, qtbot, ships):
    it = Stage(world, qtbot)
    it.build()
    it.inspect()
    it.settle()
    assert opened(it) == [ships]
    assert it.panel.comparison.counterpart.title() == "Step 5, after 40 steps"
    assert it.panel.comparison.counterpart.current_title() == "Step 5, untrained"
    it.tell(MomentShown(job=0, step=12, newest=True))
    it.settle()
    assert it.panel.comparison.counterpart.title() == "Step 5, untrained, seed 1337"
    assert it.panel.comparison.counterpart.current_title() == "Step 5, after 12 steps"
    it.tell(MomentShown(job=0, step=0, newest=False))
    it.settle()
    assert opened(it) == [ships] * 2


def test_without_them_it_is_compared_with_itself_and_they_can_t_be_chosen(stage):
    choice = stage.panel.sides.choice
    choice.fill()
    titles = {action.text(): action.isEnabled() for action in choice.menu().actions()}
    assert not titles["The trained weights that ship"]
    assert titles["The same model, untrained, from the same seed"]
    assert stage.panel.comparison.counterpart.of == Pick(UNTRAINED)


def test_what_is_chosen_stays_whatever_the_current_model_is(stage, tmp_path):
    path = write(tmp_path / "o.safetensors")
    stage.compare_with(Pick(FILE, path))
    stage.asked.clear()
    stage.build(seed=3)
    stage.inspect()
    stage.settle()
    assert opened(stage) == []
    assert stage.panel.comparison.other.source == "o.safetensors"
    stage.compare_with(Pick(AUTOMATIC))
    build = next(each for each in stage.asked if isinstance(each, Build) and each.slot == OTHER)
    assert build.seed == 3


def test_a_file_that_can_t_be_opened_leaves_the_model_that_was_there(stage, tmp_path):
    stage.compare_with(Pick(FILE, str(tmp_path / "nothing.safetensors")))
    assert stage.panel.comparison.counterpart.of == Pick(UNTRAINED)
    assert "nothing.safetensors" in stage.panel.problem.text()
    assert stage.panel.comparison.heads is not None
    stage.asked.clear()
    stage.settle()
    assert stage.asked == []  # it is not tried again by itself
    stage.compare_with(Pick(UNTRAINED))
    assert stage.panel.problem.text() == ""


def test_with_nothing_to_compare_with_it_says_where_to_choose(world, qtbot, tmp_path):
    it = Stage(world, qtbot)
    it.build()
    it.inspect()
    it.compare_with(Pick(FILE, str(tmp_path / "nothing.safetensors")))
    assert set(covers(it).values()) == {"", "There is nothing to compare with: choose another model at the blue mark."}
    assert covers(it)[TEXTS] == ""
    assert not it.panel.pane.button.isEnabled()
    it.compare_with(Pick(UNTRAINED))
    assert set(covers(it).values()) == {""}


def test_a_file_that_does_not_say_enough_is_asked_about(stage, tmp_path):
    path = tmp_path / "nano.pt"
    nano = {}
    width, layers, vocabulary, block = 16, 2, 20, 32
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape):
        return torch.randn(*shape, generator=generator) * 0.1

    nano["transformer.wte.weight"], nano["transformer.wpe.weight"] = drawn(vocabulary, width), drawn(block, width)
    for layer in range(layers):
        at = f"transformer.h.{layer}."
        for norm in ("ln_1", "ln_2"):
            nano[f"{at}{norm}.weight"], nano[f"{at}{norm}.bias"] = torch.ones(width), torch.zeros(width)
        for name, out, into in (
            ("attn.c_attn", 3 * width, width), ("attn.c_proj", width, width),
            ("mlp.c_fc", 4 * width, width), ("mlp.c_proj", width, 4 * width),
        ):  # fmt: skip
            nano[f"{at}{name}.weight"], nano[f"{at}{name}.bias"] = drawn(out, into), torch.zeros(out)
    nano["transformer.ln_f.weight"], nano["transformer.ln_f.bias"] = torch.ones(width), torch.zeros(width)
    nano["lm_head.weight"] = nano["transformer.wte.weight"]
    torch.save(nano, path)
    stage.compare_with(Pick(FILE, str(path)))
    questions = 0
    while (question := stage.panel.findChild(QInputDialog)) is not None and questions < 3:
        field = stage.panel.comparison.counterpart.asked.field
        question.setTextValue({"heads": "2", "gelu": "exact"}[field])
        question.accept()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        questions += 1
        stage.settle()
    assert questions >= 1
    assert stage.panel.comparison.other.config.heads == 2
    assert stage.panel.comparison.heads.distances.shape == (2, 2)


# --- in the window ---------------------------------------------------------------------------------------------------


def test_it_is_a_tab_behind_attention_and_leaves_the_current_model_s_numbers_alone(window, qtbot, tmp_path):
    panel, config, letters = window.panels["compare"], window.subject.built.config, resources.alphabet()
    assert not panel.in_sight()
    model = other_model(config=config, alphabet=letters)
    panel.pick(Pick(FILE, write(tmp_path / "o.safetensors", model=model, alphabet=letters)))
    status, built = window.messages.status, f"built in {window.subject.built.elapsed_s:.2f} s"
    qtbot.waitUntil(lambda: built in status.message.text() and bool(window.topbar.loss.text()), timeout=20_000)
    loss = window.topbar.loss.text()
    window.desk.dock("compare").raise_()
    found = panel.comparison
    qtbot.waitUntil(lambda: found.heads is not None and found.next_token is not None, timeout=20_000)
    assert panel.sides.losses[1].text() != panel.sides.losses[0].text() == f"loss {loss.split()[-1]}"
    assert window.topbar.loss.text() == loss
    assert status._facts["built"].startswith(built)
    assert window.subject.built.source == ""
    panel.pane.tokens.setValue(20)
    panel.pane.button.click()
    qtbot.waitUntil(lambda: len(panel.duet.voices[OTHER].pieces) == 20, timeout=20_000)
    qtbot.waitUntil(lambda: len(panel.duet.voices[CURRENT].pieces) == 20, timeout=20_000)
    assert window.study.draws == []
    assert not window.sampling
    assert panel.duet.voices[OTHER].pieces != panel.duet.voices[CURRENT].pieces


def test_it_does_not_take_the_sampling_panel_s_distribution_away(window, qtbot):
    panel, lookout = window.panels["compare"], window.panels["sampling"].lookout
    window.desk.dock("compare").raise_()
    for text in ("To be", "To be or", "To be or not"):
        window.prompt.setText(text)
    qtbot.waitUntil(lambda: panel.comparison.next_token is not None, timeout=20_000)
    qtbot.waitUntil(
        lambda: isinstance(lookout._answer, Distribution) and lookout._answer.position == len("To be or not"),
        timeout=20_000,
    )
