"""Checkpoints in the window: which file, what a file does not say, what was done to open it. Reads no file itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gpt_viz import settings
from gpt_viz.protocol import (
    Cancelled,
    CheckpointOpened,
    CheckpointSaved,
    Command,
    Event,
    Failed,
    Finished,
    SaveCheckpoint,
)
from gpt_viz.ui.model.checkpoint_question import ask_setting
from gpt_viz.ui.model.shipped import ships
from gpt_viz.ui.opening import SUFFIXES
from gpt_viz.ui.widgets.manners import named

_OPEN = f"Checkpoints ({' '.join(f'*{each}' for each in SUFFIXES)});;All files (*)"
_SAVE = "Checkpoints (*.safetensors)"


class Opens(Protocol):
    """What is needed of the builder."""

    opened: SignalInstance
    asked: SignalInstance

    def open_checkpoint(self, path: str, settings: tuple[str, ...] = ()) -> None:
        """Put the model of that file into the window."""


class Checkpoints(QObject):
    """Asks for files and for what they do not say, and saves. `said` carries a sentence, whether a mistake, details.

    `reported` is emitted when there is another report, `ended` when a file is saved or can't be.
    """

    said = Signal(str, bool, str)
    reported = Signal()
    ended = Signal()

    def __init__(
        self,
        window: QWidget,
        builder: Opens,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
    ) -> None:
        super().__init__(window)
        self._window, self._builder = window, builder
        self._new_job, self._send = new_job, send
        self._saving: dict[int, str] = {}
        self._report: CheckpointOpened | None = None
        builder.opened.connect(self._opened)
        builder.asked.connect(self._ask)

    def owns(self, event: Event) -> bool:
        """Whether the event belongs to something that is saved, and is followed here."""
        return event.job in self._saving

    def handle(self, event: Event) -> None:
        """Follow what is being saved."""
        path = self._saving.get(event.job)
        if path is None:
            return
        if isinstance(event, CheckpointSaved):
            self.said.emit(f"Saved to {path}, {event.bytes / 1e6:,.1f} MB.", False, "")
        elif isinstance(event, Failed):
            self.said.emit(f"Not saved: {event.message}", True, "" if event.expected else event.details)
        elif isinstance(event, Cancelled) and not event.superseded:
            self.said.emit(f"Not saved to {path}: it was broken off.", True, "")
        if isinstance(event, (Finished, Cancelled, Failed)):
            del self._saving[event.job]
            self.ended.emit()

    @property
    def saving(self) -> bool:
        """Whether a file of the user's is being written."""
        return bool(self._saving)

    # -- what is asked of it --

    def choose(self) -> None:
        """Let a file be chosen, and open it. Of a folder it is the file with the weights."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a checkpoint", "", _OPEN)
        if path:
            self._builder.open_checkpoint(path)

    def save_as(self) -> None:
        """Let a name be chosen, and save the model under it."""
        path, _ = QFileDialog.getSaveFileName(self._window, "Save a checkpoint", "model.safetensors", _SAVE)
        if path:
            self.save(path if Path(path).suffix else f"{path}.safetensors")

    def save(self, path: str) -> None:
        """Save the model that stands."""
        job = self._new_job()
        self._saving[job] = path
        self._send(SaveCheckpoint(job=job, asker=path, path=path))  # another file's takes nothing away from this one

    def ask_to_leave(self, steps: int, leave: Callable[[], object], stay: Callable[[], None]) -> None:
        """Training that is kept nowhere would be lost: ask once whether to save it, leave it, or stay."""
        buttons = QMessageBox.StandardButton
        question = named(QMessageBox(self._window), "leaving", "Unsaved training")
        question.setIcon(QMessageBox.Icon.Question)
        question.setText(f"{steps:,} step{'' if steps == 1 else 's'} of training are in no file.")
        question.setInformativeText("They can't be kept for the next start by themselves. Save them first?")
        question.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        question.setDefaultButton(buttons.Save)
        question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def answered(result: int) -> None:
            if result == buttons.Discard:
                leave()
                return
            stay()
            if result == buttons.Save:
                self.save_as()

        question.finished.connect(answered)
        question.open()

    @property
    def has_report(self) -> bool:
        """Whether anything was opened that there is a report of."""
        return self._report is not None

    def show_report(self) -> None:
        """What was done to open the newest checkpoint, in a window of its own."""
        if self._report is None:
            self.said.emit("No checkpoint has been opened yet.", False, "")
        else:
            ReportDialog(self._report, self._window).open()

    # -- what the builder tells --

    def _opened(self, event: CheckpointOpened) -> None:
        self._report = event
        self.reported.emit()
        if ships(event.path):
            return  # nothing in it had to be found out, and the switch says that they are trained
        if Path(event.path).parent == settings.trainings_dir():
            self.said.emit("Your training is back, as it was kept; moments on the way and samples were not.", False, "")
            return
        recognised = next((detail for what, detail in event.report if what == "recognised"), "")
        name = Path(event.path).name
        details = "\n".join(f"{what}: {detail}" for what, detail in event.report)
        self.said.emit(f"Opened {name}: {recognised}. The menu has the report of what was done.", False, details)

    def _ask(self, path: str, settings: tuple[str, ...], event: Failed) -> None:
        """Ask for the setting that lacks; the answer opens the file with it."""
        ask_setting(
            self._window, path, event, lambda setting: self._builder.open_checkpoint(path, (*settings, setting))
        )


class ReportDialog(QDialog):
    """What was recognised, renamed, tied and ignored in a checkpoint, one line for each."""

    def __init__(self, event: CheckpointOpened, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "checkpoint.report", "Report of the checkpoint")
        self.setWindowTitle(Path(event.path).name)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        for row, (what, detail) in enumerate(event.report):
            name, text = _plain(what), _plain(detail)
            font = name.font()
            font.setBold(True)
            name.setFont(font)
            text.setWordWrap(True)
            grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, row, 1, Qt.AlignmentFlag.AlignTop)
        grid.setRowStretch(len(event.report), 1)
        scroller = QScrollArea(widgetResizable=True)
        scroller.setFrameShape(QScrollArea.Shape.NoFrame)
        scroller.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(scroller, 1)
        column.addWidget(buttons)
        self.resize(640, 400)


def _plain(text: str) -> QLabel:
    label = QLabel(text, textFormat=Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
