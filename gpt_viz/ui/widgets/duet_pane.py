"""Two texts side by side, with the settings that both are written with. Knows no model and no engine."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.bounded import BoundedFraction, BoundedNumber
from gpt_viz.ui.widgets.caption import Caption
from gpt_viz.ui.widgets.flow import FlowLayout
from gpt_viz.ui.widgets.knob import Knob
from gpt_viz.ui.widgets.manners import named, tip
from gpt_viz.ui.widgets.sides import SideMark
from gpt_viz.ui.widgets.token_view import TokenView

MOST_TOKENS, LARGEST_SEED = 10_000, 2**31 - 1
DEFAULT_TOKENS = 200
NARROW = 480  # px; below it names are short


class DuetPane(QWidget):
    """`run` and `stop` are the button's, `changed` tells of another temperature.

    `captions` say of each text who wrote it and how far it is.
    """

    run = Signal()
    stop = Signal()
    changed = Signal()

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._running = False
        self.button = named(QPushButton("Run"), f"{prefix}.run", "Sample from both")
        self.button.setToolTip(tip("Let both models write on from the same text, with the same seed"))
        self.button.clicked.connect(lambda: (self.stop if self._running else self.run).emit())
        self.tokens = BoundedNumber(
            1, MOST_TOKENS, word="1", rule=f"the number of tokens goes from 1 to {MOST_TOKENS:,}"
        )
        self.temperature = BoundedFraction(
            0.0, 100.0, named=0.0, word="greedy", rule="the temperature is a number from 0 (greedy) to 100"
        )
        self.seed = BoundedNumber(0, LARGEST_SEED, word="0", rule=f"the seed goes from 0 to {LARGEST_SEED:,}")
        self.tokens.setValue(DEFAULT_TOKENS)
        self.temperature.setValue(1.0)
        self.seed.setGroupSeparatorShown(False)
        self._knobs = knobs = (
            Knob(f"{prefix}.tokens", "tokens", self.tokens, widest="1,000", note="How many tokens each model draws"),
            Knob(
                f"{prefix}.temperature", "temperature", self.temperature, widest="greedy", short="temp.",
                note="Of both models; the distributions are shown at it, too, but for greedy ones",
            ),
            Knob(f"{prefix}.seed", "seed", self.seed, widest="12345", note="The same for both models"),
        )  # fmt: skip
        controls = QWidget()
        flow = FlowLayout(controls, across=12, down=8)
        flow.addWidget(self.button)
        for knob in knobs:
            flow.addWidget(knob)
        for number, knob in ((self.tokens, knobs[0]), (self.seed, knobs[2])):
            number.valueChanged.connect(knob.measure)
        self.temperature.valueChanged.connect(knobs[1].measure)
        self.temperature.valueChanged.connect(lambda _: self.changed.emit())
        self.views, self.captions = tuple(TokenView() for _ in range(2)), tuple(Caption(scale=0.95) for _ in range(2))
        row = QHBoxLayout()
        row.setSpacing(2 * theme.GRID)
        for at, name in enumerate(("first", "second")):
            named(self.views[at], f"{prefix}.text.{name}", f"Text of the {name} model")
            named(self.captions[at], f"{prefix}.state.{name}", f"State of the {name} text")
            row.addLayout(self._text(at), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID)
        column.addWidget(controls)
        column.addLayout(row, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for knob in self._knobs:
            knob.set_narrow(self.width() < NARROW)

    def _text(self, at: int) -> QVBoxLayout:
        above = QHBoxLayout()
        above.setSpacing(6)
        above.addWidget(SideMark(second=bool(at)))
        above.addWidget(self.captions[at], 1)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addLayout(above)
        column.addWidget(self.views[at], 1)
        return column

    def show_state(self, *, running: bool, ready: bool, stopping: bool = False) -> None:
        """Whether the button starts or stops, and whether it can be pressed."""
        self._running = running
        self.button.setText("Stop" if running else "Run")
        self.button.setAccessibleName("Stop sampling from both" if running else "Sample from both")
        self.button.setEnabled((ready or running) and not stopping)
