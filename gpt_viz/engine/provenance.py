"""Where one number of a pass came from: the cells that made it, and the computation written out, in float64.

Nothing is computed from the formula alone: the inputs are those that the pass itself had, taken at the places, and the
weights are the model's. Knows no command and no event, and no window: `gpt_viz.explanation` is what it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.engine.ids import Ids
from gpt_viz.engine.model import GPT
from gpt_viz.engine.opened import Keeping, one_text
from gpt_viz.engine.stages import finished, staged, step_of
from gpt_viz.engine.taps import snapshot
from gpt_viz.explanation import Explanation, Region, Sum
from gpt_viz.ledger import StepSpec

At: TypeAlias = tuple[int | slice, ...]
Numbers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

_ALL = slice(None)
_AT_ONCE = 1_000_000  # so many logits are taken to float64 in one go


class UnknownCell(ValueError):  # noqa: N818 (what it is says more than "Error")
    """An index that the place's tensor does not have; the message says what it has."""


def explain(model: GPT, ids: Ids, place: str, index: tuple[int, ...]) -> Explanation:
    """`explaining` in one go."""
    return finished(explaining(model, ids, place, index))


def explaining(model: GPT, ids: Ids, place: str, index: tuple[int, ...]) -> Generator[None, None, Explanation]:
    """Where the number at `index` of a place came from, in a pass over one text, which goes only as far.

    `index` has one figure for each axis of the place's tensor, the batch axis's first: (0, t, c). Pauses between the
    blocks. Raises IdsError, also for a batch of texts; UnknownPlace, and UnknownCell for an index outside.
    """
    tokens = one_text(ids, model).shape[-1]
    spec = step_of(model.config, place, tokens)
    check_cell(spec, index, spec.shape(model.config, tokens))
    names = frozenset((place, *ledger.inputs(model.config, spec)))
    found = yield from staged(model, ids, lambda: Keeping(names), place)
    return _Cell(model, spec, index, found.kept).explanation()


