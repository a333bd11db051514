"""The sampling panel on the real engine, whose runner is advanced by hand: no thread, no clock, no waiting."""

import csv
import io
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QVBoxLayout, QWidget

from gpt_viz.protocol import (
    Build,
    Built,
    Cancel,
    Cancelled,
    Distribution,
    Drawn,
    Failed,
    Finished,
    ModelInfo,
    Predict,
    Sample,
    TextRefused,
    Tokens,
)
from gpt_viz.runner import Runner
from gpt_viz.ui import controls, theme
from gpt_viz.ui.panel import Context
from gpt_viz.ui.panels.sampling import Sampling
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.sheet import apply
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.training.moment import Moment
from gpt_viz.worker import Mailbox

ALPHABET = tuple("abcdefghij\n")
SPECIAL = tuple("<>&\"'\t\n bx/")


class Bench:
    """A panel, the shared states, and an engine that works only when it is told to."""

    def __init__(self, engine=None):
        self.sent, self.told = [], []
        self.engine = engine
        self.runner = None
        if engine is not None:
            ticks = itertools.count()
            self.runner = Runner(engine, self.deliver, turn_s=0.5, clock=lambda: float(next(ticks)))
        jobs = itertools.count(1)
        self.study, self.subject, self.selection = Study(), Subject(), SelectionModel()
        self.context = Context(
            self.selection,
            self.study,
            self.subject,
            lambda: next(jobs),
            self.send,
            lambda text, *_: self.told.append(text),
        )
        self.panel = Sampling(self.context)
        self.now = 0.0
        self.panel.clock = lambda: self.now

    def send(self, command):
        self.sent.append(command)
        if self.runner is not None:
            self.runner.submit(command)

    def deliver(self, event):
        if isinstance(event, Built):
            self.subject.set_built(event.model)
        if isinstance(event, self.panel.events):
            self.panel.handle(event)

    def build(self, config, alphabet=ALPHABET, seed=0):
        self.send(Build(job=self.context.new_job(), config=config, seed=seed, device="cpu", alphabet=alphabet))
        self.work()

    def stands(self, config, alphabet=ALPHABET):
        """A model is built, as far as the panel can tell."""
        self.subject.set_built(
            ModelInfo(
                config=config, seed=0, device="cpu", alphabet=alphabet, tensors=(), total=1, bytes=4, elapsed_s=0.0
            )
        )

    def work(self, steps=10_000):
        """Let the engine work until nothing is left to do, at most so many steps."""
        while steps > 0:
            while steps > 0 and self.runner.advance():
                steps -= 1
            self.frame()
            if not self.runner.busy:
                break

    def frame(self, later=1.0):
        """One frame, as the bridge makes it."""
        self.now += later
        self.panel.dirty = False
        self.panel.draw()

    def last(self, kind):
        return [each for each in self.sent if isinstance(each, kind)][-1]

    def of(self, kind):
        return [each for each in self.sent if isinstance(each, kind)]

    def drawn(self, text, job=None, **changes):
        """The engine draws these characters, all with 40 %."""
        job = self.last(Sample).job if job is None else job
        for place, character in enumerate(text, len(self.study.prompt) + len(self.study.draws)):
            id = self.subject.built.alphabet.index(character)
            logits = np.zeros(self.subject.built.config.vocabulary, np.float32)
            probabilities = np.full_like(logits, 0.6 / max(len(logits) - 1, 1))
            logits[id], probabilities[id] = 2.0, 0.4
            self.deliver(
                Drawn(job=job, id=id, piece=character, position=place, probability=0.4, rank=0, tokens_per_second=100.0)
            )
            shown = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} | changes
            self.deliver(
                Distribution(job=job, position=place, logits=logits, probabilities=probabilities, chosen=id, **shown)
            )

    def text(self):
        self.frame()
        return self.panel.view.text()

    def sentence(self):
        return self.panel.header.sentence.whole()

    def find(self, name):
        found = self.panel.findChild(QWidget, f"sampling.{name}")
        assert found is not None, name
        return found

    def run(self, **settings):
        """Set these, press Run, let the engine finish."""
        for name, value in settings.items():
            field = self.find(name)
            field.setText(value) if isinstance(value, str) else field.setValue(value)
        self.find("run").click()
        self.work()
        return self.text()


