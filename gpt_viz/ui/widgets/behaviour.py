"""What one head does, measured on its pattern, as four numbers, one sentence and a small column. Knows no model.

Only the queries from the third token on are counted (position 2 and later): there the previous token, the first and
the query itself are three different places. Nothing is guessed: with fewer tokens there is no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import KINDS, theme, tokens, ui_font

FROM = 2  # the first query that is counted
MOSTLY = 0.5  # from this share on a head looks "mostly" at a place
CLEARLY = 0.1  # so much more than uniform is said to be where it looks "most"
EVENLY = 0.97  # of the entropy of a uniform row: from here on a head "spreads evenly"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Means over the counted queries i of a causal pattern A (T, T), rows summing to 1.

    `previous` of A[i, i-1], `first` of A[i, 0], `itself` of A[i, i], each from 0 to 1; `spread` of the row's entropy,
    -sum over j of A[i, j]·log2 A[i, j], in bits: 0 where all goes to one place. `uniform` and `uniform_spread` are what
    a head that looks everywhere alike would have: the means of 1/(i+1) and of log2(i+1). `rows` is their number.
    """

    previous: float
    first: float
    itself: float
    spread: float
    uniform: float
    uniform_spread: float
    rows: int

    def shares(self) -> tuple[tuple[str, float], ...]:
        """The three places with the share that goes there."""
        return ("previous", self.previous), ("first", self.first), ("itself", self.itself)


def behaviour(pattern: npt.NDArray[np.float32]) -> Behaviour | None:
    """Measure a pattern (T, T). Rows with a number that is not finite are left out; None where no row is left."""
    finite = np.asarray(np.isfinite(pattern).all(axis=1))
    rows = np.flatnonzero(finite[FROM:]) + FROM
    if rows.size == 0:
        return None
    weights = pattern[rows]
    # Single precision is enough for one decimal and four times as fast; 0·log 0 is 0, so any floor under log will do.
    logs = np.log2(np.maximum(weights, np.float32(1e-30)))
    at = np.arange(rows.size)
    return Behaviour(
        previous=float(weights[at, rows - 1].mean(dtype=np.float64)),
        first=float(weights[:, 0].mean(dtype=np.float64)),
        itself=float(weights[at, rows].mean(dtype=np.float64)),
        spread=max(float(-np.einsum("ij,ij->i", weights, logs).mean(dtype=np.float64)), 0.0),
        uniform=float((1.0 / (rows + 1)).mean()),
        uniform_spread=float(np.log2(rows + 1.0).mean()),
        rows=int(rows.size),
    )


def sentence(found: Behaviour, unit: str) -> str:
    """What the head does in plain words; `unit` is what a token is called: character or token.

    >>> sentence(Behaviour(0.71, 0.04, 0.02, 1.1, 0.1, 3.9, 30), "character")
    'looks mostly at the previous character: 71 %'
    """
    name, share = max(found.shares(), key=lambda each: each[1])
    place = "itself" if name == "itself" else f"the {name} {unit}"
    clearly = share - found.uniform >= CLEARLY
    if share >= MOSTLY and clearly:
        return f"looks mostly at {place}: {share * 100:.0f} %"
    if found.spread >= EVENLY * found.uniform_spread:
        return f"spreads evenly: {found.spread:.1f} bits (uniform would be {found.uniform_spread:.1f})"
    if clearly:
        return f"looks most at {place}: {share * 100:.0f} %"
    size = f"{2**found.spread:.0f}"
    return f"spreads over about {size} {unit}s: {found.spread:.1f} bits (uniform: {found.uniform_spread:.1f})"


class BehaviourColumn(QWidget):
    """The four numbers with a bar each; a tick on the bar is where a uniform head would be."""

    def __init__(self) -> None:
        super().__init__()
        self._found: Behaviour | None = None
        self._unit = "character"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("What it does")
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_behaviour(self, found: Behaviour | None, unit: str) -> None:
        """Other numbers, or none."""
        self._found, self._unit = found, unit
        self.setAccessibleDescription(", ".join(f"{name} {text}" for name, text, _, _ in self.rows()))
        self.setToolTip(
            f"Means over the {found.rows} queries from position {FROM} on: the weight on the previous {unit}, on the "
            f"first, on the query itself, and the entropy of the row. The tick is a head that looks everywhere alike."
            if found
            else f"Counted from the third {unit} on."
        )
        self.update()

    def rows(self) -> list[tuple[str, str, float, float]]:
        """Name, number as text, how full the bar is, and where uniform would be (both from 0 to 1)."""
        found = self._found
        if found is None:
            return [(name, "–", 0.0, -1.0) for name in ("previous", "first", "itself", "spread")]
        most = found.uniform_spread or 1.0
        shares = [(name, f"{share:.2f}", share, found.uniform) for name, share in found.shares()]
        return [*shares, ("spread", f"{found.spread:.1f} bits", min(found.spread / most, 1.0), 1.0)]

    def _restyle(self) -> None:
        self._font, self._bold = ui_font(0.9), ui_font(0.9, bold=True)
        self._metrics = QFontMetricsF(self._bold)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        widest = max(self._metrics.horizontalAdvance(text) for text in ("spread 10.0 bits", "previous 0.00"))
        return QSize(ceil(widest) + 8, ceil(self._metrics.height()) * 5 + 4 * 18 + 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, line, width = tokens(), self._metrics.height(), float(self.width())
        painter = QPainter(self)
        painter.setFont(self._bold)
        painter.setPen(QColor(colours.text))
        painter.drawText(QPointF(0, self._metrics.ascent()), "what it does")
        y = line + 10
        for name, text, share, uniform in self.rows():
            box = QRectF(0, y, width, line)
            painter.setFont(self._font)
            painter.setPen(QColor(colours.muted))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft, name)
            painter.setFont(self._bold)
            painter.setPen(QColor(colours.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, text)
            bar = QRectF(0, round(y + line + 3), width, 4)
            painter.fillRect(bar, QColor(colours.masked))
            painter.fillRect(QRectF(0, bar.y(), round(width * share), 4), QColor(KINDS["attention"]))
            if uniform >= 0:
                tick = min(round(width * uniform), int(width) - 1)
                painter.fillRect(QRectF(tick, bar.y() - 1, 1, 6), QColor(colours.text))
            y += line + 18
        painter.end()
