"""Which drawing shows which check, and how its numbers get into it. Knows the events; draws nothing itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gpt_viz.protocol import Checked, ModelInfo
from gpt_viz.ui.widgets.check_bars import Bar, CheckBars
from gpt_viz.ui.widgets.check_curve import Axes, CheckCurve
from gpt_viz.ui.widgets.check_grid import CheckGrid
from gpt_viz.ui.widgets.check_norm import CheckNorm
from gpt_viz.ui.widgets.check_pattern import CheckPattern
from gpt_viz.ui.widgets.check_picture import CheckPicture, figure
from gpt_viz.ui.widgets.check_profile import CheckProfile, Line
from gpt_viz.ui.widgets.check_scaling import CheckScaling
from gpt_viz.ui.widgets.check_texts import CheckTexts
from gpt_viz.ui.widgets.glyphs import visible

_STEPS = 50  # of memorising; the axis is that long from the start


class Facts:
    """The parts of an event by name."""

    def __init__(self, event: Checked) -> None:
        self.arrays, self.labels, self.facts = dict(event.arrays), dict(event.labels), dict(event.facts)

    def number(self, name: str) -> float:
        """A fact that is a number; nan where there is none."""
        value = self.facts.get(name)
        return float(value) if isinstance(value, (int, float)) else float("nan")

    def text(self, name: str) -> str:
        """A fact as text."""
        return str(self.facts.get(name, ""))


class Pictures:
    """Holds the drawings, each made when it is first needed; `made` is called with a new one."""

    def __init__(self, made: Callable[[str, CheckPicture], None]) -> None:
        self._made = made
        self.drawings: dict[str, CheckPicture] = {}

    def show(self, event: Checked, model: ModelInfo) -> CheckPicture | None:
        """The drawing of a check, brought up to date; None where the event has no numbers to draw."""
        if not event.arrays or event.name not in _SHOWN:
            return None
        kind, show = _SHOWN[event.name]
        drawing = self.drawings.get(event.name)
        if drawing is None:
            drawing = self.drawings[event.name] = kind()
            self._made(event.name, drawing)
        show(drawing, Facts(event), model)
        return drawing


def _parameter_count(bars: CheckBars, it: Facts, model: ModelInfo) -> None:
    rows = zip(it.labels["kinds"], it.arrays["counted"].tolist(), it.arrays["formula"].tolist(), strict=True)
    bars.show_bars([Bar(kind, counted, kind, formula, f"{counted:,.0f}") for kind, counted, formula in rows])


def _causality(grid: CheckGrid, it: Facts, model: ModelInfo) -> None:
    change, rows, tokens = it.arrays["change"], it.labels["rows"], it.labels["tokens"]
    # A cell that is not the same bits counts as changed even where the difference is too small to be told.
    amounts = np.where((it.arrays["moved"] > 0) & (change == 0), np.float32(1e-45), change)

    def tell(row: int, column: int) -> str:
        amount = float(change[row, column])
        same = amounts[row, column] == 0
        how = "bitwise the same" if same else f"changed by {figure(amount)} at most"
        return f"{rows[row]}, “{visible(tokens[column])}” at {column}: {how}"

    shown = [visible(token) for token in tokens]
    across = "tokens (click one to change it)"
    grid.show_grid(amounts, rows, shown, across=across, tell=tell, border=int(it.number("position")))


def _attention_rows(grid: CheckGrid, it: Facts, model: ModelInfo) -> None:
    off = it.arrays["off"]
    layers, heads = off.shape
    grid.show_grid(
        off,
        [f"layer {layer}" for layer in range(layers)],
        [str(head) for head in range(heads)],
        across="heads; how far the worst row's sum is from 1",
        tell=lambda layer, head: f"layer {layer}, head {head}: off by {figure(float(off[layer, head]))} at most",
    )


def _mask(pattern: CheckPattern, it: Facts, model: ModelInfo) -> None:
    pattern.show_pattern(it.arrays["pattern"], it.labels["tokens"])


def _initial_loss(profile: CheckProfile, it: Facts, model: ModelInfo) -> None:
    surprises = it.arrays["surprises"]
    profile.show_profile(
        surprises,
        kinds=["output head"] * len(surprises),
        across="predicted tokens",
        up="surprise, −log p (nats); tinted: where the mean may be",
        base=it.number("ln_v"),
        band=(it.number("low"), it.number("high")),
        tell=lambda at: f"token {at + 1}: {surprises[at]:.3f} nats",
        lines=[
            Line(it.number("ln_v"), f"ln V {it.number('ln_v'):.3f}"),
            Line(it.number("loss"), f"mean {it.number('loss'):.3f}"),
        ],
    )


def _memorise(curve: CheckCurve, it: Facts, model: ModelInfo) -> None:
    losses = it.arrays["losses"]
    curve.show_curve(
        np.arange(len(losses), dtype=np.float32),
        losses,
        Axes("steps", "loss (nats per token)", last=_STEPS),
        levels=[Line(it.number("half"), f"half: {it.number('half'):.3f}")],
        tell=lambda step: f"after {step} steps: {losses[step]:.4f}",
    )


def _gradients(profile: CheckProfile, it: Facts, model: ModelInfo) -> None:
    names, norms = it.labels["tensors"], it.arrays["norms"]
    dead, excused = set(it.labels["dead"]), set(it.labels["excused"])

    def tell(at: int) -> str:
        name = names[at]
        note = ": dead" if name in dead else ", which needs none" if name in excused else ""
        return f"{name}: norm {figure(float(norms[at]))}{note}"

    profile.show_profile(
        norms,
        kinds=[_kind(name) for name in names],
        across="tensors",
        up="norm of the gradient",
        tell=tell,
        wrong=frozenset(at for at, name in enumerate(names) if name in dead),
        log=True,
    )


def _kind(name: str) -> str:
    """The kind that a parameter belongs to, by its name."""
    first = name.partition(".")[0]
    if first in ("token_embedding", "position_embedding"):
        return first.replace("_", " ")
    if re.search(r"(^|\.)ln(\d|_f)\.", name):
        return "LayerNorm"
    if first == "head":
        return "output head"
    return "attention" if ".attn." in name else "feed-forward"


def _shapes(profile: CheckProfile, it: Facts, model: ModelInfo) -> None:
    names, numbers, promised = it.labels["steps"], it.arrays["numbers"], it.arrays["promised"]
    profile.show_profile(
        numbers,
        kinds=it.labels["kinds"],
        across="steps of the pass",
        up="numbers that a step holds",
        tell=lambda at: f"{names[at]}: {numbers[at]:,.0f} numbers",
        wrong=frozenset(np.flatnonzero(numbers != promised).tolist()),
        log=True,
    )


def _layernorm(norm: CheckNorm, it: Facts, model: ModelInfo) -> None:
    norm.show_curve(
        it.arrays["scales"],
        it.arrays["measured"],
        it.arrays["predicted"],
        radius=it.number("radius"),
        variance=it.number("variance"),
        epsilon=it.number("epsilon"),
    )


def _scaled_scores(scaling: CheckScaling, it: Facts, model: ModelInfo) -> None:
    labels = ("random q·k", "random, scaled", "this model's q·k", "this model's, scaled")
    bars = [Bar(label, value, "attention") for label, value in zip(labels, it.arrays["variance"].tolist(), strict=True)]
    scaling.show_scaling(bars, it.arrays["soft"], it.arrays["sharp"])


def _before_sample(texts: CheckTexts, it: Facts, model: ModelInfo) -> None:
    before = f"untrained, model seed {it.text('model_seed')}, sampling seed {it.text('seed')}"
    shown = [(before, it.labels["before"]), ("this model now, by the same sampling seed", it.labels["now"])]
    texts.show_texts(shown, " " if model.alphabet is None and model.pieces is None else "")


def _validation_loss(curve: CheckCurve, it: Facts, model: ModelInfo) -> None:
    steps, losses = it.arrays["steps"], it.arrays["losses"]
    curve.show_curve(
        steps,
        losses,
        Axes("steps", "loss on the text's end (nats per token)"),
        levels=[
            Line(it.number("ln_v"), f"ln V {it.number('ln_v'):.3f}"),
            Line(it.number("loss"), f"now {it.number('loss'):.3f}"),
        ],
        tell=lambda at: f"after {steps[at]:,.0f} steps: {losses[at]:.4f}",
    )


def _device(profile: CheckProfile, it: Facts, model: ModelInfo) -> None:
    off, tokens = it.arrays["off"], it.labels["tokens"]
    profile.show_profile(
        off,
        kinds=["output head"] * len(off),
        across="tokens",
        up="largest difference of a logit",
        tell=lambda at: f"“{visible(tokens[at])}” at {at}: {figure(float(off[at]))}",
        log=True,
    )


_SHOWN: dict[str, tuple[Callable[[], CheckPicture], Callable[[Any, Facts, ModelInfo], None]]] = {
    "parameter_count": (CheckBars, _parameter_count),
    "causality": (CheckGrid, _causality),
    "attention_rows": (CheckGrid, _attention_rows),
    "mask": (CheckPattern, _mask),
    "initial_loss": (CheckProfile, _initial_loss),
    "memorise": (CheckCurve, _memorise),
    "gradients": (CheckProfile, _gradients),
    "shapes": (CheckProfile, _shapes),
    "layernorm": (CheckNorm, _layernorm),
    "scaled_scores": (CheckScaling, _scaled_scores),
    "before_sample": (CheckTexts, _before_sample),
    "validation_loss": (CheckCurve, _validation_loss),
    "device": (CheckProfile, _device),
}
