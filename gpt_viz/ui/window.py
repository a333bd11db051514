"""The window: puts form, text, panels and messages together. Knows no panel by name and no engine.

It is up before numpy, pyqtgraph, the panels and torch are loaded: they come after the first paint.
"""

from __future__ import annotations

import base64
import logging
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

from PySide6.QtCore import QByteArray, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QMainWindow, QVBoxLayout, QWidget

from gpt_viz import ledger, settings
from gpt_viz.config import preset_of
from gpt_viz.protocol import (
    Built,
    Cancel,
    Cancelled,
    Command,
    Drawn,
    EngineReady,
    Event,
    Failed,
    Finished,
    ModelInfo,
    Sample,
    TextRefused,
    Traced,
)
from gpt_viz.settings import Settings
from gpt_viz.ui import controls, icons, sheet, theme
from gpt_viz.ui.actions import Actions
from gpt_viz.ui.bridge import Bridge, Mail
from gpt_viz.ui.builder import Builder, Choice
from gpt_viz.ui.commands import add_commands, menu
from gpt_viz.ui.conductor import Conductor
from gpt_viz.ui.desk import Desk, Scroller
from gpt_viz.ui.faults import Fault, Faults
from gpt_viz.ui.help import Help, page
from gpt_viz.ui.model_form import ModelForm
from gpt_viz.ui.palette import Palette
from gpt_viz.ui.panel import Context, Panel, find_panels
from gpt_viz.ui.panel_menu import PanelMenu
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.statusbar import StatusBar
from gpt_viz.ui.strip import Strip
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.topbar import TopBar, character_position
from gpt_viz.ui.widgets.manners import named

