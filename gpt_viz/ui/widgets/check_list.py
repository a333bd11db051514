"""The claims as a list: a mark, a title, and where there is room what was expected and found. Knows no check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.check_mark import FAILED, SIDE, WORDS, paint_mark
from gpt_viz.ui.widgets.manners import tip

_ROW = Qt.ItemDataRole.UserRole
GAP = 12
INSET = 8


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One row. `state` is one of check_mark.WORDS; `found` of a check that does not apply may say so."""

    name: str
    title: str
    state: str
    expected: str = ""
    found: str = ""
    note: str = ""

    def spoken(self) -> str:
        """The row as it is read out."""
        said = [f"{self.title}: {WORDS[self.state]}"]
        said += [f"expected {self.expected}"] if self.expected else []
        said += [f"found {self.found}"] if self.found else []
        return ", ".join(said)


class CheckList(QListWidget):
    """`chosen` carries the name of the row that a person chose."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._silent = False
        self._titles = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.captions = _Captions(self)
        self.setItemDelegate(_Rows(self))
        self.currentRowChanged.connect(self._moved)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_rows(self, rows: Sequence[CheckRow]) -> None:
        """Show these rows; items are updated, not made anew."""
        self._silent = True
        for place, row in enumerate(rows):
            if place >= self.count():
                self.addItem(QListWidgetItem())
            item = self.item(place)
            if item.data(_ROW) != row:
                item.setData(_ROW, row)
                item.setText(row.title)
                item.setData(Qt.ItemDataRole.AccessibleTextRole, row.spoken())
                item.setToolTip(tip("\n".join(filter(None, (row.spoken(), row.note)))))
        self._silent = False
        self._measure()

    def choose(self, name: str) -> None:
        """Make that row the chosen one, without a word."""
        place = next((at for at in range(self.count()) if self.row_at(at).name == name), -1)
        if place != self.currentRow():
            self._silent = True
            self.setCurrentRow(place)
            self._silent = False

    def row_at(self, place: int) -> CheckRow:
        """The row in that place."""
        row: CheckRow = self.item(place).data(_ROW)
        return row

    def content_height(self) -> int:
        """What captions and all rows take."""
        return self.captions.sizeHint().height() + self.count() * self.pitch

    def whole_rows(self, height: int) -> int:
        """The most of a height that whole rows fill; three rows at least."""
        captions = self.captions.sizeHint().height()
        rows = min(max((height - captions) // self.pitch, 3), self.count())
        return captions + rows * self.pitch

    def columns(self) -> list[tuple[int, int]]:
        """Where title, expected and found stand: (left, width) each; those without room are left out."""
        width, left = self.viewport().width(), INSET + SIDE + 8
        room = width - left - INSET
        title = min(self._titles, room)
        if room - title < 90:
            return [(left, room)]
        rest = room - title - GAP
        if rest < 300:
            return [(left, title), (left + title + GAP, rest)]
        half = (rest - GAP) // 2
        return [(left, title), (left + title + GAP, half), (left + title + 2 * GAP + half, half)]

    def _moved(self, place: int) -> None:
        if place >= 0 and not self._silent:
            self.chosen.emit(self.row_at(place).name)

    def _restyle(self) -> None:
        self.fonts: tuple[QFont, QFont, QFont] = (ui_font(0.95), ui_font(0.9), ui_font(0.88))
        self.pitch = QFontMetrics(self.fonts[0]).height() + 11
        self._measure()
        self.doItemsLayout()

    def _measure(self) -> None:
        metrics = QFontMetrics(self.fonts[0])
        self._titles = max((metrics.horizontalAdvance(self.row_at(at).title) for at in range(self.count())), default=0)
        self._titles += 4
        self._lay()
        self.viewport().update()

    def _lay(self) -> None:
        height = self.captions.sizeHint().height()
        self.setViewportMargins(0, height, 0, 0)
        self.captions.setGeometry(0, 0, self.viewport().width(), height)
        self.captions.update()

    def sizeHint(self) -> QSize:
        return QSize(INSET + SIDE + 8 + self._titles + INSET, self.content_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.captions.sizeHint().height() + 3 * self.pitch)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() and event.text().isprintable():
            event.ignore()  # letters and Space belong to the window
        else:
            super().keyPressEvent(event)


class _Captions(QWidget):
    """What the columns hold."""

    def __init__(self, rows: CheckList) -> None:
        super().__init__(rows)
        self._rows = rows

    def sizeHint(self) -> QSize:
        return QSize(0, QFontMetrics(ui_font(0.88)).height() + 9)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, columns = tokens(), self._rows.columns()
        texts = {1: ["claim"], 2: ["claim", "found"], 3: ["claim", "expected", "found"]}[len(columns)]
        painter = QPainter(self)
        painter.setFont(self._rows.fonts[2])
        painter.setPen(QColor(colours.muted))
        for (left, width), text in zip(columns, texts, strict=True):
            painter.drawText(QRect(left, 0, width, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.end()


class _Rows(QStyledItemDelegate):
    """Draws one row."""

    def __init__(self, rows: CheckList) -> None:
        super().__init__(rows)
        self._rows = rows

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(60, self._rows.pitch)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: CheckRow = index.data(_ROW)
        rect: QRect = option.rect
        state: Any = option.state
        colours, chosen = tokens(), bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.fillRect(rect, QColor(colours.selected))
            painter.fillRect(rect.left(), rect.top(), 3, rect.height(), QColor(colours.accent_text))
            if self._rows.hasFocus():
                painter.setPen(QPen(QColor(colours.accent_text), 1))
                painter.drawRect(rect.adjusted(0, 0, -1, -1))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, QColor(colours.field))
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom())
        mark = QRectF(INSET, rect.top() + (rect.height() - SIDE) / 2, SIDE, SIDE)
        paint_mark(painter, mark, row.state)
        columns = self._rows.columns()
        cells = {1: (row.title,), 2: (row.title, row.found), 3: (row.title, row.expected, row.found)}[len(columns)]
        for place, ((left, width), text) in enumerate(zip(columns, cells, strict=True)):
            font = self._rows.fonts[min(place, 1)]
            painter.setFont(font)
            bad = place == len(cells) - 1 and row.state == FAILED
            painter.setPen(QColor(colours.bad if bad else colours.text if place == 0 or chosen else colours.muted))
            shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
            painter.drawText(QRect(left, rect.top(), width + 2, rect.height()), Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()
