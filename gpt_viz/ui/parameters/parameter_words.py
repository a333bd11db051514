"""What the parameters panel says of its rows: the sums below them, and one sentence. Knows rows, and no view."""

from __future__ import annotations

import re

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ui.parameters.parameter_rows import SHARED, ParameterRows
from gpt_viz.ui.parameters.parameter_sums import signed
from gpt_viz.ui.parameters.percent import percents
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.widgets.lazy_rows import Line
from gpt_viz.ui.widgets.sums import Sum

_TIMES = {1: "", 2: "twice", 3: "three times", 4: "four times", 5: "five times"}


def totals(
    rows: ParameterRows, subject: Subject, other: ParameterRows | None, name: str, rule: Sum | None
) -> tuple[Line, ...]:
    """The sum of the formulas, below it the sum over the tensors of the module that was really built; and what is
    compared with."""
    without = rows.total - rows.config.block_size * rows.config.width
    note = f"The sum of all formulas; without positions {without:,}." + (f" {rule.text()}" if rule else "")
    beyond = signed(rows.total - other.total) if other else ""
    total = Line(("total", "", "by formula", "", f"{rows.total:,}", "100 %", beyond), bold=True, note=note)
    lines = [total, _verdict(rows, subject)]
    if other:
        lines.append(Line((name, "", "compared with", "", f"{other.total:,}", "", ""), quiet=True))
    return tuple(lines)


def _verdict(rows: ParameterRows, subject: Subject) -> Line:
    if subject.built is None or subject.what_if:
        return Line(
            (f"from the formulas; not built{' yet' if subject.waiting else ''}", "", "", "", "", "", ""), span=0
        )
    real, unique = subject.built.total, sum(1 for each in subject.built.tensors if not each.shared_with)
    agree = real == rows.total
    note = f"The {unique:,} unique tensors of the module that was built hold {real:,} numbers."
    if not agree:
        note += f" The formulas say {rows.total:,}: one of the two is wrong."
    verdict = "formula = module ✓" if agree else "formula ≠ module ✗"
    return Line((verdict, "", "by module", "", f"{real:,}", "", ""), wrong=not agree, note=note)


def about(parameter: str, rows: ParameterRows) -> str:
    """What the selected parameters hold; "" where that is no row."""
    path = rows.find(parameter) if parameter else ()
    if not path:
        return ""
    cells, whole = rows.line(path).cells, f"{rows.total:,}"
    head = re.fullmatch(r"blocks\.(\d+)\.attn\.heads\.(\d+)", parameter)
    if cells[5] == "shared":
        return f"{cells[0]}: {cells[4][1:-1]} numbers, {SHARED} and not added again."
    if head:
        return (
            f"head {head[2]} of layer {head[1]}: its q, k, v matrices hold {cells[4]} numbers, {cells[5]} of {whole}."
        )
    name = cells[0] if len(path) == 1 else rows.name(path)
    return f"{name} holds {cells[4]} numbers, {cells[5]} of {whole}." if rows.name(path) == parameter else ""


def largest(config: GPTConfig) -> str:
    """The largest kind, held against the one after it."""
    slices = ledger.groups(config, "kind")
    shares = percents([each.count for each in slices])
    (first, share), (second, _) = sorted(zip(slices, shares, strict=True), key=lambda pair: -pair[0].count)[:2]
    whole = f"{ledger.total(config):,}"
    if not second.count:
        return f"{first.name} holds all of {whole}."
    other = second.name if second.name in ("attention", "feed-forward", "LayerNorm") else f"the {second.name}"
    ratio = first.count / second.count
    times = next((word for n, word in _TIMES.items() if abs(ratio - n) < 0.04 * n), f"{ratio:,.{ratio < 10:d}f} times")
    compared = f"as much as {other}" if times == "" else f"{times} what {other} does"
    return f"{first.name} holds {share} of {whole}: {compared}."


def short(total: int) -> str:
    """174,604,259,328 as "174.6 B"."""
    units = (("T", 10**12), ("B", 10**9), ("M", 10**6), ("k", 10**3))
    return next((f"{total / size:.1f} {unit}" for unit, size in units if total >= size), str(total))
