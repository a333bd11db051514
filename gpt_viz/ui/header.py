"""A panel's title row: title, one plain sentence, tools. Knows no panel."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

NARROW = 72  # average letters of the header's width: less leaves no room for a sentence beside title and tools
SENTENCE = 64  # average letters of a sentence: where title and tools leave less, it has a line of its own
LINES = 40  # of the window's height: in a lower one the panels need every line for themselves


class Header(QWidget):
    """A panel's title row; it is also the dock's title bar. `tools` is where a panel adds its own small controls.

    Where there is too little room for a sentence between title and tools, the sentence stands below them.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setProperty("card", "top")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = QLabel(title)
        self.title.setObjectName("panelTitle")
        self.sentence = Sentence()
        self.tools = QHBoxLayout()
        self.tools.setSpacing(4)
        self._row = QHBoxLayout()
        self._row.setSpacing(12)
        self._row.addWidget(self.title)
        self._row.addWidget(self.sentence, 1)
        self._row.addLayout(self.tools)
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(16, 8, 8, 4)
        self._rows.setSpacing(2)
        self._rows.addLayout(self._row)

    def add_menu(self, menu: QWidget) -> None:
        """Put the panel's small menu at the end of the row."""
        self._row.addWidget(menu)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_sentence()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place_sentence()  # the tools may have become wider or narrower
        return super().event(event)

    def _place_sentence(self) -> None:
        # By the room alone: a sentence that moved with its own length would make the panel jump.
        letter, line = self.fontMetrics().averageCharWidth(), self.fontMetrics().lineSpacing()
        high = self.window().height() >= LINES * line
        narrow = self.width() < NARROW * letter or (high and self._room() < SENTENCE * letter)
        if narrow != (self._rows.count() > 1):
            self._row.removeWidget(self.sentence)
            self._rows.removeWidget(self.sentence)
            if narrow:
                self._row.insertStretch(1, 1)
                self._rows.addWidget(self.sentence)
            else:
                self._row.takeAt(1)
                self._row.insertWidget(1, self.sentence, 1)
            self._rows.setContentsMargins(16, 4 if narrow else 8, 8, 2 if narrow else 4)

    def _room(self) -> int:
        """What title and tools leave of the row's width."""
        items = filter(None, map(self._row.itemAt, range(self._row.count())))
        taken = [each.sizeHint().width() for each in items if each.widget() is not self.sentence and not each.isEmpty()]
        margins = self._rows.contentsMargins()
        return self.width() - margins.left() - margins.right() - sum(taken) - self._row.spacing() * len(taken)


class Sentence(QLabel):
    """One line of plain text that is elided, never cut, with the whole of it as tool tip."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("panelSentence")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._whole = ""

    def say(self, text: str) -> None:
        """Show this sentence."""
        if text != self._whole:
            self._whole = text
            self.setAccessibleDescription(text)
            self._elide()

    def whole(self) -> str:
        """The sentence, not elided."""
        return self._whole

    def resizeEvent(self, event: object) -> None:
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, max(self.width() - 2, 0))
        self.setText(shown)
        # A tool tip guesses at HTML: a plain text with a "<" in it must not vanish.
        self.setToolTip(f"<qt>{_escaped(self._whole)}</qt>" if shown != self._whole else "")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
