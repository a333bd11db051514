"""A tensor drawn: a cell for each number, its axes labelled, the cells that matter lit. Knows no model.

Painted by hand: cells stand on whole device pixels, what stands out survives any shrinking, and where a cell is large
enough its number is written in it.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen

from gpt_viz.ui.theme import contrast, tokens
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.colormap import Pixels, Spans
from gpt_viz.ui.widgets.marks import mark_focus, mark_hovered
from gpt_viz.ui.widgets.tensor_frame import TensorFrame
from gpt_viz.ui.widgets.token_axis import paint_title

VEILED = 0.62  # how far what is not lit is faded
WRITTEN = 600  # so many numbers are written into their cells, at most
_MIDDLE = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
_INKS = ("#14181F", "#FFFFFF")  # on light cells and on dark ones


class TensorCanvas(TensorFrame):
    """Paints the sheet, its marks and its words."""

    # -- painting --

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        colours, codes = tokens(), self.codes
        if codes.size <= rows[0].size * columns[0].size:  # colour few cells, then look each pixel up
            found = shades.pixels_of(codes, self.shades, colours)
            tall, wide = rows[1] - rows[0], columns[1] - columns[0]
            if int(tall.max()) == int(wide.max()) == 1:
                pixels = np.ascontiguousarray(found[rows[0][:, None], columns[0][None, :]])
                if self.sheet is not None and self.sheet.masked is not None:
                    shades.hatch(pixels, self.sheet.masked[rows[0][:, None], columns[0][None, :]], colours.line)
                return pixels
        return shades.pixels_of(shades.pooled(codes, rows, columns), self.shades, colours)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.sheet is None:
            painter.setFont(self._font)
            painter.setPen(QColor(tokens().muted))
            painter.drawText(self.rect(), _MIDDLE, self._message)
            painter.end()
            return
        picture = self.picture()
        painter.drawImage(picture.topLeft(), self.rendered(picture))
        painter.save()
        painter.setClipRect(picture.adjusted(-2, -2, 2, 2))
        self._write_numbers(painter, picture)
        self._paint_groups(painter, picture)
        self._paint_lit(painter, picture)
        if self._marked is not None:
            mark_hovered(painter, self.cell_rect(*self._marked))
        if self._chosen is not None:
            self._paint_chosen(painter, self.cell_rect(*self._chosen))
        if self.hovered_cell is not None:
            mark_hovered(painter, self.cell_rect(*self.hovered_cell))
        painter.restore()
        self.paint_words(painter, picture)
        if self.hasFocus():
            mark_focus(painter, picture)
        painter.end()

    def paint_words(self, painter: QPainter, picture: QRectF) -> None:
        """Write what stands around the cells, which fill `picture`."""
        assert self.sheet is not None
        colours, sheet = tokens(), self.sheet
        if self.small:
            self.paint_name(painter, 2, whole=False)
            return
        beside, below = self.labels()
        chip = QColor(colours.field), QColor(colours.accent_text)
        self._down.paint(painter, beside, *chip)
        self._across.paint(painter, below, *chip)
        line = self._metrics.ascent()
        if sheet.across.title:
            at = QPointF(picture.left(), picture.bottom() + 4 + self._across.depth + 3 + line)
            paint_title(painter, sheet.across.title, self._font, at, False)
        if sheet.down.title:
            at = QPointF(self._metrics.descent() + 1, picture.top())
            paint_title(painter, sheet.down.title, self._font, at, True)

    def paint_name(self, painter: QPainter, left: float, *, whole: bool) -> None:
        """Write the sheet's name and sizes along the upper edge; where not `whole`, what there is no room for goes."""
        assert self.sheet is not None
        colours, name, sizes = tokens(), self.sheet.name, self.sheet.sizes
        if not whole:
            name = self._bold_metrics.elidedText(name, Qt.TextElideMode.ElideLeft, round(self.width() - left))
        painter.setFont(self._bold)
        painter.setPen(QColor(colours.text))
        painter.drawText(QPointF(left, self._bold_metrics.ascent()), name)
        after = left + self._bold_metrics.horizontalAdvance(name) + 8
        if whole or after + self._metrics.horizontalAdvance(sizes) <= self.width():
            painter.setFont(self._font)
            painter.setPen(QColor(colours.muted))
            painter.drawText(QPointF(after, self._metrics.ascent()), sizes)

    def _paint_lit(self, painter: QPainter, picture: QRectF) -> None:
        if self._lit is None:
            return
        colours = tokens()
        veil = QColor(colours.card)
        veil.setAlphaF(VEILED)
        rects = [self.box_rect(box) for box in self._lit]
        clip = painter.clipRegion()
        for rect in rects:  # at least a pixel of what is lit stays in sight
            clip -= QRectF(rect.x(), rect.y(), max(rect.width(), 1), max(rect.height(), 1)).toAlignedRect()
        painter.save()
        painter.setClipRegion(clip)
        painter.fillRect(picture, veil)
        painter.restore()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.accent_text), 1.5))
        for rect in rects:
            painter.drawRect(rect.adjusted(-1, -1, 1, 1))

    def _paint_chosen(self, painter: QPainter, rect: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for grown, colour, width in ((2.0, tokens().card, 1.5), (0.5, tokens().accent_text, 2.0)):
            pen = QPen(QColor(colour), width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawRect(rect.adjusted(-grown, -grown, grown, grown))

    def _paint_groups(self, painter: QPainter, picture: QRectF) -> None:
        """Thin lines between groups of columns, such as the heads in what they leave together, and plain cells."""
        sheet = self.sheet
        assert sheet is not None
        plain = sheet.kind == shades.PLAIN and self.cell_rect(0, 0).width() >= 8
        every = 1 if plain else sheet.across.group
        painter.setPen(QPen(QColor(tokens().card), 2 if plain else 1))
        for column in range(every, sheet.columns, every) if every else ():
            x = self.cell_rect(0, column).x()
            painter.drawLine(QPointF(x, picture.top()), QPointF(x, picture.bottom()))
        for row in range(1, sheet.rows) if plain else ():
            y = self.cell_rect(row, 0).y()
            painter.drawLine(QPointF(picture.left(), y), QPointF(picture.right(), y))
        if sheet.blank:
            begin = self.cell_rect(sheet.rows - 1, sheet.columns - sheet.blank).topLeft()
            painter.fillRect(QRectF(begin, picture.bottomRight()), QColor(tokens().card))

    def _write_numbers(self, painter: QPainter, picture: QRectF) -> None:
        assert self.sheet is not None
        sheet, pane, pixels = self.sheet, self.pane, self._pixels
        wide, high = picture.width() / pane.columns, picture.height() / pane.rows
        if self._lit is not None or pixels is None or pane.rows * pane.columns > WRITTEN:
            return
        longest = max((len(text) for text in sheet.texts), default=6)
        room = self._mono_metrics.horizontalAdvance("0" * longest) + 4
        if high < self._mono_metrics.height() or wide < room:
            return
        painter.setFont(self._mono)
        ratio = self.devicePixelRatioF()
        for row in range(int(pane.row), min(ceil(pane.row + pane.rows), sheet.rows)):
            for column in range(int(pane.column), min(ceil(pane.column + pane.columns), sheet.columns)):
                rect = self.cell_rect(row, column)
                middle = rect.center() - picture.topLeft()
                y, x = int(middle.y() * ratio), int(middle.x() * ratio)
                if 0 <= y < pixels.shape[0] and 0 <= x < pixels.shape[1]:
                    under = f"#{int(pixels[y, x]) & 0xFFFFFF:06X}"
                    painter.setPen(QColor(max(_INKS, key=lambda ink: contrast(ink, under))))
                    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, sheet.text(row, column))
