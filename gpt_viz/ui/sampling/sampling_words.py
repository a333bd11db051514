"""What the sampling panel says, as plain sentences. Knows no widget and no engine.

Tokens are quoted with the visible forms of `glyphs`, but a space within a quotation stays a space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpt_viz.protocol import Distribution, ModelInfo, Tokens
from gpt_viz.ui.study import Study
from gpt_viz.ui.widgets.glyphs import visible

TAIL = 4  # tokens before the one in question that a sentence quotes
NAMED = 3  # unknown characters that a sentence names; the others are counted


def share(probability: float) -> str:
    """A probability within a sentence: whole percents, below 10 % one decimal, below 0.1 % one figure.

    >>> share(0.4123), share(0.0312), share(0.0000312), share(1.0)
    ('41 %', '3.1 %', '0.003 %', '100 %')
    """
    percents = probability * 100
    if percents >= 9.95:
        return f"{percents:.0f} %"
    if percents >= 0.1:
        return f"{percents:.1f} %"
    return f"{percents:.1g} %" if percents >= 1e-4 else "hardly 0 %"


def quoted(pieces: Sequence[str], gap: str = "") -> str:
    """Some tokens in quotation marks; a single one with its space made visible.

    >>> quoted(["t", "o", " ", "f"]), quoted([" "])
    ('“to f”', '“␣”')
    """
    if len(pieces) == 1:
        return f"“{visible(pieces[0])}”"
    return f"“{gap.join(piece if piece == ' ' else visible(piece) for piece in pieces)}”"


def unit(model: ModelInfo, count: int = 2) -> str:
    """What a token of this model is called."""
    word = "token" if model.alphabet is None else "character"
    return word if count == 1 else f"{word}s"


def reads_ids(model: ModelInfo) -> bool:
    """Whether text is written as ids with spaces between them, and not as characters or pieces."""
    return model.alphabet is None and model.pieces is None


def gap(model: ModelInfo) -> str:
    """What stands between two tokens where they are written as text."""
    return " " if reads_ids(model) else ""


def pieces_of(prompt: str, model: ModelInfo, tokens: Tokens | None = None) -> list[str]:
    """The tokens of a prompt: its characters, its ids, or the pieces that the engine cut it into.

    As long as the engine has not read it, a text of pieces is one; so is one whose pieces are not its own text.
    """
    if model.alphabet is not None:
        return list(prompt)
    if model.pieces is None:
        return prompt.split()
    known = tokens is not None and not tokens.dropped and "".join(tokens.pieces) == prompt
    return list(tokens.pieces) if tokens is not None and known else [prompt]


def id_of(piece: str, model: ModelInfo) -> int | None:
    """The id of a token of a readable prompt; None where it is none of the model's."""
    texts = model.alphabet if model.alphabet is not None else model.pieces
    if texts is None:
        return int(piece) if piece.isascii() and piece.isdigit() else None
    return texts.index(piece) if piece in texts else None


def unreadable(prompt: str, model: ModelInfo) -> str:
    """Why the model can't go on from this prompt, in one sentence; "" where it can."""
    if not (prompt.strip() if reads_ids(model) else prompt):
        return f"type at least one {unit(model, 1)}: a model goes on from a text, it can't begin one"
    if reads_ids(model):
        return _unreadable_ids(prompt, model.config.vocabulary)
    unknown = set() if model.alphabet is None else set(prompt).difference(model.alphabet)
    if model.alphabet is None or not unknown:
        return ""
    where = [(place, character) for place, character in enumerate(prompt, 1) if character in unknown]
    named = [f"“{visible(character)}” at {place}" for place, character in where[:NAMED]]
    more = f" and {len(where) - NAMED} more" if len(where) > NAMED else ""
    return f"this model doesn't know {', '.join(named)}{more}; it reads {len(model.alphabet)} characters"


def _unreadable_ids(prompt: str, vocabulary: int) -> str:
    for word in prompt.split():
        digits = word.lstrip("0") or "0"
        fits = word.isascii() and word.isdigit() and len(digits) <= len(str(vocabulary)) and int(digits) < vocabulary
        if not fits:
            shown = visible(word[:20])
            return (
                f"“{shown}” is no id of this model; write whole numbers below {vocabulary:,} with spaces between them"
            )
    return ""


def notes(prompt_tokens: int, top_k: int, model: ModelInfo) -> list[str]:
    """What is worth knowing before one samples: a prompt longer than the context, a top-k above the vocabulary."""
    found, block, vocabulary = [], model.config.block_size, model.config.vocabulary
    if prompt_tokens > block:
        found.append(f"only the last {block:,} of {prompt_tokens:,} {unit(model)} are used")
    if top_k > vocabulary:
        exist = "exists" if vocabulary == 1 else "exist"
        found.append(f"only {vocabulary:,} {unit(model, vocabulary)} {exist}, so top-k {top_k:,} cuts nothing")
    return found


def of_next(shown: Distribution, before: Sequence[str], model: ModelInfo) -> str:
    """What may come after the text, where nothing was drawn yet."""
    best = int(shown.logits.argmax())
    greedy = " (greedy takes it)" if shown.temperature == 0 else ""
    probability = share(float(shown.probabilities[best]))
    tail = quoted(before[-TAIL:], gap(model))
    return f"Most likely next after {tail}: {quoted([model.piece(best)])}, {probability}{greedy}."


def of_token(
    shown: Distribution, before: Sequence[str], model: ModelInfo, *, sampled: bool, otherwise: str = ""
) -> str:
    """How the token that `shown` has chosen came to stand there.

    `sampled`: it was drawn, and did not stand in the prompt; `otherwise`: how else than `shown` would draw it, as "with
    other settings".
    """
    assert shown.chosen is not None
    token = quoted([model.piece(shown.chosen)])
    probability = float(shown.probabilities[shown.chosen])
    opening = f"Next after {quoted(before[-TAIL:], gap(model))}: {token}"
    surprise = f"surprise {abs(math.log2(probability)):.1f} bits" if probability > 0 else ""
    if not sampled or otherwise:
        whose = "stands in the text" if not sampled else f"was drawn {otherwise}"
        now = f"here it has {share(probability)}; {surprise}" if probability > 0 else "here it is cut away"
        return f"{opening} {whose}; {now}."
    if shown.temperature == 0:
        return f"{opening} was taken, as greedy takes the likeliest."
    return f"{opening} was drawn at {share(probability)}; {surprise}."


def of_run(
    *, running: bool, stopping: bool, ended: str, drawn: int, total: int, tokens_per_second: float, model: ModelInfo
) -> str:
    """Where the run stands, or how it ended; `ended` is "", "finished", "stopped" or "failed".

    `drawn` are this run's tokens, `total` those of all the runs that the text was drawn in.
    """
    count = f"{drawn:,} {unit(model, drawn)}" + (f", {total:,} in all" if total > drawn else "")
    if ended == "failed":
        return f"failed after {count}"
    speed = f" · {tokens_per_second:,.0f} a second" if tokens_per_second > 0 and drawn > 1 else ""
    if stopping:
        return f"stopping … · {count}"
    if running:
        return f"sampling · {count}{speed}"
    return f"{ended} after {count}{speed}" if ended else ""


def tail(prompt: Sequence[str], study: Study, end: int) -> list[str]:
    """The last few tokens before place `end` of prompt and continuation together."""
    begin = max(end - TAIL, 0)
    first, last = max(begin - len(prompt), 0), max(end - len(prompt), 0)
    return [*prompt[begin:end], *(draw.piece for draw in study.draws[first:last])]
