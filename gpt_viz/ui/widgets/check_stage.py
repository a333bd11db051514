"""Where the list of claims and the opened one stand, at any size. Knows their sizes and nothing they show."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpt_viz.ui.widgets.check_list import CheckList

GAP = 16  # px
BESIDE = 560  # px from which they stand beside each other
SHARE = 0.4  # what the list gets: of the width beside, of the height above
NARROWEST, WIDEST = 250, 620  # px, the list beside


class CheckStage(QWidget):
    """Side by side; narrow: one above the other, the list cut to whole rows."""

    def __init__(self, rows: CheckList, detail: QWidget) -> None:
        super().__init__()
        self._rows, self._detail = rows, detail
        for widget in (rows, detail):
            widget.setParent(self)
        self.setMinimumSize(240, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()

    def arrange(self) -> None:
        """Give both their places."""
        width, height = self.width(), self.height()
        if width >= BESIDE:
            left = min(max(round(SHARE * width), NARROWEST), WIDEST)
            self._rows.setGeometry(0, 0, left, height)
            self._detail.setGeometry(left + GAP, 0, width - left - GAP, height)
        else:
            above = self._rows.whole_rows(round(SHARE * height))
            self._rows.setGeometry(0, 0, width, above)
            self._detail.setGeometry(0, above + GAP // 2, width, max(height - above - GAP // 2, 0))
