"""The titles above a table's columns, small and quiet. Knows only the table's columns and their places."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from gpt_viz.ui.widgets.row_paint import RowPaint, Slot, hairline


class Captions(QHeaderView):
    """They are read, not dragged or clicked; `slots` says where the columns stand."""

    def __init__(self, paint: RowPaint, slots: Callable[[], list[Slot]], parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._paint, self._slots = paint, slots
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setStretchLastSection(False)
        self.setSectionsClickable(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)

    def sizeHint(self) -> QSize:
        return QSize(0, self._paint.caption_height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self._paint.paint_captions(painter, self._slots())
        hairline(painter, 0, self.viewport().width(), self.viewport().height() - 1)
        painter.end()
