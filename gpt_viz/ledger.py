"""What any GPT holds and costs, by formula from its config alone. Knows no torch, no Qt and no model.

Every answer takes well under a millisecond, for 175 billion parameters too: sums are closed formulas, and the long
lists (tensors, steps) work out an entry when it is asked for. `engine.census` holds them against the real module.

Letters: V vocabulary, N block size, C width, H heads, D = C / H, L layers, B batch, T tokens in this pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

from gpt_viz.config import GPTConfig

BYTES_PER_NUMBER = 4  # float32
SHARED = "token_embedding.weight"

GROUPINGS: dict[str, str] = {
    "kind": "by kind",
    "place": "by place",
    "step5": "as in Step 5",
    "build-gpt": "as in Build the GPT",
}

_EMBEDDINGS = ("token_embedding", "position_embedding")
_MATRICES = ("key", "query", "value")


def evaluate(symbols: tuple[str, ...], config: GPTConfig, tokens: int, batch: int = 1) -> tuple[int, ...]:
    """A shape in letters, such as `("B", "T", "4C")`, as the numbers it stands for. Raises KeyError for another letter.

    >>> evaluate(("B", "T", "4C"), GPTConfig(width=128), tokens=5)
    (1, 5, 512)
    """
    letters = {
        "B": batch, "T": tokens, "V": config.vocabulary, "N": config.block_size, "C": config.width,
        "H": config.heads, "D": config.head_width, "L": config.layers,
    }  # fmt: skip
    return tuple(int(symbol[:-1] or 1) * letters[symbol[-1]] for symbol in symbols)


# --- parameters ----------------------------------------------------------------------------------------------------


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

Item = TypeVar("Item")


class _Lazy(Sequence[Item]):
    """A long sequence whose entries are worked out one by one; a slice is a tuple of entries."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple(self._at(i) for i in range(self._size)[index])
        return self._at(range(self._size)[index])  # the range knows negative indices and raises IndexError

    def _at(self, index: int) -> Item:
        raise NotImplementedError


class Tensors(_Lazy[TensorSpec]):
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


class _Members(_Lazy[TensorSpec]):
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


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the parameter table: a sum of tensors of one kind, as a formula in letters and in numbers.

    Both formulas are worth `count`; only a tied head's, which counts 0, says what it would be. `members` is a glob
    over tensor names, `percent` goes from 0 to 100.
    """

    name: str
    kind: str
    shape: str
    formula: str
    numbers: str
    count: int
    percent: float
    members: str
    shared_with: str = ""


def rows(config: GPTConfig) -> tuple[Row, ...]:
    """The parameter table, by kind. Counts add up to `total`, percentages to 100.

    The number of heads is in none of the counts: H matrices of C × D are as many numbers as one of C × C.
    """
    c, whole = config, total(config)
    counts = _counts(config)
    with_bias = ", (C)" if c.bias else ""
    lines = (
        # name, kind, shape, formula, members
        ("token embedding", "token embedding", "(V, C)", "V·C", "token_embedding.weight"),
        ("position embedding", "position embedding", "(N, C)", "N·C", "position_embedding.weight"),
        (
            "query, key, value", "attention", f"L·H·3 × (D, C){', (D)' if c.qkv_bias else ''}",
            "L·(3·C²+3·C)" if c.qkv_bias else "L·3·C²", "blocks.*.attn.heads.*",
        ),
        (
            "attention projection", "attention", f"L × (C, C){with_bias}",
            "L·(C²+C)" if c.bias else "L·C²", "blocks.*.attn.proj.*",
        ),
        (
            "feed-forward", "feed-forward", "L × (4C, C), (4C), (C, 4C), (C)" if c.bias else "L × (4C, C), (C, 4C)",
            "L·(8·C²+5·C)" if c.bias else "L·8·C²", "blocks.*.mlp.*",
        ),
        (
            "LayerNorm", "LayerNorm", f"(2·L+1) × (C){with_bias}",
            "(2·L+1)·2·C" if c.bias else "(2·L+1)·C", "*ln[12_]*",
        ),
        (
            "output head", "output head", "(V, C), (V)" if c.head_bias else "(V, C)", _head_formula(config), "head.*",
        ),
    )  # fmt: skip
    return tuple(
        Row(
            name=name,
            kind=kind,
            shape=shape,
            formula=formula,
            numbers=_with_numbers(formula, config),
            count=counts[name],
            percent=100 * counts[name] / whole,
            members=members,
            shared_with=SHARED if name == "output head" and c.tied_head else "",
        )
        for name, kind, shape, formula, members in lines
    )


def _head_formula(config: GPTConfig) -> str:
    if config.head_bias:
        return "V" if config.tied_head else "V·C+V"  # tied, it adds its bias alone
    return "V·C"


def _with_numbers(formula: str, config: GPTConfig) -> str:
    """The formula with this model's numbers in place of the letters."""
    return re.sub("[VNCHDL]", lambda letter: str(evaluate((letter[0],), config, 0)[0]), formula)


