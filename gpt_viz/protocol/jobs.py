"""How a job is held, let go and ended, and how it says where it stands. Knows nothing of what it does."""

from __future__ import annotations

from gpt_viz.protocol.base import Command, Event, command, event


@command
class Cancel(Command):
    """End the job `target` at its next yield; the runner itself answers with Cancelled."""

    target: int


@command
class Pause(Command):
    """Keep the job `target` where it stands until Resume."""

    target: int


@command
class Resume(Command):
    """Let the paused job `target` go on."""

    target: int


@event
class Progress(Event):
    """`done` of `total` (0: unknown), while `what` (a place, a file's name) is worked on."""

    done: int
    total: int
    what: str = ""


@event
class Finished(Event):
    """The job came to its end. `took_s` is the engine's time that it took, without that of the jobs beside it."""

    took_s: float = 0.0


@event
class Cancelled(Event):
    """The job was ended before its end: by Cancel, or since a newer one of its lane took its place."""

    superseded: bool = False


@event
class Failed(Event):
    """The job ended with an error. `message` is one sentence; `details` a traceback, for the log and "copy details".

    `expected` is True for a mistake in what was asked (a ValueError), `field` the setting at fault where one is known.
    `candidates` are the values of that setting that would do, where there are few.
    """

    message: str
    details: str
    expected: bool
    field: str = ""
    candidates: tuple[str, ...] = ()
