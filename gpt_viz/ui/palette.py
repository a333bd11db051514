"""All commands in one list that a few letters narrow down. Knows none of them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gpt_viz.ui.widgets.manners import named

WIDTH, HEIGHT = 460, 420


class Palette(QFrame):
    """Pops up over the window; Return does the chosen command, Esc does none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        named(self, "palette", "All commands")
        self._window = parent
        self.field = named(QLineEdit(), "palette.field", "Search the commands")
        self.field.setPlaceholderText("what do you want to do?")
        self.list = named(QListWidget(), "palette.list", "Commands")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self._actions: list[QAction] = []
        self.field.textChanged.connect(self._narrow)
        self.field.installEventFilter(self)
        self.list.itemClicked.connect(lambda _: self._do())

    def ask(self, actions: Sequence[QAction]) -> None:
        """Show these commands, and do the one that is chosen."""
        self._actions = [action for action in actions if action.isVisible()]
        self.field.clear()
        self._narrow("")
        window, size = self._window, self._window.size()
        self.resize(min(WIDTH, size.width() - 32), min(HEIGHT, size.height() - 64))
        self.move(window.mapToGlobal(QPoint((size.width() - self.width()) // 2, 48)))
        self.show()
        self.field.setFocus()

    def shown(self) -> list[str]:
        """The names of the commands that are listed now."""
        return [self.list.item(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(self.list.count())]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down move in the list while the letters go to the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            move = step.get(Qt.Key(event.key()))
            if move is not None and self.list.count():
                self.list.setCurrentRow(min(max(self.list.currentRow() + move, 0), self.list.count() - 1))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do()
                return True
        return False

    def _narrow(self, typed: str) -> None:
        letters = typed.casefold().split()
        self.list.clear()
        for action in self._actions:
            name = action.text().replace("&", "")
            if not all(part in name.casefold() for part in letters):
                continue
            item = QListWidgetItem()
            item.setData(Qt.ItemDataRole.UserRole, action)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, name)
            if not action.isEnabled():
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            row = _Row(name, keys_of(action), action.isEnabled())
            row.setToolTip("" if action.isEnabled() else action.toolTip())
            item.setSizeHint(row.sizeHint())
            self.list.addItem(item)
            self.list.setItemWidget(item, row)
        self.list.setCurrentRow(0)

    def _do(self) -> None:
        if self.list.currentRow() < 0:
            return
        action: QAction = self.list.currentItem().data(Qt.ItemDataRole.UserRole)
        self.hide()
        action.trigger()


class _Row(QWidget):
    """A command's name, and its keys at the right."""

    def __init__(self, name: str, keys: str, enabled: bool) -> None:
        super().__init__()
        label = QLabel(name, textFormat=Qt.TextFormat.PlainText)
        label.setProperty("muted", not enabled)
        hint = QLabel(keys, textFormat=Qt.TextFormat.PlainText)
        hint.setProperty("muted", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 5, 8, 5)
        row.addWidget(label, 1)
        row.addWidget(hint)


def keys_of(action: QAction) -> str:
    """The keys that do it, as they are read: a shortcut, or a single key of the window's own."""
    single = action.property("keys")
    return str(single) if single else action.shortcut().toString()
