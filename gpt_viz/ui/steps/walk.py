"""Walking through the steps of a pass, by hand or by itself. The step stood on is the selection's. Knows no view."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from gpt_viz.ledger import Steps
from gpt_viz.ui.selection import SelectionModel

BEAT = 500  # ms a step while playing at speed 1


class Walk(QObject):
    """Moves the selection's step. Playing ends at the last step, by a step made by hand, or when someone else moves
    the cursor; `changed` says that it began or ended.
    """

    changed = Signal()

    def __init__(self, selection: SelectionModel, parent: QObject) -> None:
        super().__init__(parent)
        self._selection = selection
        self._steps: Steps | None = None
        self._own_step = ""
        self.timer = QTimer(self, interval=BEAT)
        self.timer.timeout.connect(self._beat)
        selection.changed.connect(self._selection_changed)

    def through(self, steps: Steps) -> None:
        """Walk through these steps from now on."""
        self._steps = steps

    @property
    def playing(self) -> bool:
        """Whether it walks by itself."""
        return self.timer.isActive()

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast as usual."""
        self.timer.setInterval(round(BEAT / speed))

    @property
    def count(self) -> int:
        """How many steps there are."""
        return len(self._steps) if self._steps else 0

    @property
    def index(self) -> int | None:
        """The number of the selected step; None where this pass has no such step."""
        if self._steps is None:
            return None
        try:
            return self._steps.index_of(self._selection.value.step)
        except ValueError:
            return None

    def to(self, index: int) -> None:
        """Go to a step by hand; -1 is the last."""
        self.stop()
        self._go(index)

    def on(self, way: int) -> None:
        """Go one step on (1) or back (-1) by hand."""
        self.to(self._beside(way))

    def toggle(self) -> None:
        """Walk on by itself, from the first step if at the last; or stand still."""
        if self.playing:
            self.stop()
        elif self._steps is not None:
            self._go(0 if self.index == self.count - 1 else self._beside(1))
            self.timer.start()
            self.changed.emit()

    def stop(self) -> None:
        """Stand still."""
        if self.playing:
            self.timer.stop()
            self.changed.emit()

    def _beside(self, way: int) -> int:
        return 0 if self.index is None else min(max(self.index + way, 0), self.count - 1)

    def _beat(self) -> None:
        self._go(self._beside(1))
        if self.index == self.count - 1:
            self.stop()

    def _go(self, index: int) -> None:
        if self._steps is not None:
            self._own_step = self._steps[index].name
            self._selection.choose(step=self._own_step)

    def _selection_changed(self, *_: object) -> None:
        if self._selection.value.step != self._own_step:
            self.stop()
