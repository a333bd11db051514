"""A slider over chosen numbers, such as the widths that the heads divide. Knows not what they count."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider

from gpt_viz.ui.widgets.manners import wheel_is_meant


class StopSlider(QSlider):
    """A slider over chosen numbers, its stops. `chosen` carries the stop that someone moved it to."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._stops: tuple[int, ...] = (0,)
        self._showing = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPageStep(1)
        self.setMinimumWidth(48)
        self.valueChanged.connect(self._moved)

    def show_value(self, value: int, stops: Sequence[int]) -> None:
        """Stand at the stop nearest to a value, which itself may lie between two; `stops` rise."""
        self._showing = True
        self._stops = tuple(stops)
        place = bisect_left(self._stops, value)
        if place == len(self._stops) or (place > 0 and value - self._stops[place - 1] < self._stops[place] - value):
            place -= 1
        self.setRange(0, len(self._stops) - 1)
        self.setValue(place)
        self._showing = False

    def _moved(self, place: int) -> None:
        if not self._showing:
            self.chosen.emit(self._stops[place])

    def _part(self, part: QStyle.SubControl) -> QRect:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        return self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the handle brings it there, where Qt would move it by one stop only."""
        at, handle = event.position().toPoint(), self._part(QStyle.SubControl.SC_SliderHandle)
        if event.button() == Qt.MouseButton.LeftButton and not handle.contains(at):
            groove = self._part(QStyle.SubControl.SC_SliderGroove)
            start, span = groove.x() + handle.width() // 2, groove.width() - handle.width()
            self.setValue(QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), at.x() - start, span))
            if not self._part(QStyle.SubControl.SC_SliderHandle).contains(at):
                return  # between two stops: Qt would go on to the next
        super().mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if wheel_is_meant(self, event):
            super().wheelEvent(event)
