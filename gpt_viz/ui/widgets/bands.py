"""The two rings of a chart unrolled into two bands, where it is too low for a circle. Knows no widget and no colour."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from gpt_viz.ui.widgets.arcs import Arc

LOWEST, HIGHEST = 14, 26  # px: both bands together, with the room that a chosen slice stands out by
_LEAST_CIRCLE = 48  # px: in less than that no circle can be read
_FLAT = 4  # times as wide as high
_LIFT = 3.0  # px by which a chosen slice stands out
_GAP = 2.0  # px between the bands
_INNER = 0.35  # of the height, for the inner ring's band


def unrolled(width: int, height: int) -> bool:
    """Whether two rings are drawn as bands in this room."""
    return height < _LEAST_CIRCLE and width > _FLAT * height


class Bands:
    """Where the slices lie: the outer ring's band above, next to nothing, and the inner one's below, by the rows."""

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        inner = round(_INNER * (height - _LIFT))
        edge = height - inner
        self._spans = ((float(edge), float(height)), (_LIFT, edge - _GAP))

    def outline(self, ring: int, arc: Arc, *, lifted: bool) -> QPainterPath:
        """The outline of a slice; `lifted` makes it stand out."""
        low, high = self._spans[ring]
        rise = _LIFT - 1 if lifted else 0.0
        left, right = (self._width * degrees / 360 for degrees in (arc.start, arc.start + arc.span))
        path = QPainterPath()
        path.addRect(QRectF(left, low - rise, right - left, high - low + rise))
        return path

    def at(self, position: QPointF) -> tuple[int, float] | None:
        """The ring under a point, and the degrees that the point would lie at in it; None beside the bands."""
        if not 0 <= position.x() < self._width:
            return None
        for ring, (low, high) in enumerate(self._spans):
            if low <= position.y() < high:
                return ring, 360 * position.x() / self._width
        return None
