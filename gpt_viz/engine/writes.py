"""Whether anyone has written to a model's weights in the meantime. Knows no pass and no run."""

from __future__ import annotations

from torch import nn


class Writes:
    """The weights that the module has now, and whether they are still what they were when it was made, or `noted`."""

    def __init__(self, module: nn.Module) -> None:
        # Looked up once: a walk through all modules costs more than a piece of a small pass.
        self._weights = tuple(module.parameters())
        self._counted = tuple(each for each in self._weights if not each.is_inference())  # in inference none is counted
        self.noted()

    def noted(self) -> None:
        """From now on only later writes count."""
        self._state = self._now()

    @property
    def any(self) -> bool:
        """Whether there was a write, also of the same numbers, or a tensor was given other memory."""
        return self._state != self._now()

    def _now(self) -> tuple[list[int], list[int]]:
        return [each._version for each in self._counted], [each.data_ptr() for each in self._weights]
