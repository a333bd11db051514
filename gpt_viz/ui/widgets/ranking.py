"""Heads in a list, the one that differs most at the top, each with a bar from 0 to 1. Knows no model.

Only the rows in sight are painted; it is scrolled by rows, so that none is ever cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from gpt_viz.ui.theme import KINDS, theme, tokens, ui_font

Row = tuple[int, int, float]  # layer, head, how much it differs
SMALL = 0.9
_GAP = 8.0
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Home: -(10**6), Qt.Key.Key_End: 10**6}


def share(distance: float) -> str:
    """A share as it stands in the list: two decimals, a dash where it is not known.

    >>> share(0.834), share(float("nan"))
    ('0.83', '–')
    """
    return f"{distance:.2f}" if distance == distance else "–"


class Ranking(QAbstractScrollArea):
    """`chosen` carries layer and head of a row that was clicked, or reached with the arrows."""

    chosen = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[Row, ...] = ()
        self._chosen: tuple[int, int] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAutoFillBackground(False)
        theme.changed.connect(self._measure)
        self._measure()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other heads, in this order."""
        if tuple(rows) != self.rows:
            self.rows = tuple(rows)
            self._range()

    def set_chosen(self, layer: int, head: int) -> None:
        """Mark another head; it comes into sight."""
        if (layer, head) != self._chosen:
            self._chosen = (layer, head)
            self._reveal()
            self.viewport().update()

    def row_rect(self, row: int) -> QRectF:
        """Where a row is drawn, in pixels of the viewport."""
        return QRectF(0, (row - self.verticalScrollBar().value()) * self._pitch, self.viewport().width(), self._pitch)

    def _place(self) -> int | None:
        return next((at for at, (*head, _) in enumerate(self.rows) if tuple(head) == self._chosen), None)

    @property
    def _page(self) -> int:
        return max(self.viewport().height() // self._pitch, 1)

    def _measure(self) -> None:
        self._font, self._bold = ui_font(SMALL), ui_font(SMALL, bold=True)
        self._metrics = QFontMetricsF(self._bold)
        self._pitch = round(self._metrics.height() * 1.45)
        self._range()

    def needed_width(self) -> int:
        """What names, a short bar and the numbers need."""
        return round(self._name_width() + self._metrics.horizontalAdvance("0.00") + 48 + 4 * _GAP + 10)

    def _name_width(self) -> float:
        longest = max(
            (f"layer {layer}, head {head}" for layer, head, _ in self.rows), key=len, default="layer 0, head 0"
        )
        return self._metrics.horizontalAdvance(longest)

    def _range(self) -> None:
        self.verticalScrollBar().setPageStep(self._page)
        self.verticalScrollBar().setRange(0, max(len(self.rows) - self._page, 0))
        self.viewport().update()

    def _reveal(self) -> None:
        place, bar = self._place(), self.verticalScrollBar()
        if place is not None and not bar.value() <= place < bar.value() + self._page:
            bar.setValue(place - self._page // 2)

    def sizeHint(self) -> QSize:
        return QSize(self.needed_width(), 5 * self._pitch)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 2 * self._pitch)

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first, name = self.verticalScrollBar().value(), self._name_width()
        for row in range(first, min(first + self._page, len(self.rows))):
            self._paint_row(painter, self.row_rect(row), self.rows[row], name)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens().accent_text), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()

    def _paint_row(self, painter: QPainter, rect: QRectF, row: Row, name: float) -> None:
        colours, (layer, head, distance) = tokens(), row
        chosen = (layer, head) == self._chosen
        if chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 4, 4)
        painter.setFont(self._bold if chosen else self._font)
        painter.setPen(QColor(colours.text))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect.adjusted(_GAP / 2, 0, 0, 0), middle, f"layer {layer}, head {head}")
        number = self._metrics.horizontalAdvance("0.00")
        left, right = rect.left() + name + 1.5 * _GAP, rect.right() - number - 1.5 * _GAP
        painter.setPen(QColor(colours.text if chosen else colours.muted))
        painter.drawText(QRectF(right, rect.top(), number + _GAP, rect.height()), middle | Qt.AlignmentFlag.AlignRight,
                         share(distance))  # fmt: skip
        if right - left > 12 and distance == distance:
            bar = QRectF(left, rect.center().y() - 2, right - left, 4)
            painter.fillRect(bar, QColor(colours.masked))
            painter.fillRect(QRectF(left, bar.top(), bar.width() * distance, 4), QColor(KINDS["attention"]))

    # -- mouse and keys --

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._range()
        self._reveal()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose_at(event.position())

    def _choose_at(self, point: QPointF) -> None:
        row = int(point.y() // self._pitch) + self.verticalScrollBar().value()
        if 0 <= row < len(self.rows):
            self.chosen.emit(*self.rows[row][:2])

    def event(self, event: QEvent) -> bool:
        # The window's single-key shortcuts give way to the keys that move along the list here.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in _STEPS:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or not self.rows:
            event.ignore()
            return
        place = self._place()
        place = 0 if place is None else min(max(place + step, 0), len(self.rows) - 1)
        self.chosen.emit(*self.rows[place][:2])
