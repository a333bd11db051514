"""A vocabulary as a list of rows that scrolls by whole rows. Knows no model and no text, and not what a row shows.

Only the rows in sight are painted, so 50,257 tokens cost no more than 20.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QFrame, QToolTip, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.glyphs import visible

GAP = 8.0  # px between label, bar and number
LEAST_WIDTH = 130  # px
_LONGEST = 8  # characters of a label
_KEYS = {
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class TokenRows(QAbstractScrollArea):
    """A row for each token, told apart by its id. A subclass measures its fonts and paints the rows in sight."""

    least_rows = 3

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._piece: Callable[[int], str] = str
        self._label_columns = 1
        self._label_font, self._cell, self._pitch = theme.mono_font(), 1.0, 1
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAutoFillBackground(False)
        theme.theme.changed.connect(self.measure)
        self.measure()

    # -- what a subclass says --

    def measure(self) -> None:
        """Take the theme's fonts: sets `_label_font`, `_cell` (px, a character's width) and `_pitch` (px, a row's)."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def id_at_row(self, row: int) -> int:
        """The token of a row, counted from the top of the whole list."""
        raise NotImplementedError

    def tip(self, id: int) -> str:
        """All that is known of a token, as plain text."""
        raise NotImplementedError

    # -- where things stand --

    @property
    def first(self) -> int:
        """The uppermost row in sight."""
        return self.verticalScrollBar().value()

    @property
    def page(self) -> int:
        """How many whole rows can be seen; the list is scrolled by rows, so that none is ever cut."""
        return max(self.viewport().height() // self._pitch, 1)

    def row_at(self, point: QPoint) -> int | None:
        """The row under a point of the viewport."""
        row = point.y() // self._pitch + self.first
        return row if 0 <= row < len(self) else None

    def row_rect(self, row: int) -> QRectF:
        """Where a row stands in the viewport, or would."""
        return QRectF(0, (row - self.first) * self._pitch, self.viewport().width(), self._pitch)

    def refresh(self) -> None:
        """Scroll over as many rows as there are now, and paint them anew."""
        self.verticalScrollBar().setPageStep(self.page)
        self.verticalScrollBar().setRange(0, max(len(self) - self.page, 0))
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(220, 4 * self._pitch)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_WIDTH, self.least_rows * self._pitch)

    # -- labels --

    def widen(self, ids: Iterable[int]) -> None:
        """Let these tokens' labels fit; the column of labels never becomes narrower, or bars would jump."""
        longest = max((len(visible(self._piece(id))) for id in ids), default=1)
        self._label_columns = min(max(self._label_columns, longest), _LONGEST)

    def paint_label(self, painter: QPainter, row: QRectF, id: int, colour: str, font: QFont) -> float:
        """Write a token's text at the left of its row. Returns where that ends."""
        place = QRectF(GAP / 2, row.top(), self._label_columns * self._cell, row.height())
        text = visible(self._piece(id))
        painter.setFont(font)
        painter.setPen(QColor(colour))
        shown = text if len(text) <= self._label_columns else text[: self._label_columns - 1] + "…"
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)
        return place.right()

    # -- mouse and keys --

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self.row_at(event.pos())
            tip = "" if row is None else html.escape(self.tip(self.id_at_row(row))).replace("\n", "<br>")
            QToolTip.showText(event.globalPos(), f"<qt>{tip}</qt>" if tip else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def event(self, event: QEvent) -> bool:
        # The window's single-key shortcuts give way to the keys that scroll here.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _scrolls(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _scrolls(event):
            self.verticalScrollBar().triggerAction(_KEYS[Qt.Key(event.key())])
        else:
            event.ignore()


def _scrolls(event: QKeyEvent) -> bool:
    return event.key() in _KEYS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
