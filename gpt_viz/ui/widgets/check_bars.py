"""A few quantities as horizontal bars, each beside what it should be. Knows not what they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets.check_picture import CheckPicture, figure

PITCH, BAR, GAP = 26, 12, 10  # px


@dataclass(frozen=True, slots=True)
class Bar:
    """One row. `kind` is one of theme.KINDS, "" for the accent; `should` is drawn as an outline; `text` as written."""

    label: str
    value: float
    kind: str = ""
    should: float | None = None
    text: str = ""

    @property
    def written(self) -> str:
        """The number at the bar's end; where it is not what it should be, both."""
        text = self.text or figure(self.value)
        return text if self.right else f"{text}, should be {figure(self.should or 0.0)}"

    @property
    def right(self) -> bool:
        """Whether it is what it should be."""
        return self.should is None or self.should == self.value


class CheckBars(CheckPicture):
    """Bars on one linear scale from 0."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: tuple[Bar, ...] = ()

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show these."""
        self._bars = tuple(bars)
        self.setAccessibleDescription("; ".join(f"{bar.label} {bar.written}" for bar in self._bars))
        self.update()

    def fitted(self, width: int, room: int) -> int:
        return max(len(self._bars), 1) * PITCH

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font_)
        advance = self.metrics.horizontalAdvance
        label = min(max((advance(bar.label) for bar in self._bars), default=0), 0.4 * self.width())
        number = max((advance(bar.written) for bar in self._bars), default=0)
        left, room = label + GAP, max(self.width() - label - number - 2 * GAP - 2, 12)
        scale = max((max(bar.value, bar.should or 0.0) for bar in self._bars), default=1.0) or 1.0
        for place, bar in enumerate(self._bars):
            top = place * PITCH
            row = QRectF(0, top, label, PITCH)
            painter.setPen(QColor(colours.text))
            text = self.metrics.elidedText(bar.label, Qt.TextElideMode.ElideRight, label + 1)
            painter.drawText(row.adjusted(0, 0, 2, 0), Qt.AlignmentFlag.AlignVCenter, text)
            length = max(room * min(bar.value / scale, 1.0), 1.0 if bar.value > 0 else 0.0)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.kinds.get(bar.kind, colours.accent_text)))
            painter.drawRoundedRect(QRectF(left, top + (PITCH - BAR) / 2, length, BAR), 2, 2)
            end = length
            if bar.should is not None:
                end = max(length, room * bar.should / scale)
                painter.setPen(QPen(QColor(colours.text if bar.right else colours.bad), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                outline = QRectF(left, top + (PITCH - BAR) / 2, max(room * bar.should / scale, 1.0), BAR)
                painter.drawRoundedRect(outline.adjusted(-1.5, -2.5, 1.5, 2.5), 3, 3)
            painter.setPen(QColor(colours.text if bar.right else colours.bad))
            painter.drawText(
                QRectF(left + end + 6, top, self.width() - left - end - 6, PITCH), Qt.AlignmentFlag.AlignVCenter,
                bar.written,
            )  # fmt: skip
        painter.end()
