"""The signed differences of causal patterns: of one head large, of all heads small, on one scale. Knows no model.

Orange where the first has more weight, blue where the second has, the card's colour where they have the same; the scale
goes from −1 to 1 whatever is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.colormap import Codes, Pixels, Spans
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.mosaic import Mosaic
from gpt_viz.ui.widgets.shades import Shades
from gpt_viz.ui.widgets.sheet import later


class DifferenceMap(Heatmap):
    """A heatmap of differences (T, T) from −1 to 1; above the diagonal both are masked."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleDescription("orange is more in the first, blue in the second")

    def set_difference(self, differences: npt.NDArray[np.float32], pieces: Sequence[str]) -> Codes:
        """Show other differences. Returns their codes, which are those of `shades`."""
        self.set_pieces(pieces)
        self.show_codes(_codes(differences))
        return self.codes

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        return _pixels(self.codes, rows, columns, self.stretch)


class DifferenceMosaic(Mosaic):
    """All heads' differences (L, H, t, t) from −1 to 1 as one image, in the colours of the large one."""

    def set_differences(self, differences: npt.NDArray[np.float32]) -> None:
        """Show other differences."""
        self._codes = _codes(differences)
        self.refresh()

    def coloured(self, lines: Spans) -> Pixels:
        return _pixels(self._codes, lines, lines, self._stretch)


def _codes(differences: npt.NDArray[np.float32]) -> Codes:
    return shades.codes_of(differences, later(*differences.shape[-2:]) & (differences == 0))


def _pixels(codes: Codes, rows: Spans, columns: Spans, stretch: str) -> Pixels:
    scale = Shades(shades.SIGNED, 1.0, shades.LINEAR if stretch == shades.LINEAR else shades.STRETCHED)
    return shades.pixels_of(shades.pooled(codes, rows, columns), scale, tokens())
