"""A tree of rows that are asked for one by one, so that a hundred thousand of them open at once. Knows no view.

A row is addressed by its path: the row numbers from the top down, `(2,)` or `(4, 0, 7)`. The source answers for one
path at a time by arithmetic; the model keeps nothing but the paths of the rows that were opened.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Path = tuple[int, ...]
Index = QModelIndex | QPersistentModelIndex
CHUNK = 1_000  # rows of one level that a view is given at a time
REACH = 10_000  # rows that are fetched at once, at most, to get to one of them: a view lays out each


@dataclass(frozen=True, slots=True)
class Line:
    """What one row shows: a cell for each column, and a mark in the colour of its kind ("" for none).

    `span` is the column whose text may run on over the empty cells to its right. `note` is the tool tip, plain text.
    `bold` is for the name and the figures. `wrong` marks a row that contradicts what it should agree with. `quiet`
    greys it.
    """

    cells: tuple[str, ...]
    kind: str = ""
    bold: bool = False
    quiet: bool = False
    wrong: bool = False
    span: int | None = None
    note: str = ""


class Rows(Protocol):
    """Where the rows come from. Two sources of the same `form` have the same paths, only other cells."""

    @property
    def form(self) -> Hashable:
        """What the paths depend on."""
        ...

    def count(self, path: Path) -> int:
        """How many rows lie below this one; `()` is the top."""
        ...

    def line(self, path: Path) -> Line:
        """What this row shows."""
        ...


class _NoRows:
    form: Hashable = None

    def count(self, path: Path) -> int:
        return 0

    def line(self, path: Path) -> Line:
        raise IndexError(path)


class LazyRows(QAbstractItemModel):
    """Hands the rows of a source to a view. An index holds the number under which its parent's path is kept."""

    def __init__(self, titles: tuple[str, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self._rows: Rows = _NoRows()
        self._paths: list[Path] = [()]
        self._numbers: dict[Path, int] = {(): 0}
        self._given: dict[Path, int] = {}

    def show(self, rows: Rows) -> bool:
        """Show another source. True if its paths are others than before: then all that was open is closed."""
        changed = rows.form != self._rows.form
        if changed:
            self.beginResetModel()
            self._rows = rows
            self._paths, self._numbers, self._given = [()], {(): 0}, {}
            self.endResetModel()
        else:
            self._rows = rows
            last = self.rowCount() - 1
            if last >= 0:
                self.dataChanged.emit(self.index(0, 0), self.index(last, len(self._titles) - 1))
        return changed

    def path(self, index: Index) -> Path:
        """The path of a row; () for no row."""
        return (*self._paths[index.internalId()], index.row()) if index.isValid() else ()

    def at(self, path: Path, column: int = 0) -> QModelIndex:
        """The index of a row, which is fetched if need be; an invalid one where there is no such row, or too far."""
        for depth in range(len(path)):
            parent, row = path[:depth], path[depth]
            if not 0 <= row < self._rows.count(parent):
                return QModelIndex()
            given = self._given.get(parent, CHUNK)
            if row >= given + REACH:
                return QModelIndex()
            if row >= given:
                self._fetch(parent, row + 1)
        return self.createIndex(path[-1], column, self._number(path[:-1])) if path else QModelIndex()

    def line(self, index: Index) -> Line:
        """What the row of this index shows."""
        return self._rows.line(self.path(index))

    def _number(self, path: Path) -> int:
        number = self._numbers.get(path)
        if number is None:
            number = self._numbers[path] = len(self._paths)
            self._paths.append(path)
        return number

    def _fetch(self, path: Path, wanted: int) -> None:
        given, whole = self._given.get(path, CHUNK), self._rows.count(path)
        more = min(-(-wanted // CHUNK) * CHUNK, whole)
        if more > given:
            self.beginInsertRows(self.at(path), given, more - 1)
            self._given[path] = more
            self.endInsertRows()

    # -- what Qt asks --

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 (Qt's own)
        return self.createIndex(row, column, self._number(self.path(parent)))

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        path = self._paths[index.internalId()] if index.isValid() else ()
        return self.createIndex(path[-1], 0, self._number(path[:-1])) if path else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        path = self.path(parent)
        return min(self._rows.count(path), self._given.get(path, CHUNK)) if parent.column() <= 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._titles)

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        return parent.column() <= 0 and self._rows.count(self.path(parent)) > 0

    def canFetchMore(self, parent: Index) -> bool:
        path = self.path(parent)
        return self._given.get(path, CHUNK) < self._rows.count(path)

    def fetchMore(self, parent: Index) -> None:
        path = self.path(parent)
        self._fetch(path, self._given.get(path, CHUNK) + 1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.line(index).cells[index.column()]
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return self.line(index).note
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        return None
