"""The colour scale, with numbers, and what the colours beside it mean. Knows no pattern."""

from __future__ import annotations

from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.colormap import LINEAR, LOG, LOG_FLOOR, cividis, image_of, position

SMALL = 0.85
BAR = 8  # px, the height of the gradient
WIDEST = 240
_TICKS: dict[str, tuple[tuple[float, str], ...]] = {
    LINEAR: ((0.0, "0"), (1.0, "1")),
    LOG: ((LOG_FLOOR, "≤ 0.0001"), (0.01, "0.01"), (1.0, "1")),
}


class Legend(QWidget):
    """A gradient over the fixed range, and marks for masked and for not finite cells."""

    def __init__(self) -> None:
        super().__init__()
        self._stretch = LINEAR
        self._not_finite = False
        self._ramp = np.ascontiguousarray(cividis()[None, :])
        self._image = image_of(self._ramp)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colour scale")
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_stretch(self, stretch: str) -> None:
        """The scale that the numbers are written for."""
        if stretch != self._stretch:
            self._stretch = stretch
            self._describe()
            self.update()

    def set_not_finite(self, there_are: bool) -> None:
        """Whether the mark for numbers that are not finite is shown."""
        if there_are != self._not_finite:
            self._not_finite = there_are
            self._describe()
            self.update()

    def _restyle(self) -> None:
        self._font = ui_font(SMALL)
        self._metrics = QFontMetricsF(self._font)
        self._describe()
        self.updateGeometry()
        self.update()

    def _describe(self) -> None:
        numbers = ", ".join(text for _, text in _TICKS[self._stretch])
        marks = "masked and not finite cells have their own colours" if self._not_finite else "masked cells are grey"
        self.setAccessibleDescription(f"{self._stretch} scale: {numbers}; {marks}")

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The numbers at the gradient: where (from 0 to 1), and what is written."""
        return tuple((float(position(weight, self._stretch)), text) for weight, text in _TICKS[self._stretch])

    def bar(self) -> QRectF:
        """Where the gradient is drawn."""
        return QRectF(0, ceil(self._metrics.height()) + 3, min(self.width(), WIDEST), BAR)

    def marks(self) -> list[tuple[QRectF, str, str]]:
        """The colours beside the scale: where, which, what they mean. One a line where two do not fit in one."""
        colours, line = tokens(), ceil(self._metrics.height())
        texts = [(colours.masked, "masked"), *([(colours.bad, "not finite")] if self._not_finite else [])]
        x, y, found = 0.0, self.bar().bottom() + 8, []
        for colour, text in texts:
            width = 15 + self._metrics.horizontalAdvance(text)
            if x and x + width > self.width():
                x, y = 0.0, y + line + 2
            found.append((QRectF(x, y, width, line), colour, text))
            x += width + 14
        return found

    def needed_height(self, width: float) -> int:
        """The height of all lines in that width."""
        line = ceil(self._metrics.height())
        both = 44 + self._metrics.horizontalAdvance("masked") + self._metrics.horizontalAdvance("not finite")
        lines = 2 if self._not_finite and both > width else 1
        return line + 3 + BAR + 8 + lines * (line + 2)

    def sizeHint(self) -> QSize:
        return QSize(WIDEST, self.needed_height(WIDEST))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, bar, line = tokens(), self.bar(), self._metrics.height()
        painter = QPainter(self)
        painter.setFont(self._font)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(bar, self._image)
        painter.setPen(QColor(colours.muted))
        for place, text in self.ticks():
            width = self._metrics.horizontalAdvance(text)
            x = min(max(bar.x() + place * bar.width() - width / 2, 0), bar.right() - width)
            painter.drawText(QPointF(x, self._metrics.ascent()), text)
        for rect, colour, text in self.marks():
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.setBrush(QColor(colour))
            painter.drawRect(QRectF(rect.x() + 0.5, round(rect.y() + (line - 10) / 2) + 0.5, 9, 9))
            painter.setPen(QColor(colours.muted))
            painter.drawText(rect.adjusted(15, 0, 2, 0), Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()
