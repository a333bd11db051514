"""The tokens along one side of a picture: which of them fit, where each stands, and how they are drawn.

Knows no matrix. `placed` is pure: labels are never made smaller, never overlap and are never cut; what does not fit is
thinned to every k-th, and one label that matters (the chosen or hovered token) may take the room of its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets.glyphs import is_invisible, visible

GAP = 1.0  # px between two labels at least; their rectangles have a pixel of air of their own
LONGEST = 9  # characters of one label; a longer token is shown with an ellipsis
ROTATED_FROM = 1.7  # times its height: a wider label under a picture stands on its side


@dataclass(frozen=True, slots=True)
class Span:
    """The visible cells of one side: cell `first` (may be a fraction) begins at `low`, each is `step` pixels long."""

    count: int
    first: float
    low: float
    high: float
    step: float

    def centre(self, cell: int) -> float:
        """Where the middle of a cell is, in pixels."""
        return self.low + (cell + 0.5 - self.first) * self.step

    @property
    def visible_cells(self) -> range:
        """The cells whose middle can be seen."""
        begin = max(ceil(self.first - 0.5), 0)
        end = min(floor(self.first + (self.high - self.low) / self.step - 0.5 + 1e-6), self.count - 1)
        return range(begin, end + 1)


@dataclass(frozen=True, slots=True)
class Placed:
    """One label to draw: its cell, its text and its rectangle. `chip` marks the one that matters."""

    cell: int
    text: str
    rect: QRectF
    chip: bool = False


def shortened(piece: str) -> str:
    """A token's visible text, at most `LONGEST` characters of it."""
    text = visible(piece)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def thinned(cells: range, count: int, step: float, extent: float) -> list[int]:
    """Every k-th of the visible cells, with the smallest k at which labels of `extent` pixels keep their distance.

    The multiples of k are taken, so that labels stay on their tokens while the picture is moved; the very last of all
    `count` cells is there, too, wherever it can be seen.

    >>> thinned(range(0, 8), 8, step=10.0, extent=15.0)
    [0, 2, 4, 7]
    """
    every = max(ceil((extent + GAP) / step), 1)
    taken = [cell for cell in cells if cell % every == 0]
    last = count - 1
    if last in cells and last not in taken:
        while len(taken) > 1 and (last - taken[-1]) * step < extent + GAP:
            taken.pop()
        if not taken or (last - taken[-1]) * step >= extent + GAP:
            taken.append(last)
    return taken


class TokenAxis:
    """The labels under a picture (`across`) or to the left of it. Holds fonts and sizes, computed once per text."""

    def __init__(self, across: bool) -> None:
        self.across = across
        self._pieces: tuple[str, ...] = ()
        self._texts: tuple[str, ...] = ()
        self._font = QFont()
        self._widest = self._height = 0.0
        self.rotated = False

    def set_font(self, font: QFont) -> None:
        """Measure everything anew in another font."""
        self._font = font
        self._measure()

    def set_pieces(self, pieces: Sequence[str]) -> None:
        """Other tokens, in their order."""
        if tuple(pieces) != self._pieces:
            self._pieces = tuple(pieces)
            self._texts = tuple(shortened(piece) for piece in self._pieces)
            self._measure()

    def _measure(self) -> None:
        metrics = QFontMetricsF(self._font)
        # Fallback fonts (emoji, Chinese) are taller and wider than the font itself, so those texts are measured one by
        # one; of plain ones the font is monospaced, and a thousand of them would take a frame.
        plain = max((len(text) for text in self._texts if text.isascii()), default=0)
        sizes = [self._size(metrics, text) for text in {"0" * plain, *(t for t in self._texts if not t.isascii())}]
        self._widest = max(width for width, _ in sizes)
        self._height = max(height for _, height in sizes)
        self.rotated = self.across and self._widest > ROTATED_FROM * self._height

    @staticmethod
    def _size(metrics: QFontMetricsF, text: str) -> tuple[float, float]:
        ink = metrics.boundingRect(text)
        return max(metrics.horizontalAdvance(text), ink.width()) + 2, max(metrics.capHeight() + 4, ink.height() + 2)

    @property
    def depth(self) -> float:
        """How much room the labels need away from the picture."""
        return ceil(self._height if self.across and not self.rotated else max(self._widest, self._height))

    @property
    def extent(self) -> float:
        """How much room one label needs along the picture."""
        return ceil(self._widest if self.across and not self.rotated else self._height)

    def fitting(self, span: Span) -> list[int]:
        """The cells whose labels keep their distance."""
        return thinned(span.visible_cells, span.count, span.step, self.extent)

    def size(self, text: str) -> tuple[float, float]:
        """The width and the height that a text takes as a label."""
        return self._size(QFontMetricsF(self._font), text)

    def placed(self, span: Span, edge: float, chip: int | None = None) -> list[Placed]:
        """The labels that fit, beside the `edge` of the picture (its bottom or its left side); `chip` always fits."""
        cells = self.fitting(span)
        chip_extent = max(self.extent, ceil(self._height))
        if chip is not None and chip in span.visible_cells:
            clear = (self.extent + chip_extent) / 2 + GAP
            cells = sorted([chip, *(cell for cell in cells if abs(cell - chip) * span.step >= clear)])
        return [
            Placed(
                cell,
                self._texts[cell],
                self._rect(span.centre(cell), edge, chip_extent if cell == chip else self.extent),
                cell == chip,
            )
            for cell in cells
            if cell < len(self._texts)
        ]

    def _rect(self, centre: float, edge: float, extent: float) -> QRectF:
        if self.across:
            return QRectF(centre - extent / 2, edge, extent, self.depth)
        return QRectF(edge - self.depth, centre - extent / 2, self.depth, extent)

    def paint(self, painter: QPainter, labels: list[Placed], chip_fill: QColor, chip_line: QColor) -> None:
        """Draw labels: letters in the text's colour, stand-ins for what has no ink greyed, the chip filled."""
        colours = tokens()
        painter.setFont(self._font)
        for label in labels:
            if label.chip:
                painter.setPen(QPen(chip_line, 1.5))
                painter.setBrush(chip_fill)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.drawRoundedRect(label.rect.adjusted(0.75, 0.75, -0.75, -0.75), 3, 3)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
                painter.setPen(QColor(colours.card if chip_fill == chip_line else colours.text))
            else:
                painter.setPen(QColor(colours.muted if is_invisible(self._pieces[label.cell]) else colours.text))
            self._write(painter, label)

    def _write(self, painter: QPainter, label: Placed) -> None:
        if self.rotated:
            painter.save()
            painter.translate(label.rect.center())
            painter.rotate(-90)
            box = QRectF(-label.rect.height() / 2, -label.rect.width() / 2, label.rect.height(), label.rect.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, label.text)
            painter.restore()
            return
        narrow = self._widest <= self._height  # single characters stand in the middle, numbers end at the picture
        flag = Qt.AlignmentFlag.AlignHCenter if self.across or narrow or label.chip else Qt.AlignmentFlag.AlignRight
        painter.drawText(label.rect, flag | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip, label.text)


def paint_title(painter: QPainter, text: str, font: QFont, at: QPointF, downwards: bool) -> None:
    """Write an axis title in the muted colour from `at`: along the picture's top-to-bottom side, or across."""
    painter.save()
    painter.setFont(font)
    painter.setPen(QColor(tokens().muted))
    painter.translate(at)
    if downwards:
        painter.rotate(90)
    painter.drawText(QPointF(0, 0), text)
    painter.restore()