@pytest.fixture
def bench(qtbot, tiny):
    """A panel on a model that is only told of; the test plays the engine."""
    made = Bench()
    qtbot.addWidget(made.panel)
    qtbot.addWidget(made.panel.header)
    made.study.set_prompt("abc")
    made.stands(tiny)
    made.frame()
    return made


@pytest.fixture
def live(qtbot, tiny):
    """A panel on a small model of the real engine."""
    from gpt_viz.engine.engine import Engine

    made = Bench(Engine(threads=1))
    qtbot.addWidget(made.panel)
    qtbot.addWidget(made.panel.header)
    made.study.set_prompt("abc")
    made.build(tiny)
    return made


# -- the text --------------------------------------------------------------------------------------------------------


def test_run_draws_the_wanted_number_of_tokens_after_the_prompt(live):
    assert live.run(tokens=12).startswith("abc")
    assert len(live.text()) == 15
    assert len(live.study.draws) == 12
    assert not live.find("run").isChecked()
    assert live.find("state").whole().startswith("finished after 12 characters")


def test_b14_a_seed_always_gives_its_text_run_or_stepped(live):
    seven = live.run(seed="7", tokens=20)
    eight = live.run(seed="8")
    assert eight != seven
    assert len(eight) == 23, "another seed begins anew"
    assert live.run(seed="7") == seven
    live.panel.clear()
    assert live.text() == "abc"
    for _ in range(2):
        live.find("step").click()
        live.work()
    assert live.run(tokens=18) == seven
    for temperature, top_k in ((0.7, 0), (1.3, 3)):
        live.panel.clear()
        first = live.run(temperature=temperature, top_k=top_k, tokens=20)
        live.panel.clear()
        assert live.run() == first


def test_running_on_goes_on_with_the_same_seed(live):
    whole = live.run(seed="7", tokens=20)
    live.panel.clear()
    live.run(tokens=12)
    assert live.find("state").whole().startswith("finished after 12 characters · ")
    assert live.run(tokens=8) == whole
    assert live.find("state").whole().startswith("finished after 8 characters, 20 in all · ")


def test_back_takes_one_token_and_stepping_gives_it_again(live):
    whole = live.run(tokens=5)
    live.panel.back()
    live.work()
    assert live.text() == whole[:-1]
    assert live.last(Predict).continuation == live.study.continuation
    assert live.sentence().startswith("Most likely next after ")
    live.panel.step()
    live.work()
    assert live.text() == whole


def test_steps_that_are_asked_for_faster_than_they_come_are_all_made(live):
    whole = live.run(tokens=4)
    live.panel.clear()
    for _ in range(4):
        live.panel.step()
    live.work()
    assert live.text() == whole


@pytest.mark.parametrize("seed", ["-1", str(2**63), str(2**64), "abc", "1.5", "٣"])
def test_b14_a_bad_seed_is_refused_at_its_field(bench, seed):
    bench.find("seed").setText(seed)
    assert "seed" in bench.find("problem").text().lower()
    assert bench.find("seed").property("mistake") == "true"
    assert not bench.find("run").isEnabled()
    bench.panel.run()
    assert not bench.of(Sample)
    assert "seed" in bench.told[-1].lower()
    bench.find("seed").setText(str(2**63 - 1))
    assert not bench.find("problem").text()
    bench.find("run").click()
    assert bench.last(Sample).seed == 2**63 - 1


def test_b14_an_empty_seed_is_picked_and_shown_so_that_it_can_be_repeated(live):
    text = live.run(seed="", tokens=10)
    shown = live.find("seed").text()
    assert shown == str(live.last(Sample).seed)
    live.panel.clear()
    assert live.run(seed=shown) == text


def test_b01_temperature_0_is_greedy_whatever_the_seed_and_says_so(live):
    texts = {live.run(temperature=0.0, seed=seed, tokens=20) for seed in ("1", "2", "3")}
    assert len(texts) == 1
    assert live.find("temperature").text() == "greedy"
    assert "greedy" in live.sentence()
    assert all(draw.rank == 0 and draw.probability == 1.0 for draw in live.study.draws)


def test_b04_top_k_above_the_vocabulary_gives_the_same_text_and_says_how_many_exist(live):
    texts, notes = [], []
    for top_k in (0, 11, 12, 100_000):
        live.panel.clear()
        texts.append(live.run(top_k=top_k, seed="5", tokens=20))
        notes.append(live.find("note").text())
    assert len(set(texts)) == 1
    assert notes[:2] == ["", ""]
    assert all("nly 11 characters exist" in note for note in notes[2:])
    assert live.find("top_k").value() == 100_000


