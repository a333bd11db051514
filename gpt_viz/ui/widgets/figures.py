"""A few named figures in columns, the names quiet. Knows nothing of what they measure."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font

NAME_SCALE, FIGURE_SCALE = 0.85, 0.9
GAP = 16  # px between two columns of pairs
BETWEEN = 10  # px between a name and its figure


class Figures(QWidget):
    """Pairs of name and figure, the figures aligned at the right; in as many columns as there is room for."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: tuple[tuple[str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_pairs(self, pairs: tuple[tuple[str, str], ...]) -> None:
        """Show other figures."""
        if pairs != self.pairs:
            self.pairs = pairs
            self.setAccessibleDescription(", ".join(f"{name} {figure}" for name, figure in pairs))
            self.updateGeometry()
            self.update()

    @property
    def line(self) -> int:
        """What a line takes, in px."""
        return ceil(self._metrics.height()) + 3

    def width_of_pair(self) -> int:
        """What the longest pair takes."""
        names = max((self._names.horizontalAdvance(name) for name, _ in self.pairs), default=0)
        figures = max((self._metrics.horizontalAdvance(figure) for _, figure in self.pairs), default=0)
        return ceil(names + BETWEEN + figures)

    def columns(self, width: int) -> int:
        """How many columns of pairs that width holds."""
        return max(min((width + GAP) // (self.width_of_pair() + GAP), len(self.pairs)), 1)

    def needed_height(self, width: int) -> int:
        """The height of all pairs in that width."""
        return -(-len(self.pairs) // self.columns(width)) * self.line

    def _restyle(self) -> None:
        self._name_font, self._figure_font = ui_font(NAME_SCALE), ui_font(FIGURE_SCALE, bold=True)
        self._names, self._metrics = QFontMetricsF(self._name_font), QFontMetricsF(self._figure_font)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, self.needed_height(self.width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, columns = tokens(), self.columns(self.width())
        rows = -(-len(self.pairs) // columns)
        wide = (self.width() + GAP) / columns - GAP
        painter = QPainter(self)
        for at, (name, figure) in enumerate(self.pairs):
            left, top = (at // rows) * (wide + GAP), (at % rows) * self.line
            box = QRectF(left, top, wide, self.line)
            base = top + self._metrics.ascent()
            painter.setFont(self._name_font)
            painter.setPen(QColor(colours.muted))
            painter.drawText(QPointF(left, base), name)
            painter.setFont(self._figure_font)
            painter.setPen(QColor(colours.text))
            room = wide - self._names.horizontalAdvance(name) - 6
            shown = self._metrics.elidedText(figure, Qt.TextElideMode.ElideRight, room)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, shown)
        painter.end()
