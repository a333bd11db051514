"""Where one number of a pass came from, as data: the cells that made it and the sum written out. Knows no torch.

Everything is in float64, worked out from the float32 numbers that the pass itself had; so `total`, what the written-out
computation gives, differs from `value`, what the pass found, by the rounding of float32 and no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# What kinds of computation there are, and the names of the numbers that each is written with.
NUMBERS: dict[str, tuple[str, ...]] = {
    "character": ("id",),
    "lookup": ("row", "column"),
    "sum": (),
    "LayerNorm": ("x", "mean", "variance", "epsilon", "normalised", "gain", "bias"),
    "linear": (),
    "product": (),
    "scaling": ("product", "divisor", "factor"),
    "mask": ("score", "hidden"),
    "softmax": ("masked", "largest", "exponential"),
    "weighted sum": (),
    "copy": ("head", "column"),
    "GELU": ("x", "phi"),
    "loss": ("tokens",),
}


@dataclass(frozen=True, slots=True)
class Region:
    """Cells of a place or of a parameter tensor: from .. to on each of its axes, `to` not included."""

    name: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a sum, the `number`-th of it, counted from 0."""

    number: int
    coefficient: float
    value: float

    @property
    def product(self) -> float:
        """What the term adds."""
        return self.coefficient * self.value


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of coefficient · value, in the order of the axis that it goes over, and a bias where there is one."""

    name: str
    coefficients: tuple[float, ...]
    values: tuple[float, ...]
    bias: float | None = None

    def __len__(self) -> int:
        return len(self.values)

    def term(self, number: int) -> Term:
        """The term of that number."""
        return Term(number, self.coefficients[number], self.values[number])

    @property
    def products(self) -> tuple[float, ...]:
        """What each term adds, in order, without the bias."""
        return tuple(a * b for a, b in zip(self.coefficients, self.values, strict=True))

    @property
    def total(self) -> float:
        """What all terms and the bias come to, rounded once."""
        return added((*self.products, self.bias or 0.0))

    def largest(self, count: int) -> tuple[Term, ...]:
        """The terms that add or take most, as many as `count`, in the order of the sum; NaN counts as the most."""
        products = self.products
        by_size = sorted(range(len(products)), key=lambda at: (not math.isnan(products[at]), -abs(products[at])))
        return tuple(self.term(at) for at in sorted(by_size[:count]))


@dataclass(frozen=True, slots=True)
class Explanation:
    """One cell of a place's tensor: what it is, which cells made it, and how.

    `index` has a figure for each axis, the batch axis's first. `sources` are the cells that it was computed from, the
    places in the order of the formula, then the parameters. `kind` says how (a key of NUMBERS), `numbers` what that is
    written with, by name, and `sums` what was added up on the way:

    - character: the id of a character.  - lookup: a row of an embedding, one column of it.
    - sum: `sum`, of two numbers.  - LayerNorm: `mean` and `variance` of the row; (x - mean) / sqrt(variance + epsilon)
      · gain + bias, `normalised` is that before gain and bias; without a bias in the model there is no such number.
    - linear: `sum`, of input row · weight row, and the bias.  - product: `sum`, of query row · key row.
    - scaling: product / divisor, or product · factor.  - mask: the score, or -inf where `hidden` is 1.
    - softmax: exponential / sum of `exponentials`, each exp(masked - largest of the row).
    - weighted sum: `sum`, of attention row · value column.  - copy: a column of one head's.  - GELU: x · phi.
    - loss: mean over `tokens` of `surprise`, each -log p of the token that came: `log-sum` (of all logits'
      exponentials) minus `logit` (that token's).
    """

    place: str
    index: tuple[int, ...]
    kind: str
    value: float
    total: float
    sources: tuple[Region, ...]
    sums: tuple[Sum, ...] = ()
    numbers: tuple[tuple[str, float], ...] = ()

    def sum(self, name: str) -> Sum:
        """The sum of that name. Raises KeyError."""
        return {each.name: each for each in self.sums}[name]

    def number(self, name: str) -> float:
        """The number of that name. Raises KeyError."""
        return dict(self.numbers)[name]

    def has(self, name: str) -> bool:
        """Whether there is a number of that name."""
        return name in dict(self.numbers)


def added(numbers: tuple[float, ...]) -> float:
    """The sum, rounded once at its end; what is not finite is added as a computer does it."""
    try:
        return math.fsum(numbers)
    except (ValueError, OverflowError):  # +inf beside -inf, or beyond all numbers
        return sum(numbers)
