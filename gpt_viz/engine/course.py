"""All the training that one model has had since it was built: its runs, its losses, its moments. Knows no command.

Step n turns the weights of moment n into those of moment n + 1. The model may wear the weights of an earlier moment to
be looked at; the newest ones are then kept here, and training goes on from them alone.
"""

from __future__ import annotations

from array import array
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from gpt_viz.engine.material import Material
from gpt_viz.engine.model import GPT
from gpt_viz.engine.timeline import LIMIT_BYTES, Timeline
from gpt_viz.engine.training import StepResult, Trainer, split
from gpt_viz.schedule import TrainingSettings


@dataclass(slots=True, eq=False)
class Run:
    """One run: a text, settings, and how far it is. `first` is the moment that it began at.

    `sampled_at` is the moment of its last sample, `sample_due` when the next one may come.
    """

    source: tuple[str | None, str | None]
    material: Material
    settings: TrainingSettings
    first: int
    trainer: Trainer
    validation: Tensor
    sampled_at: int | None = None
    sample_due: float = 0.0

    @property
    def last(self) -> int:
        """The moment at which it is complete."""
        return self.first + self.settings.steps

    @property
    def complete(self) -> bool:
        """Whether it has made all its steps."""
        return self.trainer.step_number >= self.settings.steps


class Course:
    """The runs of one model. `losses`, `rates` and `norms` have an entry for each step, `told` of them were reported,
    as were the moments `moments_told`.

    `origin` (total,) are the weights at moment 0 (see timeline.flat) where the model already wears those of moment
    `step`; the losses then begin at that step.
    """

    def __init__(
        self, model: GPT, *, origin: Tensor | None = None, step: int = 0, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        self.model = model
        self.timeline = Timeline(model, limit_bytes)
        self.run: Run | None = None
        self.losses, self.rates, self.norms = array("f"), array("f"), array("f")
        self.validations: list[tuple[int, float]] = []
        self.told = 0
        self.moments_told: tuple[int, ...] = ()
        self.tokens_per_second = self.left_s = 0.0
        self._past: list[dict[str, Any]] = []
        self._base = self.step = step
        self._newest: Tensor | None = None
        self._shown = step
        self.timeline.keep(0, origin)
        if step:
            self.timeline.keep(step)

    # -- runs --

    def goes_on(self, source: tuple[str | None, str | None], settings: TrainingSettings) -> bool:
        """Whether a run with these is under way and has steps left."""
        run = self.run
        return run is not None and (run.source, run.settings) == (source, settings) and not run.complete

    def begin(self, source: tuple[str | None, str | None], material: Material, settings: TrainingSettings) -> Run:
        """A new run from the newest weights. Raises TrainingError."""
        self.wear_newest()
        ids, validation = split(material.ids, settings.validation)
        trainer = Trainer(self.model, ids, settings)
        self._close()
        self.run = Run(source, material, settings, self.step, trainer, validation)
        return self.run

    def made(self, result: StepResult) -> None:
        """One more step."""
        self.losses.append(result.loss)
        self.rates.append(result.rate)
        self.norms.append(result.gradient_norm)
        self.step += 1
        self._shown = self.step

    def validated(self, step: int) -> bool:
        """Whether the newest estimate is of this moment."""
        return bool(self.validations) and self.validations[-1][0] == step

    def history(self) -> dict[str, Any]:
        """What a checkpoint tells of how its weights came about, in plain values."""
        runs = [*self._past, *([] if self.run is None else [_told(self.run, self.step)])]
        return {
            "steps": self.step,
            "runs": runs,
            "losses": self.losses.tolist(),
            "validations": [list(each) for each in self.validations],
        }

    def undo(self) -> None:
        """Back to moment 0, bit for bit, as if there had been no run."""
        self.timeline.put(self.timeline.at(0))
        self.timeline.forget()
        self._newest, self._shown, self._base, self.step, self.told = None, 0, 0, 0, 0
        self.run = None
        self._past.clear()
        self.validations.clear()
        for each in (self.losses, self.rates, self.norms):
            del each[:]

    def _close(self) -> None:
        if self.run is not None and self.run.first < self.step:
            self._past.append(_told(self.run, self.step))
        self.run = None

    @property
    def first_untold(self) -> int:
        """The first step that was not reported yet."""
        return self._base + self.told

    # -- moments --

    @property
    def shown(self) -> int:
        """The moment whose weights the model wears."""
        return self._shown

    @property
    def wears_newest(self) -> bool:
        """Whether these are the newest."""
        return self._newest is None

    def wear(self, step: int) -> None:
        """Give the model the weights of a moment that was kept, or of the newest. Raises NoMoment."""
        if step == self.step:
            self.wear_newest()
            return
        weights = self.timeline.at(step)
        if self._newest is None:
            self._newest = self.timeline.now()
        self.timeline.put(weights)
        self._shown = step

    def wear_newest(self) -> bool:
        """Give the model its newest weights back, bit for bit; whether it wore others."""
        if self._newest is None:
            return False
        self.timeline.put(self._newest)
        self._newest, self._shown = None, self.step
        return True


def _told(run: Run, step: int) -> dict[str, Any]:
    return {
        "first": run.first,
        "steps": step - run.first,
        "settings": asdict(run.settings),
        "text": run.material.name,
        "sha256": run.material.sha256,
        "characters": run.material.characters,
        "tokens": len(run.material.ids),
    }
