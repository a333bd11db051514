"""Once a frame: empties the mailbox, hands each event to those that want it, and has the visible panels paint.

Knows no panel and no event by name. What one listener or panel does wrong stops none of the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from gpt_viz.protocol import Event
from gpt_viz.ui.panel import Panel

FRAME_MS = 16
DRAW_S = 0.001  # Qt's painting of what was drawn comes after the frame, and takes some three times as long


class Mail(Protocol):
    """What is needed of a mailbox."""

    def drain(self) -> list[Event]:
        """All that waits, oldest first; nothing waits afterwards."""


class Bridge(QObject):
    """Between the mailbox and the window. `report` is told of every exception; `accepts` says which events are current.

    `painted` is emitted after each frame in which a panel was drawn.
    """

    painted = Signal()

    def __init__(
        self,
        mailbox: Mail,
        report: Callable[[BaseException], None],
        accepts: Callable[[Event], bool] = lambda event: True,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._mailbox = mailbox
        self._report = report
        self._accepts = accepts
        self._listeners: list[Callable[[Event], None]] = []
        self._panels: list[Panel] = []
        self._timer = QTimer(self, interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.frame)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Hand every event to this function, before the panels and after those that listen already."""
        self._listeners.append(listener)

    def add(self, panel: Panel) -> None:
        """Hand the panel the kinds of events that it declares, and have it painted."""
        self._panels.append(panel)

    def start(self) -> None:
        """Begin with the frames."""
        self._timer.start()

    def stop(self) -> None:
        """No frame comes after this."""
        self._timer.stop()

    def frame(self) -> None:
        """One frame: all events that wait, then at most one `draw` of each panel that can be seen and has news.

        When a frame has worked for DRAW_S, the panels that are left come in the next one, and first: they would all
        have their news at once, and the window would be deaf meanwhile.
        """
        for event in self._mailbox.drain():
            self._deliver(event)
        drawn = False
        began = time.thread_time()
        for _ in range(len(self._panels)):
            panel = self._panels.pop(0)
            self._panels.append(panel)
            if panel.dirty and panel.in_sight():
                panel.dirty = False  # first: what draw() itself marks is for the next frame
                self._guarded(panel.draw)
                drawn = True
                if time.thread_time() - began > DRAW_S:
                    break
        if drawn:
            self.painted.emit()

    def _deliver(self, event: Event) -> None:
        if not self._accepts(event):
            return
        for listener in self._listeners:
            self._guarded(listener, event)
        for panel in self._panels:
            if isinstance(event, panel.events):
                self._guarded(panel.handle, event)

    def _guarded(self, act: Callable[..., None], *arguments: Event) -> None:
        try:
            act(*arguments)
        except Exception as error:
            self._report(error)
