"""What each step takes in, and what it costs: its inputs, its parameters, its multiply-adds. Knows no torch."""

from __future__ import annotations

import math

from gpt_viz.config import GPTConfig
from gpt_viz.ledger.forward import StepSpec
from gpt_viz.ledger.parameters import TensorSpec, tensors

_LOOKUPS = ("token_embedding", "position_embedding")

# What a step of the last name takes in: `x` is the residual stream, `heads` every head's out.
_IN_HEAD = {
    "q": ("ln1",),
    "k": ("ln1",),
    "v": ("ln1",),
    "products": ("q", "k"),
    "scores": ("products",),
    "masked": ("scores",),
    "A": ("masked",),
    "out": ("A", "v"),
}
_IN_BLOCK = {
    "ln1": ("x",),
    "attn.concat": ("heads",),
    "attn.proj": ("attn.concat",),
    "mid": ("x", "attn.proj"),
    "ln2": ("mid",),
    "mlp.expand": ("ln2",),
    "mlp.gelu": ("mlp.expand",),
    "mlp.contract": ("mlp.gelu",),
    "out": ("mid", "mlp.contract"),
}
_OUTSIDE = {
    "ids": (),
    "token_embedding": ("ids",),
    "position_embedding": (),
    "embedded": ("token_embedding", "position_embedding"),
    "ln_f": ("x",),
    "logits": ("ln_f",),
    "loss": ("logits", "ids"),
}


def inputs(config: GPTConfig, step: StepSpec) -> tuple[str, ...]:
    """What the step is computed from: the places, in the order of its formula, then the parameter tensors.

    The mask is no place: `masked` comes from `scores` alone. The loss takes the ids as the tokens that really came.
    """
    return (*_places(config, step), *(tensor.name for tensor in step_parameters(config, step)))


def step_parameters(config: GPTConfig, step: StepSpec) -> tuple[TensorSpec, ...]:
    """The parameter tensors that the step uses, weight and then bias; a tied head's weight is the head's here.

    An embedding is used as a whole table, though one pass reads only some of its rows.
    """
    known = tensors(config)
    found = []
    for name in (f"{step.module}.weight", f"{step.module}.bias"):
        try:
            found.append(known[known.index_of(name)])
        except ValueError:  # most steps have no parameters of their own
            continue
    return tuple(found)


def parameters_used(config: GPTConfig, step: StepSpec) -> int:
    """How many parameters the step uses; a tied head uses the token embedding's, which are counted there too."""
    return sum(math.prod(tensor.shape) for tensor in step_parameters(config, step))


def step_multiply_adds(config: GPTConfig, step: StepSpec, tokens: int, batch: int = 1) -> int:
    """The multiply-adds of one step, matrix products only, attention counted full; 0 for all other steps.

    Over all steps of a pass they add up to `multiply_adds(config, tokens)` for each text of the batch.
    """
    T, D = tokens, config.head_width
    if step.head is not None and step.name.endswith((".products", ".out")):
        return batch * T * T * D
    if step.module in _LOOKUPS:
        return 0
    matrix = next((tensor.shape for tensor in step_parameters(config, step) if len(tensor.shape) == 2), None)
    return 0 if matrix is None else batch * T * math.prod(matrix)


def _places(config: GPTConfig, step: StepSpec) -> tuple[str, ...]:
    if step.layer is None:
        return tuple(_stream(config.layers) if name == "x" else name for name in _OUTSIDE[step.name])
    block = f"blocks.{step.layer}"
    if step.head is not None:
        head = f"{block}.attn.heads.{step.head}"
        names = _IN_HEAD[step.name.removeprefix(f"{head}.")]
        return tuple(f"{block if name == 'ln1' else head}.{name}" for name in names)
    found: list[str] = []
    for name in _IN_BLOCK[step.name.removeprefix(f"{block}.")]:
        if name == "heads":
            found += [f"{block}.attn.heads.{head}.out" for head in range(config.heads)]
        else:
            found.append(_stream(step.layer) if name == "x" else f"{block}.{name}")
    return tuple(found)


def _stream(layer: int) -> str:
    """The residual stream as it comes into this layer."""
    return f"blocks.{layer - 1}.out" if layer else "embedded"
