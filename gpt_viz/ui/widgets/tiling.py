"""How many tiles share a room: sizes and places as plain arithmetic. Knows no widget."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

# The gap between tiles, and how long a tile's side has to be for it.
_GAPS = ((6, 56), (4, 22), (2, 10), (1, 1))


@dataclass(frozen=True, slots=True)
class Tiling:
    """Where the tiles are, in device pixels: each `side` long, `gap` apart, the first at (left, top)."""

    layers: int
    heads: int
    side: int
    gap: int
    left: int
    top: int

    @property
    def pitch(self) -> int:
        """From one tile to the next."""
        return self.side + self.gap

    @property
    def width(self) -> int:
        """Of all tiles with the gaps between them."""
        return self.heads * self.pitch - self.gap

    @property
    def height(self) -> int:
        """Of all tiles with the gaps between them."""
        return self.layers * self.pitch - self.gap

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """The (layer, head) at a point; a gap belongs to the tile before it."""
        layer, head = floor((y - self.top) / self.pitch), floor((x - self.left) / self.pitch)
        return (layer, head) if 0 <= layer < self.layers and 0 <= head < self.heads else None


def tiled(layers: int, heads: int, width: float, height: float, left: int, top: int, largest: int) -> Tiling:
    """The largest square tiles that fit into `width` x `height` beside the margins; gaps shrink with them.

    What is tiled once and then given exactly the room that it used is tiled alike.
    """
    for gap, least in _GAPS:
        across, down = (width - left + gap) / max(heads, 1), (height - top + gap) / max(layers, 1)
        side = min(floor(min(across, down)) - gap, largest)
        if side >= least:
            break
    return Tiling(layers, heads, max(side, 1), gap, left, top)


def thinned(count: int, pitch: float, extent: float) -> range:
    """Which of the numbers 0 to count-1 are written, `pitch` apart, if each takes `extent`: all, each 2nd, 5th, ..."""
    return range(0, count, next((k for k in (1, 2, 5, 10, 20, 50) if k * pitch >= extent), 100))
