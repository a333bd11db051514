"""Pictures of the window and of each panel, without a display and without touching what the user's window remembers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpt_viz.ui.panel import Panel
    from gpt_viz.ui.window import MainWindow

READY_S, ANSWER_S = 120.0, 60.0
FRAMES_MS = 150  # a few frames; what is painted later than that is asked for again
TOKENS = 40  # sampled, so that the sampling panel has something to show
HEAD = (1, 2)  # layer and head that are chosen, as far as there are such


class ShootError(Exception):
    """A picture could not be taken; the message is one sentence."""


def shoot(directory: Path, model_argv: list[str], themes: list[str], size: tuple[int, int]) -> int:
    """Write window.png and <panel>.png of a size, for several themes into a folder each. Returns the exit code.

    `model_argv` are words of the window's own command line. What goes wrong is one line on stderr, and 1.
    """
    from gpt_viz import desktop

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        obstacle = desktop.obstacle()
        if obstacle:
            raise ShootError(obstacle)
        _shoot(directory, model_argv, themes or ["light"], size)
    except (ShootError, ValueError, OSError) as error:
        print(f"gpt-viz: {error}", file=sys.stderr)
        return 1
    return 0


def _shoot(directory: Path, model_argv: list[str], themes: list[str], size: tuple[int, int]) -> None:
    from PySide6.QtWidgets import QApplication

    from gpt_viz.app import make_window, start

    application = QApplication.instance() or QApplication(["gpt-viz"])
    assert isinstance(application, QApplication)
    window = make_window(start(model_argv, remembers=False))
    ready: list[bool] = []
    window.ready.connect(lambda: ready.append(True))
    window.looks.use(themes[0])
    window.resize(*size)
    window.show()
    try:
        _wait(lambda: bool(ready), READY_S, "the window did not become ready")
        if window.subject.built is None and not window.subject.obstacle:
            raise ShootError(window.messages.strip.text() or "the model was not built")
        _fill(window)
        for theme in themes:
            window.looks.use(theme)
            _take(window, directory / theme if len(themes) > 1 else directory, size)
    finally:
        window.close()
        window.worker.stop(ANSWER_S)


def _fill(window: MainWindow) -> None:
    """Choose a head and sample a few tokens, always the same ones."""
    built = window.subject.weights
    if built is None:
        return
    _wait(lambda: not window.conductor.busy, ANSWER_S, "the first pass did not end")
    window.call("sampling", "run")
    _wait(lambda: len(window.study.draws) >= TOKENS, ANSWER_S, "nothing was sampled")
    window.call("sampling", "stop")
    _wait(lambda: not window.sampling, ANSWER_S, "sampling did not stop")
    window.study.truncate(TOKENS)
    config = built.config
    if config.layers:
        layer, head = min(HEAD[0], config.layers - 1), min(HEAD[1], config.heads - 1)
        window.selection.choose(layer=layer, head=head)
        window.selection.choose(query=min(20, config.block_size - 1), key=min(19, config.block_size - 1))


def _take(window: MainWindow, directory: Path, size: tuple[int, int]) -> None:
    from PySide6.QtCore import QSize

    directory.mkdir(parents=True, exist_ok=True)
    window.desk.fill("")
    window.resize(*size)
    window.desk.arrange()
    _settle(window)
    _save(window, directory / "window.png")
    for name in window.panels:
        window.desk.fill(name)
        _settle(window)
        dock = window.desk.place(name)
        window.resize(window.size() + QSize(*size) - dock.size())
        _settle(window)
        _save(dock, directory / f"{name}.png")


def _save(widget: QWidget, path: Path) -> None:
    if not widget.grab().save(str(path)):
        raise ShootError(f"{path} can't be written")


def _settle(window: MainWindow) -> None:
    """Wait until nothing is asked of the engine and everything that can be seen is painted."""
    _wait(lambda: not window.conductor.busy, ANSWER_S, "the engine did not answer")
    for _ in range(3):  # a picture may ask for a layout, and a layout for a picture
        _wait_frames()
        _wait(lambda: not any(map(_unfinished, window.panels.values())), ANSWER_S, "a panel hangs")


def _unfinished(panel: Panel) -> bool:
    return panel.in_sight() and (panel.dirty or panel.waiting)


def _wait_frames() -> None:
    """Let a few frames and the window's slower numbers go by."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(FRAMES_MS, loop.quit)
    loop.exec()


def _wait(done: Callable[[], bool], limit_s: float, why: str) -> None:
    """Run the event loop until it is done. Raises ShootError after the time."""
    from PySide6.QtCore import QDeadlineTimer, QEventLoop, QTimer

    deadline = QDeadlineTimer(int(limit_s * 1000))
    loop = QEventLoop()
    timer = QTimer(interval=10)
    timer.timeout.connect(lambda: loop.quit() if done() or deadline.hasExpired() else None)
    timer.start()
    if not done():
        loop.exec()
    timer.stop()
    if not done():
        raise ShootError(f"{why} within {limit_s:.0f} s")
