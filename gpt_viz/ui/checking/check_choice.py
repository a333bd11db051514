"""Which token the test of causality changes, and into which: two fields. Knows no result."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gpt_viz.protocol import ModelInfo
from gpt_viz.ui.widgets.fields import Choice, NumberField
from gpt_viz.ui.widgets.flow import FlowLayout
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.manners import named

MOST_LISTED = 512  # tokens; of a larger vocabulary the id is typed


class CheckChoice(QWidget):
    """`chosen` carries (position, id) when a person has changed one of them."""

    chosen = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._model: ModelInfo | None = None
        self._showing = False
        # Not "checks.": what is chosen here belongs to this text, and is not for the next start.
        self.position = named(NumberField(), "check.position", "Position of the token to change")
        self.token = named(Choice(), "check.token", "The new token")
        self.id = named(NumberField(), "check.id", "Id of the new token")
        for field in (self.position, self.id):
            field.setKeyboardTracking(False)
            field.setFixedWidth(64)
        self.token.setFixedWidth(84)
        row = FlowLayout(self, across=12, down=4)
        for label, fields in (("change token", (self.position,)), ("into", (self.token, self.id))):
            row.addWidget(_pair(label, fields))
        self.position.valueChanged.connect(self._changed)
        self.id.valueChanged.connect(self._changed)
        self.token.activated.connect(self._changed)

    def show_choice(self, model: ModelInfo, tokens: Sequence[str], position: int, token: int) -> None:
        """Show what was changed last, without a word; `tokens` are those of the text."""
        self._showing = True
        V = model.config.vocabulary
        listed = V <= MOST_LISTED
        if model is not self._model:
            self._model = model
            self.token.clear()
            for id in range(V if listed else 0):
                self.token.add(visible(model.piece(id)), str(id))
            self.id.setRange(0, V - 1)
        self.token.setVisible(listed)
        self.id.setVisible(not listed)
        self.position.setRange(0, len(tokens) - 1)
        self.position.setValue(position)
        self.token.setCurrentIndex(token if listed else -1)
        self.id.setValue(token)
        self._showing = False

    def value(self) -> tuple[int, int]:
        """The position and the id as they stand."""
        listed = not self.token.isHidden()
        return self.position.value(), self.token.currentIndex() if listed else self.id.value()

    def _changed(self) -> None:
        if not self._showing:
            self.chosen.emit(*self.value())


def _pair(label: str, fields: Sequence[QWidget]) -> QWidget:
    pair = QWidget()
    row = QHBoxLayout(pair)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    words = QLabel(label, textFormat=Qt.TextFormat.PlainText)
    words.setProperty("muted", "true")
    row.addWidget(words)
    for field in fields:
        row.addWidget(field)
    return pair
