"""A mistake of the program is said once, with a count, is in the log, and stops nothing; stderr stays empty."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QtMsgType, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from gpt_viz import desktop, logbook, settings
from gpt_viz.ui.faults import Fault, Faults

ROOT = Path(__file__).resolve().parents[2]

SCENE = """
import sys
sys.argv = ["gpt-viz"]
from PySide6.QtCore import QTimer
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QPushButton, QWidget
from gpt_viz import app
from gpt_viz.ui.window import MainWindow
class Painted(QWidget):
    def paintEvent(self, event):
        painter = QPainter(self)  # one that is still at work when Qt goes on would bring the process down
        raise ZeroDivisionError("in a paint event")
def go(window):
    def slot():
        raise ZeroDivisionError("in a slot")
    button = QPushButton("x", window)
    button.clicked.connect(slot)
    for _ in range(1000):
        button.click()
    def later():
        raise ZeroDivisionError("in a timer")
    QTimer.singleShot(0, later)
    window.painted = Painted(window)
    window.painted.resize(20, 20)
    window.painted.show()
    def report():
        # It goes on: what it shows is the newest fault, and it still samples.
        strip = window.messages.strip
        window.study.set_prompt("on it goes")
        with open({out!r}, "w") as file:
            file.write(strip.text() + "|" + window.prompt.text())
        window.close()
    QTimer.singleShot(300, report)
shown = MainWindow.showEvent
def show(self, event):
    shown(self, event)
    self.ready.connect(lambda: go(self))
