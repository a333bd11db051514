"""What the model in the form would hold and cost, worked out while its settings change. Knows no model that exists."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.quantities import short, size
from gpt_viz.ui.theme import theme, ui_font
from gpt_viz.ui.widgets.manners import named, set_property

_FIGURES = {
    "parameters": ("parameters", "Numbers that training changes, each counted once"),
    "bytes": ("weights", "The parameters as float32, 4 bytes each"),
    "memory": ("to build and run", "An estimate: weights, their packed copy, and one pass over N tokens"),
    "multiply_adds": ("mult-adds / token", "Of the matrix products, in a pass over N tokens, divided by N"),
    "head_width": ("D = C / H", "The width of one head"),
}


class _Fitting(QLabel):
    """A number written out where there is room for it, else in short; the tool tip has it written out."""

    def __init__(self) -> None:
        super().__init__("–")
        self._whole = self._brief = "–"
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, whole: str, brief: str, tip: str) -> None:
        """Show another number."""
        self._whole, self._brief = whole, brief
        self.setToolTip(tip)
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.fit()

    def fit(self) -> None:
        """Choose the form and the weight for the room there is."""
        for font, text in (
            (ui_font(bold=True), self._whole),
            (ui_font(), self._whole),
            (ui_font(bold=True), self._brief),
        ):
            self.setFont(font)
            self.setText(text)
            if self.fontMetrics().horizontalAdvance(text) <= self.width():
                return


class ModelFigures(QWidget):
    """Five numbers, one a line; a dash each while there is no model to count."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, _Fitting] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for name, (text, meaning) in _FIGURES.items():
            caption, value = QLabel(text), named(_Fitting(), f"model.{name}", text)
            caption.setProperty("muted", "true")
            caption.setToolTip(meaning)
            row = QHBoxLayout()
            row.setSpacing(4)
            row.addWidget(caption)
            row.addWidget(value, 1)
            column.addLayout(row)
            self._values[name] = value
        theme.changed.connect(self._restyle)
        self._restyle()
        self.show_config(None)

    def show_config(self, config: GPTConfig | None, too_much: bool = False) -> None:
        """Count for a config; `too_much` marks the memory as more than there is."""
        if config is None:
            for value in self._values.values():
                value.say("–", "–", "")
        else:
            total, weights, needed = ledger.total(config), ledger.weight_bytes(config), ledger.needed_bytes(config)
            per_token = ledger.multiply_adds_per_token(config)
            self._values["parameters"].say(f"{total:,}", short(total), f"{total:,} parameters")
            self._values["bytes"].say(size(weights), size(weights), f"{weights:,} bytes")
            self._values["memory"].say(size(needed), size(needed), f"{needed:,} bytes")
            self._values["multiply_adds"].say(short(per_token), short(per_token), f"{per_token:,.0f} for each token")
            self._values["head_width"].say(f"{config.head_width:,}", short(config.head_width), "")
        set_property(self._values["memory"], "bad", too_much)

    def _restyle(self) -> None:
        for value in self._values.values():
            value.fit()
