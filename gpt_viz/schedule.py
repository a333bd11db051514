"""What a training run is before it runs: its settings, validated, and its learning rate step by step. No torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpt_viz.config import ConfigError, check_seed


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The settings of one run; the field names are the options of `gpt-viz train`.

    `rate` is the peak of the learning rate, reached after `warmup` steps and then brought down along half a cosine to
    `decay` times itself (1: constant). `weight_decay` acts on matrices, not on biases and norms. `validation` is the
    share at the text's end that is never trained on. `clip` bounds the gradient's norm (0: off).

    Raises ConfigError with the setting's name, its value and its range.
    """

    steps: int = 2000
    batch: int = 32
    rate: float = 1e-3
    warmup: int = 0
    decay: float = 1.0
    weight_decay: float = 0.1
    validation: float = 0.1
    eval_every: int = 250
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("steps", 1, 10**9),
            ("batch", 1, 10**6),
            ("warmup", 0, 10**9),
            ("eval_every", 1, 10**9),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ConfigError(
                    name, f"{_label(name)} must be a whole number from {low:,} to {high:,}, not {value!r}"
                )
        for name, least, most in (
            ("rate", 0.0, 1e6),
            ("decay", 0.0, 1.0),
            ("weight_decay", 0.0, 1e6),
            ("validation", 0.0, 0.9),
            ("clip", 0.0, 1e6),
        ):
            value = getattr(self, name)
            # A comparison with nan is false, so nan is refused here too.
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
                raise ConfigError(name, f"{_label(name)} must be a number from {least:g} to {most:g}, not {value!r}")
        check_seed(self.seed)

    def rate_at(self, step: int) -> float:
        """The learning rate of step `step`, counted from 0."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        through = (step - self.warmup) / max(self.steps - self.warmup, 1)
        low = self.rate * self.decay
        return low + (self.rate - low) * 0.5 * (1 + math.cos(math.pi * min(through, 1.0)))


def _label(name: str) -> str:
    """A setting as it is read."""
    words = {"rate": "learning rate", "validation": "validation share", "clip": "gradient clip"}
    return words.get(name, name.replace("_", " "))
