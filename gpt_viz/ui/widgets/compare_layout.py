"""Where the three parts of a comparison stand: all at once where there is room, else the one that is chosen.

Knows their sizes and nothing they show.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

GAP = 24  # px
ALL = 940, 560  # px of width and height from which all of them are seen at once
HEADS = 0.66  # of the width is theirs
LOWER = 0.27, 170  # of the height is the texts', and so many px at least


class CompareLayout(QWidget):
    """`whole` is whether all parts are seen at once; `rearranged` is emitted when that is another than before."""

    rearranged = Signal()

    def __init__(self, parts: dict[str, QWidget]) -> None:
        super().__init__()
        self.parts = parts
        self.whole = False
        self._chosen = next(iter(parts))
        for each in parts.values():
            each.setParent(self)
        self.setMinimumSize(220, 120)

    def choose(self, name: str) -> None:
        """Show this part where there is no room for all of them."""
        self._chosen = name
        self.arrange()

    @property
    def chosen(self) -> str:
        """The part that is shown alone where there is no room for all."""
        return self._chosen

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()

    def arrange(self) -> None:
        """Give each part its place, and hide those that have none."""
        width, height = self.width(), self.height()
        before, self.whole = self.whole, width >= ALL[0] and height >= ALL[1]
        heads, following, texts = self.parts.values()
        if self.whole:
            left, lower = round(HEADS * (width - GAP)), max(round(LOWER[0] * height), LOWER[1])
            upper = height - lower - GAP
            heads.setGeometry(QRect(0, 0, left, upper))
            following.setGeometry(QRect(left + GAP, 0, width - left - GAP, upper))
            texts.setGeometry(QRect(0, upper + GAP, width, lower))
        for name, part in self.parts.items():
            if not self.whole and name == self._chosen:
                part.setGeometry(self.rect())
            part.setVisible(self.whole or name == self._chosen)
        if before is not self.whole:
            self.rearranged.emit()
