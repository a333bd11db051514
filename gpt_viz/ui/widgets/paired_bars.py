"""Two distributions over one vocabulary as a scrolling list, two bars to a token. Knows no model, only ids.

Only the rows in sight are painted, so 50,257 tokens cost no more than 20.
"""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QFrame, QToolTip

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.glyphs import is_invisible, visible
from gpt_viz.ui.widgets.likelihood import percent
from gpt_viz.ui.widgets.sides import side_colours

Shares = npt.NDArray[np.float64]
_NOTHING: Shares = np.zeros(0)
_LONGEST = 8  # characters of a label
_GAP = 8.0  # px between label, bars and numbers
_BAR = 7  # px, the height of one bar
_KEYS = {
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class PairedBars(QAbstractScrollArea):
    """A row for each token: its text, the bar of the first above that of the second, both probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.order: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._pair = (_NOTHING, _NOTHING)
        self._piece: Callable[[int], str] = str
        self._columns = 1
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAutoFillBackground(False)
        theme.theme.changed.connect(self._measure)
        self._measure()

    def show_pair(
        self, one: Shares, other: Shares, order: npt.NDArray[np.int64], piece: Callable[[int], str] = str
    ) -> None:
        """Show the probabilities (V,) of both, in this order of ids; `piece` gives an id's text."""
        self._pair, self.order, self._piece, self._columns = (one, other), order, piece, 1
        self._range()

    def clear(self) -> None:
        """Show nothing."""
        self._pair, self.order = (_NOTHING, _NOTHING), np.zeros(0, np.int64)
        self._range()

    def __len__(self) -> int:
        return len(self.order)

    def tip(self, id: int) -> str:
        """What is known of a token, as plain text."""
        one, other = (float(each[id]) for each in self._pair)
        return f"“{visible(self._piece(id))}”  id {id:,}\n{percent(one)} and {percent(other)}"

    def row_at(self, point: QPoint) -> int | None:
        """The row under a point of the viewport."""
        row = point.y() // self._pitch + self.verticalScrollBar().value()
        return row if 0 <= row < len(self) else None

    @property
    def _page(self) -> int:
        return max(self.viewport().height() // self._pitch, 1)

    def sizeHint(self) -> QSize:
        return QSize(220, 4 * self._pitch)

    def minimumSizeHint(self) -> QSize:
        return QSize(130, 2 * self._pitch)

    def _measure(self) -> None:
        self._label_font, self._number_font = theme.mono_font(), theme.ui_font(0.85)
        self._cell = QFontMetricsF(self._label_font).horizontalAdvance("0")
        numbers = QFontMetricsF(self._number_font)
        self._number_width = numbers.horizontalAdvance("0.0001 %")
        self._half = max(round(numbers.height()), _BAR + 3)
        self._pitch = 2 * self._half + 6
        self._range()

    def _range(self) -> None:
        self.verticalScrollBar().setPageStep(self._page)
        self.verticalScrollBar().setRange(0, max(len(self) - self._page, 0))
        self.viewport().update()

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        if not len(self):
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first = self.verticalScrollBar().value()
        ids = [int(id) for id in self.order[first : first + self._page]]
        longest = max(len(visible(self._piece(id))) for id in ids)
        self._columns = min(max(self._columns, longest), _LONGEST)
        scale = max(float(each.max()) for each in self._pair)
        for row, id in enumerate(ids):
            top = row * self._pitch
            self._paint_row(painter, QRectF(0, top, self.viewport().width(), self._pitch), id, max(scale, 1e-12))
        painter.end()

    def _paint_row(self, painter: QPainter, row: QRectF, id: int, scale: float) -> None:
        colours, piece = theme.tokens(), self._piece(id)
        label = QRectF(_GAP / 2, row.top(), self._columns * self._cell, row.height())
        painter.setFont(self._label_font)
        painter.setPen(QColor(colours.muted if is_invisible(piece) else colours.text))
        text = visible(piece)
        text = text if len(text) <= self._columns else text[: self._columns - 1] + "…"
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)
        left = label.right() + _GAP
        room = max(row.width() - left - self._number_width - _GAP, 8)
        painter.setFont(self._number_font)
        for line, (shares, colour) in enumerate(zip(self._pair, side_colours(), strict=True)):
            probability = float(shares[id])
            half = QRectF(left, row.top() + 3 + line * self._half, room, self._half)
            length = max(room * min(probability / scale, 1.0), 1.0) if probability == probability else 1.0
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(left, half.center().y() - _BAR / 2, length, _BAR), min(2, length / 3), 2)
            painter.setPen(QColor(colours.muted))
            number = QRectF(left + length + _GAP * 0.75, half.top(), self._number_width + _GAP, half.height())
            painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, percent(probability))

    # -- mouse and keys --

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._range()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self.row_at(event.pos())
            tip = "" if row is None else html.escape(self.tip(int(self.order[row]))).replace("\n", "<br>")
            QToolTip.showText(event.globalPos(), f"<qt>{tip}</qt>" if tip else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def event(self, event: QEvent) -> bool:
        # The window's single-key shortcuts give way to the keys that scroll here.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in _KEYS:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _KEYS:
            self.verticalScrollBar().triggerAction(_KEYS[Qt.Key(event.key())])
        else:
            event.ignore()
