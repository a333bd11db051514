"""The switch between untrained and trained weights, as the window has it. Knows learner and switch, and no panel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from gpt_viz.ui.learner import Learner
from gpt_viz.ui.shipped import trained_from
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.widgets.segments import Segments

UNTRAINED, TRAINED = "untrained", "trained"
# A moment between the two takes the place of the word; up to so many steps without a change of width.
STATES: dict[str, tuple[str, ...]] = {UNTRAINED: ("untrained",), TRAINED: ("trained", "step 88,888")}


def switch() -> Segments:
    """The switch as it stands in the window's first row."""
    return Segments("weights.switch", "Weights", STATES)


class Switching(QObject):
    """Keeps switch and learner in step, both ways. A model that has not been trained here may have trained weights that
    ship: then those are opened, by `open_checkpoint` with their path, and from then on they are the model's newest.
    """

    def __init__(
        self,
        shown: Segments,
        learner: Learner,
        subject: Subject,
        open_checkpoint: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._switch, self._learner, self._subject = shown, learner, subject
        self._open_checkpoint = open_checkpoint
        shown.chosen.connect(self._choose)
        learner.changed.connect(self.show)
        subject.changed.connect(self.show)
        self.show()

    def show(self) -> None:
        """What is shown: the first weights, the newest, or those of a moment between."""
        learner = self._learner
        untrained = learner.shown <= learner.kept[0]
        between = not untrained and not learner.at_newest
        state = UNTRAINED if untrained else TRAINED
        self._switch.show_state(state, f"step {learner.shown:,}" if between else "")
        note, reason = "The weights from before the first step, or the newest (T); training waits meanwhile", ""
        if not learner.trained and self._ships() is not None:
            note = "The weights as they were drawn, or the trained ones that ship (T)"
        elif not learner.trained:
            reason = "There are no trained weights yet: train this model, or open a trained one"
        self._switch.allow(reason, note)

    def toggle(self) -> None:
        """The other ones: from the first weights to the newest, from any others to the first."""
        self._show_trained(self._learner.shown <= self._learner.kept[0])

    def _ships(self) -> Path | None:
        """The trained weights that ship for the model as it was drawn, which a run that has begun leaves behind."""
        built = self._subject.built
        return None if built is None or self._learner.live else trained_from(built)

    def _show_trained(self, on: bool) -> None:
        path = self._ships()
        if self._learner.trained:
            self._learner.show_trained(on)
        elif on and path is not None:
            self._open_checkpoint(str(path))

    def _choose(self, state: str) -> None:
        self._show_trained(state == TRAINED)
        self.show()
