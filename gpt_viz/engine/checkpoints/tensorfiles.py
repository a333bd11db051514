"""The safetensors format: named tensors and texts; nothing in it can be code. Knows no model.

A file is the length of a header, the header as JSON, and the numbers of the tensors one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from gpt_viz.engine.checkpoints.refusals import CheckpointError

_TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    """The tensors, mapped and not yet read, and the writer's texts. Raises CheckpointError for a damaged file."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118 (no mapping)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OSError):
        raise CheckpointError(
            f"{path.name} could not be read as a checkpoint: probably it is damaged; fetch it again"
        ) from None


def write_safetensors(file: BinaryIO, tensors: Mapping[str, Tensor], notes: Mapping[str, str]) -> None:
    """Write the tensors, from whatever device, and the texts. Raises OSError.

    The library would first make a copy of all of it in memory, during which nothing else in the program could run.
    """
    header: dict[str, object] = {"__metadata__": dict(notes)}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": _TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    table = json.dumps(header, separators=(",", ":")).encode()
    table += b" " * (-len(table) % 8)  # so that the numbers begin where numbers of 8 bytes may
    file.write(len(table).to_bytes(8, "little") + table)
    for tensor in tensors.values():
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        file.write(plain.view(torch.uint8).numpy().data)
