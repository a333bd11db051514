"""First, previous, next, last, play: five small buttons and where one stands. Knows no steps, only their numbers."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLabel, QWidget

from gpt_viz.ui import theme

SIDE = 26  # px


class Transport(QWidget):
    """Emits what was pressed. `prefix` begins the buttons' object names: `shapes` makes `shapes.next`."""

    first = Signal()
    previous = Signal()
    next = Signal()
    last = Signal()
    play = Signal()

    def __init__(self, prefix: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.buttons: dict[str, GlyphButton] = {}
        for name, tip in (
            ("first", "First step"),
            ("previous", "Previous step (PageUp)"),
            ("next", "Next step (PageDown)"),
            ("last", "Last step"),
            ("play", "Play"),
        ):
            button = GlyphButton(name, f"{prefix}.{name}", tip)
            button.clicked.connect(getattr(self, name))
            self.buttons[name] = button
        self._where = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, textFormat=Qt.TextFormat.PlainText)
        self._where.setObjectName(f"{prefix}.position")
        self._where.setAccessibleName("Position")
        for each in ("first", "previous"):
            row.addWidget(self.buttons[each])
        row.addWidget(self._where)
        for each in ("next", "last", "play"):
            row.addWidget(self.buttons[each])
        self._restyle()
        theme.theme.changed.connect(self._restyle)

    def stand(self, place: int, count: int, *, playing: bool) -> None:
        """Show where one stands: the `place`-th of `count`, counted from 0; -1 for nowhere."""
        self._where.setText(f"{place + 1:,} / {count:,}" if place >= 0 else f"– / {count:,}")
        # As wide as the widest place, so that the buttons stay under the mouse.
        self._where.setMinimumWidth(QFontMetrics(self._where.font()).horizontalAdvance(f"{count:,} / {count:,}") + 8)
        self.buttons["first"].setEnabled(count > 0 and place != 0)
        self.buttons["previous"].setEnabled(place > 0)
        self.buttons["next"].setEnabled(place < count - 1)
        self.buttons["last"].setEnabled(count > 0 and place != count - 1)
        self.buttons["play"].setEnabled(count > 1)
        self.buttons["play"].turn("pause" if playing else "play", "Pause" if playing else "Play")

    def position(self) -> str:
        """Where one stands, as it is read: "8 / 171"."""
        return self._where.text()

    def _restyle(self) -> None:
        self._where.setFont(theme.ui_font())


class GlyphButton(QAbstractButton):
    """A glyph of our own in a square that shows when the mouse or the keyboard is on it."""

    def __init__(self, glyph: str, name: str, tip: str) -> None:
        super().__init__()
        self._glyph = glyph
        self.setObjectName(name)
        self.turn(glyph, tip)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def turn(self, glyph: str, tip: str) -> None:
        """Show another glyph."""
        self._glyph = glyph
        self.setToolTip(tip)
        self.setAccessibleName(tip.partition(" (")[0])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        if self.hasFocus():
            painter.setPen(QColor(tokens.accent_text))
            painter.drawRoundedRect(frame, 5, 5)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.isEnabled() and (self.underMouse() or self.isDown()):
            painter.setBrush(QColor(tokens.line if self.isDown() else tokens.field))
            painter.drawRoundedRect(frame, 5, 5)
        painter.setBrush(QColor(tokens.muted if self.isEnabled() else tokens.line))
        painter.translate(self.width() / 2, self.height() / 2)
        if self._glyph in ("first", "previous"):
            painter.scale(-1, 1)
        if self._glyph == "pause":
            painter.drawRect(QRectF(-4.5, -5, 3, 10))
            painter.drawRect(QRectF(1.5, -5, 3, 10))
        elif self._glyph in ("first", "last"):
            painter.drawPolygon(_triangle(-5, 3))
            painter.drawRect(QRectF(3.5, -5, 2, 10))
        elif self._glyph == "play":
            painter.setBrush(QColor(tokens.accent_text if self.isEnabled() else tokens.line))
            painter.drawPolygon(_triangle(-4, 6.5))
        else:
            painter.drawPolygon(_triangle(-3.5, 4.5))
        painter.end()


def _triangle(left: float, right: float) -> QPolygonF:
    return QPolygonF([QPointF(left, -5), QPointF(right, 0), QPointF(left, 5)])
