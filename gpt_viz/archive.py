"""A file of named arrays, written whole or not at all. Knows nothing of what the arrays mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gpt_viz.arguments import UsageError

if TYPE_CHECKING:
    import numpy as np


def check_writable(out: Path, option: str = "--out") -> None:
    """Raises UsageError where no file can be written at this path: a folder, a device, nowhere, not allowed.

    `option` is the one that gave the path.
    """
    folder = out.parent
    if not out.name or out.is_dir():
        raise UsageError(f"{out} is a folder; {option} takes the name of a file")
    if out.exists() and not out.is_file():
        raise UsageError(f"{out} is not an ordinary file; {option} would replace it")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} to write {out.name} to")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"no permission to write to the folder {folder}")


def write_arrays(out: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz file beside its place and move it there once it is whole. Raises OSError."""
    import numpy as np

    target = Path(os.path.realpath(out))  # a link goes on pointing to the file
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(part, "xb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
