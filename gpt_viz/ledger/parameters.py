"""Every parameter tensor of a model in the order its module registers them, by arithmetic. Knows no torch."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.letters import Lazy, evaluate

SHARED = "token_embedding.weight"  # what a tied head's weight is

_EMBEDDINGS = ("token_embedding", "position_embedding")
_MATRICES = ("key", "query", "value")


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One parameter tensor: its name, its shape in numbers and in letters, and how many numbers it adds.

    A tied head's weight adds 0 and names in `shared_with` the tensor that it is.
    """

    name: str
    shape: tuple[int, ...]
    symbols: tuple[str, ...]
    place: str
    kind: str
    count: int
    shared_with: str = ""


@dataclass(frozen=True, slots=True)
class _Module:
    """A module that holds a weight and perhaps a bias, shapes in letters as torch stores them: (out, in)."""

    kind: str
    weight: tuple[str, ...]
    bias: tuple[str, ...] = ()


_MODULES: dict[str, _Module] = {
    "token_embedding": _Module("token embedding", ("V", "C")),
    "position_embedding": _Module("position embedding", ("N", "C")),
    "ln1": _Module("LayerNorm", ("C",), ("C",)),
    "key": _Module("attention", ("D", "C"), ("D",)),
    "query": _Module("attention", ("D", "C"), ("D",)),
    "value": _Module("attention", ("D", "C"), ("D",)),
    "attn.proj": _Module("attention", ("C", "C"), ("C",)),
    "ln2": _Module("LayerNorm", ("C",), ("C",)),
    "mlp.fc": _Module("feed-forward", ("4C", "C"), ("4C",)),
    "mlp.proj": _Module("feed-forward", ("C", "4C"), ("C",)),
    "ln_f": _Module("LayerNorm", ("C",), ("C",)),
    "head": _Module("output head", ("V", "C"), ("V",)),
}


class Tensors(Lazy[TensorSpec]):
    """Every parameter tensor in the order in which the module registers them, the tied head's included."""

    def __init__(self, config: GPTConfig) -> None:
        self._config = config
        self._pair = 2 if config.bias else 1  # weight and bias, or weight alone
        self._matrix = 2 if config.qkv_bias else 1
        # What one block registers, in order, and how many tensors that is.
        self._parts = (
            ("ln1", self._pair),
            ("attn.heads", 3 * self._matrix * config.heads),
            ("attn.proj", self._pair),
            ("ln2", self._pair),
            ("mlp.fc", self._pair),
            ("mlp.proj", self._pair),
        )
        self._block = sum(size for _, size in self._parts)
        self._end = len(_EMBEDDINGS) + self._block * config.layers  # where the final norm begins
        super().__init__(self._end + self._pair + (2 if config.head_bias else 1))

    def _at(self, index: int) -> TensorSpec:
        if index < len(_EMBEDDINGS):
            return self._spec("", _EMBEDDINGS[index], False, "embeddings")
        if index >= self._end + self._pair:
            return self._spec("", "head", index > self._end + self._pair, "output head")
        if index >= self._end:
            return self._spec("", "ln_f", index > self._end, "final norm")
        layer, offset = divmod(index - len(_EMBEDDINGS), self._block)
        prefix = f"blocks.{layer}."
        part = ""
        for part, size in self._parts:  # noqa: B007  the part that the offset falls into
            if offset < size:
                break
            offset -= size
        if part == "attn.heads":
            head, offset = divmod(offset, 3 * self._matrix)
            matrix, offset = divmod(offset, self._matrix)
            prefix, part = f"{prefix}attn.heads.{head}.", _MATRICES[matrix]
        return self._spec(prefix, part, offset > 0, "blocks")

    def _spec(self, prefix: str, part: str, bias: bool, place: str) -> TensorSpec:
        module = _MODULES[part]
        symbols = module.bias if bias else module.weight
        shape = evaluate(symbols, self._config, self._config.block_size)
        shared = part == "head" and not bias and self._config.tied_head
        return TensorSpec(
            name=f"{prefix}{part}.{'bias' if bias else 'weight'}",
            shape=shape,
            symbols=symbols,
            place=place,
            kind=module.kind,
            count=0 if shared else math.prod(shape),
            shared_with=SHARED if shared else "",
        )

    def index_of(self, name: str) -> int:
        """The place of the tensor of that name. Raises ValueError where the model has none."""
        path, _, what = name.rpartition(".")
        index = self._module_index(path)
        if what == "bias" and index is not None:
            index += 1
        if index is None or index >= len(self) or self[index].name != name:
            raise ValueError(f"there is no parameter tensor {name!r} in this model")
        return index

    def _module_index(self, path: str) -> int | None:
        """Where the module's weight would stand; the caller checks it."""
        outside = dict(zip(_EMBEDDINGS, (0, 1), strict=True)) | {"ln_f": self._end, "head": self._end + self._pair}
        if path in outside:
            return outside[path]
        block = re.fullmatch(r"blocks\.(\d+)\.(?:attn\.heads\.(\d+)\.(key|query|value)|(.+))", path)
        if block is None:
            return None
        index = len(_EMBEDDINGS) + int(block[1]) * self._block
        for part, size in self._parts:
            if part == block[4]:
                return index
            if part == "attn.heads" and block[2] is not None:
                return index + (3 * int(block[2]) + _MATRICES.index(block[3])) * self._matrix
            index += size
        return None

    def members(self, row: str) -> Sequence[TensorSpec]:
        """The tensors that the row of that name (see `rows`) sums, in order; as lazy as the whole list."""
        outside, inside = _ROW_MODULES[row]
        starts, offset = {}, 0
        for part, size in self._parts:
            starts[part] = range(offset, offset + size)
            offset += size
        offsets = [range_ for part, range_ in starts.items() if part in inside]
        ends = {
            "token_embedding": range(0, 1), "position_embedding": range(1, 2),
            "ln_f": range(self._end, self._end + self._pair), "head": range(self._end + self._pair, len(self)),
        }  # fmt: skip
        return _Members(self, self._config.layers, len(_EMBEDDINGS), self._block, offsets, [ends[m] for m in outside])


class _Members(Lazy[TensorSpec]):
    """Some of the tensors of every block, and then some that belong to no block."""

    def __init__(
        self, tensors: Tensors, layers: int, first: int, block: int, inside: list[range], outside: list[range]
    ) -> None:
        self._tensors, self._first, self._block = tensors, first, block
        self._inside, self._outside = inside, outside
        self._each = sum(map(len, inside))
        self._within = self._each * layers
        super().__init__(self._within + sum(map(len, outside)))

    def _at(self, index: int) -> TensorSpec:
        if index < self._within:
            layer, index = divmod(index, self._each)
            start, ranges = self._first + layer * self._block, self._inside
        else:
            index, start, ranges = index - self._within, 0, self._outside
        for range_ in ranges:
            if index < len(range_):
                break
            index -= len(range_)
        return self._tensors[start + range_[index]]


# Which modules a row sums: those outside the blocks, those inside.
_ROW_MODULES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "token embedding": (("token_embedding",), ()),
    "position embedding": (("position_embedding",), ()),
    "query, key, value": ((), ("attn.heads",)),
    "attention projection": ((), ("attn.proj",)),
    "feed-forward": ((), ("mlp.fc", "mlp.proj")),
    "LayerNorm": (("ln_f",), ("ln1", "ln2")),
    "output head": (("head",), ()),
}


def tensors(config: GPTConfig) -> Tensors:
    """Every parameter tensor of this model, as its module registers them."""
    return Tensors(config)
