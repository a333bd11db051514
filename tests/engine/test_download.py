"""A text from the web: got once, whole and right, from a server on this machine; a sentence for all that may fail."""

import errno
import hashlib
import os
import socket
import ssl
import threading
import urllib.error
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gpt_viz.engine import download
from gpt_viz.engine.download import DownloadError, Fetched, fetching
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import Cancel, Cancelled, FetchText, Progress, TextFetched, TextOpened
from gpt_viz.runner import Runner

TEXT = b"First Citizen:\nBefore we proceed any further, hear me speak.\n\n" * 3000
SUM = hashlib.sha256(TEXT).hexdigest()
SIZE = len(TEXT)


class Server(ThreadingHTTPServer):
    """Answers with `answer(handler)`; `asked` are the paths, `held` keeps an answer back until it is set."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.answer = lambda handler: handler.say(TEXT)
        self.held = threading.Event()

    def handle_error(self, request, client_address):
        """Who hangs up in the middle is no mistake of the server's."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/input.txt"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.answer(self)

    def say(self, content, length=None, code=200):
        self.send_response(code)
        if length != "":
            self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Tests say nothing."""


@pytest.fixture
def server():
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.held.set()
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data" / "texts"


def get(url, folder, sha256=SUM, size=SIZE):
    """What was fetched, and the progress on the way."""
    steps, told = fetching(url, str(folder), "text.txt", sha256=sha256, size=size), []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as end:
            return end.value, [each for each in told if each is not None]


def refusal(url, folder, **options):
    with pytest.raises(DownloadError) as refused:
        get(url, folder, **options)
    assert "\n" not in str(refused.value)
    assert not folder.exists() or os.listdir(folder) == []
    return refused.value.reason, str(refused.value)


def test_a_text_comes_whole_and_its_progress_is_told(server, folder):
    found, told = get(server.url, folder)
    assert found == Fetched(str(folder / "text.txt"), cached=False)
    assert Path(found.path).read_bytes() == TEXT
    assert os.listdir(folder) == ["text.txt"]
    assert told[0] == (0, SIZE, "text.txt")
    assert told[-1] == (SIZE, SIZE, "text.txt")
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert server.asked == ["/input.txt"]


def test_the_next_time_it_is_taken_from_the_folder_without_a_network(server, folder):
    get(server.url, folder)
    found, told = get("http://127.0.0.1:9/input.txt", folder)
    assert found == Fetched(str(folder / "text.txt"), cached=True)
    assert told[-1] == (SIZE, SIZE, "text.txt")
    assert server.asked == ["/input.txt"]


@pytest.mark.parametrize("there", [b"", b"x" * SIZE, TEXT[:-1]])
def test_what_lies_in_the_folder_and_is_not_right_is_replaced(server, folder, there):
    folder.mkdir(parents=True)
    (folder / "text.txt").write_bytes(there)
    found, _ = get(server.url, folder)
    assert not found.cached
    assert Path(found.path).read_bytes() == TEXT


def test_a_wrong_sum_is_not_kept(server, folder):
    server.answer = lambda handler: handler.say(TEXT[:-1] + b"!")
    reason, message = refusal(server.url, folder)
    assert reason == "sum"
    assert message == "127.0.0.1 sent another file than the one that was wanted: its sum is another one; it is not kept"


def test_a_wrong_answer_leaves_what_was_there(server, folder):
    folder.mkdir(parents=True)
    (folder / "text.txt").write_bytes(b"older")
    server.answer = lambda handler: handler.say(TEXT[:-1] + b"!")
    with pytest.raises(DownloadError):
        get(server.url, folder)
    assert (folder / "text.txt").read_bytes() == b"older"
    assert os.listdir(folder) == ["text.txt"]


def test_another_length_is_known_before_anything_is_read(server, folder):
    server.answer = lambda handler: handler.say(TEXT + b"more")
    reason, message = refusal(server.url, folder)
    assert (reason, f"it has {SIZE + 4:,} bytes, not {SIZE:,}" in message) == ("sum", True)


def test_an_endless_answer_is_cut_off_at_the_size(server, folder):
    def endless(handler):
        handler.say(b"", length="")
        while not server.held.is_set():
            handler.wfile.write(TEXT)

    server.answer = endless
    reason, message = refusal(server.url, folder)
    assert (reason, f"more than {SIZE:,} bytes" in message) == ("sum", True)


def test_a_connection_that_breaks_off_is_said_with_what_had_come(server, folder):
    server.answer = lambda handler: handler.say(TEXT[:100_000], length=SIZE)
    reason, message = refusal(server.url, folder)
    assert (reason, message.startswith(f"127.0.0.1 broke off after 100,000 of {SIZE:,} bytes")) == ("early", True)


def test_an_address_that_has_moved_is_said_with_the_servers_number(server, folder):
    server.answer = lambda handler: handler.say(b"no", code=404)
    reason, message = refusal(server.url, folder)
    assert (reason, message.startswith("127.0.0.1 answered 404 Not Found; ")) == ("status", True)


def test_a_server_that_is_not_there(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
        reason, message = refusal(f"http://127.0.0.1:{taken.getsockname()[1]}/x", folder)
    assert reason == "network"
    assert message.startswith("127.0.0.1 can't be reached (")
    assert message.endswith("is there a network?")


def test_a_server_that_says_nothing(server, folder, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT_S", 0.05)
    server.answer = lambda handler: server.held.wait(10)
    reason, message = refusal(server.url, folder)
    assert (reason, "did not answer within" in message) == ("timeout", True)


@pytest.mark.parametrize(
    ("error", "reason", "said"),
    [
        (urllib.error.URLError(socket.gaierror(-2, "Name or service not known")), "network", "its name is not found"),
        (urllib.error.URLError(OSError(101, "Network is unreachable")), "network", "(Network is unreachable)"),
        (urllib.error.URLError(ssl.SSLCertVerificationError(1, "self-signed")), "certificate", "is not trusted"),
        (ConnectionResetError(104, "Connection reset by peer"), "network", "(Connection reset by peer)"),
        (urllib.error.URLError("no host given"), "network", "(no host given)"),
    ],
)
def test_what_a_network_can_do_is_said_in_a_sentence(folder, monkeypatch, error, reason, said):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("urllib.request.urlopen", fails)
    found = refusal("https://example.invalid/input.txt", folder)
    assert found[0] == reason
    assert said in found[1]


def test_a_thread_that_ends_without_a_word_leaves_nobody_waiting(server, folder, monkeypatch):
    monkeypatch.setattr(download._Source, "_read", lambda source: None)
    assert refusal(server.url, folder)[0] == "early"


def test_a_full_disk_leaves_no_part(server, folder, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download, "_written_to", lambda *_: Full())
    reason, message = refusal(server.url, folder)
    assert (reason, message) == ("disk", f"the disk is full: {folder} has no room for 0.2 MB; make some")


def test_a_folder_that_can_not_be_made_is_said(server, tmp_path):
    (tmp_path / "data").write_bytes(b"a file")
    with pytest.raises(DownloadError) as refused:
        get(server.url, tmp_path / "data" / "texts")
    assert refused.value.reason == "disk"
    assert "can't be written to" in str(refused.value)
    assert server.asked == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "input.txt"])
def test_only_web_addresses_are_got(folder, url):
    assert refusal(url, folder)[0] == "address"


@pytest.mark.parametrize("name", ["../text.txt", "/text.txt", "a/b.txt", ""])
def test_a_name_stays_in_its_folder(server, folder, name):
    with pytest.raises(DownloadError) as refused:
        next(fetching(server.url, str(folder), name, sha256=SUM, size=SIZE))
    assert refused.value.reason == "address"


def command(server, folder, job=1):
    return FetchText(job=job, url=server.url, sha256=SUM, bytes=SIZE, folder=str(folder), name="text.txt")


def test_the_command_fetches_and_opens(server, folder):
    events = [event for event in Engine().run(command(server, folder)) if event is not None]
    assert isinstance(events[0], Progress)
    fetched, opened = (next(each for each in events if isinstance(each, kind)) for kind in (TextFetched, TextOpened))
    assert (fetched.path, fetched.bytes, fetched.cached) == (str(folder / "text.txt"), SIZE, False)
    assert (opened.path, opened.characters, opened.name) == (fetched.path, SIZE, "text.txt")
    again = [event for event in Engine().run(command(server, folder)) if isinstance(event, TextFetched)]
    assert [each.cached for each in again] == [True]


def test_a_cancel_ends_it_at_once_while_the_server_keeps_everyone_waiting(server, folder):
    server.answer = lambda handler: server.held.wait(10)
    heard = []
    runner = Runner(Engine(), heard.append)
    runner.submit(command(server, folder))
    for _ in range(5):
        runner.advance()
    assert os.listdir(folder) != []
    runner.submit(Cancel(job=2, target=1))
    assert not runner.busy
    assert isinstance(heard[-1], Cancelled)
    assert os.listdir(folder) == []


def test_a_step_never_waits_long_for_the_network(server, folder, monkeypatch):
    server.answer = lambda handler: server.held.wait(10)
    waits = []
    original = download._Source.take
    monkeypatch.setattr(download._Source, "take", lambda source: waits.append(1) or original(source))
    steps = fetching(server.url, str(folder), "text.txt", sha256=SUM, size=SIZE)
    assert [next(steps) for _ in range(4)] == [(0, SIZE, "text.txt"), None, None, None]
    steps.close()
    assert (len(waits), download.WAIT_S) == (3, 0.005)