def _counts(config: GPTConfig) -> dict[str, int]:
    """How many numbers each row of the table holds."""
    V, N, C, L = config.vocabulary, config.block_size, config.width, config.layers
    bias = int(config.bias)
    return {
        "token embedding": V * C,
        "position embedding": N * C,
        "query, key, value": L * 3 * C * (C + int(config.qkv_bias)),
        "attention projection": L * C * (C + bias),
        "feed-forward": L * (8 * C * C + 5 * C * bias),
        "LayerNorm": (2 * L + 1) * C * (1 + bias),
        "output head": (0 if config.tied_head else V * C) + (V if config.head_bias else 0),
    }


def total(config: GPTConfig) -> int:
    """How many numbers the model learns; what is shared counts once, the causal mask not at all."""
    return sum(_counts(config).values())


@dataclass(frozen=True, slots=True)
class Slice:
    """One piece of the pie; `kind` gives its colour, `percent` goes from 0 to 100."""

    name: str
    kind: str
    count: int
    percent: float


def groups(config: GPTConfig, by: str) -> tuple[Slice, ...]:
    """All parameters in the few groups of one of GROUPINGS. Raises ValueError for another."""
    count = _counts(config)
    token, position, head = count["token embedding"], count["position embedding"], count["output head"]
    attention = count["query, key, value"] + count["attention projection"]
    feed_forward = count["feed-forward"]
    final = config.width * (2 if config.bias else 1)
    norms = count["LayerNorm"] - final
    blocks = attention + feed_forward + norms
    match by:
        case "kind":
            parts = [
                ("token embedding", "token embedding", token),
                ("position embedding", "position embedding", position),
                ("attention", "attention", attention),
                ("feed-forward", "feed-forward", feed_forward),
                ("LayerNorm", "LayerNorm", norms + final),
                ("output head", "output head", head),
            ]
        case "place":
            parts = [
                ("embeddings", "token embedding", token + position),
                ("blocks", "residual", blocks),
                ("final norm", "LayerNorm", final),
                ("output head", "output head", head),
            ]
        case "step5":
            parts = [
                ("embeddings", "token embedding", token + position),
                ("attention", "attention", attention),
                ("MLPs", "feed-forward", feed_forward),
                ("block LayerNorms", "LayerNorm", norms),
                ("final norm + head", "output head", final + head),
            ]
        case "build-gpt":
            plural = "" if config.layers == 1 else "s"
            parts = [
                ("token embedding", "token embedding", token),
                ("position embedding", "position embedding", position),
                (f"{config.layers} transformer block{plural}", "residual", blocks),
                ("final LayerNorm", "LayerNorm", final),
                ("output head", "output head", head),
            ]
        case _:
            raise ValueError(f"there is no grouping {by!r}; choose {', '.join(GROUPINGS)}")
    whole = total(config)
    return tuple(Slice(name, kind, number, 100 * number / whole) for name, kind, number in parts)


# --- costs ---------------------------------------------------------------------------------------------------------


def weight_bytes(config: GPTConfig, bytes_per_number: int = BYTES_PER_NUMBER) -> int:
    """What the weights take, in bytes."""
    return total(config) * bytes_per_number


