"""Times made to be read: how long work took, and how much is done a second. Knows no model and no event."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import TypeVar

Y = TypeVar("Y")
R = TypeVar("R")

# A number that a person reads changes at most four times a second, and tells of about the last second.
_READ_S = 0.25
_WINDOW = 4


class Pace:
    """Counts things done and says how many a second. Times are in seconds, of any one clock."""

    def __init__(self, now: float) -> None:
        self._marks: deque[tuple[float, int]] = deque([(now, 0)], maxlen=_WINDOW + 1)
        self._count = 0
        self._per_second = 0.0

    def count(self, now: float) -> float:
        """One more is done; how many a second. In the first quarter of a second it is the mean since the start."""
        self._count += 1
        mark, _ = self._marks[-1]
        began, before = self._marks[0]
        if len(self._marks) == 1 or now - mark >= _READ_S:
            self._per_second = (self._count - before) / (now - began) if now > began else 0.0
        if now - mark >= _READ_S:
            self._marks.append((now, self._count))
        return self._per_second


class Stopwatch:
    """Adds up the seconds that work in parts takes, without what others do between the parts."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.elapsed_s = 0.0

    def timed(self, steps: Generator[Y, None, R]) -> Generator[Y, None, R]:
        """The same steps, their time added."""
        while True:
            began = self._clock()
            try:
                value = next(steps)
            except StopIteration as end:
                result: R = end.value
                return result
            finally:
                self.elapsed_s += self._clock() - began
            yield value
