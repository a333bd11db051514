"""Checks that the module is what the formulas say: its parameters, and the shape of every step. Knows no weights."""

from __future__ import annotations

import math

from gpt_viz import ledger
from gpt_viz.engine.census import agrees, census
from gpt_viz.engine.checks.outcome import Outcome, Trial, picture, several
from gpt_viz.engine.checks.specimen import Specimen
from gpt_viz.engine.trace import inspect_steps


def parameter_count(specimen: Specimen) -> Trial:
    """The module's unique tensors hold exactly as many numbers as the closed formula says."""
    config = specimen.config
    counted = census(specimen.model)
    yield None
    found, formula = sum(each.count for each in counted), ledger.total(config)
    kinds = {each.name: each.kind for each in ledger.tensors(config)}
    promised = {each.name: each.count for each in ledger.groups(config, "kind")}
    held = dict.fromkeys(promised, 0)
    strange = []
    for tensor in counted:
        if tensor.name in kinds:
            held[kinds[tensor.name]] += tensor.count
        else:
            strange.append(tensor.name)
    rule, blocks = 12 * config.layers * config.width**2, _blocks(specimen)
    detail = f"the rule of thumb 12·L·C² = {rule:,}; the blocks hold {blocks:,}, {blocks - rule:+,}"
    if strange:
        held["unknown"] = sum(each.count for each in counted if each.name in strange)
        promised["unknown"] = 0
        detail = f"the formulas know nothing of {several(strange)}; {detail}"
    return Outcome(
        passed=found == formula and agrees(specimen.model, config),
        expected=f"{formula:,}",
        found=f"{found:,}",
        detail=detail,
        facts={"total": found, "formula": formula, "rule": rule, "blocks": blocks, "difference": blocks - rule},
        labels={"kinds": tuple(held)},
        arrays={
            "counted": picture([float(count) for count in held.values()]),
            "formula": picture([float(promised[kind]) for kind in held]),
        },
    )


def _blocks(specimen: Specimen) -> int:
    return sum(each.count for each in census(specimen.model) if each.name.startswith("blocks."))


def shapes(specimen: Specimen) -> Trial:
    """Every step's real shape is the one that its letters stand for."""
    config, T = specimen.config, specimen.tokens
    steps = ledger.steps(config, loss=T > 1)
    try:
        inspection = yield from inspect_steps(specimen.model, specimen.ids)
    except KeyError as error:
        return Outcome(
            passed=False,
            expected=f"{len(steps):,} steps",
            found=f"no {error.args[0]}",
            detail=f"the pass did not come by {error.args[0]}",
        )
    seen = {each.name: each.shape for each in inspection.steps}
    wrong = [each.name for each in steps if seen.get(each.name) != each.shape(config, T)]
    detail = f"one pass over {T:,} token{'' if T == 1 else 's'}"
    if wrong:
        first = steps[steps.index_of(wrong[0])]
        should, was = _written(first.shape(config, T)), _written(seen.get(first.name, ()))
        detail = f"{first.name} is {_written(first.symbols)} = {should}, but was {was}"
        detail += f"; wrong: {several(wrong)}" if len(wrong) > 1 else ""
    return Outcome(
        passed=not wrong,
        expected=f"{len(steps):,} of {len(steps):,} steps",
        found=f"{len(steps) - len(wrong):,} as their letters say",
        detail=detail,
        facts={"steps": len(steps), "wrong": len(wrong), "tokens": T},
        labels={"steps": tuple(each.name for each in steps), "kinds": tuple(each.kind for each in steps)},
        arrays={
            "numbers": picture([float(math.prod(seen.get(each.name, (0,)))) for each in steps]),
            "promised": picture([float(math.prod(each.shape(config, T))) for each in steps]),
        },
    )


def _written(shape: tuple[int | str, ...]) -> str:
    """A shape as it is read: (1, 64, 128)."""
    return f"({', '.join(map(str, shape))})"
