"""The training's buttons and settings, in lines that break where the panel is narrow. Knows no model and no engine."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QToolButton, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.bounded import BoundedFraction, BoundedNumber
from gpt_viz.ui.widgets.controls import Controls
from gpt_viz.ui.widgets.knob import Knob
from gpt_viz.ui.widgets.manners import named, set_property, tip

MOST_STEPS, MOST_BATCH, MOST_RATE, MOST_VALIDATION = 10**9, 10**6, 10**6, 0.9
# What shows on the built-in passage, within a minute of two cores, how noise becomes words.
STEPS, BATCH, RATE, WARMUP, DECAY, VALIDATION = 500, 16, 0.003, 20, 0.1, 0.1
WIDE, TALL = 560, 520  # px: from here on the settings that are seldom changed have room as well
SHORT = 340  # px: up to here settings and curve have no room together
_NAN = float("nan")
# Opened or not, and where there is little width.
_MORE = {(False, False): "▸ more", (True, False): "▾ more", (False, True): "more", (True, True): "less"}


class TrainingControls(Controls):
    """Emits what is pressed; `changed` when a setting is another. `refused` carries what is wrong with which field."""

    run = Signal()
    pause = Signal()
    step = Signal()
    stop = Signal()
    reset = Signal()
    changed = Signal()
    refused = Signal(str, str)

    def __init__(self, corpus: QWidget) -> None:
        super().__init__("training")
        self._state: tuple[object, ...] = ()
        self.batch = BoundedNumber(
            1, MOST_BATCH, word="1", rule=f"the batch is a whole number from 1 to {MOST_BATCH:,}"
        )
        self.steps = BoundedNumber(1, MOST_STEPS, word="1", rule=f"the number of steps goes from 1 to {MOST_STEPS:,}")
        self.rate = BoundedFraction(
            0.0, MOST_RATE, named=_NAN, word="", decimals=8,
            rule=f"the learning rate is a number from 0 to {MOST_RATE:,}",
        )  # fmt: skip
        self.warmup = BoundedNumber(
            0, MOST_STEPS, word="off", rule=f"the warm-up is a whole number of steps from 0 (off) to {MOST_STEPS:,}"
        )
        self.decay = BoundedFraction(
            0.0, 1.0, named=1.0, word="off", rule="the decay is a share from 0 to 1 (off) of the learning rate"
        )
        self.validation = BoundedFraction(
            0.0, MOST_VALIDATION, named=0.0, word="none",
            rule=f"the validation share is a number from 0 (none) to {MOST_VALIDATION}",
        )  # fmt: skip
        self.batch.setValue(BATCH)
        self.steps.setValue(STEPS)
        self.rate.setValue(RATE)
        self.warmup.setValue(WARMUP)
        self.decay.setValue(DECAY)
        self.validation.setValue(VALIDATION)
        self._corpus = corpus
        self._roomy = self._narrow = self._short = self._live = False
        self.more = named(QToolButton(), "training.more", "More settings")
        self.more.setCheckable(True)
        self.more.setToolTip("Settings that are seldom changed")
        self.more.toggled.connect(lambda _: self._show_knobs())
        self.add_button("run", "Train", self.run, "Train on the text")
        self.add_button("pause", "Pause", self.pause, "Rest after the step that is being made")
        self.add_button("step", "Step", self.step, "Make one step", says="Make one step")
        self.add_button("stop", "Stop", self.stop, "End the run; the weights stay as they are")
        self.add_button("reset", "Reset", self.reset, "Back to the weights from before the first step, bit for bit")
        set_property(self.buttons["run"], "accent", True)
        self._main, self._seldom = self._knobs()
        self._connect()
        self._show_knobs()

    def _knobs(self) -> tuple[list[Knob], list[Knob]]:
        main = [
            Knob(
                "training.batch", "batch", self.batch, widest="256",
                note="How many windows of the text each step looks at",
            ),
            Knob("training.steps", "steps", self.steps, widest="2,000", note="How many steps a run has in all"),
            Knob(
                "training.rate", "learning rate", self.rate, widest="0.003", short="rate",
                note="How far each step goes down the gradient; the highest it becomes",
            ),
        ]  # fmt: skip
        seldom = [
            Knob(
                "training.warmup", "warm-up", self.warmup, widest="1,000",
                note="So many steps in which the learning rate rises; 0 is off",
            ),
            Knob(
                "training.decay", "decay", self.decay, widest="0.01",
                note="To this share of itself the learning rate comes down by the last step; 1 is off",
            ),
            Knob(
                "training.validation", "validation", self.validation, widest="none",
                note="The share at the text's end that is only tested on, never trained on",
            ),
            Knob(
                "training.seed", "seed", self.seed, widest="12345",
                note="What the batches and the dropout are drawn from: the same seed gives the same run",
            ),
        ]  # fmt: skip
        return main, seldom

    def _connect(self) -> None:
        for field in self.fields():
            name = field.objectName().partition(".")[2]
            field.refused.connect(lambda reason, name=name: self.refused.emit(name, reason))
            field.valueChanged.connect(lambda _: self._changed())
        self.seed.textChanged.connect(lambda _: self._changed())

    # -- what stands in it --

    def fields(self) -> tuple[BoundedNumber | BoundedFraction, ...]:
        return (self.batch, self.steps, self.rate, self.warmup, self.decay, self.validation)

    def show_state(
        self, *, running: bool, live: bool, stopping: bool, trained: bool, begun: bool, anew: bool, reason: str
    ) -> None:
        """Which buttons can be pressed. `live` a run is under way, maybe paused; `begun` there is one to go on with;
        `anew` it would begin with the first weights, though there are later ones.

        `reason` is why none can be made; settings stay as they are while a run is live.
        """
        state = (running, live, stopping, trained, begun, anew, reason)
        if state == self._state:
            return  # it is told of at each step
        self._state = state
        run = self.buttons["run"]
        run.setText("Train anew" if anew else "Go on" if begun and not running else "Train")
        run.setAccessibleName(run.text())
        self._allow("run", not running and not stopping, reason)
        self._allow("pause", running and not stopping)
        self._allow("step", not running and not stopping, reason)
        self._allow("stop", live and not stopping)
        self._allow("reset", trained or live)
        for field in (*self.fields(), self.seed):
            self.enable(field, not live)
        if live != self._live:
            self._live = live
            self._show_knobs()

    def _allow(self, name: str, can: bool, reason: str = "") -> None:
        button = self.buttons[name]
        self.enable(button, can and not reason)
        button.setAccessibleDescription(reason)
        button.setToolTip(tip(reason or button.property("note")))

    def set_room(self, width: int, height: int) -> None:
        """In a panel of this size show all settings at once, or the seldom ones only when asked for.

        Where there is little, none while a run is live: they can't be changed then, and the curve needs the room.
        """
        roomy, short = width >= WIDE and height >= TALL, height < SHORT
        if (roomy, short) != (self._roomy, self._short):
            self._roomy, self._short = roomy, short
            self._show_knobs()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < WIDE
        if narrow != self._narrow:
            self._narrow = narrow
            self._beside.setSpacing(2 if narrow else theme.GRID // 2)
            for knob in self._main:
                knob.set_narrow(narrow)
            self._show_knobs()

    def _show_knobs(self) -> None:
        """Put everything in its order. Where there is little width, the text is one of the seldom settings."""
        while self.flow.takeAt(0) is not None:
            pass
        first = () if self._narrow else (self._corpus,)
        last = (self._corpus,) if self._narrow else ()
        for each in (self.row, *first, *self._main, self.more, *last, *self._seldom):
            self.flow.addWidget(each)
        none = self._live and self._short
        every = not none and (self._roomy or self.more.isChecked())
        self.more.setText(_MORE[self.more.isChecked(), self._narrow])
        self.more.setVisible(not (self._roomy or none))
        self._corpus.setVisible(every or not (self._narrow or none))
        for knob in self._main:
            knob.setVisible(not none)
        for knob in self._seldom:
            knob.setVisible(every)
        self.updateGeometry()

    def _changed(self) -> None:
        for knob in (*self._main, *self._seldom):
            knob.measure()
        self.changed.emit()
