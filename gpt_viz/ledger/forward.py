"""One forward pass as ordered steps: name, shape in letters, formula, module. Runs nothing, knows no torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.letters import Lazy, evaluate


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
# Symbols, formula, the module inside the block or the head, kind.
_Entry: TypeAlias = tuple[tuple[str, ...], str, str, str]
_STEP = re.compile(r"blocks\.(\d+)\.(?:attn\.heads\.(\d+)\.(\w+)|(.+))")


class Steps(Lazy[StepSpec]):
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
        self._outside: dict[str, _Entry] = {
            "ids": (("B", "T"), "text → ids", "", "residual"),
            "token_embedding": (_BTC, "E[ids]", "token_embedding", "token embedding"),
            "position_embedding": (("T", "C"), "P[0 … T−1]", "position_embedding", "position embedding"),
            "embedded": (_BTC, "E[ids] + P[0 … T−1]", "", "residual"),
            "ln_f": (_BTC, norm, "ln_f", "LayerNorm"),
            "logits": (
                ("B", "T", "V"),
                linear("x", "Eᵀ" if config.tied_head else "Wu", "u", config.head_bias),
                "head",
                "output head",
            ),
            "loss": ((), "mean of −log p(next)", "", "output head"),
        }
        self._inside: dict[str, _Entry] = {
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
        self._in_head: dict[str, _Entry] = {
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
        table: dict[str, _Entry],
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
