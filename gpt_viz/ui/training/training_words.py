"""What is said of training: why it can't begin, how far it is, what came of it. Knows no widget and no engine."""

from __future__ import annotations

import math

from gpt_viz.protocol import ModelInfo, TextOpened
from gpt_viz.ui.text import text_words
from gpt_viz.ui.training.learner import Learner


def obstacle(model: ModelInfo, text: TextOpened, validation: float) -> str:
    """Why the model can't be trained on the text, in one sentence without a full stop; "" where it can.

    The length of a text of pieces or of ids is not known before it is read: the engine says if it is too short.
    """
    if model.pieces is not None:
        return ""
    if model.alphabet is None:
        if text.path:
            return ""
        return "the model reads ids, and the built-in passage has letters; open a text of ids, separated by spaces"
    name = f"the text {text.name}" if text.path else text.name
    lacking = text_words.lacking(text, model)
    if lacking:
        return f"{name} has {text_words.named(lacking)}, which the model can't read"
    tokens, needed = text.characters - int(text.characters * validation), model.config.block_size + 1
    if tokens >= needed:
        return ""
    offers = ["take a longer text"]
    if validation and text.characters >= needed:
        offers.append("a smaller validation share")
    if tokens > 1:
        offers.append(f"a block size of at most {tokens - 1:,}")
    listed = offers[0] if len(offers) == 1 else f"{', '.join(offers[:-1])} or {offers[-1]}"
    has = f"{tokens:,} character{'' if tokens == 1 else 's'} to train on"
    return f"{name} has {has} and needs at least T+1 = {needed:,}; {listed}"


def sentence(learner: Learner, model: ModelInfo) -> str:
    """What can be seen now."""
    if not learner.trained:
        size = model.config.vocabulary
        return f"Not trained yet; a fair guess has the loss ln {size:,} = {math.log(size):.3f}."
    if not learner.at_newest:
        waits = "; training waits meanwhile" if learner.live else ""
        return f"The model as it was after {_steps(learner.shown)}{waits}."
    told = [f"loss {loss(learner.losses[-1])} on the last batch"] if learner.losses else []
    if learner.validations:
        at, estimate = learner.validations[-1]
        when = "" if at == learner.newest else f" (at {at:,})"
        told.append(f"{loss(estimate)} on text not trained on{when}")
    return f"After {_steps(learner.newest)}: {', '.join(told)}." if told else f"Trained for {_steps(learner.newest)}."


def state(learner: Learner) -> str:
    """How the run is doing: its speed, how long it still takes, or how it came to rest; a failure is said elsewhere."""
    began = learner.began
    if learner.live and began is None:
        return f"Reading {learner.working} …" if learner.working else "Begins …"
    of = f"step {learner.newest:,} of {began.last:,}" if began is not None else f"step {learner.newest:,}"
    if learner.stopping:
        return f"Stops after this step · {of}"
    if learner.running:
        speed = f"{learner.tokens_per_second:,.0f} tokens/s" if learner.tokens_per_second else "first step"
        left = f" · {span(learner.left_s)} left" if learner.left_s else ""
        rate = f" · rate {learner.rates[-1]:.3g}" if learner.rates else ""
        return f"Training · {of} · {speed}{left}{rate}"
    if learner.live:
        return f"Paused · {of}"
    words = {"finished": "Complete", "stopped": "Stopped", "paused": "Paused"}
    return f"{words[learner.ended]} · {of}" if learner.ended in words else ""


def failure(learner: Learner) -> str:
    """Why the last run came to nothing, and where; "" where it did not."""
    if learner.ended != "failed":
        return ""
    at = f" at step {learner.newest:,}" if learner.began is not None and " at step " not in learner.reason else ""
    return f"failed{at}: {learner.reason}"


def lengths(model: ModelInfo, text: TextOpened, validation: float) -> str:
    """How much of the text is trained on, where that is known before it is read."""
    if model.alphabet is None or obstacle(model, text, validation):
        return ""
    tested = int(text.characters * validation)
    trained = f"{text.characters - tested:,} characters to train on"
    return f"{trained}, the last {tested:,} to test on" if tested else f"{trained}, none to test on"


def moment(learner: Learner) -> str:
    """Which moment is shown."""
    if not learner.trained:
        return "untrained"
    return f"step {learner.shown:,}"


def kept(learner: Learner, size: str, limit: str) -> str:
    """What the time machine holds."""
    if not learner.trained:
        return "The weights are kept at points along the training, to look back at: none yet"
    count = len(learner.kept)
    return (
        f"{count:,} moments of the training are kept, dense at first and then sparser; "
        f"they take {size}, at most {limit}. Training waits while an earlier one is shown"
    )


def loss(value: float) -> str:
    """A loss as it is read.

    >>> loss(2.30259), loss(float("nan"))
    ('2.303', 'not a number')
    """
    if value != value:
        return "not a number"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:.3g}"


def span(seconds: float) -> str:
    """A time as it is read.

    >>> span(7.2), span(200), span(7300)
    ('7 s', '3 min 20 s', '2 h 2 min')
    """
    whole = max(math.ceil(seconds - 0.5), 0)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600:,} h {whole % 3600 // 60} min"


def _steps(count: int) -> str:
    return f"{count:,} step{'' if count == 1 else 's'}"
