"""The window's switch between the untrained weights and the trained ones. Knows the learner and the switch, no panel."""

from __future__ import annotations

from PySide6.QtCore import QObject

from gpt_viz.ui.learner import Learner
from gpt_viz.ui.widgets.segments import Segments

UNTRAINED, TRAINED = "untrained", "trained"
# A moment between the two takes the place of the word; up to so many steps without a change of width.
STATES: dict[str, tuple[str, ...]] = {UNTRAINED: ("untrained",), TRAINED: ("trained", "step 88,888")}


def switch() -> Segments:
    """The switch as it stands in the window's first row."""
    return Segments("weights.switch", "Weights", STATES)


class Switching(QObject):
    """Keeps switch and learner in step, both ways."""

    def __init__(self, shown: Segments, learner: Learner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._switch, self._learner = shown, learner
        shown.chosen.connect(self._choose)
        learner.changed.connect(self.show)
        self.show()

    def show(self) -> None:
        """What is shown: the first weights, the newest, or those of a moment between."""
        learner = self._learner
        untrained = learner.shown <= learner.kept[0]
        between = not untrained and not learner.at_newest
        state = UNTRAINED if untrained else TRAINED
        self._switch.show_state(state, f"step {learner.shown:,}" if between else "")
        reason = "" if learner.trained else "There are no trained weights yet: train this model, or open a trained one"
        note = "The weights from before the first step, or the newest (Ctrl+U); training waits meanwhile"
        self._switch.allow(reason, note)

    def toggle(self) -> None:
        """The other ones: from the first weights to the newest, from any others to the first."""
        if self._learner.trained:
            self._learner.show_trained(self._learner.shown <= self._learner.kept[0])

    def _choose(self, state: str) -> None:
        self._learner.show_trained(state == TRAINED)
        self.show()
