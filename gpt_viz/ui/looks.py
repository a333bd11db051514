"""Which theme is on and how large the letters are, also in a presentation. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from gpt_viz.settings import POINTS
from gpt_viz.ui import sheet
from gpt_viz.ui.theme import theme

PRESENT_SCALE = 1.4


class Looks(QObject):
    """Gives the application the theme's style whenever it changes. `chosen` carries the name of the one wanted."""

    chosen = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.points = theme.points
        self._scale = 1.0
        theme.changed.connect(self.apply)
        QApplication.styleHints().colorSchemeChanged.connect(self._follow)

    @property
    def wanted(self) -> str:
        """The name of the theme that was chosen, `system` included."""
        return theme.wanted

    def use(self, name: str, points: float | None = None) -> None:
        """Another theme, or another size of the letters."""
        low, high = POINTS
        self.points = min(max(points or self.points, low), high)
        theme.use(name, self.points * self._scale)
        self.chosen.emit(name)

    def resize(self, steps: int) -> None:
        """Larger or smaller letters, by points."""
        self.use(theme.wanted, self.points + steps)

    def present(self, on: bool) -> None:
        """Letters for the last row of a room, or as before."""
        self._scale = PRESENT_SCALE if on else 1.0
        self.use(theme.wanted)

    def _follow(self) -> None:
        self.use(theme.wanted)

    def apply(self) -> None:
        """Lay the style sheet on: at first when all widgets are there, since each move under it costs one more."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        sheet.apply(application)
