"""The steps of a pass measured, one of them opened, one of its numbers explained. Knows no parameter by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpt_viz.protocol.base import Command, Event, command, event
from gpt_viz.protocol.passes import Tokens

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    from gpt_viz.explanation import Explanation
    from gpt_viz.measures import Histogram, Picture, StepMeasure


@command
class MeasureSteps(Command):
    """Measure every step of one pass of the text under study. Yields one StepsMeasured, or TextRefused."""

    lane = "measure"
    text: str
    continuation: tuple[int, ...] = ()


@command
class OpenStep(Command):
    """Look into one step of a pass of the text under study. Yields one StepOpened, or TextRefused.

    `step` is the place's name. The pass goes only as far as that step.
    """

    lane = "open"
    text: str
    continuation: tuple[int, ...] = ()
    step: str


@command
class Explain(Command):
    """Say where one number of a pass of the text under study came from. Yields one Explained, or TextRefused.

    `index` has one figure for each axis of the step's tensor, the batch axis's first.
    """

    lane = "explain"
    text: str
    continuation: tuple[int, ...] = ()
    step: str
    index: tuple[int, ...]


@event
class StepsMeasured(Event):
    """Every step of one pass, measured, in order of execution. The loss is left out for a single token."""

    picture = True
    tokens: Tokens
    steps: tuple[StepMeasure, ...]


@event
class StepOpened(Event):
    """One step of a pass, looked into: its result measured whole and as a picture.

    `inputs` are pictures of all that it was computed from, places first, then parameters. `histogram` is None where
    no number of the result is finite.
    """

    picture = True
    tokens: Tokens
    step: StepMeasure
    histogram: Histogram | None
    tensor: Picture
    inputs: tuple[Picture, ...]


@event
class Explained(Event):
    """Where one number of a pass came from."""

    picture = True
    tokens: Tokens
    explanation: Explanation
