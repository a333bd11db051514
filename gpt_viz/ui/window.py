"""The window: puts form, text, panels and messages together. Knows no panel by name and no engine.

It is painted before numpy, the panels, torch and what answers the user are loaded: they come after the first paint.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gpt_viz import settings
from gpt_viz.settings import Settings
from gpt_viz.ui import icons, memory
from gpt_viz.ui.desk import Desk
from gpt_viz.ui.faults import Faults
from gpt_viz.ui.looks import Looks
from gpt_viz.ui.opening import Opening, is_checkpoint
from gpt_viz.ui.statusbar import StatusBar
from gpt_viz.ui.theme import KINDS
from gpt_viz.ui.topbar import TopBar
from gpt_viz.ui.widgets.manners import named

if TYPE_CHECKING:
    from gpt_viz.protocol import Command
    from gpt_viz.ui.actions import Actions
    from gpt_viz.ui.asking.conductor import Conductor
    from gpt_viz.ui.bridge import Bridge, Mail
    from gpt_viz.ui.closing import Closing
    from gpt_viz.ui.help import Help
    from gpt_viz.ui.messages import Messages
    from gpt_viz.ui.model.builder import Builder
    from gpt_viz.ui.model.checkpoints import Checkpoints
    from gpt_viz.ui.model.model_form import ModelForm
    from gpt_viz.ui.model.switching import Switching
    from gpt_viz.ui.palette import Palette
    from gpt_viz.ui.panel import Panel
    from gpt_viz.ui.sampling.running import Running
    from gpt_viz.ui.selection import SelectionModel
    from gpt_viz.ui.study import Study
    from gpt_viz.ui.subject import Subject
    from gpt_viz.ui.text.reading import Reading
    from gpt_viz.ui.text.reopening import Reopening
    from gpt_viz.ui.text.text_card import TextCard
    from gpt_viz.ui.text.texts import Texts
    from gpt_viz.ui.training.keeping import Keeping
    from gpt_viz.ui.training.learner import Learner

LOADING = "Loading torch …"
PAINT_LIMIT_MS = 300  # a window that is not painted by then, since it is not shown, goes on all the same


# What takes letters for itself while it has the focus.
FIELDS = (QLineEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox)


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
    """The program's window. `ready` when the panels exist and the first model is drawn, or it is known why not.

    Made in two parts: what is painted first, and by `put_up` all that answers.
    """

    ready = Signal()
    closed = Signal()

    # what `put_up` puts up
    actions_: Actions
    bridge: Bridge
    builder: Builder
    checkpoints: Checkpoints
    closing: Closing
    conductor: Conductor
    form: ModelForm
    keeping: Keeping
    learner: Learner
    messages: Messages
    reading: Reading
    reopening: Reopening
    running: Running
    selection: SelectionModel
    study: Study
    subject: Subject
    switching: Switching
    texts: Texts

    def __init__(self, worker: Works, remembered: Settings, opening: Opening) -> None:
        super().__init__()
        self.setObjectName("window")
        self.setWindowTitle("GPT Viz")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setWindowIcon(icons.icon("window", KINDS["output head"]))
        self.worker = worker
        self.faults = Faults(self)
        self.panels: dict[str, Panel] = {}
        self.help: Help | None = None
        self.palette_: Palette | None = None
        self.text_card: TextCard | None = None
        self._jobs = count(1)
        self._remembered, self._opening = remembered, opening
        self._is_up = self._begun = self._is_ready = self._settled = self._closing = False
        self._presenting = False
        self._forgets = not opening.remembers
        self.looks = Looks(self)
        self.topbar, self.desk, self.status = TopBar(), Desk(), StatusBar()
        self.prompt = self.topbar.prompt
        self.desk.wait(LOADING)
        self.status.say(LOADING)
        centre = named(QWidget(), "centre", "")
        self.column = QVBoxLayout(centre)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.column.addWidget(self.topbar)
        self.column.addWidget(self.desk.stack, 1)
        self.setCentralWidget(centre)
        self.setStatusBar(self.status)
        self.looks.apply()
        memory.place(self, remembered)
        self.desk.setFocus()
        # From within the event loop, so that the time on the way there does not count.
        QTimer.singleShot(0, self, lambda: QTimer.singleShot(PAINT_LIMIT_MS, self, self.begin))

    # -- after the first paint --

    def put_up(self) -> None:
        """Put up all that answers: form, text, messages and commands. The first call does it."""
        if self._is_up:
            return
        self._is_up = True
        from gpt_viz.ui import interior

        interior.put_up(self, self._opening)
        self._connect()
        self.selection.choose(layer=self._remembered.layer, head=self._remembered.head)
        self.builder.begin(self._opening.choice)
        self.reading.show_model()
        self.setAcceptDrops(True)

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
        self.study.changed.connect(lambda: messages.look_at(self.study.prompt))
        self.bridge.listen(self.learner.handle)  # first: it forgets the old model before others hear of the new one
        for listener in (builder.handle, texts.handle, self.reopening.handle, self.conductor.handle):
            self.bridge.listen(listener)
        for listener in (self.reading.handle, messages.handle, self.running.handle):
            self.bridge.listen(listener)
        self.bridge.listen(self.checkpoints.handle)  # after the messages, which ask whose a failure is
        self.bridge.listen(self.keeping.handle)
        self.bridge.painted.connect(self._painted)
        self.bridge.painted.connect(self.conductor.consider)  # what has come into sight may need more than was asked
        self.running.changed.connect(self.topbar.show_sampling)
        self.learner.changed.connect(self._tell_of_training)
        self.reading.titled.connect(self.setWindowTitle)
        self.reading.refused.connect(messages.refuse)
        self.faults.met.connect(messages.show_fault)
        self.topbar.preset_chosen.connect(builder.choose_preset)
        self.desk.pressed.connect(self.actions_.press)

    def begin(self) -> None:
        """Load what the first paint could do without: what answers, the panels, and on the worker's thread torch."""
        if self._begun or self._closing:
            return
        self._begun = True
        self.put_up()
        from gpt_viz.ui.help import Help
        from gpt_viz.ui.palette import Palette
        from gpt_viz.ui.panel import Context, find_panels

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
        """Pass a panel's command on."""
        self.running.sent(command)
        self.worker.send(command)

    def _tell_of_training(self) -> None:
        """It goes on whether its panel can be seen or not, and so does what is said of it."""
        learner = self.learner
        at = f"training, step {learner.newest:,}" if learner.running else "training rests" if learner.live else ""
        self.status.fact("training", at)

    def _model_is_settled(self) -> None:
        if not self.conductor.busy:
            self._all_is_settled()

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
        return self.running.on

    def sample(self) -> None:
        """Sample on from the text, or stop."""
        self.call("sampling", "stop" if self.sampling else "run")

    def present(self, on: bool) -> None:
        """Panels and text only, in larger letters; or as before."""
        self._presenting = on
        self.desk.setFocus()
        self.actions_["present"].setChecked(on)
        self.topbar.present.setChecked(on)
        self.topbar.quiet(on)
        self.status.setVisible(not on)
        self.desk.present(on)
        self.looks.present(on)

    def leave(self) -> None:
        """One step back: from a field, from a panel that fills the window, from a presentation, from a message."""
        if isinstance(QApplication.focusWidget(), FIELDS):
            self.desk.setFocus()
        elif self.desk.full:
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
            from gpt_viz.ui.text.text_card import TextCard

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
        if not self._is_up or not self.actions_.press(event):
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
        """Remember, and end what is under way. Only files are waited for, and training that is in none asked about."""
        waited_for = self._is_up and not self._closing and self._opening.remembers
        if waited_for and self.closing.waits(keeps=not self._forgets):
            event.ignore()
            return
        if self._is_up and not self._forgets and not self._closing:
            settings.save(memory.gathered(self, self._remembered))
        self._closing = True
        if self._is_up:
            self.bridge.stop()
            self.keeping.place.give_up()
        if self.help is not None:
            self.help.close()
        self.worker.stop(0)
        super().closeEvent(event)
        self.closed.emit()
