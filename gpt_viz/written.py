"""An explanation as one line of mathematics. Knows no words of any language, no torch and no Qt."""

from __future__ import annotations

import math

from gpt_viz.explanation import Explanation, Region, Sum

ELLIPSIS = "…"


def written(explanation: Explanation, digits: int = 3, terms: int = 4) -> str:
    """The computation with its numbers put in, such as `0.31·(−0.12) + … + 0.02 = 0.207`.

    Numbers have `digits` significant digits; of a long sum the largest `terms` terms are written, in order, and an
    ellipsis stands for each run of those left out.
    """

    def figure(value: float) -> str:
        return number(value, digits)

    def known(name: str) -> str:
        return figure(explanation.number(name))

    total = figure(explanation.total)
    kind = explanation.kind
    if kind == "character":
        return total
    if kind in ("lookup", "copy"):
        return f"{_cell(explanation.sources[-1])} = {total}"
    if kind == "mask":
        return f"{known('score')} → {total}" if explanation.number("hidden") else total
    if kind == "scaling":
        by = f"/ {known('divisor')}" if explanation.has("divisor") else f"· {known('factor')}"
        return f"{known('product')} {by} = {total}"
    if kind == "GELU":
        return f"{known('x')} · {known('phi')} = {total}"
    if kind == "softmax":
        row = summed(explanation.sum("exponentials"), digits, terms, plain=True)
        return f"exp({known('masked')} − {bracketed(explanation.number('largest'), digits)}) / ({row}) = {total}"
    if kind == "LayerNorm":
        mean = bracketed(explanation.number("mean"), digits)
        root = f"√({known('variance')} + {known('epsilon')})"
        bias = f" + {bracketed(explanation.number('bias'), digits)}" if explanation.has("bias") else ""
        return f"({known('x')} − {mean}) / {root} · {bracketed(explanation.number('gain'), digits)}{bias} = {total}"
    if kind == "loss":
        row = summed(explanation.sum("surprise"), digits, terms, plain=True)
        return f"({row}) / {explanation.number('tokens'):.0f} = {total}"
    return f"{summed(explanation.sum('sum'), digits, terms, plain=kind == 'sum')} = {total}"


def summed(whole: Sum, digits: int, terms: int, *, plain: bool = False) -> str:
    """A sum's terms with plus signs between; `plain` leaves the coefficients away."""
    parts: list[str] = []
    expected = 0
    for term in whole.largest(terms):
        if term.number > expected:
            parts.append(ELLIPSIS)
        first = number if not parts else bracketed
        if plain:
            parts.append(first(term.value, digits))
        else:
            parts.append(f"{first(term.coefficient, digits)}·{bracketed(term.value, digits)}")
        expected = term.number + 1
    if expected < len(whole):
        parts.append(ELLIPSIS)
    if whole.bias is not None:
        parts.append(bracketed(whole.bias, digits))
    return " + ".join(parts)


def number(value: float, digits: int) -> str:
    """A number as it is read: with a true minus sign, and ∞ for infinity."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−")


def bracketed(value: float, digits: int) -> str:
    """A number that follows a sign: a negative one in brackets."""
    text = number(value, digits)
    return f"({text})" if text.startswith("−") else text


def _cell(region: Region) -> str:
    return f"{region.name}[{', '.join(str(start) for start, _ in region.spans)}]"
