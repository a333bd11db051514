"""Formulas, typeset, one below the other; what is too wide goes on in the next line. Knows nothing of what they say."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.formula_text import Gap, Line, Part, Word, read
from gpt_viz.ui.widgets.typesetting import Set, Typesetter

BETWEEN = 8  # px between two formulas
INDENT = 20  # px before what goes on in another line
SIZES, QUIET_SIZES = (1.2, 1.05, 0.92), (0.95, 0.85)  # times the base size: the first at which a formula fits


_Laid = tuple[Part, Set]


class Formula(QWidget):
    """Shows formulas as `formula_text` reads them. Those after the first are `quiet`, where that is wanted."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__()
        self.lines: tuple[str, ...] = ()
        self._quiet = quiet
        self._laid: tuple[int, list[tuple[int, float, Set]]] | None = None
        self._setters: dict[float, Typesetter] = {}
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._change_fonts)

    def show_lines(self, lines: tuple[str, ...], spoken: str = "") -> None:
        """Show other formulas; `spoken` is the same in plain text."""
        if lines != self.lines:
            self.lines = lines
            self.setAccessibleDescription(spoken)
            self.setToolTip("")
            self._restyle()

    def needed_height(self, width: int) -> int:
        """The height of all formulas in that width."""
        laid = self._lay(width)
        return ceil(sum(each.height for _, _, each in laid) + BETWEEN * max(len(laid) - 1, 0)) + 2

    def fits(self, width: int) -> bool:
        """Whether nothing is wider than that."""
        return all(indent + each.width <= width for _, indent, each in self._lay(width))

    def _change_fonts(self) -> None:
        self._setters.clear()
        self._restyle()

    def _restyle(self) -> None:
        self._laid = None
        self.updateGeometry()
        self.update()

    def _lay(self, width: int) -> list[tuple[int, float, Set]]:
        """What is drawn, line by line: of which formula, how far indented, and laid out."""
        if self._laid is None or self._laid[0] != width:
            found: list[tuple[int, float, Set]] = []
            for at, line in enumerate(self.lines):
                found += [
                    (at, *each) for each in self._fitted(line, QUIET_SIZES if self._quiet and at else SIZES, width)
                ]
            self._laid = (width, found)
        return self._laid[1]

    def _fitted(self, line: str, sizes: tuple[float, ...], width: int) -> list[tuple[float, Set]]:
        """A formula in one line, at the first size at which it fits, else at the last in as many as it takes."""
        parts = read(line)
        for size in sizes:
            found = _broken(parts, self._setters.setdefault(size, Typesetter(size)), width)
            if len(found) == 1:
                break
        return found

    def sizeHint(self) -> QSize:
        return QSize(200, self.needed_height(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, y = tokens(), 0.0
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at, indent, each in self._lay(self.width()):
            painter.setPen(QColor(colours.muted if self._quiet and at else colours.text))
            each.draw(painter, indent, y + each.ascent)
            y += each.height + BETWEEN
        painter.end()


def _broken(line: Line, setter: Typesetter, width: float) -> list[tuple[float, Set]]:
    """A formula in as many lines as it takes: broken before an =, where that is not enough before a + or −, and at
    last between words.
    """
    parts = [(part, setter.lay(part)) for part in line.parts]
    if _width(parts) <= width:
        return [(0.0, setter.row([each for _, each in parts]))]
    pieces = [parts]
    for cut in (_before("="), _before("+−→"), _after_gap):
        pieces = [
            part for piece in pieces for part in (_pieces(piece, cut) if _width(piece) > width - INDENT else [piece])
        ]
    rows: list[list[_Laid]] = []
    for piece in pieces:
        if rows and _width(rows[-1]) + _width(piece) <= width - (INDENT if len(rows) > 1 else 0):
            rows[-1] = [*rows[-1], *piece]
        else:
            rows.append(piece)
    return [(INDENT if at else 0.0, setter.row([each for _, each in row])) for at, row in enumerate(rows)]


def _width(parts: list[_Laid]) -> float:
    return sum(each.width for _, each in parts)


def _before(signs: str) -> Callable[[Part, Part], bool]:
    """Whether a line may end between two parts: before one of the signs, where that binds."""
    return lambda _, part: isinstance(part, Word) and part.binds and part.text in signs


def _after_gap(before: Part, part: Part) -> bool:
    return isinstance(before, Gap)


def _pieces(parts: list[_Laid], cut: Callable[[Part, Part], bool]) -> list[list[_Laid]]:
    """The parts, cut wherever that may be."""
    found: list[list[_Laid]] = [[]]
    for at, part in enumerate(parts):
        if at and found[-1] and cut(parts[at - 1][0], part[0]):
            found.append([])
        found[-1].append(part)
    return found
