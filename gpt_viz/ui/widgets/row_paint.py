"""Paints one row of a table: arrow, colour mark, cells. Knows neither the table it stands in nor what it means."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.lazy_rows import Line

INDENT = 14  # px a level; the arrow stands in it
MARK = 9  # px, a side of the colour mark
BESIDE = 7  # px between the mark and the name
SLACK = 2  # px, as text is a fraction wider than it is measured
GAP = 12  # px from the end of a text to the next column
FIGURE_GAP = 10  # px before a figure, which is right-aligned
EDGE = 2  # px after a figure
LEAST_NAME = 64  # px of a name that are always left of it


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Of those with `hides` above 0, the highest is the first to hide where room is short.

    `figures` are right-aligned and never elided; `mono` is for shapes and formulas. `gives` is how many px of its own
    the first column gives up, rather than that another one hides.
    """

    title: str
    hides: int = 0
    mono: bool = False
    figures: bool = False
    muted: bool = False
    gives: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a column stands, in px."""

    column: int
    left: int
    width: int


class RowPaint:
    """The fonts of a table's rows, how wide they make each cell, and how a row is drawn."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.compact = False
        self.restyle()

    def restyle(self) -> None:
        """Take the theme's fonts again."""
        faces = {"name": (theme.ui_font, 0.95), "mono": (theme.mono_font, 0.85), "words": (theme.ui_font, 0.85)}
        self._fonts = {
            (face, bold): font(scale, bold=bold) for face, (font, scale) in faces.items() for bold in (False, True)
        }
        self._metrics = {key: QFontMetrics(font) for key, font in self._fonts.items()}
        self.caption_font = theme.ui_font(0.88)
        metrics = QFontMetrics(self.caption_font)
        self.caption_height = metrics.height() + 9
        self.caption_widths = [
            metrics.horizontalAdvance(column.title) + (FIGURE_GAP + EDGE if column.figures else GAP)
            for column in self.columns
        ]

    @property
    def row_height(self) -> int:
        """What a row takes, in px."""
        return self.height(self.compact)

    def height(self, compact: bool) -> int:
        """What a row takes where rows are set close together, or where they are as far apart as usual."""
        return self._metrics["name", False].height() + (4 if compact else 9)

    def widths(self, line: Line, depth: int) -> tuple[list[int], list[int]]:
        """What each cell needs to be shown whole, and what text needs that may run on over the cells after it."""
        cells, runs = [0] * len(self.columns), [0] * len(self.columns)
        for i, (column, cell) in enumerate(zip(self.columns, line.cells, strict=True)):
            if cell:
                width = self._metrics[self._style(line, i)].horizontalAdvance(cell) + SLACK
                width += FIGURE_GAP + EDGE if column.figures else GAP
                (runs if i == line.span else cells)[i] = width
                cells[i] = max(cells[i], self.caption_widths[i])
        start = (depth + 1) * INDENT + MARK + BESIDE
        cells[0] += start
        return cells, [0, *runs[1:]]  # what runs on from the name may be elided

    def _style(self, line: Line, column: int) -> tuple[str, bool]:
        """The face of a cell; what runs on from a column of formulas is words."""
        face = "name" if not self.columns[column].mono else "words" if column == line.span else "mono"
        return face, line.bold and face == "name"

    def paint(
        self, painter: QPainter, line: Line, slots: list[Slot], top: int, *, depth: int = 0, opened: bool | None = None
    ) -> None:
        """Draw the row from `top` down; `opened` says which way the arrow points, None draws none."""
        tokens = theme.tokens()
        middle = top + self.row_height / 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        left = slots[0].left + depth * INDENT
        if opened is not None:
            painter.setBrush(QColor(tokens.muted))
            painter.drawPolygon(_arrow(left + 6, middle, opened))
        left += INDENT
        if line.kind:
            painter.setBrush(QColor(tokens.kinds[line.kind]))
            painter.drawRoundedRect(QRectF(left, middle - MARK / 2, MARK, MARK), 2, 2)
        ink, quiet = QColor(tokens.text), QColor(tokens.muted)
        for place, slot in enumerate(slots):
            column, cell = self.columns[slot.column], line.cells[slot.column]
            if not cell:
                continue
            style = self._style(line, slot.column)
            painter.setFont(self._fonts[style])
            painter.setPen(QColor(tokens.bad) if line.wrong else quiet if column.muted or line.quiet else ink)
            if column.figures:
                rect = QRect(slot.left, top, slot.width - EDGE, self.row_height)
                painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, cell)
                continue
            start = left + MARK + BESIDE if slot.column == 0 else slot.left
            end = slot.left + slot.width - GAP
            if slot.column == line.span:
                for later in slots[place + 1 :]:
                    if line.cells[later.column]:
                        break
                    end = later.left + later.width - GAP
            shown = self._metrics[style].elidedText(cell, Qt.TextElideMode.ElideRight, end - start)
            painter.drawText(
                QRect(start, top, max(end - start, 0) + GAP, self.row_height), Qt.AlignmentFlag.AlignVCenter, shown
            )

    def paint_captions(self, painter: QPainter, slots: list[Slot]) -> None:
        """Draw the columns' titles, from 0 down."""
        painter.setFont(self.caption_font)
        painter.setPen(QColor(theme.tokens().muted))
        for slot in slots:
            column = self.columns[slot.column]
            inset = INDENT if slot.column == 0 else 0
            rect = QRect(
                slot.left + inset, 0, slot.width - inset - (EDGE if column.figures else 0), self.caption_height
            )
            side = Qt.AlignmentFlag.AlignRight if column.figures else Qt.AlignmentFlag.AlignLeft
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | side, column.title)


def hairline(painter: QPainter, left: int, right: int, y: int, *, strong: bool = False) -> None:
    """A line below a row; a strong one below a heading or above a sum."""
    tokens = theme.tokens()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(QColor(tokens.muted if strong else tokens.line), 1))
    painter.drawLine(left, y, right, y)


def _arrow(x: float, y: float, opened: bool) -> QPolygonF:
    if opened:
        return QPolygonF([QPointF(x - 4, y - 2), QPointF(x + 4, y - 2), QPointF(x, y + 3)])
    return QPolygonF([QPointF(x - 2, y - 4), QPointF(x + 3, y), QPointF(x - 2, y + 4)])
