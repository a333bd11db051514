"""Which program wrote the tensors, by their names and shapes, and which of ours each one is. Knows no file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gpt_viz.engine.checkpoints import layouts
from gpt_viz.engine.checkpoints.contents import Contents
from gpt_viz.engine.checkpoints.layouts import FAMILIES, Layout
from gpt_viz.engine.checkpoints.refusals import CheckpointError, listed
from gpt_viz.engine.checkpoints.report import Report

# What torch.compile and data-parallel training put before every name.
_PREFIXES = ("_orig_mod.", "module.")
_NUMBERS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
# What our own files may carry besides the model, to go on with a training run.
KEPT_STATE = "training."
_PARTS = {
    "token_embedding.weight": "token embedding",
    "position_embedding.weight": "position embedding",
    "blocks.0.attn.proj.weight": "layers of attention",
    "ln_f.weight": "final LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Recognised:
    """The layout, and the file's tensors by our places, each as (outputs, inputs)."""

    name: str
    layout: Layout
    places: Mapping[str, Tensor]

    def spelled(self, place: str) -> str:
        """The place as the file calls it."""
        return self.layout.spelled(place)


def recognise(contents: Contents, report: Report) -> Recognised:
    """Find the layout and give every tensor its place. Raises CheckpointError where one has none, or none fits."""
    tensors = _without_prefix(contents.tensors, report)
    kept = [name for name in tensors if name.startswith(KEPT_STATE)]
    for name in kept:
        del tensors[name]
    layout = max(FAMILIES, key=lambda each: sum(each.place(name) is not None for name in tensors))
    names: dict[str, str] = {}
    strange, buffers = [], []
    for name in tensors:
        place = layout.place(name)
        if place is None:
            strange.append(name)
        elif not place:
            buffers.append(name)
        elif place in names:
            raise CheckpointError(f"{contents.name} holds {names[place]} and {name}, which are the same part of a GPT")
        else:
            names[place] = name
    _check_gpt(contents.name, names, list(tensors), strange)
    if strange:
        raise CheckpointError(
            f"{contents.name} has the names of {layout.title}, and {listed(strange)} besides: "
            "it is a model of another kind"
        )
    places = {place: tensors[name] for place, name in names.items()}
    _check_numbers(contents.name, {names[place]: tensor for place, tensor in places.items()})
    layout = _variant(layout, contents, places, bool(buffers))
    places = {place: _as_ours(place, tensor, layout) for place, tensor in places.items()}
    _tell(report, layout, names, places, buffers, kept)
    return Recognised(contents.name, layout, places)


def _without_prefix(tensors: Mapping[str, Tensor], report: Report) -> dict[str, Tensor]:
    removed = ""
    found = dict(tensors)
    while prefix := next((each for each in _PREFIXES if found and all(n.startswith(each) for n in found)), ""):
        found = {name.removeprefix(prefix): tensor for name, tensor in found.items()}
        removed += prefix
    if removed:
        report.say(
            "prefix removed", f"{removed} before every name, which torch.compile or parallel training puts there"
        )
    return found


def _check_gpt(name: str, places: Mapping[str, str], there: list[str], strange: list[str]) -> None:
    """Raise CheckpointError that says what a GPT needs and these names do not have."""
    missing = [part for place, part in _PARTS.items() if place not in places and place != "blocks.0.attn.proj.weight"]
    if "token embedding" in missing or len(strange) > len(there) / 2:
        if not any(place.startswith("blocks.") for place in places):
            missing.append(_PARTS["blocks.0.attn.proj.weight"])
        lacks = f"it has no {', no '.join(missing)}, as this program knows them" if missing else "its layers are others"
        raise CheckpointError(f"{name} is not a GPT checkpoint: {lacks}; it holds {listed(there) or 'no tensors'}")


def _variant(layout: Layout, contents: Contents, places: Mapping[str, Tensor], masks: bool) -> Layout:
    """Which of the programs that share GPT-2's names: GPT-2 stores (inputs, outputs), minGPT has a head of its own."""
    if layout is not layouts.NANOGPT:
        return layout
    fused, token = places.get("blocks.0.attn.qkv.weight"), places["token_embedding.weight"]
    if fused is not None and token.dim() == 2 and tuple(fused.shape) == (token.shape[1], 3 * token.shape[1]):
        return layouts.GPT2
    head = places.get("head.weight")
    of_its_own = head is not None and not same(head, token)
    by_mingpt = contents.entry == "config" and "model_type" in contents.said
    if by_mingpt or (masks and of_its_own and contents.entry != "model_args"):
        return layouts.MINGPT
    return layout


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers."""
    return one.shape == other.shape and (
        (one.data_ptr(), one.stride(), one.dtype) == (other.data_ptr(), other.stride(), other.dtype)
        or torch.equal(one, other)
    )


def _check_numbers(name: str, tensors: Mapping[str, Tensor]) -> None:
    for each, tensor in tensors.items():
        if tensor.layout is not torch.strided or tensor.dtype not in _NUMBERS:
            kind = "sparse" if tensor.layout is not torch.strided else str(tensor.dtype).removeprefix("torch.")
            raise CheckpointError(
                f"{name} holds {each} as {kind}; only float32, float64, float16 and bfloat16 can be opened"
            )
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            # Of any shape at all over a few numbers, which would have to be gone through to compare two of them.
            raise CheckpointError(f"{name} is damaged: {each} of the shape {tuple(tensor.shape)} is not all there")


def _as_ours(place: str, tensor: Tensor, layout: Layout) -> Tensor:
    """The tensor without leading axes of length 1 (minGPT's positions), and as (outputs, inputs)."""
    if place == "position_embedding.weight" and tensor.dim() == 3 and tensor.shape[0] == 1:
        tensor = tensor[0]
    in_block = re.fullmatch(r"blocks\.\d+\.(attn|mlp)\..*\.?weight", place)
    return tensor.t() if layout.transposed and in_block and tensor.dim() == 2 else tensor


def _tell(
    report: Report,
    layout: Layout,
    names: Mapping[str, str],
    places: Mapping[str, Tensor],
    buffers: list[str],
    kept: list[str],
) -> None:
    report.say("recognised", f"{layout.title}, by the names and shapes of {len(places):,} tensors")
    renamed = sum(place != name for place, name in names.items())
    if renamed:
        example = next((f", such as {name} → {place}" for place, name in names.items() if place != name), "")
        report.say("renamed", f"{renamed:,} tensors{example}")
    if layout.transposed:
        report.say("transposed", "the matrices in the blocks, which are stored as (inputs, outputs)")
    kinds = sorted({str(tensor.dtype).removeprefix("torch.") for tensor in places.values()})
    if kinds != ["float32"]:
        report.say("stored as", f"{' and '.join(kinds)}; loaded as float32")
    report.ignored(buffers, "masks, which are no parameters and are not counted")
    report.ignored(kept, "the state of a training run")
