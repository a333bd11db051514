"""What scaling does to scores: their variances as bars, and one row of softmax with and without. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout

from gpt_viz.ui.widgets.check_bars import Bar, CheckBars
from gpt_viz.ui.widgets.check_picture import CheckPicture
from gpt_viz.ui.widgets.check_profile import CheckProfile

_PROFILE = 170  # px


class CheckScaling(CheckPicture):
    """Bars above, and below them the weights over some keys, sorted: bars where scaled, an outline where not."""

    def __init__(self) -> None:
        super().__init__()
        self.bars, self.rows = CheckBars(), CheckProfile()
        self.rows.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.rows.reading.connect(self.reading)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.bars)
        column.addWidget(self.rows, 1)

    def show_scaling(self, bars: Sequence[Bar], soft: NDArray[np.float32], sharp: NDArray[np.float32]) -> None:
        """Show variances, and the weights (n,) of one random query with scaling and without."""
        self.bars.show_bars(bars)
        self.bars.setFixedHeight(self.bars.fitted(self.width(), 0))
        self.rows.show_profile(
            soft,
            second=sharp,
            kinds=["attention"] * len(soft),
            across="keys, the best match first",
            up="weight of one random query: bars scaled, outline not scaled",
            tell=lambda at: f"key {at}: {soft[at]:.3f} scaled, {sharp[at]:.3f} not",
        )

    def fitted(self, width: int, room: int) -> int:
        return self.bars.fitted(width, room) + 12 + _PROFILE
