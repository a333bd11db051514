"""The checks of what is claimed of a model, and how each went. Knows none of them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpt_viz.protocol.base import Command, Event, command, event

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    import numpy as np


@command
class RunChecks(Command):
    """Try on a copy of the model what is claimed of it. Yields Progress, and a Checked for each check.

    `names` chooses checks (none: all, see `claims.NAMES`). `position` and `token` (an id) are what the test of
    causality changes; None leaves them to it. `corpus` is the text on whose end a trained model is examined, a file
    with its `encoding`; None is the built-in passage.
    """

    lane = "checks"
    text: str
    continuation: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    position: int | None = None
    token: int | None = None
    corpus: str | None = None
    encoding: str | None = None


@event
class Checked(Event):
    """How the check `name` went. `passed` None: it does not apply to this model or text, and `detail` says why.

    `expected` and `found` are as they are read; `tolerance` None: exactly, or the range that `expected` names. While
    `running` more of the same name follow. `facts` are named values for the texts; `arrays` pictures by name, `labels`
    the names along their axes.
    """

    name: str
    passed: bool | None
    expected: str
    found: str
    tolerance: float | None
    detail: str
    running: bool = False
    facts: tuple[tuple[str, int | float | str], ...] = ()
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arrays: tuple[tuple[str, np.ndarray], ...] = ()
