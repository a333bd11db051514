"""Checks of the plumbing that learning needs: every parameter gets a gradient, and one window can be memorised."""

from __future__ import annotations

import copy
import math
import time

import torch
from torch import Tensor
from torch.optim.adamw import adamw

from gpt_viz import ledger
from gpt_viz.engine.checks.outcome import Outcome, Trial, does_not_apply, picture, several
from gpt_viz.engine.checks.specimen import Specimen, obstacle_to
from gpt_viz.engine.model import GPT
from gpt_viz.engine.taps import stashing

STEPS, RATE, SHARE = 50, 1e-3, 0.5
# The rate is for this width; a narrower model moves its logits by less in a step, as they are sums over the width.
_WIDTH = 128
# On vectors of fewer numbers LayerNorm leaves too little: 0 of one, a sign of two, a point on a circle of three.
_LEAST_WIDTH = 4
# Multiply-adds: some seconds for all steps; some tenths of a second for what can't be paused.
MOST_STEPS, MOST_BACKWARD = 2e11, 5e9
_LEAST_TOKENS = 8
_KNOWN = 1e-3  # nats; a window with less loss than that is memorised already
_REPORT_S = 1 / 30


def memorise(specimen: Specimen) -> Trial:
    """Fifty steps on one window bring its loss below half. Tells the losses so far at most 30 times a second."""
    reason = _why_not(specimen) or _too_much(specimen)
    if reason:
        return does_not_apply(reason)
    student = copy.deepcopy(specimen.model)
    rate = RATE * max(1.0, _WIDTH / specimen.config.width)
    optimizer = _AdamW(student, rate)
    losses: list[float] = []
    told = -math.inf
    for step in range(STEPS + 1):
        losses.append(_learn(student, specimen, optimizer if step < STEPS else None))
        if step == 0 and losses[0] < _KNOWN:
            return does_not_apply(f"the model knows this window by heart already: its loss is {losses[0]:.2g}")
        now = time.perf_counter()
        if now - told >= _REPORT_S and step < STEPS:
            told = now
            yield _memorised(specimen, losses, rate, running=True)
        else:
            yield None
    return _memorised(specimen, losses, rate, running=False)


def gradients(specimen: Specimen) -> Trial:
    """One backward pass reaches every parameter: the norm of each tensor's gradient is above 0."""
    reason = _why_not(specimen) or obstacle_to(specimen.model, 2, "the gradients")
    if reason:
        return does_not_apply(reason)
    per_token = 3 * ledger.multiply_adds(specimen.config, 1)
    tokens = max(int(MOST_BACKWARD / per_token), _LEAST_TOKENS)
    ids, targets = specimen.inputs[:, :tokens], specimen.targets[:, :tokens]
    model = specimen.model
    with torch.enable_grad(), stashing(model, False):
        _, loss = model(ids, targets)
        assert loss is not None  # targets were given
        loss.backward()
        norms = {name: _norm(parameter) for name, parameter in model.named_parameters()}
        model.zero_grad(set_to_none=True)
    yield None
    excused = [name for name in norms if _is_excused(name, ids.shape[-1])]
    dead = [name for name, norm in norms.items() if not norm > 0 and name not in excused]
    alive = {name: norm for name, norm in norms.items() if norm > 0 and name not in excused}
    weakest = min(alive, key=lambda name: alive[name], default="")
    detail = f"the smallest norm is {alive[weakest]:.2g}, of {weakest}" if weakest else "no parameter gets any"
    if dead:
        detail = f"dead: {several(dead)}"
    if excused:
        why = "with one token there is nothing to weigh" if ids.shape[-1] == 1 else "softmax takes no notice of it"
        detail += f"; not counted: {several(excused, 1)} ({why})"
    return Outcome(
        passed=not dead,
        expected="no dead parameter",
        found=f"{len(dead):,} dead of {len(norms) - len(excused):,} tensors",
        detail=detail,
        facts={
            "tensors": len(norms),
            "dead": len(dead),
            "excused": len(excused),
            "weakest": weakest,
            "least": alive.get(weakest, 0.0),
            "tokens": ids.shape[-1],
        },
        labels={"tensors": tuple(norms), "dead": tuple(dead), "excused": tuple(excused)},
        arrays={"norms": picture(list(norms.values()))},
    )


