"""The parameters summed by closed formulas: the rows of the table and the slices of the pie. Knows no torch."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.letters import evaluate
from gpt_viz.ledger.parameters import SHARED

GROUPINGS: dict[str, str] = {
    "kind": "by kind",
    "place": "by place",
    "step5": "as in Step 5",
    "build-gpt": "as in Build the GPT",
}


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
