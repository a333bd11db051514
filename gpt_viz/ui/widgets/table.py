"""A table whose rows may open: colour marks, hairlines, aligned figures. Knows nothing of what the rows mean.

Every column has a natural width. Where they do not all fit, the least important ones hide; a figure is never cut, and
only names and formulas are ever elided. The rows come from `lazy_rows`, one by one.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

from PySide6.QtCore import QEvent, QModelIndex, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QTreeView,
)

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.captions import Captions
from gpt_viz.ui.widgets.column_fit import ColumnWidths
from gpt_viz.ui.widgets.lazy_rows import Index, LazyRows, Line, Path, Rows
from gpt_viz.ui.widgets.row_paint import INDENT, LEAST_NAME, MARK, Column, RowPaint, Slot, hairline

_AROUND = 2  # rows that are seen beyond the chosen one


class Table(QTreeView):
    """Shows the rows of a source. `chosen` is emitted with the path that a person chose; `paged` by PageUp and
    PageDown (-1, +1) where `pages` is on, which otherwise scroll.
    """

    chosen = Signal(tuple)
    paged = Signal(int)
    arranged = Signal()  # columns or rows take other room than before

    def __init__(self, columns: tuple[Column, ...], *, pages: bool = False) -> None:
        super().__init__()
        self.columns = columns
        self.paint = RowPaint(columns)
        self.rows = LazyRows(tuple(column.title for column in columns), self)
        self._pages = pages
        hides, firm = [column.hides for column in columns], [column.figures for column in columns]
        self._widths = ColumnWidths(hides, firm, columns[0].gives, INDENT + MARK + LEAST_NAME)
        self._open: set[Path] = set()
        self._below: tuple[Line, ...] = ()
        self._silent = False
        self._hovered: Path = ()
        self.setHeader(Captions(self.paint, self.slots, self))
        self.setModel(self.rows)
        self.setItemDelegate(_Heights(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setIndentation(INDENT)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerItem)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.fit)
        self.selectionModel().currentRowChanged.connect(self._moved)
        self.expanded.connect(self._on_expanded)
        self.collapsed.connect(self._on_collapsed)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        theme.theme.changed.connect(self._restyle)

    # -- what a panel uses --

    def show_rows(self, rows: Rows) -> None:
        """Show these rows; what was open stays open, and so does the chosen row, where they still exist."""
        opened, current = sorted(self._open, key=len), self.current()
        self._silent = True
        if self.rows.show(rows):
            self._widths.forget()
            self._open.clear()
            for path in opened:
                if rows.count(path) and self.rows.at(path).isValid():
                    self.expand(self.rows.at(path))
            self.setCurrentIndex(self.rows.at(current))
        self._silent = False
        self.fit()
        self.viewport().update()

    def make_room_for(self, lines: tuple[Line, ...]) -> None:
        """Make the columns wide enough for these lines too, which are shown below the table."""
        self._below = lines
        self.fit()

    def make_compact(self, compact: bool) -> None:
        """Set the rows closer together, or as far apart as usual."""
        if compact != self.paint.compact:
            self.paint.compact = compact
            self.doItemsLayout()

    def current(self) -> Path:
        """The path of the chosen row, or ()."""
        return self.rows.path(self.currentIndex())

    def choose(self, path: Path) -> None:
        """Make this row the chosen one: open what it lies in and bring it into sight. () chooses none. Never emits."""
        self._silent = True
        for depth in range(1, len(path)):
            self.expand(self.rows.at(path[:depth]))
        if path != self.current():
            index = self.rows.at(path)
            self.setCurrentIndex(index)
            if not index.isValid():
                self.clearSelection()
        self._silent = False
        if path and self.isVisible():
            self._bring_into_sight(self.currentIndex())

    def is_open(self, path: Path) -> bool:
        """Whether the row and all it lies in are open."""
        return all(path[:depth] in self._open for depth in range(1, len(path) + 1))

    def opened(self) -> frozenset[Path]:
        """The rows that are open, also those that lie in a closed one."""
        return frozenset(self._open)

    def content_height(self) -> int:
        """What the captions and all rows that are open take, in px."""
        rows = self.rows.rowCount() + sum(self.rows.rowCount(self.rows.at(p)) for p in self._open if self.is_open(p))
        return self.paint.caption_height + rows * self.paint.row_height

    def fit(self) -> None:
        """Give every column its width; hide the least important where they do not all fit."""
        self._measure()
        widths = self._widths.shared(self.viewport().width())
        for i in range(len(self.columns)):
            self.setColumnHidden(i, i not in widths)
            if i in widths and widths[i] != self.columnWidth(i):
                self.setColumnWidth(i, widths[i])
        self._fetch_at_the_end()
        self.arranged.emit()

    def needed(self, room: int) -> int:
        """What those columns take that would be shown in a table of this width."""
        return self._widths.needed(room)

    def shows(self, column: int, room: int) -> bool:
        """Whether the column would be shown in a table of this width."""
        return self._widths.shows(column, room)

    def slots(self) -> list[Slot]:
        """Where the shown columns stand, in the viewport's px."""
        shown = (i for i in range(len(self.columns)) if not self.isColumnHidden(i))
        return [Slot(i, self.columnViewportPosition(i), self.columnWidth(i)) for i in shown]

    # -- how it works --

    def _bring_into_sight(self, index: QModelIndex) -> None:
        """With what comes before and after it; from far away to the middle."""
        rect, margin = self.visualRect(index), _AROUND * self.paint.row_height
        if rect.bottom() < 0 or rect.top() > self.viewport().height() or rect.isEmpty():
            self.scrollTo(index, QTreeView.ScrollHint.PositionAtCenter)
            return
        bar = self.verticalScrollBar()
        below = rect.bottom() + margin - self.viewport().height()
        if rect.top() < margin:
            bar.setValue(bar.value() - (margin - rect.top()) // self.paint.row_height)
        elif below > 0:
            bar.setValue(bar.value() - (-below // self.paint.row_height))

    def _visible(self) -> Iterator[QModelIndex]:
        index, bottom = self.indexAt(self.viewport().rect().topLeft()), self.viewport().height()
        while index.isValid() and self.visualRect(index).top() < bottom:
            yield index
            index = self.indexBelow(index)

    def _measure(self) -> None:
        """Widen columns for what is in sight."""
        for index in self._visible():
            self._widths.see(*self.paint.widths(self.rows.line(index), len(self.rows.path(index)) - 1))
        for line in self._below:
            self._widths.see(*self.paint.widths(line, 0))

    def _fetch_at_the_end(self) -> None:
        last = self.indexAt(self.viewport().rect().bottomLeft())
        if last.isValid() and last.row() == self.rows.rowCount(last.parent()) - 1:
            self.rows.fetchMore(last.parent())

    def _scrolled(self, _: int) -> None:
        self._later.start()  # not connected itself: it would take the value for an interval

    def _on_expanded(self, index: Index) -> None:
        self._open.add(self.rows.path(index))
        self._later.start()
        self.arranged.emit()

    def _on_collapsed(self, index: Index) -> None:
        self._open.discard(self.rows.path(index))
        self._later.start()
        self.arranged.emit()

    def _moved(self, current: QModelIndex) -> None:
        if not self._silent and current.isValid():
            self.chosen.emit(self.rows.path(current))

    def _restyle(self) -> None:
        self.paint.restyle()
        self._widths.forget()
        self.header().updateGeometry()
        self.updateGeometries()
        self.doItemsLayout()
        self._later.start()

    # -- what Qt asks --

    def drawRow(  # noqa: N802 (Qt's name)
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        tokens, path = theme.tokens(), self.rows.path(index)
        rect = QRect(0, option.rect.top(), self.viewport().width(), self.paint.row_height)
        if rect.bottom() > self.viewport().height() > 2 * self.paint.row_height:
            return  # a row is shown whole or not at all
        if path == self.current():
            painter.fillRect(rect, QColor(tokens.selected))
            painter.fillRect(rect.left(), rect.top(), 3, rect.height(), QColor(tokens.accent_text))
            if self.hasFocus():
                painter.setPen(QPen(QColor(tokens.accent_text), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)  # the last mark that was painted has left its own
                painter.drawRect(rect.adjusted(0, 0, -1, -1))
        elif path == self._hovered:
            painter.fillRect(rect, QColor(tokens.field))
        hairline(painter, rect.left(), rect.right(), rect.bottom())
        opened = self.isExpanded(index) if self.rows.hasChildren(index) else None
        self.paint.paint(painter, self.rows.line(index), self.slots(), rect.top(), depth=len(path) - 1, opened=opened)

    def resizeEvent(self, event: QResizeEvent) -> None:
        current = self.visualRect(self.currentIndex())
        seen = not current.isEmpty() and current.bottom() <= event.oldSize().height() and current.top() >= 0
        super().resizeEvent(event)
        self.fit()
        if seen:
            self._bring_into_sight(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}.get(Qt.Key(event.key()))
        if page and self._pages:
            self.paged.emit(page)
        elif event.text().isprintable() and event.text() not in ("", "+", "-", "*"):
            event.ignore()  # letters and Space belong to the window
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.rows.path(self.indexAt(event.position().toPoint())))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(())

    def _hover(self, path: Path) -> None:
        if path != self._hovered:
            self._hovered = path
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            index = self.indexAt(event.pos())
            QToolTip.showText(event.globalPos(), self.tip(index) if index.isValid() else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def tip(self, index: Index) -> str:
        """The row's note and, where columns are hidden, what they hold; escaped, as a tool tip guesses at HTML."""
        line = self.rows.line(index)
        hidden = [
            f"{column.title}: {cell}"
            for i, (column, cell) in enumerate(zip(self.columns, line.cells, strict=True))
            if cell and self.isColumnHidden(i)
        ]
        texts = [line.cells[0], *hidden, line.note]
        return "<qt>" + "<br>".join(html.escape(text) for text in texts if text) + "</qt>"


class _Heights(QStyledItemDelegate):
    """All rows are of one height; the table paints them itself."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._table = table

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self._table.paint.row_height)
