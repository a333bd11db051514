"""A question that stops nobody: a sentence, its answers, and one choice if need be. Knows nothing of what it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpt_viz.ui import icons
from gpt_viz.ui.header import Sentence
from gpt_viz.ui.theme import mono_font, theme, tokens
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.manners import named, set_property


@dataclass(frozen=True, slots=True)
class Answer:
    """A button and what it does; it gets the value that was chosen, "" where there was no choice."""

    title: str
    act: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be chosen: its value, what it is called, and a text that shows what it would give."""

    value: str
    title: str
    preview: str = ""


class Offer(QWidget):
    """Stays until it is answered or closed; the next question takes its place. The first answer is the suggestion.

    `asked` when there is a question.
    """

    asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._frame = named(QFrame(), "offer", "Question")
        self._label = named(QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText), "offer.message", "Question")
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._choice = named(QComboBox(), "offer.choice", "Choices")
        self._choice.currentIndexChanged.connect(self._show_preview)
        self._choice.highlighted.connect(self._show_preview)
        self._preview = named(Sentence(), "offer.preview", "What it would give")
        self._close = named(QToolButton(), "offer.close", "Close the question")
        self._close.setIconSize(QSize(icons.SIDE, icons.SIDE))
        self._close.clicked.connect(self.dismiss)
        self._options: tuple[Option, ...] = ()
        self._answers: tuple[Answer, ...] = ()
        self._buttons: list[QPushButton] = []
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        self._row.addWidget(self._label, 1)
        self._row.addWidget(self._close)
        choices = QHBoxLayout()
        choices.setSpacing(12)
        choices.addWidget(self._choice)
        choices.addWidget(self._preview, 1)
        inside = QVBoxLayout(self._frame)
        inside.setContentsMargins(12, 6, 8, 6)
        inside.setSpacing(4)
        inside.addLayout(self._row)
        inside.addLayout(choices)
        around = QVBoxLayout(self)
        around.setContentsMargins(8, 8, 8, 0)
        around.addWidget(self._frame)
        theme.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def ask(self, sentence: str, answers: Sequence[Answer], options: Sequence[Option] = ()) -> None:
        """Show this question instead of what was there."""
        self._label.setText(sentence)
        self._options = tuple(options)
        self._choice.clear()
        for option in self._options:
            self._choice.addItem(option.title, option.value)
        self._choice.setVisible(bool(options))
        self._preview.setVisible(bool(options))
        self._answers = tuple(answers)
        while len(self._buttons) < len(answers):
            self._add_button(len(self._buttons))
        for place, button in enumerate(self._buttons):
            button.setVisible(place < len(answers))
            if place < len(answers):
                button.setText(answers[place].title)
                button.setAccessibleName(answers[place].title)
        self.show()
        self.asked.emit()

    def text(self) -> str:
        """The question, or "" while there is none."""
        return self._label.text() if not self.isHidden() else ""

    def dismiss(self) -> None:
        """Take the question away, unanswered."""
        self.hide()

    def _add_button(self, place: int) -> None:
        button = named(QPushButton(), f"offer.answer.{place}", "Answer")
        set_property(button, "accent", place == 0)
        button.clicked.connect(lambda: self._answered(place))
        self._row.insertWidget(1 + place, button)
        self._buttons.append(button)

    def _answered(self, place: int) -> None:
        value = self._choice.currentData() if self._options else ""
        self.hide()  # first: the answer may bring the next question
        self._answers[place].act(value)

    def _show_preview(self, place: int) -> None:
        if 0 <= place < len(self._options):
            preview = self._options[place].preview
            self._preview.say("".join(" " if each == " " else visible(each) for each in preview))

    def _restyle(self) -> None:
        self._close.setIcon(icons.icon("close", tokens().muted))
        self._preview.setFont(mono_font())
