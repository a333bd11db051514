"""Which rectangle of a matrix is shown: zooming and moving as plain arithmetic. Knows no widget."""

from __future__ import annotations

from dataclasses import dataclass

CLOSEST = 4.0  # cells along a side when zoomed in as far as it goes


@dataclass(frozen=True, slots=True)
class Pane:
    """The rectangle of cells that is shown: its first row and column (may be fractions) and how many of each."""

    row: float
    column: float
    rows: float
    columns: float

    @staticmethod
    def whole(rows: int, columns: int) -> Pane:
        """All of a matrix."""
        return Pane(0, 0, rows, columns)

    def kept(self, rows: int, columns: int) -> Pane:
        """Within a matrix of that size."""
        high = min(max(self.rows, min(CLOSEST, rows)), rows)
        wide = min(max(self.columns, min(CLOSEST, columns)), columns)
        top, left = min(max(self.row, 0.0), rows - high), min(max(self.column, 0.0), columns - wide)
        return Pane(top, left, high, wide)

    def zoomed(self, factor: float, row: float, column: float, rows: int, columns: int) -> Pane:
        """`factor` times as many cells each way, the point (row, column) staying where it is."""
        high = min(max(self.rows * factor, min(CLOSEST, rows)), rows)
        wide = min(max(self.columns * factor, min(CLOSEST, columns)), columns)
        top = row - (row - self.row) * high / self.rows
        left = column - (column - self.column) * wide / self.columns
        return Pane(top, left, high, wide).kept(rows, columns)

    def showing(self, row: int, column: int, rows: int, columns: int) -> Pane:
        """Moved as little as needed to show a cell whole."""
        top = min(max(self.row, row + 1 - self.rows), row)
        left = min(max(self.column, column + 1 - self.columns), column)
        return Pane(top, left, self.rows, self.columns).kept(rows, columns)
