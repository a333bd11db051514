"""Where the parts of an opened step stand, at any size of the panel. Knows their sizes and nothing they show."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from gpt_viz.ui.widgets.caption import Caption
from gpt_viz.ui.widgets.code_strip import CodeStrip
from gpt_viz.ui.widgets.figures import Figures
from gpt_viz.ui.widgets.formula import Formula
from gpt_viz.ui.widgets.histogram import Histogram
from gpt_viz.ui.widgets.input_pictures import InputPictures
from gpt_viz.ui.widgets.navigator import Navigator
from gpt_viz.ui.widgets.tensor_picture import TensorPicture
from gpt_viz.ui.widgets.written_sum import WrittenSum

GAP, AIR = 24, 8  # px between columns, and between the parts of one
BROAD, HIGH = 1020, 520  # px from which there is room for the diagram, and for all that is said of a step
TWO = 540  # px from which there are two columns
SIDE, MOST = 176, 280  # px of the column with histogram and figures, at least and at most
TALL = 1.15  # times as high as wide: all parts stand in one column


@dataclass(frozen=True, slots=True)
class Parts:
    """All parts of the view. `about` is the step's text, `found` the line above a number written out."""

    navigator: Navigator
    title: Caption
    picture: TensorPicture
    value: Caption
    histogram: Histogram
    figures: Figures
    formula: Formula
    code: CodeStrip
    about: QLabel
    origin: Caption
    inputs: InputPictures
    found: Caption
    written: Formula
    terms: WrittenSum

    def all(self) -> tuple[QWidget, ...]:
        """Every one of them, in the order in which the Tab key goes through them."""
        return (
            self.navigator, self.title, self.picture, self.value, self.histogram, self.figures, self.formula, self.code,
            self.about, self.origin, self.inputs, self.found, self.written, self.terms,
        )  # fmt: skip


