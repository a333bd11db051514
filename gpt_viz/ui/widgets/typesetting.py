"""Lays a formula's parts out: where each letter and each rule stands. Knows fonts, and nothing of what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from gpt_viz.ui.theme import ui_font
from gpt_viz.ui.widgets.formula_text import (
    OPERATORS,
    Cases,
    Fraction,
    Gap,
    Line,
    Paren,
    Part,
    Root,
    Script,
    Total,
    Word,
)

LEAST = 0.85  # of the base size: no letter is smaller
_SCRIPT = 0.76  # how large high and low letters are, to those that they stand at
_DRAW = Callable[[QPainter, float, float], None]


@dataclass(frozen=True, slots=True)
class Set:
    """A part laid out: what it takes to the right, above and below its base line, and how it is drawn from there."""

    width: float
    ascent: float
    descent: float
    draw: _DRAW

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.ascent + self.descent


class Typesetter:
    """Lays parts out at a size, in times of the base size of the window's font."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self._fonts: dict[tuple[float, bool], tuple[QFont, QFontMetricsF]] = {}

    def lay(self, part: Part, scale: float | None = None) -> Set:
        """A part laid out."""
        scale = self.scale if scale is None else scale
        if isinstance(part, Word):
            return self._word(part, scale)
        if isinstance(part, Gap):
            return Set(0.3 * self._em(scale), 0, 0, _nothing)
        if isinstance(part, Line):
            return self.row([self.lay(each, scale) for each in part.parts])
        if isinstance(part, Fraction):
            return self._fraction(part, scale)
        if isinstance(part, Root):
            return self._root(part, scale)
        if isinstance(part, Paren):
            return self._paren(part, scale)
        if isinstance(part, Cases):
            return self._cases(part, scale)
        if isinstance(part, Script):
            return self._script(part, scale)
        return self._total(scale)

    @staticmethod
    def row(parts: Sequence[Set]) -> Set:
        """Parts that are laid out, one after the other."""

        def draw(painter: QPainter, x: float, y: float) -> None:
            for part in parts:
                part.draw(painter, x, y)
                x += part.width

        ascent = max((part.ascent for part in parts), default=0.0)
        descent = max((part.descent for part in parts), default=0.0)
        return Set(sum(part.width for part in parts), ascent, descent, draw)

    # -- fonts --

    def _face(self, scale: float, leans: bool) -> tuple[QFont, QFontMetricsF]:
        key = (max(scale, LEAST), leans)
        if key not in self._fonts:
            font = ui_font(key[0])
            font.setItalic(leans)
            self._fonts[key] = (font, QFontMetricsF(font))
        return self._fonts[key]

    def _em(self, scale: float) -> float:
        return self._face(scale, False)[1].horizontalAdvance("M")

    def _axis(self, scale: float) -> float:
        """How high above the base line the middle of a minus stands."""
        return self._face(scale, False)[1].xHeight() * 0.56

    # -- parts --

    def _word(self, word: Word, scale: float) -> Set:
        font, metrics = self._face(scale, word.leans)
        around = 0.0
        if word.text in OPERATORS and word.binds:
            around = (0.14 if word.text in "·|" else 0.24) * self._em(scale)
        after = 0.22 * self._em(scale) if word.text == "," else 0.0
        lean = 0.06 * self._em(scale) if word.leans else 0.0
        wide = metrics.horizontalAdvance(word.text)

        def draw(painter: QPainter, x: float, y: float) -> None:
            painter.setFont(font)
            painter.drawText(QPointF(x + around, y), word.text)

        return Set(wide + 2 * around + after + lean, metrics.ascent() * 0.82, metrics.descent() * 0.8, draw)

    def _fraction(self, part: Fraction, scale: float) -> Set:
        above, below = self.lay(part.above, scale * 0.92), self.lay(part.below, scale * 0.92)
        axis, air = self._axis(scale), 0.22 * self._em(scale)
        wide = max(above.width, below.width) + 0.3 * self._em(scale)

        def draw(painter: QPainter, x: float, y: float) -> None:
            above.draw(painter, x + (wide - above.width) / 2, y - axis - air - above.descent)
            below.draw(painter, x + (wide - below.width) / 2, y - axis + air + below.ascent)
            _rule(painter, x, x + wide, y - axis)

        return Set(wide + 0.12 * self._em(scale), axis + air + above.height, below.height + air - axis, draw)

    def _root(self, part: Root, scale: float) -> Set:
        inner, em = self.lay(part.inner, scale), self._em(scale)
        hook, air = 0.55 * em, 0.14 * em

        def draw(painter: QPainter, x: float, y: float) -> None:
            top, bottom = y - inner.ascent - air, y + inner.descent * 0.7
            path = QPainterPath(QPointF(x + 0.04 * em, y - inner.ascent * 0.42))
            path.lineTo(x + 0.16 * em, y - inner.ascent * 0.5)
            path.lineTo(x + 0.32 * em, bottom)
            path.lineTo(x + hook, top)
            path.lineTo(x + hook + inner.width + 0.1 * em, top)
            _stroke(painter, path)
            inner.draw(painter, x + hook + 0.05 * em, y)

        return Set(hook + inner.width + 0.16 * em, inner.ascent + air + 1, inner.descent, draw)

    def _paren(self, part: Paren, scale: float) -> Set:
        inner, em = self.lay(part.inner, scale), self._em(scale)
        side = 0.34 * em

        def draw(painter: QPainter, x: float, y: float) -> None:
            top, bottom = y - inner.ascent - 1, y + inner.descent + 1
            for left, bend in ((x + side * 0.85, -1), (x + side + inner.width + side * 0.15, 1)):
                path = QPainterPath(QPointF(left, top))
                path.quadTo(left + bend * side * 0.9, (top + bottom) / 2, left, bottom)
                _stroke(painter, path)
            inner.draw(painter, x + side, y)

        return Set(inner.width + 2 * side, inner.ascent + 1, inner.descent + 1, draw)

    def _cases(self, part: Cases, scale: float) -> Set:
        rows, em = [self.lay(row, scale) for row in part.rows], self._em(scale)
        axis, air, brace = self._axis(scale), 0.2 * em, 0.6 * em
        tall = sum(row.height for row in rows) + air * (len(rows) - 1)

        def draw(painter: QPainter, x: float, y: float) -> None:
            top = y - axis - tall / 2
            middle, bottom = y - axis, top + tall
            path = QPainterPath(QPointF(x + brace * 0.75, top))
            path.cubicTo(x + brace * 0.2, top, x + brace * 0.7, middle, x + brace * 0.1, middle)
            path.cubicTo(x + brace * 0.7, middle, x + brace * 0.2, bottom, x + brace * 0.75, bottom)
            _stroke(painter, path)
            for row in rows:
                row.draw(painter, x + brace + 0.1 * em, top + row.ascent)
                top += row.height + air

        wide = brace + 0.1 * em + max(row.width for row in rows)
        return Set(wide, tall / 2 + axis, tall / 2 - axis, draw)

    def _script(self, part: Script, scale: float) -> Set:
        base = self.lay(part.base, scale)
        low = self.lay(part.low, scale * _SCRIPT) if part.low else None
        high = self.lay(part.high, scale * _SCRIPT) if part.high else None
        if isinstance(part.base, Total):
            return self._bounded(base, low, high)
        # What is high keeps its own low letters above the middle of the line, so that no rule below runs through them.
        up = max(base.ascent - 0.5 * high.height, high.descent + 0.9 * self._axis(scale)) if high else 0.0
        down = base.descent + 0.05 * self._em(scale)
        if low and high:  # both keep clear of each other
            close = max((high.descent - up) - (down - low.ascent) + 1, 0.0)
            up, down = up + close / 2, down + close / 2
        width = base.width + max(each.width if each else 0.0 for each in (low, high))

        def draw(painter: QPainter, x: float, y: float) -> None:
            base.draw(painter, x, y)
            if low:
                low.draw(painter, x + base.width, y + down)
            if high:
                high.draw(painter, x + base.width, y - up)

        tall = max(base.ascent, up + high.ascent if high else 0)
        deep = max(base.descent, down + low.descent if low else 0)
        return Set(width + 0.04 * self._em(scale), tall, deep, draw)

    def _bounded(self, base: Set, low: Set | None, high: Set | None) -> Set:
        wide = max(each.width for each in (base, low, high) if each) + 3

        def draw(painter: QPainter, x: float, y: float) -> None:
            base.draw(painter, x + (wide - base.width) / 2, y)
            if low:
                low.draw(painter, x + (wide - low.width) / 2, y + base.descent + low.ascent + 1)
            if high:
                high.draw(painter, x + (wide - high.width) / 2, y - base.ascent - high.descent - 1)

        above = base.ascent + (high.height + 1 if high else 0)
        return Set(wide + 2, above, base.descent + (low.height + 1 if low else 0), draw)

    def _total(self, scale: float) -> Set:
        em, axis = self._em(scale), self._axis(scale)
        wide, tall = 0.92 * em, 1.5 * em

        def draw(painter: QPainter, x: float, y: float) -> None:
            top, bottom = y - axis - tall / 2, y - axis + tall / 2
            path = QPainterPath(QPointF(x + wide, top + tall * 0.12))
            path.lineTo(x + wide * 0.95, top)
            path.lineTo(x + wide * 0.06, top)
            path.lineTo(x + wide * 0.55, (top + bottom) / 2)
            path.lineTo(x + wide * 0.06, bottom)
            path.lineTo(x + wide * 0.95, bottom)
            path.lineTo(x + wide, bottom - tall * 0.12)
            _stroke(painter, path)

        return Set(wide + 0.1 * em, axis + tall / 2, tall / 2 - axis, draw)


def _nothing(painter: QPainter, x: float, y: float) -> None:
    return


def _rule(painter: QPainter, left: float, right: float, y: float) -> None:
    painter.fillRect(QRectF(left, round(y) - 0.5, right - left, 1.1), painter.pen().color())


def _stroke(painter: QPainter, path: QPainterPath) -> None:
    pen, ink = painter.pen(), QPen(QColor(painter.pen().color()), 1.2)
    ink.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    ink.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(ink)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    painter.setPen(pen)
