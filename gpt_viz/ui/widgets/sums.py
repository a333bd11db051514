"""Sums written out, term after term, in as many lines as there is room for. Knows nothing of what is added up.

A sum has a lead, which says it in short, and terms. Where not all of it finds room, the last sums give way to the
first ones. Nothing is cut.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from gpt_viz.ui import theme

MARK, BESIDE = 8, 5  # px: the mark before a term, and the space after it
BETWEEN = 14.0  # px between two chunks
LEADING = 4  # px between two lines
APART = 6  # px between two sums
WORDS, STRONG, FORMULA, QUIET = "words", "strong", "formula", "quiet"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text in one of the faces."""

    text: str
    face: str = WORDS


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pieces that stay in one line; before them a sign, and a mark in the colour of a kind ("" for none).

    `note` is a tool tip.
    """

    pieces: tuple[Piece, ...]
    kind: str = ""
    sign: str = ""
    note: str = ""

    def text(self) -> str:
        """All of it, plain."""
        return " ".join(filter(None, (self.sign, *(piece.text for piece in self.pieces))))


@dataclass(frozen=True, slots=True)
class Sum:
    """What is said in short, and what it consists of."""

    lead: tuple[Chunk, ...]
    terms: tuple[Chunk, ...] = ()

    def text(self) -> str:
        """All of it, plain."""
        return " ".join(chunk.text() for chunk in (*self.lead, *self.terms))


@dataclass(frozen=True, slots=True)
class _Placed:
    chunk: Chunk
    x: float
    y: float
    width: float


class Sums(QWidget):
    """Some sums below each other, small and quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.sums: tuple[Sum, ...] = ()
        self._placed: tuple[_Placed, ...] = ()
        self.setAccessibleName("Sums")
        theme.theme.changed.connect(self._restyle)
        self._restyle()

    def show_sums(self, sums: Sequence[Sum]) -> bool:
        """Show these; whether they are others than before, so that they may take other room."""
        changed = tuple(sums) != self.sums
        if changed:
            self.sums = tuple(sums)
            self.setAccessibleDescription("; ".join(each.text() for each in self.sums))
        return changed

    def fit(self, width: int, height: int) -> int:
        """Arrange as much as finds room in these px; returns the height that it takes, 0 where nothing does."""
        widths = {chunk: self._width(chunk) for each in self.sums for chunk in (*each.lead, *each.terms)}
        for shown in self._choices():
            placed, used = self._arranged(shown, width, widths)
            if used <= height and all(each.x + each.width <= width for each in placed):
                break
        else:
            placed, used = (), 0
        if placed != self._placed:
            self._placed = placed
            self.update()
        return used

    def shown(self) -> str:
        """What finds room, as plain text."""
        return " ".join(each.chunk.text() for each in self._placed)

    def _choices(self) -> Iterator[list[tuple[Chunk, ...]]]:
        """What may be shown, the whole first: then fewer and fewer terms, then fewer sums; leads alone come last."""
        for count in range(len(self.sums), 0, -1):
            for whole in range(count, 0, -1):
                some = self.sums[:count]
                yield [(*each.lead, *each.terms) for each in some[:whole]] + [each.lead for each in some[whole:]]
        for count in range(len(self.sums), 0, -1):
            yield [each.lead for each in self.sums[:count]]

    def _arranged(
        self, sums: list[tuple[Chunk, ...]], width: float, widths: dict[Chunk, float]
    ) -> tuple[tuple[_Placed, ...], int]:
        placed: list[_Placed] = []
        line = self._line + LEADING
        top = y = 0.0
        for chunks in sums:
            x, y = 0.0, top
            for chunk in chunks:
                needed = widths[chunk]
                if x and x + needed > width:
                    x, y = 0.0, y + line
                placed.append(_Placed(chunk, x, y, needed))
                x += needed + BETWEEN
            top = y + line + APART
        return tuple(placed), round(y + line) if placed else 0

    def _width(self, chunk: Chunk) -> float:
        texts = sum(self._metrics[piece.face].horizontalAdvance(piece.text) for piece in chunk.pieces)
        before = self._metrics[QUIET].horizontalAdvance(chunk.sign) + BESIDE if chunk.sign else 0
        return before + texts + self._space * (len(chunk.pieces) - 1) + (MARK + BESIDE if chunk.kind else 0) + 1

    def _restyle(self) -> None:
        self._fonts = {
            WORDS: theme.ui_font(0.9), STRONG: theme.ui_font(0.9, bold=True), QUIET: theme.ui_font(0.9),
            FORMULA: theme.mono_font(0.85),
        }  # fmt: skip
        self._metrics = {face: QFontMetricsF(font) for face, font in self._fonts.items()}
        self._line = round(self._metrics[WORDS].height())
        self._space = self._metrics[WORDS].horizontalAdvance(" ")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self._line + LEADING)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        baseline = self._metrics[WORDS].ascent()
        for each in self._placed:
            x = each.x
            if each.chunk.sign:
                painter.setFont(self._fonts[QUIET])
                painter.setPen(QColor(tokens.muted))
                painter.drawText(round(x), round(each.y + baseline), each.chunk.sign)
                x += self._metrics[QUIET].horizontalAdvance(each.chunk.sign) + BESIDE
            if each.chunk.kind:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(tokens.kinds[each.chunk.kind]))
                painter.drawRoundedRect(QRectF(x, each.y + (self._line - MARK) / 2, MARK, MARK), 2, 2)
                x += MARK + BESIDE
            for piece in each.chunk.pieces:
                painter.setFont(self._fonts[piece.face])
                painter.setPen(QColor(tokens.muted if piece.face in (QUIET, FORMULA) else tokens.text))
                painter.drawText(round(x), round(each.y + baseline), piece.text)
                x += self._metrics[piece.face].horizontalAdvance(piece.text) + self._space
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            at = event.pos()
            note = next((each.chunk.note for each in self._placed if self._covers(each, at)), "")
            QToolTip.showText(event.globalPos(), f"<qt>{html.escape(note)}</qt>" if note else "", self)
            return True
        return super().event(event)

    def _covers(self, each: _Placed, at: QPoint) -> bool:
        return each.x <= at.x() <= each.x + each.width and each.y <= at.y() <= each.y + self._line
