"""The window's strip: one sentence at a time, which stops nobody. Knows nothing of what it is about."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton

from gpt_viz.ui import icons
from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.manners import named, set_property

NOTE_MS = 8_000
LONGEST = 600  # characters that are shown; the details have them all


class Strip(QFrame):
    """A note goes by itself; a mistake stays until it is closed or the next thing is said. `closed` after either."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "strip", "Message")
        self._details = ""
        self._said = ""
        self._label = named(QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText), "strip.message", "Message")
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._copy = named(QPushButton("Copy details"), "strip.copy", "Copy details")
        self._copy.clicked.connect(self._copy_details)
        self._close = named(QToolButton(), "strip.close", "Close the message")
        self._close.setIconSize(QSize(icons.SIDE, icons.SIDE))
        self._close.clicked.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(8)
        row.addWidget(self._label, 1)
        row.addWidget(self._copy)
        row.addWidget(self._close)
        self._timer = QTimer(self, singleShot=True, interval=NOTE_MS)
        self._timer.timeout.connect(self.dismiss)
        theme.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def say(self, sentence: str, *, mistake: bool = False, details: str = "", count: int = 1) -> None:
        """Show this sentence instead of what was there; `count` above 1 says how often it happened."""
        sentence = sentence[:1].upper() + sentence[1:]
        self._said, self._details = sentence, details
        shown = sentence if len(sentence) <= LONGEST else sentence[:LONGEST] + " …"
        self._label.setText(shown if count == 1 else f"{shown}  ×{count:,}")
        self._copy.setVisible(bool(details))
        set_property(self, "mistake", mistake)
        if mistake:
            self._timer.stop()
        else:
            self._timer.start()
        self.show()

    def text(self) -> str:
        """What is shown, or "" while nothing is."""
        return self._label.text() if not self.isHidden() else ""

    def dismiss(self) -> None:
        """Take the message away."""
        self._timer.stop()
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._said}\n\n{self._details}")

    def _restyle(self) -> None:
        self._close.setIcon(icons.icon("close", tokens().muted))
