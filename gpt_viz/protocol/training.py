"""A model trained on a text, and the moments of its weights that are kept. Knows no optimizer."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from gpt_viz.protocol.base import Command, Event, command, event
from gpt_viz.schedule import TrainingSettings

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    import numpy as np


@command
class Train(Command):
    """Train the slot's model on a text. Yields Progress while that is read, then TrainingBegan and what comes of it.

    With the text and settings of the run that the slot was last in, it goes on with that run where it stands, unless
    that is complete; otherwise a new run begins from the weights as they are. `corpus` is a file, None the built-in
    passage. `limit` makes at most so many steps now; `anew` begins with the weights from before the first step, as
    after Untrain. Each estimate on the validation part takes `windows` of it (0: all). A sample of `tokens` is drawn
    now and then, always from `sample_seed` (0 tokens: none).
    """

    lane = "train"
    corpus: str | None = None
    encoding: str | None = None
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    limit: int | None = None
    anew: bool = False
    windows: int = 64
    tokens: int = 120
    sample_seed: int = 0


@command
class Untrain(Command):
    """Give the slot's model the weights from before its first step, bit for bit, and forget its runs. Yields
    MomentsKept and MomentShown.
    """

    lane = "train"


@command
class ReportTraining(Command):
    """Say what of the slot's training has not been said yet, as after a Cancel. Yields TrainedSteps, MomentsKept."""

    lane = "report"


@command
class ShowMoment(Command):
    """Give the slot's model the weights that it had after `step` steps, or with None the newest. Yields MomentShown.

    Only to be looked at: a run goes on from the newest ones, whatever is shown.
    """

    lane = "moment"
    step: int | None = None


@event
class TrainingBegan(Event):
    """A run goes on from step `step`; it began at `first` and is complete at `last`. Steps are counted over all runs
    since the model was built or untrained, so step n is what turns the weights of moment n into those of n + 1.

    `name` is the text's, `sha256` that of its characters as UTF-8. `tokens` are trained on; of the `validation_tokens`
    each estimate takes `windows` windows.
    """

    first: int
    step: int
    last: int
    name: str
    sha256: str
    tokens: int
    validation_tokens: int
    windows: int


@event
class TrainedSteps(Event):
    """One or more steps were made, the first of them number `first`; the arrays (n,) have one entry for each.

    `losses` are those of each step's batch before it, in nats per token. `left_s` is what the run still takes at the
    pace so far, without pauses.
    """

    first: int
    losses: np.ndarray
    rates: np.ndarray
    gradient_norms: np.ndarray
    tokens_per_second: float
    left_s: float


@event
class Validated(Event):
    """The mean loss over `windows` windows of the validation part at moment `step`, in nats per token.

    0 windows: it was estimated at another time, and only read from a file.
    """

    step: int
    loss: float
    windows: int


@event
class TrainingSample(Event):
    """What the model writes after `prompt` at moment `step`, drawn from the same seed each time."""

    step: int
    prompt: str
    text: str
    seed: int


@event
class MomentsKept(Event):
    """The `steps` whose weights can be shown, rising, beside the `newest`. They take `bytes`, `limit_bytes` at most."""

    steps: tuple[int, ...]
    newest: int
    bytes: int
    limit_bytes: int


@event
class MomentShown(Event):
    """The slot's model has the weights of moment `step`; whether these are the `newest`."""

    step: int
    newest: bool
