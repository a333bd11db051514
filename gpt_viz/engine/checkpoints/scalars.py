"""Numpy's single numbers in a torch file, read without numpy's own unpickling. Knows no file.

Checkpoints often hold a best loss as numpy.float64. torch's safe reader lets them pass only if the functions that make
them are allowed by name; under those names it gets the ones here, which can make a plain number and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_NUMBERS = re.compile(r"b1|[iu][1248]|f[248]")


class Dtype:
    """A numpy number type as a pickle spells it: `f8`, and the byte order that follows as its state."""

    def __init__(self, code: str, *_: object) -> None:
        if not isinstance(code, str) or not _NUMBERS.fullmatch(code):
            raise ValueError(f"not a type of numbers: {code!r}")
        self.code = code
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] in ("<", ">", "|", "="):
            self.order = state[1]


def number(dtype: Dtype, data: bytes) -> int | float | bool:
    """The number that the bytes are. Raises ValueError for anything else."""
    import numpy as np

    if not isinstance(dtype, Dtype) or not isinstance(data, bytes):
        raise ValueError("not a number")
    kind = np.dtype(dtype.order + dtype.code)
    if len(data) != kind.itemsize:
        raise ValueError("not one number")
    plain: int | float | bool = np.frombuffer(data, kind)[0].item()
    return plain


def _under(module: str) -> Callable[[Dtype, bytes], int | float | bool]:
    """`number` under the name that numpy's own function has in files of that version of numpy."""

    def scalar(dtype: Dtype, data: bytes) -> int | float | bool:
        return number(dtype, data)

    scalar.__module__, scalar.__qualname__ = module, "scalar"
    return scalar


Dtype.__module__, Dtype.__qualname__ = "numpy", "dtype"

ALLOWED: tuple[Callable[..., Any], ...] = (Dtype, _under("numpy.core.multiarray"), _under("numpy._core.multiarray"))
