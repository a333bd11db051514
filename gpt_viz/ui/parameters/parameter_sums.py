"""The sums below the parameter table: the rule of thumb, a difference, why heads don't count. Knows no view.

Each is worked out from configs alone, with this model's numbers in the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpt_viz import ledger
from gpt_viz.config import GPTConfig, label
from gpt_viz.ledger.difference import (
    RULE_OF_THUMB,
    Term,
    beyond_rule,
    block_total,
    difference,
    rule_of_thumb,
    without_effect,
)
from gpt_viz.ui.parameters.percent import percent
from gpt_viz.ui.widgets.sums import FORMULA, QUIET, STRONG, Chunk, Piece, Sum

# What in the table holds every query, key and value matrix, in place of its formula while heads are changed.
HEADS_CANCEL = "L·3·C², H·D = C"


def rule_sum(config: GPTConfig) -> Sum | None:
    """12·L·C² beside what the blocks really hold, and what makes the difference; None for a model without blocks."""
    rule, blocks = rule_of_thumb(config), block_total(config)
    if not rule:
        return None
    numbers = f"12·{config.layers}·{config.width}²"
    more = percent(round(1000 * (blocks - rule) / rule), blocks - rule)
    beyond = f"{blocks - rule:,} more ({more})" if blocks != rule else "exactly that"
    note = (
        f"{RULE_OF_THUMB}: in each block 4·C² for attention and 8·C² for feed-forward. Biases and norms are left out."
    )
    thumb = (
        Piece("rule of thumb", QUIET),
        Piece(f"{RULE_OF_THUMB} = {numbers} =", FORMULA),
        Piece(f"{rule:,}", STRONG),
    )
    blocks_hold = (Piece("the blocks hold", QUIET), Piece(f"{blocks:,}:", STRONG), Piece(beyond, QUIET))
    lead = (Chunk(thumb, note=note), Chunk(blocks_hold))
    return Sum(lead, tuple(_terms((("+", term) for term in beyond_rule(config)), letters=True)))


def difference_sum(this: GPTConfig, other: GPTConfig, name: str) -> Sum:
    """What one of the two has beyond the other, term by term, and the settings that make it; `name` is the other's.

    Said from the smaller to the larger, so that nearly all terms are added.
    """
    more = ledger.total(this) - ledger.total(other)
    small, large = (other, this) if more > 0 else (this, other)
    terms, opposite = difference(small, large), {term.name: term for term in difference(large, small)}
    pairs = [("+", term) for term in terms if term.count > 0]
    pairs += [("−", opposite[term.name]) for term in terms if term.count < 0]
    said: tuple[Piece, ...]
    if more > 0:
        said = (Piece("this model has", QUIET), Piece(f"{more:,}", STRONG), Piece(f"more than {name}", QUIET))
    elif more < 0:
        said = (Piece(f"{name} has", QUIET), Piece(f"{-more:,}", STRONG), Piece("more", QUIET))
    else:
        said = (Piece("as many as", QUIET), Piece(name, STRONG))
    causes = dict.fromkeys(cause for term in terms for cause in term.causes)
    lead = (Chunk(said), *_list("from", _changes(small, large, causes)))
    rest = _list("not in the count:", _changes(small, large, without_effect(small, large)))
    return Sum(lead, (*_terms(pairs), *rest))


def heads_sum(config: GPTConfig) -> Sum:
    """Why the number of heads is not in the count: H matrices of C × D are as many numbers as one of C × C."""
    H, C, D = config.heads, config.width, config.head_width
    return Sum(
        (
            Chunk(
                (
                    Piece(f"H·3·C·D = {H}·3·{C}·{D} =", FORMULA),
                    Piece(f"{H * 3 * C * D:,}", STRONG),
                    Piece(f"= 3·{C}² = 3·C²", FORMULA),
                ),
                "attention",
            ),
            Chunk((Piece("in each block for any H, as D = C / H", QUIET),)),
        )
    )


def heads_words(config: GPTConfig) -> str:
    """The same as a sentence."""
    H, C, D = config.heads, config.width, config.head_width
    heads = f"{H:,} head{'s' * (H != 1)} of width {D:,}"
    return f"{heads}, as many numbers: H·3·C·D = 3·C² = {H * 3 * C * D:,} in each block, for any H."


def difference_words(this: GPTConfig, other: GPTConfig, name: str) -> str:
    """The difference as one sentence, its largest terms named."""
    more = ledger.total(this) - ledger.total(other)
    terms = sorted(difference(other, this), key=lambda term: -abs(term.count))
    if not terms:
        same = [label(each) for each in without_effect(this, other)]
        return f"As many parameters as {name}{f', with other {_listed(same)}' if same else ''}."
    # A sum that goes one way is told by its sizes, one that goes both ways with signs.
    one_way = len({term.count > 0 for term in terms}) == 1
    sizes = [(term.count, term.name) for term in terms[:2]]
    if len(terms) > 2:
        sizes.append((sum(term.count for term in terms[2:]), "others"))
    named = [f"{f'{abs(count):,}' if one_way else signed(count)} {what}" for count, what in sizes]
    count = f"{abs(more):,} {'more' if more > 0 else 'fewer'}" if more else "As many"
    return f"{count}: {_listed(named)}, held against {name}."


def why(terms: Iterable[Term], this: GPTConfig, other: GPTConfig) -> str:
    """What makes these terms of the difference from the other to this one: its formulas and settings, or ""."""
    lines = [
        f"{term.name} {term.numbers}{f' = {signed(term.count)}' if term.numbers != str(term.count) else ''}"
        f" ({', '.join(_changes(other, this, term.causes))})"
        for term in terms
    ]
    return "; ".join(lines)


def _terms(pairs: Iterable[tuple[str, Term]], *, letters: bool = False) -> Iterable[Chunk]:
    """A chunk for each signed term; its formula in `letters` too, or in numbers alone."""
    for i, (sign, term) in enumerate(pairs):
        before = sign if i or sign == "−" else ""
        formula = f"{term.formula} = {term.numbers}" if letters else term.numbers
        written = () if formula == str(term.count) else (Piece(f"{formula} =", FORMULA),)
        yield Chunk((*written, Piece(f"{term.count:,}"), Piece(term.name, QUIET)), term.kind, before)


def _list(lead: str, words: list[str]) -> Iterable[Chunk]:
    """A list that may be broken after each entry; nothing where it is empty."""
    for i, word in enumerate(words):
        text = f"{word}," if word != words[-1] else word
        yield Chunk((Piece(text if i else f"{lead} {text}", QUIET),))


def _changes(a: GPTConfig, b: GPTConfig, names: Iterable[str]) -> list[str]:
    return [f"{label(name)} {_value(getattr(a, name))} → {_value(getattr(b, name))}" for name in names]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else str(value)


def signed(count: int) -> str:
    """A difference as it is read, with a real minus.

    >>> signed(-8192)
    '−8,192'
    """
    return f"{count:+,}".replace("-", "−") if count else "0"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
