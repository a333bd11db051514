"""The labels along the sides of a tensor's picture: tokens, numbers at round steps, or one name for each group.

Knows no tensor. How labels are thinned, placed and drawn is the token axis's.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF

from gpt_viz.ui.widgets import tiling
from gpt_viz.ui.widgets.sheet import Axis
from gpt_viz.ui.widgets.token_axis import GAP, Placed, Span, TokenAxis


class NumberAxis(TokenAxis):
    """Places that are numbered: those at round numbers are written, and never on their side."""

    def _measure(self) -> None:
        super()._measure()
        self.rotated = False

    def fitting(self, span: Span) -> list[int]:
        kept = tiling.thinned(span.count, span.step, self.extent + 6)
        return [cell for cell in kept if cell in span.visible_cells]


class GroupAxis(TokenAxis):
    """Groups of places, each with its name in its middle; of a place that matters its number is written as well."""

    def __init__(self, across: bool, group: int, grouped: str) -> None:
        super().__init__(across)
        self._group, self._grouped = group, grouped

    def placed(self, span: Span, edge: float, chip: int | None = None) -> list[Placed]:
        found = super().placed(span, edge, chip)
        chips = [label for label in found if label.chip]
        names: list[Placed] = []
        width, height = self.size(f"{self._grouped} {max(span.count // self._group - 1, 0)}")
        extent = width if self.across else height
        for number in range(-(-span.count // self._group)):
            cell = number * self._group + (self._group - 1) // 2
            centre = span.low + ((number + 0.5) * self._group - span.first) * span.step
            if not span.low <= centre - extent / 2 or not centre + extent / 2 <= span.high:
                continue
            rect = QRectF(centre - width / 2, edge, width, height)
            if not self.across:
                rect = QRectF(edge - width, centre - height / 2, width, height)
            clear = all(not rect.adjusted(-GAP, -GAP, GAP, GAP).intersects(each.rect) for each in [*chips, *names[-1:]])
            if clear:
                names.append(Placed(cell, f"{self._grouped} {number}", rect))
        return sorted([*chips, *names], key=lambda label: label.cell)


def axis_for(axis: Axis, across: bool) -> TokenAxis:
    """What draws the labels of an axis."""
    if axis.group > 1 and across:
        return GroupAxis(across, axis.group, axis.grouped)
    return NumberAxis(across) if axis.numbered else TokenAxis(across)