MainWindow.showEvent = show
sys.exit(app.run([]))
"""


@pytest.mark.parametrize("stderr", ["closed", "devnull", "open"])
def test_f04_errors_in_slot_timer_and_paint_event_are_said_counted_logged_and_survived(stderr, tmp_path):
    out = tmp_path / "out"
    program = SCENE.format(out=str(out))
    if stderr == "closed":
        program = "import os, sys; os.close(2); sys.stderr = None\n" + program
    environment = os.environ | {"GPT_VIZ_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT, env=environment, timeout=60, check=False,
        stderr=subprocess.DEVNULL if stderr == "devnull" else subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 0
    # The binding itself has a few words for an override that fails, which Python can't keep it from.
    assert not (done.stderr or b"").replace(b"Error calling Python override of QWidget::paintEvent(): ", b"")
    shown, prompt = out.read_text().split("|")
    assert "ZeroDivisionError" in shown
    assert prompt == "on it goes"
    log = (tmp_path / "gpt-viz.log").read_text(encoding="utf-8")
    for place in ("in a slot", "in a timer", "in a paint event"):
        assert place in log
    assert "active painter" not in log
    assert "being painted" not in log
    assert log.count("ZeroDivisionError: in a slot\nTraceback") == 1
    assert "in a slot (1000 times)" in log


@pytest.fixture
def faults(qapp, monkeypatch):
    """Installed as if no test runner were there."""
    for name in ("excepthook", "unraisablehook"):
        monkeypatch.setattr(sys, name, getattr(sys, f"__{name}__"))
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    made = Faults()
    made.seen = []
    made.met.connect(made.seen.append)
    made.install()
    yield made
    made.remove()


def test_f04_a_thousand_equal_errors_are_one_message_with_a_count(faults, fake, qtbot):
    faults.met.connect(fake.messages.show_fault)
    button = QPushButton()
    qtbot.addWidget(button)
    button.clicked.connect(lambda: 1 / 0)
    for _ in range(1000):
        button.click()
    qtbot.waitUntil(lambda: len(faults.seen) == 1000)
    assert fake.messages.strip.text() == (
        "Something went wrong in the program: ZeroDivisionError: division by zero  ×1,000"
    )
    copy = fake.messages.strip.findChild(QPushButton, "strip.copy")
    assert copy.isVisible()
    copy.click()
    assert "Traceback" in QGuiApplication.clipboard().text()
    fake.messages.strip.dismiss()
    assert not fake.messages.place.isVisible()


def test_f04_an_error_in_another_thread_is_said_on_the_main_one(faults, qtbot):
    heard = []
    faults.met.connect(lambda fault: heard.append(threading.current_thread()))
    thread = threading.Thread(target=lambda: {}["missing"])
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(heard) == 1)
    assert heard == [threading.main_thread()]
    assert faults.seen[0].message == "KeyError: 'missing'"


def test_f04_other_errors_count_for_themselves(faults, qtbot):
    for text in ("one", "one", "two"):
        try:
            raise ValueError(text)
        except ValueError as error:
            faults.report(error)
    qtbot.waitUntil(lambda: len(faults.seen) == 3)
    assert [fault.count for fault in faults.seen] == [1, 2, 3]  # one place, one kind
    faults.report(ValueError("raised nowhere"))
    qtbot.waitUntil(lambda: len(faults.seen) == 4)
    assert faults.seen[-1] == Fault("ValueError: raised nowhere", faults.seen[-1].details, 1)


@pytest.mark.qt_no_exception_capture
def test_f04_qt_warnings_are_said_too_but_not_what_the_desktop_grumbles(faults, qtbot):
    faults._others = None  # pytest-qt would count the warning as this test's own mistake
    faults._qt(QtMsgType.QtWarningMsg, Context("default"), "QObject::startTimer: not from here")
    faults._qt(QtMsgType.QtWarningMsg, Context("qt.qpa.xcb"), "no such atom")
    faults._qt(QtMsgType.QtDebugMsg, Context("default"), "a note")
    qtbot.waitUntil(lambda: len(faults.seen) == 1)
    assert "startTimer" in faults.seen[0].message


class Context:
    file, line = "x.cpp", 3

    def __init__(self, category):
        self.category = category


def test_the_hooks_are_given_back_unless_someone_else_took_them(qapp, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    made = Faults()
    made.install()
    assert sys.excepthook is not sys.__excepthook__
    made.remove()
    assert sys.excepthook is sys.__excepthook__
    made.install()
    other = lambda *_: None  # noqa: E731
    monkeypatch.setattr(sys, "excepthook", other)
    made.remove()
    assert sys.excepthook is other


def test_another_hook_is_still_told(qapp, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "excepthook", lambda *arguments: told.append(arguments[1]))
    made = Faults()
    made.install()
    error = ValueError("both")
    sys.excepthook(ValueError, error, None)
    made.remove()
    assert told == [error]


@pytest.mark.qt_log_ignore("heard")
def test_qt_messages_reach_the_log(faults, qapp):
    logbook.keep(settings.log_file())
    qWarning("heard by the log")
    assert "heard by the log" in settings.log_file().read_text(encoding="utf-8")


def test_a_large_log_becomes_the_one_before(monkeypatch):
    path = settings.log_file()
    path.write_text("x" * (logbook.LOG_BYTES + 1))
    logbook.keep(path)
    assert not path.exists()
    assert path.with_suffix(".old.log").stat().st_size == logbook.LOG_BYTES + 1


def test_a_log_that_can_not_be_kept_is_no_reason_to_stop(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    logbook.keep(tmp_path / "file" / "gpt-viz.log")
    Faults().report(ValueError("x"))
    assert capsys.readouterr().err == ""


# --- whether a window can be opened at all -------------------------------------------------------------------------


def start(tmp_path, *words, **changes):
    environment = {name: value for name, value in os.environ.items() if name not in changes}
    environment |= {name: value for name, value in changes.items() if value} | {"GPT_VIZ_HOME": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-c", "import sys; from gpt_viz.app import run; sys.exit(run(sys.argv[1:]))", *words],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays and apt are of Linux")
@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"QT_QPA_PLATFORM": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}, ("DISPLAY", "xvfb")),
        ({"QT_QPA_PLATFORM": "", "DISPLAY": ":4321", "WAYLAND_DISPLAY": ""}, (":4321", "xvfb")),
    ],
)
def test_f07_no_display_is_one_line_and_2_and_never_an_abort(tmp_path, changes, names):
    done = start(tmp_path, **changes)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert all(name in done.stderr for name in names)


def test_f07_a_missing_library_is_named_with_its_package():
    error = ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
    said = desktop.explained(error)
    assert "libEGL.so.1" in said
    assert "apt install" in said
    assert "libegl1" in said
    assert "\n" not in said


def test_f07_all_missing_libraries_of_x11_are_named_at_once():
    absent = {"libxcb-cursor.so.0", "libxcb-icccm.so.4", "libxkbcommon-x11.so.0"}

    def load(name):
        if name == "/plugin/libqxcb.so":
            raise OSError("libxcb-cursor.so.0: cannot open shared object file: No such file or directory")
        if name in absent:
            raise OSError(f"{name}: cannot open shared object file")

    said = desktop.plugin_lacks(Path("/plugin/libqxcb.so"), load)
    assert all(name in said for name in absent)
    assert said.endswith("apt install libxcb-cursor0 libxcb-icccm4 libxkbcommon-x11-0")
    assert desktop.plugin_lacks(Path("/plugin/libqxcb.so"), lambda name: None) == ""
    assert desktop.plugin_lacks(None, load) == ""


def test_f07_where_one_kind_of_display_can_not_be_used_the_other_is(monkeypatch):
    both = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
    monkeypatch.setattr(desktop, "_problem", lambda name, _: "" if name == "xcb" else "Qt lacks libwayland-cursor.so.0")
    assert desktop.choice(both, "linux") == ("xcb", "")
    assert desktop.choice({"WAYLAND_DISPLAY": "wayland-0"}, "linux") == ("", "Qt lacks libwayland-cursor.so.0")
    assert desktop.choice({"DISPLAY": ":0"}, "linux") == ("", "")
    assert desktop.choice(both | {"QT_QPA_PLATFORM": "wayland"}, "linux")[1]
    assert desktop.choice({}, "darwin") == ("", "")


def test_f07_a_wayland_display_that_is_not_there_is_one_line(tmp_path):
    done = start(tmp_path, QT_QPA_PLATFORM="wayland", WAYLAND_DISPLAY="nowhere", XDG_RUNTIME_DIR=str(tmp_path))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_f07_a_library_that_nobody_knows_is_named_all_the_same():
    assert "libfoo.so.7" in desktop.lacking({"libfoo.so.7"})


def test_f07_qt_that_is_not_installed_is_said_with_the_command_that_installs_it():
    def load(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    said = desktop.qt_missing(load)
    assert "PySide6" in said
    assert "pip install" in said


def test_f07_offscreen_needs_no_display():
    assert desktop.obstacle({"QT_QPA_PLATFORM": "offscreen"}) == ""
    assert desktop.obstacle({"QT_QPA_PLATFORM": "vnc:size=800x600"}) == ""


def test_f07_a_platform_that_qt_does_not_have_is_one_line_that_names_those_it_has(tmp_path):
    done = start(tmp_path, QT_QPA_PLATFORM="nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "'nonsense'" in done.stderr
    assert "offscreen" in done.stderr
    assert desktop.obstacle({"QT_QPA_PLATFORM": "nonsense;offscreen"}) == ""


def test_f07_what_qt_would_abort_for_at_the_start_is_one_line_and_2(tmp_path):
    program = (
        "import pathlib, sys\n"
        "from PySide6.QtCore import QtMsgType\n"
        "from gpt_viz import logbook\n"
        "from gpt_viz.ui.faults import before_window\n"
        "logbook.keep(pathlib.Path(sys.argv[1]))\n"
        "before_window(QtMsgType.QtFatalMsg, None, 'no screen\\nat all')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "log")], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "gpt-viz: no screen at all\n")
    assert "no screen" in (tmp_path / "log").read_text(encoding="utf-8")


def test_f07_what_qt_finds_fault_with_at_the_start_is_for_the_log(tmp_path):
    program = (
        "import sys\n"
        "sys.argv = ['gpt-viz']\n"
        "from gpt_viz import app\n"
        "from gpt_viz.ui.window import MainWindow\n"
        "MainWindow.showEvent = lambda self, event: self.close()\n"
        "sys.exit(app.run([]))"
    )
    environment = os.environ | {"GPT_VIZ_HOME": str(tmp_path), "LC_ALL": "C", "QT_STYLE_OVERRIDE": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
        env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    log = (tmp_path / "gpt-viz.log").read_text(encoding="utf-8")
    assert "invalid style override 'nonsense'" in log


def test_wrong_words_are_one_line_and_2(tmp_path):
    done = start(tmp_path, "--set", "heads=3", "--set", "width=128")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "width 128 is not divisible by 3 heads" in done.stderr


def test_f15_pyside_is_used_whatever_the_environment_says(tmp_path):
    for name in ("PyQt5", "PyQt6"):  # installed beside it, as in many an environment
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    program = (
        "import importlib, pkgutil, sys\n"
        "import gpt_viz.app, gpt_viz.ui\n"
        "for each in pkgutil.walk_packages(gpt_viz.ui.__path__, 'gpt_viz.ui.'):\n"
        "    importlib.import_module(each.name)\n"
        "print(*sorted({'PySide6', 'PyQt5', 'PyQt6', 'pyqtgraph'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "QT_API": "PyQt5", "PYQTGRAPH_QT_LIB": "PyQt5"},
    )  # fmt: skip
    assert done.stdout.split() == ["PySide6"]
