"""A model opened from a file and saved to one. Knows no format."""

from __future__ import annotations

from gpt_viz.protocol.base import Command, Event, command, event


@command
class OpenCheckpoint(Command):
    """Put the model of a file or a folder into the slot. Yields Progress, then Built and CheckpointOpened.

    `settings` are `name=value` for what the file does not say: a config's settings, and `alphabet=ABC`. A failure
    leaves the slot as it was; where something must be known first, it is Failed with its `field` and `candidates`.
    What has more than `at_most` bytes is left alone: Failed with the field "size".
    """

    lane = "build"
    path: str
    settings: tuple[str, ...] = ()
    device: str = "auto"
    at_most: int | None = None


@command
class SaveCheckpoint(Command):
    """Write the slot's model to a file, whole or not at all. Yields CheckpointSaved.

    A `resumable` file also holds what its training needs to go on; that takes three times the room. It holds the
    weights that are shown, or the `newest`, whichever moment is shown.
    """

    lane = "save"
    path: str
    resumable: bool = True
    newest: bool = False


@event
class CheckpointOpened(Event):
    """The slot's model came from this file. `report` lists (what, detail): recognised, renamed, tied, ignored, ..."""

    path: str
    report: tuple[tuple[str, str], ...]


@event
class CheckpointSaved(Event):
    """The slot's model is in this file, which has so many bytes."""

    path: str
    bytes: int
