"""A column as high as its content, scrolled where there is less room. Knows nothing of what is in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget


class Column(QScrollArea):
    """As high as its content where there is room, and scrolled where there is less. Leaves the keys to others."""

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        self._inner = inner
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setWidgetResizable(True)
        self.setWidget(inner)
        inner.setAutoFillBackground(False)  # which setWidget has switched on
        self.viewport().setAutoFillBackground(False)
        inner.installEventFilter(self)

    def sizeHint(self) -> QSize:
        inner, width = self._inner, self.viewport().width()
        height = inner.heightForWidth(width) if inner.hasHeightForWidth() else inner.sizeHint().height()
        return QSize(inner.sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._inner.minimumSizeHint().width(), 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
