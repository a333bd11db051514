"""What happens to a mistake of the program itself: a line in the log, one message with a count, and on it goes.

Knows nothing of what failed. Nothing is written to stderr: the user may have none, and would have to read it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

MOST_KINDS = 200

log = logging.getLogger("gpt_viz.faults")


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of mistake: what to say, what to copy, and how often it was met."""

    message: str
    details: str
    count: int


class Faults(QObject):
    """Takes every error that nobody took. `met` is emitted on the thread of its listener with the newest Fault."""

    met = Signal(object)
    _noted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._others: tuple[Any, ...] | None = None  # the hooks that were there before
        self._mine = (self._exception, self._unraisable, self._thread)
        # Errors come from any thread, and from within paint events: the message waits for the event loop.
        self._noted.connect(self.met, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Take Python's and Qt's hooks. Those of a test runner, say, are still told; Python's own would only print."""
        if self._others is None:
            others = (sys.excepthook, sys.unraisablehook, threading.excepthook)
            sys.excepthook, sys.unraisablehook, threading.excepthook = self._mine
            self._others = (*others, qInstallMessageHandler(self._qt))

    def remove(self) -> None:
        """Give the hooks back, where nobody else has taken them since."""
        if self._others is None:
            return
        exception, unraisable, thread, qt = self._others
        self._others = None
        if sys.excepthook is self._mine[0]:
            sys.excepthook = exception
        if sys.unraisablehook is self._mine[1]:
            sys.unraisablehook = unraisable
        if threading.excepthook is self._mine[2]:
            threading.excepthook = thread
        current = qInstallMessageHandler(qt)
        if current != self._qt:
            qInstallMessageHandler(current)

    def report(self, error: BaseException) -> None:
        """Note an error that was caught, such as one in a panel's `draw`."""
        details = "".join(traceback.format_exception(error))
        where = traceback.extract_tb(error.__traceback__)[-1:]
        place = f"{where[0].filename}:{where[0].lineno}" if where else ""
        said = str(error).strip().splitlines()
        self._note(
            f"{type(error).__name__}: {said[0] if said else 'no message'}", details, type(error).__name__ + place
        )

    def _note(self, message: str, details: str, kind: str) -> None:
        with self._lock:
            if len(self._counts) > MOST_KINDS:
                self._counts.clear()
            count = self._counts[kind] = self._counts.get(kind, 0) + 1
        # Once whole, then at 10, 100, 1000: a fault in each frame must not fill the disk.
        if count == 1:
            log.error("%s\n%s", message, details)
        elif str(count).strip("0") == "1":
            log.error("%s (%d times)", message, count)
        self._noted.emit(Fault(message, details, count))

    def _exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None = None) -> None:
        if isinstance(error, KeyboardInterrupt):
            QApplication.closeAllWindows()
        else:
            self._guard(lambda: self.report(error.with_traceback(trace)))
            self._pass_on(0, sys.__excepthook__, kind, error, trace)
            # Python keeps the newest trace, and with it what the frames held: a painter that is still at work when its
            # paint event is over brings the process down later.
            traceback.clear_frames(trace)

    def _unraisable(self, args: Any) -> None:
        error = args.exc_value
        if error is not None:
            self._guard(lambda: self.report(error))
            self._pass_on(1, sys.__unraisablehook__, args)

    def _thread(self, args: threading.ExceptHookArgs) -> None:
        error = args.exc_value
        if error is not None and not isinstance(error, SystemExit):
            self._guard(lambda: self.report(error))
            self._pass_on(2, threading.__excepthook__, args)

    def _qt(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if kind == QtMsgType.QtFatalMsg:  # the process ends after this; the log is all that stays
            log.critical("Qt: %s", message)
        elif kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) or _of_the_desktop(context.category, message):
            # What Qt notes, and what the desktop's own plugins grumble about: no user can act on it.
            log.info("Qt: %s", message)
        else:
            details = f"{message}\n{context.category} {context.file}:{context.line}"
            self._guard(lambda: self._note(f"Qt: {message}", details, f"qt{message}"))
        self._pass_on(3, before_window, kind, context, message)

    def _pass_on(self, place: int, default: object, *arguments: Any) -> None:
        other = self._others[place] if self._others is not None else None
        if other is not None and other is not default:
            other(*arguments)

    @staticmethod
    def _guard(act: Callable[[], None]) -> None:
        try:
            act()
        except Exception:  # the last line of defence has nobody to tell
            log.exception("a fault could not be shown")


def before_window(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Take what Qt says while there is no window to say it in: to the log, and what it gives up for to stderr.

    There Qt would abort; the process ends with 2 instead, as for everything that keeps a window from being opened.
    """
    if kind != QtMsgType.QtFatalMsg:
        log.info("Qt: %s", message)
        return
    log.critical("Qt: %s", message)
    if sys.stderr is not None:
        print(f"gpt-viz: {' '.join(message.split())}", file=sys.stderr, flush=True)
    os._exit(2)


def _of_the_desktop(category: str | None, message: str) -> bool:
    return (category or "").startswith("qt.qpa") or message.startswith("This plugin does not support")
