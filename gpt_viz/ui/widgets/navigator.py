"""A flow from top to bottom as a small diagram, to look where one stands and to go elsewhere. Knows no model.

The grey line is the stream; what hangs beside it reads from it and, at a +, adds to it.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.picture import Picture
from gpt_viz.ui.widgets.stops import BRANCH, FOLDED, FRAME, SUM, TRUNK, Floor, Stop
from gpt_viz.ui.widgets.tint import mixed

LINE = 12  # px from the left to the stream
BESIDE = 26  # px from the left to what hangs beside it
GAP = 5  # px between two stops of a row
RING = 7  # px, the radius of a +
LOW, TALL = 20, 36  # px of a row
SIDE = 24.0  # px, the width of a sign that leads to what is before or after
_SIGNS = ("◂", "▸")
_TAKE = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True, slots=True)
class Placed:
    """A stop and where it is drawn."""

    floor: int
    stop: Stop
    rect: QRectF


class Navigator(Picture):
    """Shows floors of stops. `went` carries the target of the stop that was clicked, or taken with Enter."""

    went = Signal(str)

    def __init__(self) -> None:
        super().__init__(keys=frozenset(_TAKE))
        self.floors: tuple[Floor, ...] = ()
        self._placed: list[Placed] | None = None
        self._hover: str = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_floors(self, floors: tuple[Floor, ...]) -> None:
        """Show another flow, or another place in it."""
        if floors != self.floors:
            self.floors = floors
            self._placed = None
            here = next((stop for stop in self._stops() if stop.here), None)
            self.setAccessibleDescription(f"at {here.tip}" if here else "")
            self.updateGeometry()
            self.update()

    def _stops(self) -> list[Stop]:
        return [stop for floor in self.floors for stop in floor.stops]

    def _restyle(self) -> None:
        self._font, self._bold = ui_font(0.88), ui_font(0.88, bold=True)
        self._metrics = QFontMetricsF(self._font)
        self._placed = None
        self.updateGeometry()
        self.update()

    # -- where things are --

    @property
    def row(self) -> int:
        """The height of a row: as the room has it, but never too low for the letters."""
        if not self.floors:
            return LOW
        least = max(LOW, ceil(self._metrics.height()) + 4)
        return min(max((self.height() - 4) // len(self.floors), least), max(TALL, least))

    def placed(self) -> list[Placed]:
        """Every stop and where it is drawn now."""
        if self._placed is None:
            self._placed = []
            for at, floor in enumerate(self.floors):
                self._placed += self._place(at, floor)
        return self._placed

    def _place(self, at: int, floor: Floor) -> list[Placed]:
        row = self.row
        left = BESIDE if floor.style in (BRANCH, SUM) else 0
        room, top = self.width() - 1 - left - (8 if floor.inside else 0), at * row + 2
        if floor.inside and floor.style != FRAME:
            left += 4
            room -= 4
        natural = [
            SIDE if stop.label in _SIGNS else self._metrics.horizontalAdvance(stop.label) + 10 for stop in floor.stops
        ]
        spare = room - GAP * (len(floor.stops) - 1) - sum(natural)
        if floor.style == FRAME:  # its title begins where the stops below it begin
            left, spare = BESIDE + 4, spare - BESIDE
        loose = [i for i, stop in enumerate(floor.stops) if stop.label not in _SIGNS] or [0]
        widths = [width + (spare / len(loose) if i in loose else 0) for i, width in enumerate(natural)]
        found, x = [], float(left)
        for stop, width in zip(floor.stops, widths, strict=True):
            found.append(Placed(at, stop, QRectF(x, top + 1, width, row - 5)))
            x += width + GAP
        return found

    def stop_at(self, point: QPointF) -> Stop | None:
        """The stop under a point that leads somewhere, or None."""
        row = self.row
        for each in self.placed():
            if each.stop.target and each.rect.adjusted(-2, -2, 2, row - each.rect.height() - 1).contains(point):
                return each.stop
        return None

    def sizeHint(self) -> QSize:
        return QSize(ceil(self._metrics.horizontalAdvance("expandgelucontract")) + BESIDE + 60, len(self.floors) * 24)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), len(self.floors) * max(LOW, ceil(self._metrics.height()) + 4) + 4)

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.floors:
            self._paint_frame(painter)
            self._paint_stream(painter)
            for each in self.placed():
                self._paint_stop(painter, each)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens().accent_text), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.end()

    def _paint_frame(self, painter: QPainter) -> None:
        inside = [at for at, floor in enumerate(self.floors) if floor.inside]
        if not inside:
            return
        colours, row = tokens(), self.row
        rect = QRectF(0.5, inside[0] * row + 0.5, self.width() - 1.5, (inside[-1] - inside[0] + 1) * row + 1)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(QColor(colours.field))
        painter.drawRoundedRect(rect, 6, 6)

    def _paint_stream(self, painter: QPainter) -> None:
        colours, row = tokens(), self.row
        sums = [at for at, floor in enumerate(self.floors) if floor.style == SUM]
        if not sums:
            return
        end = next((at for at in range(len(self.floors)) if at > sums[-1] and self.floors[at].style == TRUNK), sums[-1])
        painter.setPen(QPen(QColor(colours.kinds["residual"]), 2))
        x = LINE + 0.5
        painter.drawLine(QPointF(x, (sums[0] - 0.4) * row), QPointF(x, end * row + 3))
        painter.setPen(QPen(QColor(colours.kinds["residual"]), 1.2))
        for at, floor in enumerate(self.floors):
            y = at * row + row / 2 - 0.5
            before = self.floors[at - 1].style if at else ""
            if floor.style == BRANCH and before != BRANCH:  # what hangs beside the stream reads from it
                painter.drawLine(QPointF(x, y), QPointF(BESIDE + 2, y))
            if floor.style == BRANCH and self.floors[at + 1].style == SUM:  # and at the + it adds to it
                low, right = y + row, BESIDE + 1.0
                painter.drawLine(QPointF(right, y + row / 2 - 4), QPointF(right, low))
                painter.drawLine(QPointF(right, low), QPointF(x + RING, low))

    def _paint_stop(self, painter: QPainter, placed: Placed) -> None:
        colours, stop, rect = tokens(), placed.stop, placed.rect
        style = self.floors[placed.floor].style
        hovered = bool(stop.target) and stop.target == self._hover
        kind = colours.kinds[stop.kind]
        painter.setFont(self._bold if stop.here else self._font)
        if style == SUM:
            middle = QPointF(LINE + 0.5, rect.center().y())
            painter.setPen(QPen(QColor(colours.text if stop.here or hovered else kind), 2 if stop.here else 1.4))
            painter.setBrush(mixed(kind, colours.card, 0.55) if stop.here else QColor(colours.card))
            painter.drawEllipse(middle, RING, RING)
            painter.drawLine(middle - QPointF(3.5, 0), middle + QPointF(3.5, 0))
            painter.drawLine(middle - QPointF(0, 3.5), middle + QPointF(0, 3.5))
            painter.setPen(QColor(colours.text if stop.here or hovered else colours.muted))
            text = rect.adjusted(8, 0, 0, 0)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, stop.label)
            return
        if style in (TRUNK, BRANCH):
            share = 0.55 if stop.here else 0.30 if hovered else 0.16
            painter.setPen(QPen(QColor(colours.text if stop.here else kind), 1.6 if stop.here else 1))
            painter.setBrush(mixed(kind, colours.card, share))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        elif style == FOLDED:
            painter.setPen(QPen(QColor(colours.muted if hovered else colours.line), 1))
            painter.setBrush(QColor(colours.field))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        title = style == FRAME and stop.label not in _SIGNS
        quiet = style == FOLDED or (style == FRAME and not hovered and not title)
        painter.setPen(
            QColor(colours.line if not stop.target and not title else colours.muted if quiet else colours.text)
        )
        if title:
            painter.setFont(self._bold)
        shown = self._metrics.elidedText(stop.label, Qt.TextElideMode.ElideRight, rect.width() - 2)
        side = Qt.AlignmentFlag.AlignLeft if title else Qt.AlignmentFlag.AlignHCenter
        painter.drawText(rect, side | Qt.AlignmentFlag.AlignVCenter, shown)

    # -- mouse and keys --

    def _point(self, target: str) -> None:
        if target != self._hover:
            self._hover = target
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        stop = self.stop_at(event.position())
        self._point(stop.target if stop else "")
        self.setCursor(Qt.CursorShape.PointingHandCursor if stop else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent) -> None:
        self._point("")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        stop = self.stop_at(event.position())
        if stop is not None and event.button() == Qt.MouseButton.LeftButton:
            self.went.emit(stop.target)

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        if way is None:
            if self._hover:
                self.went.emit(self._hover)
            return
        stops = [stop for stop in self._stops() if stop.target]
        if not stops:
            return
        at = next((i for i, stop in enumerate(stops) if stop.target == self._hover), None)
        if at is None:
            at = next((i for i, stop in enumerate(stops) if stop.here), 0)
        self._point(stops[min(max(at + way[0] + way[1], 0), len(stops) - 1)].target)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            stop = self.stop_at(QPointF(event.pos()))
            text = html.escape(stop.tip) if stop and stop.tip else ""
            QToolTip.showText(event.globalPos(), f"<qt>{text}</qt>" if text else "", self)
            return True
        if event.type() == QEvent.Type.Resize:
            self._placed = None
        return super().event(event)
