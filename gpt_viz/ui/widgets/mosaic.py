"""Every head's pattern at once: one image, rows are layers, columns are heads. Knows no model and no tokens.

All tiles are one array of pixels, so that 16 heads cost as much as one large picture and not as 16 plots.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.colormap import (
    LINEAR,
    Codes,
    Pixels,
    Spans,
    causal_pixels,
    codes_of,
    image_of,
    palette,
    pixel,
    spans,
)
from gpt_viz.ui.widgets.picture import Picture
from gpt_viz.ui.widgets.tiling import Tiling, thinned, tiled

SMALL = 0.85
OUTLINE = 3  # px around the chosen tile
LARGEST = 260  # px a side of one tile: a model of one head does not fill the window twice


class Mosaic(Picture):
    """The patterns (L, H, t, t) of all heads on the one fixed scale. `chosen` and `hovered` speak of (layer, head).

    A `bare` one has nothing written beside it.
    """

    chosen = Signal(int, int)
    hovered = Signal(object)  # (layer, head), or None outside

    def __init__(self) -> None:
        super().__init__()
        self._codes: Codes = np.zeros((1, 1, 1, 1), np.uint16)
        self._stretch = LINEAR
        self._bare = False
        self._chosen = (0, 0)
        self._hover: tuple[int, int] | None = None
        self._canvas: npt.NDArray[np.uint32] = np.zeros((1, 1), np.uint32)
        self._image: QImage | None = None
        self._stale = True
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_patterns(self, patterns: npt.NDArray[np.float32]) -> Codes:
        """Show other patterns (L, H, t, t). Returns their codes."""
        self._codes = codes_of(patterns)
        self.refresh()
        return self._codes

    def set_stretch(self, stretch: str) -> None:
        """Another way from weights to colours (see `colormap.position`)."""
        if stretch != self._stretch:
            self._stretch = stretch
            self.refresh()

    def set_bare(self, bare: bool) -> None:
        """Leave what is written beside the picture away, where there is no room for it."""
        if bare != self._bare:
            self._bare = bare
            self.refresh()

    def set_chosen(self, layer: int, head: int) -> None:
        """Outline another head."""
        if (layer, head) != self._chosen:
            self._chosen = (layer, head)
            self.update()

    def _restyle(self) -> None:
        self._font = ui_font(SMALL)
        self._metrics = QFontMetricsF(self._font)
        self.refresh()

    def refresh(self) -> None:
        """Colour and paint everything anew."""
        self._stale = True
        self.update()

    @property
    def heads(self) -> int:
        """H, the number of columns."""
        return int(self._codes.shape[1])

    # -- where things are --

    def _margins(self) -> tuple[float, float, float]:
        """Left, top and bottom, in pixels: the layers' numbers; the outline; the heads' numbers and the caption."""
        if self._bare:
            return OUTLINE, OUTLINE, OUTLINE
        widest = self._metrics.horizontalAdvance(str(max(self._codes.shape[0] - 1, 0)))
        return ceil(widest) + 8 + OUTLINE, OUTLINE, 2 * ceil(self._metrics.height()) + 6

    def _tiling(self, width: float, height: float, ratio: float) -> Tiling:
        left, top, bottom = self._margins()
        layers, heads = self._codes.shape[:2]
        return tiled(
            layers,
            heads,
            (width - OUTLINE) * ratio,
            (height - bottom - OUTLINE) * ratio,
            round(left * ratio),
            round(top * ratio),
            round(LARGEST * ratio),
        )

    @property
    def tiling(self) -> Tiling:
        """Where the tiles are now, in device pixels."""
        return self._tiling(self.width(), self.height(), self.devicePixelRatioF())

    def fitted(self, width: float, height: float) -> tuple[int, int]:
        """The part of a room of that size that would really be used: width, height."""
        tiling = self._tiling(width, height, 1.0)
        used = tiling.width if self._bare else max(tiling.width, self._metrics.horizontalAdvance(self._caption()))
        return ceil(tiling.left + used + OUTLINE), ceil(tiling.top + tiling.height + OUTLINE + self._margins()[2])

    @staticmethod
    def _caption() -> str:
        return "layers ↓  heads →"

    def tile_rect(self, layer: int, head: int) -> QRectF:
        """Where a head is drawn."""
        tiling, ratio = self.tiling, self.devicePixelRatioF()
        x, y = tiling.left + head * tiling.pitch, tiling.top + layer * tiling.pitch
        return QRectF(x / ratio, y / ratio, tiling.side / ratio, tiling.side / ratio)

    # -- painting --

    def coloured(self, lines: Spans) -> Pixels:
        """All tiles in colour (L, H, rows, columns); `lines` says which cells each row and column shows."""
        colours = tokens()
        return causal_pixels(self._codes, lines, lines, palette(self._stretch, colours.bad), colours.masked)

    def _render(self, tiling: Tiling) -> None:
        shape = (tiling.layers * tiling.pitch, tiling.heads * tiling.pitch)
        if self._canvas.shape != shape or self._image is None:
            self._canvas = np.empty(shape, np.uint32)
            self._image = image_of(self._canvas)
        colours, cells = tokens(), self._codes.shape[2]
        self._canvas.fill(pixel(colours.card))
        lines = spans(0, cells, tiling.side, cells)
        tiles = self.coloured(lines)
        view = self._canvas.reshape(tiling.layers, tiling.pitch, tiling.heads, tiling.pitch)
        view[:, : tiling.side, :, : tiling.side] = tiles.transpose(0, 2, 1, 3)
        self._image.setDevicePixelRatio(self.devicePixelRatioF())
        self._stale = False

    def paintEvent(self, event: QPaintEvent) -> None:
        tiling, ratio, colours = self.tiling, self.devicePixelRatioF(), tokens()
        if tiling.layers == 0:
            return
        if self._stale or self._image is None:
            self._render(tiling)
        assert self._image is not None
        painter = QPainter(self)
        area = QRectF(0, 0, tiling.width, tiling.height)
        painter.drawImage(QPointF(tiling.left / ratio, tiling.top / ratio), self._image, area)
        if not self._bare:
            self._paint_numbers(painter, tiling, ratio)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = min(3.0, tiling.side / ratio / 6)
        if self._hover is not None and self._hover != self._chosen:
            painter.setPen(QPen(QColor(colours.muted), 1))
            painter.drawRoundedRect(self.tile_rect(*self._hover).adjusted(-1.5, -1.5, 1.5, 1.5), radius, radius)
        painter.setPen(QPen(QColor(colours.accent_text), 3 if self.hasFocus() else 2))
        painter.drawRoundedRect(self.tile_rect(*self._chosen).adjusted(-2, -2, 2, 2), radius, radius)
        painter.end()

    def _paint_numbers(self, painter: QPainter, tiling: Tiling, ratio: float) -> None:
        line = self._metrics.height()
        pitch, side = tiling.pitch / ratio, tiling.side / ratio
        left, top = tiling.left / ratio, tiling.top / ratio
        painter.setFont(self._font)
        painter.setPen(QColor(tokens().muted))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
        centre = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextDontClip
        for layer in thinned(tiling.layers, pitch, line):
            middle = top + layer * pitch + side / 2
            painter.drawText(QRectF(0, middle - line / 2, left - OUTLINE - 5, line), right, str(layer))
        widest = self._metrics.horizontalAdvance(str(tiling.heads - 1)) + 6
        below = top + tiling.height / ratio + OUTLINE + 2
        for head in thinned(tiling.heads, pitch, widest):
            painter.drawText(QRectF(left + head * pitch, below, side, line), centre, str(head))
        painter.drawText(QPointF(left, below + line + self._metrics.ascent()), self._caption())

    # -- mouse, keys and size --

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.refresh()

    def _set_hover(self, head: tuple[int, int] | None) -> None:
        if head != self._hover:
            self._hover = head
            self.setToolTip("" if head is None else f"layer {head[0]} · head {head[1]}")
            self.update()
            self.hovered.emit(head)

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        ratio = self.devicePixelRatioF()
        return self.tiling.at(point.x() * ratio, point.y() * ratio)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hover(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self._at(event.position())
        if head is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(*head)

    def pressed(self, typed: Qt.Key, way: tuple[int, int] | None) -> None:
        if way is None:
            return
        layers, heads = self._codes.shape[:2]
        layer = min(max(self._chosen[0] + way[0], 0), layers - 1)
        head = min(max(self._chosen[1] + way[1], 0), heads - 1)
        if (layer, head) != self._chosen and layers:
            self.chosen.emit(layer, head)
