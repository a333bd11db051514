"""Reads what was pickled, without ever running what a pickle asks for. Knows no model.

A pickle is a program that may name any function. Of torch's files the safe reader makes only tensors, containers,
numbers and texts; of a plain pickle (nanoGPT's meta.pkl) the reader here refuses every name. There is no other way in.
"""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path
from typing import Any, NoReturn

import torch

from gpt_viz.engine.checkpoints.containers import check_plain_file
from gpt_viz.engine.checkpoints.refusals import CheckpointError, WantsCode
from gpt_viz.engine.checkpoints.scalars import ALLOWED

# An alphabet takes some kilobytes.
_LARGEST_PLAIN = 64 * 2**20
_NAMED = (
    re.compile(r"GLOBAL ([\w.]+)"),
    re.compile(r"unrecognized function <(?:\w+ )*?(?:function |class )?'?([\w.]+)"),
    re.compile(r"got <class '([\w.]+)'>"),
)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def read_torch(path: Path, zipped: bool) -> Any:
    """What torch.save put into the file, its tensors on the CPU wherever they were. Raises CheckpointError, WantsCode.

    A `zipped` file is mapped, not read: its tensors take memory only when they are copied.
    """
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(list(ALLOWED)):
            warnings.simplefilter("ignore")  # of a pickle's age; what matters is said below
            return torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        # The library's own text is a page of advice with terminal colours in it.
        text = _ESCAPES.sub("", str(error))
        wanted = next((found[1] for each in _NAMED if (found := each.search(text))), "")
        if isinstance(error, pickle.UnpicklingError) and wanted:
            raise WantsCode(path.name, wanted) from None
        raise CheckpointError(_unreadable(path.name, error, text)) from None


def read_plain(path: Path) -> Any:
    """What a pickle of containers, numbers and texts holds. Raises CheckpointError, WantsCode."""
    check_plain_file(path)
    if path.stat().st_size > _LARGEST_PLAIN:
        raise CheckpointError(f"{path.name} is too large for an alphabet")
    try:
        with open(path, "rb") as file:
            return _Plain(file, path.name).load()
    except WantsCode:
        raise
    except Exception:  # a broken pickle can end in any
        raise CheckpointError(f"{path.name} is damaged, or no pickle; take it away or give the alphabet") from None


class _Plain(pickle.Unpickler):
    """Refuses every name and every reference to something outside the file."""

    def __init__(self, file: Any, name: str) -> None:
        super().__init__(file)
        self._name = name

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise WantsCode(self._name, f"{module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError("a reference to something outside the file")


def _unreadable(name: str, error: Exception, text: str) -> str:
    if isinstance(error, EOFError):
        return f"{name} is cut short: probably an incomplete download; fetch it again"
    if "Invalid magic number" in text or "legacy" in text.lower():
        return f"{name} is a pickle, but not one that torch.save wrote; save it again with torch.save"
    if isinstance(error, pickle.UnpicklingError):
        return f"{name} is damaged, or uses a kind of pickle that can't be read safely; save it again with torch.save"
    return f"{name} could not be read as a checkpoint: probably it is damaged, or an incomplete download"
