"""The model that the one under study is compared with: which one it is, and how it comes into its slot. Knows no view.

It is built or opened only when someone wants to see it. A failure leaves the one that was there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from gpt_viz import resources
from gpt_viz.config import OWN_SIZES, PRESETS, preset_of
from gpt_viz.protocol import (
    CURRENT,
    OTHER,
    Build,
    Built,
    Cancelled,
    Command,
    Event,
    Failed,
    Finished,
    ModelInfo,
    MomentShown,
    MomentsKept,
    OpenCheckpoint,
    TrainedSteps,
)
from gpt_viz.ui.model.shipped import fitting, title_of_shipped
from gpt_viz.ui.panel import Context

AUTOMATIC, UNTRAINED, SHIPPED, FILE, PRESET = "automatic", "untrained", "shipped", "file", "preset"
HEARD: tuple[type[Event], ...] = (Built, Finished, Cancelled, Failed, TrainedSteps, MomentShown, MomentsKept)


@dataclass(frozen=True, slots=True)
class Pick:
    """What to compare with: a kind, and the `name` of a preset or the path of a file with what it does not say."""

    kind: str = AUTOMATIC
    name: str = ""
    settings: tuple[str, ...] = ()


class Counterpart(QObject):
    """`changed` is emitted when another model stands, when it failed, and when it is known what is to be built.

    `model` is what stands in the slot, `of` the pick that it came from, `version` counts the models that stood there.
    `failure` is why the last one did not come, or ""; `asked` the Failed of a file that does not say enough. `step` is
    how many steps the model under study has been trained when it had the weights that it shows.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.pick = Pick()
        self.model: ModelInfo | None = None
        self.of = Pick()
        self.version = 0
        self.failure = ""
        self.asked: Failed | None = None
        self.step = 0
        self._newest = 0
        self._steps = 0  # that the other model was trained for
        self._job: int | None = None
        self._wanted: object = None  # what was asked for last
        self._coming = Pick()

    @property
    def busy(self) -> bool:
        """Whether a model is on its way."""
        return self._job is not None

    def choose(self, pick: Pick) -> None:
        """Compare with another model; it is asked for by the next `need`. A file is read anew."""
        self.pick, self.failure, self.asked = pick, "", None
        if pick.kind == FILE:
            self._wanted = None
        self.changed.emit()

    def resolved(self) -> Pick:
        """What is to be compared with now: what was picked, or of trained and untrained the one that is not current."""
        model = self._context.subject.weights
        if self.pick.kind != AUTOMATIC or model is None:
            return self.pick
        return Pick(UNTRAINED if self.is_trained or fitting(model) is None else SHIPPED)

    @property
    def is_trained(self) -> bool:
        """Whether the model under study shows other weights than it was drawn with, as far as that can be known."""
        model = self._context.subject.weights
        return self.step > 0 or (model is not None and bool(model.source) and self._newest == 0)

    def need(self) -> None:
        """See to it that the model stands or is on its way; what failed is not tried again."""
        model, pick = self._context.subject.weights, self.resolved()
        if model is None:
            return
        made = self._command(0, pick, model)
        wanted = (pick, made)
        if wanted == self._wanted:
            return
        self._wanted, self._coming, self.failure, self.asked = wanted, pick, "", None
        if made is None:
            self.failure = "the trained weights that ship are of another model"
            self.changed.emit()
            return
        self._job = self._context.new_job()
        self._context.send(replace(made, job=self._job))

    def _command(self, job: int, pick: Pick, model: ModelInfo) -> Command | None:
        if pick.kind == FILE:
            return OpenCheckpoint(job=job, slot=OTHER, path=pick.name, settings=pick.settings, device=model.device)
        if pick.kind == SHIPPED:
            path = fitting(model)
            return None if path is None else OpenCheckpoint(job=job, slot=OTHER, path=str(path), device=model.device)
        if pick.kind == PRESET:
            preset = PRESETS[pick.name]
            alphabet = resources.alphabet() if preset.characters else None
            return Build(
                job=job, slot=OTHER, config=preset.config, seed=model.seed, device=model.device, alphabet=alphabet
            )
        return Build(
            job=job, slot=OTHER, config=model.config, seed=model.seed, device=model.device, alphabet=model.alphabet
        )

    def handle(self, event: Event) -> None:
        """Follow the model on its way, and how far the one under study has been trained."""
        if event.slot == CURRENT:
            self._follow_current(event)
        elif event.job == self._job and self._job is not None:
            if isinstance(event, Built):
                self.model, self.of, self.version = event.model, self._coming, self.version + 1
                self._steps = 0
            elif isinstance(event, MomentsKept):
                self._steps = event.newest
            elif isinstance(event, (Finished, Cancelled, Failed)):
                self._job = None
                if isinstance(event, Failed):
                    self.failure = event.message
                    self.asked = event if event.candidates else None
                elif isinstance(event, Cancelled):
                    self.failure = "opening it was cancelled"
            self.changed.emit()

    def _follow_current(self, event: Event) -> None:
        before = self.is_trained
        if isinstance(event, Built):
            self.step = self._newest = 0
        elif isinstance(event, MomentsKept):
            at_newest = self.step == self._newest
            self._newest = event.newest
            self.step = self._newest if at_newest else self.step
        elif isinstance(event, MomentShown):
            self.step = event.step
            self._newest = max(self._newest, event.step)
        elif isinstance(event, TrainedSteps):
            at_newest = self.step == self._newest
            self._newest = event.first + len(event.losses)
            self.step = self._newest if at_newest else self.step
        if self.is_trained is not before:
            self.changed.emit()

    # -- in words --

    def title(self) -> str:
        """What the model that stands is called."""
        return "" if self.model is None else title_of(self.model, self.of, self._steps)

    def current_title(self) -> str:
        """What the model under study is called, with how far it is trained."""
        model = self._context.subject.weights
        if model is None:
            return ""
        state = f"after {self.step:,} steps" if self.step else "" if model.source and not self._newest else "untrained"
        return ", ".join(filter(None, (name_of(model), state)))


def name_of(model: ModelInfo) -> str:
    """A model's own name: the file it came from, its preset, or what it is instead."""
    return title_of_shipped(model) or model.source or _sizes(model)


def title_of(model: ModelInfo, pick: Pick, steps: int) -> str:
    """What a model to compare with is called, with the `steps` that it was trained for, where those are known.

    Of one that was built its seed is said, since that makes it the very one.
    """
    if pick.kind in (UNTRAINED, PRESET):
        return f"{_sizes(model)}, untrained, seed {model.seed}"
    name = name_of(model)
    return f"{name}, after {steps:,} steps" if steps else name


def _sizes(model: ModelInfo) -> str:
    preset = preset_of(model.config)
    return preset.title if preset else OWN_SIZES
