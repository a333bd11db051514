"""A model filled with the tensors of a file, each cut to where it belongs. Draws nothing and reads no file."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping

import torch
from torch import Tensor, nn

from gpt_viz.config import GPTConfig
from gpt_viz.engine.checkpoints.recognition import Recognised
from gpt_viz.engine.checkpoints.refusals import CheckpointError, listed
from gpt_viz.engine.initialise import skeleton
from gpt_viz.engine.model import GPT

_ROWS = ("query", "key", "value")  # in this order in a fused matrix
_OF_HEAD = re.compile(r"(blocks\.\d+\.attn)\.heads\.(\d+)\.(query|key|value)\.(weight|bias)")
_SHARED = re.compile(r"blocks\.\d+\.attn\.(qkv|query|key|value)\.(weight|bias)")

Steps = Generator[tuple[int, int, str], None, GPT]


def check_tensors(found: Recognised, config: GPTConfig) -> None:
    """Raise CheckpointError where a tensor of the config lacks or has another shape."""
    needed = {name: tuple(each.shape) for name, each in skeleton(config).named_parameters(remove_duplicate=False)}
    if config.tied_head:
        del needed["head.weight"]
    for place, tensor in found.places.items():
        expected = _shape(place, needed, config)
        if expected is None and not (place == "head.weight" and config.tied_head):
            raise CheckpointError(
                f"{found.name} holds {found.spelled(place)} in some layers only, or without what belongs to it; "
                "this program's models have biases in all of their layers or in none"
            )
        if expected is not None and tuple(tensor.shape) != expected:
            raise CheckpointError(
                f"{found.name} holds {found.spelled(place)} of the shape {tuple(tensor.shape)}, "
                f"where a GPT of width {config.width} with {config.heads} heads has {expected}"
            )
    missing = [name for name in needed if _cut(found.places, name, config) is None]
    if missing:
        # Of a fused matrix that lacks, each head would be named by itself.
        names = list(dict.fromkeys(_spelled(found, each) for each in missing))
        raise CheckpointError(
            f"{found.name} is not a whole checkpoint of {found.layout.title}: it lacks {listed(names)}"
        )


def assembled(found: Recognised, config: GPTConfig, device: torch.device) -> Steps:
    """The model in eval mode, its numbers copied as float32 to the device; yields (done, total, place) after each.

    The tensors must have passed `check_tensors`.
    """
    model = skeleton(config)
    parameters = [
        (name, place, module, kind)
        for place, module in model.named_modules()
        for kind, _ in module.named_parameters(recurse=False)
        if (name := f"{place}.{kind}") != "head.weight" or not config.tied_head
    ]
    for done, (name, place, module, kind) in enumerate(parameters, 1):
        numbers = _cut(found.places, name, config)
        assert numbers is not None  # check_tensors saw to it
        copy = torch.empty(tuple(numbers.shape), dtype=torch.float32, device=device)
        with torch.no_grad():
            copy.copy_(numbers)
        setattr(module, kind, nn.Parameter(copy))
        yield done, len(parameters), place
    if config.tied_head:
        model.head.weight = model.token_embedding.weight
    return model.eval()


def _cut(places: Mapping[str, Tensor], name: str, config: GPTConfig) -> Tensor | None:
    """The numbers of one of our parameters: a tensor of the file, or one head's rows of it."""
    if name in places or not (part := _OF_HEAD.fullmatch(name)):
        return places.get(name)
    attention, head, which, kind = part[1], int(part[2]), part[3], part[4]
    first = head * config.head_width
    whole = places.get(f"{attention}.{which}.{kind}")
    if whole is None and (whole := places.get(f"{attention}.qkv.{kind}")) is not None:
        first += _ROWS.index(which) * config.width
    return None if whole is None else whole[first : first + config.head_width]


def _shape(place: str, needed: Mapping[str, tuple[int, ...]], config: GPTConfig) -> tuple[int, ...] | None:
    """The shape that a place must have; None where a model of this config has no such place."""
    if not (shared := _SHARED.fullmatch(place)):
        return needed.get(place)
    if shared[2] == "bias" and not config.qkv_bias:
        return None
    rows = config.width * (3 if shared[1] == "qkv" else 1)
    return (rows, config.width) if shared[2] == "weight" else (rows,)


def _spelled(found: Recognised, name: str) -> str:
    if part := _OF_HEAD.fullmatch(name):
        for shared in ("qkv", part[3]):
            place = f"{part[1]}.{shared}.{part[4]}"
            if found.spelled(place) != place:
                return found.spelled(place)
    return found.spelled(name)
