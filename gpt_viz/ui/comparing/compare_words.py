"""What the compare panel says, as plain sentences. Knows no widget and no engine."""

from __future__ import annotations

from gpt_viz.compare_measures import HeadDistance
from gpt_viz.protocol import ModelInfo
from gpt_viz.ui.sampling.sampling_words import quoted, share, unit

ALIKE = 0.0005  # a distance below this is none: it is written as 0.00


def sentence(reason: str) -> str:
    """A reason as a sentence."""
    return f"{reason[:1].upper()}{reason[1:]}." if reason and not reason.endswith(".") else reason


def of_heads(order: tuple[HeadDistance, ...]) -> str:
    """Which head differs most, and by how much; "" where none was measured."""
    found = [each for each in order if each.distance == each.distance]
    if not found:
        return "Some weights are not finite, so no head could be measured." if order else ""
    most = found[0]
    if most.distance < ALIKE:
        return "No head differs: on this text both models attend alike."
    return f"Layer {most.layer}, head {most.head} differs most: {share(most.distance)} of its attention lies elsewhere."


def of_one_head(head: HeadDistance) -> str:
    """How far the chosen head is apart, where the others can't be measured."""
    apart = (
        "its weights are not finite"
        if head.distance != head.distance
        else (f"{share(head.distance)} of its attention lies elsewhere")
    )
    return f"Layer {head.layer}, head {head.head}: {apart}; in a text this long only the chosen head is measured."


def of_next(ours: float, theirs: float, piece: str, other_piece: str) -> str:
    """What both hold likeliest: the tokens, and what each gives to its own.

    >>> of_next(0.4, 0.1, "a", "b")
    'The first expects “a”, 40 %, and the second “b”, 10 %.'
    """
    if piece == other_piece:
        return f"Both expect {quoted([piece])}: the first with {share(ours)}, the second with {share(theirs)}."
    return (
        f"The first expects {quoted([piece])}, {share(ours)}, and the second {quoted([other_piece])}, {share(theirs)}."
    )


def of_texts(count: int, difference: int | None, model: ModelInfo) -> str:
    """How far the two texts agree."""
    if difference is None:
        return f"So far both write the same {count:,} {unit(model, count)}." if count else "Neither has written yet."
    if difference == 0:
        return f"They differ from the first {unit(model, 1)} on."
    return f"They agree for {difference:,} {unit(model, difference)}, then go apart."


ROUNDING = 1e-7  # of numbers of single precision: what is nearer to nothing is nothing


def nats(divergence: float) -> str:
    """A divergence as it is read.

    >>> nats(2.3071), nats(0.00021), nats(9e-15), nats(float("inf"))
    ('2.307', '0.00021', '0', '∞')
    """
    if divergence != divergence:
        return "NaN"
    if divergence == float("inf"):
        return "∞"
    return "0" if abs(divergence) < ROUNDING else f"{divergence:.3f}" if divergence >= 0.001 else f"{divergence:.2g}"
