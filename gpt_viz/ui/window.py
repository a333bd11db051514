"""The window: puts form, text, panels and messages together. Knows no panel by name and no engine.

It is up before numpy, pyqtgraph, the panels and torch are loaded: they come after the first paint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMainWindow, QVBoxLayout, QWidget

from gpt_viz import settings
from gpt_viz.protocol import Cancelled, Command, Event, Failed, Finished, Sample
from gpt_viz.settings import Settings
from gpt_viz.ui import icons, memory
from gpt_viz.ui import text_words as words
from gpt_viz.ui.actions import Actions
from gpt_viz.ui.bridge import Bridge, Mail
from gpt_viz.ui.builder import Builder, Choice
from gpt_viz.ui.checkpoints import Checkpoints, is_checkpoint
from gpt_viz.ui.commands import add_commands, menu
from gpt_viz.ui.conductor import Conductor
from gpt_viz.ui.desk import Desk
from gpt_viz.ui.faults import Faults
from gpt_viz.ui.keeping import Keeping
from gpt_viz.ui.learner import Learner
from gpt_viz.ui.looks import Looks
from gpt_viz.ui.messages import Messages
from gpt_viz.ui.model_form import ModelForm
from gpt_viz.ui.panel import Context, Panel, find_panels
from gpt_viz.ui.reading import Reading
from gpt_viz.ui.reopening import Again, Reopening
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.switching import Switching
from gpt_viz.ui.texts import Texts
from gpt_viz.ui.theme import KINDS
from gpt_viz.ui.topbar import TopBar
from gpt_viz.ui.widgets.manners import named

if TYPE_CHECKING:
    from gpt_viz.ui.help import Help
    from gpt_viz.ui.palette import Palette
    from gpt_viz.ui.text_card import TextCard

PAINT_LIMIT_MS = 300  # a window that is not painted by then, since it is not shown, goes on all the same


@dataclass(frozen=True, slots=True)
class Opening:
    """What the window begins with, beside the model: a panel that fills it, presentation, the files of last time, and
    whether it remembers.
    """

    panel: str = ""
    present: bool = False
    remembers: bool = True
    again: Again = field(default_factory=Again)


class Works(Protocol):
    """What the window needs of a worker."""

    @property
    def mailbox(self) -> Mail:
        """Where its events wait."""

    def start(self) -> None:
        """Begin."""

    def send(self, command: Command) -> None:
        """Take a command; never blocks."""

    def stop(self, timeout_s: float) -> bool:
        """End; whether that was done within the time."""


class MainWindow(QMainWindow):
    """The program's window. `ready` when the panels exist and the first model is drawn, or it is known why not."""

    ready = Signal()
    closed = Signal()

    def __init__(self, worker: Works, remembered: Settings, choice: Choice, opening: Opening) -> None:
        super().__init__()
        self.setObjectName("window")
        self.setWindowTitle("GPT Viz")
        self.setAcceptDrops(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setWindowIcon(icons.icon("window", KINDS["output head"]))
        self.worker = worker
        self.faults = Faults(self)
        self.panels: dict[str, Panel] = {}
        self.help: Help | None = None
        self.palette_: Palette | None = None
        self.text_card: TextCard | None = None
        self.selection, self.study, self.subject = SelectionModel(self), Study(self), Subject(self)
        self._jobs = count(1)
        self._remembered, self._opening = remembered, opening
        self._begun = self._is_ready = self._settled = self._closing = False
        self._presenting = False
        self._forgets = not opening.remembers
        self._sampling: int | None = None
        self._put_up()
        self.conductor = Conductor(self.subject, self.study, self.selection, self.new_job, worker.send, parent=self)
        self.bridge = Bridge(worker.mailbox, self.faults.report, self.conductor.accepts, self)
        self._connect()
        self.selection.choose(layer=remembered.layer, head=remembered.head)
        self.builder.begin(choice)
        self.reading.show_model()
        memory.place(self, remembered)
        self.desk.setFocus()
        QTimer.singleShot(PAINT_LIMIT_MS, self, self.begin)

    # -- before the first paint --

    def _put_up(self) -> None:
        self.looks = Looks(self)
        self.topbar = TopBar()
        self.learner = Learner(self.subject, self.new_job, self.worker.send, self)
        self.prompt = self.topbar.prompt
        self.form = ModelForm(self.subject)
        self.builder = Builder(self.subject, self.study, self.form, self.new_job, self.worker.send, self)
        self.switching = Switching(self.topbar.weights, self.learner, self.subject, self.builder, self)
        self.checkpoints = Checkpoints(self, self.builder, self.new_job, self.worker.send)
        self.texts = Texts(self.subject, self.study, self.builder, self.new_job, self.worker.send, self)
        self.reopening = Reopening(
            self._opening.again, self.builder, self.study, self.texts.propose, self.texts.open, self.new_job,
            self.worker.send, self,
        )  # fmt: skip
        self.keeping = Keeping(
            self.learner, self.subject, self.new_job, self.worker.send, self.texts.propose,
            self.builder.open_checkpoint, parent=self,
        )  # fmt: skip
        followed = (self.builder, self.checkpoints, self.texts, self.reopening, self.keeping)
        self.messages = Messages(lambda event: any(each.owns(event) for each in followed), self)
        self.reading = Reading(self.topbar, self.subject, self.study, self.selection, self)
        self.desk = Desk(self.form)
        self.desk.wait("Loading torch …")
        centre = named(QWidget(), "centre", "")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.topbar)
        column.addWidget(self.messages.place)
        column.addWidget(self.texts.offer)
        column.addWidget(self.desk.stack, 1)
        self.setCentralWidget(centre)
        self.setStatusBar(self.messages.status)
        self.actions_ = Actions(self)
        add_commands(self)
        self.topbar.menu.setMenu(menu(self))
        self.topbar.act(self.actions_["sample"], self.actions_["present"], self.actions_["text"])
        self.looks.apply()

    def _connect(self) -> None:
        builder, messages, texts = self.builder, self.messages, self.texts
        for speaker in (builder, self.checkpoints, texts, self.reopening, self.keeping):
            speaker.said.connect(messages.tell)
        builder.ended.connect(messages.tell_of_build)
        builder.working.connect(messages.status.work)
        builder.advanced.connect(messages.status.advance)
        builder.settled.connect(self._model_is_settled)
        self.conductor.settled.connect(self._all_is_settled)
        messages.stopped.connect(self._all_is_settled)
        messages.status.cancelled.connect(builder.cancel)
        texts.working.connect(lambda what: messages.status.work(what, "text"))
        texts.advanced.connect(messages.status.advance)
        messages.status.cancelled.connect(texts.cancel)
        builder.text_wanted.connect(texts.open)
        texts.offer.asked.connect(messages.strip.dismiss)
        self.study.corpus_changed.connect(self._name_text)
        self.study.changed.connect(lambda: messages.look_at(self.study.prompt))
        self._name_text()
        self.bridge.listen(self.learner.handle)  # first: it forgets the old model before others hear of the new one
        for listener in (builder.handle, texts.handle, self.reopening.handle, self.conductor.handle):
            self.bridge.listen(listener)
        for listener in (self.reading.handle, messages.handle, self._handle):
            self.bridge.listen(listener)
        self.bridge.listen(self.checkpoints.handle)  # after the messages, which ask whose a failure is
        self.bridge.listen(self.keeping.handle)
        self.bridge.painted.connect(self._painted)
        self.bridge.painted.connect(self.conductor.consider)  # what has come into sight may need more than was asked
        self.reading.titled.connect(self.setWindowTitle)
        self.reading.refused.connect(messages.refuse)
        self.faults.met.connect(messages.show_fault)
        self.topbar.preset_chosen.connect(builder.choose_preset)
        self.desk.pressed.connect(self.actions_.press)

    # -- after it --

    def begin(self) -> None:
        """Load what the first paint could do without: the panels, and on the worker's thread torch."""
        if self._begun or self._closing:
            return
        self._begun = True
        from gpt_viz.ui.help import Help
        from gpt_viz.ui.palette import Palette

        self.help, self.palette_ = Help(self), Palette(self)
        found = find_panels(self.faults.report)
        self.worker.start()
        self.bridge.start()
        context = Context(
            self.selection, self.study, self.subject, self.new_job, self.send, self.messages.notify, self.learner,
            lambda name: self.actions_[name].trigger(),
        )  # fmt: skip
        for kind in found:
            try:
                self._add(kind(context))
            except Exception as error:
                self.faults.report(error)
        self.desk.arrange()
        memory.put_back_layout(self.desk, self._remembered)
        self.help.prepare({name: panel.title for name, panel in self.panels.items()}, self.actions_)
        if self._opening.panel in self.panels:
            self.desk.fill(self._opening.panel)
        elif self._opening.panel:
            self.messages.tell(f"There is no panel {self._opening.panel}; there are {', '.join(self.panels)}.", True)
        if self._opening.present:
            self.present(True)

    def _add(self, panel: Panel) -> None:
        from gpt_viz.ui.help import page
        from gpt_viz.ui.panel_menu import PanelMenu

        name = panel.name
        self.panels[name] = panel
        fill = self.actions_.add_panel(name, panel.title, lambda: self.desk.toggle(name))
        panel.header.add_menu(
            PanelMenu(
                panel,
                fill=fill.trigger,
                close=lambda: self.desk.close_panel(name),
                help=(lambda: self.open_help(name)) if page(name) else None,
                tell=self.messages.tell,
            )
        )
        self.desk.add(panel)
        self.bridge.add(panel)
        self.conductor.add(panel)
        for view in panel.findChildren(QAbstractItemView):
            self.actions_.watch(view)
        memory.put_back_controls(panel, self._remembered)

    # -- what happens --

    def new_job(self) -> int:
        """A number for a command."""
        return next(self._jobs)

    def send(self, command: Command) -> None:
        """Pass a panel's command on, and see whether it is one that samples the text under study on and on."""
        if isinstance(command, Sample) and command.tokens != 1 and not command.asker:
            self._sampling = command.job
            self.topbar.show_sampling(True)
        self.worker.send(command)

    def _handle(self, event: Event) -> None:
        if isinstance(event, (Finished, Cancelled, Failed)) and event.job == self._sampling:
            self._sampling = None
            self.topbar.show_sampling(False)

    def _model_is_settled(self) -> None:
        if not self.conductor.busy:
            self._all_is_settled()

    def _name_text(self) -> None:
        self.topbar.show_corpus(self.study.corpus.name, words.about(self.study.corpus))

    def _all_is_settled(self) -> None:
        self._settled = True
        for panel in self.panels.values():
            panel.mark()  # so that a frame comes for certain, and `ready` with it
        if not self.isVisible():
            self._painted()

    def _painted(self) -> None:
        waiting = any(panel.dirty and panel.in_sight() for panel in self.panels.values())
        if self._settled and not self._is_ready and not waiting:
            self._is_ready = True
            self.ready.emit()

    # -- what is asked of it --

    def call(self, panel: str, method: str) -> None:
        """Have a panel do something, if it is there and can."""
        act = getattr(self.panels.get(panel), method, None)
        if act is not None:
            act()

    @property
    def sampling(self) -> bool:
        """Whether text is being sampled on and on."""
        return self._sampling is not None

    def sample(self) -> None:
        """Sample on from the text, or stop."""
        self.call("sampling", "run" if self._sampling is None else "stop")

    def present(self, on: bool) -> None:
        """Panels and text only, in larger letters; or as before."""
        self._presenting = on
        self.desk.setFocus()
        self.actions_["present"].setChecked(on)
        self.topbar.present.setChecked(on)
        self.topbar.quiet(on)
        self.messages.status.setVisible(not on)
        self.desk.present(on)
        self.looks.present(on)

    def leave(self) -> None:
        """One step back: from a panel that fills the window, from a presentation, from a message."""
        if self.desk.full:
            self.desk.fill("")
        elif self._presenting:
            self.present(False)
        elif not self.texts.offer.isHidden():
            self.texts.offer.dismiss()
        else:
            self.messages.strip.dismiss()

    def forget_settings(self) -> None:
        """Begin with the defaults at the next start."""
        settings.reset()
        self._forgets = True
        self.desk.arrange()
        self.looks.use("system", Settings().points)
        self.messages.tell("Settings are reset: the next start begins with the built-in model and text.")

    def show_all_commands(self) -> None:
        """The list of all commands."""
        if self.palette_ is not None:
            self.palette_.ask([action for action in self.actions_ if action.objectName() != "action.palette"])

    def show_text(self) -> None:
        """What there is to know of the text under study, under its button."""
        if self.text_card is None:
            from gpt_viz.ui.text_card import TextCard

            self.text_card = TextCard(self)
            self.text_card.read_as.connect(self.texts.read_as)
            self.text_card.asked.connect(lambda what: self.actions_[what].trigger())
        self.text_card.show_text(self.study.corpus, self.subject.built)
        self.text_card.pop_up(self.topbar.corpus)

    def show_help(self) -> None:
        """The page of the panel that fills the window or has the focus, else the first one."""
        focus = QApplication.focusWidget()
        name = next((name for name, panel in self.panels.items() if focus and panel.isAncestorOf(focus)), "")
        self.open_help(self.desk.full or name)

    def open_help(self, name: str) -> None:
        """The help's page on that panel."""
        if self.help is not None:
            self.help.open(name)

    # -- Qt's events --

    def paintEvent(self, event: QPaintEvent) -> None:
        """After the first one the rest is loaded."""
        super().paintEvent(event)
        if not self._begun:
            QTimer.singleShot(0, self, self.begin)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A key that nothing else had a use for."""
        if not self.actions_.press(event):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A file can be dropped anywhere."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file that was dropped."""
        path = next((url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()), "")
        if path:
            event.acceptProposedAction()
            (self.builder.open_checkpoint if is_checkpoint(path) else self.texts.open)(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember, and end what is under way; nobody is asked, nothing is waited for."""
        if not self._forgets and not self._closing:
            settings.save(memory.gathered(self, self._remembered))
        self._closing = True
        self.bridge.stop()
        if self.help is not None:
            self.help.close()
        self.worker.stop(0)
        super().closeEvent(event)
        self.closed.emit()
