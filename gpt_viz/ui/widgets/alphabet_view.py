"""An alphabet as a page of cells, one for each character, filled as high as it is common. Knows no text and no model.

Only the rows in sight are painted, so an alphabet may have any number of characters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from gpt_viz.ui.theme import mono_font, theme, tokens
from gpt_viz.ui.widgets.glyphs import is_invisible, visible

_GAP = 4  # px between two cells
_STEPS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


class AlphabetView(QAbstractScrollArea):
    """`pointed` carries the place of the character under the pointer or at the cursor, -1 for none."""

    pointed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._characters: Sequence[str] = ()
        self._counts: Sequence[int] = ()
        self._marked: Collection[str] = frozenset()
        self._at = -1
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_alphabet(self, characters: Sequence[str], counts: Sequence[int], marked: Collection[str]) -> None:
        """Show these characters; `counts` says how often each occurs, or is empty; the `marked` are outlined."""
        self._characters, self._counts, self._marked = characters, counts, marked
        self._at = -1
        self.verticalScrollBar().setValue(0)
        self._fit()
        self.viewport().update()

    def height_for(self, width: int, rows: int) -> int:
        """How high it is with all its rows, or with as many as `rows`."""
        return min(self._rows(width), rows) * (self._cell.height() + _GAP) - _GAP

    @property
    def current(self) -> int:
        """The place of the character that is pointed at, or -1."""
        return self._at

    # -- places --

    def _columns(self, width: int) -> int:
        return max((width + _GAP) // (self._cell.width() + _GAP), 1)

    def _rows(self, width: int) -> int:
        return max(math.ceil(len(self._characters) / self._columns(width)), 1)

    def _across(self) -> float:
        """From one column to the next: they share all of the width."""
        width = self.viewport().width()
        return (width + _GAP) / self._columns(width)

    def _rect(self, place: int) -> QRect:
        row, column = divmod(place, self._columns(self.viewport().width()))
        left, right = round(column * self._across()), round((column + 1) * self._across()) - _GAP
        top = row * (self._cell.height() + _GAP) - self.verticalScrollBar().value()
        return QRect(left, top, right - left, self._cell.height())

    def _place_at(self, point: QPoint) -> int:
        columns = self._columns(self.viewport().width())
        column = int(point.x() / self._across())
        row = (point.y() + self.verticalScrollBar().value()) // (self._cell.height() + _GAP)
        place = row * columns + column
        return place if column < columns and 0 <= place < len(self._characters) else -1

    def _point(self, place: int) -> None:
        if place != self._at:
            self._at = place
            self.viewport().update()
            self.pointed.emit(place)

    # -- what the user does --

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._place_at(event.position().toPoint()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._point(self._place_at(event.position().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or not self._characters:
            super().keyPressEvent(event)
            return
        across, down = step
        place = self._at + across + down * self._columns(self.viewport().width()) if self._at >= 0 else 0
        if 0 <= place < len(self._characters):
            self._point(place)
            self._reveal(place)

    def _reveal(self, place: int) -> None:
        rect, bar = self._rect(place), self.verticalScrollBar()
        bar.setValue(bar.value() + min(rect.top(), 0) + max(rect.bottom() + 1 - self.viewport().height(), 0))

    # -- how it looks --

    def sizeHint(self) -> QSize:
        return QSize(480, self.height_for(480, 6))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802 (Qt's name)
        self.viewport().update()

    def _fit(self) -> None:
        beyond = self.height_for(self.viewport().width(), len(self._characters)) - self.viewport().height()
        self.verticalScrollBar().setRange(0, max(beyond, 0))
        self.verticalScrollBar().setPageStep(self.viewport().height())
        self.verticalScrollBar().setSingleStep(self._cell.height() + _GAP)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns = self._columns(self.viewport().width())
        down = self._cell.height() + _GAP
        first = self.verticalScrollBar().value() // down * columns
        last = (self.verticalScrollBar().value() + self.viewport().height()) // down * columns + columns
        most = max(self._counts, default=0)
        for place in range(first, min(last, len(self._characters))):
            self._paint(painter, place, self._rect(place), most)

    def _paint(self, painter: QPainter, place: int, rect: QRect, most: int) -> None:
        character, t = self._characters[place], tokens()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.field))
        painter.drawRoundedRect(rect, 4, 4)
        if most and place < len(self._counts):
            high = round(rect.height() * self._counts[place] / most)
            painter.save()
            painter.setClipRect(rect.adjusted(0, rect.height() - high, 0, 0))
            painter.setBrush(QColor(t.selected))
            painter.drawRoundedRect(rect, 4, 4)
            painter.restore()
        if character in self._marked or place == self._at:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(t.accent_text if place == self._at else t.bad), 2 if place == self._at else 1))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 4, 4)
        label = visible(character)
        painter.setPen(QColor(t.muted if is_invisible(character) else t.text))
        painter.setFont(self._small if len(label) > 2 else self._font)
        # A character without ink is named by its number, which takes two lines.
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, label.replace("+", "+\n") if len(label) > 2 else label)

    def _restyle(self) -> None:
        self._font, self._small = mono_font(1.1), QFont(mono_font(0.85))
        number = QFontMetrics(self._small)
        self._cell = QSize(number.horizontalAdvance("00000") + 4, 2 * number.height() + 2)
        self._fit()
        self.viewport().update()
