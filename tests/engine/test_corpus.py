"""Reading a text file: one rule for encodings and line ends, and a sentence for everything that is no text."""

import codecs
import os
import random
import subprocess
import sys
import time
import tracemalloc

import pytest

from gpt_viz.engine import corpus
from gpt_viz.engine.corpus import TextFileError, read, reading
from gpt_viz.engine.tokenizer import tokenizer_for


@pytest.fixture
def saved(tmp_path):
    def save(content: bytes, name: str = "text.txt") -> str:
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return save


def refusal(path, encoding=None):
    with pytest.raises(TextFileError) as refused:
        read(path, encoding)
    assert path in str(refused.value)
    assert refused.value.field == {"encoding": "encoding", "large": "size"}.get(refused.value.reason, "path")
    assert "\n" not in str(refused.value)
    return refused.value


def test_a_plain_file_is_read_whole(saved):
    found = read(saved(b"hello\nworld", "a & <b>.txt"))
    assert found.text == "hello\nworld"
    assert found.alphabet == tuple("\ndehlorw")
    assert (found.encoding, found.notes, found.name) == ("utf-8", (), "a & <b>.txt")


def test_c01_the_locale_does_not_decide_the_encoding(saved):
    path = saved("\u201chél\u201d \U0001f600\n".encode())
    program = "import sys; from gpt_viz.engine.corpus import read; print(ascii(read(sys.argv[1])))"
    answers = {
        subprocess.run(
            [sys.executable, "-X", f"utf8={mode}", "-c", program, path],
            env={**os.environ, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONWARNINGS": "ignore"},
            capture_output=True,
            check=True,
        ).stdout
        for mode, locale in ((0, "C"), (1, "C.UTF-8"))
    }
    assert answers == {ascii(read(path)).encode() + b"\n"}
    assert read(path).alphabet == ("\n", " ", "h", "l", "é", "\u201c", "\u201d", "\U0001f600")


def test_c02_a_windows_1252_file_is_refused_with_the_offset_and_encodings_to_choose(saved):
    path = saved(b"it\x92s a caf\xe9\n" * 50, "w1252.txt")
    refused = refusal(path)
    assert refused.reason == "encoding"
    assert "byte 2 is 0x92" in str(refused)
    assert "cp1252, latin-1 or utf-16" in str(refused)
    assert (refused.encoding, refused.offset, refused.byte) == ("utf-8", 2, 0x92)


def test_c02_every_encoding_that_is_offered_reads_it_and_shows_what_it_makes_of_the_place(saved):
    path = saved(b"it\x92s a caf\xe9\n" * 50, "w1252.txt")
    refused = refusal(path)
    shown = {each.encoding: each.text for each in refused.readings}
    assert refused.candidates[:2] == ("cp1252", "iso8859-1")
    assert shown["cp1252"].startswith("it\u2019s a caf\u00e9\n")
    assert shown["iso8859-1"].startswith("it\x92s a caf\u00e9\n")
    assert "utf-16-le" not in shown  # no NUL in it: it would be a page of ideographs
    for name in refused.candidates:
        assert shown[name] in read(path, name).text


def test_c02_what_is_not_even_in_the_chosen_encoding_is_asked_again(saved):
    refused = refusal(saved("Łódź\n".encode("cp1250") + b"\x81\n"), "cp1252")
    assert (refused.encoding, refused.offset) == ("cp1252", 5)
    assert "cp1252" not in refused.candidates
    assert "iso8859-1" in refused.candidates


def test_c02_a_place_deep_in_a_file_of_wide_characters_is_shown_from_the_beginning_of_a_line(saved, monkeypatch):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 1001)  # parts begin within characters
    text = "plain\n" * 300 + "日本語の文章です。\n" * 10
    path = saved(text.encode("cp932"))
    shown = {each.encoding: each.text for each in refusal(path).readings}
    assert "日本語" in shown["cp932"]
    assert read(path, "cp932").text == text


def test_an_encoding_that_gives_halves_of_characters_is_refused(saved):
    assert refusal(saved(b"a \\ud800 b"), "unicode_escape").reason == "encoding"


def test_c02_the_offset_is_that_of_the_file_also_in_a_later_part(saved, monkeypatch):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 7)
    assert "byte 1,003 is 0xe9" in str(refusal(saved("é".encode() * 500 + b"caf\xe9\n")))


def test_c02_it_is_read_with_the_encoding_that_was_chosen(saved):
    found = read(saved(b"it\x92s a caf\xe9\n" * 50), "cp1252")
    assert found.text == "it\u2019s a caf\u00e9\n" * 50
    assert found.encoding == "cp1252"


def test_an_encoding_that_does_not_exist_is_refused(saved):
    path = saved(b"abc")
    for wrong in ("klingon", "hex", "rot13", "a\0b"):
        with pytest.raises(TextFileError, match="there is no text encoding"):
            read(path, wrong)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("chunk", [2**18, 7])
