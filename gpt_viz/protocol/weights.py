"""Parameters looked at as they are now. Knows no pass and no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpt_viz.protocol.base import Command, Event, command, event

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    from gpt_viz.measures import Figures, Histogram, Picture


@command
class OpenWeights(Command):
    """Look at parameters as they are now. Yields one WeightsOpened.

    `parameter` is the name of a tensor, of a module with a weight (and a bias), or of a head with its three matrices.
    """

    lane = "weights"
    parameter: str


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """One parameter tensor: a picture of it, and figures and histogram of all of it.

    `promised_std` is the spread that the initialisation draws it with: 0 for what starts at zero, None for a LayerNorm.
    `initial_std` is the spread that it was really drawn with, None where that is not known. `shared_with` names the
    tensor that it is, where it is tied. `histogram` goes as far below 0 as above, to a round number beyond the largest
    size; None where no number is finite.
    """

    picture: Picture
    figures: Figures
    histogram: Histogram | None
    promised_std: float | None
    initial_std: float | None
    shared_with: str = ""


@event
class WeightsOpened(Event):
    """The tensors that a `parameter` stands for, all of one moment: `step` steps of training after they were drawn."""

    picture = True
    parameter: str
    step: int
    tensors: tuple[Weights, ...]
