"""What every panel is: a title, one plain sentence, a picture, a small menu. Knows none of the panels.

A panel is one file in `ui/panels/` holding one subclass of Panel; it is found by itself. It stores what it is told in
`handle`, and paints in `draw`, which is called at most once a frame and only while the panel can be seen.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from gpt_viz.protocol import Command, Event
from gpt_viz.ui.learner import Learner
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject

NARROW = 72  # average letters of the header's width: less leaves no room for a sentence beside title and tools
SENTENCE = 64  # average letters of a sentence: where title and tools leave less, it has a line of its own
LINES = 40  # of the window's height: in a lower one the panels need every line for themselves


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


class Panel(QWidget):
    """One view of the model under study. Subclasses set the class variables and fill `self.body`'s layout.

    `events` are the kinds that `handle` wants. `needs` are those computations ("trace", "attention") that are made
    only while a panel which needs them can be seen. `behind` is the panel that it is a tab with at first, where that is
    not any one.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    events: ClassVar[tuple[type[Event], ...]] = ()
    needs: ClassVar[frozenset[str]] = frozenset()
    behind: ClassVar[str] = ""

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
