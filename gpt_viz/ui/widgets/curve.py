"""The loss over the steps: every batch's, the estimates on text that was not trained on, and a level to hold it to.

Knows no run. All points are on it, however many: neighbours that share a pixel are a band from the lowest to the
highest and a line along their mean. What is not finite is a gap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import theme, tokens, ui_font
from gpt_viz.ui.widgets.check_picture import figure
from gpt_viz.ui.widgets.curve_points import Floats, Folded, Scale, folded, scale_for, smoothed

_NOTHING = np.zeros(0, np.float32)
# The bold line is the mean over this share of the points to either side: short enough to follow the curve's bend.
_SMOOTH = 1 / 50
_FEW = 60  # up to here the points themselves are the line


class Curve(QWidget):
    """`chosen` carries the step that was clicked on."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._first, self._last = 0, 1
        self._losses: NDArray[np.float32] = _NOTHING
        self._estimates: list[tuple[int, float]] = []
        self._level: tuple[float, str] | None = None
        self._log = False
        self._marked: int | None = None
        self._pointed: int | None = None
        self._folded: Folded | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._restyle)
        self._restyle()

    # -- what it is told --

    def show_losses(
        self,
        first: int,
        losses: NDArray[np.float32],
        estimates: Sequence[tuple[int, float]],
        *,
        last: int,
        level: tuple[float, str] | None,
    ) -> None:
        """Show losses (n,) from step `first` on and (step, loss) estimates; the axis reaches to step `last` at least.

        `level` is a number to hold them to, and its name.
        """
        self._first, self._last = first, max(last, first + len(losses), 1)
        self._losses, self._estimates, self._level = losses, list(estimates), level
        self._folded = None
        finite = losses[np.isfinite(losses)]
        said = (
            f"{len(losses):,} steps, from {figure(float(finite[0]))} to {figure(float(finite[-1]))}"
            if len(finite)
            else "no steps yet"
        )
        self.setAccessibleDescription(f"Loss: {said}")
        self.update()

    def set_log(self, on: bool) -> None:
        """Count the losses in powers of ten, or as they are."""
        self._log = on
        self.update()

    def mark(self, step: int | None) -> None:
        """Mark the moment that is shown; None where it is the newest."""
        if step != self._marked:
            self._marked = step
            self.update()

    def scale(self) -> Scale:
        """The scale of the losses; its ends are finite whatever they are."""
        shown = self._points()
        if self._level is not None and not len(self._losses) and not self._estimates:
            return scale_for(np.array([self._level[0] / 4, self._level[0]]), self._log)
        numbers = [shown.low, shown.high, np.array([loss for _, loss in self._estimates], np.float64)]
        numbers += [] if self._level is None else [np.array([self._level[0]])]
        return scale_for(np.concatenate(numbers), self._log)

    def words_at(self, step: int) -> str:
        """What the curve says of a step."""
        place = step - self._first
        said = [f"batch {_loss(float(self._losses[place]))}"] if 0 <= place < len(self._losses) else []
        before = [each for each in self._estimates if each[0] <= step]
        if before:
            at, loss = before[-1]
            said.append(f"validation {_loss(loss)}" + ("" if at == step else f" (of step {at:,})"))
        return f"step {step:,}: {', '.join(said)}" if said else f"step {step:,}: not made yet"

    # -- where things are --

    def _points(self) -> Folded:
        if self._folded is None:
            room = max(int(self._plot_width()), 16)
            self._folded = folded(self._losses, room)
        return self._folded

    def _plot_width(self) -> float:
        return max(self.width() - self._gutter() - 10, 8)

    def _gutter(self) -> float:
        return self._metrics.horizontalAdvance("00.00") + 10

    def _plot(self) -> QRectF:
        line = self._metrics.height()
        return QRectF(self._gutter(), line + 8, self._plot_width(), max(self.height() - 2 * line - 20, 8))

    def _x(self, steps: Floats | float, plot: QRectF) -> Floats:
        placed: Floats = plot.x() + np.asarray(steps, np.float64) / self._last * plot.width()
        return placed

    def _y(self, losses: Floats | float, plot: QRectF, scale: Scale) -> Floats:
        placed: Floats = plot.bottom() - scale.place(losses) * plot.height()
        return placed

    def _step_at(self, point: QPointF) -> int | None:
        plot = self._plot()
        if not plot.adjusted(-6, -6, 6, 12).contains(point):
            return None
        share = min(max((point.x() - plot.x()) / plot.width(), 0.0), 1.0)
        return round(share * self._last)

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        plot, scale = self._plot(), self.scale()
        painter = QPainter(self)
        painter.setFont(self._font)
        self._paint_grid(painter, plot, scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.save()
        painter.setClipRect(plot.adjusted(-4, -4, 4, 4))
        self._paint_level(painter, plot, scale)
        self._paint_batches(painter, plot, scale)
        self._paint_estimates(painter, plot, scale)
        painter.restore()
        self._paint_marks(painter, plot)
        self._paint_legend(painter, plot)
        painter.end()

    def _paint_grid(self, painter: QPainter, plot: QRectF, scale: Scale) -> None:
        colours, line = tokens(), self._metrics.height()
        for value in scale.ticks(max(min(int(plot.height() / (2.0 * line)), 7), 2)):
            y = round(float(self._y(value, plot, scale))) + 0.5
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(plot.x(), y), QPointF(plot.right(), y))
            painter.setPen(QColor(colours.muted))
            box = QRectF(0, y - line / 2, plot.x() - 6, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, figure(value))
        across = Scale(0.0, float(self._last))
        most = int(plot.width() / (9 * self._metrics.averageCharWidth()))
        steps = [int(each) for each in across.ticks(max(min(most, 10), 1)) if each == int(each)]
        right = self.width() - 2.0
        for step in steps:
            text, x = f"{step:,}", float(self._x(step, plot))
            width = self._metrics.horizontalAdvance(text)
            painter.drawText(QPointF(min(x - width / 2, right - width), plot.bottom() + 6 + line * 0.8), text)

    def _paint_level(self, painter: QPainter, plot: QRectF, scale: Scale) -> None:
        if self._level is None:
            return
        colours, (value, name) = tokens(), self._level
        y = float(self._y(value, plot, scale))
        painter.setPen(QPen(QColor(colours.muted), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(plot.x(), y), QPointF(plot.right(), y))
        line, width = self._metrics.height(), self._metrics.horizontalAdvance(name) + 8
        above = y - line - 3 >= plot.top() - 4
        box = QRectF(plot.right() - width, y - line - 3 if above else y + 3, width, line)
        painter.fillRect(box, QColor(colours.card))
        painter.setPen(QColor(colours.muted))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)

    def _paint_batches(self, painter: QPainter, plot: QRectF, scale: Scale) -> None:
        if not len(self._losses):
            return
        colour, points = QColor(tokens().accent_text), self._points()
        x = self._x(points.at + self._first, plot)
        faint = QColor(colour)
        faint.setAlpha(70)
        few = len(self._losses) <= _FEW
        if not few and len(points.at) < len(self._losses):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faint)
            low, high = self._y(points.low, plot, scale), self._y(points.high, plot, scale)
            for run in _runs(points.mean):
                painter.drawPolygon(_polygon(np.r_[x[run], x[run][::-1]], np.r_[high[run], low[run][::-1]]))
        elif not few:
            _draw_line(painter, QPen(faint, 1), x, self._y(points.mean, plot, scale))
        smooth = points.mean if few else smoothed(points.mean, int(len(points.at) * _SMOOTH))
        _draw_line(painter, QPen(colour, 2), x, self._y(smooth, plot, scale))

    def _paint_estimates(self, painter: QPainter, plot: QRectF, scale: Scale) -> None:
        if not self._estimates:
            return
        colour = QColor(tokens().key)
        steps, losses = np.array(self._estimates, np.float64).T
        x, y = self._x(steps, plot), self._y(losses, plot, scale)
        _draw_line(painter, QPen(colour, 2), x, y)
        painter.setPen(QPen(QColor(tokens().card), 1))
        painter.setBrush(colour)
        if len(x) * 9 <= plot.width():
            for at in np.flatnonzero(np.isfinite(y)):
                painter.drawEllipse(QPointF(x[at], y[at]), 3.5, 3.5)

    def _paint_marks(self, painter: QPainter, plot: QRectF) -> None:
        colours = tokens()
        for step, colour, width in ((self._pointed, colours.muted, 1), (self._marked, colours.query, 2)):
            if step is None:
                continue
            x = float(self._x(step, plot))
            painter.setPen(QPen(QColor(colour), width))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        if self._marked is not None:
            x = float(self._x(self._marked, plot))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.query))
            painter.drawPolygon(
                _polygon(np.array([x - 5, x + 5, x]), np.array([plot.bottom() + 7] * 2 + [plot.bottom()]))
            )

    def _paint_legend(self, painter: QPainter, plot: QRectF) -> None:
        colours, line = tokens(), self._metrics.height()
        looked_at = self._marked if self._pointed is None else self._pointed
        if looked_at is not None:
            painter.setPen(QColor(colours.text))
            words = self.words_at(looked_at)
            box = QRectF(plot.x(), 0, plot.width(), line)
            painter.drawText(
                box,
                Qt.AlignmentFlag.AlignLeft,
                self._metrics.elidedText(words, Qt.TextElideMode.ElideRight, box.width()),
            )
            return
        x = plot.x()
        newest = _loss(float(self._losses[-1])) if len(self._losses) else ""
        estimate = _loss(self._estimates[-1][1]) if self._estimates else ""
        for name, value, colour in (("each batch", newest, colours.accent_text), ("validation", estimate, colours.key)):
            words = f"{name} {value}".strip()
            width = self._metrics.horizontalAdvance(words)
            if x + 18 + width > self.width():
                break
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(x, line / 2 - 2, 12, 4), 2, 2)
            painter.setPen(QColor(colours.muted))
            painter.drawText(QPointF(x + 18, line * 0.8), words)
            x += 18 + width + 16

    # -- the mouse --

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._step_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        step = self._step_at(event.position())
        if step is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(step)

    def _point(self, step: int | None) -> None:
        if step != self._pointed:
            self._pointed = step
            self.setCursor(Qt.CursorShape.ArrowCursor if step is None else Qt.CursorShape.CrossCursor)
            self.update()

    # -- size and looks --

    def resizeEvent(self, event: object) -> None:
        self._folded = None

    def sizeHint(self) -> QSize:
        return QSize(360, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 84)

    def _restyle(self) -> None:
        self._font = ui_font(0.88)
        self._metrics = QFontMetricsF(self._font)
        self._folded = None
        self.update()


def _loss(value: float) -> str:
    """A loss as it is read: three decimals, or what it is instead of a number.

    >>> _loss(2.30259), _loss(float("nan"))
    ('2.303', 'NaN')
    """
    return f"{value:.3f}" if abs(value) < 1000 else figure(value)


def _runs(values: Floats) -> list[slice]:
    """The stretches without a gap."""
    finite = np.concatenate([[False], np.isfinite(values), [False]])
    edges = np.flatnonzero(finite[1:] != finite[:-1])
    return [slice(begin, end) for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]


def _draw_line(painter: QPainter, pen: QPen, x: Floats, y: Floats) -> None:
    """A line that is broken where there is a gap; a point between two gaps is a dot."""
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for run in _runs(y):
        if run.stop - run.start == 1:
            painter.drawEllipse(QPointF(x[run.start], y[run.start]), 1.5, 1.5)
        else:
            painter.drawPolyline(_polygon(x[run], y[run]))


def _polygon(x: Floats, y: Floats) -> QPolygonF:
    return QPolygonF([QPointF(*each) for each in zip(x.tolist(), y.tolist(), strict=True)])
