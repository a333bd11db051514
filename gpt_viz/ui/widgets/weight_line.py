"""One weight as a line: [w] takes 0.713 from [␣], query 22 · key 21. Knows no pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.theme import mono_font, theme, tokens, ui_font
from gpt_viz.ui.widgets.token_axis import shortened


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the line says: `query` and `key` are the tokens' own texts, `weight` is as written, `place` what follows.

    An empty `weight` means that the key is masked for this query.
    """

    query: str
    key: str
    weight: str
    place: str
    verb: str = "takes"


class WeightLine(QWidget):
    """The line, with the tokens as chips: the query filled, the key outlined. Without a weight: a hint."""

    def __init__(self, hint: str) -> None:
        super().__init__()
        self._hint = hint
        self._weighed: Weighed | None = None
        self._longest = 1  # characters of the longest token that may come
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Weight under the cursor")
        theme.changed.connect(self._restyle)
        self._restyle()
        self._describe()

    def set_weighed(self, weighed: Weighed | None) -> None:
        """Say another weight, or the hint."""
        if weighed != self._weighed:
            self._weighed = weighed
            self._describe()
            self.update()

    def reserve(self, pieces: Sequence[str]) -> None:
        """Plan the room for two of these tokens, so that the line does not move from one cell to the next."""
        longest = max((len(shortened(piece)) for piece in set(pieces)), default=1)
        if longest != self._longest:
            self._longest = longest
            self.updateGeometry()

    def _restyle(self) -> None:
        self._plain, self._bold, self._mono = ui_font(), ui_font(bold=True), mono_font()
        self.updateGeometry()
        self.update()

    def _describe(self) -> None:
        self.setAccessibleDescription(self.text())

    def text(self) -> str:
        """The line as plain text."""
        return self._hint if self._weighed is None else " ".join(text for _, text in self._parts())

    def _parts(self) -> list[tuple[str, str]]:
        """What is written: (style, text) from left to right."""
        said = self._weighed
        if said is None:
            return [("muted", self._hint)]
        query, key = ("query", shortened(said.query)), ("key", shortened(said.key))
        if not said.weight:
            return [query, ("plain", "can't see"), key, ("muted", said.place)]
        return [query, ("plain", said.verb), ("bold", said.weight), ("plain", "from"), key, ("muted", said.place)]

    def sizeHint(self) -> QSize:
        plain, mono = QFontMetricsF(self._plain), QFontMetricsF(self._mono)
        chip = max(self._longest * mono.horizontalAdvance("0") + 10, 20)
        width = plain.horizontalAdvance("takes from query 100 · key 100") + 2 * chip + 5 * 8
        width += QFontMetricsF(self._bold).horizontalAdvance("0.0000")
        return QSize(ceil(width), ceil(mono.height()) + 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, x, height = tokens(), 0.0, float(self.height())
        fonts = {"query": self._mono, "key": self._mono, "bold": self._bold}
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for style, text in self._parts():
            font = fonts.get(style, self._plain)
            metrics = QFontMetricsF(font)
            room = self.width() - x
            if style in ("query", "key"):
                width = max(metrics.horizontalAdvance(text) + 10, 20)
                chip = QRectF(x, 2, width, height - 4)
                ring = QColor(colours.query if style == "query" else colours.key)
                painter.setPen(QPen(ring, 2))
                painter.setBrush(ring if style == "query" else QColor(colours.field))
                painter.drawRoundedRect(chip.adjusted(1, 1, -1, -1), 4, 4)
                painter.setPen(QColor(colours.card if style == "query" else colours.text))
            else:
                if metrics.horizontalAdvance(text) > room:
                    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
                width = metrics.horizontalAdvance(text)
                painter.setPen(QColor(colours.muted if style == "muted" else colours.text))
            painter.setFont(font)
            flags = Qt.AlignmentFlag.AlignCenter if style in ("query", "key") else Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(x, 0, width, height), flags | Qt.TextFlag.TextDontClip, text)
            x += width + 8
        painter.end()
