"""What the controls of sampling and of training have in common: buttons, number fields, a seed. Knows neither."""

from __future__ import annotations

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.bounded import BoundedFraction, BoundedNumber
from gpt_viz.ui.widgets.fields import SeedField
from gpt_viz.ui.widgets.flow import FlowLayout
from gpt_viz.ui.widgets.manners import named, set_property, tip


class Controls(QWidget):
    """Lines that break where the panel is narrow. What is in them is named after the `panel`: "sampling.run"."""

    def __init__(self, panel: str) -> None:
        super().__init__()
        self._panel = panel
        self.seed = SeedField()
        self.seed.setText("0")
        self.buttons: dict[str, QPushButton] = {}
        self.row = QWidget()  # of the buttons
        self.row.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._beside = QHBoxLayout(self.row)
        self._beside.setContentsMargins(0, 0, 0, 0)
        self._beside.setSpacing(theme.GRID // 2)
        self.flow = FlowLayout(self, across=12, down=8)

    def add_button(self, name: str, text: str, pressed: SignalInstance, note: str, *, says: str = "") -> None:
        """Put one more button into the row; a screen reader `says` its text, or what is said here."""
        button = named(QPushButton(text), f"{self._panel}.{name}", says or text)
        button.setToolTip(tip(note))
        button.setProperty("note", note)  # comes back when a reason has stood in its place
        button.clicked.connect(pressed)
        self._beside.addWidget(button)
        self.buttons[name] = button

    @staticmethod
    def enable(button: QWidget, on: bool) -> None:
        """Let the button be pressed, or not; the focus does not go on to the next one, which a key would press."""
        if not on and button.hasFocus():
            button.clearFocus()
        button.setEnabled(on)

    def fields(self) -> tuple[BoundedNumber | BoundedFraction, ...]:
        """All number fields."""
        raise NotImplementedError

    def commit(self) -> None:
        """Take what is typed but not yet entered; what will not do goes back to what was."""
        for field in self.fields():
            field.interpretText()

    def complain(self, message: str) -> None:
        """Mark the seed as wrong, with the reason; "" takes it back."""
        set_property(self.seed, "mistake", bool(message))
        self.seed.setAccessibleDescription(message)
