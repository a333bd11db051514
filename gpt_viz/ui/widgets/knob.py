"""A setting in one line: its name, a slider for the hand, a field for the exact value. Knows not what it sets."""

from __future__ import annotations

from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.bounded import BoundedFraction, BoundedNumber
from gpt_viz.ui.widgets.fields import SeedField
from gpt_viz.ui.widgets.manners import named, tip
from gpt_viz.ui.widgets.stop_slider import StopSlider

Field = BoundedNumber | BoundedFraction | SeedField
SLIDER = 128  # px that a slider grows to
_LONGEST = "0" * 12  # a field grows with its text up to here


class Knob(QWidget):
    """Has room for the `widest` usual text; where the panel is narrow, the name is `short` and the slider goes."""

    def __init__(
        self, name: str, label: str, field: Field, *, widest: str, note: str, short: str = "", slider: bool = False
    ) -> None:
        super().__init__()
        self.field = named(field, name, label)
        self._names, self._widest = (label, short or label), widest
        self.label = QLabel(label)
        self.label.setProperty("muted", "true")
        self.label.setBuddy(field)
        for each in (field, self.label):
            each.setToolTip(tip(note))
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.label)
        self.slider = named(StopSlider(), f"{name}.slider", f"{label} slider") if slider else None
        if self.slider is not None:
            row.addWidget(self.slider, 1)
        row.addWidget(field)
        self.set_narrow(False)
        theme.theme.changed.connect(self.measure)

    def set_narrow(self, narrow: bool) -> None:
        """Take little room, or as much as there is."""
        self.label.setText(self._names[narrow])
        if self.slider is not None:
            self.slider.setVisible(not narrow)
        growing = QSizePolicy.Policy.Expanding if self.slider and not narrow else QSizePolicy.Policy.Fixed
        self.setSizePolicy(growing, QSizePolicy.Policy.Fixed)
        self._row.setSpacing(theme.GRID * 3 // 4 if narrow else theme.GRID)
        self.measure()

    def measure(self) -> None:
        """Take the room that name and value need in the theme's font."""
        metrics = QFontMetrics(theme.ui_font())
        width, most = map(metrics.horizontalAdvance, (self._widest, _LONGEST))
        width = max(width, min(metrics.horizontalAdvance(self.field.text()), most))
        self.field.setFixedSize(width + 22, metrics.height() + 14)
        self.setMaximumWidth(self.label.sizeHint().width() + width + 22 + 2 * theme.GRID + SLIDER)
