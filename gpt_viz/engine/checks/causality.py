"""Checks that nothing flows backwards in time: one token is changed, and everything before it stays, bit for bit."""

from __future__ import annotations

import torch
from torch import Tensor

from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import CAUSAL_TOKENS, Specimen, passing


def causality(specimen: Specimen) -> Trial:
    """Another token at one position changes nothing at earlier positions, in no layer, and something from there on.

    The change is measured in the residual stream before and after each block and in the logits: (L+2, T).
    """
    config, place = specimen.config, specimen.position
    if config.vocabulary == 1:
        return does_not_apply("the vocabulary holds a single token, so there is no other to put in its place")
    ids = specimen.ids[:, :CAUSAL_TOKENS]
    T = ids.shape[-1]
    if T == 1:
        return does_not_apply("the text has a single token, so nothing stands before it")
    others = ids.clone()
    others[0, place] = specimen.token
    before = yield from passing(specimen.model, ids)
    after = yield from passing(specimen.model, others)
    moved = torch.stack([_differs(one, other) for one, other in zip(before, after, strict=True)])
    change = torch.stack([(one - other).abs().amax(-1) for one, other in zip(before, after, strict=True)]).cpu()
    leaks = moved[:, :place].nonzero().tolist()
    # LayerNorm makes 0 of a single number, so at width 1 no change can come as far as the logits.
    reached = bool(moved[0 if config.width == 1 else -1, place:].any())
    rows = ("embedded", *(f"block {layer}" for layer in range(config.layers)), "logits")
    where = f"positions 0–{place - 1}" if place > 1 else "position 0" if place else "no position"
    found = f"0 of {moved.shape[0] * place:,} places changed"
    detail = f"token {place} of {T} became id {specimen.token}; {int(moved[-1].sum())} rows of logits changed"
    if leaks:
        row, position = leaks[0]
        found = f"{len(leaks):,} of {moved.shape[0] * place:,} places changed"
        detail += f"; the first leak is in {rows[row]} at position {position}"
    elif not reached:
        found = "nothing changed at all"
    return Outcome(
        passed=reached and not leaks,
        expected=f"{where} bitwise the same" if place else f"a change from position {place} on",
        found=found,
        detail=detail,
        facts={
            "position": place,
            "last_before": max(place - 1, 0),
            "tokens": T,
            "old_id": int(ids[0, place]),
            "new_id": specimen.token,
            "leaks": len(leaks),
            "changed": int(moved[-1].sum()),
        },
        labels={
            "rows": rows,
            "tokens": tuple(specimen.piece(id) for id in ids[0].tolist()),
            "token": (specimen.piece(specimen.token),),
        },
        arrays={"change": picture(change), "moved": picture(moved.float())},
    )


def _differs(one: Tensor, other: Tensor) -> Tensor:
    """Where rows (T, n) are not the same bits, NaN included: (T,) bool on the CPU."""
    return (one.contiguous().view(torch.int32) != other.contiguous().view(torch.int32)).any(-1).cpu()
