"""What can be done in the window, as commands and as its menu. Knows no panel beyond the names of its methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction, QActionGroup, QHelpEvent
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QMenu, QToolTip

from gpt_viz.settings import THEMES, Settings
from gpt_viz.shelf import TINY_SHAKESPEARE

if TYPE_CHECKING:
    from gpt_viz.ui.window import MainWindow

THEME_TITLES = {"system": "As the desktop", "light": "Light", "dark": "Dark", "contrast": "High contrast"}

REPORT = "Report of the opened checkpoint …"
NO_REPORT = "There is a report once a checkpoint is opened; the model under study is from none"


def add_commands(window: MainWindow) -> None:
    """Give the window every command that does not depend on which panels there are."""
    add, looks = window.actions_.add, window.looks
    add("build", "Build the model", lambda: _click(window, "model.build"), "Ctrl+B")
    add("sample", "Sample, or stop", window.sample, "Ctrl+Return", also="Ctrl+Enter")
    add("step", "Sample one token", lambda: window.call("sampling", "step"), single=".")
    add("back", "Take one sampled token back", lambda: window.call("sampling", "back"), single="Backspace")
    add("train", "Train, or pause", lambda: window.call("training", "toggle"), "Ctrl+T")
    add("weights", "Untrained or trained weights", window.switching.toggle, "Ctrl+U", single="T")
    add("play", "Play the steps, or pause", lambda: window.call("shapes", "toggle_play"), single="Space")
    add("previous", "Previous step", lambda: window.call("shapes", "previous_step"), single="Page Up, ←")
    add("next", "Next step", lambda: window.call("shapes", "next_step"), single="Page Down, →")
    add("first", "First step", lambda: window.call("shapes", "first_step"), single="Home")
    add("last", "Last step", lambda: window.call("shapes", "last_step"), single="End")
    add("open", "Open a text …", lambda: _open(window), "Ctrl+O")
    add("fetch", f"Get {TINY_SHAKESPEARE.title}", window.texts.fetch)
    add("built-in", "Use the built-in passage", window.texts.use_built_in)
    add("text", "The text and its alphabet …", window.show_text, "Ctrl+I")
    add("text.build", "Build a model for the text", window.texts.build_for_corpus)
    add("checkpoint.open", "Open a checkpoint …", window.checkpoints.choose, "Ctrl+Shift+O")
    add("checkpoint.save", "Save a checkpoint …", window.checkpoints.save_as, "Ctrl+S")
    _offer_report(window, add("checkpoint.report", REPORT, window.checkpoints.show_report))
    add("training.kept", "Open the training that was put aside", window.keeping.open_before)
    present = add("present", "Present: panels and text, larger", lambda: window.present(present.isChecked()), "F5")
    present.setCheckable(True)
    add("leave", "Back from a large panel or a presentation", window.leave, single="Esc")
    add("arrange", "Default layout", window.desk.arrange)
    group = QActionGroup(window)
    for name in THEMES:
        each = add(f"theme.{name}", f"Theme: {THEME_TITLES[name].lower()}", partial(looks.use, name))
        each.setCheckable(True)
        group.addAction(each)
    window.actions_[f"theme.{looks.wanted}"].setChecked(True)
    looks.chosen.connect(lambda name: window.actions_[f"theme.{name}"].setChecked(True))
    add("larger", "Larger letters", lambda: looks.resize(1), "Ctrl++", also="Ctrl+=")
    add("smaller", "Smaller letters", lambda: looks.resize(-1), "Ctrl+-")
    add("normal", "Letters as before", lambda: looks.use(looks.wanted, Settings().points), "Ctrl+0")
    add("palette", "All commands …", window.show_all_commands, "Ctrl+Shift+P")
    add("help", "Help", window.show_help, "F1")
    add("reset", "Reset settings", window.forget_settings)
    add("quit", "Quit", window.close, "Ctrl+Q")


def menu(window: MainWindow) -> QMenu:
    """The window's menu. The panels in it are looked up when it opens."""
    actions = window.actions_
    made = Menu(window)
    for name in ("open", "fetch", "text"):
        made.addAction(actions[name])
    made.addSeparator()
    for name in ("checkpoint.open", "checkpoint.save", "checkpoint.report", "training.kept"):
        made.addAction(actions[name])
    made.addSeparator()
    panels = made.addMenu("Panels")
    panels.aboutToShow.connect(lambda: _list_panels(window, panels))
    themes = made.addMenu("Theme")
    for name in THEMES:
        themes.addAction(actions[f"theme.{name}"])
    letters = made.addMenu("Letters")
    for name in ("larger", "smaller", "normal"):
        letters.addAction(actions[name])
    made.addAction(actions["present"])
    made.addSeparator()
    for name in ("palette", "help"):
        made.addAction(actions[name])
    made.addSeparator()
    made.addAction(actions["reset"])
    made.addAction(actions["quit"])
    return made


class Menu(QMenu):
    """A menu that says why something in it can't be done."""

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            action = self.actionAt(event.pos())
            QToolTip.showText(event.globalPos(), action.toolTip() if action and not action.isEnabled() else "", self)
            return True
        return super().event(event)


def _offer_report(window: MainWindow, action: QAction) -> None:
    """Only while the model under study is from a checkpoint; else with the reason."""

    def offer() -> None:
        built = window.subject.built
        there = built is not None and bool(built.source) and window.checkpoints.has_report
        action.setEnabled(there)
        for say in (action.setToolTip, action.setStatusTip):
            say(REPORT if there else NO_REPORT)

    window.subject.changed.connect(offer)
    window.checkpoints.reported.connect(offer)
    offer()


def _list_panels(window: MainWindow, into: QMenu) -> None:
    into.clear()
    into.addAction(window.desk.form_dock.toggleViewAction())
    for name in window.panels:
        into.addAction(window.desk.dock(name).toggleViewAction())
    into.addSeparator()
    into.addAction(window.actions_["arrange"])


def _click(window: MainWindow, name: str) -> None:
    button = window.form.findChild(QAbstractButton, name)
    if button is not None and button.isEnabled():
        button.click()


def _open(window: MainWindow) -> None:
    path, _ = QFileDialog.getOpenFileName(window, "Open a text", "", "Texts (*.txt *.md);;All files (*)")
    if path:
        window.texts.open(path)