def test_b05_top_k_0_is_off_and_mistakes_are_refused_at_the_field(bench, qtbot):
    field = bench.find("top_k")
    assert field.text() == "off"
    for typed in ("-1", "-5", "ten", "3.5"):
        field.selectAll()
        qtbot.keyClicks(field, typed)
        assert f"Top-k is a whole number from 0 (off) up, not “{typed}”." in bench.find("problem").text()
        assert field.property("mistake") == "true"
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert field.value() == 0
        assert not bench.find("problem").text()
    field.selectAll()
    qtbot.keyClicks(field, "3")
    bench.find("run").click()
    assert bench.last(Sample).top_k == 3


@pytest.mark.parametrize("typed", ["-0.1", "nan", "inf", "abc", "1e999"])
def test_a_bad_temperature_is_refused_at_its_field(bench, qtbot, typed):
    field = bench.find("temperature")
    field.selectAll()
    qtbot.keyClicks(field, typed)
    assert f"not “{typed}”" in bench.find("problem").text()
    bench.find("run").click()
    assert bench.last(Sample).temperature == 1.0


def test_numbers_are_taken_with_a_comma_and_words_for_off(bench, qtbot):
    for name, typed, value in (("temperature", "0,8", 0.8), ("temperature", "greedy", 0.0), ("top_p", "off", 1.0)):
        field = bench.find(name)
        field.selectAll()
        qtbot.keyClicks(field, typed)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert field.value() == value


def test_b08_a_prompt_longer_than_the_context_is_continued_like_its_end_and_says_so(live):
    prompt = "abcdefghijabcdefghij"
    continuations = {}
    for length in (7, 8, 9, 20):
        live.study.set_prompt(prompt[-length:])
        text = live.run(temperature=0.0, tokens=12)
        assert text.startswith(prompt[-length:])
        assert len(text) == length + 12
        continuations[length] = text[length:]
        used = f"Only the last 8 of {length} characters are used." if length > 8 else ""
        assert live.find("note").text() == used
    assert continuations[9] == continuations[20] == continuations[8]


def test_b09_an_empty_prompt_disables_the_buttons_and_says_why(bench):
    bench.study.set_prompt("")
    bench.frame()
    assert not any(bench.find(name).isEnabled() for name in ("run", "step", "back", "clear", "stop"))
    assert bench.find("problem").text().startswith("Type at least one character")
    assert len(bench.panel.bars) == 0
    before = len(bench.sent)
    bench.panel.run()
    bench.panel.step()
    bench.panel.back()
    bench.frame()
    assert len(bench.sent) == before
    assert "type at least one character" in bench.told[-1]
    bench.panel.grab()


@pytest.mark.parametrize(
    ("prompt", "named"),
    [("a?b", "“?” at 2"), ("ABC", "“A” at 1, “B” at 2, “C” at 3"), ("abé", "“é” at 3"), ("😀", "“😀” at 1")],
)
def test_b10_unknown_characters_are_named_with_their_place_and_block(bench, prompt, named):
    bench.study.set_prompt(prompt)
    bench.frame()
    assert named in bench.find("problem").text()
    assert not bench.find("run").isEnabled()
    bench.panel.step()
    assert not bench.of(Sample)
    bench.study.set_prompt("ab")
    bench.frame()
    assert not bench.find("problem").text()
    assert bench.find("run").isEnabled()


def test_b10_a_text_that_the_engine_refuses_sends_nothing(live):
    before = len(live.of(Predict))
    live.study.set_prompt("a?b")
    live.study.refuse(TextRefused(job=0, unknown=((1, "?"),)))
    live.work()
    assert len(live.of(Predict)) == before


def test_a05_a_vocabulary_of_one_is_a_single_bar_of_100_percent(live, tiny):
    live.build(replace(tiny, vocabulary=1), alphabet=("a",))
    live.study.set_prompt("a")
    live.work()
    assert live.run(top_k=5, tokens=9) == "a" * 10
    assert len(live.panel.bars) == 1
    assert live.panel.bars.tip(0).endswith("probability 100 %")
    assert "only 1 character exists" in live.find("note").text().lower()
    assert "was drawn at 100 %; surprise 0.0 bits" in live.sentence()


