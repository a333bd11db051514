"""A one-line editor that has newlines in its line. Knows no marks, no model and no engine.

Shown is a document of one block, in which stand-ins hold what would break the line (see `stand_ins`); `text()`, the
clipboard and dragging have the real characters.
"""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QPlainTextEdit, QSizePolicy, QWidget

from gpt_viz.ui.widgets.stand_ins import held, real, starts

LONGEST = 100_000  # characters: laying out one line costs 0.5 µs for each at every key
# One line has no use for these; the window has.
_OTHERS_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class OneLineEdit(QPlainTextEdit):
    """One line of exact text. `edited` carries it whenever it is another, whoever changed it.

    `shortened` says how many characters were left out, as the line holds no more than LONGEST.
    """

    edited = Signal(str)
    shortened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._starts: list[int] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # A letter of a taller font must not let the line scroll up and down.
        self.verticalScrollBar().valueChanged.connect(lambda _: self.verticalScrollBar().setValue(0))
        self.document().contentsChanged.connect(self._reread)

    # -- the text --

    def text(self) -> str:
        """The real characters, newlines as newlines."""
        return self._text

    def setText(self, text: str) -> None:  # noqa: N802 (as in QLineEdit)
        """Another text, shown from its beginning; undo brings the old one back, if it is not the first."""
        if text == self._text:
            return
        first = not self._text and not self.document().isUndoAvailable()
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        self._insert(text, cursor)
        if first:
            self.document().clearUndoRedoStacks()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def toPlainText(self) -> str:  # noqa: N802 (Qt's name)
        """The same as `text()`."""
        return self.text()

    def setPlainText(self, text: str) -> None:  # noqa: N802 (Qt's name)
        """The same as `setText`."""
        self.setText(text)

    def insertPlainText(self, text: str) -> None:  # noqa: N802 (Qt's name)
        """Write real characters over the selection or at the cursor."""
        self._insert(text, self.textCursor())
        self.ensureCursorVisible()

    def _insert(self, text: str, cursor: QTextCursor) -> None:
        selected = len(real(cursor.selectedText()))
        room = max(LONGEST - len(self._text) + selected, 0)
        # A step of its own for undo, which would join it to what was typed before.
        cursor.beginEditBlock()
        cursor.insertText(held(text[:room]))
        cursor.endEditBlock()
        if len(text) > room:
            self.shortened.emit(len(text) - room)

    def unit(self, position: int) -> int:
        """Where the character at a position begins in the document, in Qt's 16-bit units."""
        return position if self._starts is None else self._starts[position]

    def position(self, unit: int) -> int:
        """The position of the character that a unit of the document belongs to."""
        return unit if self._starts is None else bisect_right(self._starts, unit) - 1

    def _reread(self) -> None:
        raw = self.document().toRawText()
        text = real(raw)
        if text != self._text:
            self._text, self._starts = text, starts(raw)
            self.edited.emit(text)

    # -- keys and clipboard --

    def event(self, event: QEvent) -> bool:
        """Leave the keys that one line has no use for to the window's shortcuts."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._for_others(event):
            event.ignore()
            return False
        return super().event(event)

    def _for_others(self, event: QKeyEvent) -> bool:
        command = bool(event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier))
        return event.key() in _OTHERS_KEYS or (event.key() in _ENTER and command)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return writes a newline."""
        if self._for_others(event):
            event.ignore()
        elif event.key() in _ENTER:
            self.insertPlainText("\n")
        elif event.text() and event.text().isprintable() and len(self._text) >= LONGEST:
            self.insertPlainText(event.text())
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Commit what an input method composed, like anything else that is written."""
        committed = event.commitString()
        if held(committed) == committed and len(self._text) + len(committed) <= LONGEST:
            super().inputMethodEvent(event)
            return
        super().inputMethodEvent(QInputMethodEvent("", event.attributes()))
        self.insertPlainText(committed)

    def createMimeDataFromSelection(self) -> QMimeData:
        """What is copied or dragged has real newlines."""
        data = QMimeData()
        data.setText(real(self.textCursor().selectedText()))
        return data

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text, and leave a dropped file to the window."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste or drop a text; its line ends become newlines."""
        self.insertPlainText(source.text().replace("\r\n", "\n").replace("\r", "\n"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel moves along the line."""
        turned = event.angleDelta()
        step = turned.x() or turned.y()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        bar = self.horizontalScrollBar()
        bar.setValue(
            bar.value() - step * QApplication.wheelScrollLines() * self.fontMetrics().averageCharWidth() // 120
        )
        event.accept()
