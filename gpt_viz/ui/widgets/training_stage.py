"""Where curve, samples and time machine lie in the room there is: side by side, or one below the other.

Knows none of them by what it shows.
"""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpt_viz.ui import theme

GAP = 2 * theme.GRID
BESIDE = 520  # px: from this width on the samples stand beside the curve
LEAST_CURVE = 88  # px: less is no curve
LINES = 4  # of a sample, where it stands below


class TrainingStage(QWidget):
    """The foot keeps its height; the samples go where curve and foot leave no room for them."""

    def __init__(self, curve: QWidget, samples: QWidget, foot: QWidget) -> None:
        super().__init__()
        self._curve, self._samples, self._foot = curve, samples, foot
        for each in (curve, samples, foot):
            each.setParent(self)
        theme.theme.changed.connect(self.arrange)

    def arrange(self) -> None:
        """Share the room out."""
        width, height = self.width(), self.height()
        foot = self._foot.sizeHint().height()
        top = max(height - foot - theme.GRID // 2, 0)
        self._foot.setGeometry(0, top + theme.GRID // 2, width, foot)
        if width >= BESIDE:
            side = min(max(width * 34 // 100, 190), 520)
            self._curve.setGeometry(0, 0, width - side - GAP, top)
            self._samples.setGeometry(width - side, 0, side, top)
            self._samples.setVisible(top > LEAST_CURVE // 2)
            return
        line = QFontMetrics(theme.mono_font(0.95)).lineSpacing()
        below = min(top - LEAST_CURVE - theme.GRID, LINES * line + 12)
        fits = below >= 2 * line + 12
        self._samples.setVisible(fits)
        self._curve.setGeometry(0, 0, width, top - below - theme.GRID if fits else top)
        if fits:
            self._samples.setGeometry(0, top - below, width, below)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:
        # A scroll area takes for the least height what a layout with lines that break would like.
        return QSize(480, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(180, LEAST_CURVE + self._foot.sizeHint().height() + theme.GRID // 2)
