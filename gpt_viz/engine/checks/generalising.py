"""Checks that a trained model predicts what it never saw as well as its history says."""

from __future__ import annotations

import math

from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen
from gpt_viz.engine.evaluation import EVALUATION_BATCH, evaluate, windows_in

# Other devices and other numbers of threads add in another order, and the history is rounded to five digits.
TOLERANCE = 1e-3


def validation_loss(specimen: Specimen) -> Trial:
    """The recorded loss on the end of the text, worked out anew."""
    exam = specimen.exam
    if isinstance(exam, str):
        return does_not_apply(exam)
    N = specimen.config.block_size
    count = windows_in(len(exam.ids), N)
    if count == 0:
        return does_not_apply("the part of the text that it was not trained on holds no window of tokens")
    if not math.isfinite(exam.recorded):
        return does_not_apply("its recorded loss is no finite number, so there is nothing to hold it to")
    windows = min(exam.windows or count, count)
    trial = evaluate(specimen.model, exam.ids, windows, min(EVALUATION_BATCH, 16))
    while True:
        try:
            next(trial)
        except StopIteration as end:
            loss: float = end.value
            break
        yield None
    return Outcome(
        passed=abs(loss - exam.recorded) <= TOLERANCE,
        expected=f"{exam.recorded:.4f}, as its history says",
        found=f"{loss:.4f}",
        tolerance=TOLERANCE,
        detail=f"{windows:,} window{'' if windows == 1 else 's'} of {N} tokens from the last {exam.share:.0%} of "
        f"{exam.text}, after {exam.step:,} step{'' if exam.step == 1 else 's'}",
        facts={
            "loss": loss,
            "recorded": exam.recorded,
            "perplexity": math.exp(min(loss, 700.0)),
            "ln_v": math.log(specimen.config.vocabulary),
            "vocabulary": specimen.config.vocabulary,
            "text": exam.text,
            "step": exam.step,
            "windows": windows,
        },
        arrays={
            "steps": picture([float(step) for step, _ in exam.estimates]),
            "losses": picture([estimate for _, estimate in exam.estimates]),
        },
    )
