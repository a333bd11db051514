"""Whether text is being sampled on and on, told from the commands that are sent and what comes of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gpt_viz.protocol import Cancelled, Command, Event, Failed, Finished, Sample


class Running(QObject):
    """Watches for the job that samples the text under study; `changed` carries whether there is one."""

    changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job: int | None = None

    @property
    def on(self) -> bool:
        """Whether text is being sampled on and on."""
        return self._job is not None

    def sent(self, command: Command) -> None:
        """Note what a panel has sent: one token is not on and on, and what a panel asks for itself is not the text."""
        if isinstance(command, Sample) and command.tokens != 1 and not command.asker:
            self._job = command.job
            self.changed.emit(True)

    def handle(self, event: Event) -> None:
        """The end of it, however it came."""
        if isinstance(event, (Finished, Cancelled, Failed)) and event.job == self._job:
            self._job = None
            self.changed.emit(False)
