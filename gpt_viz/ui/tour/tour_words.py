"""The numbers of the model at hand, for the texts of the tour. Knows no view."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import Traced
from gpt_viz.tour import Chapter

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


def table(chapters: Sequence[Chapter], numbers: dict[str, str]) -> list[list[str]]:
    """Every line of the chapters with its explanation, the first row headings."""
    made = [["class", "line", "code", "explanation"]]
    for chapter in chapters:
        name = chapter.stop.name
        made.append([name, "", "", filled(chapter.introduction, numbers).replace("\n\n", " ")])
        for line in chapter.lines:
            number = str(chapter.rows[line.rows[0]].number)
            made.append([name, number, line.code, filled(line.text, numbers).replace("\n\n", " ")])
    return made


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
