"""A pie chart of two rings round a sum. Knows names and counts, and nothing of what they count.

Zero slices are not drawn, slices under 1 % are drawn as one, a single slice is a full circle, and none is thinner than
can be seen. There are no labels on the slices, so none can overlap: names stand in the tool tip, in the key below and
in the table beside it. Where it is too low for a circle, the rings are unrolled into two bands.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.arcs import Arc, arcs, outline
from gpt_viz.ui.widgets.bands import Bands, unrolled
from gpt_viz.ui.widgets.tint import mixed

OTHER = "other"
_HOLE, _INNER, _OUTER = 0.60, 0.76, 1.0  # radii, as shares of the whole
_SMALL_HOLE, _SMALL_INNER = 0.74, 0.85  # of a small chart, so that the sum finds room
_SMALL_RADIUS = 64.0
_GAP = 0.02
_FOR_KEY = 0.8  # of its width: as small the chart becomes, at most, to make room for the key
_LIFT = 4.0  # px by which a chosen slice stands out


@dataclass(frozen=True, slots=True)
class Wedge:
    """One slice as it is given: its name, how much, and its colour: a kind, or `tint` of it on the ground."""

    name: str
    count: int
    kind: str
    tint: float = 1.0


class Pie(QWidget):
    """Two rings; `chosen` is emitted with (ring, wedge): ring 0 is the inner one, wedge a place in what was given."""

    chosen = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._rings: tuple[tuple[Wedge, ...], ...] = ((), ())
        self._arcs: tuple[tuple[Arc, ...], ...] = ((), ())
        self._centre: tuple[str, ...] = ()
        self._unit = self._caption = ""
        self._lit: tuple[int | None, int | None] = (None, None)
        self._hovered: tuple[int, int] | None = None
        self.setMouseTracking(True)
        theme.theme.changed.connect(self.update)

    def show_rings(
        self, inner: Sequence[Wedge], outer: Sequence[Wedge], centre: tuple[str, ...], unit: str, caption: str
    ) -> None:
        """Show these. Of `centre`, the sum in words, the first that fits is drawn, with its unit below; `caption`
        heads the key to the inner ring."""
        rings = (tuple(inner), tuple(outer))
        if (rings, centre, unit, caption) != (self._rings, self._centre, self._unit, self._caption):
            self._rings, self._centre, self._unit, self._caption = rings, centre, unit, caption
            self._arcs = (arcs([w.count for w in rings[0]]), arcs([w.count for w in rings[1]]))
            self.setAccessibleDescription("; ".join(self._words(w, rings[1]) for w in rings[1] if w.count))
            self.update()

    def light(self, inner: int | None, outer: int | None) -> None:
        """Make a wedge of each ring stand out; None for none."""
        if (inner, outer) != self._lit:
            self._lit = (inner, outer)
            self.update()

    @property
    def lit(self) -> tuple[int | None, int | None]:
        """The wedges that stand out, of the inner and of the outer ring."""
        return self._lit

    def tip(self, ring: int, arc: Arc) -> str:
        """What a slice says of itself: name, count and percent of each wedge in it, one a line."""
        wedges = self._rings[ring]
        lines = [self._words(wedges[i], wedges) for i in arc.members]
        if len(arc.members) > 1:
            share = sum(wedges[i].count for i in arc.members)
            lines.insert(0, self._words(Wedge(OTHER, share, ""), wedges))
        return "\n".join(lines)

    def at(self, position: QPointF) -> tuple[int, int] | None:
        """The slice under a point: (ring, place in its arcs), or None."""
        bands = self._bands()
        found = bands.at(position) if bands else self._at(position)
        if found is None:
            return None
        ring, angle = found
        for i, arc in enumerate(self._arcs[ring]):
            if arc.start <= angle < arc.start + arc.span:
                return ring, i
        return None

    def _at(self, position: QPointF) -> tuple[int, float] | None:
        """The ring under a point, and the degrees clockwise from the top that the point lies at."""
        centre, radius = self._circle()
        x, y = position.x() - centre.x(), position.y() - centre.y()
        share, angle = math.hypot(x, y) / max(radius, 1), math.degrees(math.atan2(x, -y)) % 360
        hole, inner = self._radii(radius)
        return (int(share >= inner), angle) if hole <= share <= _OUTER else None

    @staticmethod
    def _words(wedge: Wedge, wedges: Sequence[Wedge]) -> str:
        percent = 100 * wedge.count / max(sum(each.count for each in wedges), 1)
        return f"{wedge.name}: {wedge.count:,}, {percent:.3g} %"

    # -- where things are --

    def _key(self) -> list[tuple[str, QColor]]:
        """The key to the inner ring: the outer one's stands in the table."""
        named = [(w.name, self._colour(w)) for w in self._rings[0] if w.count]
        return [(self._caption, QColor(0, 0, 0, 0)), *named] if named else []

    def _key_height(self) -> int:
        key, metrics = self._key(), QFontMetrics(theme.ui_font(0.88))
        if not key or max(metrics.horizontalAdvance(name) for name, _ in key) + 16 > self.width():
            return 0
        wanted = (metrics.height() + 5) * len(key) + 12
        return wanted if self.height() - wanted >= _FOR_KEY * self.width() else 0

    def _bands(self) -> Bands | None:
        """The rings unrolled, where there is no room for a circle."""
        return Bands(self.width(), self.height()) if unrolled(self.width(), self.height()) else None

    def _circle(self) -> tuple[QPointF, float]:
        height = self.height() - self._key_height()
        radius = max(min(self.width(), height) / 2 - _LIFT - 1, 8.0)
        top = max((height - 2 * radius) / 2, _LIFT + 1)
        return QPointF(self.width() / 2, top + radius), radius

    @staticmethod
    def _radii(radius: float) -> tuple[float, float]:
        """Where the inner and the outer ring begin."""
        return (_HOLE, _INNER) if radius >= _SMALL_RADIUS else (_SMALL_HOLE, _SMALL_INNER)

    def _colour(self, wedge: Wedge) -> QColor:
        tokens = theme.tokens()
        return mixed(tokens.kinds[wedge.kind], tokens.card, wedge.tint)

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if bands := self._bands():
            for ring in range(2):
                self._paint_ring(painter, ring, partial(bands.outline, ring))
            painter.end()
            return
        centre, radius = self._circle()
        hole, inner = self._radii(radius)
        for ring, (low, high) in enumerate(((hole, inner - _GAP), (inner, _OUTER))):
            self._paint_ring(painter, ring, partial(_outline, centre, radius * low, radius * high))
        self._paint_centre(painter, centre, radius * hole)
        if self._key_height():
            self._paint_key(painter, centre.y() + radius + _LIFT + 8)
        painter.end()

    def _paint_ring(self, painter: QPainter, ring: int, shape: Callable[..., QPainterPath]) -> None:
        tokens, lit = theme.tokens(), self._lit[ring]
        drawn = self._arcs[ring]
        for i, arc in enumerate(drawn):
            wedges = [self._rings[ring][k] for k in arc.members]
            colour = self._colour(wedges[0]) if len(wedges) == 1 else QColor(tokens.muted)
            chosen = lit in arc.members
            if lit is not None and not chosen and ring == 1:
                colour = mixed(colour.name(), tokens.card, 0.45)
            if self._hovered == (ring, i):
                colour = mixed(colour.name(), tokens.text, 0.82)
            painter.setBrush(colour)
            painter.setPen(QPen(QColor(tokens.card), 1.2) if len(drawn) > 1 else Qt.PenStyle.NoPen)
            painter.drawPath(shape(arc, lifted=chosen and ring == 1))
        for arc in drawn:
            if lit in arc.members and ring == 1:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(tokens.text), 1.6))
                painter.drawPath(shape(arc, lifted=True))

    def _paint_centre(self, painter: QPainter, centre: QPointF, radius: float) -> None:
        tokens, room = theme.tokens(), 2 * radius * 0.92
        for text in self._centre:
            for scale in (1.5, 1.25, 1.0, 0.9):
                font = theme.ui_font(scale, bold=True)
                if QFontMetrics(font).horizontalAdvance(text) <= room:
                    break
            else:
                continue
            break
        else:
            return
        height, below = QFontMetrics(font).height(), theme.ui_font(0.85)
        fits = QFontMetrics(below).horizontalAdvance(self._unit) <= 2 * math.sqrt(
            max(radius**2 - (0.9 * height) ** 2, 0)
        )
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        middle = centre.y() - (height * 0.3 if fits else 0)
        painter.drawText(
            QRectF(centre.x() - radius, middle - height / 2, 2 * radius, height), Qt.AlignmentFlag.AlignCenter, text
        )
        if fits:
            painter.setFont(below)
            painter.setPen(QColor(tokens.muted))
            rect = QRectF(centre.x() - radius, middle + height / 2 - 1, 2 * radius, QFontMetrics(below).height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self._unit)

    def _paint_key(self, painter: QPainter, top: float) -> None:
        tokens, font = theme.tokens(), theme.ui_font(0.88)
        metrics = QFontMetrics(font)
        entries = self._key()
        width = max(metrics.horizontalAdvance(name) for name, _ in entries) + 16
        left = max((self.width() - width) / 2, 0)
        painter.setFont(font)
        for i, (name, colour) in enumerate(entries):
            y = top + i * (metrics.height() + 5)
            if colour.alpha():
                painter.setPen(QPen(QColor(tokens.line), 1))
                painter.setBrush(colour)
                painter.drawRoundedRect(QRectF(left, y + metrics.height() / 2 - 4, 9, 9), 2, 2)
            painter.setPen(QColor(tokens.muted))
            shift = 16 if colour.alpha() else 0
            rect = QRectF(left + shift, y, self.width() - left - shift, metrics.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, name)

    # -- the mouse --

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            found = self.at(QPointF(event.pos()))
            text = self.tip(found[0], self._arcs[found[0]][found[1]]) if found else ""
            escaped = "<br>".join(html.escape(line) for line in text.splitlines())
            QToolTip.showText(event.globalPos(), f"<qt>{escaped}</qt>" if text else "", self)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self.at(event.position())
        if found and event.button() == Qt.MouseButton.LeftButton:
            ring, place = found
            members = self._arcs[ring][place].members
            self.chosen.emit(ring, max(members, key=lambda i: self._rings[ring][i].count))

    def _hover(self, found: tuple[int, int] | None) -> None:
        if found != self._hovered:
            self._hovered = found
            self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 160)

    def minimumSizeHint(self) -> QSize:
        return QSize(72, 72)


def _outline(centre: QPointF, low: float, high: float, arc: Arc, *, lifted: bool) -> QPainterPath:
    return outline(centre, low, high + (_LIFT if lifted else 0), arc)