DEFAULT_SIZE = (1600, 1000)
PAINT_LIMIT_MS = 300  # a window that is not painted by then, since it is not shown, goes on all the same
PRESENT_SCALE = 1.4

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """What the window begins with, beside the model: a panel that fills it, presentation, and whether it remembers."""

    panel: str = ""
    present: bool = False
    remembers: bool = True


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
        self.worker = worker
        self.faults = Faults(self)
        self.panels: dict[str, Panel] = {}
        self.selection, self.study, self.subject = SelectionModel(self), Study(self), Subject(self)
        self._jobs = count(1)
        self._remembered, self._opening = remembered, opening
        self._begun = self._is_ready = self._settled = self._closing = False
        self._presenting = False
        self._forgets = not opening.remembers
        self._sampling: int | None = None
        self._points = theme.theme.points
        self._put_up()
        self.builder = Builder(self.subject, self.study, self.form, self.new_job, worker.send, self)
        self.conductor = Conductor(self.subject, self.study, self.selection, self.new_job, worker.send, parent=self)
        self.bridge = Bridge(worker.mailbox, self.faults.report, self.conductor.accepts, self)
        self._connect()
        self.selection.choose(layer=remembered.layer, head=remembered.head)
        self.builder.begin(choice)
        self._place(remembered)
        QTimer.singleShot(PAINT_LIMIT_MS, self, self.begin)

    # -- before the first paint --

    def _put_up(self) -> None:
        self.topbar, self.strip, self.status = TopBar(), Strip(), StatusBar()
        self.prompt = self.topbar.prompt
        self.form = ModelForm(self.subject)
        self.desk = Desk(self.form)
        self._waiting = QLabel("Loading torch …", alignment=Qt.AlignmentFlag.AlignCenter)
        self._waiting.setObjectName("waiting")
        self.desk.setCentralWidget(self._waiting)
        centre = named(QWidget(), "centre", "")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        margins = QWidget()
        inset = QVBoxLayout(margins)
        inset.setContentsMargins(8, 8, 8, 0)
        inset.addWidget(self.strip)
        self._strip_margins = margins
        margins.hide()
        column.addWidget(self.topbar)
        column.addWidget(margins)
        column.addWidget(Scroller(self.desk), 1)
        self.setCentralWidget(centre)
        self.setStatusBar(self.status)
        self.actions_ = Actions(self)
        self._palette = Palette(self)
        self.help = Help(self)
        add_commands(self)
        self.topbar.menu.setMenu(menu(self))
        self.topbar.act(self.actions_["sample"], self.actions_["present"])
        self.status.say("Loading torch …")
        self._restyle()

    def _connect(self) -> None:
        builder = self.builder
        builder.said.connect(self.tell)
        builder.working.connect(self.status.work)
        builder.advanced.connect(self.status.advance)
        builder.settled.connect(self._model_is_settled)
        self.status.cancelled.connect(builder.cancel)
        self.conductor.settled.connect(self._all_is_settled)
        for listener in (builder.handle, self.conductor.handle, self._handle):
            self.bridge.listen(listener)
        self.bridge.painted.connect(self._painted)
        self.prompt.edited.connect(self.study.set_prompt)
        self.prompt.clicked.connect(self._choose_position)
        self.study.changed.connect(self._show_prompt)
        self.study.read.connect(self._show_reading)
        self.selection.changed.connect(self._mark_prompt)
        self.subject.changed.connect(self._show_model)
        self.strip.closed.connect(self._strip_is_closed)
        self.faults.met.connect(self._show_fault)
        self.topbar.preset_chosen.connect(builder.choose_preset)
        self.desk.pressed.connect(self.actions_.press)
        theme.theme.changed.connect(self._restyle)
        QApplication.styleHints().colorSchemeChanged.connect(self._follow_desktop)

    def _place(self, remembered: Settings) -> None:
        available = QGuiApplication.primaryScreen().availableGeometry()
        width, height = min(DEFAULT_SIZE[0], available.width()), min(DEFAULT_SIZE[1], available.height())
        self.resize(width, height)
        # Qt itself pulls a geometry back that lies outside of every screen, and refuses one that it did not write.
        if remembered.geometry and not self.restoreGeometry(QByteArray(base64.b64decode(remembered.geometry))):
            log.warning("settings: geometry will not do; its default is used")

    # -- after it --

    def begin(self) -> None:
        """Load what the first paint could do without: the panels, and on the worker's thread torch."""
        if self._begun:
            return
        self._begun = True
        found = find_panels()
        self.worker.start()
        self.bridge.start()
        context = Context(self.selection, self.study, self.subject, self.new_job, self.send, self.tell)
        for kind in found:
            try:
                self._add(kind(context))
            except Exception as error:
                self.faults.report(error)
        self.desk.takeCentralWidget()
        self._waiting.deleteLater()
        self.desk.arrange()
        if not self.desk.restore_layout(base64.b64decode(self._remembered.layout)) and self._remembered.layout:
            log.warning("settings: layout will not do; its default is used")
        self.help.prepare({name: panel.title for name, panel in self.panels.items()}, self.actions_)
        if self._opening.panel in self.panels:
            self.desk.fill(self._opening.panel)
        elif self._opening.panel:
            self.tell(f"There is no panel {self._opening.panel}; there are {', '.join(self.panels)}.", True)
        if self._opening.present:
            self.present(True)

    def _add(self, panel: Panel) -> None:
        name = panel.name
        self.panels[name] = panel
        fill = self.actions_.add_panel(
            name, panel.title, lambda: self.desk.fill("" if self.desk.full == name else name)
        )
        panel.header.add_menu(
            PanelMenu(
                panel,
                fill=fill.trigger,
                close=lambda: self.desk.close_panel(name),
                help=(lambda: self.help.open(name)) if page(name) else None,
                tell=self.tell,
            )
        )
        self.desk.add(panel)
        self.bridge.add(panel)
        self.conductor.add(panel)
        for view in panel.findChildren(QAbstractItemView):
            self.actions_.watch(view)
        for refused in controls.write(panel, f"{name}.", self._remembered.controls):
            log.warning("settings: %s; its default is used", refused)

    # -- what happens --

    def new_job(self) -> int:
        """A number for a command."""
        return next(self._jobs)

    def send(self, command: Command) -> None:
        """Pass a panel's command on, and see whether it is one that samples on and on."""
        if isinstance(command, Sample) and command.tokens != 1:
            self._sampling = command.job
            self.topbar.show_sampling(True)
        self.worker.send(command)

    def tell(self, sentence: str, mistake: bool = False, details: str = "", count: int = 1) -> None:
        """Show one sentence in the strip, and a mistake in the status line too."""
        self._strip_margins.show()
        self.strip.say(sentence, mistake=mistake, details=details, count=count)
        self.status.say(sentence if mistake else "")

    def _show_fault(self, fault: Fault) -> None:
        self.tell(f"Something went wrong in the program: {fault.message}", True, fault.details, fault.count)

    def _strip_is_closed(self) -> None:
        self._strip_margins.hide()
        self.status.say("")

    def _handle(self, event: Event) -> None:
        if isinstance(event, EngineReady):
            self.status.say("")
            self.status.fact("torch", f"torch {event.torch_version}")
        elif isinstance(event, Built):
            self.strip.dismiss()
            self.status.fact("torch", "")
            self.status.fact("built", f"built in {event.model.elapsed_s:.2f} s on {event.model.device}")
        elif isinstance(event, Traced):
            self.topbar.show_loss(event.loss, event.tokens)
            self.status.fact("forward", f"forward {event.elapsed_s * 1000:.1f} ms")
        elif isinstance(event, Drawn):
            self.status.fact("rate", f"sampling {event.tokens_per_second:,.0f} tokens/s")
        elif isinstance(event, Failed):
            self._failed(event)
        if isinstance(event, (Finished, Cancelled, Failed)) and event.job == self._sampling:
            self._sampling = None
            self.topbar.show_sampling(False)

    def _failed(self, event: Failed) -> None:
        if not event.expected:
            log.error("%s\n%s", event.message, event.details)
        if event.job == 0:
            self.tell(f"The engine did not start: {event.message}", True, event.details)
            self._all_is_settled()
        elif not self.builder.owns(event):
            self.tell(event.message, True, "" if event.expected else event.details)

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
        if self._settled and not self._is_ready:
            self._is_ready = True
            self.ready.emit()

    # -- what is shown --

    def _show_model(self) -> None:
        config, built = self.subject.config, self.subject.built
        if config is None:
            return
        preset = preset_of(config)
        title = preset.title if preset else "own sizes"
        self.topbar.show_preset(preset.name if preset else "", title)
        state = "not built" if built is None or self.subject.what_if else built.device
        self.setWindowTitle(f"GPT Viz — {title} · {ledger.total(config):,} parameters · {state}")

    def _show_prompt(self) -> None:
        self.prompt.setText(self.study.prompt)

    def _show_reading(self) -> None:
        refused, built = self.study.refused, self.subject.built
        message = "" if refused is None or built is None else refusal(refused, built)
        positions = () if refused is None else tuple(position for position, _ in refused.unknown)
        self.prompt.show_refusal(positions, message)
        self.status.say(message or (self.strip.text() if self.strip.property("mistake") else ""))
        if refused is not None:
            self.topbar.show_loss(None, None)
        self._mark_prompt()

    def _mark_prompt(self) -> None:
        tokens, built, value = self.study.tokens, self.subject.built, self.selection.value
        if tokens is None or built is None:
            return
        places = [
            character_position(
                self.study.prompt, None if at is None else at + tokens.dropped, characters=built.alphabet is not None
            )
            for at in (value.query, value.key)
        ]
        self.prompt.mark(*places)

    def _choose_position(self, position: int) -> None:
        tokens, built = self.study.tokens, self.subject.built
        if tokens is not None and built is not None:
            token = position if built.alphabet is not None else len(self.study.prompt[: position + 1].split()) - 1
            if 0 <= token - tokens.dropped < len(tokens.ids):
                self.selection.choose(query=token - tokens.dropped)

    # -- what is asked of it --

    def call(self, panel: str, method: str) -> None:
        """Have a panel do something, if it is there and can."""
        act = getattr(self.panels.get(panel), method, None)
        if act is not None:
            act()

    def sample(self) -> None:
        """Sample on from the text, or stop."""
        if self._sampling is not None:
            self.worker.send(Cancel(job=self.new_job(), target=self._sampling))
        else:
            self.call("sampling", "run")

    def use_theme(self, name: str, points: float | None = None) -> None:
        """Another theme, or another size of the letters."""
        low, high = settings.POINTS
        self._points = min(max(points or self._points, low), high)
        theme.theme.use(name, self._points * (PRESENT_SCALE if self._presenting else 1.0))
        self.actions_[f"theme.{name}"].setChecked(True)

    def scale_letters(self, steps: int) -> None:
        """Larger or smaller letters, by points."""
        self.use_theme(theme.theme.wanted, self._points + steps)

    def present(self, on: bool) -> None:
        """Panels and text only, in larger letters; or as before."""
        self._presenting = on
        self.actions_["present"].setChecked(on)
        self.topbar.present.setChecked(on)
        self.topbar.quiet(on)
        self.status.setVisible(not on)
        self.desk.present(on)
        self.use_theme(theme.theme.wanted)

    def leave(self) -> None:
        """One step back: from a panel that fills the window, from a presentation, from a message."""
        if self.desk.full:
            self.desk.fill("")
        elif self._presenting:
            self.present(False)
        else:
            self.strip.dismiss()

    def forget_settings(self) -> None:
        """Begin with the defaults at the next start."""
        settings.reset()
        self._forgets = True
        self.desk.arrange()
        self.use_theme("system", Settings().points)
        self.tell("Settings are reset: the next start begins with the built-in model and text.")

    def show_all_commands(self) -> None:
        """The list of all commands."""
        self._palette.ask([action for action in self.actions_ if action.objectName() != "action.palette"])

    def show_help(self) -> None:
        """The page of the panel that fills the window or has the focus, else the first one."""
        focus = QApplication.focusWidget()
        name = next((name for name, panel in self.panels.items() if focus and panel.isAncestorOf(focus)), "")
        self.help.open(self.desk.full or name)

    def _follow_desktop(self) -> None:
        self.use_theme(theme.theme.wanted)

    def _restyle(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication):
            sheet.apply(application)
        self.setWindowIcon(icons.icon("window", theme.tokens().accent_text))

    def remembered(self) -> Settings:
        """What is to be there at the next start."""
        values: dict[str, controls.Value] = {}
        for name, panel in self.panels.items():
            values |= controls.read(panel, f"{name}.")
        kept = replace(
            self._remembered,
            theme=theme.theme.wanted,
            points=self._points,
            geometry=base64.b64encode(self.saveGeometry().data()).decode("ascii"),
            controls=values if self.panels else self._remembered.controls,
            layer=self.selection.value.layer,
            head=self.selection.value.head,
            prompt=self.study.prompt if len(self.study.prompt) <= settings.LONGEST_TEXT else None,
        )
        if self.panels:
            kept = replace(kept, layout=base64.b64encode(self.desk.layout_state()).decode("ascii"))
        built = self.subject.built
        if built is None:
            return kept
        return replace(kept, config=built.config, alphabet=built.alphabet, seed=built.seed, device=built.device)

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
            self.builder.open_text(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember, and end what is under way; nobody is asked, nothing is waited for."""
        if not self._forgets and not self._closing:
            settings.save(self.remembered())
        self._closing = True
        self.bridge.stop()
        self.help.close()
        self.worker.stop(0)
        super().closeEvent(event)
        self.closed.emit()


def refusal(refused: TextRefused, model: ModelInfo) -> str:
    """Why the model can't read the text, in one sentence."""
    if not refused.unknown:
        return "The text is empty: type something."
    position, character = refused.unknown[0]
    more = f" and {len(refused.unknown) - 1} more" if len(refused.unknown) > 1 else ""
    if model.alphabet is None:
        return (
            f"{character!r}{more} is no id: write whole numbers below {model.config.vocabulary:,}, separated by spaces."
        )
    return (
        f"The model does not know {character!r} (position {position}){more}; it reads {len(model.alphabet)} characters."
    )
