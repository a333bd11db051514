"""Asks for the one thing that a checkpoint does not say. Reads no file and sends no command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QLabel, QWidget

from gpt_viz.protocol import Failed
from gpt_viz.ui.widgets.manners import named

_QUESTIONS = {
    "heads": "How many heads does each layer have? The file does not say, and its weights can't show it.",
    "gelu": "Which GELU was this model made with? The file does not say, and its weights can't show it.",
}


def ask_setting(owner: QWidget, path: str, event: Failed, answer: Callable[[str], None]) -> None:
    """Ask for the setting that lacks; `answer` gets it as `name=value`, and nothing where nobody answers."""
    question = QInputDialog(owner)
    named(question, "checkpoint.question", "What the checkpoint does not say")
    question.setWindowTitle(f"Open {Path(path).name}")
    question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    question.setLabelText(_QUESTIONS.get(event.field, f"What is its {event.field}?"))
    for label in question.findChildren(QLabel):
        label.setTextFormat(Qt.TextFormat.PlainText)
    question.setComboBoxItems(list(event.candidates))
    question.textValueSelected.connect(lambda value: answer(f"{event.field}={value}"))
    question.open()