def test_e07_special_characters_appear_as_they_are(live, tiny):
    live.build(tiny, alphabet=SPECIAL)
    live.study.set_prompt("<b>&\n\t x</b>")
    text = live.run(tokens=20)
    assert text.startswith("<b>&\n\t x</b>")
    assert len(text) == 32
    for label in (live.panel.header.sentence, live.panel.state, live.panel.stages, live.panel.note, live.panel.problem):
        assert label.textFormat() == Qt.TextFormat.PlainText
    assert live.panel.table()[1:] != []
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(live.panel.table())
    assert {row[0] for row in csv.reader(io.StringIO(buffer.getvalue(), newline=""))} == {"token", *SPECIAL}


def test_a_model_without_an_alphabet_runs_on_ids(live, tiny):
    live.build(replace(tiny, vocabulary=300), alphabet=None)
    live.study.set_prompt("12 7 299")
    text = live.run(tokens=5)
    assert text.split()[:3] == ["12", "7", "299"]
    assert len(text.split()) == 8
    assert live.find("state").whole().startswith("finished after 5 tokens")
    live.study.set_prompt("12 300")
    live.frame()
    assert "“300” is no id" in live.find("problem").text()
    live.study.set_prompt("  ")
    live.frame()
    assert live.find("problem").text().startswith("Type at least one token")


# -- one run, and how it ends ----------------------------------------------------------------------------------------


def test_f03_stop_is_acknowledged_at_once_and_done_when_the_engine_says_so(bench):
    bench.find("run").click()
    assert bench.find("run").isChecked()
    assert bench.find("stop").isEnabled()
    bench.drawn("abcde")
    bench.find("stop").click()
    assert bench.last(Cancel).target == bench.last(Sample).job
    assert bench.find("state").whole().startswith("stopping …")
    assert not bench.find("stop").isEnabled()
    bench.drawn("f")  # was under way
    bench.deliver(Cancelled(job=bench.last(Sample).job))
    assert bench.text() == "abcabcdef"
    assert bench.find("state").whole().startswith("stopped after 6 characters")
    assert bench.find("run").isEnabled()
    assert not bench.find("run").isChecked()
    bench.find("run").click()
    assert bench.last(Sample).continuation == tuple(map(ALPHABET.index, "abcdef"))


def test_f03_an_endless_run_stops_within_the_running_step(live):
    live.find("tokens").setValue(0)
    assert live.find("tokens").text() == "endless"
    live.find("run").click()
    assert live.last(Sample).tokens is None
    live.work(200)
    before = len(live.study.draws)
    assert before > 20
    live.find("stop").click()
    live.work()
    assert len(live.study.draws) <= before + 1
    assert not live.panel.sampler.running


def test_the_running_run_button_stops_as_well(bench):
    bench.find("run").click()
    bench.find("run").click()
    assert bench.last(Cancel).target == bench.last(Sample).job
    bench.panel.toggle()  # stopping already
    assert len(bench.of(Cancel)) == 1


def test_f05_a_failed_run_says_where_and_why_keeps_its_text_and_can_be_tried_again(bench):
    bench.find("run").click()
    bench.drawn("abcde")
    bench.deliver(Failed(job=bench.last(Sample).job, message="out of <memory>", details="", expected=False))
    assert bench.text() == "abcabcde"
    assert bench.find("problem").text() == "Failed after 5 characters: out of <memory> (incomplete)."
    assert bench.find("state").whole() == "failed after 5 characters"
    assert bench.panel.view._ending == "incomplete"
    assert bench.find("run").isEnabled()
    assert not bench.find("stop").isEnabled()
    bench.find("run").click()
    bench.frame()
    assert not bench.find("problem").text()
    assert bench.panel.view._ending == ""
    assert len(bench.last(Sample).continuation) == 5


def test_f05_the_engine_failing_in_the_middle_leaves_the_partial_text(live, monkeypatch):
    from gpt_viz.engine.sampling import Sampler

    real, left = Sampler.draw, itertools.count(5, -1)

    def draw(self, *arguments):
        if next(left) == 0:
            raise RuntimeError("broken")
        return real(self, *arguments)

    monkeypatch.setattr(Sampler, "draw", draw)
    partial = live.run(tokens=20)
    assert len(partial) == 8
    assert "Failed after 5 characters: RuntimeError: broken (incomplete)." in live.find("problem").text()
    monkeypatch.undo()
    live.panel.clear()
    assert live.run().startswith(partial)


