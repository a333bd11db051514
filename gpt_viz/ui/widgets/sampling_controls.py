"""The sampler's buttons and settings, in lines that break where the panel is narrow. Knows no model and no engine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent

from gpt_viz.ui.widgets.bounded import BoundedFraction, BoundedNumber
from gpt_viz.ui.widgets.controls import Controls
from gpt_viz.ui.widgets.knob import Knob

MOST_TOKENS = 1_000_000
DEFAULT_TOKENS = 300
NARROW = 520  # px; below it the sliders go, the fields stay
_HUNDREDTHS = 100  # sliders count in hundredths
_TEMPERATURES = tuple(range(0, 205, 5))
_TOP_P = (1, *range(5, 100, 5), 98, 99, 100)


class SamplingControls(Controls):
    """Emits what is pressed; `changed` when temperature, top-k or top-p is another, `reseeded` when a seed is entered.

    `refused` carries a sentence on what is wrong with a field, and "" when it is right again.
    """

    run = Signal()
    step = Signal()
    stop = Signal()
    back = Signal()
    clear = Signal()
    changed = Signal()
    edited = Signal()
    reseeded = Signal()
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__("sampling")
        self.temperature = BoundedFraction(
            0.0, 100.0, named=0.0, word="greedy", rule="the temperature is a number from 0 (greedy) to 100"
        )
        self.top_k = BoundedNumber(0, 2**24, word="off", rule="top-k is a whole number from 0 (off) up")
        self.top_p = BoundedFraction(
            0.001, 1.0, named=1.0, word="off", rule="top-p is a number above 0 and up to 1 (off)", decimals=3
        )
        self.tokens = BoundedNumber(
            0, MOST_TOKENS, word="endless", rule=f"the number of tokens goes from 0 (endless) to {MOST_TOKENS:,}"
        )
        self.temperature.setValue(1.0)
        self.top_p.setValue(1.0)
        self.tokens.setValue(DEFAULT_TOKENS)
        self.seed.setPlaceholderText("any")
        self.add_button("run", "Run", self.run, "Sample on from the text (Ctrl+Return)")
        self.add_button("step", "Step", self.step, "Sample one token (.)")
        self.add_button("stop", "Stop", self.stop, "End the run after the token that is being drawn")
        self.add_button("back", "Back", self.back, "Take the newest token back (Backspace)", says="One token back")
        self.add_button("clear", "Clear", self.clear, "Take all sampled tokens back", says="Start over")
        self.buttons["run"].setCheckable(True)
        self.flow.addWidget(self.row)
        self._knobs = [
            Knob(
                "sampling.tokens", "tokens", self.tokens, widest="endless",
                note="How many tokens one run draws; 0 is endless",
            ),
            Knob(
                "sampling.seed", "seed", self.seed, widest="1234567",
                note="A seed always gives the same text; left empty, one is picked",
            ),
            Knob(
                "sampling.temperature", "temperature", self.temperature, widest="greedy", short="temp.", slider=True,
                note="Logits are divided by it: below 1 the likely gets likelier; 0 is greedy, the likeliest always",
            ),
            Knob(
                "sampling.top_k", "top-k", self.top_k, widest="100", slider=True,
                note="Only the k likeliest can be drawn; 0 is off",
            ),
            Knob(
                "sampling.top_p", "top-p", self.top_p, widest="0.95", slider=True,
                note="Only the likeliest that together reach p can be drawn; 1 is off",
            ),
        ]  # fmt: skip
        for knob in self._knobs:
            self.flow.addWidget(knob)
        self._connect()
        self.set_vocabulary(65)

    def _connect(self) -> None:
        for field in self.fields():
            field.refused.connect(self.refused)
            field.valueChanged.connect(self._measure)
        self.seed.textChanged.connect(self._measure)
        for field in (self.temperature, self.top_k, self.top_p):
            field.valueChanged.connect(self._show_on_sliders)
            field.valueChanged.connect(lambda _: self.changed.emit())
        self.seed.textChanged.connect(lambda _: self.edited.emit())
        self.seed.editingFinished.connect(self.reseeded)
        for knob, act in zip(
            self._knobs[2:], (self._slide_temperature, self._slide_top_k, self._slide_top_p), strict=True
        ):
            assert knob.slider is not None
            knob.slider.chosen.connect(act)

    # -- what stands in it --

    def fields(self) -> tuple[BoundedNumber | BoundedFraction, ...]:
        return (self.temperature, self.top_k, self.top_p, self.tokens)

    def set_vocabulary(self, size: int) -> None:
        """Let the top-k slider reach over so many tokens."""
        self._top_ks: Sequence[int] = _stops(size)
        self._show_on_sliders()

    def show_state(self, *, running: bool, stopping: bool, ready: bool, drawn: bool, reason: str = "") -> None:
        """Which buttons can be pressed: `ready` to sample, something `drawn` to be taken back. `reason`: why not."""
        run = self.buttons["run"]
        run.setChecked(running)
        run.setText("Running" if running else "Run")
        self.enable(run, ready or running)
        self.enable(self.buttons["step"], ready and not running)
        stop = self.buttons["stop"]
        self.enable(stop, running and not stopping)
        for name in ("back", "clear"):
            self.enable(self.buttons[name], drawn and not running)
        for name in ("run", "step"):
            self.buttons[name].setAccessibleDescription(reason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for knob in self._knobs[2:]:
            knob.set_narrow(self.width() < NARROW)

    def _measure(self) -> None:
        for knob in self._knobs:
            knob.measure()

    def _show_on_sliders(self, *_: object) -> None:
        shown = (
            (round(self.temperature.value() * _HUNDREDTHS), _TEMPERATURES),
            (self.top_k.value(), self._top_ks),
            (round(self.top_p.value() * _HUNDREDTHS), _TOP_P),
        )
        for knob, (value, stops) in zip(self._knobs[2:], shown, strict=True):
            assert knob.slider is not None
            knob.slider.show_value(value, stops)

    def _slide_temperature(self, hundredths: int) -> None:
        self.temperature.setValue(hundredths / _HUNDREDTHS)

    def _slide_top_k(self, count: int) -> None:
        self.top_k.setValue(count)

    def _slide_top_p(self, hundredths: int) -> None:
        self.top_p.setValue(hundredths / _HUNDREDTHS)


def _stops(size: int) -> tuple[int, ...]:
    """0 (off), then every count of a small vocabulary, or of a large one 1, 2, 5, 10, 20, 50 and so on."""
    if size <= 100:
        return tuple(range(size + 1))
    round_ones = [figure * 10**power for power in range(9) for figure in (1, 2, 5)]
    return (0, *(count for count in round_ones if count < size), size)
