"""The heads of two models in three columns: the first, the second, and how they differ. Knows no model and no text.

Each column has all heads in one small picture, and below it the chosen one large. Beside them the heads are listed, the
one that differs most at the top.
"""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.difference_map import DifferenceMap, DifferenceMosaic
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.legend import Legend
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.mosaic import OUTLINE, Mosaic
from gpt_viz.ui.widgets.ranking import Ranking
from gpt_viz.ui.widgets.sides import MARK, side_colours
from gpt_viz.ui.widgets.signed_scale import SignedScale
from gpt_viz.ui.widgets.weight_line import WeightLine

GAP, AIR = 16, 6  # px between columns, and between the parts of one
BROAD = 540  # px from which there is room for the list
ROOMY = 170, 330  # px of a column's width and of the height from which pictures have labels
SCALES = 250  # px of height from which there is room for the scales
SMALL = 0.44  # of a column's height is that of all heads together, at least
NAMES = ("first", "second", "difference")


class HeadsStage(QWidget):
    """`chosen` carries layer and head. `paired` says whether there is a third column, `listed` whether it has all heads
    and whether they are listed.
    """

    chosen = Signal(int, int)

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self.difference, self.differences = DifferenceMap(), DifferenceMosaic()
        self.mosaics: tuple[Mosaic, ...] = tuple(
            named(each, f"{prefix}.heads.{name}", f"All heads, {name}: rows are layers, columns are heads")
            for each, name in zip((Mosaic(), Mosaic(), self.differences), NAMES, strict=True)
        )
        self.maps: tuple[Heatmap, ...] = tuple(
            named(each, f"{prefix}.head.{name}", f"The chosen head, {name}: rows are queries, columns are keys")
            for each, name in zip((Heatmap(), Heatmap(), self.difference), NAMES, strict=True)
        )
        self.ranking = named(Ranking(), f"{prefix}.ranking", "Heads by how much they differ")
        self.line = named(WeightLine("Point at a cell to read both weights."), f"{prefix}.weight", "Both weights")
        self.legend = named(Legend(), f"{prefix}.legend", "Colour scale")
        self.scale = named(SignedScale("second more", "first more"), f"{prefix}.scale", "Scale of differences")
        self._titles = ["", "", "difference"]
        self._places: list[QRect] = []
        self.paired = self.listed = True
        for each in (*self.mosaics, *self.maps, self.ranking, self.line, self.legend, self.scale):
            each.setParent(self)
        for mosaic in self.mosaics:
            mosaic.chosen.connect(self.chosen)
        self.ranking.chosen.connect(self.chosen)
        self.setMinimumSize(220, 120)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_titles(self, first: str, second: str) -> None:
        """Whose heads these are."""
        if [first, second] != self._titles[:2]:
            self._titles[:2] = first, second
            self.update()

    def set_paired(self, paired: bool, *, listed: bool) -> None:
        """Whether there is a difference to show, and whether it is known of all heads."""
        if (paired, listed) != (self.paired, self.listed):
            self.paired, self.listed = paired, listed
            self.arrange()

    def set_stretch(self, stretch: str) -> None:
        """Another way from weights to colours, of all pictures."""
        for mosaic, map_ in zip(self.mosaics, self.maps, strict=True):
            mosaic.set_stretch(stretch)
            map_.set_stretch(stretch)
        self.legend.set_stretch(stretch)

    def _restyle(self) -> None:
        self._font = ui_font(0.9)
        self._metrics = QFontMetricsF(self._font)
        self.arrange()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()

    # -- where things stand --

    def arrange(self) -> None:
        """Give each part its place."""
        width, height = self.width(), self.height()
        listed = self.listed and width >= BROAD
        room = width - (self._place_list(width, height) + GAP if listed else 0)
        columns = 3 if self.paired else 2
        wide = max((room - (columns - 1) * GAP) // columns, 40)
        bare = wide < ROOMY[0] or height < ROOMY[1]
        for mosaic, map_ in zip(self.mosaics, self.maps, strict=True):
            mosaic.set_bare(bare)
            map_.set_bare(bare)
        title, line = ceil(self._metrics.height()) + 4, self.line.sizeHint().height()
        scales = height >= SCALES
        below = (max(self.legend.needed_height(wide), self.scale.needed_height()) + AIR if scales else 0) + line
        high = height - title - below - AIR
        chosen = self.maps[0].fitted_height(wide + 3, 10**6)  # with as much height as it could use
        small = min(wide, max(round(SMALL * high), high - chosen - AIR))
        self._places = []
        bottom = 0
        for at in range(columns):
            left = at * (wide + GAP)
            self._places.append(QRect(left, 0, wide, title))
            bottom = max(bottom, self._place_column(at, QRect(left, title, wide, high), small))
        top = min(bottom + AIR, height - below)
        if scales:
            self.legend.setGeometry(0, top, wide, self.legend.needed_height(wide))
            self.scale.setGeometry(2 * (wide + GAP), top, wide, self.scale.needed_height())
        self.line.setGeometry(0, top + below - line, room, line)
        seen: tuple[tuple[QWidget, bool], ...] = (
            (self.ranking, listed),
            (self.legend, scales),
            (self.scale, scales and self.paired),
            (self.mosaics[2], self.listed),
            (self.maps[2], self.paired),
        )
        for each, shown in seen:
            each.setVisible(shown)

    def _place_list(self, width: int, height: int) -> int:
        title = ceil(self._metrics.height()) + 4
        wide = min(max(self.ranking.needed_width(), round(0.2 * width)), round(0.3 * width))
        self.ranking.setGeometry(width - wide, title, wide, height - title)
        return wide

    def _place_column(self, at: int, room: QRect, small: int) -> int:
        """All heads above the chosen one, both against the left edge; returns where they end."""
        mosaic, map_ = self.mosaics[at], self.maps[at]
        used_width, used = mosaic.fitted(room.width(), small)
        mosaic.setGeometry(room.left() - OUTLINE, room.top(), min(used_width, room.width()) + OUTLINE, used)
        top = room.top() + used + AIR
        high = max(room.bottom() + 1 - top, 20)
        map_.setGeometry(room.left() - 3, top, room.width() + 3, min(map_.fitted_height(room.width() + 3, high), high))
        return map_.geometry().bottom() + 1

    # -- titles --

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font)
        for at, place in enumerate(self._places):
            left = place.left()
            if at < 2:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(side_colours()[at])
                middle = (self._metrics.height() - MARK) / 2
                painter.drawRoundedRect(QRectF(left, middle, MARK, MARK), 2, 2)
                left += MARK + 6
            self._write(painter, self._titles[at], QRectF(left, 0, place.right() - left, self._metrics.height()))
        if self.ranking.isVisibleTo(self):
            place = self.ranking.geometry()
            self._write(
                painter, "attention elsewhere", QRectF(place.left() + 4, 0, place.width() - 4, self._metrics.height())
            )
        painter.end()

    def _write(self, painter: QPainter, text: str, room: QRectF) -> None:
        painter.setPen(QColor(tokens().muted))
        shown = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
