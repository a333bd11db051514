"""What the tests of the window need: windows on a fake engine and on the real one, always closed and waited for."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication

from gpt_viz.ui.panel import Context
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.theme import theme

READY_MS = 30_000
_BARE: dict[str, tuple[QPalette, QFont]] = {}
SMALL = ["--set", "layers=2", "--set", "heads=3", "--set", "width=12", "--set", "block_size=16"]


@pytest.fixture(autouse=True)
def _light(request):
    """Each test begins and ends in the light theme at ten points, with the looks of an application without a window.

    A window dresses the whole application; widgets that are tested by themselves must not wear what it left.
    """
    if "qapp" not in request.fixturenames:
        yield
        return
    application = request.getfixturevalue("qapp")
    bare = _BARE.setdefault("looks", (application.palette(), application.font()))
    theme.use("light", 10.0)
    yield
    theme.use("light", 10.0)
    if application.styleSheet():
        application.setStyleSheet("")
    application.setPalette(bare[0])
    application.setFont(bare[1])


@pytest.fixture
def world(qapp):
    """The shared states without a window; `sent` is what was asked of the engine."""
    made = SimpleNamespace(selection=SelectionModel(), study=Study(), subject=Subject(), sent=[], told=[])
    jobs = iter(range(1, 10**9))
    made.new_job = lambda: next(jobs)
    made.send = made.sent.append
    made.context = Context(
        made.selection, made.study, made.subject, made.new_job, made.send, lambda text, *_: made.told.append(text)
    )
    return made


@pytest.fixture
def open_window(qtbot) -> Callable:
    """A function that opens a window for a command line, as the program does; `make_engine` None is the real engine.

    One that is not waited for is whole but for its panels at once, or with `early` no more than is painted first.
    """
    from gpt_viz import app

    opened = []

    def open_one(*argv, make_engine=None, size=(1280, 800), wait=True, early=False):
        make = app.early_window if wait or early else app.make_window
        window = make(app.start(list(argv)), make_engine)
        opened.append(window)
        if size is not None:
            window.resize(*size)
        with qtbot.waitSignal(window.ready, timeout=READY_MS if wait else 0, raising=wait):
            window.show()
        return window

    yield open_one
    for window in opened:
        window.close()
        window.close()  # the first one may stay until training is written
        assert window.worker.stop(60)  # torch may still be on its way in
        window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window(open_window):
    """A window on the real engine with a small model, ready."""
    return open_window(*SMALL)


@pytest.fixture
def fake_engine():
    """What makes a fake engine; the newest one is its `engine`."""

    def make_engine(emit):
        make_engine.engine = FakeEngine(emit)
        return make_engine.engine

    return make_engine


@pytest.fixture
def fake(open_window, fake_engine):
    """A window on the fake engine with a small model, ready; the engine is its `engine`."""
    made = open_window(*SMALL, make_engine=fake_engine)
    made.engine = fake_engine.engine
    return made
