"""The fields of the model form, one for each setting, and how they lie. Knows settings, not what they cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpt_viz.config import CHOICES, OWN_SIZES, GPTConfig, label
from gpt_viz.ui.model.draft import head_stops, width_stops
from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.fields import Choice, FieldRow, FractionField, NumberField, SeedField
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.stop_slider import StopSlider

_NUMBERS = ("layers", "heads", "width", "block_size", "vocabulary")
_CHECKS = {
    "qkv_bias": ("q, k, v", "query, key and value add a bias"),
    "bias": ("others", "projections, feed-forward layers and LayerNorms add a bias"),
    "head_bias": ("head", "the output head adds a bias"),
    "tied_head": ("tied head", "the output head uses the token embedding's matrix"),
}
_TIPS = {
    "layers": "L, how many blocks follow each other",
    "heads": "H, how many patterns of attention each block has",
    "width": "C, how many numbers stand for one token on its way",
    "block_size": "N, how many tokens the model sees at once",
    "vocabulary": "V, how many different tokens there are",
    "dropout": "The share of activations set to 0 in training; sampling and pictures never use it",
    "gelu": "GELU by its exact formula, or by the approximation with tanh that GPT-2 was trained with",
    "initialisation": "Whose rule draws the first weights",
    "scale": "Scores divided by √D or multiplied by 1/√D, which differ in the last bit",
}
_LAYER_STOPS = (*range(13), 16, 20, 24, 32, 36, 40, 48, 64, 80, 96, 128)
_BLOCK_STOPS = (8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192)


class ModelFields(QWidget):
    """All fields in one column. `changed` carries the setting's name; `left` when a field was typed in and is done."""

    changed = Signal(str)
    left = Signal()
    new_seed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, FieldRow] = {}
        self.checks: dict[str, QCheckBox] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 2, 12, 4)
        self._column.setSpacing(5)
        self.preset = Choice()
        self.preset.setPlaceholderText(OWN_SIZES)
        self.preset.currentIndexChanged.connect(lambda _: self.changed.emit("preset"))
        self._add("preset", self.preset)
        self.rows["preset"].let_grow()
        for name in ("layers", "heads", "width", "block_size"):
            self._add_number(name)
            slider = self.rows[name].add_slider()
            slider.chosen.connect(self._spin(name).setValue)
        self._add_number("vocabulary")
        self.dropout = FractionField()
        self._watch("dropout", self.dropout)
        self._add_checks()
        self._add_more()
        self.seed = SeedField()
        self.seed.textChanged.connect(lambda _: self.changed.emit("seed"))
        self.seed.editingFinished.connect(self.left)
        again = named(QToolButton(), "model.new_seed", "new seed")
        again.setText("new")
        again.setToolTip("Another seed: other first weights")
        again.clicked.connect(self.new_seed)
        self._add("seed", self.seed, beside=again)
        self.device = Choice()
        self.device.currentIndexChanged.connect(lambda _: self.changed.emit("device"))
        self._add("device", self.device)

    # -- what they hold --

    def values(self) -> dict[str, Any]:
        """Every setting of a GPTConfig as it stands, right or wrong."""
        found: dict[str, Any] = {name: self._spin(name).value() for name in _NUMBERS}
        found["dropout"] = self.dropout.value()
        found |= {name: check.isChecked() for name, check in self.checks.items()}
        return found | {name: self._choice(name).currentData() for name in CHOICES}

    def fill(self, config: GPTConfig) -> None:
        """Hold the settings of a config."""
        for name, value in asdict(config).items():
            if name in CHOICES:
                self._choice(name).setCurrentIndex(self._choice(name).findData(value))
            elif name in self.checks:
                self.checks[name].setChecked(value)
            elif name == "dropout":
                self.dropout.setValue(value)
            else:
                self._spin(name).setValue(value)

    def interpret(self) -> None:
        """Take what was typed and not yet left."""
        for row in self.rows.values():
            if isinstance(row.field, QAbstractSpinBox):
                row.field.interpretText()

    def typing(self) -> bool:
        """Whether a field is being typed in now, so that what stands there may be half of something."""
        for row in self.rows.values():
            field = row.field
            edit = field.lineEdit() if isinstance(field, QAbstractSpinBox) else field
            if isinstance(edit, QLineEdit) and field.hasFocus() and edit.isModified():
                return True
        return False

    def move_sliders(self) -> None:
        """Bring the sliders to their values. Each stop is possible: heads divide the width, and the width the heads."""
        layers, heads = self._spin("layers").value(), self._spin("heads").value()
        width, block = self._spin("width").value(), self._spin("block_size").value()
        self._slider("layers").show_value(layers, _LAYER_STOPS)
        self._slider("block_size").show_value(block, _BLOCK_STOPS)
        self._slider("heads").show_value(heads, head_stops(width))
        self._slider("width").show_value(width, width_stops(heads))

    # -- how they lie --

    def _add(self, name: str, field: QWidget, *, beside: QWidget | None = None, to: QVBoxLayout | None = None) -> None:
        row = FieldRow(f"model.{name}", label(name), field, beside=beside)
        row.label.setToolTip(_TIPS.get(name, ""))
        self.rows[name] = row
        (to or self._column).addWidget(row)

    def _add_number(self, name: str) -> None:
        self._watch(name, NumberField())

    def _watch(self, name: str, field: NumberField | FractionField) -> None:
        field.valueChanged.connect(lambda _: self.changed.emit(name))
        field.editingFinished.connect(self.left)
        self._add(name, field)

    def _add_checks(self) -> None:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        caption = QLabel("bias")
        caption.setProperty("muted", "true")
        grid.addWidget(caption, 0, 0)
        for place, (name, (text, meaning)) in enumerate(_CHECKS.items()):
            check = named(QCheckBox(text), f"model.{name}", meaning)
            check.setToolTip(meaning)
            check.toggled.connect(lambda _, name=name: self.changed.emit(name))
            self.checks[name] = check
            grid.addWidget(check, place // 2, 1 + place % 2)
        self._column.addLayout(grid)

    def _add_more(self) -> None:
        self.fold = named(QPushButton(), "model.more", "more settings")
        theme.changed.connect(self._restyle)
        self._restyle()
        self._folded = QWidget()
        self.fold.clicked.connect(lambda: self.unfold(self._folded.isHidden()))
        column = QVBoxLayout(self._folded)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for name, options in CHOICES.items():
            choice = Choice()
            for option in options:
                choice.add(option, option)
            choice.currentIndexChanged.connect(lambda _, name=name: self.changed.emit(name))
            self._add(name, choice, to=column)
        self._column.addWidget(self.fold)
        self._column.addWidget(self._folded)
        self.unfold(False)

    def _restyle(self) -> None:
        colours = tokens()
        self.fold.setStyleSheet(
            "QPushButton { border: none; background: transparent; padding: 2px 0; text-align: left;"
            f" color: {colours.muted}; }}"
            f"QPushButton:hover, QPushButton:focus {{ color: {colours.accent_text}; text-decoration: underline; }}"
        )

    def unfold(self, open: bool) -> None:
        """Show the settings that are seldom changed, or hide them."""
        self._folded.setVisible(open)
        self.fold.setText("▾ less" if open else "▸ more")

    def _spin(self, name: str) -> NumberField:
        field = self.rows[name].field
        assert isinstance(field, NumberField)
        return field

    def _choice(self, name: str) -> Choice:
        field = self.rows[name].field
        assert isinstance(field, Choice)
        return field

    def _slider(self, name: str) -> StopSlider:
        slider = self.rows[name].slider
        assert slider is not None
        return slider
