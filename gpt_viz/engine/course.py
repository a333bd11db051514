"""All the training that one model has had: its runs, its losses, its moments. Knows no command and no file.

Step n turns the weights of moment n into those of moment n + 1. The model may wear the weights of an earlier moment to
be looked at; the newest ones are then kept here, and training goes on from them alone.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from torch import Tensor

from gpt_viz.engine.material import Material
from gpt_viz.engine.model import GPT
from gpt_viz.engine.past import Estimate, estimates_of, plain, understood
from gpt_viz.engine.resuming import Rest, put_back, rest_of, state_of
from gpt_viz.engine.timeline import LIMIT_BYTES, Timeline
from gpt_viz.engine.training import StepResult, Trainer, split
from gpt_viz.schedule import TrainingSettings

# A text's path and encoding, both None for the built-in passage.
Source: TypeAlias = tuple[str | None, str | None]


@dataclass(slots=True, eq=False)
class Run:
    """One run: a text, settings, and how far it is. `first` is the moment that it began at.

    `estimates` are (moment, mean loss in nats per token, windows that it is over) on the validation part.
    `sampled_at` is the moment of its last sample, `sample_due` when the next one may come, `sample_credit_s` how much
    time of the engine the next ones may take at once.
    """

    source: Source
    material: Material
    settings: TrainingSettings
    first: int
    trainer: Trainer
    validation: Tensor
    estimates: list[Estimate] = field(default_factory=list)
    sampled_at: int | None = None
    sample_due: float = 0.0
    sample_credit_s: float = 1.0

    @property
    def last(self) -> int:
        """The moment at which it is complete."""
        return self.first + self.settings.steps

    @property
    def complete(self) -> bool:
        """Whether it has made all its steps."""
        return self.trainer.step_number >= self.settings.steps

    def summary(self) -> dict[str, Any]:
        """What a history tells of it, in plain values."""
        return {
            "first": self.first,
            "steps": self.trainer.step_number,
            "settings": asdict(self.settings),
            "text": self.material.name,
            "sha256": self.material.sha256,
            "characters": self.material.characters,
            "tokens": len(self.material.ids),
            "estimates": [[step, plain(loss), windows] for step, loss, windows in self.estimates],
        }


class Course:
    """The runs of one model. `losses`, `rates` and `norms` have an entry for each step, `told` of them were reported,
    as were the moments `moments_told`.

    A model out of a file brings its `history` (see there) and the `state` of its last run. `origin` (total,) are its
    weights at moment 0, as timeline.flat gives them; where they are not known, the moment that it came with is the
    first one. `drawn` is whether those at moment 0 came from the model's seed.
    """

    def __init__(
        self,
        model: GPT,
        *,
        history: Mapping[str, Any] | None = None,
        state: Mapping[str, Tensor] | None = None,
        origin: Tensor | None = None,
        drawn: bool = True,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        past = understood(history or {})
        self.model = model
        self.drawn = drawn and past.drawn
        self.timeline = Timeline(model, limit_bytes)
        self.run: Run | None = None
        self.validations: list[tuple[int, float]] = past.validations
        self.step = self._shown = past.steps
        self.losses = array("f", past.losses)
        self.rates, self.norms = (array("f", [math.nan]) * len(self.losses) for _ in range(2))
        self.told = 0
        self.moments_told: tuple[int, ...] = ()
        self.tokens_per_second = self.left_s = 0.0
        self._base = self.step - len(self.losses)
        self._past: list[dict[str, Any]] = past.runs
        self.rest = rest_of({"runs": past.runs}, state or {})
        self._newest: Tensor | None = None
        if self.step and origin is not None:
            self.timeline.keep(0, origin)
        self.timeline.keep(self.step)

    @property
    def first_untold(self) -> int:
        """The first step that was not reported yet."""
        return self._base + self.told

    # -- runs --

    def goes_on(self, source: Source, settings: TrainingSettings) -> bool:
        """Whether the run differs in nothing but its number of steps, and has some left; it then goes on to those."""
        run = self.run
        if run is None or run.source != source or not _same(run.settings, settings):
            return False
        if run.trainer.step_number >= settings.steps:
            return False
        run.settings = run.trainer.settings = settings
        return True

    def begin(self, source: Source, material: Material, settings: TrainingSettings) -> Run:
        """A new run from the newest weights, or the one that a file brought with it. Raises TrainingError."""
        self.wear_newest()
        ids, validation = split(material.ids, settings.validation)
        trainer = Trainer(self.model, ids, settings)
        rest, first, estimates = self.rest, self.step, list[Estimate]()
        if rest is not None and _continues(rest, material, settings):
            put_back(trainer, rest)
            first = rest.first
            estimates = estimates_of(self._past.pop())
        if self.run is not None and self.run.trainer.step_number:
            self._past.append(self.run.summary())
        sampled_at = None if self.run is None else self.run.sampled_at  # the same weights would write the same again
        self.rest = None
        self.run = Run(source, material, settings, first, trainer, validation, estimates, sampled_at)
        return self.run

    def made(self, result: StepResult) -> None:
        """One more step."""
        self.losses.append(result.loss)
        self.rates.append(result.rate)
        self.norms.append(result.gradient_norm)
        self.step += 1
        self._shown = self.step

    def validated(self, step: int) -> bool:
        """Whether the run's newest estimate is of this moment; one of an earlier run is of another text."""
        return self.run is not None and bool(self.run.estimates) and self.run.estimates[-1][0] == step

    def estimated(self, loss: float, windows: int) -> None:
        """One more estimate of the newest weights on the run's validation part."""
        assert self.run is not None
        self.run.estimates.append((self.step, loss, windows))
        self.validations.append((self.step, loss))

    def undo(self) -> None:
        """Back to the first moment, bit for bit, as if there had been no run here."""
        first = self.timeline.steps[0]
        self.timeline.put(self.timeline.at(first))
        self.timeline.forget()
        self._newest, self.step, self._shown, self._base = None, first, first, min(self._base, first)
        self.run = self.rest = None
        self.told = 0
        self.validations = [each for each in self.validations if each[0] <= first and first]
        self._past = [each for each in self._past if each["first"] < first]
        for each in (self.losses, self.rates, self.norms):
            del each[first - self._base :]

    # -- what is kept of them --

    def history(self) -> dict[str, Any]:
        """What a file tells of how the weights that the model wears came about, in plain values.

        They are `steps` from their origin, which was `drawn` from the model's seed, or else came in a file. `runs` are
        what was trained on and how; `losses` those of the last steps, one each; `validations` are (moment, loss)
        pairs over all runs, those of each run with their number of windows. Numbers that are not finite are None.
        """
        shown = self._shown
        runs = [*self._past, *([] if self.run is None else [self.run.summary()])]
        made = [each for each in runs if each["first"] < shown]
        return {
            "steps": shown,
            "drawn": self.drawn,
            "runs": [_until(shown, each) for each in made],
            "losses": [plain(each) for each in self.losses[: max(shown - self._base, 0)]],
            "validations": [[step, plain(loss)] for step, loss in self.validations if step <= shown],
        }

    def state(self) -> dict[str, Tensor]:
        """What the run needs to go on after the program's end, by name; nothing where an earlier moment is worn."""
        return {} if self.run is None or not self.wears_newest else state_of(self.run.trainer)

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


def _until(shown: int, run: Mapping[str, Any]) -> dict[str, Any]:
    """A run's summary as it was at that moment."""
    estimates = [[step, plain(loss), windows] for step, loss, windows in estimates_of(run) if step <= shown]
    return {**run, "steps": min(run["steps"], shown - run["first"]), "estimates": estimates}


def _same(one: TrainingSettings, other: TrainingSettings) -> bool:
    return replace(one, steps=1) == replace(other, steps=1)


def _continues(rest: Rest, material: Material, settings: TrainingSettings) -> bool:
    return rest.sha256 == material.sha256 and _same(rest.settings, settings) and rest.made < settings.steps
