"""Source code to walk through, line by line, with the current line lit. Knows no language and no file.

Long lines go on in the next row, so that nothing has to be scrolled sideways. A filled square marks a line that
computes something to be seen elsewhere, an empty one a line that makes weights.
"""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
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
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.code_colours import DEFINED, Span, colour, coloured
from gpt_viz.ui.widgets.code_layout import CodeRow, Piece, laid

PAD = 8
MARK = 8  # px, the side of a mark
SCALE = 0.9  # of the base font


class CodeView(QAbstractScrollArea):
    """`chosen` is emitted with the unit that was clicked, `stepped` with -1 or 1 for Up and Down, `turned` likewise
    for Left and Right, `entered` for Enter.
    """

    chosen = Signal(int)
    stepped = Signal(int)
    turned = Signal(int)
    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[CodeRow, ...] = ()
        self.unit: int | None = None
        self._spans: tuple[tuple[Span, ...], ...] = ()
        self._pieces: list[Piece] = []
        self._height = 0.0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        theme.theme.changed.connect(self._restyle)

    def show_rows(self, rows: tuple[CodeRow, ...]) -> None:
        """Show another source, from its beginning, with nothing chosen."""
        if rows != self.rows:
            self.rows, self.unit = rows, None
            self._spans = coloured([row.text for row in rows])
            self._lay()
            self.verticalScrollBar().setValue(0)

    def choose(self, unit: int | None) -> None:
        """Light the rows of that unit and bring them into sight; None lights none and shows the beginning."""
        self.unit = unit
        self._bring_into_sight()
        lit = [row.text.strip() for row in self.rows if unit is not None and row.unit == unit]
        self.setAccessibleDescription(" ".join(lit))
        self.viewport().update()

    def unit_at(self, y: float) -> int | None:
        """The unit of the row at this height of the widget; of a row without one, that of the row before."""
        if not self._pieces:
            return None
        at = y + self.verticalScrollBar().value()
        index = bisect_right([piece.top for piece in self._pieces], at) - 1
        if index < 0 or at >= self._height:
            return None
        row = self._pieces[index].row
        return next((self.rows[i].unit for i in range(row, -1, -1) if self.rows[i].unit is not None), None)

    def row_rect(self, row: int) -> QRectF:
        """Where a row stands in the widget, all its lines."""
        mine = [i for i, piece in enumerate(self._pieces) if piece.row == row]
        top = self._pieces[mine[0]].top
        bottom = self._pieces[mine[-1] + 1].top if mine[-1] + 1 < len(self._pieces) else self._height - PAD
        return QRectF(0, top - self.verticalScrollBar().value(), self.viewport().width(), bottom - top)

    # -- laying out --

    def _line_height(self) -> float:
        return QFontMetricsF(theme.mono_font(SCALE)).height() + 3

    def _column(self) -> float:
        return QFontMetricsF(theme.mono_font(SCALE)).horizontalAdvance("0")

    def _left(self) -> float:
        """Where the code begins: after the numbers and the marks."""
        digits = len(str(max((row.number for row in self.rows), default=0)))
        return PAD + digits * self._column() + 8 + MARK + 8

    def _lay(self) -> None:
        columns = max(int((self.viewport().width() - self._left() - PAD) / self._column()), 12)
        step = self._line_height()
        self._pieces, end = laid(self.rows, self._spans, columns, step, PAD)
        self._height = end + PAD
        bar, room = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, self._snapped(self._height - room))
        bar.setPageStep(room)
        bar.setSingleStep(round(step))
        self.viewport().update()

    def _snapped(self, scrolled: float) -> int:
        """So far down or a little further, so that no row is cut in two at the upper edge."""
        if scrolled <= 0:
            return 0
        return next((round(piece.top) - 2 for piece in self._pieces if piece.top - 2 >= scrolled), round(scrolled))

    def _bring_into_sight(self) -> None:
        mine = [i for i, row in enumerate(self.rows) if self.unit is not None and row.unit == self.unit]
        bar = self.verticalScrollBar()
        if not mine:
            bar.setValue(0)
            return
        near = 2 * self._line_height()  # of what stands around it, too
        top = self.row_rect(mine[0]).top() + bar.value() - near
        bottom = self.row_rect(mine[-1]).bottom() + bar.value() + near
        wanted = min(max(bar.value(), bottom - self.viewport().height()), top)
        bar.setValue(self._snapped(wanted))

    def _restyle(self) -> None:
        self._lay()
        self._bring_into_sight()

    # -- Qt's own --

    def sizeHint(self) -> QSize:
        return QSize(480, 240)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, round(3 * self._line_height()) + 2 * PAD)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay()
        self._bring_into_sight()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Only the keys of the walk; all others are left to the window."""
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        ways = {Qt.Key.Key_Up: (self.stepped, -1), Qt.Key.Key_Down: (self.stepped, 1)}
        ways |= {Qt.Key.Key_Left: (self.turned, -1), Qt.Key.Key_Right: (self.turned, 1)}
        if modifiers == Qt.KeyboardModifier.NoModifier and key in ways:
            signal, way = ways[Qt.Key(key)]
            signal.emit(way)
        elif modifiers == Qt.KeyboardModifier.NoModifier and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        unit = self.unit_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and unit is not None:
            self.chosen.emit(unit)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self.unit_at(event.position().y()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, room = theme.tokens(), self.viewport().rect()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outlined = tokens.name == "contrast" or self.hasFocus()
        painter.setPen(
            QColor(tokens.accent_text if self.hasFocus() else tokens.line) if outlined else Qt.PenStyle.NoPen
        )
        painter.setBrush(QColor(tokens.field))
        painter.drawRoundedRect(QRectF(room).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setClipRect(QRectF(room).adjusted(1, 2, -1, -2))
        scrolled, step, left = self.verticalScrollBar().value(), self._line_height(), self._left()
        for piece in self._pieces:
            top = piece.top - scrolled
            if top + step > 0 and top + step <= room.height():  # a row cut in two at the lower edge is left out
                self._paint_piece(painter, piece, QRectF(0, top, room.width(), step), left)
        painter.end()

    def _paint_piece(self, painter: QPainter, piece: Piece, rect: QRectF, left: float) -> None:
        tokens, row = theme.tokens(), self.rows[piece.row]
        if row.unit is not None and row.unit == self.unit:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selected))
            painter.drawRect(rect.adjusted(1, 0, -1, 0))
            painter.setBrush(QColor(tokens.accent_text))
            painter.drawRect(QRectF(1, rect.top(), 3, rect.height()))
        if piece.start == 0:
            self._paint_gutter(painter, row, rect, left)
        column, plain, bold = self._column(), theme.mono_font(SCALE), theme.mono_font(SCALE, bold=True)
        metrics = QFontMetricsF(plain)
        base = rect.top() + (rect.height() - metrics.height()) / 2 + metrics.ascent()
        for span in self._spans[piece.row]:
            start, end = max(span.start, piece.start), min(span.end, piece.end)
            if start < end:
                painter.setFont(bold if span.role == DEFINED else plain)
                painter.setPen(colour(span.role))
                x = left + (piece.indent + start - piece.start) * column
                painter.drawText(QPointF(x, base), row.text[start:end])

    def _paint_gutter(self, painter: QPainter, row: CodeRow, rect: QRectF, left: float) -> None:
        tokens = theme.tokens()
        if row.number and row.text:
            painter.setFont(theme.mono_font(SCALE))
            painter.setPen(QColor(tokens.muted))
            numbers = QRectF(0, rect.top(), left - MARK - 16, rect.height())
            painter.drawText(numbers, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(row.number))
        if row.mark:
            square = QRectF(left - MARK - 8, rect.center().y() - MARK / 2, MARK, MARK)
            mark = QColor(tokens.kinds[row.mark])
            painter.setPen(QPen(mark, 1.5) if row.hollow else Qt.PenStyle.NoPen)
            painter.setBrush(Qt.BrushStyle.NoBrush if row.hollow else mark)
            painter.drawRoundedRect(square.adjusted(0.75, 0.75, -0.75, -0.75) if row.hollow else square, 2, 2)
