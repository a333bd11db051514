"""Once a frame, to those it is meant for, and stopped by none that fails; the conductor asks no more than it must."""

import threading

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import (
    Attended,
    Built,
    Drawn,
    Failed,
    Finished,
    Inspect,
    ModelInfo,
    TextRefused,
    Tokens,
    Traced,
)
from gpt_viz.ui.asking.conductor import SAMPLING_INTERVAL_S, TRACE_INTERVAL_S, Conductor
from gpt_viz.ui.bridge import Bridge
from gpt_viz.ui.panel import Panel
from gpt_viz.worker import Mailbox

TOKENS = Tokens((1, 2), ("a", "b"))


class Probe(Panel):
    """Notes what it is told, and on which thread."""

    name = "probe"
    title = "Probe"
    order = 1
    events = (Traced, Finished)
    fails = False

    def __init__(self, context):
        super().__init__(context)
        QVBoxLayout(self.body).addWidget(QLabel("probe"))
        self.handled, self.drawn, self.threads = [], 0, set()

    def handle(self, event):
        self.threads.add(threading.current_thread())
        self.handled.append(type(event))
        self.mark()
        if self.fails:
            raise ZeroDivisionError("handle")

    def draw(self):
        self.threads.add(threading.current_thread())
        self.drawn += 1
        if self.fails:
            raise ZeroDivisionError("draw")


class Looks(Probe):
    """One that needs attention."""

    name = "looks"
    title = "Looks"
    needs = frozenset({"attention"})


def traced(job, **changes):
    return Traced(job=job, tokens=TOKENS, steps=(), loss=1.0, first_bad="", elapsed_s=0.1, **changes)


def built(config=None, alphabet=("a", "b")):
    config = config or GPTConfig(vocabulary=2, block_size=8, layers=2, heads=2, width=4)
    info = ModelInfo(
        config=config, seed=1, device="cpu", alphabet=alphabet, tensors=(), total=0, bytes=0, elapsed_s=0.0
    )  # fmt: skip
    return Built(job=900, model=info)


@pytest.fixture
def panels(world, qtbot):
    made = [Probe(world.context), Looks(world.context)]
    for panel in made:
        qtbot.addWidget(panel)
        panel.show()
    return made


@pytest.fixture
def bridged(panels):
    """A bridge without a clock: frames are made by hand."""
    mailbox, faults = Mailbox(), []
    bridge = Bridge(mailbox, faults.append)
    for panel in panels:
        panel.dirty = False
        bridge.add(panel)
    return bridge, mailbox, faults


def test_a_panel_gets_the_kinds_it_declared_and_no_others(bridged, panels):
    bridge, mailbox, _ = bridged
    for event in (traced(1), Finished(job=1), Failed(job=1, message="", details="", expected=True)):
        mailbox.put(event)
    bridge.frame()
    assert panels[0].handled == [Traced, Finished]


def test_many_events_are_one_draw(bridged, panels):
    bridge, mailbox, _ = bridged
    painted = []
    bridge.painted.connect(lambda: painted.append(1))
    for job in range(500):
        mailbox.put(Finished(job=job))
    for _ in range(4):
        bridge.frame()
    assert len(panels[0].handled) == 500
    assert [panel.drawn for panel in panels] == [1, 1]
    assert painted == [1, 1]


def test_one_panel_is_drawn_in_a_frame_and_the_one_that_waits_longest_comes_first(bridged, panels):
    bridge, mailbox, _ = bridged
    mailbox.put(Finished(job=1))
    bridge.frame()
    assert [panel.drawn for panel in panels] == [1, 0]
    mailbox.put(Finished(job=2))
    bridge.frame()
    assert [panel.drawn for panel in panels] == [1, 1]
    bridge.frame()
    assert [panel.drawn for panel in panels] == [2, 1]
    bridge.frame()
    assert [panel.drawn for panel in panels] == [2, 1]


def test_what_can_not_be_seen_is_not_drawn_until_it_can(bridged, panels):
    bridge, mailbox, _ = bridged
    panels[0].hide()
    mailbox.put(Finished(job=1))
    bridge.frame()
    assert panels[0].handled == [Finished]
    assert panels[0].drawn == 0
    panels[0].show()
    bridge.frame()
    assert panels[0].drawn == 1


def test_f04_a_panel_that_fails_stops_no_other_and_is_reported_each_time(bridged, panels):
    bridge, mailbox, faults = bridged
    panels[0].fails = True
    mailbox.put(Finished(job=1))
    bridge.frame()
    bridge.frame()
    assert [str(fault) for fault in faults] == ["handle", "draw"]
    assert panels[1].handled == [Finished]
    assert panels[1].drawn == 1
    bridge.frame()
    assert len(faults) == 2  # and it is not drawn again without news