def _why_not(specimen: Specimen) -> str:
    """Why there is nothing to learn here, or ""."""
    if specimen.config.vocabulary == 1:
        return "with a single token in the vocabulary there is nothing to learn: the loss is 0"
    if specimen.targets.numel() == 0:
        return "the text has a single token, so there is no next one to learn"
    if specimen.config.width < _LEAST_WIDTH:
        return f"of vectors as narrow as {specimen.config.width} LayerNorm leaves too little to learn from"
    return ""


def _too_much(specimen: Specimen) -> str:
    """Why 50 steps cost more than a check may, or ""."""
    # A step is a pass forwards and twice as much backwards.
    cost = 3 * STEPS * ledger.multiply_adds(specimen.config, specimen.targets.numel())
    if cost > MOST_STEPS:
        return (
            f"not at this size: {STEPS} steps take about {cost:.1e} multiply-adds, "
            f"and a check stops at {MOST_STEPS:.0e}"
        )
    return obstacle_to(specimen.model, 4, "a student with its gradients and averages")


def _learn(student: GPT, specimen: Specimen, optimizer: _AdamW | None) -> float:
    """The student's loss on the window; with an optimizer, and then one step down."""
    with torch.enable_grad(), stashing(student, False):
        _, loss = student(specimen.inputs, specimen.targets)
        assert loss is not None  # targets were given
        if optimizer is not None:
            loss.backward()
            optimizer.step()
    return float(loss.detach())


def _memorised(specimen: Specimen, losses: list[float], rate: float, *, running: bool) -> Outcome:
    start, end = losses[0], losses[-1]
    half = start * SHARE
    return Outcome(
        passed=end < half,
        expected=f"below {half:.4f}",
        found=f"{end:.4f}",
        detail=f"{len(losses) - 1} steps of AdamW at {rate:.3g} on one window of {specimen.targets.numel()} tokens; "
        f"it began at {start:.4f}; dropout is off",
        facts={
            "start": start,
            "end": end,
            "half": half,
            "steps": len(losses) - 1,
            "rate": rate,
            "tokens": specimen.targets.numel(),
            "parameters": ledger.total(specimen.config),
        },
        arrays={"losses": picture(losses)},
        running=running,
    )


def _norm(parameter: torch.nn.Parameter) -> float:
    return 0.0 if parameter.grad is None else float(parameter.grad.norm())


def _is_excused(name: str, tokens: int) -> bool:
    """Whether a parameter gets no gradient in any right model: a key's bias adds the same to all scores of a row, which
    softmax does not notice; with a single token, no query and no key makes a difference."""
    return name.endswith(".key.bias") or (tokens == 1 and (".query." in name or ".key." in name))


class _AdamW:
    """torch's AdamW by its function: the class would import the compiler, which takes seconds the first time."""

    def __init__(self, model: GPT, rate: float) -> None:
        self._parameters = [each for each in model.parameters() if each.requires_grad]
        self._rate = rate
        self._means: dict[int, tuple[Tensor, Tensor, Tensor]] = {}

    def step(self) -> None:
        """One step down the gradients, which are gone afterwards."""
        moved = [each for each in self._parameters if each.grad is not None]
        for each in moved:
            if id(each) not in self._means:
                self._means[id(each)] = torch.zeros_like(each), torch.zeros_like(each), torch.tensor(0.0)
        held = [self._means[id(each)] for each in moved]
        with torch.no_grad():
            adamw(
                list(moved),
                [each.grad for each in moved if each.grad is not None],
                [mean for mean, _, _ in held],
                [square for _, square, _ in held],
                [],
                [count for _, _, count in held],
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self._rate,
                weight_decay=0.01,
                eps=1e-8,
                maximize=False,
            )
        for each in moved:
            each.grad = None
