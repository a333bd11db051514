"""How two models can be given the same text, and what of theirs can be held against each other. Knows no view.

A model reads characters, pieces, or the ids themselves. Where an id means the same to both, ids are what they get.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpt_viz.protocol import ModelInfo, Tokens
from gpt_viz.ui.widgets.glyphs import visible

NAMED = 3  # unknown characters that a sentence names


@dataclass(frozen=True, slots=True)
class Given:
    """A text as a command takes it; where the model can't have it, `reason` says why."""

    text: str = ""
    continuation: tuple[int, ...] = ()
    reason: str = ""


def texts_of(model: ModelInfo) -> tuple[str, ...] | None:
    """The text of each id; None for a model that reads ids as they are."""
    return model.alphabet if model.alphabet is not None else model.pieces


def same_ids(one: ModelInfo, other: ModelInfo) -> bool:
    """Whether an id is the same token to both. Without texts of its own a model takes it for what the other does."""
    mine, theirs = texts_of(one), texts_of(other)
    return one.config.vocabulary == other.config.vocabulary and (mine is None or theirs is None or mine == theirs)


def same_heads(one: ModelInfo, other: ModelInfo) -> bool:
    """Whether each head of one has its counterpart in the other."""
    return (one.config.layers, one.config.heads) == (other.config.layers, other.config.heads)


def tokens_for(tokens: Tokens, one: ModelInfo, other: ModelInfo) -> Given:
    """The tokens that `one` saw, for `other` to see in the same places."""
    count, block = len(tokens.ids), other.config.block_size
    if count > block:
        return Given(reason=f"the other model sees at most {block:,} tokens, and this text has {count:,}")
    if same_ids(one, other):
        return Given(continuation=tokens.ids)
    if texts_of(one) is None or texts_of(other) is None:
        return Given(reason=_no_common_text(one, other))
    return _readable("".join(tokens.pieces), other)


def prompt_for_other(prompt: str, tokens: Tokens | None, one: ModelInfo, other: ModelInfo) -> Given:
    """The prompt of `one` for `other` to go on from; `tokens` are those of the prompt alone, where they are known."""
    if texts_of(one) == texts_of(other):
        return Given(prompt)
    if same_ids(one, other):
        if tokens is None or tokens.dropped:
            return Given(reason="the other model reads ids, and those of this text are not known")
        texts = texts_of(other)
        if texts is None:
            return Given(" ".join(map(str, tokens.ids)))
        return _readable("".join(texts[id] for id in tokens.ids if id < len(texts)), other)
    if texts_of(one) is None or texts_of(other) is None:
        return Given(reason=_no_common_text(one, other))
    return _readable(prompt, other)


def _readable(text: str, model: ModelInfo) -> Given:
    unknown = [] if model.alphabet is None else list(dict.fromkeys(each for each in text if each not in model.alphabet))
    if not unknown:
        return Given(text)
    named = ", ".join(f"“{visible(each)}”" for each in unknown[:NAMED])
    more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    return Given(reason=f"the other model doesn't know {named}{more}")


def _no_common_text(one: ModelInfo, other: ModelInfo) -> str:
    def reads(model: ModelInfo) -> str:
        return f"ids below {model.config.vocabulary:,}" if texts_of(model) is None else "text"

    if texts_of(one) is None and texts_of(other) is None:
        return f"one model has {one.config.vocabulary:,} tokens and the other {other.config.vocabulary:,}"
    return f"one model reads {reads(one)} and the other {reads(other)}, so no text can be given to both"


def unlike(one: ModelInfo, other: ModelInfo) -> str:
    """Why what the two hold likely next can't be compared: their tokens are not the same."""
    mine, theirs = one.config.vocabulary, other.config.vocabulary
    if mine != theirs:
        return f"one model chooses among {mine:,} tokens and the other among {theirs:,}"
    shared = len(set(texts_of(one) or ()) & set(texts_of(other) or ()))
    return f"of their {mine:,} tokens the two models share {shared:,}"
