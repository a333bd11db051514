"""A layout that fills a line and goes on in the next, as words do. Knows nothing of what it lays out.

Items whose widget may grow share what is left of their line, up to their own maximum.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Lines of widgets, each centred in the height of its line."""

    def __init__(self, parent: QWidget | None = None, *, across: int = 16, down: int = 8) -> None:
        super().__init__(parent)
        self._across, self._down = across, down
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}  # by width; forgotten when an item comes, goes or changes its size
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 (Qt's name)
        self._items.append(item)
        self.invalidate()

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 (Qt's name)
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 (Qt's name)
        self.invalidate()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 (Qt's name)
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 (Qt's name)
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802 (Qt's name)
        shown = self._shown()
        return QSize(
            max((item.minimumSize().width() for item in shown), default=0),
            max((item.sizeHint().height() for item in shown), default=0),
        )

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        room = -1
        for item in self._shown():
            wanted = _least(item)
            if not lines or wanted > room:
                lines.append([])
                room = width
            lines[-1].append(item)
            room -= wanted + self._across
        return lines

    def _place(self, rect: QRect, *, move: bool) -> int:
        """The height of all lines at this width; with `move` the items are put there."""
        top = rect.top()
        for line in self._lines(rect.width()):
            height = max(item.sizeHint().height() for item in line)
            if move:
                self._place_line(line, QRect(rect.left(), top, rect.width(), height))
            top += height + self._down
        return max(top - self._down - rect.top(), 0)

    def _place_line(self, line: list[QLayoutItem], rect: QRect) -> None:
        left = rect.left()
        spare = rect.width() - sum(map(_least, line)) - self._across * (len(line) - 1)
        growing = [item for item in line if _grows(item)]
        for item in line:
            width, height = min(_least(item), rect.width()), item.sizeHint().height()
            if item in growing and spare > 0:
                width = min(width + spare // len(growing), item.maximumSize().width())
            top = rect.top() + (rect.height() - height) // 2
            item.setGeometry(QRect(left, top, width, height))
            left += width + self._across


def _grows(item: QLayoutItem) -> bool:
    return bool(item.expandingDirections() & Qt.Orientation.Horizontal)


def _least(item: QLayoutItem) -> int:
    """The width an item begins with: what it needs, where it may grow, else what it likes."""
    return item.minimumSize().width() if _grows(item) else item.sizeHint().width()
