"""A text as rows of tokens on a page: where each one stands, how a row is painted. Knows no widget and no scrolling.

A row is painted as three strings at most, whatever its length: monospace columns stay in line by themselves. Only
tokens whose glyphs may have another width than the font's own are painted one by one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.glyphs import is_invisible, visible
from gpt_viz.ui.widgets.tint import mixed
from gpt_viz.ui.widgets.wrapping import Wrapping

PITCH = 1.35  # distance of two rows, in heights of the font
# How a token is laid out, kept in one number: two flags, and above them its width in columns.
BREAKS, ODD, WIDTH = 1, 2, 4


def shown(piece: str) -> str:
    """A token as it stands in running text, where a dot for a space reads easier than the mark that labels have.

    >>> shown(" to\\n")
    '·to↵'
    """
    return "·".join(visible(part) if part else "" for part in piece.split(" "))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class _Forms(dict[str, int]):
    """The layout of each different token, found out once."""

    def __missing__(self, piece: str) -> int:
        label = shown(piece)
        # A line break hangs in the margin, so that a full row can end with one.
        width = 0 if piece == "\n" else max(sum(map(_columns, label)), 1)
        odd = not (label.isascii() or label == "·")
        self[piece] = form = width * WIDTH + odd * ODD + ("\n" in piece) * BREAKS
        return form


class _Layer(dict[str, str]):
    """What each token adds to one of a row's strings: its ink where it belongs there, else blanks as wide."""

    def __init__(self, forms: _Forms, gap: str, *, faint: bool) -> None:
        super().__init__()
        self._forms, self._gap, self._faint = forms, gap, faint

    def __missing__(self, piece: str) -> str:
        form = self._forms[piece]
        here = not form & ODD and is_invisible(piece) == self._faint
        self[piece] = text = (shown(piece) if here else " " * (form // WIDTH)) + self._gap
        return text


class TokenPage:
    """Tokens in rows; those before `given` were not sampled. Lengths are pixels, the first row begins at (0, 0).

    `gap` is what stands between two tokens: nothing between characters, a space between ids.
    """

    def __init__(self) -> None:
        self.rows = Wrapping()
        self.pieces: list[str] = []
        self.given = 0
        self.gap = ""
        self._forms = _Forms()
        self._layers()
        self.measure()

    def measure(self) -> None:
        """Take the theme's font as it is now."""
        self.font = theme.mono_font()
        for ligatures in ("liga", "calt"):  # one token, one glyph
            self.font.setFeature(QFont.Tag(ligatures), 0)
        metrics = QFontMetricsF(self.font)
        self.cell = metrics.horizontalAdvance("0" * 100) / 100
        self.pitch = round(metrics.height() * PITCH)
        self._baseline = (self.pitch - metrics.height()) / 2 + metrics.ascent()

    @property
    def height(self) -> int:
        """How high all rows are together."""
        return self.rows.rows * self.pitch

    def set_gap(self, gap: str) -> None:
        """Write this between tokens; only while there are none."""
        if gap != self.gap:
            self.gap = gap
            self._layers()

    def append(self, pieces: Sequence[str]) -> None:
        """Add tokens at the end, at the cost of what is added."""
        self.pieces += pieces
        forms = np.fromiter(map(self._forms.__getitem__, pieces), np.int64, len(pieces))
        self.rows.append(forms // WIDTH + len(self.gap), (forms & BREAKS) != 0)

    def truncate(self, count: int) -> None:
        """Keep the first `count` tokens."""
        del self.pieces[count:]
        self.rows.truncate(count)

    def wrap(self, width: float) -> None:
        """Write rows that are at most this wide; a gap and a line break at their end may hang over."""
        self.rows.rewrap(max(int(width / self.cell), 1) + len(self.gap))

    def token_at(self, x: float, y: float) -> int | None:
        """The token at a place of the page."""
        row, column = int(y // self.pitch), x / self.cell
        if not 0 <= row < self.rows.rows:
            return None
        edges = self.rows.edges(row)
        # To the mouse a line break is one column wide.
        if not 0 <= column < max(edges[-1], edges[-2] + 1):
            return None
        return self._in_row(row, column)

    def beside(self, token: int, step: int) -> int:
        """The token above (-1) or below (1); the same one where there is no further row."""
        row = self.rows.row_of(token) + step
        return self._in_row(row, self.rect(token).left() / self.cell) if 0 <= row < self.rows.rows else token

    def rect(self, token: int) -> QRectF:
        """Where a token is drawn."""
        row = self.rows.row_of(token)
        edges, offset = self.rows.edges(row), token - self.rows.span(row)[0]
        begin, end = int(edges[offset]), int(edges[offset + 1]) - len(self.gap)
        columns = min(max(end - begin, 1), max(self.rows.columns - len(self.gap), 1))
        return QRectF(begin * self.cell, row * self.pitch, columns * self.cell, self.pitch)

    def paint_row(self, painter: QPainter, row: int) -> None:
        """Paint one row: what was given muted, what was sampled plain, what has no ink of its own faint."""
        colours = theme.tokens()
        start, end = self.rows.span(row)
        pieces, edges = self.pieces[start:end], self.rows.edges(row)
        given = max(min(self.given - start, len(pieces)), 0)
        faint = mixed(colours.muted, colours.field, 0.7)
        if given and colours.muted == colours.text:  # the contrast theme knows no grey
            ground = QRectF(0, row * self.pitch + 1, max(int(edges[given]), 1) * self.cell, self.pitch - 2)
            painter.fillRect(ground, QColor(colours.masked))
        for colour, layer, first, last in (
            (QColor(colours.muted), self._ink, 0, given),
            (QColor(colours.text), self._ink, given, len(pieces)),
            (faint, self._faint, 0, len(pieces)),
        ):
            text = "".join(map(layer.__getitem__, pieces[first:last]))
            if text and not text.isspace():
                painter.setPen(colour)
                painter.drawText(QPointF(int(edges[first]) * self.cell, row * self.pitch + self._baseline), text)
        for offset, piece in enumerate(pieces):
            if self._forms[piece] & ODD:
                ink = QColor(colours.muted if offset < given else colours.text)
                painter.setPen(faint if is_invisible(piece) else ink)
                self.paint_token(painter, start + offset)

    def paint_token(self, painter: QPainter, token: int) -> None:
        """Paint one token in the middle of its columns, with the painter's pen."""
        rect, label = self.rect(token), shown(self.pieces[token])
        columns = round(rect.width() / self.cell)
        if self._forms[self.pieces[token]] // WIDTH > columns:
            label = label[: max(columns - 1, 0)] + "…"
        painter.drawText(rect.adjusted(-self.cell, 0, self.cell, 0), Qt.AlignmentFlag.AlignCenter, label)

    def _in_row(self, row: int, column: float) -> int:
        start, end = self.rows.span(row)
        offset = int(np.searchsorted(self.rows.edges(row), column + 1e-6, "right")) - 1
        return min(start + max(offset, 0), end - 1)

    def _layers(self) -> None:
        self._ink = _Layer(self._forms, self.gap, faint=False)
        self._faint = _Layer(self._forms, self.gap, faint=True)
