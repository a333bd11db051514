"""The outlines on a picture: the chosen query's row, the chosen key's column, the cell in hand. Knows no picture."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gpt_viz.ui.theme import tokens


def _outline(painter: QPainter, rect: QRectF, colour: str, width: float) -> None:
    pen = QPen(QColor(colour), width)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)


def mark_query(painter: QPainter, row: QRectF) -> None:
    """Outline the row of the query that looks."""
    _outline(painter, row.adjusted(0, -0.75, 0, 0.75), tokens().query, 1.5)


def mark_key(painter: QPainter, column: QRectF) -> None:
    """Outline the column of the key that is looked at; thin, since many rows cross it."""
    _outline(painter, column.adjusted(-0.5, 0, 0, 0), tokens().key, 1)


def mark_chosen(painter: QPainter, cell: QRectF) -> None:
    """Outline the cell where the chosen row and column meet."""
    _outline(painter, cell.adjusted(-1, -1, 1, 1), tokens().key, 2)


def mark_hovered(painter: QPainter, cell: QRectF) -> None:
    """Outline the cell under the cursor with two lines, so that one of them is seen on any colour."""
    _outline(painter, cell, tokens().card, 1)
    _outline(painter, cell.adjusted(-1, -1, 1, 1), tokens().text, 1)


def mark_focus(painter: QPainter, picture: QRectF) -> None:
    """Frame the picture that has the keyboard."""
    _outline(painter, picture.adjusted(-2, -2, 1, 1), tokens().accent_text, 1)
