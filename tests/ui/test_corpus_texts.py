"""From a file to the text under study: what is asked, what is said, and that nothing is lost until another is taken."""

import codecs
import hashlib
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel
from text_engine import Bench

from gpt_viz import resources, settings, shelf
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine import corpus
from gpt_viz.protocol import Build, Cancel, OpenText
from gpt_viz.shelf import RemoteText
from gpt_viz.ui.study import built_in
from gpt_viz.ui.text import text_words as words


@pytest.fixture(autouse=True)
def _closed():
    yield
    while Bench.made:
        Bench.made.pop().close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def bench(qapp):
    return Bench()


@pytest.fixture
def saved(tmp_path):
    def save(content, name="other.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return save


def refused(bench, path):
    """What is said of a file that is not opened; model and text must be those from before."""
    before = bench.state()
    bench.open(path)
    assert bench.state() == before
    assert bench.question == ""
    assert bench.working[-1] == ""
    return bench.said[-1].removeprefix("Not opened: ")


def taken(bench, path):
    """The text under study, which must be the file's."""
    bench.open(path)
    assert bench.study.corpus.path == path
    return bench.study.corpus


# --- encodings -----------------------------------------------------------------------------------------------------


def test_c01_curly_quotes_and_emoji_are_read_as_utf_8(bench, saved):
    bench.open(saved("“hél” \U0001f600\n".encode() * 9))
    bench.answer(0)
    assert bench.alphabet == ("\n", " ", "h", "l", "é", "“", "”", "\U0001f600")
    assert bench.study.prompt == ("“hél” \U0001f600\n" * 9)[:16]


def test_c02_the_encoding_is_asked_for_with_the_offset_and_what_each_would_give(bench, saved):
    before = bench.state()
    bench.open(saved(b"it\x92s a caf\xe9\n" * 50, "w1252.txt"))
    assert bench.question == "The file w1252.txt is not UTF-8: byte 2 is 0x92. How is it to be read?"
    assert bench.said == []
    choice, preview = bench.texts.offer.findChild(QComboBox), bench.texts.offer.findChild(QLabel, "offer.preview")
    assert choice.currentText() == "Windows-1252 (Western)"
    assert preview.whole().startswith("it’s a café↵")
    choice.setCurrentIndex(choice.findText("Latin-1"))
    assert preview.whole().startswith("itU+0092s a café↵")
    assert bench.state() == before


def test_c02_the_chosen_encoding_opens_it_and_nothing_is_dropped(bench, saved):
    bench.open(saved(b"it\x92s a caf\xe9\n" * 50, "w1252.txt"))
    bench.answer(0)
    assert "can't read" in bench.question
    bench.answer(0)
    assert bench.alphabet == tuple("\n acfist\xe9\u2019")
    assert bench.study.prompt == "it\u2019s a caf\u00e9\nit\u2019s"
    assert bench.said == ["Opened w1252.txt: 600 characters, 10 different; read as Windows-1252 (Western)."]
    assert bench.study.corpus.encoding == "cp1252"


def test_c02_a_refused_question_leaves_everything(bench, saved):
    before = bench.state()
    bench.open(saved(b"caf\xe9"))
    bench.answer(1)
    assert bench.question == ""
    assert bench.state() == before


@pytest.mark.parametrize(
    ("mark", "encoding", "title"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 (little-endian)"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 (big-endian)"),
    ],
)
def test_c03_a_mark_says_utf_16(bench, saved, mark, encoding, title):
    text = taken(bench, saved(mark + ("hello hello\n" * 40).encode(encoding)))
    assert text.alphabet == tuple("\n ehlo")
    assert bench.said == [f"Opened other.txt: 480 characters, 6 different; read as {title}."]
    bench.texts.build_for_corpus()
    bench.run()
    assert bench.alphabet == tuple("\n ehlo")
    assert bench.subject.built.config.vocabulary == 6


def test_c03_utf_16_without_a_mark_is_asked_for(bench, saved):
    bench.open(saved(("hello hello\n" * 40).encode("utf-16-le")))
    assert "looks like UTF-16" in bench.question
    assert bench.texts.offer.findChild(QComboBox).currentData() == "utf-16-le"
    bench.answer(0)
    assert bench.study.prompt == "hello hello\nhell"


def test_c05_the_mark_is_no_character(bench, saved):
    text = taken(bench, saved(codecs.BOM_UTF8 + b"abab\n" * 30))
    assert (bench.study.prompt, text.alphabet) == ("abab\nabab\nabab\na", tuple("\nab"))
    assert words.encoded(text) == "UTF-8 with a byte-order mark"


# --- line ends -----------------------------------------------------------------------------------------------------


