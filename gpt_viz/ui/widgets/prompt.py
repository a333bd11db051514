"""The text under study, each token in a cell of its own. Knows no model and no engine.

The line shows every character, a newline as `↵`; `text()` has the real ones.
"""

from __future__ import annotations

import html
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextCursor,
    QTextLine,
)
from PySide6.QtWidgets import QTextEdit, QToolTip, QWidget

from gpt_viz.ui.theme import mono_font, theme, tokens
from gpt_viz.ui.widgets import glyphs
from gpt_viz.ui.widgets.one_line import OneLineEdit

_GAP = 4.0  # px between the characters of two cells
_MARGIN = 8


class PromptEdit(OneLineEdit):
    """The text under study, one line of cells. `clicked` is the position of a clicked character, counted from 0."""

    clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marks: tuple[int | None, int | None] = (None, None)
        self._refused: list[int] = []
        self._message = ""
        self._pressed: int | None = None
        self.setObjectName("text.prompt")
        self.setAccessibleName("Text under study")
        self.setPlaceholderText("type a text here")
        self.document().setDocumentMargin(_MARGIN)
        self.document().clearUndoRedoStacks()
        self.edited.connect(self._mark_letter)
        self.selectionChanged.connect(self.viewport().update)
        theme.changed.connect(self._restyle)
        self._restyle()

    # -- what is shown on it --

    def mark(self, query: int | None, key: int | None) -> None:
        """Fill the cell of the query's character and outline the key's; None marks nothing."""
        if (query, key) != self._marks:
            self._marks = (query, key)
            self._mark_letter()
            # While someone types, the line stays where their cursor is.
            if query is not None and not self.hasFocus():
                self._reveal(query)
            self.viewport().update()

    def _reveal(self, position: int) -> None:
        line = self._line()
        if line.isValid() and 0 <= position < len(self._text):
            rect, bar = self._cell(line, position), self.horizontalScrollBar()
            beyond = max(rect.right() + _MARGIN - self.viewport().width(), 0.0) + min(rect.left() - _MARGIN, 0.0)
            bar.setValue(bar.value() + round(beyond))

    def _mark_letter(self, *_: object) -> None:
        query = self._marks[0]
        selections = []
        if query is not None and 0 <= query < len(self._text):
            letter = QTextEdit.ExtraSelection()
            letter.cursor = QTextCursor(self.document())
            letter.cursor.setPosition(self.unit(query))
            letter.cursor.setPosition(self.unit(query + 1), QTextCursor.MoveMode.KeepAnchor)
            letter.format.setForeground(QColor(tokens().card))
            selections.append(letter)
        self.setExtraSelections(selections)

    def show_refusal(self, positions: Iterable[int], message: str) -> None:
        """Underline the characters that the model can't read; `message` says so. Nothing and "" take it back."""
        self._refused = sorted(positions)
        self._message = message
        self.setToolTip(f"<qt>{html.escape(message)}</qt>" if message else "")
        self.setAccessibleDescription(message)
        self.viewport().update()

    # -- places --

    def _line(self) -> QTextLine:
        return self.document().firstBlock().layout().lineAt(0)

    def _position_at(self, x: float) -> int | None:
        """The position of the character drawn at x of the viewport, or None beside them."""
        line = self._line()
        if not line.isValid() or not self._text:
            return None
        along = x - self.contentOffset().x() + _GAP / 2
        unit = line.xToCursor(along, QTextLine.CursorPosition.CursorOnCharacter)
        position = self.position(unit)
        if not 0 <= position < len(self._text):
            return None
        rect = self._cell(line, position)
        return position if rect.left() <= x < rect.right() + 1 else None

    def _cell(self, line: QTextLine, position: int) -> QRectF:
        # PySide gives (x, cursor) for what C++ calls cursorToX(cursor).
        left = line.cursorToX(self.unit(position))[0]  # type: ignore[index]
        right = line.cursorToX(self.unit(position + 1))[0]  # type: ignore[index]
        x = self.contentOffset().x() + min(left, right) - _GAP / 2
        height = self.fontMetrics().height()
        return QRectF(x + 0.5, (self.viewport().height() - height) / 2 - 1, max(abs(right - left) - 1, 0.0), height + 2)

    def _cells(self, left: float, right: float) -> Iterator[tuple[int, QRectF]]:
        line = self._line()
        if not line.isValid() or not self._text:
            return
        first = line.xToCursor(left - self.contentOffset().x(), QTextLine.CursorPosition.CursorOnCharacter)
        position = max(self.position(first), 0)
        for each in range(max(position - 1, 0), len(self._text)):
            rect = self._cell(line, each)
            if rect.left() > right:
                return
            yield each, rect

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells beneath the text, stand-ins and underlines above it."""
        area = event.rect()
        cells = list(self._cells(area.left(), area.right()))
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, QColor(tokens().card))
        self._paint_cells(painter, cells)
        painter.end()
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_glyphs(painter, cells)
        self._paint_refusal(painter, cells)
        painter.end()

    def _paint_cells(self, painter: QPainter, cells: list[tuple[int, QRectF]]) -> None:
        colours = tokens()
        plain = QColor(colours.field if colours.field != colours.card else colours.masked)
        query, key = self._marks
        painter.setPen(Qt.PenStyle.NoPen)
        for position, rect in cells:
            painter.setBrush(QColor(colours.query) if position == query else plain)
            painter.drawRoundedRect(rect, 2, 2)
            if position == key:
                painter.setPen(QPen(QColor(colours.key), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
                painter.setPen(Qt.PenStyle.NoPen)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent_text), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)

    def _paint_glyphs(self, painter: QPainter, cells: list[tuple[int, QRectF]]) -> None:
        colours = tokens()
        cursor = self.textCursor()
        painter.setFont(self.font())
        block = self.document().firstBlock()
        baseline = (
            self.contentOffset().y() + block.layout().position().y() + self._line().y() + self._line().ascent()
            if cells
            else 0.0
        )
        for position, rect in cells:
            character = self._text[position]
            if character not in " \n\t":
                continue
            selected = cursor.selectionStart() <= self.unit(position) < cursor.selectionEnd()
            marked = position == self._marks[0]
            painter.setPen(QColor(colours.on_accent if selected else colours.card if marked else colours.muted))
            painter.drawText(QPointF(rect.left() + _GAP / 2 - 0.5, baseline), glyphs.visible(character))

    def _paint_refusal(self, painter: QPainter, cells: list[tuple[int, QRectF]]) -> None:
        painter.setPen(QPen(QColor(tokens().bad), 2))
        for position, rect in cells:
            place = bisect_left(self._refused, position)
            if place < len(self._refused) and self._refused[place] == position:
                painter.drawLine(rect.bottomLeft() + QPointF(0, 1.5), rect.bottomRight() + QPointF(0, 1.5))

    def _restyle(self) -> None:
        colours = tokens()
        font = mono_font()
        font.setLetterSpacing(font.SpacingType.AbsoluteSpacing, _GAP)
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.setStyleSheet(
            "PromptEdit, PromptEdit:focus { border: none; padding: 0;"
            f" background: {colours.card}; color: {colours.text};"
            f" placeholder-text-color: {colours.muted};"
            f" selection-background-color: {colours.accent}; selection-color: {colours.on_accent};"
            "}"
        )
        self.setTabStopDistance(QFontMetricsF(font).horizontalAdvance(" "))
        self.setFixedHeight(self.sizeHint().height())
        self._mark_letter()

    def sizeHint(self) -> QSize:
        """One line high."""
        return QSize(480, round(QFontMetricsF(self.font()).height()) + 2 * _MARGIN)

    def minimumSizeHint(self) -> QSize:
        """A few characters wide."""
        return QSize(96, self.sizeHint().height())

    # -- mouse --

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember the character that was pressed."""
        self._pressed = self._position_at(event.position().x())
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A press and a release on the same character choose it."""
        super().mouseReleaseEvent(event)
        position = self._position_at(event.position().x())
        alone = event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection()
        if alone and position is not None and position == self._pressed:
            self.clicked.emit(position)
        self._pressed = None

    def viewportEvent(self, event: QEvent) -> bool:
        """The tool tip tells the position and code of the character under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tip(self._position_at(event.pos().x())), self)
            return True
        return super().viewportEvent(event)

    def _tip(self, position: int | None) -> str:
        lines = [self._message] if self._message else []
        if position is not None:
            character = self._text[position]
            lines.append(f"position {position}: {glyphs.visible(character)}  U+{ord(character):04X}")
        return "<qt>" + "<br>".join(html.escape(line) for line in lines) + "</qt>" if lines else ""