def needed_bytes(config: GPTConfig) -> int:
    """An estimate of the bytes it takes to build the model and to run one pass over N tokens, all in float32.

    The weights count twice: the module's own and the packed copy that fast sampling makes. Of the pass it counts what
    is alive at once: every head's stashed attention (L·H·N²), the mask (N² bytes), the residual stream with what is
    added to it (4·N·C), and the largest of three moments: one head at work (products, scores, masked: 3·N²), a
    feed-forward layer (expand and GELU: 8·N·C), the logits with their log-softmax for the loss (2·N·V). Torch's own
    few hundred MB are not in it.
    """
    V, N, C, H, L = config.vocabulary, config.block_size, config.width, config.heads, config.layers
    moments = [2 * N * V] + ([3 * N * N, 8 * N * C] if L else [])
    numbers = L * H * N * N + 4 * N * C + max(moments)
    return 2 * weight_bytes(config) + numbers * BYTES_PER_NUMBER + N * N


def multiply_adds(config: GPTConfig, tokens: int | None = None) -> int:
    """Multiply-adds of the matrix products of one pass over `tokens` (N if not given), attention counted full.

    Per layer 12·T·C² for the matrices and 2·T²·C for q·kᵀ and A·v, then T·C·V for the head.
    """
    T = config.block_size if tokens is None else tokens
    V, C, L = config.vocabulary, config.width, config.layers
    return L * (12 * T * C * C + 2 * T * T * C) + T * C * V


def multiply_adds_per_token(config: GPTConfig) -> float:
    """Multiply-adds of one pass over N tokens, divided by N."""
    return multiply_adds(config) / config.block_size


# --- one forward pass ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepSpec:
    """One place in the forward pass: its name, its shape in letters, how it is computed and by which module.

    `module` is the path of the module whose forward computes it, empty for the whole GPT; `symbols` is () for the loss.
    """

    name: str
    symbols: tuple[str, ...]
    formula: str
    module: str
    kind: str
    layer: int | None = None
    head: int | None = None

    def shape(self, config: GPTConfig, tokens: int, batch: int = 1) -> tuple[int, ...]:
        """The real sizes, for a pass over `tokens` tokens."""
        return evaluate(self.symbols, config, tokens, batch)


_BTC, _BTD, _BTT = ("B", "T", "C"), ("B", "T", "D"), ("B", "T", "T")
_BEGINNING = ("ids", "token_embedding", "position_embedding", "embedded")
_HEAD = ("q", "k", "v", "products", "scores", "masked", "A", "out")
_AFTER_HEADS = ("attn.concat", "attn.proj", "mid", "ln2", "mlp.expand", "mlp.gelu", "mlp.contract", "out")
_ENDING = ("ln_f", "logits", "loss")
_STEP = re.compile(r"blocks\.(\d+)\.(?:attn\.heads\.(\d+)\.(\w+)|(.+))")