def test_f04_a_listener_that_fails_stops_no_panel(bridged, panels):
    bridge, mailbox, faults = bridged
    heard = []
    bridge.listen(lambda event: 1 / 0)
    bridge.listen(heard.append)
    mailbox.put(Finished(job=1))
    bridge.frame()
    assert isinstance(faults[0], ZeroDivisionError)
    assert len(heard) == len(panels[1].handled) == 1


def test_f06_panels_are_told_and_drawn_on_the_main_thread_whoever_put_the_event(bridged, panels, qtbot):
    bridge, mailbox, _ = bridged
    thread = threading.Thread(target=lambda: mailbox.put(Finished(job=1)))
    thread.start()
    thread.join()
    bridge.start()
    qtbot.waitUntil(lambda: panels[0].drawn == 1)
    bridge.stop()
    assert panels[0].threads == {threading.main_thread()}


def test_what_is_not_accepted_reaches_nobody(panels):
    mailbox = Mailbox()
    heard = []
    bridge = Bridge(mailbox, heard.append, accepts=lambda event: event.job == 2)
    bridge.listen(heard.append)
    bridge.add(panels[0])
    mailbox.put(Finished(job=1))
    mailbox.put(Finished(job=2))
    bridge.frame()
    assert [event.job for event in heard] == [2]
    assert len(panels[0].handled) == 1


# --- the conductor -------------------------------------------------------------------------------------------------


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def conducted(world, panels):
    world.clock = Clock()
    world.conductor = Conductor(
        world.subject, world.study, world.selection, world.new_job, world.send, clock=world.clock
    )  # fmt: skip
    for panel in panels:
        world.conductor.add(panel)
    world.study.set_prompt("ab")
    stand(world, built())
    yield world
    world.conductor.deleteLater()  # it would look at the panels again, which are gone then


def stand(world, event):
    world.subject.set_built(event.model)


def drawn(position):
    return Drawn(job=50, id=0, piece="a", position=position, probability=1.0, rank=0, tokens_per_second=1.0)


def answer(world):
    """The engine answers the newest question and is done."""
    job = world.sent[-1].job
    world.conductor.handle(traced(job))
    world.conductor.handle(Finished(job=job))


def test_a_model_that_stands_is_inspected_once(conducted):
    assert [type(command) for command in conducted.sent] == [Inspect]
    assert conducted.sent[0].text == "ab"
    assert conducted.sent[0].trace
    assert conducted.sent[0].attention
    answer(conducted)
    assert len(conducted.sent) == 1
    assert not conducted.conductor.busy
    assert conducted.study.tokens == TOKENS


def test_nothing_is_asked_before_there_is_a_model(world, panels):
    Conductor(world.subject, world.study, world.selection, world.new_job, world.send)
    world.study.set_prompt("abc")
    assert world.sent == []


def test_one_inspection_is_under_way_and_the_newest_text_comes_next(conducted):
    for text in ("a", "aa", "aab", "aabb"):
        conducted.study.set_prompt(text)
    assert len(conducted.sent) == 1
    answer(conducted)
    assert [command.text for command in conducted.sent] == ["ab", "aabb"]


def test_hidden_attention_is_not_computed_and_shown_again_it_is(conducted, panels):
    answer(conducted)
    panels[1].hide()
    conducted.study.set_prompt("ba")
    assert not conducted.sent[-1].attention
    answer(conducted)
    count = len(conducted.sent)
    panels[1].show()
    assert len(conducted.sent) == count + 1
    assert conducted.sent[-1].attention


def test_hiding_attention_asks_for_nothing(conducted, panels):
    answer(conducted)
    panels[1].hide()
    conducted.conductor.consider()
    assert len(conducted.sent) == 1


def test_the_chosen_head_matters_only_for_long_texts(conducted):
    answer(conducted)
    conducted.selection.choose(layer=1, head=1)
    assert len(conducted.sent) == 1
    long = GPTConfig(vocabulary=2, block_size=512, layers=2, heads=2, width=4)
    conducted.study.set_prompt("ab" * 100)
    answer(conducted)
    stand(conducted, built(long))
    answer(conducted)
    count = len(conducted.sent)
    conducted.selection.choose(layer=0, head=1)
    assert len(conducted.sent) == count + 1
    assert conducted.sent[-1].head == (0, 1)


