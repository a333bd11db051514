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
from gpt_viz.engine.past import Past, estimates_of
from gpt_viz.engine.resuming import settings_of
from gpt_viz.engine.training import split


@dataclass(frozen=True, slots=True, eq=False)
class Exam:
    """`ids` (n,) int64, the last `share` of the `text` of that name, were never trained on.

    After `step` steps the mean loss over `windows` of them was `recorded`, in nats per token. `estimates` are all
    (step, loss) of that run.
    """

    ids: Tensor
    recorded: float
    step: int
    windows: int
    text: str
    share: float
    estimates: tuple[tuple[int, float], ...]


def exam_of(held: Loaded, past: Past, corpus: str | None, encoding: str | None) -> Generator[None, None, Exam | str]:
    """The exam of a model with that past on a text file (None: the built-in passage), or in one sentence why there is
    none. `past` is that of the weights which are examined, whatever the model has learned meanwhile.
    """
    if not past.steps:
        return "this model has not been trained, so nothing was estimated that could be tried again"
    run = past.runs[-1] if past.runs else {}
    estimates, sha256, share, name = estimates_of(run), run.get("sha256"), _share(run), str(run.get("text"))
    if not estimates or not isinstance(sha256, str):
        return "no estimate of it is known on a text that it was not trained on"
    step, recorded, windows = estimates[-1]
    if step != past.steps:
        return f"its newest estimate is of step {step:,}, and these weights are of step {past.steps:,}"
    if any(each.get("sha256") == sha256 and _share(each) < share for each in past.runs[:-1]):
        return f"an earlier run has trained it on that end of {name}, too"
    steps = reading(corpus, encoding, held.tokenizer, held.info.alphabet)
    try:
        while True:
            next(steps)
            yield None
    except StopIteration as end:
        material = end.value
    except (TextFileError, UnreadableText, OSError) as error:
        return f"the text can't be used for it: {error}"
    if material.sha256 != sha256:
        return f"it was estimated on the end of {name}, and {material.name} is another text; choose that one"
    _, ids = split(material.ids, share)
    return Exam(ids, recorded, step, windows, name, share, tuple((at, loss) for at, loss, _ in estimates))


def _share(run: Mapping[str, Any]) -> float:
    try:
        return settings_of(run["settings"]).validation
    except (KeyError, TypeError, ConfigError):
        return 0.0
