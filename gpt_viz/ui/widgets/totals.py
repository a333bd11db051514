"""The sums that stand below a table, in its columns, and stay there while the rows scroll. Knows no more than that."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.lazy_rows import Line
from gpt_viz.ui.widgets.row_paint import hairline
from gpt_viz.ui.widgets.table import Table


class Totals(QWidget):
    """A few lines drawn as the table draws its own."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table
        self.lines: tuple[Line, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        table.arranged.connect(self.update)
        theme.theme.changed.connect(self.updateGeometry)

    def show_lines(self, lines: tuple[Line, ...]) -> None:
        """Show these sums."""
        if lines != self.lines:
            if len(lines) != len(self.lines):
                self.updateGeometry()
            self.lines = lines
            self.setAccessibleDescription("; ".join(" ".join(filter(None, line.cells)) for line in lines))
            self._table.make_room_for(lines)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, len(self.lines) * self._table.paint.row_height + 1)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        hairline(painter, 0, self._table.viewport().width(), 0, strong=True)
        for i, line in enumerate(self.lines):
            self._table.paint.paint(painter, line, self._table.slots(), 1 + i * self._table.paint.row_height)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            row = (event.pos().y() - 1) // self._table.paint.row_height
            note = self.lines[row].note if 0 <= row < len(self.lines) else ""
            QToolTip.showText(event.globalPos(), f"<qt>{html.escape(note)}</qt>" if note else "", self)
            return True
        return super().event(event)
