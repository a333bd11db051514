"""What the weights show, what the file says and what was asked for, settled into one config. Knows no file.

The weights are never argued with: whoever says otherwise is contradicted, and nothing is built.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpt_viz.config import CHOICES, ConfigError, GPTConfig, label
from gpt_viz.engine.checkpoints.declarations import Asked
from gpt_viz.engine.checkpoints.recognition import Recognised, same
from gpt_viz.engine.checkpoints.refusals import CheckpointError, Contradiction, NeedsSetting, either
from gpt_viz.engine.checkpoints.report import Report


def settled(found: Recognised, said: Mapping[str, Any], wanted: Asked, report: Report) -> GPTConfig:
    """The config of the model in the file. Raises Contradiction, NeedsSetting, CheckpointError and ConfigError."""
    shown = _shown(found)
    tied = _tied(found, said, wanted.settings, report)
    for name, value in shown.items():
        _check(found.name, name, value, said, wanted.settings)
    values: dict[str, Any] = {**_usual(found), **said, **wanted.settings, **shown, "tied_head": tied}
    if "heads" not in shown and "heads" in said:
        _agree(found.name, "heads", said["heads"], wanted.settings, "its settings say")
    values["heads"] = _heads(found.name, values)
    values["gelu"] = _gelu(found, said, wanted.settings, report)
    try:
        return GPTConfig(**values)
    except ConfigError as error:
        if error.field in wanted.settings:
            raise
        raise CheckpointError(f"{found.name} holds no model that can be built: {error}") from None


def _shown(found: Recognised) -> dict[str, Any]:
    """The settings that the weights themselves show."""
    token, position = (found.places[f"{each}_embedding.weight"] for each in ("token", "position"))
    for name, tensor in (("token_embedding.weight", token), ("position_embedding.weight", position)):
        if tensor.dim() != 2 or not tensor.numel():
            shape = tuple(tensor.shape)
            raise CheckpointError(f"{found.name} is not a GPT checkpoint: {found.spelled(name)} has the shape {shape}")
    layers = _counted(found, r"blocks\.(\d+)\..*", "layer")
    shown: dict[str, Any] = {
        "vocabulary": token.shape[0],
        "width": token.shape[1],
        "block_size": position.shape[0],
        "layers": layers,
        "bias": "ln_f.bias" in found.places,
        "head_bias": "head.bias" in found.places,
    }
    if layers:
        attention = r"blocks\.0\.attn\.(qkv|query|heads\.0\.query)\.bias"
        shown["qkv_bias"] = any(re.fullmatch(attention, place) for place in found.places)
        heads = _counted(found, r"blocks\.0\.attn\.heads\.(\d+)\..*", "head")
        if heads:
            shown["heads"] = heads
    return shown


def _counted(found: Recognised, pattern: str, what: str) -> int:
    """How many of them there are, numbered from 0 without a gap."""
    numbers = {int(match[1]) for place in found.places if (match := re.fullmatch(pattern, place))}
    missing = next((number for number in range(len(numbers)) if number not in numbers), None)
    if missing is not None:
        raise CheckpointError(f"{found.name} lacks {what} {missing}, but has {what} {max(numbers)}")
    return len(numbers)


def _check(name: str, field: str, shown: Any, said: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    if field in said and said[field] != shown:
        raise Contradiction(
            f"{name} contradicts itself: its settings say {label(field)} {_read(said[field])}, "
            f"but its weights have {_read(shown)}; nothing was built"
        )
    _agree(name, field, shown, wanted, "its weights have")


def _agree(name: str, field: str, value: Any, wanted: Mapping[str, Any], whose: str) -> None:
    if field in wanted and wanted[field] != value:
        raise Contradiction(
            f"{name} can't be opened with {label(field)} {_read(wanted[field])}: {whose} {_read(value)}"
        )


def _read(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _usual(found: Recognised) -> dict[str, Any]:
    return {"initialisation": found.layout.initialisation, "scale": found.layout.scale}


def _tied(found: Recognised, said: Mapping[str, Any], wanted: Mapping[str, Any], report: Report) -> bool:
    """Whether the output head is the token embedding: by its numbers, unless someone says that there are two."""
    head = found.places.get("head.weight")
    asked = wanted.get("tied_head")
    if head is None:
        if not found.layout.may_lack_head:
            return False  # what lacks is named with whatever else lacks
        if said.get("tied_head") is False or asked is False:
            raise Contradiction(f"{found.name} holds no output head, so it can only be tied to the token embedding")
        report.say("tied", "the output head is the token embedding: the file has none of its own")
        return True
    if not same(head, found.places["token_embedding.weight"]):
        if asked:
            raise Contradiction(f"{found.name} can't be opened with a tied head: its own differs from the embedding")
        if found.layout.may_lack_head:
            also = ", though its settings say that they are tied" if said.get("tied_head") else ""
            report.say("output head", f"the file's own, which differs from the token embedding{also}")
        return False
    if asked is False or (asked is None and said.get("tied_head") is False):
        report.say("output head", "the same numbers as the token embedding, kept and counted twice")
        return False
    report.say("tied", "the output head holds the numbers of the token embedding: they are one, counted once")
    return True


def _heads(name: str, values: Mapping[str, Any]) -> int:
    if "heads" in values:
        heads: int = values["heads"]
        return heads
    if not values["layers"]:
        return 1
    width: int = values["width"]
    candidates = tuple(str(heads) for heads in range(1, width + 1) if width % heads == 0)
    raise NeedsSetting(
        f"{name} does not say how many heads a layer has, and its weights can't show it; "
        f"set heads to {either(candidates)}",
        "heads",
        candidates,
    )


def _gelu(found: Recognised, said: Mapping[str, Any], wanted: Mapping[str, Any], report: Report) -> str:
    for source, why in ((wanted, "as asked"), (said, "as the file says")):
        if "gelu" in source:
            gelu: str = source["gelu"]
            report.say("GELU", f"{gelu}, {why}")
            return gelu
    if not found.layout.gelu:
        raise NeedsSetting(
            f"{found.name} has the names of {found.layout.title}: {found.layout.gelu_note}; "
            f"if this model was made with GELU, set gelu to {either(CHOICES['gelu'])}",
            "gelu",
            CHOICES["gelu"],
        )
    if found.layout.gelu_note:
        report.say("GELU", f"{found.layout.gelu}, {found.layout.gelu_note}")
    return found.layout.gelu