def test_events_of_other_jobs_are_ignored(bench):
    bench.find("run").click()
    job = bench.last(Sample).job
    bench.drawn("a", job=job + 99)
    bench.deliver(Finished(job=job + 99))
    assert bench.text() == "abc"
    assert bench.panel.sampler.running


def test_another_prompt_ends_the_run_and_begins_anew(bench):
    bench.find("run").click()
    job = bench.last(Sample).job
    bench.drawn("ab")
    bench.frame()
    bench.study.set_prompt("hij")
    assert bench.last(Cancel).target == job
    bench.drawn("c", job=job)
    bench.deliver(Cancelled(job=job))
    assert bench.text() == "hij"
    assert not bench.panel.sampler.running
    assert bench.last(Predict).text == "hij"
    assert bench.find("state").whole() == ""


def test_another_model_ends_the_run_and_takes_its_text_back(bench, tiny):
    bench.find("run").click()
    bench.drawn("ab")
    bench.frame()
    bench.stands(replace(tiny, layers=1))
    assert bench.last(Cancel).target == bench.last(Sample).job
    assert bench.text() == "abc"
    assert bench.last(Predict).continuation == ()


def test_moving_the_form_leaves_a_run_alone_until_the_model_can_not_be_shown(bench, tiny):
    bench.find("run").click()
    bench.subject.set_draft(replace(tiny, layers=7))
    bench.drawn("ab")
    assert bench.text() == "abcab"
    assert not bench.of(Cancel)
    bench.subject.set_draft(replace(tiny, layers=9), "it needs 2 TB; 4 GB are free")
    bench.frame()
    assert bench.panel.covered.lower() == "it needs 2 tb; 4 gb are free"
    assert bench.last(Cancel).target == bench.last(Sample).job
    bench.panel.run()
    assert "2 TB" in bench.told[-1]
    bench.subject.set_draft(tiny)
    bench.frame()
    assert bench.panel.covered == ""
    assert bench.find("run").isEnabled()


def test_without_a_model_the_panel_says_what_to_press(qtbot):
    made = Bench()
    qtbot.addWidget(made.panel)
    qtbot.addWidget(made.panel.header)
    made.study.set_prompt("abc")
    made.frame()
    assert made.panel.covered == "No model yet: press Build."
    for act in (made.panel.run, made.panel.step, made.panel.stop, made.panel.back, made.panel.toggle):
        act()
    assert made.sent == []
    assert made.panel.table() == []


# -- settings --------------------------------------------------------------------------------------------------------


def test_another_temperature_goes_on_from_what_was_drawn(bench):
    bench.find("run").click()
    bench.drawn("abcde")
    bench.find("temperature").setValue(0.5)
    sample = bench.last(Sample)
    assert len(bench.of(Sample)) == 2
    assert sample.temperature == 0.5
    assert sample.continuation == tuple(map(ALPHABET.index, "abcde"))
    assert sample.tokens == 295
    bench.drawn("j", job=bench.of(Sample)[0].job)  # of the run that was superseded
    bench.deliver(Cancelled(job=bench.of(Sample)[0].job, superseded=True))
    assert bench.text() == "abcabcde"
    assert bench.panel.sampler.running
    bench.drawn("f")
    bench.deliver(Finished(job=sample.job))
    assert bench.text() == "abcabcdef"
    assert bench.find("state").whole().startswith("finished after 6 characters")


def test_changing_settings_during_a_run_loses_and_repeats_no_token(live):
    whole = live.run(seed="3", tokens=40)
    live.panel.clear()
    live.find("run").click()
    for _ in range(6):
        live.work(10)
        live.find("top_k").setValue(11 if live.find("top_k").value() == 0 else 0)  # 11 cuts nothing either
    live.work()
    assert live.text() == whole


def test_a_seed_entered_during_a_run_begins_it_anew(live):
    eight = live.run(seed="8", tokens=30)
    live.panel.clear()
    live.find("seed").setText("3")
    live.find("run").click()
    live.work(20)
    live.find("seed").setText("8")
    live.find("seed").editingFinished.emit()
    live.work()
    assert live.text() == eight