class StepStage(QWidget):
    """The tensor at the left, what is said of it at the right; below them the cells that made one of its numbers."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        for each in parts.all():
            each.setParent(self)
        self.setMinimumSize(240, 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()

    def arrange(self) -> None:
        """Give each part its place, and hide those that have none."""
        width, height = self.width(), self.height()
        placed: dict[QWidget, QRect] = {}
        if width < TWO or height > TALL * width:
            self._one_column(QRect(0, 0, width, height), placed)
        elif width < BROAD or height < HIGH:
            self._two_columns(QRect(0, 0, width, height), placed)
        else:
            side = self.parts.navigator.sizeHint().width()
            fits = self.parts.navigator.minimumSizeHint().height() <= height
            if fits:
                placed[self.parts.navigator] = QRect(0, 0, side, height)
            left = side + GAP if fits else 0
            self._all(QRect(left, 0, width - left, height), placed)
        for each in self.parts.all():
            if each in placed:
                each.setGeometry(placed[each])
            each.setVisible(each in placed)

    # -- the three arrangements --

    def _all(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        parts = self.parts
        left = round((room.width() - GAP) * 0.56)
        right = QRect(room.left() + left + GAP, room.top(), room.width() - left - GAP, room.height())
        upper = round(room.height() * 0.58)
        side = left - SIDE - GAP
        above = QRect(room.left(), room.top(), side, upper)
        self._picture(above, placed)
        used = round(parts.picture.picture().right() + parts.picture.margins()[2])
        used = side if parts.picture.sheet is None else used
        start = min(max(used, side - MOST + SIDE), side) + GAP
        placed[parts.picture].setWidth(start - GAP)
        placed[parts.value].setWidth(start - GAP)
        placed[parts.title].setWidth(left)
        beside = QRect(room.left() + start, room.top(), left - start, upper)
        self._measures(beside, placed)
        ends = [placed[each].bottom() + 1 for each in (parts.value, parts.histogram, parts.figures) if each in placed]
        below = min(max(ends) + 2 * AIR - room.top(), upper + AIR)
        lower = QRect(room.left(), room.top() + below, left, room.height() - below)
        self._origin(lower, placed)
        start = self._said(right, placed, room.height() - 190) + GAP
        self._number(QRect(right.left(), start, right.width(), room.bottom() + 1 - start), placed)
        if not parts.inputs.count:
            placed.pop(parts.origin, None)
            placed.pop(parts.inputs, None)

    def _two_columns(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        left = round((room.width() - GAP) * 0.5)
        self._picture(QRect(room.left(), room.top(), left, room.height()), placed)
        self._measures_below(QRect(room.left(), room.top(), left, room.height()), placed)
        right = QRect(room.left() + left + GAP, room.top(), room.width() - left - GAP, room.height())
        top = self._stacked(right, [self.parts.formula], placed, right.height() // 3)
        if self.parts.inputs.count and right.height() - top >= 230:
            tall = min(max(round(right.height() * 0.24), 76), 180)
            placed[self.parts.inputs] = QRect(right.left(), top + AIR, right.width(), tall)
            top += AIR + tall
        self._number(QRect(right.left(), top + AIR, right.width(), right.height() - top - AIR), placed)

    def _one_column(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        parts = self.parts
        if room.height() <= TALL * room.width():  # the number's name stands below the picture already
            high = parts.written.needed_height(room.width()) if parts.written.lines else 0
            high = high if high <= 0.4 * room.height() else 0
            upper = room.height() - (high + AIR if high else 0)
            self._picture(QRect(0, 0, room.width(), upper), placed)
            if high:
                placed[parts.written] = QRect(0, placed[parts.value].bottom() + 1 + AIR, room.width(), high)
            return
        upper = round(room.height() * 0.44)
        self._picture(QRect(0, 0, room.width(), upper), placed)
        top = placed[parts.value].bottom() + 1 + AIR
        top = self._stacked(QRect(0, top, room.width(), room.height()), [parts.formula], placed, top + 120)
        if parts.inputs.count:
            placed[parts.inputs] = QRect(0, top + AIR, room.width(), 120)
            top += AIR + 120
        self._number(QRect(0, top + AIR, room.width(), room.height() - top - AIR), placed)

    # -- the groups of parts --

    def _picture(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        """The tensor between its name and the number under the pointer, which follows close below it."""
        parts = self.parts
        line = parts.title.sizeHint().height()
        placed[parts.title] = QRect(room.left(), room.top(), room.width(), line)
        high = room.height() - 2 * line - AIR
        parts.picture.resize(room.width(), max(high, 20))
        used = min(round(parts.picture.picture().bottom() + parts.picture.margins()[3]) + 2, high)
        used = high if parts.picture.sheet is None else used
        placed[parts.picture] = QRect(room.left(), room.top() + line + 4, room.width(), max(used, 20))
        below = placed[parts.picture].bottom() + 4
        placed[parts.value] = QRect(room.left(), below, room.width(), line)

    def _measures(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        parts = self.parts
        figures = parts.figures.needed_height(room.width())
        top = room.top() + parts.title.sizeHint().height() + 4
        tall = min(parts.histogram.sizeHint().height(), room.bottom() - top - figures - 2 * AIR)
        if tall >= 70 and (parts.histogram.bins is not None or parts.picture.not_finite):
            placed[parts.histogram] = QRect(room.left(), top, room.width(), tall)
            top += tall + 2 * AIR
        placed[parts.figures] = QRect(room.left(), top, room.width(), min(figures, room.bottom() - top))

    def _measures_below(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        """Histogram and figures side by side in what the tensor leaves below it, each where it has room."""
        parts, top = self.parts, placed[self.parts.value].bottom() + 1 + 2 * AIR
        spare, half = room.bottom() + 1 - top, (room.width() - GAP) // 2
        tall = min(spare, parts.histogram.sizeHint().height())
        if tall >= 84 and parts.histogram.bins is not None:
            placed[parts.histogram] = QRect(room.left(), top, half, tall)
        if parts.figures.needed_height(half) <= spare:
            placed[parts.figures] = QRect(room.left() + half + GAP, top, half, parts.figures.needed_height(half))

    def _origin(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        parts = self.parts
        line = parts.origin.sizeHint().height()
        placed[parts.origin] = QRect(room.left(), room.top(), room.width(), line)
        placed[parts.inputs] = QRect(room.left(), room.top() + line + 4, room.width(), room.height() - line - 4)

    def _said(self, room: QRect, placed: dict[QWidget, QRect], most: int) -> int:
        """Formula, code and text, as many of them as end above `most`; returns where they end."""
        about = self.parts.about
        return self._stacked(room, [self.parts.formula, self.parts.code, about], placed, most, air=12)

    @staticmethod
    def _stacked(room: QRect, widgets: list[QWidget], placed: dict[QWidget, QRect], most: int, air: int = AIR) -> int:
        top = room.top()
        for widget in widgets:
            if isinstance(widget, Formula):
                high = widget.needed_height(room.width())
            elif isinstance(widget, QLabel):
                high = widget.heightForWidth(room.width())
            else:
                widget.resize(room.width(), widget.height())
                high = widget.sizeHint().height()
            if top + high > most and placed.get(widget) is None and top > room.top():
                break
            placed[widget] = QRect(room.left(), top, room.width(), high)
            top += high + air
        return top - air

    def _number(self, room: QRect, placed: dict[QWidget, QRect]) -> None:
        """One number, what it comes to, and its terms: as much of that as there is room for."""
        parts = self.parts
        line = parts.found.sizeHint().height()
        top = room.top()
        if room.height() >= line:
            placed[parts.found] = QRect(room.left(), top, room.width(), line)
            top += line + 4
        high = parts.written.needed_height(room.width())
        if parts.written.lines and room.bottom() - top >= high:
            placed[parts.written] = QRect(room.left(), top, room.width(), high)
            top += high + AIR
        left = room.bottom() + 1 - top
        if parts.terms.sums and left >= 2 * parts.terms.line:
            placed[parts.terms] = QRect(room.left(), top, room.width(), left)
