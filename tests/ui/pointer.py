"""The pointer over a widget, told to it directly: without a display, a pointer that is moved may not be noticed."""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication


def point_at(widget, at):
    """The pointer comes to a place of the widget, no button pressed."""
    place = QPointF(at)
    where = QPointF(widget.mapToGlobal(place))
    button = Qt.MouseButton.NoButton
    event = QMouseEvent(QEvent.Type.MouseMove, place, where, button, button, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, event)
