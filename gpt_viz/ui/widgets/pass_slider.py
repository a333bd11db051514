"""A slider over a whole pass, which shows what comes where by the colours of the kinds. Knows no step.

What it stands at is no setting: it follows where one stands.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy

from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.colormap import Pixels, image_of, pixel
from gpt_viz.ui.widgets.manners import wheel_is_meant

STRIP = 8  # px, the height of the colours
HANDLE = 5  # px, half the width of the handle


class PassSlider(QAbstractSlider):
    """`moved` carries the number of the step that someone moved it to."""

    moved = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._kind: Callable[[int], str] = lambda _: "residual"
        self._of: object = None
        self._strip: Pixels | None = None
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setPageStep(8)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.actionTriggered.connect(lambda _: self.moved.emit(self.sliderPosition()))
        theme.changed.connect(self._restyle)

    def show_steps(self, count: int, kind: Callable[[int], str], of: object) -> None:
        """The pass has so many steps, `kind(i)` of them each; another `of` is another pass."""
        if of != self._of or count != self.maximum() + 1:
            self._of, self._kind, self._strip = of, kind, None
            self.setRange(0, max(count - 1, 0))
            self.update()

    def stand(self, at: int | None) -> None:
        """Show where one stands."""
        self.setEnabled(at is not None or self.maximum() > 0)
        if at is not None and at != self.value():
            self.setValue(at)

    def _restyle(self) -> None:
        self._strip = None
        self.update()

    def _place(self) -> QRectF:
        return QRectF(HANDLE, (self.height() - STRIP) // 2, max(self.width() - 2 * HANDLE, 1), STRIP)

    def _at(self, x: float) -> int:
        place = self._place()
        share = (x - place.x()) / place.width()
        return min(max(int(share * (self.maximum() + 1)), 0), self.maximum())

    def sizeHint(self) -> QSize:
        return QSize(160, 20)

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, place = tokens(), self._place()
        painter = QPainter(self)
        wide, ratio = int(place.width()), self.devicePixelRatioF()
        if self._strip is None or self._strip.shape[1] != wide:
            kinds = {name: pixel(colour) for name, colour in colours.kinds.items()}
            count = self.maximum() + 1
            row = [kinds[self._kind(x * count // wide)] for x in range(wide)]
            self._strip = np.array([row], np.uint32)
        painter.setOpacity(0.75 if self.isEnabled() else 0.3)
        painter.drawImage(place, image_of(self._strip))
        painter.setOpacity(1)
        x = place.x() + (self.value() + 0.5) / (self.maximum() + 1) * place.width()
        handle = QRectF(round((x - HANDLE + 1) * ratio) / ratio, 1.5, 2 * HANDLE - 2, self.height() - 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent_text if self.hasFocus() else colours.text), 1.5))
        painter.setBrush(QColor(colours.card))
        painter.drawRoundedRect(handle, 3, 3)
        painter.end()

    # -- mouse and keys --

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._move(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move(event)

    def _move(self, event: QMouseEvent) -> None:
        at = self._at(event.position().x())
        if at != self.value():
            self.setValue(at)
            self.moved.emit(at)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if wheel_is_meant(self, event):
            super().wheelEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()
