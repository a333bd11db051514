"""Which square of a pattern is shown: zooming and moving as plain arithmetic. Knows no widget."""

from __future__ import annotations

from dataclasses import dataclass

CLOSEST = 4  # cells along a side when zoomed in as far as it goes


@dataclass(frozen=True, slots=True)
class View:
    """The square of cells that is shown: its first row and column (may be fractions) and how many cells a side has."""

    row: float
    column: float
    span: float

    def kept(self, count: int) -> View:
        """Within a pattern of `count` cells a side."""
        span = min(max(self.span, min(CLOSEST, count)), count)
        return View(min(max(self.row, 0.0), count - span), min(max(self.column, 0.0), count - span), span)

    def zoomed(self, factor: float, row: float, column: float, count: int) -> View:
        """`factor` times as many cells a side, the point (row, column) staying where it is."""
        span = min(max(self.span * factor, min(CLOSEST, count)), count)
        share = span / self.span
        return View(row - (row - self.row) * share, column - (column - self.column) * share, span).kept(count)

    def showing(self, row: int, column: int, count: int) -> View:
        """Moved as little as needed to show a cell whole."""
        top = min(max(self.row, row + 1 - self.span), row)
        left = min(max(self.column, column + 1 - self.span), column)
        return View(top, left, self.span).kept(count)