def test_c06_converted_line_ends_are_said_and_no_line_is_doubled(bench, saved):
    text = taken(bench, saved(b"one\r\n" * 123))
    assert bench.said == ["Opened other.txt: 492 characters, 4 different; 123 CRLF converted."]
    assert (text.excerpt, bench.study.prompt) == ("one\n" * 123, "one\n" * 4)


def test_c06_all_ways_to_end_a_line_give_the_same_text(bench, saved):
    found = [
        taken(bench, saved(content, f"{number}.txt"))
        for number, content in enumerate((b"one\ntwo\nx", b"one\r\ntwo\r\nx", b"one\rtwo\rx", b"one\r\ntwo\rx"))
    ]
    assert {(each.excerpt, each.alphabet) for each in found} == {("one\ntwo\nx", tuple("\nenotwx"))}
    assert [words.changes(each) for each in found] == [
        [], ["2 CRLF converted"], ["2 CR converted"], ["1 CRLF and 1 CR converted"],
    ]  # fmt: skip


# --- short, empty, huge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", codecs.BOM_UTF8])
def test_c07_an_empty_file_is_said_and_the_text_before_stays(bench, saved, content):
    assert refused(bench, saved(content)).startswith("the file is empty: ")


@pytest.mark.parametrize("content", [b"a", b"\n"])
def test_c07_one_character_is_a_text_and_a_model_of_one_can_be_built(bench, saved, content):
    taken(bench, saved(content))
    assert bench.said == ["Opened other.txt: 1 character, 1 different."]
    assert bench.study.prompt == content.decode()
    bench.texts.build_for_corpus()
    bench.run()
    assert (bench.alphabet, bench.subject.built.config.vocabulary) == ((content.decode(),), 1)


@pytest.mark.parametrize("length", [7, 8, 9, 10])
def test_c08_a_text_shorter_than_the_context_is_opened_as_it_is(qapp, saved, length):
    bench = Bench(GPTConfig(layers=1, heads=1, width=8, block_size=8))
    text = taken(bench, saved(b"abcdefghij"[:length]))
    assert (bench.study.prompt, text.characters) == ("abcdefghij"[: min(length, 8)], length)


def test_c10_only_the_beginning_of_a_huge_file_is_used_and_that_is_said(bench, saved, monkeypatch):
    monkeypatch.setattr(corpus, "LIMIT_BYTES", 20_000)
    path = saved(b"abcdefghi\n" * 3000)
    os.truncate(path, 5 * 10**9)
    text = taken(bench, path)
    assert bench.said == ["Opened other.txt: 20,000 characters, 10 different; only the first 20 kB of 5 GB are used."]
    assert len(text.excerpt) == 5000


def test_a_second_text_takes_the_place_of_one_that_is_still_read(bench, saved):
    bench.texts.open(saved(b"first", "first.txt"))
    bench.open(saved(b"second", "second.txt"))
    assert bench.study.corpus.name == "second.txt"
    assert bench.said == ["Opened second.txt: 6 characters, 6 different."]


# --- what is no text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (bytes(range(256)) * 16, "byte 0 is NUL"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it begins like a PNG picture"),
        (b"PK\x03\x04\0\0\x08\x08archive/data.pkl", "it begins like a zip archive"),
    ],
)
def test_c11_a_binary_file_is_no_text_and_the_text_before_stays(bench, saved, content, why):
    message = refused(bench, saved(content))
    assert "does not look like text" in message
    assert why in message


def test_c12_a_folder_a_missing_file_a_forbidden_one_and_one_that_vanished_are_told_apart(
    bench, saved, tmp_path, monkeypatch
):
    path = saved(b"abc")
    found = [refused(bench, each) for each in (str(tmp_path), str(tmp_path / "none.txt"))]
    for error in (PermissionError(13, "Permission denied"), FileNotFoundError(2, "gone")):
        with monkeypatch.context() as patched:
            patched.setattr(corpus, "open", _raising(error), raising=False)
            found.append(refused(bench, path))
    assert found == [
        f"{tmp_path} is a folder, not a text file.",
        f"there is no file {tmp_path / 'none.txt'}.",
        f"no permission to read {path}.",
        f"{path} was there a moment ago and is gone.",
    ]


def _raising(error):
    def fails(*_):
        raise error

    return fails


def test_c12_cancel_with_nothing_running_does_nothing(bench):
    asked = len(bench.engine.asked)
    bench.texts.cancel()
    bench.builder.cancel()
    bench.run()
    assert not [each for each in bench.engine.asked[asked:] if isinstance(each, Cancel)]
    assert bench.said == []


# --- the offer of a model ------------------------------------------------------------------------------------------


def test_a_text_that_the_model_can_not_read_is_offered_and_keeping_the_model_keeps_the_text(bench, saved):
    before = bench.state()
    bench.open(saved("éàü\u0301".encode() * 20))
    assert bench.question == (
        "The text of other.txt has “à”, “é”, “ü” and “U+0301”, which the model can't read. "
        "A model for it has 4 characters and begins untrained."
    )
    bench.answer(1)
    assert bench.question == ""
    assert sum(isinstance(each, Build) for each in bench.engine.asked) == 1
    assert bench.state() == before


