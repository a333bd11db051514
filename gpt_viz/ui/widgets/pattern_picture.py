"""What the pictures of attention have in common: weights as codes, how they become colours, room for words or none.

Knows no layer, no head and no token.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent

from gpt_viz.ui.widgets.colormap import LINEAR, Codes
from gpt_viz.ui.widgets.picture import Picture


class PatternPicture(Picture):
    """Holds the codes of patterns of so many `axes`. A `bare` one has nothing written beside it."""

    def __init__(self, axes: int, keys: frozenset[Qt.Key] = frozenset()) -> None:
        super().__init__(keys)
        self._codes: Codes = np.zeros((1,) * axes, np.uint16)
        self._stretch = LINEAR
        self._bare = False

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

    def refresh(self) -> None:
        """Colour and paint everything anew."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.refresh()
