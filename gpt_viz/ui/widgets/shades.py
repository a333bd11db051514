"""From the numbers of a tensor to pixels: signed ones around 0, shares from 0 to 1, masked cells as masked.

Each number is first cut to a code of 16 bits: its size's upper 15 bits and its sign. The larger of two codes is the
number further from 0, infinity and NaN above all, so shrinking a picture by the larger code loses nothing that stands
out. Knows no widget and no tensor's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpt_viz.ui.theme import Tokens
from gpt_viz.ui.widgets.colormap import LOG, Codes, Pixels, cividis, pixel, position

SIGNED, SHARES, PLAIN = "signed", "shares", "plain"
LINEAR, STRETCHED = "linear", "stretched"
Spans = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
MASKED = 1  # the code of a masked cell: what -0.0 would have
_NOT_FINITE = 0x7F80
_HATCH = 5  # px between the lines over masked cells
# From the most negative over 0 to the most positive; lightness falls (or rises) evenly to both sides.
_LIGHT = "0B3C7F 2B68B0 76A9D8 C3DBEE F6F5F3 F7DBBB EBA45C C9661A 843A05"
_DARK = "A9D1FF 5B9FE6 2F66A3 1D3A58 15181E 4B2F16 95591D DE8A30 FFCB8F"


@dataclass(frozen=True, slots=True)
class Shades:
    """How numbers become colours: the `kind` of scale, its `limit` (the number furthest from 0) and its `stretch`."""

    kind: str
    limit: float = 1.0
    stretch: str = LINEAR

    def place(self, numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Where finite numbers stand on the scale: from -1 to 1 where signed, else from 0 to 1."""
        given = np.asarray(numbers, dtype=np.float64)
        if self.kind == SHARES:
            return position(given, LOG if self.stretch == STRETCHED else LINEAR)
        placed: npt.NDArray[np.float64] = np.clip(given / (self.limit or 1.0), -1.0, 1.0)
        return np.sign(placed) * np.sqrt(np.abs(placed)) if self.stretch == STRETCHED else placed


@lru_cache(maxsize=2)
def diverging(dark: bool) -> Pixels:
    """The 255 colours from the most negative number over 0, which is as the theme's cards are, to the most positive."""
    anchors = np.array([[int(each[i : i + 2], 16) for i in (0, 2, 4)] for each in (_DARK if dark else _LIGHT).split()])
    places = np.linspace(0, 254, len(anchors))
    channels = [np.rint(np.interp(np.arange(255), places, anchors[:, c])).astype(np.uint32) for c in range(3)]
    table: Pixels = np.uint32(0xFF000000) | channels[0] << 16 | channels[1] << 8 | channels[2]
    table.setflags(write=False)
    return table


def codes_of(numbers: npt.NDArray[np.float32], masked: npt.NDArray[np.bool_] | None = None) -> Codes:
    """The codes of numbers, of the same shape; of `masked` cells the code of masked ones."""
    bits = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32)
    codes: Codes = ((bits >> 15 & 0xFFFE) | (bits >> 31)).astype(np.uint16)
    codes[codes == MASKED] = 0
    if masked is not None:
        codes[masked] = MASKED
    return codes


def numbers_of(codes: Codes) -> npt.NDArray[np.float32]:
    """The numbers that codes stand for, to one part in 256."""
    wide = codes.astype(np.uint32)
    size = (wide >> 1) << 16
    size = np.where(size > 0, size | 0x8000, size)
    numbers: npt.NDArray[np.float32] = (size | (wide & 1) << 31).view(np.float32)
    return numbers


def count_not_finite(codes: Codes) -> int:
    """How many of the cells are infinite or no number, masked ones apart."""
    return int(np.count_nonzero(codes >> 1 >= _NOT_FINITE))


def limit_of(codes: Codes) -> float:
    """The size of the finite number furthest from 0; 0 where there is none."""
    finite = codes[codes >> 1 < _NOT_FINITE]
    return abs(float(numbers_of(finite.max(keepdims=True))[0])) if finite.size else 0.0


def pixels_of(codes: Codes, shades: Shades, theme: Tokens) -> Pixels:
    """A pixel for each code, in a theme's colours."""
    if shades.kind == PLAIN:
        pixels: Pixels = np.full(codes.shape, pixel(theme.field), np.uint32)
    else:
        with np.errstate(all="ignore"):
            placed = np.nan_to_num(shades.place(numbers_of(codes)))
        if shades.kind == SHARES:
            pixels = cividis()[np.rint(placed * 255).astype(np.intp)]
        else:
            pixels = diverging(theme.dark)[np.rint(placed * 127 + 127).astype(np.intp)]
    pixels[codes >> 1 >= _NOT_FINITE] = pixel(theme.bad)
    pixels[codes == MASKED] = pixel(theme.masked)
    return pixels


def hatch(pixels: Pixels, masked: npt.NDArray[np.bool_], line: str) -> None:
    """Draw slanting lines over the masked ones of the pixels, so that no colour of a scale is taken for them."""
    rows, columns = np.ogrid[: pixels.shape[0], : pixels.shape[1]]
    pixels[masked & ((rows + columns) % _HATCH == 0)] = pixel(line)


def pooled(codes: Codes, rows: Spans, columns: Spans) -> Codes:
    """For each pixel (..., rows, columns) the largest code of its cells in pictures (..., cells, cells).

    `rows` and `columns` are as `colormap.spans` gives them.
    """
    return _largest(_largest(codes, *rows, codes.ndim - 2), *columns, codes.ndim - 1)


def _largest(codes: Codes, starts: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], axis: int) -> Codes:
    found: Codes = codes.take(starts, axis=axis)
    for offset in range(1, int((ends - starts).max())):
        np.maximum(found, codes.take(np.minimum(starts + offset, ends - 1), axis=axis), out=found)
    return found
