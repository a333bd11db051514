"""Where the parts of the attention view stand, at any size of the panel. Knows their sizes and nothing they show."""

from __future__ import annotations

from math import ceil

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpt_viz.ui.widgets.behaviour import BehaviourColumn
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.legend import Legend
from gpt_viz.ui.widgets.mosaic import OUTLINE, Mosaic
from gpt_viz.ui.widgets.weight_line import WeightLine

GAP = 16  # px between the columns
BROAD = 560  # px from which the column of measures has room
TALL = 1.25  # times the width: from here on the grid stands above the head and not beside it


class AttentionStage(QWidget):
    """Grid, head and measures side by side, each as large as the room allows; narrow and tall: one above the other."""

    def __init__(self, grid: Mosaic, legend: Legend, head: Heatmap, line: WeightLine, column: BehaviourColumn) -> None:
        super().__init__()
        self._grid, self._legend, self._head, self._line, self._column = grid, legend, head, line, column
        for widget in (grid, legend, head, line, column):
            widget.setParent(self)
        self.setMinimumSize(260, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()

    def arrange(self) -> None:
        """Give each part its place."""
        width, height = self.width(), self.height()
        side = self._column.sizeHint().width()
        broad = width >= BROAD
        room = width - (side + GAP if broad else 0)
        if height > TALL * width:
            self._stack(room, height)
        else:
            self._abreast(room, height)
        needed, left, top = (
            self._column.sizeHint().height(),
            self._head.geometry().right() + 1 + GAP,
            self._head.y() + 2,
        )
        self._column.setGeometry(left, top, side, needed)
        self._column.setVisible(broad and top + needed <= self._line.y())

    def _abreast(self, width: int, height: int) -> None:
        left, top, right, bottom = (ceil(each) for each in self._head.margins())
        line = self._line.sizeHint().height()
        largest = max(height - line - top - bottom, 0) + left + right
        head = min(largest, width - GAP - round(self._share() * width))
        across = min(width - GAP - head, round((self._share() + 0.1) * width))
        for room in (height, height - line):  # the second time the grid leaves room for the whole line below it
            grid, grid_height = self._place_grid(across, room - 8)
            self._grid.move(0, max(top - OUTLINE, 0))  # the first rows of both pictures stand on one line
            self._legend.setGeometry(0, self._grid.y() + grid_height + 6, grid, self._legend.needed_height(grid))
            self._place_head(grid + GAP, 0, min(largest, width - grid - GAP), height)
            if self._line.width() >= self._line.sizeHint().width():
                break

    def _share(self) -> float:
        """How much of the width the grid gets at least: more where there are many heads."""
        return 0.36 if self._grid.heads <= 6 else 0.44

    def _place_head(self, x: int, y: int, width: int, height: int) -> None:
        """The head in a room of that size, its line below it."""
        line = self._line.sizeHint().height() + 2
        used = self._head.fitted_height(max(width, 1), max(height - line, 1))
        self._head.setGeometry(x, y, max(width, 1), used)
        begin, below = x + ceil(self._head.margins()[0]), y + used + 2
        missing = begin + self._line.sizeHint().width() - self.width()
        if missing > 0:  # there is room to the left, below the scale or at least up to it
            under = max(below, self._legend.geometry().bottom() + 2)
            fits = under + line - 2 <= self.height()
            begin, below = max(begin - missing, 0 if fits else x), under if fits else below
        self._line.setGeometry(begin, below, max(self.width() - begin, 0), line - 2)

    def _place_grid(self, width: int, height: int) -> tuple[int, int]:
        legend = self._legend.needed_height(width) + 4
        used, used_height = self._grid.fitted(width, height - legend)
        self._grid.setGeometry(0, 0, min(used, width), used_height)
        return max(min(used, width), min(width, 110)), used_height

    def _stack(self, width: int, height: int) -> None:
        grid, grid_height = self._place_grid(width, round(0.42 * height))
        beside = grid + GAP + 120 <= width
        legend = min(width - grid - GAP, 240) if beside else grid
        needed = self._legend.needed_height(legend)
        y = max(grid_height, needed) if beside else grid_height + 4 + needed
        self._legend.setGeometry(grid + GAP if beside else 0, 0 if beside else grid_height + 4, legend, needed)
        self._place_head(0, y + 12, width, height - y - 12)