def test_c03_a_byte_order_mark_says_the_encoding(saved, monkeypatch, mark, encoding, chunk):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", chunk)
    path = saved(mark + ("hello hello\n" * 40).encode(encoding))
    found = read(path)
    assert found.alphabet == tuple("\n ehlo")
    assert found.text == "hello hello\n" * 40
    assert (found.encoding, found.notes) == (encoding, (("bom", 1),))
    assert read(path, encoding[:6]) == found


def test_c03_utf_16_without_a_mark_is_recognised(saved):
    for encoding in ("utf-16-le", "utf-16-be"):
        path = saved(("hello hello\n" * 40).encode(encoding))
        refused = refusal(path)
        assert f"choose the encoding {encoding}" in str(refused)
        assert refused.candidates[0] == encoding
        assert refused.readings[0].text.startswith("hello hello\n")
        assert read(path, encoding).alphabet == tuple("\n ehlo")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["Не читай.\nЧитай!\n" * 30, "日本語の文章です。\n" * 30, "naïve – “quotes” \U0001f600\n" * 30]
)
def test_c03_other_scripts_in_utf_16_without_a_mark_are_recognised_too(saved, encoding, text):
    path = saved(text.encode(encoding))
    assert refusal(path).candidates[0] == encoding
    assert read(path, encoding).text == text


def test_c05_the_utf_8_mark_is_no_character_but_one_inside_the_text_is(saved):
    found = read(saved(codecs.BOM_UTF8 + b"abab\n" * 30))
    assert found.alphabet == tuple("\nab")
    assert found.text.startswith("a")
    assert found.notes == (("bom", 1),)
    assert read(saved(codecs.BOM_UTF8 + "a\ufeffb".encode())).text == "a\ufeffb"


@pytest.mark.parametrize("chunk", [2**18, 1, 2, 3])
def test_c06_all_line_ends_become_newlines_and_are_counted(saved, monkeypatch, chunk):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", chunk)
    expected = "one\ntwo\n\nthree\n"
    for content, notes in (
        (b"one\ntwo\n\nthree\n", ()),
        (b"one\r\ntwo\r\n\r\nthree\r\n", (("crlf", 4),)),
        (b"one\rtwo\r\rthree\r", (("cr", 4),)),
        (b"one\r\ntwo\n\rthree\r", (("crlf", 1), ("cr", 2))),
    ):
        found = read(saved(content))
        assert found.text == expected
        assert found.notes == notes


def test_c06_one_rule_gives_the_same_ids_for_every_line_end_and_back(saved):
    for content in (b"one\ntwo\nthree", b"one\r\ntwo\r\nthree", b"one\rtwo\rthree", b"one\r\ntwo\rthree"):
        found = read(saved(content))
        tokenizer = tokenizer_for(found.alphabet, len(found.alphabet))
        ids = tokenizer.encode(found.text)
        assert ids == [4, 3, 1, 0, 6, 7, 4, 0, 6, 2, 5, 1, 1]
        assert tokenizer.decode(ids) == found.text == "one\ntwo\nthree"


def test_c06_a_missing_last_newline_is_not_invented(saved):
    assert read(saved(b"one\ntwo")).text == "one\ntwo"


@pytest.mark.parametrize("content", [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
def test_c07_an_empty_file_says_so(saved, content):
    refused = refusal(saved(content))
    assert refused.reason == "empty"
    assert str(refused).startswith("the file is empty")


@pytest.mark.parametrize("content", [b"a", b"\n"])
def test_c07_a_file_of_one_character_has_a_vocabulary_of_one(saved, content):
    assert read(saved(content)).alphabet == (content.decode(),)


def test_c10_only_the_first_part_of_a_huge_file_is_read_and_that_is_noted(saved, monkeypatch):
    monkeypatch.setattr(corpus, "LIMIT_BYTES", 1001)
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 100)
    found = read(saved("é".encode() * 5000))
    assert found.text == "é" * 500
    assert found.notes == (("cut", 10_000), ("used", 1001))
    monkeypatch.setattr(corpus, "LIMIT_BYTES", 10_000)
    assert read(saved("é".encode() * 5000)).notes == ()


def test_c10_reading_tells_its_progress_and_can_be_closed_at_any_part(saved, monkeypatch):
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 100)
    path = saved(b"abcdefghi\n" * 100)
    steps = reading(path)
    assert [next(steps) for _ in range(4)] == [(done, 1000, "text.txt") for done in (0, 100, 200, 300)]
    steps.close()
    assert list(reading(path))[-1] == (1000, 1000, "text.txt")
    assert read(path).text == "abcdefghi\n" * 100


def test_c10_of_a_sparse_file_of_five_gigabytes_no_more_than_the_limit_is_read(saved, monkeypatch):
    monkeypatch.setattr(corpus, "LIMIT_BYTES", 1000)
    path = saved(b"abcdefghi\n" * 200)
    os.truncate(path, 5 * 2**30)
    found = read(path)
    assert found.text == "abcdefghi\n" * 100
    assert dict(found.notes) == {"cut": 5 * 2**30, "used": 1000}


def test_c10_a_sparse_file_of_nothing_is_no_text_and_known_by_its_first_part(saved):
    path = saved(b"abc\n")
    os.truncate(path, 5 * 2**30)
    steps = reading(path)
    next(steps)
    with pytest.raises(TextFileError, match="byte 4 is NUL"):
        next(steps)


