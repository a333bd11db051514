"""What one config's parameters have beyond another's, and beyond the rule of thumb, term by term. Knows no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.letters import evaluate

RULE_OF_THUMB = "12·L·C²"
PRIME = "′"
_LETTERS = {"vocabulary": "V", "block_size": "N", "layers": "L", "width": "C"}
_Spell = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a sum of parameters: a formula in letters and in numbers, both worth `count`, which may be negative.

    `row` is the row of the table that it belongs to, `member` a tensor that it counts (in a block the first one's).
    In a difference a letter with a prime (`N′`) is the second config's, where the two differ; `causes` are the
    settings that make the difference.
    """

    name: str
    row: str
    kind: str
    member: str
    formula: str
    numbers: str
    count: int
    causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """Some tensors together, as `times` · letters. A letter stands once for each power; 0 times: they don't exist.

    `switch` is the setting that `times` depends on.
    """

    name: str
    row: str
    kind: str
    member: str
    times: int
    letters: str
    switch: str = ""

    def count(self, config: GPTConfig) -> int:
        """How many numbers they hold."""
        product = self.times
        for letter in self.letters:
            product *= _number(letter, config)
        return product


def rule_of_thumb(config: GPTConfig) -> int:
    """What the blocks hold by the rule of thumb, 12·L·C²: 4·C² for attention and 8·C² for feed-forward in each."""
    return 12 * config.layers * config.width**2


def block_total(config: GPTConfig) -> int:
    """What the blocks really hold."""
    return sum(part.count(config) for part in _parts(config) if part.member.startswith("blocks."))


def beyond_rule(config: GPTConfig) -> tuple[Term, ...]:
    """What the blocks hold beyond the rule of thumb: their biases and LayerNorms; no term counts 0."""
    return tuple(
        _term(part, _product(part, str), _product(part, _numbers(config)), part.count(config))
        for part in _parts(config)
        if part.member.startswith("blocks.") and not part.letters.endswith("CC") and part.count(config)
    )


@lru_cache(maxsize=8)  # several views ask for the same one in each frame while a size is dragged
def difference(a: GPTConfig, b: GPTConfig) -> tuple[Term, ...]:
    """What b's parameters have beyond a's: the terms add up to `total(b) - total(a)`; what is equal has none.

    >>> [(term.name, term.numbers, term.count) for term in difference(GPTConfig(), GPTConfig(block_size=128))]
    [('positions', '(128−64)·128', 8192)]
    """
    terms = []
    for before, after in zip(_parts(a), _parts(b), strict=True):
        count = after.count(b) - before.count(a)
        if count:
            changed = {letter for letter in after.letters if _number(letter, a) != _number(letter, b)}
            formula = _beyond(before, str, after, _primed(changed), changed)
            numbers = _beyond(before, _numbers(a), after, _numbers(b), changed)
            terms.append(_term(after, formula, numbers, count, _causes(before, after, changed)))
    return tuple(terms)


def without_effect(a: GPTConfig, b: GPTConfig) -> tuple[str, ...]:
    """The settings in which the two differ and which are in none of the terms: the number of heads always is one."""
    causes = {cause for term in difference(a, b) for cause in term.causes}
    names = (field.name for field in fields(GPTConfig))
    return tuple(name for name in names if name not in causes and getattr(a, name) != getattr(b, name))


def _causes(before: _Part, after: _Part, changed: set[str]) -> tuple[str, ...]:
    """The settings that tell the two apart; where one of them does not exist at all, that is the cause."""
    sizes = tuple(name for name, letter in _LETTERS.items() if letter in changed)
    if before.times == after.times:
        return sizes
    return (*(sizes if before.times and after.times else ()), before.switch)


def _parts(config: GPTConfig) -> Iterator[_Part]:
    """Everything that a model holds, always as many parts in the same order."""
    bias, norms = int(config.bias), 2 if config.bias else 1
    qkv, proj, mlp, norm = "query, key, value", "attention projection", "feed-forward", "LayerNorm"
    token, position, head = "token embedding", "position embedding", "output head"
    block = "blocks.0"
    query = f"{block}.attn.heads.0.query"
    yield _Part(token, token, token, "token_embedding.weight", 1, "VC")
    yield _Part("positions", position, position, "position_embedding.weight", 1, "NC")
    yield _Part(qkv, qkv, "attention", f"{query}.weight", 3, "LCC")
    yield _Part(f"{qkv} biases", qkv, "attention", f"{query}.bias", 3 * int(config.qkv_bias), "LC", "qkv_bias")
    yield _Part("projection", proj, "attention", f"{block}.attn.proj.weight", 1, "LCC")
    yield _Part("projection biases", proj, "attention", f"{block}.attn.proj.bias", bias, "LC", "bias")
    yield _Part(mlp, mlp, mlp, f"{block}.mlp.fc.weight", 8, "LCC")
    yield _Part(f"{mlp} biases", mlp, mlp, f"{block}.mlp.fc.bias", 5 * bias, "LC", "bias")
    yield _Part("block LayerNorms", norm, norm, f"{block}.ln1.weight", 2 * norms, "LC", "bias")
    yield _Part("final LayerNorm", norm, norm, "ln_f.weight", norms, "C", "bias")
    yield _Part(head, head, head, "head.weight", int(not config.tied_head), "VC", "tied_head")
    yield _Part("head biases", head, head, "head.bias", int(config.head_bias), "V", "head_bias")


def _term(part: _Part, formula: str, numbers: str, count: int, causes: tuple[str, ...] = ()) -> Term:
    return Term(part.name, part.row, part.kind, part.member, formula, numbers, count, causes)


def _number(letter: str, config: GPTConfig) -> int:
    return evaluate((letter,), config, 0)[0]


def _numbers(config: GPTConfig) -> _Spell:
    return lambda letter: str(_number(letter, config))


def _primed(changed: set[str]) -> _Spell:
    return lambda letter: letter + PRIME if letter in changed else letter


def _product(part: _Part, spell: _Spell, times: str | None = None, factor: tuple[str, str] = ("", "")) -> str:
    """The part as it is read: the layers first, then how often, then the rest, squared where a letter stands twice.

    `times` and, for one letter with its power, the `factor` (letter, what is written) may stand in for its own.
    """
    written = []
    for letter in dict.fromkeys(part.letters):
        power = "²" if part.letters.count(letter) == 2 else ""
        written.append(factor[1] if letter == factor[0] else spell(letter) + power)
    often = times if times is not None else str(part.times) if part.times != 1 else ""
    written.insert(1 if part.letters[0] == "L" else 0, often)
    return "·".join(filter(None, written))


def _beyond(before: _Part, spell_a: _Spell, after: _Part, spell_b: _Spell, changed: set[str]) -> str:
    """The difference of the two products, with what they share written once."""
    if not before.times:
        return _product(after, spell_b)
    if not after.times:
        return f"−{_product(before, spell_a)}"
    if not changed:
        return _product(after, spell_b, f"({after.times}−{before.times})")
    if len(changed) == 1 and before.times == after.times:
        (letter,) = changed
        power = "²" if after.letters.count(letter) == 2 else ""
        factor = f"({spell_b(letter)}{power}−{spell_a(letter)}{power})"
        return _product(after, spell_b, factor=(letter, factor))
    return f"{_product(after, spell_b)}−{_product(before, spell_a)}"
