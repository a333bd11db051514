"""Sums written out, a line for each term, with a bar for what it adds; a hundred thousand of them open at once.

Knows nothing of what the terms mean.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from gpt_viz.ui.theme import mono_font, theme, tokens, ui_font
from gpt_viz.ui.widgets.column_fit import fitting
from gpt_viz.ui.widgets.shades import diverging
from gpt_viz.ui.widgets.terms import LARGEST_FIRST, NAME, NUMBER, RESULT, SIGN, Terms

GAP = 8  # px between two pieces
BAR, LEAST_BAR = 120, 36  # px: the longest bar, and the shortest that is worth drawing
SAMPLE = 80  # terms that the columns are measured by
TITLE = -1  # in place of a term's number: the title of its sum
_WAYS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -12,
    Qt.Key.Key_PageDown: 12,
    Qt.Key.Key_Home: -(10**9),
    Qt.Key.Key_End: 10**9,
}


class WrittenSum(QAbstractScrollArea):
    """A list of the terms of one or more sums. `pointed` carries (sum, term) under mouse or keyboard, or None; `taken`
    the same, double-clicked or taken with Enter.
    """

    pointed = Signal(object)
    taken = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.sums: tuple[Terms, ...] = ()
        self.order = LARGEST_FIRST
        self._orders: list[npt.NDArray[np.intp]] = []
        self._widths: list[list[float]] = []
        self._row: int | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_sums(self, sums: tuple[Terms, ...]) -> None:
        """Write other sums out."""
        if sums is self.sums:
            return
        same = [len(each) for each in sums] == [len(each) for each in self.sums]
        self.sums = sums
        self._sort()
        if not same:
            self._point(None)
            self.verticalScrollBar().setValue(0)
        self.setAccessibleDescription("; ".join(f"{each.title}: {len(each):,} terms" for each in sums))

    def set_order(self, order: str) -> None:
        """The largest terms first, or all as they come."""
        if order != self.order:
            self.order = order
            self._point(None)
            self._sort()

    def term(self, row: int) -> tuple[int, int]:
        """The sum and the term of a line; `TITLE` for the line that names the sum."""
        for at, order in enumerate(self._orders):
            if row <= len(order):
                return at, TITLE if row == 0 else int(order[row - 1])
            row -= len(order) + 1
        raise IndexError(row)

    @property
    def rows(self) -> int:
        """How many lines there are, titles included."""
        return sum(len(order) + 1 for order in self._orders)

    @property
    def line(self) -> int:
        """The height of a line in px."""
        return ceil(self._mono.height()) + 4

    def _sort(self) -> None:
        self._orders = [each.order(self.order) for each in self.sums]
        self._measure()
        self._scroll()
        self.viewport().update()

    def _measure(self) -> None:
        """How wide each column of each sum is, by some of its terms, spread evenly, and its last one."""
        self._widths = []
        least = self._mono.horizontalAdvance("−0.0000")
        for each in self.sums:
            numbers = {*range(0, len(each), max(len(each) // SAMPLE, 1)), len(each) - 1} if len(each) else set()
            rows = [each.row(number) for number in numbers]
            widths = []
            for i, piece in enumerate(each.pieces):
                # The letters are all of one width, so the longest text is the widest.
                longest = max((row[i] for row in rows), key=len, default="")
                width = self._metrics(piece.style).horizontalAdvance(longest) + 1 if longest else 0.0
                widths.append(max(width, least) if longest and piece.style in (NUMBER, RESULT) else width)
            self._widths.append(widths)

    def _shown(self, at: int) -> list[tuple[int, float, float]]:
        """Which columns of a sum are shown: number, left edge, width."""
        pieces, widths = self.sums[at].pieces, self._widths[at]
        natural = [ceil(width) + GAP if width else 0 for width in widths]
        room, hides = self.viewport().width() - 4, [piece.hides for piece in pieces]
        usual = [0 if piece.instead is not None else width for piece, width in zip(pieces, natural, strict=True)]
        shown = fitting(usual, hides, room)
        gone = {
            i: piece.instead
            for i, piece in enumerate(pieces)
            if piece.instead is not None and piece.instead not in shown
        }
        if gone:
            stand_in = [natural[i] if i in gone else 0 if i in gone.values() else usual[i] for i in range(len(pieces))]
            shown = fitting(stand_in, [0 if i in gone else each for i, each in enumerate(hides)], room)
        x, placed = 4.0, []
        for i in shown:
            placed.append((i, x, widths[i]))
            x += natural[i]
        return placed

    def _metrics(self, style: str) -> QFontMetricsF:
        return self._strong if style == RESULT else self._mono

    def _restyle(self) -> None:
        self._font, self._bold = mono_font(0.9), mono_font(0.9, bold=True)
        self._title = ui_font(0.9)
        self._mono, self._strong = QFontMetricsF(self._font), QFontMetricsF(self._bold)
        self._measure()
        self._scroll()
        self.viewport().update()

    def _scroll(self) -> None:
        bar, seen = self.verticalScrollBar(), max(self.viewport().height() // self.line, 1)
        bar.setRange(0, max(self.rows - seen, 0))
        bar.setPageStep(seen)

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        first = self.verticalScrollBar().value()
        seen = max(self.viewport().height() // self.line, 1)
        placed = [self._shown(at) for at in range(len(self.sums))]
        for place, row in enumerate(range(first, min(first + seen, self.rows))):
            at, _ = self.term(row)
            self._paint_row(painter, place * self.line, row, placed[at])
        painter.end()

    def _paint_row(self, painter: QPainter, top: int, row: int, placed: list[tuple[int, float, float]]) -> None:
        at, number = self.term(row)
        colours, terms, width = tokens(), self.sums[at], self.viewport().width()
        box = QRectF(0, top, width, self.line)
        if number == TITLE:
            painter.setFont(self._title)
            painter.setPen(QColor(colours.muted))
            painter.drawText(box.adjusted(4, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, terms.title)
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(0, box.bottom() - 0.5), QPointF(width, box.bottom() - 0.5))
            return
        if row == self._row:
            painter.fillRect(box, QColor(colours.selected if self.hasFocus() else colours.field))
        end = 4.0
        texts = terms.row(number)
        for i, x, wide in placed:
            style = terms.pieces[i].style
            painter.setFont(self._bold if style == RESULT else self._font)
            painter.setPen(QColor(colours.text if style in (NUMBER, RESULT) else colours.muted))
            side = {NAME: Qt.AlignmentFlag.AlignLeft, SIGN: Qt.AlignmentFlag.AlignHCenter}
            flags = side.get(style, Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(x, top, wide, self.line), flags | Qt.TextFlag.TextDontClip, texts[i])
            end = x + wide
        bar = QRectF(end + 2 * GAP, top, width - end - 3 * GAP, self.line)
        self._paint_bar(painter, float(terms.amounts[number]), terms.most(), terms.signed, bar)

    @staticmethod
    def _paint_bar(painter: QPainter, amount: float, most: float, signed: bool, room: QRectF) -> None:
        if room.width() < LEAST_BAR or not most or amount != amount:
            return
        long = min(room.width(), BAR)
        zero = room.x() + (long / 2 if signed else 0)
        wide = max(min(abs(amount) / most, 1.0) * (long / 2 if signed else long), 0.5)
        colour = QColor.fromRgb(int(diverging(tokens().dark)[48 if amount < 0 else 206]))
        left = zero - wide if amount < 0 else zero
        painter.fillRect(QRectF(left, room.y() + 4, wide, room.height() - 8), colour)
        painter.setPen(QPen(QColor(tokens().line), 1))
        painter.drawLine(QPointF(zero, room.y()), QPointF(zero, room.bottom()))

    # -- mouse and keys --

    def _point(self, row: int | None) -> None:
        if row != self._row:
            self._row = row
            self.viewport().update()
            self.pointed.emit(self.pointed_term)

    @property
    def pointed_term(self) -> tuple[int, int] | None:
        """The sum and the term under mouse or keyboard, or None."""
        if self._row is None or self._row >= self.rows:
            return None
        at, number = self.term(self._row)
        return None if number == TITLE else (at, number)

    def _row_at(self, y: float) -> int | None:
        place = int(y // self.line)
        row = self.verticalScrollBar().value() + place
        whole = (place + 1) * self.line <= max(self.viewport().height(), self.line)
        return row if whole and 0 <= row < self.rows else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._row_at(event.position().y()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._point(self._row_at(event.position().y()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._take()

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self._point(None)

    def _take(self) -> None:
        found = self.pointed_term
        if found is not None:
            self.taken.emit(*found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        way = _WAYS.get(Qt.Key(event.key()))
        if way is not None and self.rows:
            row = min(max((self._row or 0) + way, 0), self.rows - 1)
            bar, seen = self.verticalScrollBar(), self.verticalScrollBar().pageStep()
            bar.setValue(min(max(bar.value(), row - seen + 1), row))
            self._point(row)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take()
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._scroll()

    def sizeHint(self) -> QSize:
        return QSize(320, 8 * self.line)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 2 * self.line)
