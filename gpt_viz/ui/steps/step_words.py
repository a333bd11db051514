"""What a step does, which tokens a pass read and what its loss is, in one line each. Knows no view."""

from __future__ import annotations

import math
from functools import cache

from gpt_viz import ledger, resources
from gpt_viz.config import GPTConfig
from gpt_viz.ledger import StepSpec
from gpt_viz.protocol import ModelInfo, Tokens, Traced
from gpt_viz.ui.widgets.glyphs import visible

_LABELS = {
    "ids": "the text as numbers, one for each token",
    "token_embedding": "what each token is: its row of E",
    "position_embedding": "where each token stands: one row of P for each position",
    "embedded": "what and where, added; here the residual stream begins",
    "ln1": "every position centred and scaled, before attention",
    "q": "what each position asks for",
    "k": "what each position can be found by",
    "v": "what each position hands over when it is found",
    "products": "how well each question fits each key",
    "scores": "the products, scaled by the head's width so that softmax stays soft",
    "masked": "what comes later is hidden: it counts −∞",
    "A": "how much each position takes from each earlier one",
    "concat": "all heads' results side by side",
    "proj": "the heads' results mixed into one vector for each position",
    "mid": "what attention found, added to the stream",
    "ln2": "every position centred and scaled, before the feed-forward part",
    "expand": "each position by itself, four times as wide",
    "gelu": "bent: large values pass, negative ones fade",
    "contract": "back to the width of the stream",
    "ln_f": "every position centred and scaled, for the last time",
    "logits": "for each position, a score for every token that may come next",
    "loss": "how surprised the model is by what really comes next",
}
_HEAD_OUT = "the values of earlier positions, mixed as A says"
_BLOCK_OUT = "what the feed-forward part found, added to the stream"


def step_words(spec: StepSpec, tokens: Tokens | None) -> str:
    """What the step does; of the ids, how the text that was read begins."""
    name = spec.name.rpartition(".")[2]
    if name == "out":
        return f"out: {_HEAD_OUT if spec.head is not None else _BLOCK_OUT}."
    if name == "ids" and tokens is not None:
        return f"ids: {_LABELS[name]}: {spelt_out(tokens, 3, ' is ')}"
    return f"{name}: {_LABELS[name]}."


def paragraph(spec: StepSpec, config: GPTConfig, tokens: int) -> str:
    """The step's own text with this model's numbers in it; "" where there is none."""
    name = spec.name.rpartition(".")[2]
    text = _page("block_out" if name == "out" and spec.head is None else name)
    values = {letter: f"{ledger.evaluate((letter,), config, tokens)[0]:,}" for letter in "BTCDHLNV"}
    return text.format(**values) if text else ""


@cache
def _page(name: str) -> str:
    try:
        return resources.text(f"text/steps/{name}.md").strip()
    except FileNotFoundError:
        return ""


def spelt_out(tokens: Tokens, few: int, between: str = " ") -> str:
    """The first few tokens as they are seen, each with its id: "F 18, i 47, ␣ 1"."""
    pairs = zip(tokens.pieces[:few], tokens.ids[:few], strict=True)
    return ", ".join(f"{visible(piece)}{between}{id}" for piece, id in pairs) + (", …" if len(tokens.ids) > few else "")


def loss_words(traced: Traced, model: ModelInfo) -> tuple[str, str]:
    """The loss of the text under study beside that of guessing evenly, ln V; and the same in fewer words."""
    if traced.loss is None:
        return ("loss: it takes at least two tokens",) * 2
    count, V = len(traced.tokens.ids) - 1, model.config.vocabulary
    unit = ("token" if model.alphabet is None else "character") + "s" * (count != 1)
    said, evenly = f"loss {traced.loss:.2f} nats per token", f"(ln {V:,} = {math.log(V):.2f})"
    return f"{said} over {count:,} next {unit} {evenly}", f"{said} {evenly}"