def test_settings_changed_at_rest_show_what_may_come_next_with_them(live):
    live.run(tokens=3)
    before = len(live.of(Predict))
    live.find("top_k").setValue(3)
    live.work()
    assert len(live.of(Predict)) == before + 1
    assert sum(not live.panel.bars.is_cut(id) for id in range(11)) == 3
    assert live.sentence().startswith("Most likely next after ")
    live.frame()
    assert len(live.of(Predict)) == before + 1, "nothing is asked twice"


def test_sliders_and_fields_move_together(bench):
    bench.find("temperature.slider").setValue(0)
    assert bench.find("temperature").text() == "greedy"
    bench.find("temperature").setValue(0.8)
    assert bench.find("temperature.slider").value() == 16
    bench.find("top_k.slider").setValue(5)
    assert bench.find("top_k").value() == 5
    assert bench.find("top_k.slider").maximum() == 11
    bench.find("top_p.slider").setValue(1)
    assert bench.find("top_p").value() == 0.05
    bench.find("top_p").setValue(1.0)
    assert bench.find("top_p").text() == "off"


def test_f10_stored_settings_that_will_not_do_leave_the_defaults(bench):
    stored = {
        "sampling.temperature": "abc", "sampling.top_k": -4, "sampling.top_p": 7.0, "sampling.tokens": 12,
        "sampling.seed": "5",
    }  # fmt: skip
    refused = controls.write(bench.panel, "sampling.", stored)
    assert len(refused) == 3
    assert [bench.find(name).value() for name in ("temperature", "top_k", "top_p", "tokens")] == [1.0, 0, 1.0, 12]
    assert bench.find("seed").text() == "5"
    kept = controls.read(bench.panel, "sampling.")
    assert kept["sampling.tokens"] == 12
    assert kept["sampling.temperature"] == 1.0


# -- distributions ---------------------------------------------------------------------------------------------------


def test_bars_show_the_newest_tokens_distribution_and_the_sentence_says_how_likely_it_was(bench):
    bench.find("run").click()
    bench.drawn("abcd")
    bench.frame()
    assert bench.panel.bars._drawn == ALPHABET.index("d")
    assert bench.panel.view._chosen == 6
    assert bench.sentence() == "Next after “cabc”: “d” was drawn at 40 %; surprise 1.3 bits."


def test_a_chosen_token_shows_what_it_was_drawn_from(live):
    live.run(tokens=6, temperature=0.7)
    original = live.study.draws[2]
    live.find("temperature").setValue(1.3)
    live.work()
    live.panel.view.chosen.emit(5)
    live.work()
    asked = live.last(Predict)
    assert (asked.temperature, asked.chosen, len(asked.continuation)) == (0.7, original.id, 2)
    assert live.panel.bars._kept[original.id] == pytest.approx(original.probability, abs=1e-6)
    assert live.panel.bars.rank(original.id) == original.rank
    assert f"surprise {-math.log2(original.probability):.1f} bits" in live.sentence()
    live.find("temperature").setValue(0.5)
    live.work()
    assert live.last(Predict).temperature == 0.5
    assert "was drawn with other settings" in live.sentence()


def answered(bench, **changes):
    """The engine answers the last prediction with 25 % for the token that was asked for."""
    asked = bench.last(Predict)
    size = bench.subject.built.config.vocabulary
    probabilities = np.full(size, 0.75 / (size - 1), np.float32)
    chosen = 0 if asked.chosen is None else asked.chosen
    probabilities[chosen] = 0.25
    bench.deliver(
        Distribution(
            job=asked.job,
            position=len(asked.text) + len(asked.continuation),
            logits=np.log(probabilities),
            probabilities=probabilities,
            chosen=asked.chosen,
            **{"temperature": asked.temperature, "top_k": asked.top_k, "top_p": asked.top_p} | changes,
        )
    )
    bench.frame()


def test_what_earlier_weights_drew_is_marked_as_theirs_beside_what_those_of_now_give_it(bench):
    bench.find("run").click()
    bench.drawn("de")
    bench.deliver(Finished(job=bench.last(Sample).job))
    bench.frame()
    asked = len(bench.of(Predict))
    bench.subject.step()  # training has made a step
    assert bench.panel.dirty
    assert len(bench.of(Predict)) == asked  # nothing is computed before it is drawn
    bench.frame()
    assert bench.sentence() == "Next after “abcd”: “e” was drawn at 40 %; surprise 1.3 bits."  # still what is shown
    answered(bench)
    assert bench.last(Predict).chosen == ALPHABET.index("e")
    assert bench.sentence() == (
        "Next after “abcd”: “e” was drawn by earlier weights; here it has 25 %; surprise 2.0 bits."
    )
    assert bench.panel.bars._kept[ALPHABET.index("e")] == pytest.approx(0.25)
    assert bench.text() == "abcde"


