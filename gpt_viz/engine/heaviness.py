"""Whether a file or a folder is small enough to be opened without asking. Opens nothing."""

from __future__ import annotations

import os
from pathlib import Path

_UNITS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


class TooHeavy(ValueError):  # noqa: N818 (what it is says more than "Error")
    """A file of more bytes than were allowed; nothing of it was read."""

    def __init__(self, path: str, size: int) -> None:
        super().__init__(f"{path} has {written(size)}, more than is read without asking")
        self.field = "size"


def check_light(path: str, at_most: int | None) -> None:
    """Raise TooHeavy for more than `at_most` bytes (None: any number will do); a folder has those of its files."""
    if at_most is None:
        return
    try:
        size = (
            sum(each.stat().st_size for each in Path(path).iterdir()) if os.path.isdir(path) else os.stat(path).st_size
        )
    except (OSError, ValueError):
        return  # whoever opens it says what is wrong with it
    if size > at_most:
        raise TooHeavy(path, size)


def written(count: int) -> str:
    """A number of bytes in its unit: 5.4 GB."""
    for unit, size in _UNITS:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:,} bytes"
