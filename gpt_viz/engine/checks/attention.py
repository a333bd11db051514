"""Checks of attention itself: each row shares out exactly one whole, and none of it goes to the future."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen
from gpt_viz.engine.model import Head
from gpt_viz.engine.taps import evaluating, stashing, take_stash

ROWS = 1e-5
HUGE = 1e4
# A query and a key that point the same way get this score; those that really stand there get some part of it.
_ALIGNED = 1e6

NO_LAYERS = "the model has no layers, so there is no attention"


class Seen(NamedTuple):
    """One layer's attention: A (H, T, T) as the heads kept it, and the queries and keys (H, T, D) that made it."""

    A: Tensor
    q: Tensor
    k: Tensor


def attending(
    specimen: Specimen, enlarge: Callable[[Tensor], Tensor] | None = None
) -> Generator[None, None, list[Seen]]:
    """Every layer's attention over the text, pausing between the blocks. `enlarge` is applied to queries and keys."""
    model, layers = specimen.model, []
    with evaluating(model), stashing(model, False):
        x = model.embed(specimen.ids)
        mask = model.mask(x)
    for block in model.blocks:
        yield
        with evaluating(block), stashing(block, True), _overheard(block, enlarge) as heard:
            x = block(x, mask)
            A = take_stash(block)
        layers.append(Seen(A, torch.cat(heard["query"]), torch.cat(heard["key"])))
    return layers


def attention_rows(specimen: Specimen) -> Trial:
    """Every row of every head sums to 1, and no weight is negative."""
    if specimen.config.layers == 0:
        return does_not_apply(NO_LAYERS)
    layers = yield from attending(specimen)
    A = torch.stack([each.A for each in layers])  # (L, H, T, T)
    off = (A.sum(-1) - 1).abs().amax(-1).cpu()  # (L, H)
    worst, least = float(off.max()), float(A.min())
    layer, head = divmod(int(off.nan_to_num(math.inf).argmax()), specimen.config.heads)
    L, H, T, _ = A.shape
    return Outcome(
        passed=worst <= ROWS and least >= 0,
        expected="each row sums to 1",
        found=f"off by {worst:.1e} at most" if least >= 0 else f"a weight of {least:.3g}",
        tolerance=ROWS,
        detail=f"{L * H * T:,} rows; the one farthest off is in layer {layer}, head {head}",
        facts={"rows": L * H * T, "worst": worst, "layer": layer, "head": head, "tokens": T},
        arrays={"off": picture(off), "sums": picture(A[layer, head].sum(-1))},
    )


def mask(specimen: Specimen) -> Trial:
    """Above the diagonal every weight is exactly 0, also where the scores reach ten thousand."""
    if specimen.config.layers == 0:
        return does_not_apply(NO_LAYERS)
    if specimen.tokens == 1:
        return does_not_apply("the text has a single token, so there is no future to hide")
    layers = yield from attending(specimen, _enlarged)
    A = torch.stack([each.A for each in layers])
    future = torch.ones(A.shape[-2:], dtype=torch.bool, device=A.device).triu(1)
    hidden = A.masked_fill(~future, 0.0).abs().flatten(2).amax(-1).cpu()  # (L, H)
    leak, finite = float(hidden.max()), bool(A.isfinite().all())
    D = specimen.config.head_width
    score = max(float((each.q @ each.k.transpose(-2, -1)).abs().max()) / math.sqrt(D) for each in layers)
    layer, head = divmod(int(hidden.nan_to_num(math.inf).argmax()), specimen.config.heads)
    detail = f"queries and keys were enlarged until the largest score was {score:,.0f}"
    if score < HUGE:
        detail = f"the scores can't be enlarged: queries or keys are 0; the largest is {score:,.3g}"
    return Outcome(
        passed=leak == 0 and finite,
        expected="exactly 0 for later tokens",
        found="weights that are not finite" if not finite else f"{leak:.3g} at most" if leak else "exactly 0",
        detail=detail + (f"; the largest leak is in layer {layer}, head {head}" if leak else ""),
        facts={
            "score": score,
            "leak": leak,
            "layer": layer,
            "head": head,
            "hidden": int(future.sum()) * hidden.numel(),
        },
        labels={"tokens": tuple(specimen.piece(id) for id in specimen.ids[0].tolist())},
        arrays={"pattern": picture(A[layer, head]), "hidden": picture(hidden)},
    )


def _enlarged(vectors: Tensor) -> Tensor:
    """Queries or keys made so long that aligned ones score `_ALIGNED`, whatever their length was."""
    longest = vectors.norm(dim=-1).max()
    long = math.sqrt(_ALIGNED * math.sqrt(vectors.shape[-1]))
    return vectors * (long / longest) if longest > 0 else vectors


@contextmanager
def _overheard(block: nn.Module, enlarge: Callable[[Tensor], Tensor] | None) -> Iterator[dict[str, list[Tensor]]]:
    """Inside: what the heads' query and key maps answer is kept, (1, T, D) each, enlarged first where that is asked."""
    heard: dict[str, list[Tensor]] = {"query": [], "key": []}
    hooks = []

    def listener(name: str) -> Callable[..., Tensor]:
        def listen(module: nn.Module, given: tuple[Any, ...], answer: Tensor) -> Tensor:
            answer = answer if enlarge is None else enlarge(answer)
            heard[name].append(answer)
            return answer

        return listen

    for head in block.modules():
        if isinstance(head, Head):
            hooks += [getattr(head, name).register_forward_hook(listener(name)) for name in heard]
    try:
        yield heard
    finally:
        for hook in hooks:
            hook.remove()
