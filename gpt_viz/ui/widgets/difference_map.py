"""The signed difference of two causal patterns, large, in place of a pattern. Knows no model.

Orange where the first has more weight, blue where the second has, the card's colour where they have the same; the scale
goes from -1 to 1 whatever is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpt_viz.ui.theme import tokens
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.colormap import Codes, Pixels, Spans
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.shades import Shades
from gpt_viz.ui.widgets.sheet import later


class DifferenceMap(Heatmap):
    """A heatmap of differences (T, T) from -1 to 1; above the diagonal both are masked."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleDescription("orange is more in the first, blue in the second")

    def set_difference(self, differences: npt.NDArray[np.float32], pieces: Sequence[str]) -> Codes:
        """Show other differences. Returns their codes, which are those of `shades`."""
        masked = later(*differences.shape) & (differences == 0)
        self.set_pieces(pieces)
        self.show_codes(shades.codes_of(differences, masked))
        return self.codes

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        scale = Shades(shades.SIGNED, 1.0, shades.STRETCHED if self.stretch != shades.LINEAR else shades.LINEAR)
        return shades.pixels_of(shades.pooled(self.codes, rows, columns), scale, tokens())
