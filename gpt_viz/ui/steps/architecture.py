"""The model from top to bottom, with the block in full that one stands in: which stops there are. Knows no view."""

from __future__ import annotations

import re

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ui.widgets.stops import BRANCH, FOLDED, FRAME, SUM, TRUNK, Floor, Stop

LISTED = 8  # blocks that each have a row of their own; more are folded into two
HEADS = 8  # heads that each have a stop of their own
_HEAD = re.compile(r"blocks\.(\d+)\.attn\.heads\.(\d+)\.(\w+)")
_BLOCK = re.compile(r"blocks\.(\d+)\.(.+)")
_IN_HEAD = (("q", "k", "v"), ("products", "scores"), ("masked", "A", "out"))


def floors(config: GPTConfig, step: str, layer: int = 0, head: int = 0) -> tuple[Floor, ...]:
    """The rows of the diagram, the block of that `layer` in full; `step` is where one stands, "" for nowhere."""
    made = [
        Floor(TRUNK, (_stop("ids", "residual", "ids", step),)),
        Floor(
            TRUNK,
            (
                _stop("token", "token embedding", "token_embedding", step, "token embedding"),
                _stop("position", "position embedding", "position_embedding", step, "position embedding"),
            ),
        ),
        Floor(SUM, (_stop("embedded", "residual", "embedded", step),)),
    ]
    if config.layers:
        layer, head = min(layer, config.layers - 1), min(head, config.heads - 1)
        made += _folded(config, range(layer), step)
        made += _block(config, layer, head, step)
        made += _folded(config, range(layer + 1, config.layers), step)
    made += [
        Floor(TRUNK, (_stop("ln_f", "LayerNorm", "ln_f", step),)),
        Floor(TRUNK, (_stop("logits", "output head", "logits", step, "output head"),)),
        Floor(TRUNK, (_stop("loss", "output head", "loss", step),)),
    ]
    return tuple(made)


def counterpart(config: GPTConfig, step: str, layer: int) -> str:
    """The same place in another block; its beginning, where one stands outside of all blocks."""
    found = _BLOCK.fullmatch(step)
    there = f"blocks.{layer}.{found[2] if found else 'ln1'}"
    try:
        ledger.steps(config).index_of(there)
    except ValueError:
        return f"blocks.{layer}.ln1"
    return there


def _stop(label: str, kind: str, target: str, step: str, tip: str = "") -> Stop:
    return Stop(label, kind, target, target == step, tip or target)


def _folded(config: GPTConfig, layers: range, step: str) -> list[Floor]:
    """Blocks that are not drawn in full: a row each, or where there are many one row for all of them."""
    if not layers:
        return []
    if config.layers > LISTED:
        # It leads to the nearest of them, which is next to the block that is drawn in full.
        nearest = layers[-1] if layers.start == 0 else layers[0]
        label = f"blocks {layers[0]}–{layers[-1]}" if len(layers) > 1 else f"block {layers[0]}"
        return [Floor(FOLDED, (Stop(label, "residual", counterpart(config, step, nearest)),))]
    return [Floor(FOLDED, (Stop(f"block {l}", "residual", counterpart(config, step, l)),)) for l in layers]  # noqa: E741


def _block(config: GPTConfig, layer: int, chosen: int, step: str) -> list[Floor]:
    block = f"blocks.{layer}"
    title = Stop(f"block {layer} of {config.layers}" if config.layers > 1 else "block 0", "residual", "")
    around = [
        Stop(sign, "residual", counterpart(config, step, at) if 0 <= at < config.layers else "", tip=tip)
        for sign, at, tip in (("◂", layer - 1, "The block before"), ("▸", layer + 1, "The block after"))
    ]

    def stop(label: str, kind: str, place: str, tip: str = "") -> Stop:
        return _stop(label, kind, f"{block}.{place}", step, tip)

    rows = [
        Floor(FRAME, (title, *around), inside=True),
        Floor(BRANCH, (stop("ln1", "LayerNorm", "ln1"),), inside=True),
        *_heads(config, block, chosen, step),
        Floor(
            BRANCH, (stop("concat", "attention", "attn.concat"), stop("proj", "attention", "attn.proj")), inside=True
        ),
        Floor(SUM, (stop("mid", "residual", "mid"),), inside=True),
        Floor(BRANCH, (stop("ln2", "LayerNorm", "ln2"),), inside=True),
        Floor(
            BRANCH,
            (
                stop("expand", "feed-forward", "mlp.expand"),
                stop("gelu", "feed-forward", "mlp.gelu"),
                stop("contract", "feed-forward", "mlp.contract"),
            ),
            inside=True,
        ),
        Floor(SUM, (stop("out", "residual", "out"),), inside=True),
    ]
    return rows


def _heads(config: GPTConfig, block: str, chosen: int, step: str) -> list[Floor]:
    """All heads, and below them what happens in the chosen one."""
    found = _HEAD.fullmatch(step)
    inside, last = found is not None, found[3] if found else "A"

    def head(number: int) -> Stop:
        target = f"{block}.attn.heads.{number}.{last}"
        return Stop(str(number), "attention", target, inside and number == chosen, f"head {number}")

    if config.heads <= HEADS:
        heads = tuple(head(number) for number in range(config.heads))
    else:
        before, after = max(chosen - 1, 0), min(chosen + 1, config.heads - 1)
        one = Stop(f"head {chosen} of {config.heads}", "attention", head(chosen).target, inside)
        heads = (replaced(head(before), "◂"), one, replaced(head(after), "▸"))
    path = f"{block}.attn.heads.{chosen}"
    chain = [
        Floor(
            BRANCH,
            tuple(_stop(place, "attention", f"{path}.{place}", step, f"{place} of head {chosen}") for place in row),
            inside=True,
        )
        for row in _IN_HEAD
    ]
    return [Floor(BRANCH, heads, inside=True), *chain]


def replaced(stop: Stop, label: str) -> Stop:
    """The same stop under another label."""
    return Stop(label, stop.kind, stop.target, False, stop.tip)