def test_a_model_whose_building_fails_leaves_model_and_text(bench, saved):
    before = bench.state()
    bench.open(saved("éàü".encode()))
    bench.engine.mistake = (Build, MemoryError("no room"))
    bench.answer(0)
    assert bench.state() == before
    assert "no room" in bench.said[-1]


def test_a_model_that_can_read_it_takes_an_offered_text_and_the_question_goes(bench, saved):
    bench.open(saved("éàü".encode() * 20))
    assert bench.question
    bench.form.set_alphabet(tuple("àéüß"))
    bench.builder.build(GPTConfig(vocabulary=4, layers=1, heads=1, width=4, block_size=16), 1, "cpu")
    bench.form.show_config(GPTConfig(vocabulary=4, layers=1, heads=1, width=4, block_size=16), 1, "cpu")
    bench.builder.build(GPTConfig(vocabulary=4, layers=1, heads=1, width=4, block_size=16), 1, "cpu")
    bench.run()
    assert bench.question == ""
    assert (bench.study.corpus.name, bench.study.prompt) == ("other.txt", ("éàü" * 20)[:16])


def test_a_model_of_ids_reads_a_text_of_ids_and_is_offered_a_model_for_another(bench, saved):
    bench.builder.choose_preset("gpt2")
    bench.run()
    assert bench.subject.built.config == PRESETS["gpt2"].config
    taken(bench, saved(b"50256 0 7\n15 16\n"))
    assert bench.study.prompt == "50256 0 7 15 16"
    bench.open(saved(b"to be", "words.txt"))
    assert bench.question.startswith("The text of words.txt is made of characters, and the model reads ids.")


def test_the_built_in_passage_comes_back(bench, saved):
    taken(bench, saved(b"something else"))
    bench.texts.use_built_in()
    assert bench.study.corpus.path == ""
    assert bench.study.prompt == resources.passage()[:16]
    assert built_in().alphabet == resources.alphabet()


def test_the_first_model_is_built_for_the_text_to_begin_with(qapp, saved):
    bench = Bench(path=saved("héllo\r\n".encode() * 9))
    assert bench.alphabet == tuple("\nhloé")
    assert sum(isinstance(each, Build) for each in bench.engine.asked) == 1
    assert bench.said == ["Opened other.txt: 54 characters, 5 different; 9 CRLF converted."]


@pytest.mark.parametrize("content", [b"caf\xe9", b"", b"\0"])
def test_a_text_to_begin_with_that_can_not_be_read_leaves_the_first_model_as_it_is_meant(qapp, saved, content):
    bench = Bench(path=saved(content))
    assert bench.alphabet == resources.alphabet()
    assert bench.study.prompt == resources.passage()[:16]
    assert bool(bench.question) is (content == b"caf\xe9")


def test_opening_is_the_only_command_that_reads_a_file(bench, saved):
    path = saved(b"abc")
    taken(bench, path)
    assert [each.path for each in bench.engine.asked if isinstance(each, OpenText)] == [path]


# --- from the web --------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny():
    """A stand-in for the text on the web: (text, content, paths that were asked for)."""
    content, asked = b"First Citizen:\nSpeak, speak.\n" * 50, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/input.txt"
    yield RemoteText("Tiny", "tiny.txt", url, len(content), hashlib.sha256(content).hexdigest()), content, asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_text_from_the_web_is_kept_in_the_users_folder_and_taken_from_there(bench, tiny):
    text, content, asked = tiny
    for _ in range(2):
        bench.texts.fetch(text)
        assert bench.working[-1] == "getting Tiny"
        bench.run()
        assert bench.study.corpus.name == "tiny.txt"
        assert bench.study.prompt == "First Citizen:\nS"
        assert (settings.texts_dir() / "tiny.txt").read_bytes() == content
        bench.texts.use_built_in()
    assert asked == ["/input.txt"]


def test_no_network_is_said_and_nothing_is_changed(bench):
    before = bench.state()
    bench.texts.fetch(RemoteText("Tiny", "tiny.txt", "http://127.0.0.1:1/input.txt", 10, "0"))
    bench.run()
    assert bench.said[-1].endswith("is there a network?")
    assert bench.state() == before
    assert os.listdir(settings.texts_dir()) == []


def test_the_sum_is_that_of_the_notebooks_text(shared):
    content = (shared / "data" / "tinyshakespeare.txt").read_bytes()
    assert len(content) == shelf.TINY_SHAKESPEARE.bytes == 1_115_394
    assert hashlib.sha256(content).hexdigest() == shelf.TINY_SHAKESPEARE.sha256
