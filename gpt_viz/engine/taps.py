"""Watching a pass at named places, and the one border over which tensors become arrays. Knows no order of steps.

The model records nothing but its stash. A place is a variable of one of its forwards, and its name is the path of the
module followed by the variable's name; so the places are read where they are: in the frame of the forward, as it
returns. Nothing is held longer than the model itself holds it.
"""

from __future__ import annotations

import difflib
import fnmatch
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.ids import Ids, check_ids
from gpt_viz.engine.model import GPT, Block, FeedForward, Head, MultiHeadAttention

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float32 | np.int64]]"
See: TypeAlias = Callable[[str, Tensor], None]

# The variables of each forward that are places.
_PLACES: dict[CodeType, tuple[str, ...]] = {
    Head.forward.__code__: ("q", "k", "v", "products", "scores", "masked", "A", "out"),
    MultiHeadAttention.forward.__code__: ("concat", "proj"),
    FeedForward.forward.__code__: ("expand", "gelu", "contract"),
    Block.forward.__code__: ("ln1", "mid", "ln2", "out"),
    GPT.embed.__code__: ("ids", "token_embedding", "position_embedding", "embedded"),
    GPT.read_out.__code__: ("ln_f", "logits"),
    GPT.compare.__code__: ("loss",),
}


class UnknownPlace(ValueError):  # noqa: N818 (what it is says more than "Error")
    """A pattern that names no place of this model's pass; the message names the nearest one."""


class NoStash(ValueError):  # noqa: N818
    """Attention was asked for, and the last pass kept none."""


def snapshot(tensor: Tensor) -> Array:
    """A tensor as an array of its own: read-only, on the CPU, float32 (whole numbers stay whole: int64).

    A copy, so that it does not go on changing while the optimizer steps. The only place where tensors become arrays.
    """
    kind = torch.float32 if tensor.is_floating_point() else torch.int64
    array: Array = tensor.detach().to("cpu", kind, copy=True).numpy()
    array.setflags(write=False)
    return array


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Inside: no dropout and no gradients. Afterwards each module's mode is what it was. Never held over a yield."""
    training = [each for each in module.modules() if each.training]
    for each in training:
        each.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for each in training:
            each.training = True


@contextmanager
def stashing(module: nn.Module, on: bool) -> Iterator[None]:
    """Inside: the heads keep their attention, or don't. Afterwards they do what they did, and hold none."""
    before = [(head, head.stash) for head in module.modules() if isinstance(head, Head)]
    for head, _ in before:
        head.stash, head.A = on, None
    try:
        yield
    finally:
        for head, was in before:
            head.stash, head.A = was, None


@contextmanager
def watching(module: nn.Module, see: See, prefix: str = "") -> Iterator[None]:
    """Inside: `see(name, tensor)` is called at each place of each pass of `module` on this thread.

    `prefix` is the path of the module in its model, such as `blocks.0`. A block's own places are seen after those of
    the heads within it. What this thread's profile function was, it is again afterwards.
    """
    owners = {id(each): f"{path}." if path else "" for path, each in module.named_modules(prefix=prefix)}

    def on_event(frame: FrameType, event: str, _: object) -> None:
        if event != "return" or frame.f_code not in _PLACES:
            return
        values = frame.f_locals
        owner = owners.get(id(values["self"]))
        if owner is None:
            return
        for name in _PLACES[frame.f_code]:
            if name in values:  # not all, where the forward ends by an error
                see(owner + name, values[name])

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        yield
    finally:
        sys.setprofile(before)


def places(config: GPTConfig, globs: Iterable[str], *, loss: bool = True) -> tuple[str, ...]:
    """The names that match any of the patterns (`*`, `?`, `[01]`; a star matches dots too), in order of execution.

    Raises UnknownPlace for a pattern that matches none.
    """
    names = [step.name for step in ledger.steps(config, loss=loss)]
    wanted: set[str] = set()
    for glob in globs:
        found = [name for name in names if fnmatch.fnmatchcase(name, glob)]
        if not found:
            raise UnknownPlace(_nothing_matches(glob, names, loss))
        wanted.update(found)
    return tuple(name for name in names if name in wanted)


def capture(model: GPT, ids: Ids, globs: Iterable[str]) -> dict[str, Array]:
    """One pass over `ids`; the arrays at the places that the patterns name, by name, in order of execution.

    The batch axis is kept: (1, T, C) for one text. Float32, but `ids` int64. Nothing else is kept. The loss is that of
    the text's own next tokens, so a single token has none. Raises IdsError and UnknownPlace.
    """
    checked = check_ids(ids, model.config)
    wanted = places(model.config, globs, loss=checked.shape[-1] > 1)
    chosen = frozenset(wanted)
    seen: dict[str, Array] = {}

    def keep(name: str, tensor: Tensor) -> None:
        if name in chosen:
            seen[name] = snapshot(tensor)

    with evaluating(model), stashing(model, False), watching(model, keep):
        on_device = checked.to(device_of(model))
        logits, _ = model(on_device)
        if "loss" in chosen:
            own_loss(model, logits, on_device)
    return {name: seen[name] for name in wanted}


def own_loss(model: GPT, logits: Tensor, ids: Tensor) -> Tensor | None:
    """The loss of the text's own next tokens, T - 1 of them, in nats per token; None for a single token."""
    return model.compare(logits[:, :-1], ids[:, 1:]) if ids.shape[-1] > 1 else None


def collect_attention(model: nn.Module) -> Array:
    """Every head's attention of the last pass over one text: (L, H, T, T) float32; the stash is empty afterwards.

    Row = query, column = key; rows sum to 1. Raises NoStash where a head kept none.
    """
    stacks = [take_stash(each) for each in model.modules() if isinstance(each, MultiHeadAttention)]
    return snapshot(torch.stack(stacks) if stacks else torch.empty(0, 0, 0, 0))


def take_stash(attention: nn.Module) -> Tensor:
    """The stash of one layer's heads, (H, T, T), taken away from them. Raises NoStash."""
    heads = [each for each in attention.modules() if isinstance(each, Head)]
    patterns = [head.A for head in heads]
    for head in heads:
        head.A = None
    kept = [pattern for pattern in patterns if pattern is not None]
    if len(kept) < len(heads):
        raise NoStash("no attention was kept; run a pass with the heads' stash on")
    if any(pattern.shape[0] != 1 for pattern in kept):
        raise NoStash("attention is collected of one text at a time; run a pass with a batch of one")
    return torch.cat(kept)


def shrink(patterns: Tensor, cells: int) -> Tensor:
    """Patterns (H, T, T) of at most `cells` a side: (H, t, t), each cell the largest of a square of weights."""
    H, T, _ = patterns.shape
    side = -(-T // cells)
    if side <= 1:
        return patterns
    t = -(-T // side)
    padded = torch.nn.functional.pad(patterns, (0, t * side - T, 0, t * side - T))
    rows = padded.view(H, t, side, t * side).amax(2)  # in two goes: five times faster than in one
    return rows.view(H, t, t, side).amax(3)


def device_of(model: GPT) -> torch.device:
    """Where the model's weights are."""
    return model.token_embedding.weight.device


def _nothing_matches(glob: str, names: list[str], loss: bool) -> str:
    if glob == "loss" and not loss:
        return "a text of one token has no loss: there is no next token to compare with"
    alike = [name for name in names if fnmatch.fnmatchcase(name.lower(), glob.lower())]
    near = alike or difflib.get_close_matches(glob, names, n=1, cutoff=0.0)
    return f"no place is called {glob!r}; the nearest is {near[0]}"
