"""How each preset draws the weights of a new model, in the notebooks' order. Knows no forward pass and no training.

Three rules. `step5` takes torch's own draws, then draws again the two projections that add to the residual stream, at
0.02 / sqrt(2·L). `build-gpt` takes torch's own draws, then draws every matrix again at 0.02 and sets the biases to
zero. `gpt2` draws every matrix once at 0.02, the residual projections at 0.02 / sqrt(2·L), and sets the biases to zero
(GPT-2 paper, section 2.3). The first two give the notebooks' numbers, bit for bit, at the same seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from gpt_viz.config import GPTConfig, check_seed
from gpt_viz.engine.model import GPT

_STD = 0.02

BuildSteps = Generator[tuple[int, int, str], None, GPT]
Draw = Callable[[nn.Module], None]


def build(config: GPTConfig, seed: int, device: torch.device | str = "cpu") -> GPT:
    """A new model in eval mode; the same seed means the same weights on every device. Raises ConfigError."""
    steps = build_steps(config, seed, device)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            model: GPT = end.value
            return model


def build_steps(config: GPTConfig, seed: int, device: torch.device | str = "cpu") -> BuildSteps:
    """Build a model one module at a time: yields (done, total, place) after each, returns the model in eval mode.

    The numbers are drawn on the CPU, whatever the device, and from a state of their own: torch's global generator is
    as it was at each yield, also when this generator is closed early. Raises ConfigError for a bad seed.
    """
    randomness = _Randomness(check_seed(seed))
    model = skeleton(config)
    plan = _plan(model)
    moves = [] if torch.device(device).type == "cpu" else _leaves(model)
    total = len(plan) + len(moves)
    for done, (place, module, draw) in enumerate(plan, 1):
        if module is model.head:
            _tie(model)
        _materialise(module)
        with randomness:
            draw(module)
        yield done, total, place
    for done, (place, module) in enumerate(moves, len(plan) + 1):
        module.to(device)
        yield done, total, place
    _tie(model)  # a move may have given the head a copy of its own
    return model.eval()


def skeleton(config: GPTConfig) -> GPT:
    """The model's real module, every shape in place and not a number in it, so that any size can be counted."""
    with _Skeleton():
        return GPT(config)


def residual_std(config: GPTConfig) -> float:
    """The spread of the projections that add to the residual stream: 2·L of them together add up to 0.02."""
    return _STD / math.sqrt(2 * max(config.layers, 1))


def promised_std(config: GPTConfig, name: str) -> float | None:
    """The standard deviation that the parameter `name` is drawn with; 0 for what starts at zero, None for a LayerNorm.

    A Linear layer of torch's own is uniform within ±1 / sqrt(n), n its inputs, so its deviation is 1 / sqrt(3·n).
    """
    place, _, kind = name.rpartition(".")
    layer = place.rpartition(".")[2]
    if layer.startswith("ln"):
        return None
    if config.initialisation != "step5":
        if kind == "bias":
            return 0.0
        return residual_std(config) if layer == "proj" and config.initialisation == "gpt2" else _STD
    if layer.endswith("embedding") or (name == "head.weight" and config.tied_head):
        return 1.0
    if layer == "proj" and kind == "weight":
        return residual_std(config)
    inputs = 4 * config.width if place.endswith("mlp.proj") else config.width
    return 1 / math.sqrt(3 * inputs)


class _Randomness:
    """A state of torch's CPU generator of its own: the global one only inside `with`, and put away again after."""

    def __init__(self, seed: int) -> None:
        self._own = torch.Generator().manual_seed(seed).get_state()

    def __enter__(self) -> None:
        self._others = torch.get_rng_state()
        torch.set_rng_state(self._own)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._own = torch.get_rng_state()
        torch.set_rng_state(self._others)


class _Skeleton(TorchFunctionMode):
    """Inside `with`, new tensors have a shape but no numbers, and nothing is drawn: a model of any size, at once.

    Under torch's own `torch.device("meta")` an Embedding's draw would import the compiler, which takes a second.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return kwargs.get("tensor", args[0] if args else None)
        if func is torch.empty:
            kwargs = {**kwargs, "device": "meta"}
        return func(*args, **kwargs)


def _leaves(model: GPT) -> list[tuple[str, nn.Module]]:
    """The modules that hold parameters themselves, in the order in which they were made."""
    return [(place, module) for place, module in model.named_modules() if any(True for _ in module.parameters(False))]


def _plan(model: GPT) -> list[tuple[str, nn.Module, Draw]]:
    """What is drawn for which module, in order. A tied head draws no weight: it is the token embedding's."""
    config = model.config
    tied = model.head if config.tied_head else None
    as_torch = partial(_draw_as_torch, tied=tied)
    small = partial(_draw_normal, std=_STD, tied=tied)
    residual = partial(_draw_normal, std=residual_std(config))
    leaves = _leaves(model)
    matrices = [(place, module) for place, module in leaves if not isinstance(module, nn.LayerNorm)]
    projections = [(place, module) for place, module in matrices if place.endswith(".proj")]
    plan: list[tuple[str, nn.Module, Draw]] = []
    if config.initialisation == "gpt2":
        for place, module in leaves:
            draw = as_torch if isinstance(module, nn.LayerNorm) else residual if place.endswith(".proj") else small
            plan.append((place, module, draw))
        return plan
    plan += [(place, module, as_torch) for place, module in leaves]
    if config.initialisation == "build-gpt":
        return plan + [(place, module, small) for place, module in matrices]
    return plan + [(place, module, partial(residual, zero_bias=False)) for place, module in projections]


def _draw_as_torch(module: nn.Module, tied: nn.Module | None = None) -> None:
    """The module's own draw, as when it is made."""
    if module is not tied:
        module.reset_parameters()  # type: ignore[operator]
    elif isinstance(module, nn.Linear) and module.bias is not None:
        bound = 1 / math.sqrt(module.in_features)
        nn.init.uniform_(module.bias, -bound, bound)


def _draw_normal(module: nn.Module, std: float, tied: nn.Module | None = None, zero_bias: bool = True) -> None:
    """A matrix from the normal distribution around 0, and its bias at zero."""
    assert isinstance(module, (nn.Linear, nn.Embedding))
    if module is not tied:
        nn.init.normal_(module.weight, mean=0.0, std=std)
    if zero_bias and isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def _materialise(module: nn.Module) -> None:
    """Give the module's own parameters memory, where they have none yet.

    Not by `to_empty`, which takes a third of a second the first time: it makes torch import sympy.
    """
    for name, parameter in list(module.named_parameters(recurse=False)):
        if parameter.is_meta:
            setattr(module, name, nn.Parameter(torch.empty(tuple(parameter.shape))))


def _tie(model: GPT) -> None:
    if model.config.tied_head:
        model.head.weight = model.token_embedding.weight
