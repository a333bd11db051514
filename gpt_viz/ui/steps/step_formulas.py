"""Each step's formula as it is typeset: in letters, then what it comes to with this model's numbers. Knows no view."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ledger import StepSpec

EPSILON = "10^{−5}"  # LayerNorm's, as torch has it where nobody says otherwise


@dataclass(frozen=True, slots=True)
class _Numbers:
    """This model's letters as numbers, for a pass over so many tokens."""

    config: GPTConfig
    tokens: int

    def __getitem__(self, letter: str) -> int:
        return ledger.evaluate((letter,), self.config, self.tokens)[0]

    def last(self, letter: str) -> int:
        """The last place of an axis, counted from 0."""
        return self[letter] - 1

    def matrices(self, left: tuple[str, str], right: tuple[str, str]) -> str:
        """The sizes of two matrices that are multiplied, and what one number of their product takes."""
        rows, inner, columns = self[left[0]], self[left[1]], self[right[1]]
        sizes = f"({rows:,} × {inner:,}) · ({inner:,} × {columns:,}) → {rows:,} × {columns:,}"
        return f'{sizes}, "each a sum of" {inner:,} "product{"s" * (inner != 1)}"'


_Written = Callable[[GPTConfig, _Numbers], tuple[str, str]]


def formulas(spec: StepSpec, config: GPTConfig, tokens: int) -> tuple[str, ...]:
    """The step's formula for one number of its result, and below it the same with this model's numbers."""
    name = spec.name.rpartition(".")[2]
    written = _HEAD_OUT if name == "out" and spec.head is not None else _WRITTEN[name]
    return written(config, _Numbers(config, tokens))


def _over(T: int, C: int) -> str:
    return f"t = 0 … {T:,}, c = 0 … {C:,}"


