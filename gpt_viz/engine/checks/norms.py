"""Checks the geometry of LayerNorm: it centres each row and puts it on a sphere, but for what epsilon takes away."""

from __future__ import annotations

import copy
import math
from collections.abc import Generator

import torch
from torch import Tensor, nn

from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture
from gpt_viz.engine.checks.specimen import Specimen, drawn, passing
from gpt_viz.engine.taps import evaluating

ROWS, NUMBERS = 1000, 5e6  # rows for each LayerNorm, and numbers for all of them together
MEAN, NORM, SAME = 1e-4, 1e-3, 1e-3
STRETCH, SHRINK = 3.7, 1e-3
# A row whose variance is that many epsilons is taken to be far from epsilon.
_AMPLE = 1000.0
_POINTS = 71  # ten for each power of ten, so that 1 is among them


def layernorm(specimen: Specimen) -> Trial:
    """Every LayerNorm, its γ and β aside, makes rows of mean 0 and length √C, whatever their scale, as long as their
    variance is far above ε; below that they fall short of the sphere by exactly sqrt(σ² / (σ² + ε))."""
    C = specimen.config.width
    if C < 2:
        return does_not_apply("the variance of a single number is 0: LayerNorm makes 0 of it")
    norms = {name: each for name, each in specimen.model.named_modules() if _is_norm(name)}
    rows = _rows(C, len(norms))
    worst = {"mean": (-1.0, ""), "norm": (-1.0, ""), "scale": (-1.0, ""), "short": (-1.0, "")}
    epsilon, short = 0.0, 0.0
    for name, norm in norms.items():
        plain = _plain(norm)
        epsilon = float(getattr(norm, "eps", 0.0))
        given = rows.to(specimen.ids.device)
        off = _tried(plain, given[given.var(-1, correction=0) > _AMPLE * epsilon], epsilon)
        for what, value in off.items():
            if not value <= worst[what][0]:  # a NaN is the worst of all
                worst[what] = (value, name)
        short = _length(plain, given * SHRINK)
        yield None
    limits = {"mean": MEAN, "norm": NORM, "scale": SAME, "short": NORM}
    broken = [what for what, (value, _) in worst.items() if not value <= limits[what]]
    scales, measured, predicted, variance = yield from _curve(specimen)
    radius = math.sqrt(C)
    detail = f"{len(norms)} LayerNorms, {len(rows):,} random rows each; rows shrunk by {SHRINK:g} reach {short:.3f}"
    if broken:
        value, name = worst[broken[0]]
        words = {"mean": "a row's mean is", "norm": "a row's length is off by", "scale": "LN(3.7·u) differs by",
                 "short": "a shrunk row is off its prediction by"}  # fmt: skip
        detail = f"in {name} {words[broken[0]]} {value:.2g}; {detail}"
    return Outcome(
        passed=not broken,
        expected=f"mean 0, length √{C} = {radius:.4f}",
        found=f"mean {worst['mean'][0]:.1e}, length off by {worst['norm'][0]:.1e} at most",
        tolerance=NORM,
        detail=detail,
        facts={
            "width": C,
            "radius": radius,
            "dimensions": C - 2,
            "epsilon": epsilon,
            "mean": worst["mean"][0],
            "off": worst["norm"][0],
            "scale_off": worst["scale"][0],
            "short": short,
            "variance": variance,
            "norms": len(norms),
            "rows": len(rows),
        },
        arrays={"scales": picture(scales), "measured": picture(measured), "predicted": picture(predicted)},
    )


def _is_norm(name: str) -> bool:
    """Whether that place is a LayerNorm, whatever module really stands there."""
    return name.rpartition(".")[2] in ("ln1", "ln2", "ln_f")


def _rows(C: int, norms: int) -> Tensor:
    """Random rows (n, C) of lengths far from 0, as the notebook takes them; fewer where there is much to try."""
    count, draws = min(ROWS, max(int(NUMBERS / (C * norms)), 8)), drawn(0)
    return torch.randn(count, C, generator=draws) * (2.5 + 5 * torch.rand(count, 1, generator=draws))


def _plain(norm: nn.Module) -> nn.Module:
    """A copy that only normalises: γ is 1 and β is 0."""
    plain = copy.deepcopy(norm)
    with torch.no_grad():
        if isinstance(getattr(plain, "weight", None), Tensor):
            plain.weight.fill_(1.0)  # type: ignore[operator]
        if isinstance(getattr(plain, "bias", None), Tensor):
            plain.bias.zero_()  # type: ignore[operator]
    return plain


def _tried(plain: nn.Module, rows: Tensor, epsilon: float) -> dict[str, float]:
    """How far off one LayerNorm is: means from 0, lengths from √C (as shares of it), LN(3.7·u) from LN(u), and shrunk
    rows from where epsilon should leave them. 0 where there are no rows to try."""
    if not len(rows):
        return dict.fromkeys(("mean", "norm", "scale", "short"), 0.0)
    radius = math.sqrt(rows.shape[-1])
    with evaluating(plain):
        normed, stretched, shrunk = (plain(rows * scale) for scale in (1.0, STRETCH, SHRINK))
    variance = (rows * SHRINK).double().var(-1, correction=0)
    promised = radius * (variance / (variance + epsilon)).sqrt()
    return {
        "mean": float(normed.mean(-1).abs().max()),
        "norm": float((normed.norm(dim=-1) / radius - 1).abs().max()),
        "scale": float((stretched - normed).abs().max()),
        "short": float((shrunk.double().norm(dim=-1) - promised).abs().max()) / radius,
    }


def _length(plain: nn.Module, rows: Tensor) -> float:
    """The mean length of the normalised rows."""
    with evaluating(plain):
        return float(plain(rows).norm(dim=-1).mean())


def _curve(specimen: Specimen) -> Generator[None, None, tuple[Tensor, Tensor, Tensor, float]]:
    """How long ln_f makes the text's last row when that is shrunk: scales, measured and predicted lengths, σ²."""
    *_, last, _ = yield from passing(specimen.model, specimen.ids)
    row = last[-1:].float()
    norm = specimen.model.ln_f
    variance = float(row.double().var(correction=0))
    scales = torch.logspace(-6, 1, _POINTS)
    with evaluating(norm):
        measured = _plain(norm)(row * scales[:, None].to(row.device)).norm(dim=-1).cpu()
    spread = variance * scales.double() ** 2
    predicted = math.sqrt(row.shape[-1]) * (spread / (spread + float(getattr(norm, "eps", 0.0)))).sqrt()
    return scales, measured, predicted, variance
