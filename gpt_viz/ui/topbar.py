"""The window's first row: the name, the model, where the text is from, the text with its loss, what is done most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLayout, QMenu, QPushButton, QToolButton, QWidget

from gpt_viz.config import PRESETS
from gpt_viz.ui import icons
from gpt_viz.ui.model.switching import switch
from gpt_viz.ui.statusbar import READABLE_MS
from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.manners import named, tip
from gpt_viz.ui.widgets.prompt import PromptEdit

if TYPE_CHECKING:
    from gpt_viz.protocol import Tokens

ROOMY = 190  # average letters of the row's width: less leaves no room for the text's name, nor for long words
LEAST = 40  # letters of the row's own width at least
NAME = 18  # letters of that name


class TopBar(QWidget):
    """`preset_chosen` carries a preset's name. The buttons show the actions that they are given."""

    preset_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("topbar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.name = named(QLabel("GPT Viz"), "name", "GPT Viz")
        self.preset = named(QToolButton(), "text.preset", "Choose a model")
        self.preset.setProperty("outlined", "true")
        self.preset.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.preset)
        self._presets = QActionGroup(self)
        for preset in PRESETS.values():
            action = menu.addAction(preset.title)
            action.setCheckable(True)
            action.setData(preset.name)
            self._presets.addAction(action)
        self._presets.triggered.connect(lambda action: self.preset_chosen.emit(action.data()))
        self.preset.setMenu(menu)
        self.weights = switch()
        self.corpus = named(QToolButton(), "text.corpus", "The text and its alphabet")
        self.corpus.setProperty("outlined", "true")
        self.corpus.setIconSize(QSize(icons.SIDE, icons.SIDE))
        self.prompt = PromptEdit()
        self.prompt.setObjectName("text.prompt")
        self.loss = named(QLabel(textFormat=Qt.TextFormat.PlainText), "text.loss", "Loss of this text")
        self.loss.setProperty("muted", "true")
        self.sample = named(QPushButton("Sample"), "text.sample", "Sample")
        self.sample.setProperty("accent", "true")
        self.present = named(QPushButton("Present"), "text.present", "Present")
        self.present.setCheckable(True)
        self.menu = named(QToolButton(), "text.menu", "Menu")
        self.menu.setToolTip("Menu")
        self.menu.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu.setIconSize(QSize(icons.SIDE, icons.SIDE))
        self._row = row = QHBoxLayout(self)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # a narrow row leaves out what it can
        row.setContentsMargins(16, 7, 12, 7)
        row.setSpacing(12)
        self._everything: tuple[QWidget, ...] = (
            self.name, self.preset, self.weights, self.corpus, self.prompt, self.loss, self.sample, self.present,
            self.menu,
        )  # fmt: skip
        for widget in self._everything:
            row.addWidget(widget, 1 if widget is self.prompt else 0)
        self._loss = self._corpus = ""
        self._later = QTimer(self, singleShot=True, interval=READABLE_MS)
        self._later.timeout.connect(self._say_loss)
        self._sampling = self._quiet = False
        theme.changed.connect(self._restyle)
        self._restyle()

    def act(self, sample: QAction, present: QAction, corpus: QAction) -> None:
        """Have the buttons do these, and say their keys."""
        self.corpus.clicked.connect(corpus.trigger)
        for button, action in ((self.sample, sample), (self.present, present)):
            button.clicked.connect(action.trigger)
            button.setToolTip(action.toolTip())
            button.setEnabled(action.isEnabled())
            action.enabledChanged.connect(button.setEnabled)

    def show_preset(self, name: str, title: str) -> None:
        """Which model stands or is examined: a preset's title, or what it is instead."""
        self.preset.setText(title)
        self.preset.setToolTip("")
        for action in self._presets.actions():
            action.setChecked(action.data() == name)

    def show_corpus(self, name: str, about: str) -> None:
        """Which text it is the beginning of: its name where there is room for it, and more as the tool tip."""
        self._corpus = name
        self.corpus.setToolTip(tip(about))
        self.corpus.setAccessibleDescription(about)
        self._fit()

    def show_loss(self, loss: float | None, tokens: Tokens | None) -> None:
        """The loss of the text, in nats per token; None where there is none."""
        self._loss = "" if loss is None else f"{loss:.3f}"
        count = len(tokens.ids) - 1 if tokens else 0
        about = f"Loss of this text: the mean over its own {count:,} next tokens, in nats; not that of the training"
        self.loss.setToolTip(about if self._loss else "")
        if not self._later.isActive():
            self._say_loss()
            self._later.start()

    def _say_loss(self) -> None:
        """Not that of the training, which stands in its own panel: so whose it is is said in any width."""
        words = "loss of this text" if self._wide() else "text loss"
        self.loss.setText(f"{words} {self._loss}" if self._loss else "")

    def show_sampling(self, running: bool) -> None:
        """Whether the button starts or stops."""
        if running != self._sampling:
            self._sampling = running
            self.sample.setText("Stop" if running else "Sample")
            self._restyle()

    def quiet(self, on: bool) -> None:
        """In a presentation only the text and what is done with it stay."""
        self._quiet = on
        self._leave_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        letter = self.fontMetrics().averageCharWidth()
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        style = beside if self._wide() else alone
        self.corpus.setToolButtonStyle(style)
        named = self.corpus.fontMetrics().elidedText(self._corpus, Qt.TextElideMode.ElideMiddle, NAME * letter)
        self.corpus.setText(named.replace("&", "&&"))
        if self.loss.text():
            self._say_loss()
        self._leave_out()

    def _wide(self) -> bool:
        return self.width() > ROOMY * self.fontMetrics().averageCharWidth()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._leave_out()  # something in it has become wider or narrower
        return super().event(event)

    def _leave_out(self) -> None:
        """Where the row is too narrow for all, that goes first which is shown or can be done elsewhere as well."""
        quiet: tuple[QWidget, ...] = (self.name, self.preset, self.corpus, self.menu) if self._quiet else ()
        kept = [each for each in self._everything if each not in quiet]
        spare: tuple[QWidget, ...] = (self.name, self.present, self.loss, self.corpus, self.weights, self.preset)
        for each in spare:
            if each in kept and self._needed(kept) > self.width():
                kept.remove(each)
        for each in self._everything:
            if each.isHidden() == (each in kept):
                each.setVisible(each in kept)

    def _needed(self, kept: list[QWidget]) -> int:
        margins = self._row.contentsMargins()
        gaps = self._row.spacing() * (len(kept) - 1)
        return margins.left() + margins.right() + gaps + sum(each.minimumSizeHint().width() for each in kept)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST * self.fontMetrics().averageCharWidth(), self._row.minimumSize().height())

    def _restyle(self) -> None:
        self.corpus.setIcon(icons.icon("text", tokens().muted))
        self.menu.setIcon(icons.icon("menu", tokens().muted))
        self.sample.setIcon(icons.icon("stop" if self._sampling else "play", tokens().on_accent))
        self.sample.setIconSize(QSize(12, 12))
