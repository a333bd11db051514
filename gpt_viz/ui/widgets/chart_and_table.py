"""A chart beside a table with its sums, or above it in a tall place. Knows how they share the room, and no more."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpt_viz.ui.widgets.bands import HIGHEST, LOWEST
from gpt_viz.ui.widgets.pie import Pie
from gpt_viz.ui.widgets.row_paint import Column
from gpt_viz.ui.widgets.table import Table
from gpt_viz.ui.widgets.totals import Totals

SPACE = 10  # px between chart and table
SMALLEST, LEAST, LARGEST = 76, 82, 460  # px: the chart in a narrow place and in a wide one at least, and at most
WIDE = 480  # px
MOST = 0.36  # of the width, for the chart
TALL = 1.1  # times as high as wide: the chart stands above
ABOVE = 0.75  # of the width, for a chart that stands above


class ChartAndTable(QWidget):
    """Columns come first, as long as they leave the chart enough to be read; the chart has what is left.

    The column `before_chart` matters more than a chart beside the table: where there is room for one of the two alone,
    the chart lies above, unrolled if there is too little height for a circle.
    """

    def __init__(self, columns: tuple[Column, ...], before_chart: int) -> None:
        super().__init__()
        self._before_chart = before_chart
        self.pie, self.table = Pie(), Table(columns)
        self.totals = Totals(self.table)
        for each in (self.pie, self.table, self.totals):
            each.setParent(self)
        self._arranging = False
        self.table.arranged.connect(self.arrange)

    def arrange(self) -> None:
        """Share the room out again: columns, rows or sums take other room than before."""
        if self._arranging:
            return
        self._arranging = True
        for _ in range(2):  # the columns' widths follow from the rows in sight, and these from the geometry
            self._arrange()
        self._arranging = False

    def _arrange(self) -> None:
        width, height = self.width(), self.height()
        # Not by trying it out: each change lays the rows out again, which asks for another arrangement, without end.
        folded = self._folded(width, height)
        self.table.make_compact(self._loose() > height - (LOWEST + SPACE if folded else 0))
        # The rows at the top decide where the table begins, so that it does not jump when one of them is opened.
        closed, sums = self._closed(), self.totals.sizeHint().height()
        if height > TALL * width:
            chart = max(min(width + 120, height - closed - SPACE), SMALLEST)
            self.pie.setGeometry(0, 0, width, chart)
            rest = QRect(0, chart + SPACE, width, height - chart - SPACE)
        elif folded:
            chart = height - closed - SPACE
            chart = chart if chart >= SMALLEST else max(min(chart, HIGHEST), LOWEST)
            above = max((height - closed - SPACE - chart) // 2, 0)
            self.pie.setGeometry(0, above, width, chart)
            above += chart + SPACE
            rest = QRect(0, above, width, height - above)
        else:
            least, room = (LEAST if width >= WIDE else SMALLEST), width - SPACE
            above = max((height - closed) // 2, 0)
            if self.table.content_height() > height - above - sums:
                room -= self.table.verticalScrollBar().sizeHint().width()
            most = max(least, min(height, round(MOST * width), LARGEST))
            chart = max(least, min(room - self.table.needed(room - least), most))
            self.pie.setGeometry(0, 0, chart, height)
            rest = QRect(chart + SPACE, above, width - chart - SPACE, height - above)
        rows = max(min(self.table.content_height(), rest.height() - sums), 0)
        self.table.setGeometry(rest.left(), rest.top(), rest.width(), rows)
        self.totals.setGeometry(rest.left(), rest.top() + rows, rest.width(), sums)

    def spare(self, width: int, height: int) -> int:
        """How much of this height it can do without, while no row is open: less than 0 where it is too low already."""
        closed = self._loose()
        if height <= TALL * width:
            return height - closed - (LOWEST + SPACE if self._folded(width, height) else 0)
        return min(height - closed - SPACE - round(ABOVE * width), height - round(TALL * width) - 1)

    def _folded(self, width: int, height: int) -> bool:
        """Whether a chart beside the table would take the room of the column that matters more."""
        if height > TALL * width or self.table.shows(self._before_chart, width - SPACE - SMALLEST):
            return False
        return self.table.shows(self._before_chart, width)

    def _loose(self) -> int:
        """How high table and sums are with their rows as far apart as usual, while no row is open."""
        paint = self.table.paint
        rows = self.table.rows.rowCount() + len(self.totals.lines)
        return paint.caption_height + rows * paint.height(False) + 1

    def _closed(self) -> int:
        """How high the table and its sums are while no row is open."""
        paint = self.table.paint
        rows = self.table.rows.rowCount() * paint.row_height
        return paint.caption_height + rows + self.totals.sizeHint().height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:
        return QSize(560, 300)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 150)
