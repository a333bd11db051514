"""Once a frame: empties the mailbox, hands each event to those that want it, and has a visible panel paint.

Knows no panel and no event by name. What one listener or panel does wrong stops none of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from gpt_viz.protocol import Event
from gpt_viz.ui.panel import Panel

FRAME_MS = 16


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
        """One frame: all events that wait, then one `draw`: of the panel that can be seen, has news, and waits longest.

        The other ones come in the next frames: all would have their news at once, and with Qt's painting after it the
        window would be deaf meanwhile.
        """
        for event in self._mailbox.drain():
            self._deliver(event)
        panel = next((each for each in self._panels if each.dirty and each.in_sight()), None)
        if panel is None:
            return
        self._panels.remove(panel)
        self._panels.append(panel)
        panel.dirty = False  # first: what draw() itself marks is for a later frame
        self._guarded(panel.draw)
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