def _ids(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    return '"ids"_t = "the number of token" t "in the vocabulary"', f"0 ≤ ids_t < {n['V']:,}, t = 0 … {n.last('T'):,}"


def _token(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    sizes = f'E "has" {n["V"]:,} × {n["C"]:,} "numbers, a row for each token of the vocabulary"'
    return '"token_embedding"_{t,c} = E_{ids_t,c}', sizes


def _position(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    sizes = f'P "has" {n["N"]:,} × {n["C"]:,} "numbers, a row for each position"'
    return '"position_embedding"_{t,c} = P_{t,c}', sizes


def _embedded(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    return "embedded_{t,c} = E_{ids_t,c} + P_{t,c}", _over(n.last("T"), n.last("C"))


def _norm(name: str) -> _Written:
    def written(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
        shift = " + β_c" if config.bias else ""
        mean = rf"μ_t = \frac{{1}}{{{n['C']:,}}} \sum_{{c=0}}^{{{n.last('C'):,}}} x_{{t,c}}"
        return (
            rf"{_named(name)}_{{t,c}} = \frac{{x_{{t,c}} − μ_t}}{{\sqrt{{σ_t^2 + ε}}}} · γ_c{shift}",
            f'{mean}, "and" σ_t^2 "likewise of" {{(x_{{t,c}} − μ_t)}}^2, "with" ε = {EPSILON}',
        )

    return written


def _linear(name: str, rows: str, x: str, inner: str, matrix: str, biased: Callable[[GPTConfig], bool]) -> _Written:
    """`name` (T, rows) of `x` (T, inner) and a `matrix`; small letters count along the axes."""
    i, c = _COUNTED[rows], "m" if _COUNTED[rows] == _COUNTED[inner] else _COUNTED[inner]

    def written(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
        weight = "E" if matrix == "Wu" and config.tied_head else matrix
        bias = f" + b{matrix[1:]}_{i}" if biased(config) else ""
        total = rf"\sum_{{{c}=0}}^{{{inner}−1}} {_named(x)}_{{t,{c}}} · {weight}_{{{i},{c}}}"
        return f"{_named(name)}_{{t,{i}}} = {total}{bias}", n.matrices(("T", inner), (inner, rows))

    return written


def _named(place: str) -> str:
    """A place's name as one upright word; a single letter leans."""
    return place if len(place) == 1 else f'"{place}"'


_COUNTED = {"C": "c", "D": "d", "4C": "m", "V": "v"}


def _products(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    return r"products_{i,j} = \sum_{d=0}^{D−1} q_{i,d} · k_{j,d}", n.matrices(("T", "D"), ("D", "T"))


def _scores(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    root = f"{math.sqrt(n['D']):.4g}"
    if config.scale == "divide":
        return (
            r"scores_{i,j} = \frac{products_{i,j}}{\sqrt{D}}",
            rf"= \frac{{products_{{i,j}}}}{{\sqrt{{{n['D']}}}}} = \frac{{products_{{i,j}}}}{{{root}}}",
        )
    power = r"D^{−1/2}"
    return (
        f"scores_{{i,j}} = products_{{i,j}} · {power}",
        f"= products_{{i,j}} · {n['D']}^{{−1/2}} = products_{{i,j}} · {n['D'] ** -0.5:.4g}",
    )


def _masked(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    T = n["T"]
    hidden = f'{T * (T - 1) // 2:,} "of" {T * T:,} "cells are hidden"'
    return r'masked_{i,j} = \cases{scores_{i,j} "where" j ≤ i}{−∞ "where" j > i}', hidden


def _softmax(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    T = n["T"]
    rows = (
        f'{T:,} "rows, each over" {T:,} "keys at most, each adding up to" 1'
        if T > 1
        else '1 "row over" 1 "key, adding up to" 1'
    )
    return r"A_{i,j} = \frac{e^{masked_{i,j}}}{\sum_{m=0}^{T−1} e^{masked_{i,m}}}", rows


def _weighted(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    return r"out_{i,d} = \sum_{j=0}^{T−1} A_{i,j} · v_{j,d}", n.matrices(("T", "T"), ("T", "D"))


def _concat(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    heads = f"h = 0 … {n.last('H'):,}, d = 0 … {n.last('D'):,}, {n['H']:,} · {n['D']:,} = {n['C']:,}"
    return 'concat_{t,h·D+d} = out_{t,d} "of head" h', heads


def _sum(name: str, left: str, right: str) -> _Written:
    def written(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
        return f"{name}_{{t,c}} = {left}_{{t,c}} + {right}_{{t,c}}", _over(n.last("T"), n.last("C"))

    return written


def _gelu(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    if config.gelu == "exact":
        below = r"Φ(x) = \frac{1}{2} \paren{1 + erf \frac{x}{\sqrt{2}}}"
    else:
        below = r"Φ(x) ≈ \frac{1}{2} \paren{1 + tanh \paren{\sqrt{\frac{2}{π}} \paren{x + 0.044715 x^3}}}"
    return 'gelu_{t,m} = x · Φ(x) "with" x = expand_{t,m}', below


def _loss(config: GPTConfig, n: _Numbers) -> tuple[str, str]:
    count, V = n.last("T"), n["V"]
    return (
        r"loss = \frac{1}{T−1} \sum_{t=0}^{T−2} \paren{log \sum_{v} e^{logits_{t,v}} − logits_{t,ids_{t+1}}}",
        f'{count:,} "next token{"s" * (count != 1)} out of" {V:,}, '
        f'"guessing evenly costs" log {V:,} = {math.log(V):.3f}',
    )


_WRITTEN: dict[str, _Written] = {
    "ids": _ids,
    "token_embedding": _token,
    "position_embedding": _position,
    "embedded": _embedded,
    **{name: _norm(name) for name in ("ln1", "ln2", "ln_f")},
    **{name: _linear(name, "D", "ln1", "C", f"W{name}", lambda config: config.qkv_bias) for name in "qkv"},
    "products": _products,
    "scores": _scores,
    "masked": _masked,
    "A": _softmax,
    "concat": _concat,
    "proj": _linear("proj", "C", "concat", "C", "Wo", lambda config: config.bias),
    "mid": _sum("mid", "x", "proj"),
    "expand": _linear("expand", "4C", "ln2", "C", "W1", lambda config: config.bias),
    "gelu": _gelu,
    "contract": _linear("contract", "C", "gelu", "4C", "W2", lambda config: config.bias),
    "out": _sum("out", "mid", "contract"),
    "logits": _linear("logits", "V", "ln_f", "C", "Wu", lambda config: config.head_bias),
    "loss": _loss,
}
_HEAD_OUT = _weighted
