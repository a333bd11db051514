"""One line above or below a picture: a mark, what matters, and after it what is good to know. Knows no picture."""

from __future__ import annotations

import html
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font

MARK, AFTER = 9, 7  # px: a side of the mark, and what follows it
BETWEEN = 10  # px


class Caption(QWidget):
    """`strong` is written whole where that is possible; `quiet` has what is left of the line, and is elided."""

    def __init__(self, *, scale: float = 1.0) -> None:
        super().__init__()
        self.strong = self.quiet = self.kind = ""
        self._wrong = False
        self._scale = scale
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)
        self._restyle()

    def say(self, strong: str, quiet: str = "", kind: str = "", *, wrong: bool = False) -> None:
        """Write something else; `kind` colours the mark before it, "" for none; `wrong`: as a mistake."""
        if (strong, quiet, kind, wrong) != (self.strong, self.quiet, self.kind, self._wrong):
            self.strong, self.quiet, self.kind, self._wrong = strong, quiet, kind, wrong
            self.setAccessibleDescription(" · ".join(filter(None, (strong, quiet))))
            self.update()

    def _restyle(self) -> None:
        self._font, self._bold = ui_font(self._scale * 0.95), ui_font(self._scale, bold=True)
        self._metrics, self._strong_metrics = QFontMetricsF(self._font), QFontMetricsF(self._bold)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, ceil(self._strong_metrics.height()) + 4)

    def needed_width(self) -> int:
        """What all of it takes in one line."""
        strong, quiet = self._strong_metrics.horizontalAdvance(self.strong), self._metrics.horizontalAdvance(self.quiet)
        return ceil((MARK + AFTER) * bool(self.kind) + strong + BETWEEN * bool(self.quiet) + quiet) + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, x = tokens(), 0.0
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        if self.kind:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.kinds[self.kind]))
            painter.drawRoundedRect(QRectF(0, middle - MARK / 2, MARK, MARK), 2, 2)
            x = MARK + AFTER
        base = middle + (self._strong_metrics.ascent() - self._strong_metrics.descent()) / 2
        painter.setFont(self._bold)
        painter.setPen(QColor(colours.bad if self._wrong else colours.text))
        shown = self._strong_metrics.elidedText(self.strong, Qt.TextElideMode.ElideMiddle, self.width() - x)
        painter.drawText(QPointF(x, base), shown)
        x += self._strong_metrics.horizontalAdvance(shown) + BETWEEN * bool(shown)
        if self.width() - x > 24 and self.quiet:
            painter.setFont(self._font)
            painter.setPen(QColor(colours.muted))
            quiet = self._metrics.elidedText(self.quiet, Qt.TextElideMode.ElideRight, self.width() - x)
            painter.drawText(QPointF(x, base), quiet)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            whole = html.escape(" · ".join(filter(None, (self.strong, self.quiet))))
            fits = self.needed_width() <= self.width()
            QToolTip.showText(event.globalPos(), "" if fits else f"<qt>{whole}</qt>", self)
            return True
        return super().event(event)
