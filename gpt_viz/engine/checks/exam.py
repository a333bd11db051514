"""What a trained model is examined with: the part of its text that it never saw, and the loss that its history tells.

Knows no check. The text has to be the very one of that history: another one would prove nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from gpt_viz.config import ConfigError
from gpt_viz.engine.corpus import TextFileError
from gpt_viz.engine.loaded import Loaded
from gpt_viz.engine.material import UnreadableText, reading
from gpt_viz.engine.past import understood
from gpt_viz.engine.resuming import settings_of
from gpt_viz.engine.training import split
from gpt_viz.engine.training_jobs import history_of


@dataclass(frozen=True, slots=True, eq=False)
class Exam:
    """`ids` (n,), the last `share` of the `text` of that name, were never trained on.

    After `step` steps the mean loss over `windows` (0: all) of them was `recorded`. `estimates` are all (step, loss).
    """

    ids: Tensor
    recorded: float
    step: int
    windows: int
    text: str
    share: float
    estimates: tuple[tuple[int, float], ...]


def exam(held: Loaded, corpus: str | None, encoding: str | None) -> Generator[None, None, Exam | str]:
    """The exam of a model on a text file (None: the built-in passage), or in one sentence why there is none."""
    past = understood(history_of(held))
    if not past.steps:
        return "this model has not been trained, so nothing was estimated that could be tried again"
    run = past.runs[-1] if past.runs else {}
    if not past.validations or not isinstance(run.get("sha256"), str):
        return "no estimate of it is known on a text that it was not trained on"
    step, recorded = past.validations[-1]
    if step != past.steps:
        return f"its newest estimate is of step {step:,}, and these weights are of step {past.steps:,}"
    share, name = _share(run), str(run.get("text"))
    steps = reading(corpus, encoding, held.tokenizer, held.info.alphabet)
    try:
        while True:
            next(steps)
            yield None
    except StopIteration as end:
        material = end.value
    except (TextFileError, UnreadableText, OSError) as error:
        return f"the text can't be used for it: {error}"
    if material.sha256 != run["sha256"]:
        return f"it was estimated on the end of {name}, and {material.name} is another text; choose that one"
    windows = run.get("windows")
    windows = windows if isinstance(windows, int) and windows > 0 else 0
    _, ids = split(material.ids, share)
    return Exam(ids, recorded, step, windows, name, share, tuple(past.validations))


def _share(run: Mapping[str, Any]) -> float:
    try:
        return settings_of(run["settings"]).validation
    except (KeyError, TypeError, ConfigError):
        return 0.0
