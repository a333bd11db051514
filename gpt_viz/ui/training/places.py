"""The files in which windows keep their training: of those open at once each has its own. Writes none of them."""

from __future__ import annotations

import os
import re
from itertools import count
from pathlib import Path

from PySide6.QtCore import QLockFile

NAME = "training.safetensors"
_NAMES = re.compile(r"training(-\d+)?\.safetensors")


class Place:
    """A window's file at `path`, and `before`, to which goes what another model's training takes the place of.

    The path is a wish until the place is `taken`; it is given up with the window, or with its process.
    """

    def __init__(self, folder: Path) -> None:
        self._lock: QLockFile | None = None
        self.path = folder / NAME

    @property
    def before(self) -> Path:
        """Where what was replaced is put aside."""
        return self.path.with_name(f"{self.path.stem}-before.safetensors")

    @property
    def taken(self) -> bool:
        """Whether the file is this window's own."""
        return self._lock is not None

    def take(self) -> bool:
        """Have the file at the path, or the first beside it that no other window has. Raises OSError without a folder.

        True where something was there already that nobody has: it is put aside.
        """
        if self.taken:
            return False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        first = self.path
        for number in count(2):
            if self._locked(self.path):
                return self.put_aside()
            self.path = first.with_name(f"{first.stem}-{number}.safetensors")
        raise AssertionError("count ends")

    def take_over(self, path: Path) -> bool:
        """Have this very file, which was opened. False where it is none of these, or another window has it."""
        if self.taken and path == self.path:
            return True
        if path.parent != self.path.parent or not _NAMES.fullmatch(path.name):
            return False
        held = self._lock
        if not self._locked(path):
            return False
        if held is not None:
            held.unlock()
        self.path = path
        return True

    def put_aside(self) -> bool:
        """Move what is in the file to `before`; whether there was anything and it could be."""
        if not self.path.is_file():
            return False
        try:
            os.replace(self.path, self.before)
        except OSError:
            return False
        return True

    def aside(self) -> Path | None:
        """What was put aside last, by whichever window."""
        there = [each for each in self.path.parent.glob("training*-before.safetensors") if each.is_file()]
        return max(there, key=lambda each: each.stat().st_mtime, default=None)

    def give_up(self) -> None:
        """Let the next window have it."""
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def _locked(self, path: Path) -> bool:
        """Whether it can be had. Where nothing can be locked at all, it can: writing it will say what is wrong."""
        lock = QLockFile(str(path.with_suffix(".lock")))
        lock.setStaleLockTime(0)  # not by its age: one belongs to its process as long as that lives
        if not lock.tryLock(0) and lock.error() == QLockFile.LockError.LockFailedError:
            return False
        self._lock = lock
        return True
