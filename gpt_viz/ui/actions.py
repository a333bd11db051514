"""The window's commands: their names, their keys, and what they call. Knows no panel beyond the names of its methods.

A key with Ctrl, and the F keys, act everywhere. A single key acts only where the focused widget has no use of its own
for it: it comes here after every widget has left it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QWidget

_Key = Qt.Key
# What each single key is called where it is shown, and the action it stands for.
SINGLE: dict[Qt.Key, str] = {
    _Key.Key_Space: "play",
    _Key.Key_Left: "previous",
    _Key.Key_Up: "previous",
    _Key.Key_PageUp: "previous",
    _Key.Key_Right: "next",
    _Key.Key_Down: "next",
    _Key.Key_PageDown: "next",
    _Key.Key_Home: "first",
    _Key.Key_End: "last",
    _Key.Key_Period: "step",
    _Key.Key_Backspace: "back",
    _Key.Key_T: "weights",
    _Key.Key_Escape: "leave",
}
PANEL_KEYS = range(_Key.Key_1, _Key.Key_9 + 1)


class Actions(QObject):
    """Every command by name, in the order in which the list of all commands shows them."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        self._panel_keys: dict[int, QAction] = {}

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def __iter__(self) -> Iterator[QAction]:
        return iter(self._actions.values())

    def add(
        self, name: str, title: str, act: Callable[[], object], keys: str = "", *, single: str = "", also: str = ""
    ) -> QAction:
        """A command. `keys` acts everywhere, as does `also`; `single` names keys of SINGLE for those who read it."""
        action = QAction(title, self)
        action.setObjectName(f"action.{name}")
        action.triggered.connect(lambda _=False: act())
        if keys:
            action.setShortcuts([QKeySequence(each) for each in (keys, also) if each])
            action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
            self._window.addAction(action)
        action.setProperty("keys", single)
        action.setToolTip(f"{title} ({keys or single})" if keys or single else title)
        self._actions[name] = action
        return action

    def add_panel(self, name: str, title: str, act: Callable[[], object]) -> QAction:
        """The command that lets a panel fill the window, on the next digit."""
        digit = len(self._panel_keys) + 1
        action = self.add(f"panel.{name}", f"{title} large", act, single=str(digit) if digit <= 9 else "")
        if digit <= 9:
            self._panel_keys[_Key.Key_0 + digit] = action
        return action

    def press(self, event: QKeyEvent) -> bool:
        """Do what a single key stands for; whether it stood for anything."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held != Qt.KeyboardModifier.NoModifier:
            return False
        action = self._panel_keys.get(event.key())
        if action is None and event.key() in SINGLE:
            action = self._actions.get(SINGLE[_Key(event.key())])
        if action is None or not action.isEnabled():
            return False
        action.trigger()
        return True

    def watch(self, view: QAbstractItemView) -> None:
        """A table would search for a digit or a dot; take those keys first."""
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take from a table the keys that it would only search with."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if not isinstance(watched, QAbstractItemView) or watched.state() == QAbstractItemView.State.EditingState:
            return False
        taken = event.key() in PANEL_KEYS or event.key() in (_Key.Key_Period, _Key.Key_Backspace, _Key.Key_Space)
        return taken and self.press(event)
