"""The signed difference of two causal patterns, large, in place of a pattern. Knows no model.

Orange where the first has more weight, blue where the second has, the card's colour where they have the same; the scale
goes from -1 to 1 whatever is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.colormap import Codes, Pixels, Spans
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.shades import Shades


class DifferenceMap(Heatmap):
    """A heatmap of differences (T, T) from -1 to 1; above the diagonal both are masked."""

    def set_difference(self, differences: npt.NDArray[np.float32], pieces: Sequence[str]) -> Codes:
        """Show other differences. Returns their codes, which are those of `shades`."""
        self.set_pattern(np.zeros(differences.shape, np.float32), pieces)
        count = differences.shape[0]
        later = np.arange(count)[None, :] > np.arange(count)[:, None]
        self._codes = shades.codes_of(differences, later & (differences == 0))
        self.refresh()
        return self._codes

    def coloured(self, rows: Spans, columns: Spans) -> Pixels:
        scale = Shades(shades.SIGNED, 1.0, shades.STRETCHED if self._stretch != shades.LINEAR else shades.LINEAR)
        return shades.pixels_of(shades.pooled(self._codes, rows, columns), scale, tokens())

    def _restyle(self) -> None:
        super()._restyle()
        self.setAccessibleDescription(f"{theme.tokens.name} theme: orange is more in the first, blue in the second")
