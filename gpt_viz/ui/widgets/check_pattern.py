"""One causal pattern among the drawings of checks. Knows no head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QVBoxLayout

from gpt_viz.ui.widgets.check_picture import CheckPicture, figure
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.manners import named

LARGEST = 420  # px


class CheckPattern(CheckPicture):
    """A pattern (T, T), as large as the room allows."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: Sequence[str] = ()
        self._weights: NDArray[np.float32] = np.zeros((1, 1), np.float32)
        self.map = named(Heatmap(), "check.pattern", "Attention at huge scores: rows are queries, columns are keys")
        self.map.hovered.connect(self._hovered)
        self.map.chosen.connect(lambda query, key: self.map.set_chosen(query, key))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.map)

    def show_pattern(self, weights: NDArray[np.float32], pieces: Sequence[str]) -> None:
        """Show weights (T, T) of T tokens."""
        self._weights, self._pieces = weights, pieces
        self.map.set_pattern(weights, pieces)

    def fitted(self, width: int, room: int) -> int:
        return self.map.fitted_height(width, max(min(room, LARGEST), 190))

    def _hovered(self, cell: tuple[int, int] | None) -> None:
        if cell is None:
            self.reading.emit("")
            return
        query, key = cell
        who = f"“{visible(self._pieces[query])}” at {query}, “{visible(self._pieces[key])}” at {key}"
        weight = figure(float(self._weights[query, key]))
        self.reading.emit(f"{who}: {weight}{', later' if key > query else ''}")