def check_cell(spec: StepSpec, index: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Raises UnknownCell where a tensor of this shape has no such cell."""
    if len(index) != len(shape):
        raise UnknownCell(f"a cell of {spec.name} has {len(shape)} figures, one for each axis of {shape}; not {index}")
    if any(not 0 <= at < size for at, size in zip(index, shape, strict=True)):
        raise UnknownCell(f"{spec.name} has no cell {index}; its shape is {shape}")


@dataclass(frozen=True, slots=True)
class _Found:
    """A computation: what it comes to, and what it is written with."""

    kind: str
    total: float
    sources: tuple[Region, ...]
    sums: tuple[Sum, ...] = ()
    numbers: Mapping[str, float] | None = None


class _Cell:
    """One cell of a place, with the tensors that it was computed from."""

    def __init__(self, model: GPT, spec: StepSpec, index: tuple[int, ...], kept: Mapping[str, Tensor]) -> None:
        self._model, self._config = model, model.config
        self._spec, self._index, self._kept = spec, index, kept
        own = ledger.step_parameters(model.config, spec)
        self._places = ledger.inputs(model.config, spec)[: -len(own) or None]
        self._parameters = [each.name for each in own]

    def explanation(self) -> Explanation:
        """How the cell was computed."""
        last = self._spec.name.rpartition(".")[2]
        how = _HOW["A·v" if last == "out" and self._spec.head is not None else last]
        with np.errstate(all="ignore"):  # a broken model's numbers are shown as they are
            computed = how(self)
        return Explanation(
            place=self._spec.name,
            index=self._index,
            kind=computed.kind,
            value=self._one(self._spec.name, self._index),
            total=computed.total,
            sources=computed.sources,
            sums=computed.sums,
            numbers=tuple((computed.numbers or {}).items()),
        )

    def character(self) -> _Found:
        id = self._one("ids", self._index)
        return _Found("character", id, (), numbers={"id": id})

    def token(self) -> _Found:
        batch, t, c = self._index
        row = int(self._one("ids", (batch, t)))
        weight = self._parameters[0]
        sources = (self._region("ids", (batch, t)), self._region(weight, (row, c)))
        return _Found("lookup", self._one(weight, (row, c)), sources, numbers={"row": row, "column": c})

    def position(self) -> _Found:
        t, c = self._index
        weight = self._parameters[0]
        sources = (self._region(weight, self._index),)
        return _Found("lookup", self._one(weight, self._index), sources, numbers={"row": t, "column": c})

    def both(self) -> _Found:
        """Two cells added: the residual stream and what a layer adds to it, or the two embeddings."""
        cells = [(name, self._index[3 - self._tensor(name).dim() :]) for name in self._places]
        whole = Sum("sum", (1.0, 1.0), tuple(self._one(*cell) for cell in cells))
        return _Found("sum", whole.total, tuple(self._region(*cell) for cell in cells), (whole,))

    def norm(self) -> _Found:
        batch, t, c = self._index
        (name,), module = self._places, self._model.get_submodule(self._spec.module)
        assert isinstance(module, nn.LayerNorm)
        row = self._row(name, (batch, t, _ALL))
        C = len(row)
        mean = Sum("mean", (1 / C,) * C, _listed(row))
        variance = Sum("variance", (1 / C,) * C, _listed((row - mean.total) ** 2))
        x, gain = float(row[c]), self._one(self._parameters[0], (c,))
        numbers = {"x": x, "mean": mean.total, "variance": variance.total, "epsilon": module.eps}
        numbers |= {"normalised": (x - mean.total) / math.sqrt(variance.total + module.eps), "gain": gain}
        if len(self._parameters) > 1:
            numbers["bias"] = self._one(self._parameters[1], (c,))
        sources = (self._region(name, (batch, t, _ALL)), *(self._region(each, (c,)) for each in self._parameters))
        total = numbers["normalised"] * gain + numbers.get("bias", 0.0)
        return _Found("LayerNorm", total, sources, (mean, variance), numbers)

    def linear(self) -> _Found:
        batch, t, c = self._index
        cells: list[tuple[str, At]] = [(self._places[0], (batch, t, _ALL)), (self._parameters[0], (c, _ALL))]
        bias = None
        if len(self._parameters) > 1:
            cells.append((self._parameters[1], (c,)))
            bias = self._one(self._parameters[1], (c,))
        return self._dot("linear", cells, bias)

    def product(self) -> _Found:
        batch, query, key = self._index
        q, k = self._places
        return self._dot("product", [(q, (batch, query, _ALL)), (k, (batch, key, _ALL))])

    def weighted(self) -> _Found:
        batch, t, d = self._index
        A, v = self._places
        return self._dot("weighted sum", [(A, (batch, t, _ALL)), (v, (batch, _ALL, d))])

    def scaling(self) -> _Found:
        (name,), D = self._places, self._config.head_width
        product = self._one(name, self._index)
        sources = (self._region(name, self._index),)
        if self._config.scale == "divide":
            return _Found("scaling", product / D**0.5, sources, numbers={"product": product, "divisor": D**0.5})
        return _Found("scaling", product * D**-0.5, sources, numbers={"product": product, "factor": D**-0.5})

    def mask(self) -> _Found:
        (name,), (_, query, key) = self._places, self._index
        score, hidden = self._one(name, self._index), key > query
        sources = (self._region(name, self._index),)
        numbers = {"score": score, "hidden": float(hidden)}
        return _Found("mask", -math.inf if hidden else score, sources, numbers=numbers)

    def softmax(self) -> _Found:
        (name,), (batch, query, key) = self._places, self._index
        row = self._row(name, (batch, query, _ALL))
        largest = float(row.max())  # NaN where there is one
        exponentials = np.exp(row - largest)
        whole = Sum("exponentials", (1.0,) * len(row), _listed(exponentials))
        numbers = {"masked": float(row[key]), "largest": largest, "exponential": float(exponentials[key])}
        sources = (self._region(name, (batch, query, _ALL)),)
        return _Found("softmax", numbers["exponential"] / whole.total, sources, (whole,), numbers)

    def copy(self) -> _Found:
        batch, t, c = self._index
        head, column = divmod(c, self._config.head_width)
        cell = (batch, t, column)
        sources = (self._region(self._places[head], cell),)
        return _Found("copy", self._one(self._places[head], cell), sources, numbers={"head": head, "column": column})

    def gelu(self) -> _Found:
        (name,) = self._places
        x = self._one(name, self._index)
        if self._config.gelu == "exact":
            phi = math.erfc(-x / math.sqrt(2)) / 2
        else:
            phi = (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
        return _Found("GELU", x * phi, (self._region(name, self._index),), numbers={"x": x, "phi": phi})

    def loss(self) -> _Found:
        logits, ids = self._places
        targets = self._row(ids, (0, slice(1, None))).astype(np.int64)
        n = len(targets)
        log_sums, chosen = np.empty(n), np.empty(n)
        at_once = max(1, _AT_ONCE // self._config.vocabulary)
        for start in range(0, n, at_once):
            part = slice(start, min(start + at_once, n))
            rows = self._row(logits, (0, part, _ALL))
            largest = rows.max(-1, keepdims=True)
            log_sums[part] = np.log(np.exp(rows - largest).sum(-1)) + largest[:, 0]
            chosen[part] = rows[np.arange(len(rows)), targets[part]]
        share = (1 / n,) * n
        named = {"log-sum": log_sums, "logit": chosen, "surprise": log_sums - chosen}
        sums = tuple(Sum(name, share, _listed(numbers)) for name, numbers in named.items())
        sources = (self._region(logits, (0, slice(None, -1), _ALL)), self._region(ids, (0, slice(1, None))))
        return _Found("loss", sums[-1].total, sources, sums, {"tokens": n})

    def _dot(self, kind: str, cells: list[tuple[str, At]], bias: float | None = None) -> _Found:
        """The first two rows of cells multiplied and added up."""
        left, right = (_listed(self._row(name, at)) for name, at in cells[:2])
        whole = Sum("sum", left, right, bias)
        return _Found(kind, whole.total, tuple(self._region(name, at) for name, at in cells), (whole,))

    def _tensor(self, name: str) -> Tensor:
        return self._model.get_parameter(name) if name in self._parameters else self._kept[name]

    def _row(self, name: str, at: At) -> Numbers:
        return snapshot(self._tensor(name)[at]).astype(np.float64)

    def _one(self, name: str, at: At) -> float:
        return float(self._row(name, at))

    def _region(self, name: str, at: At) -> Region:
        shape = self._tensor(name).shape
        return Region(name, tuple(_span(each, size) for each, size in zip(at, shape, strict=True)))


def _span(at: int | slice, size: int) -> tuple[int, int]:
    if isinstance(at, int):
        return at, at + 1
    start, stop, _ = at.indices(size)
    return start, stop


def _listed(numbers: Numbers) -> tuple[float, ...]:
    return tuple(numbers.tolist())


# How a place of each last name is computed; the end of a head is not that of a block.
_HOW: dict[str, Callable[[_Cell], _Found]] = {
    "ids": _Cell.character,
    "token_embedding": _Cell.token,
    "position_embedding": _Cell.position,
    "embedded": _Cell.both,
    "products": _Cell.product,
    "scores": _Cell.scaling,
    "masked": _Cell.mask,
    "A": _Cell.softmax,
    "A·v": _Cell.weighted,
    "concat": _Cell.copy,
    "gelu": _Cell.gelu,
    "mid": _Cell.both,
    "out": _Cell.both,
    "loss": _Cell.loss,
    **dict.fromkeys(("ln1", "ln2", "ln_f"), _Cell.norm),
    **dict.fromkeys(("q", "k", "v", "proj", "expand", "contract", "logits"), _Cell.linear),
}
