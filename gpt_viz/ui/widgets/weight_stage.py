"""Pictures of up to six tensors, with the spread and the figures of one of them. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from gpt_viz.ui.theme import theme, ui_font
from gpt_viz.ui.widgets.figures import Figures
from gpt_viz.ui.widgets.histogram import Bins
from gpt_viz.ui.widgets.sheet import Sheet
from gpt_viz.ui.widgets.weight_picture import Spread, SpreadHistogram, WeightPicture

MOST = 6  # tensors: a head's three matrices and their biases
SPACE = 16  # px between pictures and figures
BETWEEN = 12  # px between two pictures
NARROW = 340  # px: in less, figures stand below the pictures
SIDE_LEAST, SIDE_MOST = 150, 280
BARS_LEAST, BARS_MOST = 84, 190
STRIP = 22  # px that one row of cells is high


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One tensor: its sheet, its counts, its spread and its figures.

    Its colours end at `limit`, and at the largest one of its `family`; 0 leaves that open.
    """

    sheet: Sheet
    bins: Bins | None
    limit: float
    spread: Spread
    pairs: tuple[tuple[str, str], ...]
    family: str = ""
    not_finite: bool = False


class WeightStage(QWidget):
    """Shows tensors side by side. `pointed` carries (tensor, row, column), or None; `taken` the tensor clicked on."""

    pointed = Signal(object)
    taken = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.pictures = [WeightPicture() for _ in range(MOST)]
        for at, picture in enumerate(self.pictures):
            picture.setParent(self)
            picture.hovered.connect(lambda cell, at=at: self._hovered(at, cell))
            picture.chosen.connect(lambda row, column, at=at: self.taken.emit(at))
        self.histogram, self.figures, self.words = SpreadHistogram(), Figures(), QLabel()
        for each in (self.histogram, self.figures, self.words):
            each.setParent(self)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self._words = ""
        self._shown: tuple[Shown, ...] = ()
        self._looked_at = 0
        self._limits: dict[str, float] = {}
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_tensors(self, shown: Sequence[Shown], *, anew: bool) -> None:
        """Show these; if not `anew`, they are the same ones with other numbers: then figures stay with the tensor that
        was looked at, and the scale does not shrink."""
        self._shown = tuple(shown)
        if anew:
            self._looked_at = 0
            self._limits.clear()
        for each in shown:
            self._limits[each.family] = max(each.limit, self._limits.get(each.family, 0.0))
        for at, picture in enumerate(self.pictures):
            one = self._shown[at] if at < len(self._shown) else None
            sheet, limit = (one.sheet, self._limit(one)) if one else (None, 1.0)
            picture.show_weights(sheet, limit, titled=len(self._shown) > 1)
            picture.setVisible(sheet is not None)
        self._show_figures()

    @property
    def looked_at(self) -> int:
        """The tensor whose figures are shown."""
        return self._looked_at

    def say(self, words: str) -> None:
        """One line below the pictures."""
        self._words = words
        metrics = self.words.fontMetrics()
        self.words.setText(metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(self.words.width() - 2, 0)))
        self.words.setAccessibleName(words)

    def _limit(self, each: Shown) -> float:
        return self._limits[each.family] or 1.0

    def _hovered(self, at: int, cell: tuple[int, int] | None) -> None:
        if cell is not None and at != self._looked_at and at < len(self._shown):
            self._looked_at = at
            self._show_figures()
        self.pointed.emit(None if cell is None else (at, *cell))
        number = None if cell is None or at >= len(self._shown) else float(self._shown[at].sheet.cells[cell])
        self.histogram.set_number(number)

    def _show_figures(self) -> None:
        each = self._shown[self._looked_at]
        limit = self._limit(each)
        self.histogram.show_spread(each.bins, limit, each.spread, not_finite=each.not_finite)
        name = (("tensor", each.sheet.name),) if len(self._shown) > 1 else ()
        self.figures.show_pairs((*name, *each.pairs, ("colours end at", f"±{limit:g}")))
        self.arrange()

    def _restyle(self) -> None:
        self.words.setFont(ui_font(0.9))
        self._line = ceil(QFontMetricsF(ui_font(0.9)).height()) + 4
        self.arrange()

    # -- where things are --

    def arrange(self) -> None:
        """Share the room out: the pictures get what spread, figures and the line below leave."""
        width, height = self.width(), self.height()
        below = width < NARROW or height > 1.25 * width
        if below:
            self._arrange_below(width, height)
        else:
            self._arrange_beside(width, height)
        self.say(self._words)

    def _arrange_beside(self, width: int, height: int) -> None:
        side = min(max(round(0.3 * width), SIDE_LEAST), SIDE_MOST)
        left, figures = width - side, self.figures.needed_height(side)
        bars = min(max(height - figures - SPACE, BARS_LEAST), BARS_MOST)
        self.histogram.setGeometry(left, 0, side, bars)
        self.figures.setGeometry(left, bars + SPACE // 2, side, max(height - bars - SPACE // 2, 0))
        self._arrange_pictures(QRect(0, 0, left - SPACE, height - self._line))
        self.words.setGeometry(0, height - self._line, left - SPACE, self._line)

    def _arrange_below(self, width: int, height: int) -> None:
        half = (width - SPACE) // 2
        foot = min(max(self.figures.needed_height(half), BARS_LEAST), height // 2)
        top = height - foot
        self.figures.setGeometry(0, top, half, foot)
        self.histogram.setGeometry(width - half, top, half, min(foot, BARS_MOST))
        self._arrange_pictures(QRect(0, 0, width, top - SPACE // 2 - self._line))
        self.words.setGeometry(0, top - SPACE // 2 - self._line, width, self._line)

    def _arrange_pictures(self, room: QRect) -> None:
        """What is one row of cells stands below the matrices; these get the arrangement in which they are largest."""
        strips = [at for at, each in enumerate(self._shown) if each.sheet.rows == 1]
        matrices = [at for at in range(len(self._shown)) if at not in strips]
        low, high = self._line + STRIP, 3 * self._line + STRIP + 12  # without labels and with them
        if not matrices:
            each = min(high, room.height() // max(len(strips), 1) - BETWEEN)
            for place, at in enumerate(strips):
                top = room.top() + place * (each + BETWEEN)
                self.pictures[at].setGeometry(room.left(), top, room.width(), each)
            return
        foot = 0
        if strips:
            tall = high if len(strips) == 1 and room.height() > 4 * high else low
            self._row(strips, QRect(room.left(), room.bottom() + 1 - tall, room.width(), tall))
            foot = tall + BETWEEN
        self._grid(matrices, QRect(room.left(), room.top(), room.width(), max(room.height() - foot, 1)))

    def _row(self, tensors: list[int], room: QRect) -> None:
        each = (room.width() + BETWEEN) // len(tensors)
        for place, at in enumerate(tensors):
            self.pictures[at].setGeometry(room.left() + place * each, room.top(), each - BETWEEN, room.height())

    def _grid(self, tensors: list[int], room: QRect) -> None:
        count, sheet = len(tensors), self._shown[tensors[0]].sheet

        def cell(columns: int) -> float:
            lines = -(-count // columns)
            wide = (room.width() + BETWEEN) / columns - BETWEEN
            high = (room.height() + BETWEEN) / lines - BETWEEN - self._line
            return min(wide / sheet.columns, high / sheet.rows)

        columns = max(range(1, count + 1), key=cell)
        lines = -(-count // columns)
        wide, high = floor((room.width() + BETWEEN) / columns), floor((room.height() + BETWEEN) / lines)
        for place, at in enumerate(tensors):
            line, column = divmod(place, columns)
            self.pictures[at].setGeometry(
                room.left() + column * wide, room.top() + line * high, wide - BETWEEN, high - BETWEEN
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:
        return QSize(560, 300)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 150)