def test_a_token_chosen_after_a_change_of_weights_and_settings_says_both(bench):
    bench.find("run").click()
    bench.drawn("de")
    bench.deliver(Finished(job=bench.last(Sample).job))
    bench.subject.step()
    bench.panel.view.chosen.emit(3)
    bench.find("temperature").setValue(0.5)
    bench.frame()
    answered(bench)
    assert "“d” was drawn by earlier weights and with other settings; here it has 25 %" in bench.sentence()


def test_weights_that_come_back_are_those_that_drew_it_again(bench):
    shown = Moment(1, 40)
    bench.panel.sampler.moment = lambda: shown
    bench.find("run").click()
    bench.drawn("d")
    bench.deliver(Finished(job=bench.last(Sample).job))
    bench.frame()
    shown = Moment(0, 0)
    bench.subject.step()
    bench.frame()
    answered(bench)
    assert "“d” was drawn by other weights; here it has 25 %" in bench.sentence()
    shown = Moment(1, 40)
    bench.subject.step()
    bench.frame()
    assert bench.sentence() == "Next after “abc”: “d” was drawn at 40 %; surprise 1.3 bits."


def test_what_may_come_next_follows_the_weights(bench):
    answered(bench)
    count = len(bench.of(Predict))
    bench.subject.step()
    bench.frame()
    assert len(bench.of(Predict)) == count + 1


def test_a_chosen_token_of_the_prompt_shows_what_the_model_gives_it(live):
    live.panel.view.chosen.emit(2)
    live.work()
    asked = live.last(Predict)
    assert (asked.text, asked.chosen, asked.continuation) == ("ab", 2, ())
    assert live.sentence().startswith("Next after “ab”: “c” stands in the text; here it has ")
    live.panel.view.chosen.emit(0)
    live.work()
    assert len(live.panel.bars) == 0
    assert live.sentence().startswith("Nothing stands before the first token")
    live.panel.view.chosen.emit(-1)
    live.work()
    assert live.sentence().startswith("Most likely next after “abc”")


def test_choosing_a_token_moves_the_one_cursor_and_the_cursor_is_marked(bench):
    bench.study.saw(Tokens(ids=(1, 2), pieces=("b", "c"), dropped=1))
    bench.panel.view.chosen.emit(2)
    assert bench.selection.value.query == 1
    bench.selection.choose(query=0)
    bench.frame()
    assert bench.panel.view._marked == 1


def test_a_prediction_asked_for_during_a_run_is_not_lost_among_its_distributions(live):
    live.find("tokens").setValue(0)
    live.find("run").click()
    live.work(50)
    live.panel.view.chosen.emit(4)
    live.frame()
    mailbox = Mailbox()
    live.runner._emit = mailbox.put
    for _ in range(50):
        live.runner.advance()
    for event in mailbox.drain():
        live.deliver(event)
    live.frame()
    assert live.panel.bars._drawn == live.study.draws[1].id
    assert live.panel.lookout._answer.position == 4
    assert live.panel.view._chosen == 4
    live.find("stop").click()


def test_predict_is_only_sent_while_the_panel_is_drawn(bench):
    before = len(bench.of(Predict))
    for prompt in ("a", "ab", "abcd"):
        bench.study.set_prompt(prompt)
    assert len(bench.of(Predict)) == before
    assert bench.panel.dirty
    bench.frame()
    assert len(bench.of(Predict)) == before + 1


def test_a_failed_prediction_is_said_and_not_asked_again(bench):
    bench.deliver(Failed(job=bench.last(Predict).job, message="no such luck", details="", expected=True))
    count = len(bench.sent)
    bench.frame()
    bench.frame()
    assert bench.find("problem").text() == "No such luck."
    assert len(bench.sent) == count


def test_table_holds_token_id_logit_probability_and_rank(live):
    live.run(tokens=1, top_k=2)
    rows = live.panel.table()
    assert rows[0] == ["token", "id", "logit", "probability", "rank"]
    assert len(rows) == 12
    assert [row[4] for row in rows[1:]] == [str(rank) for rank in range(11)]
    assert sum(float(row[3]) for row in rows[1:]) == pytest.approx(1.0, abs=1e-5)
    assert sum(row[3] == "0" for row in rows[1:]) == 9
    live.panel.chooser.choose("id")
    assert [row[1] for row in live.panel.table()[1:]] == [str(id) for id in range(11)]


