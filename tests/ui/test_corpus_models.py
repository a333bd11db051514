"""Texts of every kind under the real engine: their models are built, looked into and sampled from."""

import os

import pytest
from PySide6.QtWidgets import QPushButton

from gpt_viz.engine import corpus
from gpt_viz.protocol import Drawn

WAIT = 20_000
FAMILY = "e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44b\U0001f3fd\n"


@pytest.fixture
def faults(window):
    """What went wrong in the program: nothing may."""
    found = []
    window.faults.met.connect(found.append)
    yield found
    assert found == []


def studied(window, qtbot, path):
    """Open a text and have a model built for it."""
    window.texts.open(str(path))
    qtbot.waitUntil(lambda: window.texts.offer.text() != "", timeout=WAIT)
    window.findChild(QPushButton, "offer.answer.0").click()
    qtbot.waitUntil(lambda: window.study.corpus.path == str(path), timeout=WAIT)
    qtbot.waitUntil(lambda: not window.conductor.busy, timeout=WAIT)


def test_b12_emoji_and_marks_are_sampled_and_seen_code_point_by_code_point(window, qtbot, tmp_path, faults):
    path = tmp_path / "family.txt"
    path.write_bytes((FAMILY * 40).encode())
    studied(window, qtbot, path)
    alphabet = window.subject.built.alphabet
    assert (len(alphabet), window.study.prompt) == (12, (FAMILY * 2)[:16])
    window.prompt.setText(FAMILY[3:5])  # a man and half a joint to what comes after him
    qtbot.waitUntil(lambda: window.study.tokens is not None and len(window.study.tokens.ids) == 2, timeout=WAIT)
    assert window.study.tokens.pieces == ("\U0001f468", "\u200d")
    qtbot.waitUntil(lambda: not window.conductor.busy, timeout=WAIT)
    window.panels["attention"].grab()
    window.findChild(QPushButton, "sampling.step")
    window.panels["sampling"].findChild(object, "sampling.tokens").setValue(200)
    drawn = []
    window.bridge.listen(lambda event: drawn.append(event) if isinstance(event, Drawn) else None)
    window.call("sampling", "run")
    qtbot.waitUntil(lambda: len(drawn) == 200, timeout=WAIT)
    assert {each.piece for each in drawn} <= set(alphabet)
    "".join(each.piece for each in drawn).encode("utf-8")  # raises for half a character
    qtbot.waitUntil(lambda: not window.sampling, timeout=WAIT)
    window.grab()
    assert window.prompt.text() == FAMILY[3:5]


def test_c07_a_model_of_one_character_stands_and_its_panels_show_it(window, qtbot, tmp_path, faults):
    path = tmp_path / "one.txt"
    path.write_bytes(b"\xc3\xa9")
    studied(window, qtbot, path)
    assert window.subject.built.alphabet == ("é",)
    qtbot.waitUntil(lambda: window.study.tokens.pieces == ("é",), timeout=WAIT)
    names = ("parameters", "shapes", "attention", "sampling")
    qtbot.waitUntil(lambda: not [name for name in names if window.panels[name].covered], timeout=WAIT)


def test_c10_a_long_text_is_cancelled_half_way_and_opened_again(window, qtbot, tmp_path, monkeypatch, faults):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 64)
    path = tmp_path / "long.txt"
    path.write_bytes(b"abcdefg\n" * 200_000)
    before = (window.subject.built, window.study.prompt, window.study.corpus)
    window.texts.open(str(path))
    with qtbot.waitSignal(window.texts.advanced, timeout=WAIT):
        pass
    window.messages.status.cancelled.emit()
    qtbot.waitUntil(lambda: "cancelled" in window.messages.strip.text(), timeout=WAIT)
    assert (window.subject.built, window.study.prompt, window.study.corpus) == before
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 2**18)
    window.texts.open(str(path))
    qtbot.waitUntil(lambda: window.study.corpus.path == str(path), timeout=WAIT)
    assert window.study.corpus.characters == os.path.getsize(path)
