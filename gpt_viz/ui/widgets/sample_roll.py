"""What a model wrote at moments of its training, the newest first. Knows no model: it is given captions and texts."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy

from gpt_viz.ui import theme

MOST = 200  # samples


class SampleRoll(QPlainTextEdit):
    """Read only; texts stand as they are, character for character."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setPlaceholderText("What the model writes as it learns comes here.")
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self._samples: list[tuple[str, str]] = []
        theme.theme.changed.connect(self._restyle)
        self._restyle()

    def show_samples(self, samples: list[tuple[str, str]]) -> None:
        """Show (caption, text) pairs, given in the order in which they were written."""
        samples = samples[-MOST:]
        if samples == self._samples:
            return
        known = len(self._samples)
        if not known or samples[:known] != self._samples:
            self.clear()
            known = 0
        self._samples = list(samples)
        for caption, text in samples[known:]:
            self._write(caption, text)
        self.verticalScrollBar().setValue(0)

    def _write(self, caption: str, text: str) -> None:
        empty = self.document().isEmpty()
        cursor = QTextCursor(self.document())
        plain, small = QTextCharFormat(), QTextCharFormat()
        small.setForeground(QColor(theme.tokens().muted))
        small.setFont(theme.ui_font(0.88))
        plain.setForeground(QColor(theme.tokens().text))
        plain.setFont(theme.mono_font(0.95))
        cursor.insertText(f"{caption}\n", small)
        cursor.insertText(text.replace("\r", "\n") + ("" if empty else "\n\n"), plain)

    def _restyle(self) -> None:
        samples, self._samples = self._samples, []
        self.setFont(theme.mono_font(0.95))
        self.clear()
        self.show_samples(samples)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def sizeHint(self) -> QSize:
        return QSize(200, 120)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 40)
