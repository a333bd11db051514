"""One of a few, chosen from a menu under a flat word with a small arrow. Knows nothing of what is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QFontMetrics, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QMenu, QToolButton

from gpt_viz.ui import theme


class Chooser(QToolButton):
    """Shows the title of what is chosen; `changed` is emitted with the name of another choice."""

    changed = Signal(str)

    def __init__(self, choices: Mapping[str, str], name: str, accessible: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setToolTip(accessible)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu, group = QMenu(self), QActionGroup(self)
        self._actions: dict[str, QAction] = {}
        for key, title in choices.items():
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setData(key)
            group.addAction(action)
            self._actions[key] = action
        group.triggered.connect(lambda action: self.choose(action.data()))
        self.setMenu(menu)
        self._choice = next(iter(choices))
        self._actions[self._choice].setChecked(True)
        theme.theme.changed.connect(self.updateGeometry)

    @property
    def choice(self) -> str:
        """The name of what is chosen."""
        return self._choice

    def choose(self, name: str) -> None:
        """Choose by name. Raises KeyError for a name that is not among the choices."""
        self._actions[name].setChecked(True)
        if name != self._choice:
            self._choice = name
            self.updateGeometry()
            self.update()
            self.changed.emit(name)

    def title(self) -> str:
        """What is chosen, as it is read."""
        return self._actions[self._choice].text()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.ui_font())
        return QSize(metrics.horizontalAdvance(self.title()) + 32, metrics.height() + 8)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QColor(tokens.accent_text) if self.hasFocus() else Qt.PenStyle.NoPen)
        if self.underMouse() or self.isDown():
            painter.setBrush(QColor(tokens.field))
        if self.hasFocus() or self.underMouse() or self.isDown():
            painter.drawRoundedRect(frame, 5, 5)
        painter.setFont(theme.ui_font())
        painter.setPen(QColor(tokens.muted))
        text = QRectF(8, 0, self.width() - 24, self.height())
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.title())
        x, y = self.width() - 12.0, self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.muted))
        painter.drawPolygon(QPolygonF([QPointF(x - 4, y - 2), QPointF(x + 4, y - 2), QPointF(x, y + 3)]))
        painter.end()