# -- many tokens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("character", ["a", "\n"])
def test_f17_fifty_thousand_tokens_arrive_complete_at_the_cost_of_what_is_new(bench, character, monkeypatch):
    bench.find("run").click()
    job, id = bench.last(Sample).job, ALPHABET.index(character)
    changes, placed = [], []
    bench.study.changed.connect(lambda: changes.append(1))
    for batch in range(500):
        before = bench.panel.view.page.rows.placed
        for place in range(100):
            bench.panel.handle(
                Drawn(
                    job=job, id=id, piece=character, position=3 + batch * 100 + place, probability=0.5, rank=0,
                    tokens_per_second=1e5,
                )
            )  # fmt: skip
        bench.frame(later=1 / 30)
        placed.append(bench.panel.view.page.rows.placed - before)
    assert bench.panel.view.text() == "abc" + character * 50_000
    assert len(changes) == 500
    assert max(placed) <= 100 + bench.panel.view.page.rows.columns


def test_tokens_are_kept_while_the_panel_is_hidden(bench, qtbot):
    bench.find("run").click()
    bench.drawn("abcde")
    assert bench.study.draws == []
    qtbot.waitUntil(lambda: len(bench.study.draws) == 5)
    bench.drawn("fg")
    bench.deliver(Finished(job=bench.last(Sample).job))
    assert len(bench.study.draws) == 7


def test_numbers_that_are_read_change_four_times_a_second_at_most(bench):
    bench.find("run").click()
    shown = set()
    for _ in range(60):
        bench.drawn("a")
        bench.frame(later=1 / 60)
        shown.add(bench.find("state").whole())
    assert 3 <= len(shown) <= 5
    bench.deliver(Finished(job=bench.last(Sample).job))
    bench.frame(later=0)
    assert bench.find("state").whole().startswith("finished after 60 characters")


# -- how it looks ----------------------------------------------------------------------------------------------------


@pytest.fixture
def styled(qapp):
    yield
    qapp.setStyleSheet("")


def rectangles(panel):
    """What can be seen, as rectangles in the panel."""
    names = ("run", "step", "stop", "back", "clear", "tokens", "seed", "temperature", "top_k", "top_p", "text", "bars")
    for name in names:
        widget = panel.findChild(QWidget, f"sampling.{name}")
        assert widget.isVisible(), name
        yield name, widget.rect().translated(widget.mapTo(panel, widget.rect().topLeft()))


@pytest.mark.parametrize("size", [(680, 430), (420, 330), (1500, 900)])
@pytest.mark.parametrize("points", [10.0, 13.0])
def test_nothing_is_cut_and_nothing_overlaps(bench, styled, qapp, qtbot, size, points):
    theme.theme.use("light", points)
    apply(qapp)
    bench.find("temperature").setValue(0.0)
    bench.find("tokens").setValue(0)
    bench.find("top_k").setValue(11)
    host = bench.host = QWidget()  # kept as long as its panel
    qtbot.addWidget(host)
    column = QVBoxLayout(host)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(bench.panel)
    host.resize(*size)
    host.show()
    bench.frame()
    host.grab()
    if points == 10.0:
        assert (host.width(), host.height()) == size
    placed = list(rectangles(bench.panel))
    for name, rect in placed:
        assert bench.panel.rect().contains(rect), name
        widget = bench.panel.findChild(QWidget, f"sampling.{name}")
        if isinstance(widget, (QAbstractSpinBox, QAbstractButton)):
            assert widget.fontMetrics().horizontalAdvance(widget.text()) <= rect.width() - 16, name
    for (one, a), (other, b) in itertools.combinations(placed, 2):
        assert not a.intersects(b), (one, other)
    assert bench.find("bars").width() >= 130


def test_every_control_has_a_name_that_is_read_aloud(bench):
    for name in (
        "run", "step", "stop", "back", "clear", "tokens", "seed", "temperature", "top_k", "top_p", "text", "bars",
        "temperature.slider", "top_k.slider", "top_p.slider",
    ):  # fmt: skip
        assert bench.find(name).accessibleName(), name
    assert bench.panel.chooser.accessibleName()
