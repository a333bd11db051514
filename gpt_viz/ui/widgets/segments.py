"""Two states side by side, of which one is on: a switch that names both. Knows not what they are."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.manners import named, tip

RADIUS = 7.0
PADDING = 12  # px at each side of a word


class Segments(QWidget):
    """`chosen` carries the name of the state that someone pressed. What is on is only what it is told to show.

    Each segment has room for the longest of its `texts`, so that nothing moves when another one stands there.
    """

    chosen = Signal(str)

    def __init__(self, name: str, says: str, states: dict[str, tuple[str, ...]]) -> None:
        super().__init__()
        named(self, name, says)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._group = QButtonGroup(self)
        self._segments: dict[str, _Segment] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for place, (state, texts) in enumerate(states.items()):
            segment = _Segment(texts, first=place == 0, last=place == len(states) - 1)
            named(segment, f"{name}.{state}", texts[0])
            segment.clicked.connect(lambda _=False, state=state: self.chosen.emit(state))
            self._group.addButton(segment)
            self._segments[state] = segment
            row.addWidget(segment)
        self._states = states

    def show_state(self, state: str, text: str = "") -> None:
        """Which one is on, and, where it is not as always, how it reads."""
        self._segments[state].setChecked(True)
        for name, segment in self._segments.items():
            segment.setText(text if name == state and text else self._states[name][0])

    def state(self) -> str:
        """The name of the one that is on."""
        return next((name for name, segment in self._segments.items() if segment.isChecked()), "")

    def allow(self, reason: str, note: str) -> None:
        """Let it be pressed, with a `note` on what that does; not where there is a `reason` against it."""
        for segment in self._segments.values():
            segment.setEnabled(not reason)
        self.setToolTip(tip(reason or note))
        self.setAccessibleDescription(reason)


class _Segment(QAbstractButton):
    def __init__(self, texts: tuple[str, ...], *, first: bool, last: bool) -> None:
        super().__init__()
        self._texts, self._first, self._last = texts, first, last
        self.setText(texts[0])
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.ui_font(bold=True))
        return QSize(max(map(metrics.horizontalAdvance, self._texts)) + 2 * PADDING, metrics.height() + 12)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        self.update()
        super().changeEvent(event)

    def _shape(self, frame: QRectF) -> QPainterPath:
        """Round at the ends of the whole, straight where segments meet."""
        rounded, square = QPainterPath(), QPainterPath()
        rounded.addRoundedRect(frame, RADIUS, RADIUS)
        half = frame.width() / 2
        if not self._first:
            square.addRect(frame.adjusted(0, 0, -half, 0))
        if not self._last:
            square.addRect(frame.adjusted(half, 0, 0, 0))
        return rounded.united(square).simplified()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, on = theme.tokens(), self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # Neighbours share the line between them.
        shape = self._shape(QRectF(self.rect()).adjusted(0.5 if self._first else -0.5, 0.5, -0.5, -0.5))
        enabled = self.isEnabled()
        filled = tokens.accent if on and enabled else tokens.field if on or self.underMouse() else tokens.card
        painter.setPen(QPen(QColor(tokens.line), 1, Qt.PenStyle.SolidLine if enabled else Qt.PenStyle.DashLine))
        painter.setBrush(QColor(filled))
        painter.drawPath(shape)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.text if on else tokens.accent_text), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(self._shape(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)))
        painter.setFont(theme.ui_font(bold=on and enabled))
        painter.setPen(QColor((tokens.on_accent if on else tokens.text) if enabled else tokens.muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()