def test_c10_a_file_that_is_larger_than_what_was_allowed_is_not_opened(saved, monkeypatch):
    path = saved(b"abc\n" * 10)
    os.truncate(path, 5 * 10**9)
    monkeypatch.setattr("builtins.open", None)
    steps = reading(path, at_most=8 * 2**20)
    with pytest.raises(TextFileError, match=r"has 5\.0 GB, more than is read without asking") as refused:
        next(steps)
    assert (refused.value.reason, refused.value.field) == ("large", "size")


def test_c10_opening_keeps_the_beginning_only_whatever_the_length(saved):
    path = saved(b"the quick brown fox\n" * 200_000)
    tracemalloc.start()
    try:
        found = read(path, keep=5000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(found.text), found.characters) == (5000, 4_000_000)
    assert sum(found.counts) == found.characters
    # Parts of it, and each again as 4 bytes and as 8 bytes a character.
    assert peak < 20 * corpus.CHUNK_BYTES


def test_c10_no_part_takes_long_whatever_the_script(saved):
    path = saved(("日本語の文章です。" * 30 + "\U0001f600\n").encode() * 5000)
    slowest, before = 0.0, time.perf_counter()
    for _ in reading(path):
        now = time.perf_counter()
        slowest, before = max(slowest, now - before), now
    assert slowest < 0.25


def test_b12_emoji_and_combining_marks_are_counted_by_code_points(saved):
    text = "e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44b\U0001f3fd\n" * 40
    found = read(saved(text.encode()))
    assert (found.text, found.characters, len(found.alphabet)) == (text, 15 * 40, 12)
    assert dict(zip(found.alphabet, found.counts, strict=True))["\u200d"] == 80
    tokenizer = tokenizer_for(found.alphabet, len(found.alphabet))
    assert tokenizer.decode(tokenizer.encode(found.text)) == text


def test_c10_reading_takes_about_twice_the_text_in_memory(saved):
    path = saved(b"the quick brown fox\n" * 200_000)
    tracemalloc.start()
    try:
        read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 4_000_000


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (random.Random(0).randbytes(4096), "is NUL"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture"),
        (b"PK\x03\x04\0\0\x08\x08archive/data.pkl", "a zip archive"),
        (b"%PDF-1.7\n1 0 obj", "a PDF document"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "a pickle"),
        (b"fine " * 60_000 + b"\x01\x02\x03" * 30_000, "23 % of it is control characters"),
        (bytes(range(1, 256)) * 4, "10 % of its beginning is control characters"),
        (b"a" * 300_000 + b"\0", "it holds NUL characters"),
    ],
)
def test_c11_a_binary_file_does_not_look_like_text_and_the_reason_is_said(saved, content, why):
    refused = refusal(saved(content))
    assert refused.reason == "binary"
    assert "does not look like text" in str(refused)
    assert why in str(refused)


def test_a_few_control_characters_are_text(saved):
    assert read(saved(b"page\x0cpage \x1b[1mbold\x1b[0m" + b"text " * 50 + b"\x08")).alphabet[0] == "\x08"


def test_c12_a_directory_a_missing_file_and_a_forbidden_one_are_told_apart(saved, tmp_path, monkeypatch):
    path = saved(b"abc")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    folder, missing = refusal(str(tmp_path)), refusal(str(tmp_path / "none.txt"))
    monkeypatch.setattr("builtins.open", refuse)
    forbidden = refusal(path)
    assert [each.reason for each in (folder, missing, forbidden)] == ["directory", "missing", "permission"]
    assert str(folder) == f"{tmp_path} is a folder, not a text file"
    assert str(missing) == f"there is no file {tmp_path / 'none.txt'}"
    assert str(forbidden) == f"no permission to read {path}"


def test_c12_a_file_that_vanishes_between_choosing_and_reading(saved):
    path = saved(b"abc")
    steps = reading(path)
    next(steps)
    os.remove(path)
    with pytest.raises(TextFileError, match="was there a moment ago and is gone") as refused:
        next(steps)
    assert refused.value.reason == "vanished"


def test_c12_a_disk_that_fails_is_told_with_the_systems_reason(saved, monkeypatch):
    class Failing:
        def read(self, size):
            raise OSError(5, "Input/output error")

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    path = saved(b"abc")
    monkeypatch.setattr("builtins.open", lambda *_: Failing())
    refused = refusal(path)
    assert (refused.reason, str(refused)) == ("unreadable", f"{path} could not be read: Input/output error")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_refused_before_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert refusal(str(tmp_path / "pipe")).reason == "special"


def test_a_path_that_no_system_knows_is_missing():
    with pytest.raises(TextFileError, match="there is no file"):
        read("a\0b")


def test_the_file_is_left_as_it_was(saved):
    path = saved(b"a\r\nb")
    before = os.stat(path).st_mtime_ns
    read(path)
    with open(path, "rb") as file:
        assert file.read() == b"a\r\nb"
    assert os.stat(path).st_mtime_ns == before