class Steps(_Lazy[StepSpec]):
    """One forward pass in order of execution: every head's steps, head after head, in every block."""

    def __init__(self, config: GPTConfig, *, loss: bool = True) -> None:
        self._config = config
        self._heads = len(_HEAD) * config.heads
        self._block = 1 + self._heads + len(_AFTER_HEADS)
        self._end = len(_BEGINNING) + self._block * config.layers
        super().__init__(self._end + len(_ENDING) - (not loss))
        norm = "(x − μ) / √(σ² + ε) · γ" + (" + β" if config.bias else "")

        def linear(x: str, weight: str, name: str, bias: bool) -> str:
            return f"{x}·{weight}" + (f" + b{name}" if bias else "")

        last = config.heads - 1
        # name: (symbols, formula, module inside the block or the head, kind)
        self._outside: dict[str, tuple[tuple[str, ...], str, str, str]] = {
            "ids": (("B", "T"), "text → ids", "", "residual"),
            "token_embedding": (_BTC, "E[ids]", "token_embedding", "token embedding"),
            "position_embedding": (("T", "C"), "P[0 … T−1]", "position_embedding", "position embedding"),
            "embedded": (_BTC, "E[ids] + P[0 … T−1]", "", "residual"),
            "ln_f": (_BTC, norm, "ln_f", "LayerNorm"),
            "logits": (
                ("B", "T", "V"),
                linear("x", "Eᵀ" if config.tied_head else "Wv", "v", config.head_bias),
                "head",
                "output head",
            ),
            "loss": ((), "mean of −log p(next)", "", "output head"),
        }
        self._inside: dict[str, tuple[tuple[str, ...], str, str, str]] = {
            "ln1": (_BTC, norm, "ln1", "LayerNorm"),
            "attn.concat": (_BTC, "[out 0]" if last == 0 else f"[out 0 … out {last}]", "attn", "attention"),
            "attn.proj": (_BTC, linear("concat", "Wo", "o", config.bias), "attn.proj", "attention"),
            "mid": (_BTC, "x + proj", "", "residual"),
            "ln2": (_BTC, norm, "ln2", "LayerNorm"),
            "mlp.expand": (("B", "T", "4C"), linear("x", "W1", "1", config.bias), "mlp.fc", "feed-forward"),
            "mlp.gelu": (
                ("B", "T", "4C"),
                "x·Φ(x)" if config.gelu == "exact" else "x·Φ(x), by tanh",
                "mlp",
                "feed-forward",
            ),
            "mlp.contract": (_BTC, linear("gelu", "W2", "2", config.bias), "mlp.proj", "feed-forward"),
            "out": (_BTC, "mid + contract", "", "residual"),
        }
        self._in_head: dict[str, tuple[tuple[str, ...], str, str, str]] = {
            "q": (_BTD, linear("x", "Wq", "q", config.qkv_bias), "query", "attention"),
            "k": (_BTD, linear("x", "Wk", "k", config.qkv_bias), "key", "attention"),
            "v": (_BTD, linear("x", "Wv", "v", config.qkv_bias), "value", "attention"),
            "products": (_BTT, "q·kᵀ", "", "attention"),
            "scores": (_BTT, "q·kᵀ / √D" if config.scale == "divide" else "q·kᵀ · D^−½", "", "attention"),
            "masked": (_BTT, "−∞ where key > query", "", "attention"),
            "A": (_BTT, "softmax of each row", "", "attention"),
            "out": (_BTD, "A·v", "", "attention"),
        }

    def _at(self, index: int) -> StepSpec:
        if index < len(_BEGINNING):
            return self._spec("", _BEGINNING[index], self._outside)
        if index >= self._end:
            return self._spec("", _ENDING[index - self._end], self._outside)
        layer, offset = divmod(index - len(_BEGINNING), self._block)
        block = f"blocks.{layer}"
        if offset == 0:
            return self._spec(block, "ln1", self._inside, layer)
        if offset <= self._heads:
            head, offset = divmod(offset - 1, len(_HEAD))
            return self._spec(f"{block}.attn.heads.{head}", _HEAD[offset], self._in_head, layer, head)
        return self._spec(block, _AFTER_HEADS[offset - 1 - self._heads], self._inside, layer)

    @staticmethod
    def _spec(
        owner: str,
        name: str,
        table: dict[str, tuple[tuple[str, ...], str, str, str]],
        layer: int | None = None,
        head: int | None = None,
    ) -> StepSpec:
        symbols, formula, module, kind = table[name]
        path = ".".join(part for part in (owner, module) if part)
        return StepSpec(f"{owner}.{name}" if owner else name, symbols, formula, path, kind, layer, head)

    def index_of(self, name: str) -> int:
        """The place of the step of that name. Raises ValueError where the pass has none."""
        index = self._guess(name)
        if index is None or index >= len(self) or self[index].name != name:
            raise ValueError(f"there is no step {name!r} in this model's pass")
        return index

    def _guess(self, name: str) -> int | None:
        if name in _BEGINNING:
            return _BEGINNING.index(name)
        if name in _ENDING:
            return self._end + _ENDING.index(name)
        found = _STEP.fullmatch(name)
        if found is None:
            return None
        start = len(_BEGINNING) + int(found[1]) * self._block
        if found[4] == "ln1":
            return start
        if found[4] in _AFTER_HEADS:
            return start + 1 + self._heads + _AFTER_HEADS.index(found[4])
        if found[3] in _HEAD:
            return start + 1 + int(found[2]) * len(_HEAD) + _HEAD.index(found[3])
        return None


def steps(config: GPTConfig, *, loss: bool = True) -> Steps:
    """One forward pass of this model, step by step, without running it."""
    return Steps(config, loss=loss)
