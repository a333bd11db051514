"""How fast a run goes and how long it still takes, without the time in which it stood still. Knows no model."""

from __future__ import annotations

from collections.abc import Callable

from gpt_viz.engine.pace import Pace

# Whoever shares the time with the run takes less than this at once; longer, and someone has paused it.
PAUSE_S = 0.5


class Tempo:
    """Counts steps. `away` and `back` stand before and after each place where others may take over."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._paused_s = 0.0
        self._left_at = self._began = clock()
        self._pace = Pace(self._began)
        self._done = 0
        self.steps_per_second = 0.0

    @property
    def now(self) -> float:
        """Seconds of a clock that stands while the run is paused."""
        return self._clock() - self._paused_s

    def away(self) -> None:
        """Others may take over now."""
        self._left_at = self._clock()

    def back(self) -> None:
        """They have."""
        gap = self._clock() - self._left_at
        if gap > PAUSE_S:
            self._paused_s += gap

    def count(self) -> None:
        """One more step is made."""
        self._done += 1
        self.steps_per_second = self._pace.count(self.now)

    def left_s(self, steps: int) -> float:
        """How long so many more steps take, at the pace since the beginning."""
        return steps * (self.now - self._began) / self._done if self._done else 0.0
