"""What the tour says of the model at hand: numbers for its texts, and what each line computes. Knows no view."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from gpt_viz import ledger, lesson, tour
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import Traced
from gpt_viz.tour import Chapter
from gpt_viz.ui.selection import Selection

# Where a class stands in the model, by the paths of its parts.
_PATHS = {
    "Head": "blocks.0.attn.heads.0.",
    "MultiHeadAttention": "blocks.0.attn.",
    "FeedForward": "blocks.0.mlp.",
    "Block": "blocks.0.",
    "GPT": "",
}
_MAKES = re.compile(r"self\.(\w+) = nn\.(?:Linear|Embedding|LayerNorm)\(")
_ONE = GPTConfig(layers=1, heads=1)
_HEAD = "blocks.0.attn.heads.0"
# Which modules a count is of, in the first block.
_MODULES = {
    "token_embedding": ("token_embedding",),
    "position_embedding": ("position_embedding",),
    "query": (f"{_HEAD}.query",),
    "head": (f"{_HEAD}.query", f"{_HEAD}.key", f"{_HEAD}.value"),
    "attn_proj": ("blocks.0.attn.proj",),
    "fc": ("blocks.0.mlp.fc",),
    "contract": ("blocks.0.mlp.proj",),
    "norm": ("ln_f",),
    "output_head": ("head",),
}


@dataclass(frozen=True, slots=True)
class Link:
    """What a line of the source is for: a step that it computes, or the weights that it makes (`weights`).

    `name` is that of the first head of the first block; `at` gives the one of another.
    """

    name: str
    kind: str
    symbols: tuple[str, ...]
    weights: bool

    def at(self, selection: Selection) -> str:
        """The name at the selection's layer and head."""
        found = re.sub(r"^blocks\.0", f"blocks.{selection.layer}", self.name)
        return found.replace(".heads.0.", f".heads.{selection.head}.")


@cache
def links(chapter: Chapter) -> dict[int, Link]:
    """What the lines of a chapter are for, by their numbers in it; most are for neither."""
    found: dict[int, Link] = {}
    stop = chapter.stop
    if stop.file != tour.MODEL or stop.part not in _PATHS:
        return found
    tensors = ledger.tensors(_ONE)
    for number, line in enumerate(chapter.lines):
        made = _MAKES.match(line.code)
        if made:
            name = f"{_PATHS[stop.part]}{made[1]}"
            spec = tensors[tensors.index_of(f"{name}.weight")]
            found[number] = Link(name, spec.kind, spec.symbols, weights=True)
    for step in ledger.steps(_ONE):
        source = lesson.line_of(step.name)
        at = chapter.line_at(source.number) if source.class_name == stop.part else None
        if at is not None:
            found[at] = Link(step.name, step.kind, step.symbols, weights=False)
    return found


@lru_cache(maxsize=1024)
def line_of(step: str) -> tuple[int, int] | None:
    """Where the tour shows the line that computes a step: stop and line, by number; None for no step of any model."""
    try:
        source = lesson.line_of(step)
        for number, stop in enumerate(tour.STOPS):
            if (stop.file, stop.part) == (source.file, source.class_name):
                line = tour.chapter(stop).line_at(source.number)
                return None if line is None else (number, line)
    except LookupError:
        pass
    return None


def filled(text: str, numbers: dict[str, str]) -> str:
    """The text with the numbers in place of the names in braces. Raises KeyError for a name that is not known."""
    return re.sub(r"\{([^{}]+)\}", lambda found: numbers[found[1]], text)


def numbers(config: GPTConfig, traced: Traced | None) -> dict[str, str]:
    """All numbers that the texts may name, of a model and of the last pass through it.

    Without a pass T is a full window. Counts are of one block, one head or one norm; `heads` and `blocks` of all.
    """
    tokens = len(traced.tokens.ids) if traced else config.block_size
    letters = dict(zip("BTCDHLNV", ledger.evaluate(tuple("BTCDHLNV"), config, tokens), strict=True))
    C, D, L, V = letters["C"], letters["D"], letters["L"], letters["V"]
    worked_out = {
        "4C": 4 * C, "VC": V * C, "2L": 2 * L, "T-1": tokens - 1, "pairs": tokens * tokens,
        "patterns": L * config.heads,
    }  # fmt: skip
    found = {name: f"{value:,}" for name, value in (letters | worked_out).items()}
    found |= {f"parameters.{name}": f"{value:,}" for name, value in _counts(config).items()}
    found |= {name: "on" if getattr(config, name) else "off" for name in ("qkv_bias", "bias", "head_bias", "tied_head")}
    found |= {name: str(getattr(config, name)) for name in ("dropout", "gelu", "initialisation", "scale")}
    found |= {"sqrtD": f"{math.sqrt(D):.4g}", "lnV": f"{math.log(V):.2f}", "loss": _loss(traced)}
    kinds = {each.name: each.percent for each in ledger.groups(config, "kind")}
    places = {each.name: each.percent for each in ledger.groups(config, "place")}
    found["percent.feed_forward"] = f"{kinds['feed-forward']:.1f} %"
    found["percent.blocks"] = f"{places['blocks']:.1f} %"
    return found


def _counts(config: GPTConfig) -> dict[str, int]:
    one = replace(config, layers=1)  # a model without blocks still has a form for them
    tensors = ledger.tensors(one)

    def held(module: str) -> int:
        count = 0
        for part in ("weight", "bias"):
            try:
                count += tensors[tensors.index_of(f"{module}.{part}")].count
            except ValueError:  # this model has no such bias
                continue
        return count

    counts = {name: sum(map(held, modules)) for name, modules in _MODULES.items()}
    counts["heads"] = config.heads * counts["head"]
    counts["attention"] = counts["heads"] + counts["attn_proj"]
    counts["feed_forward"] = counts["fc"] + counts["contract"]
    counts["block"] = counts["attention"] + counts["feed_forward"] + 2 * counts["norm"]
    counts["blocks"] = config.layers * counts["block"]
    return counts | {"total": ledger.total(config)}


def _loss(traced: Traced | None) -> str:
    if traced is None:
        return "not measured yet"
    return "none, since nothing follows a single token" if traced.loss is None else f"{traced.loss:.2f} nats per token"
