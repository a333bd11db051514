"""Measures the start: from the start of the process to the first paint, of the program and of an empty Qt window.

Knows the program only as its command line, in processes of their own.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

STARTS = 5

# Both say how long after the parent started them the first paint came (the monotonic clock is the system's), and how
# much of the processor they have had by then.
_WATCH = """
import os, sys, time
began = float(sys.argv[1])
def watch(application):
    from PySide6.QtCore import QEvent, QObject
    class Watch(QObject):
        def eventFilter(self, target, event):
            if event.type() == QEvent.Type.Paint:
                print(time.monotonic() - began, time.process_time(), flush=True)
                os._exit(0)
            return False
    application.watch = Watch()
    application.installEventFilter(application.watch)
"""
EMPTY = f"""{_WATCH}
from PySide6.QtWidgets import QApplication, QWidget
application = QApplication(["gpt-viz"])
watch(application)
window = QWidget()
window.resize(1600, 1000)
window.show()
application.exec()
"""
OURS = f"""{_WATCH}
from gpt_viz import cli, app
early_window = app.early_window
def watched_window(*arguments):
    from PySide6.QtWidgets import QApplication
    watch(QApplication.instance())
    return early_window(*arguments)
app.early_window = watched_window
sys.exit(cli.main([]))
"""


@dataclass(frozen=True, slots=True)
class Start:
    """One start: when the first paint came, and what the process had of the processor until then, in seconds."""

    elapsed_s: float
    processor_s: float


def first_paint(starts: int = STARTS) -> dict[str, float]:
    """Both from the start of the process to the first paint, and ours over the empty window's."""
    empty, ours = [], []
    with tempfile.TemporaryDirectory() as home:  # the first start of all, whatever was open the last time
        for _ in range(1 + starts):  # alternating, so that a busy moment of the machine hits both
            empty.append(_started(EMPTY, home))
            ours.append(_started(OURS, home))
    return compared(empty[1:], ours[1:])  # the first of each has compiled and warmed what the others only read


def compared(empty: Sequence[Start], ours: Sequence[Start]) -> dict[str, float]:
    """The medians of both, and their ratio: by the clock, and by the processor, which a busy machine disturbs less."""
    plain, own = (statistics.median(each.elapsed_s for each in some) for some in (empty, ours))
    plain_work, own_work = (statistics.median(each.processor_s for each in some) for some in (empty, ours))
    return {
        "empty_window_s": plain,
        "gpt_viz_s": own,
        "ratio": own / plain,
        "empty_window_processor_s": plain_work,
        "gpt_viz_processor_s": own_work,
        "processor_ratio": own_work / plain_work,
    }


def _started(program: str, home: str) -> Start:
    # What is compiled is kept, as on any machine: else each start would compile all that it imports.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["GPT_VIZ_HOME"] = home
    words = [sys.executable, "-c", program, repr(time.monotonic())]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    elapsed, processor = done.stdout.split()
    return Start(float(elapsed), float(processor))
