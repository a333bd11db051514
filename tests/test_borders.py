"""Who may import whom, held by contracts and in fresh interpreters; and the one thing we need of the Qt binding."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def fresh(program, *, blocked=()):
    """What a new interpreter prints that runs the program, the `blocked` libraries not being there for it."""
    blocker = (
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {tuple(blocked)!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocker + program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded_after(statement, *names):
    """Which of the libraries are loaded once a new interpreter has run the statement."""
    found = fresh(f"{statement}\nprint(*sorted(set({names!r}) & set(sys.modules)))")
    return set(found.split())


def test_the_contracts_of_pyproject_are_kept():
    pytest.importorskip("importlinter")
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


FIRST_PAINT = """
from PySide6.QtWidgets import QApplication
from gpt_viz import app
application = QApplication(["gpt-viz"])
window = app.early_window(app.start([]))
window.show()
assert window.grab().width() == window.width()
"""
AFTER_IT = ("torch", "numpy", "gpt_viz.protocol", "gpt_viz.ledger", "gpt_viz.ui.interior", "gpt_viz.ui.panels")


def test_the_first_paint_comes_before_whatever_takes_long_to_load(monkeypatch, tmp_path):
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setenv("GPT_VIZ_HOME", str(tmp_path))
    assert loaded_after(FIRST_PAINT, "PySide6", *AFTER_IT) == {"PySide6"}


def test_the_engine_knows_no_qt():
    assert loaded_after("import gpt_viz.engine.engine", "torch", "PySide6") == {"torch"}


@pytest.mark.parametrize(
    "module", ["config", "ledger", "protocol", "resources", "arguments", "cli", "runner", "worker"]
)
def test_what_a_start_needs_first_knows_no_library_at_all(module):
    assert loaded_after(f"import gpt_viz.{module}", "torch", "PySide6", "numpy") == set()


def test_f07_the_engine_works_where_there_is_no_qt():
    program = (
        "from gpt_viz.config import GPTConfig\n"
        "from gpt_viz.engine.initialise import build\n"
        "import gpt_viz.engine.engine\n"
        "print(sum(each.numel() for each in build(GPTConfig(layers=0), 0).parameters()))"
    )
    assert fresh(program, blocked=("PySide6",)) == str(2 * 65 * 128 + 64 * 128 + 2 * 128)


def test_emitting_a_signal_keeps_what_it_sends_alive():
    # PySide6 6.12.0 lets go of True or None once too often with each emit, and after 10,000 of them Python aborts.
    from PySide6.QtCore import QObject, Signal

    class Sender(QObject):
        sent = Signal(bool)
        empty = Signal()

    received = []
    sender = Sender()
    sender.sent.connect(received.append)
    sender.empty.connect(lambda: None)
    before = (sys.getrefcount(True), sys.getrefcount(None))
    for _ in range(2_000):
        sender.sent.emit(True)
        sender.empty.emit()
    assert len(received) == 2_000
    received.clear()
    after = (sys.getrefcount(True), sys.getrefcount(None))
    assert all(abs(now - then) < 100 for now, then in zip(after, before, strict=True))
