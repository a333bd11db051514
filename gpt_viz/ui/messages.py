"""What the window says: one sentence in the strip, facts in the status bar. Knows no panel and no command."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpt_viz.protocol import OTHER, Built, Drawn, EngineReady, Event, Failed, Traced, TrainingBegan
from gpt_viz.ui.faults import Fault
from gpt_viz.ui.statusbar import StatusBar
from gpt_viz.ui.strip import Strip

log = logging.getLogger(__name__)


class Messages(QObject):
    """Fills strip and status bar. `owned` says whose failures others word; `stopped`: there is no engine."""

    stopped = Signal()

    def __init__(self, status: StatusBar, owned: Callable[[Event], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._owned = owned
        self.strip, self.status = Strip(), status
        self.place = QWidget()  # the strip's, with room around it; it goes with it
        inset = QVBoxLayout(self.place)
        inset.setContentsMargins(8, 8, 8, 0)
        inset.addWidget(self.strip)
        self.place.hide()
        self._mistake = self._refusal = ""
        self._of_build = False
        self._refused: int | None = None  # the job whose refusal the strip tells; 0: of none that was sent
        self._prompt = ""
        self.strip.closed.connect(self._closed)

    def tell(self, sentence: str, mistake: bool = False, details: str = "", count: int = 1) -> None:
        """Show one sentence in the strip, and a mistake in the status line too."""
        self.place.show()
        self.strip.say(sentence, mistake=mistake, details=details, count=count)
        self._mistake = sentence if mistake else ""
        self._of_build, self._refused = False, None
        self._write()

    def notify(self, sentence: str, mistake: bool = False, details: str = "") -> None:
        """The same, for what a panel says of the text and the model of now."""
        self.tell(sentence, mistake, details)
        self._refused = 0

    def look_at(self, prompt: str) -> None:
        """This is the text under study: what was refused for another one may be done now."""
        if prompt != self._prompt:
            self._prompt = prompt
            self._forget_refused()

    def tell_of_build(self, sentence: str, mistake: bool, details: str) -> None:
        """The same, for what the next model that stands makes obsolete."""
        self.tell(sentence, mistake, details)
        self._of_build = True

    def refuse(self, why: str) -> None:
        """Say in the status line why the text can't be read; "" when it can."""
        if why != self._refusal:
            self._refusal = why
            self._write()

    def show_fault(self, fault: Fault) -> None:
        """A mistake of the program itself."""
        self.tell(f"Something went wrong in the program: {fault.message}", True, fault.details, fault.count)

    def handle(self, event: Event) -> None:
        """Take facts and failures from the engine's answers."""
        status = self.status
        if event.slot == OTHER:
            self._log(event)  # whoever asked about the other model says what came of it
        elif isinstance(event, EngineReady):
            self._write()
            status.fact("torch", f"torch {event.torch_version}")
        elif isinstance(event, Built):
            if self._of_build:
                self.strip.dismiss()
            self._forget_refused()
            status.fact("torch", "")
            done = "opened" if event.model.source else "built"
            status.fact("built", f"{done} in {event.model.elapsed_s:.2f} s on {event.model.device}")
        elif isinstance(event, Traced):
            status.fact("forward", f"forward {event.elapsed_s * 1000:.1f} ms")
        elif isinstance(event, Drawn):
            self._forget_refused(event.job)
            status.fact("rate", f"sampling {event.tokens_per_second:,.0f} tokens/s")
        elif isinstance(event, TrainingBegan):
            self._forget_refused(event.job)
        elif isinstance(event, Failed):
            self._failed(event)

    def _forget_refused(self, job: int | None = None) -> None:
        """The reason is gone, or a later job of the kind could be done: an expected mistake is one no more."""
        if self._refused is not None and (job is None or job > self._refused):
            self.strip.dismiss()

    def _log(self, event: Event) -> None:
        if isinstance(event, Failed) and not event.expected:
            log.error("%s\n%s", event.message, event.details)

    def _failed(self, event: Failed) -> None:
        self._log(event)
        if event.job == 0:
            self.tell(f"The engine did not start: {event.message}", True, event.details)
            self.stopped.emit()
        elif not self._owned(event):
            self.tell(event.message, True, "" if event.expected else event.details)
            self._refused = event.job if event.expected else None

    def _closed(self) -> None:
        self.place.hide()
        self._mistake, self._refused = "", None
        self._write()

    def _write(self) -> None:
        self.status.say(self._refusal or self._mistake)
