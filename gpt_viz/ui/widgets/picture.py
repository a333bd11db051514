"""What the painted pictures have in common: they follow the mouse, take the focus and own a few single keys.

Knows nothing of what is painted.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_HARMLESS = Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier


class Picture(QWidget):
    """A widget with the arrow keys and the given `keys` for itself while it has the focus."""

    def __init__(self, keys: frozenset[Qt.Key] = frozenset()) -> None:
        super().__init__()
        self._keys = keys | ARROWS.keys()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        """One of its keys was pressed; `way` is (down, right) for an arrow, else None."""
        raise NotImplementedError

    def _own(self, event: QKeyEvent) -> Qt.Key | None:
        plain = event.modifiers() & ~_HARMLESS == Qt.KeyboardModifier.NoModifier
        return next((key for key in self._keys if plain and key == event.key()), None)

    def event(self, event: QEvent) -> bool:
        # The window has single-key shortcuts; those that mean something here are ours while we have the focus.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = self._own(event)
        if key is None:
            super().keyPressEvent(event)
        else:
            self.pressed(key, ARROWS.get(key))
