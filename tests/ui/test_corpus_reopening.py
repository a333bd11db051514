"""The files of last time at the next start: nothing heavy unasked, and no file twice that a start was not done with."""

import os

import pytest
from PySide6.QtWidgets import QPushButton
from text_engine import TextEngine, made_by

from gpt_viz import app, resources, settings
from gpt_viz.config import GPTConfig
from gpt_viz.engine.checkpoints.saving import save
from gpt_viz.engine.initialise import build
from gpt_viz.protocol import OpenCheckpoint, OpenText
from gpt_viz.settings import Settings

WAIT = 20_000
CONFIG = GPTConfig(layers=1, heads=1, width=8, block_size=16)
SMALL = GPTConfig(vocabulary=11, block_size=8, layers=1, heads=3, width=12)
ALPHABET = tuple(" abcdefghij")


@pytest.fixture
def saved(tmp_path):
    def write(content, name="last.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


def remember(**values):
    settings.save(Settings(config=CONFIG, **values))


def said(window):
    return window.messages.strip.text()


def question(window):
    return window.texts.offer.text()


def answer(window, place):
    window.findChild(QPushButton, f"offer.answer.{place}").click()


def asked(make_engine, kind=OpenText):
    return [command for command in make_engine.engine.asked if isinstance(command, kind)]


def stands(window):
    """The model of the settings stands, and the built-in text is there."""
    assert window.subject.built.config == CONFIG
    assert window.study.corpus.path == ""
    assert window.study.prompt == resources.passage()[:16]


def test_the_text_of_last_time_is_known_again_and_the_prompt_stays(open_window, qtbot, saved):
    make_engine = made_by()
    window = open_window(make_engine=make_engine)
    path = saved(b"caf\xe9 the quick brown fox\r\n" * 9)
    window.texts.open(path, "cp1252")
    qtbot.waitUntil(lambda: question(window) != "")
    answer(window, 0)
    qtbot.waitUntil(lambda: window.study.corpus.path == path)
    window.prompt.setText("fox")
    window.close()
    window = open_window(make_engine=make_engine)
    qtbot.waitUntil(lambda: window.study.corpus.path == path)
    assert (window.study.corpus.encoding, window.study.prompt) == ("cp1252", "fox")
    assert window.subject.built.alphabet == window.study.corpus.alphabet
    assert (said(window), question(window)) == ("", "")
    assert not settings.unfinished()


def test_c13_a_deleted_file_is_a_note_and_the_default_text(open_window, qtbot, tmp_path):
    remember(text=str(tmp_path / "gone.txt"))
    window = open_window(make_engine=made_by())
    qtbot.waitUntil(lambda: "gone.txt" in said(window))
    assert said(window) == f"The text of last time was not opened: there is no file {tmp_path / 'gone.txt'}."
    stands(window)
    window.leave()
    assert said(window) == ""
    window.close()
    assert settings.load().text == ""


def test_c13_a_huge_file_is_only_proposed(open_window, qtbot, saved):
    path = saved(b"to be\n")
    os.truncate(path, 5 * 10**9)
    remember(text=path)
    make_engine = made_by()
    window = open_window(make_engine=make_engine)
    qtbot.waitUntil(lambda: question(window) != "")
    assert question(window) == f"{path} has 5.0 GB, more than is read without asking."
    stands(window)
    answer(window, 0)
    qtbot.waitUntil(lambda: "does not look like text" in said(window))  # a sparse file is full of NUL
    assert [command.at_most is None for command in asked(make_engine)] == [False, True]
    stands(window)


def test_c13_a_huge_file_is_not_proposed_for_ever(open_window, qtbot, saved):
    path = saved(b"to be\n")
    os.truncate(path, 5 * 10**9)
    remember(text=path)
    window = open_window(make_engine=made_by())
    qtbot.waitUntil(lambda: question(window) != "")
    answer(window, 1)
    window.close()
    assert settings.load().text == ""


@pytest.mark.parametrize("content", [b"\x80\x02\0\0 a pickle", b"caf\xe9"])
def test_c13_a_file_that_is_no_text_any_more_is_a_note(open_window, qtbot, saved, content):
    remember(text=saved(content))
    window = open_window(make_engine=made_by())
    qtbot.waitUntil(lambda: "The text of last time was not opened" in said(window))
    stands(window)


def test_c13_a_malformed_checkpoint_is_a_note_and_the_model_before_it(open_window, qtbot, saved):
    remember(checkpoint=saved(b"\x08\0\0\0\0\0\0\0{broken}", "model.safetensors"))
    window = open_window()
    qtbot.waitUntil(lambda: "model.safetensors" in said(window), timeout=WAIT)
    assert said(window).startswith("Not opened: ")
    stands(window)
    window.close()
    assert settings.load().checkpoint == ""
    assert settings.load().config == CONFIG


def test_c13_a_huge_checkpoint_is_only_proposed(open_window, qtbot, saved):
    path = saved(b"", "model.safetensors")
    os.truncate(path, 5 * 10**9)
    remember(checkpoint=path, text=saved(b"to be"))
    window = open_window()
    qtbot.waitUntil(lambda: question(window) != "", timeout=WAIT)
    assert question(window) == f"{path} has 5.0 GB, more than is read without asking."
    assert window.subject.built.config == CONFIG
    qtbot.waitUntil(lambda: window.study.corpus.path != "", timeout=WAIT)  # the text is not kept from coming back


class Stuck(TextEngine):
    """Never gets to the end of a text."""

    def _opentext(self, command):
        while True:
            yield None


def test_c13_a_start_that_never_finished_is_not_repeated_with_the_same_file(open_window, qtbot, saved):
    path = saved(b"to be")
    remember(text=path)
    make_engine = made_by(Stuck)
    window = open_window(make_engine=make_engine)
    qtbot.waitUntil(lambda: len(asked(make_engine)) == 1)
    stands(window)
    window.close()
    assert settings.unfinished() == path
    assert settings.load().text == path  # it is still the text of last time
    make_engine = made_by()
    window = open_window(make_engine=make_engine)
    assert question(window) == ("The last start did not get to the end of opening last.txt, so it is not opened again.")
    stands(window)
    assert asked(make_engine) == []
    answer(window, 0)
    qtbot.waitUntil(lambda: window.study.corpus.path == path)
    window.close()
    make_engine = made_by()
    open_window(make_engine=make_engine)
    qtbot.waitUntil(lambda: len(asked(make_engine)) == 1)  # it was opened since, so it is trusted again


def test_c13_a_start_that_crashed_leaves_its_mark_too(open_window, saved, monkeypatch):
    path = saved(b"to be")
    remember(text=path)
    settings.begin_opening(path)  # as a process that was killed has left it
    make_engine = made_by()
    window = open_window(make_engine=make_engine)
    assert "last.txt" in question(window)
    assert asked(make_engine) == []
    window.close()
    assert settings.unfinished() == ""


def test_c13_the_window_is_up_before_anything_is_opened_again(open_window, qtbot, saved):
    remember(text=saved(b"to be"))
    make_engine, seen = made_by(), []
    original = TextEngine.run

    class Watching(TextEngine):
        def run(self, command):
            seen.append((type(command).__name__, self.model is not None))
            yield from original(self, command)

    make_engine = made_by(Watching)
    open_window(make_engine=make_engine)
    qtbot.waitUntil(lambda: any(name == "OpenText" for name, _ in seen))
    assert seen[0] == ("Build", False)
    assert dict(seen)["OpenText"]


def test_a_file_on_the_command_line_takes_the_place_of_those_of_last_time(open_window, saved):
    remember(text=saved(b"old"), checkpoint=saved(b"", "old.safetensors"))
    given = saved(b"new", "new.txt")
    make_engine = made_by()
    window = open_window(given, make_engine=make_engine)
    assert not asked(make_engine, OpenCheckpoint)
    assert window.study.corpus.path == given
    assert [command.path for command in asked(make_engine)] == [given]


def test_a_text_that_the_model_of_the_command_line_can_not_read_is_left_alone(open_window, qtbot, saved):
    remember(text=saved("éàü".encode()))
    make_engine = made_by()
    window = open_window("--preset", "step5", "--set", "layers=1", make_engine=make_engine)
    qtbot.waitUntil(lambda: asked(make_engine) and not window.reopening.waiting)
    assert window.study.corpus.path == ""
    assert (said(window), question(window)) == ("", "")


def test_the_checkpoint_of_last_time_comes_back_with_its_text(open_window, qtbot, tmp_path):
    path = str(tmp_path / "mine.safetensors")
    save(path, build(SMALL, 3), alphabet=ALPHABET, seed=3)
    remember()
    window = open_window()
    window.builder.open_checkpoint(path)
    qtbot.waitUntil(lambda: window.subject.built.config == SMALL, timeout=WAIT)
    window.prompt.setText("abba")
    window.close()
    kept = settings.load()
    assert (kept.checkpoint, kept.config, kept.prompt) == (path, CONFIG, "abba")
    window = open_window()
    qtbot.waitUntil(lambda: window.subject.built.config == SMALL, timeout=WAIT)
    qtbot.waitUntil(lambda: window.study.prompt == "abba", timeout=WAIT)
    assert window.subject.built.alphabet == ALPHABET
    qtbot.waitUntil(lambda: settings.unfinished() == "", timeout=WAIT)
    window.builder.build(CONFIG, 1, "cpu")
    qtbot.waitUntil(lambda: window.subject.built.source == "", timeout=WAIT)
    window.close()
    assert settings.load().checkpoint == ""


def test_a_model_on_the_command_line_takes_the_place_of_the_checkpoint(open_window, tmp_path):
    remember(checkpoint=str(tmp_path / "gone.safetensors"), prompt="abba")
    make_engine = made_by()
    window = open_window("--set", "layers=2", make_engine=make_engine)
    assert not asked(make_engine, OpenCheckpoint)
    assert said(window) == ""


def test_a_window_that_remembers_nothing_opens_nothing(saved):
    remember(text=saved(b"old"))
    started = app.start([], remembers=False)
    assert (started.opening.again.text, started.opening.again.checkpoint) == ("", "")


def test_a_mark_that_can_not_be_written_stops_nothing(open_window, qtbot, saved, monkeypatch):
    remember(text=saved(b"to be"))
    folder = settings.config_dir()
    (folder / "opening.txt").mkdir()
    make_engine = made_by()
    window = open_window(make_engine=make_engine)
    qtbot.waitUntil(lambda: window.study.corpus.path != "")
