"""The stops of a tour, as a list or as one row, the current one marked. Knows only their names.

In a row that is too short for all, those next to the current one are shown, and arrows say that there are more.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui import theme

PAD = 10  # px beside a name
ARROW = 16  # px, where there are more than fit
SMALL = 0.9  # of the base font, for what stands under a name


class StopList(QWidget):
    """`chosen` is emitted with the number of the stop that was clicked or reached by a key."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.names: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.current = 0
        self.upright = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.theme.changed.connect(self._restyle)
        self.stand_upright(False)

    def show_stops(self, names: tuple[str, ...], notes: tuple[str, ...]) -> None:
        """Show these stops; the notes stand under the names, in an upright list."""
        self.names, self.notes = names, notes
        self._restyle()

    def choose(self, current: int) -> None:
        """Mark the stop at which one stands."""
        self.current = current
        self.setAccessibleDescription(self.names[current])
        self.update()

    def stand_upright(self, upright: bool) -> None:
        """A list with notes, or one row."""
        self.upright = upright
        fixed, ignored = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored
        self.setSizePolicy(fixed if upright else ignored, QSizePolicy.Policy.Preferred if upright else fixed)
        self._restyle()

    def spots(self) -> dict[int, QRectF]:
        """Where each stop stands; in a row, only those that are shown."""
        if self.upright:
            height = self._height()
            return {i: QRectF(0, i * height, self.width(), height) for i in range(len(self.names))}
        first, last = self._shown()
        x = ARROW if first > 0 else 0.0
        found = {}
        for i in range(first, last + 1):
            found[i] = QRectF(x, 0, self._widths()[i], self.height())
            x += self._widths()[i]
        return found

    # -- measuring --

    def _font(self, current: bool) -> QFont:
        return theme.mono_font(SMALL, bold=current)

    def _widths(self) -> list[float]:
        metrics = QFontMetricsF(self._font(True))  # bold, so that nothing moves when another becomes the current one
        return [metrics.horizontalAdvance(name) + 2 * PAD for name in self.names]

    def _height(self) -> float:
        name = QFontMetricsF(self._font(True)).height()
        return name + QFontMetricsF(theme.ui_font(SMALL)).height() + 12 if self.upright else name + 10

    def _shown(self) -> tuple[int, int]:
        """The first and the last stop that a row has room for, the current one among them."""
        widths, end = self._widths(), len(self.names) - 1
        first = last = min(self.current, end)
        if sum(widths) <= self.width():
            return 0, end
        room = self.width() - 2 * ARROW - (widths[first] if widths else 0)
        while True:
            after = last < end and widths[last + 1] <= room
            before = first > 0 and widths[first - 1] <= room
            if after and (not before or last - self.current <= self.current - first):
                last += 1
                room -= widths[last]
            elif before:
                first -= 1
                room -= widths[first]
            else:
                return first, last

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    # -- Qt's own --

    def sizeHint(self) -> QSize:
        if not self.upright:
            return QSize(200, round(self._height()))
        notes = QFontMetricsF(theme.ui_font(SMALL))
        widest = max([*self._widths(), *(notes.horizontalAdvance(note) + 2 * PAD for note in self.notes)], default=0)
        return QSize(round(widest) + 2, round(self._height() * len(self.names)))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width() if self.upright else 80, round(self._height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1}
        if event.key() not in ways:
            event.ignore()
            return
        to = self.current + ways[Qt.Key(event.key())]
        if 0 <= to < len(self.names):
            self.chosen.emit(to)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spots = self.spots()
        hit = next((i for i, spot in spots.items() if spot.contains(event.position())), None)
        if hit is None and not self.upright and spots:  # an arrow
            hit = min(spots) - 1 if event.position().x() < ARROW else max(spots) + 1
        if hit is not None and 0 <= hit < len(self.names):
            self.chosen.emit(hit)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        spots = self.spots()
        for i, spot in spots.items():
            current = i == self.current
            painter.setPen(QColor(tokens.accent_text) if current and self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selected) if current else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(spot.adjusted(0.5, 1.5, -0.5, -1.5), 6, 6)
            painter.setFont(self._font(current))
            painter.setPen(QColor(tokens.text if current else tokens.muted))
            inside = spot.adjusted(PAD, 0, -PAD, 0)
            if not self.upright:
                painter.drawText(inside, Qt.AlignmentFlag.AlignCenter, self.names[i])
                continue
            middle = inside.center().y() + 1
            name, note = QRectF(inside), QRectF(inside)
            name.setBottom(middle)
            note.setTop(middle)
            painter.setPen(QColor(tokens.text))
            painter.drawText(name, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, self.names[i])
            painter.setFont(theme.ui_font(SMALL))
            painter.setPen(QColor(tokens.muted))
            painter.drawText(note, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, self.notes[i])
        if spots and not self.upright:
            self._paint_arrows(painter, min(spots) > 0, max(spots.items())[1].right(), max(spots) < len(self.names) - 1)
        painter.end()

    def _paint_arrows(self, painter: QPainter, before: bool, right: float, after: bool) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.tokens().muted))
        y = self.height() / 2
        for shown, x, way in ((before, 6.0, -1), (after, right + 10, 1)):
            if shown:
                tip = [QPointF(x + 3 * way, y), QPointF(x - 2 * way, y - 4), QPointF(x - 2 * way, y + 4)]
                painter.drawPolygon(QPolygonF(tip))
