"""Brings the heads of two models into their pictures, the chosen head large. Knows no engine and asks for nothing."""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt

from gpt_viz.compare_measures import HeadDistance, total_variations
from gpt_viz.protocol import Attended
from gpt_viz.ui.comparing.side_by_side import Heads
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.widgets.heads_stage import HeadsStage
from gpt_viz.ui.widgets.weight_line import Weighed

Floats = npt.NDArray[np.float32]


class CompareHeads:
    """Fills a stage, and has the one cursor moved by what is chosen there."""

    def __init__(self, stage: HeadsStage, selection: SelectionModel) -> None:
        self._stage, self._selection = stage, selection
        self._drawn: Heads | None = None
        self._pair: tuple[Floats, Floats] | None = None
        self._square = 1
        stage.chosen.connect(lambda layer, head: selection.choose(layer=layer, head=head))
        for each in stage.maps:
            each.hovered.connect(self._weigh)
            each.chosen.connect(self._choose)

    @property
    def chosen(self) -> HeadDistance | None:
        """How far the chosen head is apart, where it is known whole of both models."""
        heads = self._drawn
        if heads is None or self._pair is None or self._square > 1:
            return None
        layer, head = self._place(heads)
        one, other = self._pair
        return HeadDistance(layer, head, float(total_variations(one, other)))

    def show(self, heads: Heads) -> None:
        """Bring everything up to date; what has not changed is not painted anew."""
        stage, fresh = self._stage, heads is not self._drawn
        self._drawn = heads
        layer, head = self._place(heads)
        ours, theirs = (_pattern(each, layer, head) for each in (heads.current, heads.other))
        whole = ours[1] == theirs[1] == 1 and ours[0].shape == theirs[0].shape
        stage.set_paired(heads.paired and whole, listed=heads.distances is not None)
        if fresh:
            for mosaic, event in zip(stage.mosaics, (heads.current, heads.other), strict=False):
                mosaic.set_patterns(event.patterns)
            if heads.distances is not None:
                stage.differences.set_differences(heads.current.patterns - heads.other.patterns)
            stage.ranking.show_rows([(each.layer, each.head, each.distance) for each in heads.order])
        before, self._pair, self._square = self._pair, (ours[0], theirs[0]), max(ours[1], theirs[1])
        if fresh or before is None or any(a is not b for a, b in zip(before, self._pair, strict=True)):
            self._show_chosen(heads)
        for mosaic, event in zip(stage.mosaics, (heads.current, heads.other, heads.current), strict=True):
            mosaic.set_chosen(min(layer, event.patterns.shape[0] - 1), min(head, event.patterns.shape[1] - 1))
        stage.ranking.set_chosen(layer, head)
        value = self._selection.value
        for each in stage.maps:
            each.set_chosen(*(None if at is None else at // self._square for at in (value.query, value.key)))
        self._weigh(next((each.hovered_cell for each in stage.maps if each.hovered_cell), None))
        stage.arrange()

    def _show_chosen(self, heads: Heads) -> None:
        assert self._pair is not None
        stage, (one, other) = self._stage, self._pair
        pieces = heads.current.tokens.pieces[:: self._square]
        stage.maps[0].set_pattern(one, pieces)
        stage.maps[1].set_pattern(other, heads.other.tokens.pieces[:: self._square])
        if one.shape == other.shape:
            stage.difference.set_difference(one - other, pieces)
        stage.line.reserve(pieces)

    def _place(self, heads: Heads) -> tuple[int, int]:
        """The chosen layer and head, as far as the model under study has such."""
        layers, count = heads.current.patterns.shape[:2]
        value = self._selection.value
        return min(value.layer, layers - 1), min(value.head, count - 1)

    def _choose(self, query: int, key: int) -> None:
        self._selection.choose(query=query * self._square, key=key * self._square)

    def _weigh(self, cell: tuple[int, int] | None) -> None:
        """Say both weights of the cell under the cursor, else of the chosen one."""
        heads, value = self._drawn, self._selection.value
        if cell is None and value.query is not None and value.key is not None:
            cell = value.query // self._square, value.key // self._square
        if heads is None or self._pair is None or cell is None or self._square > 1:
            self._stage.line.set_weighed(None)
            return
        query, key = cell
        one, other = self._pair
        if max(cell) >= min(len(one), len(other)):
            self._stage.line.set_weighed(None)
            return
        pieces = heads.current.tokens.pieces
        if key > query:
            self._stage.line.set_weighed(Weighed(pieces[query], pieces[key], "", "masked: it comes later"))
            return
        ours, theirs = float(one[query, key]), float(other[query, key])
        apart = round(ours - theirs, 3) + 0.0  # no -0.000
        place = f"and {theirs:.3f} in the second: {apart:+.3f}".replace("-", "−")
        self._stage.line.set_weighed(Weighed(pieces[query], pieces[key], f"{ours:.3f}", place))


def _pattern(event: Attended, layer: int, head: int) -> tuple[Floats, int]:
    """The best picture of a head: whole where it can be, else each cell the largest of so many squared."""
    count = len(event.tokens.ids)
    layer, head = min(layer, event.patterns.shape[0] - 1), min(head, event.patterns.shape[1] - 1)
    if (layer, head) == tuple(event.head) and event.whole.shape[-1] == count:
        return event.whole, 1
    pooled = event.patterns[layer, head]
    return pooled, ceil(count / max(pooled.shape[-1], 1))
