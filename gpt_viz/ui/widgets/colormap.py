"""From weights to pixels: one colour table on a fixed scale from 0 to 1, and resizing that loses no hot cell.

Knows no widget and nothing of attention. A weight is first cut to the upper 16 bits of its float32, its code: codes of
numbers from 0 up keep their order, infinity and NaN come after all of them, and a table of 65,536 colours turns any
array of codes into pixels in one look-up, whatever the scale.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

Codes = npt.NDArray[np.uint16]
Pixels = npt.NDArray[np.uint32]
Spans = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]

LINEAR = "linear"
LOG = "log"
STRETCHES = (LINEAR, LOG)
LOG_FLOOR = 1e-4  # the log scale begins here; smaller weights and 0 share its first colour
NOT_FINITE = 0x7F80  # the code of infinity; NaN's are above it

# Every 15th of the 256 colours of cividis: J. Nuñez, C. Anderton, R. Renslow, PLoS ONE 13(7): e0199239 (2018),
# published under CC0. Straight lines between them stay within 2.5 % of it.
_CIVIDIS = (
    "00204D 002B67 00356E 28406C 3D4A6B 4D556C 5B606E 696B71 767676 848179 928D78 A19976 B1A573 C1B26D D1BF66 E2CD5C "
    "F3DB4F FFEA46"
)


def pixel(colour: str) -> int:
    """`#RRGGBB` as one opaque pixel of a QImage.

    >>> hex(pixel("#00204D"))
    '0xff00204d'
    """
    return 0xFF000000 | int(colour.removeprefix("#"), 16)


@lru_cache(maxsize=1)
def cividis() -> Pixels:
    """The 256 colours from dark blue (0) over grey to yellow (1): even steps, also to the colour-blind."""
    anchors = np.array([[int(each[i : i + 2], 16) for i in (0, 2, 4)] for each in _CIVIDIS.split()])
    places = np.linspace(0, 255, len(anchors))
    channels = [np.rint(np.interp(np.arange(256), places, anchors[:, c])).astype(np.uint32) for c in range(3)]
    table: Pixels = np.uint32(0xFF000000) | channels[0] << 16 | channels[1] << 8 | channels[2]
    table.setflags(write=False)
    return table


def position(weights: npt.ArrayLike, stretch: str) -> npt.NDArray[np.float64]:
    """Where weights stand on the scale, from 0 to 1: as they are (`linear`), or by their logarithm from 0.0001 (`log`).

    Not finite weights have no place: NaN stays NaN, infinity is cut to 1.
    """
    given = np.asarray(weights, dtype=np.float64)
    if stretch == LOG:
        given = 1.0 - np.log10(np.maximum(given, LOG_FLOOR)) / np.log10(LOG_FLOOR)
    placed: npt.NDArray[np.float64] = np.clip(given, 0.0, 1.0)
    return placed


@lru_cache(maxsize=8)
def palette(stretch: str, not_finite: str) -> Pixels:
    """The pixel of each code (65,536,): cividis over the fixed scale, `not_finite` (`#RRGGBB`) for infinity and NaN."""
    middle = np.uint32(
        0x8000
    )  # each code stands for a small range of weights; its middle is off by half a step at most
    weights = (np.arange(65536, dtype=np.uint32) << 16 | middle).view(np.float32)
    finite = np.isfinite(weights)
    steps = np.zeros(65536, dtype=np.intp)
    steps[finite] = np.rint(position(weights[finite], stretch) * 255).astype(np.intp)
    table: Pixels = np.where(finite, cividis()[steps], np.uint32(pixel(not_finite)))
    table.setflags(write=False)
    return table


def codes_of(weights: npt.NDArray[np.float32]) -> Codes:
    """The codes of weights, of the same shape. A weight below 0 counts as 0; a not finite one of any sign stays so."""
    halves = np.ascontiguousarray(weights, dtype="<f4").view("<u2")
    codes: Codes = np.ascontiguousarray(halves[..., 1::2], dtype=np.uint16)
    if codes.size and codes.max() >= 0x8000:
        size = codes & np.uint16(0x7FFF)
        codes = np.where((codes >= 0x8000) & (size < NOT_FINITE), np.uint16(0), size)
    return codes


def count_not_finite(codes: Codes) -> int:
    """How many of the weights are NaN or infinite."""
    if codes.size == 0 or codes.max() < NOT_FINITE:  # far faster than counting, and nearly always so
        return 0
    return int(np.count_nonzero(codes >= NOT_FINITE))


def spans(first: float, last: float, pixels: int, cells: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """For each of `pixels` pixels that show the cells from `first` to `last`: its first cell, and one past its last.

    Where pixels are smaller than cells each shows one cell; where they are larger every cell belongs to one pixel.
    """
    step = (last - first) / pixels
    if step <= 1.0:
        starts = np.floor(first + (np.arange(pixels) + 0.5) * step).astype(np.intp).clip(0, cells - 1)
        return starts, starts + 1
    edges = np.floor(first + np.arange(pixels + 1) * step).astype(np.intp).clip(0, cells)
    edges[-1] = min(int(np.ceil(last)), cells)
    return edges[:-1], np.maximum(edges[1:], edges[:-1] + 1)


def _pooled(codes: Codes, starts: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], axis: int) -> Codes:
    # Taking whole slices and their maximum is ten times as fast as maximum.reduceat on segments this short.
    found: Codes = codes.take(starts, axis=axis)
    for offset in range(1, int((ends - starts).max())):
        np.maximum(found, codes.take(np.minimum(starts + offset, ends - 1), axis=axis), out=found)
    return found


def causal_pixels(
    codes: Codes,
    rows: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    columns: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    table: Pixels,
    masked: str,
) -> Pixels:
    """Patterns (..., T, T) as pixels (..., rows, columns): each the largest of its cells, so that none ever vanishes.

    A pixel whose cells all have key > query is drawn `masked` (`#RRGGBB`), unless there is a weight where none may be.
    """
    found = _pooled(_pooled(codes, *rows, codes.ndim - 2), *columns, codes.ndim - 1)
    pixels: Pixels = table.take(found)
    beyond = columns[0][None, :] > rows[1][:, None] - 1
    np.copyto(pixels, np.uint32(pixel(masked)), where=beyond & (found == 0))
    return pixels


def image_of(pixels: Pixels) -> QImage:
    """A QImage over the memory of `pixels` (height, width): no copy, so keep the array as long as the image."""
    height, width = pixels.shape
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
