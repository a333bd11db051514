"""A tensor as a picture of at most so many cells, in which nothing that stands out is lost. Knows no pass."""

from __future__ import annotations

import math
from collections.abc import Generator

import torch
from torch import Tensor
from torch.nn.functional import pad

from gpt_viz.engine.stages import finished
from gpt_viz.engine.taps import snapshot
from gpt_viz.measures import Picture

SIDE = 512  # the most cells that a picture has each way
_AT_ONCE = 1_000_000  # so many numbers are looked through in one go


def picture(name: str, tensor: Tensor, symbols: tuple[str, ...]) -> Picture:
    """`picturing` in one go."""
    return finished(picturing(name, tensor, symbols))


def picturing(name: str, tensor: Tensor, symbols: tuple[str, ...]) -> Generator[None, None, Picture]:
    """The tensor, of one text, as a matrix of its last two axes: whole where it fits, else what stands out.

    Whole numbers become float32 too, which holds every id exactly. Pauses while it looks through a large tensor, which
    must not change meanwhile.
    """
    shape = tuple(tensor.shape)
    matrix = tensor.detach().reshape(-1, shape[-1] if shape else 1).float()
    rows, columns = matrix.shape
    span = (max(1, math.ceil(rows / SIDE)), max(1, math.ceil(columns / SIDE)))
    if span == (1, 1):
        return Picture(name, shape, symbols, snapshot(matrix))
    at_once = max(1, _AT_ONCE // (span[0] * columns)) * span[0]
    parts = []
    for part in torch.split(matrix, at_once):
        parts.append(_standing_out(part, span))
        yield
    cells, offsets = (torch.cat(each) for each in zip(*parts, strict=True))
    return Picture(name, shape, symbols, snapshot(cells), span, snapshot(offsets.float()))


def _standing_out(matrix: Tensor, span: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Of each rectangle the number that stands out, and which of the rectangle it is."""
    down, right = (-size % side for size, side in zip(matrix.shape, span, strict=True))
    size = matrix.abs()
    size[matrix.isnan()] = math.inf
    size[matrix == -math.inf] = -1.0
    found = _rectangles(pad(size, (0, right, 0, down), value=-2.0), span).argmax(-1, keepdim=True)
    return _rectangles(pad(matrix, (0, right, 0, down)), span).gather(-1, found).squeeze(-1), found.squeeze(-1)


def _rectangles(matrix: Tensor, span: tuple[int, int]) -> Tensor:
    """(rows, columns, numbers of the rectangle)."""
    rows, columns = (size // side for size, side in zip(matrix.shape, span, strict=True))
    return matrix.view(rows, span[0], columns, span[1]).transpose(1, 2).reshape(rows, columns, -1)
