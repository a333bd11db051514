"""The scale of signed differences: a ramp from −1 over 0 to 1, with what its ends mean. Knows no picture."""

from __future__ import annotations

from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.colormap import image_of
from gpt_viz.ui.widgets.shades import diverging

SMALL = 0.85
BAR, WIDEST = 8, 240  # px


class SignedScale(QWidget):
    """`less` and `more` are what stands at the ends beside the numbers, as far as there is room for it."""

    def __init__(self, less: str, more: str) -> None:
        super().__init__()
        self._ends = (less, more)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Scale of differences")
        self.setAccessibleDescription(f"from −1, {less}, over 0 to 1, {more}")
        theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self._font = ui_font(SMALL)
        self._metrics = QFontMetricsF(self._font)
        self._ramp = np.ascontiguousarray(diverging(tokens().dark)[None, :])
        self._image = image_of(self._ramp)
        self.updateGeometry()
        self.update()

    def needed_height(self) -> int:
        """Of the ramp and the line of numbers above it."""
        return ceil(self._metrics.height()) + 3 + BAR + 2

    def sizeHint(self) -> QSize:
        return QSize(WIDEST, self.needed_height())

    def labels(self) -> list[tuple[float, str]]:
        """What is written above the ramp, and where it begins: the ends in words where they fit beside the 0."""
        width = min(self.width(), WIDEST)
        words = [f"−1 {self._ends[0]}", "0", f"{self._ends[1]} 1"]
        if sum(map(self._metrics.horizontalAdvance, words)) + 16 > width:
            words = ["−1", "0", "1"]
        sizes = [self._metrics.horizontalAdvance(each) for each in words]
        return [(0.0, words[0]), ((width - sizes[1]) / 2, words[1]), (width - sizes[2], words[2])]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        bar = QRectF(0, ceil(self._metrics.height()) + 3, min(self.width(), WIDEST), BAR)
        painter.setFont(self._font)
        painter.setPen(QColor(tokens().muted))
        for x, text in self.labels():
            painter.drawText(QPointF(x, self._metrics.ascent()), text)
        painter.drawImage(bar, self._image)
        painter.setPen(QPen(QColor(tokens().line), 1))
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()
