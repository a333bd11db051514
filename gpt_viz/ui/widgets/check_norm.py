"""How long a normalised row is, over how far its input was shrunk: a sphere, a curve and a slider. Knows no model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QSlider, QVBoxLayout

from gpt_viz.ui.widgets.check_curve import Axes, CheckCurve
from gpt_viz.ui.widgets.check_picture import CheckPicture, figure
from gpt_viz.ui.widgets.check_profile import Line
from gpt_viz.ui.widgets.check_sphere import CheckSphere
from gpt_viz.ui.widgets.manners import named

Floats = NDArray[np.float32]
_BESIDE = 300  # px from which the sphere stands beside the curve


class CheckNorm(CheckPicture):
    """The slider walks along the curve; `words` say where it stands."""

    def __init__(self) -> None:
        super().__init__()
        self._scales: Floats = np.ones(1, np.float32)
        self._measured: Floats = np.ones(1, np.float32)
        self._radius = self._variance = self._epsilon = 1.0
        self.sphere, self.curve = CheckSphere(), CheckCurve()
        self.curve.reading.connect(self.reading)
        self.curve.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.slider = named(QSlider(Qt.Orientation.Horizontal), "check.shrink", "Shrink the input of LayerNorm")
        self.slider.valueChanged.connect(self._stand)
        self.words = QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        upper = QHBoxLayout()
        upper.setSpacing(12)
        upper.addWidget(self.sphere)
        upper.addWidget(self.curve, 1)
        lower = QHBoxLayout()
        lower.setSpacing(8)
        label = QLabel("shrink", textFormat=Qt.TextFormat.PlainText)
        label.setProperty("muted", "true")
        lower.addWidget(label)
        lower.addWidget(self.slider, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(upper, 1)
        column.addLayout(lower)
        column.addWidget(self.words)

    def show_curve(
        self, scales: Floats, measured: Floats, predicted: Floats, *, radius: float, variance: float, epsilon: float
    ) -> None:
        """Show lengths (n,) over scales (n,), measured and as epsilon predicts; `variance` is the row's at scale 1."""
        self._scales, self._measured = scales, measured
        self._radius, self._variance, self._epsilon = radius, variance, epsilon
        self.curve.show_curve(
            scales,
            measured,
            Axes("input times", "length after LayerNorm", log=True),
            second=predicted,
            levels=[Line(radius, f"√C = {radius:.3f}")],
            tell=self._told,
        )
        if self.slider.maximum() != len(scales) - 1:
            self.slider.setRange(0, len(scales) - 1)
            self.slider.setValue(int(np.abs(np.log10(scales)).argmin()))
        self._stand(self.slider.value())

    def _told(self, at: int) -> str:
        return f"input times {figure(float(self._scales[at]))}: length {float(self._measured[at]):.4f}"

    def _stand(self, at: int) -> None:
        scale, length = float(self._scales[at]), float(self._measured[at])
        self.curve.mark(at)
        self.sphere.show_reach(length / self._radius, f"{100 * length / self._radius:.1f} % of √C")
        ratio = self._variance * scale**2 / self._epsilon if self._epsilon else float("inf")
        self.words.setText(
            f"Input times {figure(scale)}: its variance is {figure(ratio)} times ε, and it reaches {length:.4f} of "
            f"{self._radius:.4f}."
        )
        self.slider.setAccessibleDescription(self.words.text())

    def fitted(self, width: int, room: int) -> int:
        return max(min(round(0.42 * width), room, 320), 150) + 70

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sphere.setVisible(self.width() >= _BESIDE)
        self.sphere.setFixedWidth(min(max(round(0.28 * self.width()), 96), 170))
