"""The switch between untrained and trained weights, as the window has it. Knows learner and switch, and no panel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from gpt_viz.ui.model.shipped import fitting, is_shipped, trained_from, untrained_config
from gpt_viz.ui.widgets.segments import Segments

if TYPE_CHECKING:
    from gpt_viz.config import GPTConfig
    from gpt_viz.ui.subject import Subject
    from gpt_viz.ui.training.learner import Learner

UNTRAINED, TRAINED = "untrained", "trained"
# A moment between the two takes the place of the word; up to so many steps without a change of width.
STATES: dict[str, tuple[str, ...]] = {UNTRAINED: ("untrained",), TRAINED: ("trained", "step 88,888")}


def switch() -> Segments:
    """The switch as it stands in the window's first row."""
    return Segments("weights.switch", "Weights", STATES)


class Builds(Protocol):
    """What is needed of the builder."""

    def open_checkpoint(self, path: str) -> None:
        """Put the model of that file into the window."""

    def build(self, config: GPTConfig, seed: int, device: str) -> None:
        """Build a model."""


class Switching(QObject):
    """Keeps switch and learner in step, both ways. A model that has not been trained here may have trained weights that
    ship: then those are opened. Where their file does not tell which weights they began with, the way back is to build
    the untrained model anew, which is drawn as it was.
    """

    def __init__(
        self, shown: Segments, learner: Learner, subject: Subject, builder: Builds, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._switch, self._learner, self._subject, self._builder = shown, learner, subject, builder
        shown.chosen.connect(self._choose)
        learner.changed.connect(self.show)
        subject.changed.connect(self.show)
        self.show()

    def show(self) -> None:
        """What is shown: the first weights, the newest, or those of a moment between."""
        learner = self._learner
        between = not self._untrained and not learner.at_newest
        state = UNTRAINED if self._untrained else TRAINED
        self._switch.show_state(state, f"step {learner.shown:,}" if between else "")
        note, reason = "The weights from before the first step, or the newest (T); training waits meanwhile", ""
        if not learner.trained and (self._ships() is not None or self._alone):
            note = "The weights as they were drawn, or the trained ones that ship (T)"
        elif not learner.trained:
            reason = "There are no trained weights yet: train this model, or open a trained one"
        self._switch.allow(reason, note)

    def toggle(self) -> None:
        """The other ones: from the first weights to the newest, from any others to the first."""
        self._show_trained(self._untrained)

    @property
    def _untrained(self) -> bool:
        """Whether the first weights are shown, and not those that ship."""
        return self._learner.shown <= self._learner.kept[0] and not self._alone

    @property
    def _alone(self) -> bool:
        """Whether trained weights that ship are the first ones that are known of this model."""
        built, learner = self._subject.built, self._learner
        known = learner.undone or (learner.trained and learner.kept[0] == 0)
        return built is not None and is_shipped(built) and not known and learner.shown <= learner.kept[0]

    def _ships(self) -> Path | None:
        """The trained weights that ship for the model as it was drawn, which a run that has begun leaves behind."""
        built, learner = self._subject.built, self._learner
        if built is None or learner.live:
            return None
        return fitting(built) if learner.undone and is_shipped(built) else trained_from(built)

    def _show_trained(self, on: bool) -> None:
        path, built = self._ships(), self._subject.built
        if self._learner.trained:
            self._learner.show_trained(on)
        elif on and path is not None:
            self._builder.open_checkpoint(str(path))
        elif not on and self._alone and built is not None:
            self._builder.build(untrained_config(built), built.seed, built.device)

    def _choose(self, state: str) -> None:
        self._show_trained(state == TRAINED)
        self.show()
