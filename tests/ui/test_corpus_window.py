"""Texts in the window itself: dropped, chosen in the menu, cancelled in the status bar, asked about under the text."""

import threading

import pytest
from conftest import SMALL
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget
from text_engine import made_by

from gpt_viz import resources, settings
from gpt_viz.engine import corpus
from gpt_viz.protocol import FetchText


@pytest.fixture
def saved(tmp_path):
    def save(content, name="other.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return save


@pytest.fixture
def window(open_window):
    return open_window(*SMALL, make_engine=made_by())


def child(window, name, kind=QWidget):
    return window.findChild(kind, name)


def said(window):
    return window.messages.strip.text()


def test_c02_a_dropped_text_is_asked_about_and_older_notes_make_room(window, qtbot, saved):
    window.messages.tell("something older")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(saved(b"caf\xe9 \x92"))])
    window.dropEvent(
        QDropEvent(
            QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
    )
    qtbot.waitUntil(lambda: "byte 3 is 0xe9" in window.texts.offer.text())
    assert window.texts.offer.isVisible()
    assert said(window) == ""
    window.leave()  # Esc
    assert window.texts.offer.text() == ""


def test_c06_the_sampling_panel_shows_no_doubled_lines(window, qtbot, saved):
    window.texts.open(saved(b"one\r\n" * 123))
    qtbot.waitUntil(lambda: window.panels["sampling"].view.text() == "one\n" * 4)
    assert said(window) == "Opened other.txt: 492 characters, 4 different; 123 CRLF converted."


def test_c10_reading_shows_its_progress_and_cancel_ends_it(open_window, qtbot, saved, monkeypatch):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 100)
    gate = threading.Event()
    window = open_window(*SMALL, make_engine=made_by(gate=gate))
    before = (window.subject.built, window.study.prompt, window.study.corpus)
    path = saved(b"abcdefghi\n" * 100)
    window.texts.open(path)
    cancel, progress = child(window, "status.cancel"), child(window, "status.progress")
    qtbot.waitUntil(cancel.isVisible)
    assert progress.toolTip() == "reading other.txt"
    qtbot.waitUntil(lambda: progress.maximum() == 1000)
    cancel.click()
    qtbot.waitUntil(lambda: said(window) == "Opening was cancelled; the text before is still there.")
    assert not cancel.isVisible()
    assert (window.subject.built, window.study.prompt, window.study.corpus) == before
    gate.set()
    window.texts.open(path)
    qtbot.waitUntil(lambda: window.study.corpus.characters == 1000)


def test_a_file_on_the_command_line_is_read_by_the_same_rule(open_window, saved):
    window = open_window(saved(b"caf\xe9", "latin.txt"), make_engine=made_by())
    assert window.subject.built.alphabet == resources.alphabet()
    assert "latin.txt is not UTF-8" in window.texts.offer.text()


def test_a_text_with_markup_in_its_name_is_shown_as_it_is(window, qtbot, saved, monkeypatch):
    path = saved(b"abc", "<b>&x.txt")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (path, ""))
    window.actions_["open"].trigger()
    qtbot.waitUntil(lambda: said(window).startswith("Opened <b>&x.txt: "))
    assert child(window, "strip.message", QLabel).textFormat() == Qt.TextFormat.PlainText
    assert "<b>" not in window.topbar.corpus.toolTip()
    assert window.topbar.corpus.text() == "<b>&&x.txt"


def test_the_menu_gets_the_notebooks_own_text(window, monkeypatch):
    asked = []
    monkeypatch.setattr(window.texts, "_send", asked.append)
    window.actions_["fetch"].trigger()
    (command,) = asked
    assert isinstance(command, FetchText)
    assert command.url == "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
    assert command.sha256 == "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
    assert (command.bytes, command.name) == (1_115_394, "tinyshakespeare.txt")
    assert command.folder == str(settings.texts_dir())


def test_the_question_and_its_answers_have_names_for_a_screen_reader(window, qtbot, saved):
    window.texts.open(saved("é".encode()))
    qtbot.waitUntil(lambda: window.texts.offer.text() != "")
    for name in ("offer", "offer.message", "offer.answer.0", "offer.answer.1", "offer.close", "text.corpus"):
        assert child(window, name).accessibleName(), name
    assert child(window, "offer.answer.0", QPushButton).accessibleName() == "Build a model for it"
    child(window, "offer.close").click()
    assert window.texts.offer.text() == ""