def test_while_sampling_it_looks_ten_times_a_second_at_most(conducted, qtbot):
    answer(conducted)
    conducted.clock.now += 1
    for position in range(2, 40):
        conducted.study.extend([drawn(position)])
        if conducted.conductor.busy:
            answer(conducted)
        conducted.clock.now += SAMPLING_INTERVAL_S / 10
    assert 4 <= len(conducted.sent) <= 6
    # The last state is looked at all the same, once the time has come.
    conducted.clock.now += 1
    qtbot.waitUntil(lambda: len(conducted.sent[-1].continuation) == 38)


def test_while_training_patterns_are_followed_and_the_pass_is_traced_once_a_second(conducted, panels, qtbot):
    answer(conducted)
    for _ in range(8):
        conducted.clock.now += TRACE_INTERVAL_S / 4
        conducted.subject.step()
        if conducted.conductor.busy:
            answer(conducted)
    asked = conducted.sent[1:]
    assert len(asked) == 8
    assert all(command.attention for command in asked)
    assert [command.trace for command in asked] == [False, False, False, True] * 2
    panels[1].hide()  # now only the trace is wanted, and it waits for its time
    conducted.subject.step()
    assert len(conducted.sent) == 9


def test_the_last_weights_are_traced_all_the_same(conducted, qtbot):
    answer(conducted)
    conducted.subject.step()
    answer(conducted)
    assert not conducted.sent[-1].trace
    assert not conducted.conductor.busy
    conducted.clock.now += TRACE_INTERVAL_S
    qtbot.waitUntil(lambda: len(conducted.sent) == 3, timeout=5_000)
    assert conducted.sent[-1].trace


def test_another_text_is_traced_at_once_while_it_trains(conducted):
    answer(conducted)
    conducted.subject.step()
    answer(conducted)
    conducted.study.set_prompt("b")
    assert conducted.sent[-1].trace


def test_typing_after_sampling_is_followed_at_once(conducted):
    conducted.study.extend([drawn(2)])
    answer(conducted)
    conducted.study.set_prompt("b")
    answer(conducted)
    assert conducted.sent[-1].text == "b"
    assert conducted.sent[-1].continuation == ()


def test_e08_an_answer_for_the_model_before_is_not_accepted(conducted):
    before = conducted.sent[-1].job
    stand(conducted, built(GPTConfig(vocabulary=2, block_size=8, layers=1, heads=1, width=4)))
    pattern = np.ones((2, 2, 2, 2), np.float32)
    late = Attended(job=before, tokens=TOKENS, patterns=pattern, head=(0, 0), whole=pattern[0, 0])
    assert not conducted.conductor.accepts(late)
    assert conducted.conductor.accepts(traced(conducted.sent[-1].job))
    assert conducted.sent[-1].job != before


def test_a_refused_text_is_told_to_the_study_and_not_asked_again(conducted):
    job = conducted.sent[-1].job
    conducted.conductor.handle(TextRefused(job=job, unknown=((1, "é"),)))
    conducted.conductor.handle(Finished(job=job))
    assert conducted.study.refused.unknown == ((1, "é"),)
    assert len(conducted.sent) == 1


def test_f05_a_failed_inspection_is_not_repeated_by_itself(conducted):
    settled = []
    conducted.conductor.settled.connect(lambda: settled.append(1))
    job = conducted.sent[-1].job
    conducted.conductor.handle(Failed(job=job, message="no", details="", expected=False))
    assert len(conducted.sent) == 1
    assert settled == [1]
    conducted.study.set_prompt("b")
    assert conducted.sent[-1].text == "b"


def test_a02_without_layers_no_attention_is_asked_for(conducted):
    conducted.selection.choose(layer=1, head=1)
    answer(conducted)
    stand(conducted, built(GPTConfig(vocabulary=2, block_size=8, layers=0, heads=1, width=4)))
    assert not conducted.sent[-1].attention
    assert conducted.selection.value.step == "embedded"


def test_while_an_impossible_model_is_examined_nothing_is_asked(conducted):
    answer(conducted)
    conducted.subject.set_draft(GPTConfig(layers=96), "too large")
    conducted.study.set_prompt("b")
    assert len(conducted.sent) == 1
    conducted.subject.set_draft(None)
    assert conducted.sent[-1].text == "b"


def test_the_selection_is_made_to_fit_the_tokens(conducted):
    conducted.selection.choose(query=7, key=5)
    answer(conducted)
    assert (conducted.selection.value.query, conducted.selection.value.key) == (1, 1)
