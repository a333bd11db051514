"""Wires engine, worker and window, and ends them: the only place that knows all three.

Nothing here imports Qt before it is known that a window can be opened, nor torch before the first paint. (On Windows
torch must come before Qt: there the early window is given up.)
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from gpt_viz import desktop, logbook, settings
from gpt_viz.arguments import checkpoint_choice, model_choice, model_given, window_parser
from gpt_viz.settings import Settings
from gpt_viz.worker import Worker

if TYPE_CHECKING:
    from gpt_viz.protocol import Event
    from gpt_viz.runner import Runs
    from gpt_viz.ui.opening import Opening
    from gpt_viz.ui.window import MainWindow

MakeEngine: TypeAlias = "Callable[[Callable[[Event], None]], Runs]"

STOP_S = 2.0
SWITCH_S = 0.0005  # how long the worker may keep the interpreter while the window waits for it


@dataclass(frozen=True, slots=True)
class Start:
    """What the command line and the last time together ask for."""

    remembered: Settings
    opening: Opening


def start(argv: list[str], *, remembers: bool = True) -> Start:
    """Read the command line and the settings. Raises ValueError for what can't be; exits for what can't be parsed."""
    from gpt_viz.ui.opening import Again, Choice, Opening, is_checkpoint

    args = window_parser().parse_args(argv)
    logbook.keep(settings.log_file())
    if args.checkpoint is None and args.preset is None and args.file and is_checkpoint(args.file):
        args.checkpoint, args.file = args.file, None
    file = checkpoint_choice(args)
    if args.reset_settings:
        settings.reset()
    remembered = settings.load() if remembers else Settings(theme="light")
    config, alphabet, seed, device = remembered.config, remembered.alphabet, remembered.seed, remembered.device
    if file is not None:
        device = file.device
    elif model_given(args):
        chosen = model_choice(args)
        config, alphabet, seed, device = chosen.config, chosen.alphabet, chosen.seed, chosen.device
    own_model = file is not None or model_given(args)
    again = Again(
        text="" if args.file else remembered.text,
        encoding=remembered.text_encoding,
        checkpoint="" if own_model or args.file else remembered.checkpoint,
        settings=remembered.checkpoint_settings,
        prompt=remembered.prompt if args.text is None else args.text,
    )
    prompt = args.text
    if prompt is None and file is None and not remembered.checkpoint and alphabet == remembered.alphabet:
        prompt = remembered.prompt
    choice = Choice(
        config,
        alphabet,
        seed,
        device,
        prompt,
        args.file or "",
        checkpoint="" if file is None else file.path,
        settings=() if file is None else file.settings,
    )
    return Start(
        remembered=replace(remembered, theme=args.theme or remembered.theme),
        opening=Opening(choice, args.panel or "", args.present, remembers, again),
    )


def create_window(argv: list[str]) -> MainWindow:
    """The window for this command line, not yet shown; the QApplication exists. Raises ValueError for what can't be."""
    return make_window(start(argv))


def make_window(started: Start, make_engine: MakeEngine | None = None) -> MainWindow:
    """The window for a start, whole but for its panels; `make_engine` is called on the worker's thread, after the first
    paint.
    """
    window = early_window(started, make_engine)
    window.put_up()
    return window


def early_window(started: Start, make_engine: MakeEngine | None = None) -> MainWindow:
    """The same with no more than is painted first; the rest is put up after that."""
    from PySide6.QtWidgets import QApplication

    from gpt_viz.ui import sheet, theme
    from gpt_viz.ui.window import MainWindow

    sys.setswitchinterval(SWITCH_S)
    theme.theme.use(started.remembered.theme, started.remembered.points)
    application = QApplication.instance()
    assert isinstance(application, QApplication), "a window needs a QApplication first"
    sheet.prepare(application)
    window = MainWindow(Worker(make_engine or _make_engine), started.remembered, started.opening)
    window.faults.install()
    window.closed.connect(window.faults.remove)
    return window


def run(argv: list[str]) -> int:
    """Open the window and stay until it is closed. Returns the exit code: 0, or 2 with one line on stderr."""
    gc.disable()  # what is made on the way to the first paint is there to stay
    if sys.platform == "win32":
        import torch  # noqa: F401 (its libraries must be loaded before Qt's)
    try:
        platform, obstacle = desktop.choice()
        if obstacle:
            raise ValueError(obstacle)
        if platform:
            os.environ["QT_QPA_PLATFORM"] = platform
        started = start(argv)
    except ValueError as error:
        print(f"gpt-viz: {error}", file=sys.stderr)
        gc.enable()
        return 2
    from PySide6.QtCore import Qt, QTimer, qInstallMessageHandler
    from PySide6.QtWidgets import QApplication

    from gpt_viz.ui.faults import before_window

    qInstallMessageHandler(before_window)
    application = QApplication(["gpt-viz"])
    application.setApplicationName("gpt-viz")
    application.setApplicationDisplayName("GPT Viz")
    application.setDesktopFileName("gpt-viz")
    window = early_window(started)
    # Queued: a window that is closed before the loop runs, as by Ctrl+C, has to end it all the same.
    window.closed.connect(application.quit, Qt.ConnectionType.QueuedConnection)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    signal.signal(signal.SIGTERM, lambda *_: window.close())
    window.show()
    QTimer.singleShot(0, gc.enable)
    # Torch and Qt alone are some 300,000 objects: looking through them again and again would be felt in the window.
    window.ready.connect(gc.freeze)
    application.exec()
    _end(window)
    return 0


def _end(window: MainWindow) -> None:
    """Let the worker come to its next yield. A step of torch can't be interrupted: a long one ends with the process."""
    if not window.worker.stop(STOP_S):
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(0)
    import shiboken6

    # Before the application goes, and in this order; the interpreter's own order at its end is anyone's guess.
    shiboken6.delete(window)


def _make_engine(emit: Callable[[Event], None]) -> Runs:
    from gpt_viz.engine.engine import make_engine

    return make_engine(emit)
