"""The window's last line: what was measured, what is being worked on, and how to end it. Knows no command."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QSizePolicy, QStatusBar

from gpt_viz.ui.widgets.manners import named

HINT = "F1 help · F5 present · Ctrl+Shift+P all commands"
READABLE_MS = 250  # a number that a person reads changes at most four times a second
UNNOTICED_MS = 200  # work that is done sooner shows no progress


class StatusBar(QStatusBar):
    """Facts at the left, progress and Cancel at the right while something is under way."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._facts: dict[str, str] = {}
        self._said = ""
        self._works: dict[str, str] = {}
        self.message = named(QLabel(textFormat=Qt.TextFormat.PlainText), "status.message", "Status")
        self.message.setContentsMargins(8, 0, 8, 0)
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._progress = named(QProgressBar(textVisible=False), "status.progress", "Progress")
        self._progress.setFixedWidth(160)
        self._cancel = named(QPushButton("Cancel"), "status.cancel", "Cancel")
        self._cancel.clicked.connect(self.cancelled)
        self._hint = named(QLabel(HINT), "status.hint", "Keys")
        self._hint.setContentsMargins(8, 0, 8, 0)
        self.addWidget(self.message, 1)
        for widget in (self._progress, self._cancel, self._hint):
            self.addPermanentWidget(widget)
        self._progress.hide()
        self._cancel.hide()
        self._soon = QTimer(self, singleShot=True, interval=UNNOTICED_MS)
        self._soon.timeout.connect(self._show_work)
        self._later = QTimer(self, singleShot=True, interval=READABLE_MS)
        self._later.timeout.connect(self._write)

    def fact(self, name: str, text: str) -> None:
        """Show a measured fact in the place of the older one of that name; "" takes it away."""
        if self._facts.get(name) != text:
            self._facts[name] = text
            if not self._later.isActive():
                self._later.start()

    def say(self, sentence: str) -> None:
        """Show this instead of the facts; "" brings them back."""
        self._said = sentence
        self._write()

    def work(self, what: str, by: str = "") -> None:
        """Something is under way, and can be cancelled; "" ends what the same one has begun."""
        self._works.pop(by, None)
        if what:
            self._works[by] = what
        what = next(reversed(self._works.values()), "")
        if not what:
            self._soon.stop()
            self._progress.hide()
            self._cancel.hide()
            self._hint.show()
        elif not self._soon.isActive() and self._cancel.isHidden():
            self._progress.setRange(0, 0)
            self._soon.start()
        self._progress.setAccessibleDescription(what)
        self._progress.setToolTip(what)

    def advance(self, done: int, total: int) -> None:
        """How far the work has come; a total of 0 is an unknown one."""
        scale = 1 if total < 2**30 else total // 2**30 + 1  # Qt counts in 32 bits
        self._progress.setRange(0, total // scale)
        self._progress.setValue(done // scale)

    def _show_work(self) -> None:
        self._hint.hide()
        self._progress.show()
        self._cancel.show()

    def _write(self) -> None:
        facts = "   ·   ".join(text for text in self._facts.values() if text)
        self.message.setText(self._said or facts)
        self.message.setToolTip("")
