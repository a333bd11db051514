"""How far a long piece of work is, on a terminal in one line that is written over, else in a line now and then.

Knows no model and no text: it is told numbers.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from typing import TextIO

BAR = 20
REFRESH_S = 0.25  # a number that a person reads changes no faster
LINE_S = 10.0  # and where each line stays, there is one so often


class Meter:
    """Writes to `stream`. `clock` is in seconds."""

    def __init__(self, stream: TextIO | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._over = stream is not None and stream.isatty()
        self._due = float("-inf") if self._over else clock() + LINE_S
        self._open = False

    def show(self, done: int, total: int, figures: str, *, mark: bool = False) -> None:
        """So many of `total` are done. A `mark` is written as a line of its own where lines stay."""
        now = self._clock()
        if self._stream is None or not (mark or now >= self._due):
            return
        self._due = now + (REFRESH_S if self._over else LINE_S)
        filled = BAR * done // max(total, 1)
        bar = f"[{'#' * filled}{'.' * (BAR - filled)}] " if self._over else ""
        line = f"{bar}step {done:,} / {total:,}  {figures}"
        if self._over:
            room = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{line[:room]}")
            self._open = True
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def say(self, line: str) -> None:
        """A line that stays, below what was shown last."""
        if self._stream is not None:
            self.end()
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def end(self) -> None:
        """Leave what was shown last standing."""
        if self._open and self._stream is not None:
            self._stream.write("\n")
            self._open = False


def span(seconds: float) -> str:
    """A time as it is read.

    >>> span(7.2), span(200), span(7300)
    ('7 s', '3 min 20 s', '2 h 2 min')
    """
    whole = max(math.ceil(seconds - 0.5), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
