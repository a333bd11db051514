"""What was done to a file so that it could be opened, item by item, as a person reads it. Knows no file."""

from __future__ import annotations

from gpt_viz.engine.checkpoints.refusals import listed

Items = tuple[tuple[str, str], ...]


class Report:
    """Collects (what, detail) pairs: what was recognised, renamed, tied, ignored, assumed."""

    def __init__(self) -> None:
        self._items: list[tuple[str, str]] = []

    def say(self, what: str, detail: str) -> None:
        """Add one item; the details of those of the same name stay separate."""
        self._items.append((what, detail))

    def ignored(self, names: list[str], why: str) -> None:
        """Say which names were left out, unless there are none."""
        if names:
            self.say("ignored", f"{listed(names)} ({why})")

    @property
    def items(self) -> Items:
        """All items, in the order in which they were said."""
        return tuple(self._items)
