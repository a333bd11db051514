"""What every panel is: a title, one plain sentence, a picture, a small menu. Knows none of the panels.

A panel is one file in `ui/panels/` holding one subclass of Panel; it is found by itself. It stores what it is told in
`handle`, and paints in `draw`, which is called at most once a frame and only while the panel can be seen.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QStackedLayout, QVBoxLayout, QWidget

from gpt_viz.ui.header import Header

if TYPE_CHECKING:
    from gpt_viz.protocol import Command, Event
    from gpt_viz.ui.selection import SelectionModel
    from gpt_viz.ui.study import Study
    from gpt_viz.ui.subject import Subject
    from gpt_viz.ui.training.learner import Learner


@dataclass(frozen=True, slots=True)
class Context:
    """What a panel gets of the program: the shared states, a way to ask the engine, and to ask for a message.

    `new_job` gives a number for a command; `send` never blocks; `notify` shows one sentence in the window's strip.
    `learner` is the training of the model, which goes on whether its panel is there or not; `ask` has one of the
    window's commands done, by name.
    """

    selection: SelectionModel
    study: Study
    subject: Subject
    new_job: Callable[[], int]
    send: Callable[[Command], None]
    notify: Callable[[str], None]
    learner: Learner | None = None
    ask: Callable[[str], None] = lambda name: None


class Panel(QWidget):
    """One view of the model under study. Subclasses set the class variables and fill `self.body`'s layout.

    `events` are the kinds that `handle` wants. `needs` are those computations ("trace", "attention") that are made
    only while a panel which needs them can be seen. `behind` is the panel that it is a tab with at first, where that is
    not any one. What is not `of_text` stays as it is whatever text is read.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    events: ClassVar[tuple[type[Event], ...]] = ()
    needs: ClassVar[frozenset[str]] = frozenset()
    behind: ClassVar[str] = ""
    of_text: ClassVar[bool] = True

    shown = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.dirty = True
        self.setObjectName(f"panel.{self.name}")
        self.setAccessibleName(self.title)
        self.header = Header(self.title)
        self.body = QWidget()
        self._empty = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self._empty.setObjectName("panelEmpty")
        self._empty.setTextFormat(Qt.TextFormat.PlainText)
        self._pages = QStackedLayout()
        self._pages.addWidget(self.body)
        self._pages.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 4, 16, 12)
        column.addLayout(self._pages)
        context.subject.changed.connect(self.mark)
        context.selection.changed.connect(self.mark)
        if self.of_text:
            context.study.read.connect(self.mark)

    # -- what subclasses write --

    def handle(self, event: Event) -> None:
        """Store what the event says; never paint here."""

    def draw(self) -> None:
        """Bring the picture up to date with what is stored."""

    def table(self) -> list[list[str]]:
        """What "Copy as table" and "Export as CSV" write: rows of cells, the first row its headings."""
        return []

    @property
    def waiting(self) -> bool:
        """Whether something that it asked for by itself is still on its way."""
        return False

    # -- what they use --

    def mark(self, *_: object) -> None:
        """Ask for a `draw` in the next frame in which the panel can be seen."""
        self.dirty = True

    def say(self, sentence: str) -> None:
        """The one plain sentence beside the title: what can be seen now."""
        self.header.sentence.say(sentence)

    def cover(self, reason: str) -> None:
        """Show why there is nothing to see and what to press; "" uncovers the body."""
        self._empty.setText(reason[:1].upper() + reason[1:])
        self._pages.setCurrentWidget(self._empty if reason else self.body)

    def in_sight(self) -> bool:
        """Whether any of it can be seen. A dock behind another's tab counts as visible for Qt; it is not in sight."""
        return self.isVisible() and not self.visibleRegion().isEmpty()

    @property
    def covered(self) -> str:
        """Why there is nothing to see, or ""."""
        return self._empty.text() if self._pages.currentWidget() is self._empty else ""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.come_into_sight()

    def come_into_sight(self) -> None:
        """It was shown, or its tab was chosen."""
        self.mark()
        self.shown.emit()


def find_panels(report: Callable[[BaseException], None] | None = None) -> list[type[Panel]]:
    """The Panel subclass of each file in `ui/panels/`, in their order. A file that can't be loaded is reported and left
    out; without a `report` its error is raised.
    """
    import gpt_viz.ui.panels as package

    found: list[type[Panel]] = []
    for info in pkgutil.iter_modules(package.__path__):
        try:
            module = importlib.import_module(f"{package.__name__}.{info.name}")
        except Exception as error:
            if report is None:
                raise
            report(error)
            continue
        found += [
            each
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, Panel) and each.__module__ == module.__name__
        ]
    return sorted(found, key=lambda each: each.order)
