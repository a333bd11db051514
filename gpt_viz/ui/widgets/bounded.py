"""Number fields that refuse what will not do, and say so while it is typed. Knows no model.

A field shows what is typed also where it is wrong, with `refused` carrying the reason; left like that, it goes back to
the last value that was right.
"""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtGui import QValidator

from gpt_viz.ui.widgets.fields import FractionField, NumberField
from gpt_viz.ui.widgets.manners import set_property

_Judgement = tuple[QValidator.State, str, int]


class BoundedNumber(NumberField):
    """A whole number in a range, whose lowest is shown as a word: what it means. `rule` begins the refusals."""

    refused = Signal(str)
    _word, rule = "", ""

    def __init__(self, low: int, high: int, *, word: str, rule: str) -> None:
        super().__init__()
        self._word, self.rule = word, rule
        self.setKeyboardTracking(False)  # a number half typed is no setting
        self.setRange(low, high)
        self.setSpecialValueText(word)
        self.valueChanged.connect(lambda _: _say(self, ""))
        self.editingFinished.connect(lambda: _say(self, ""))

    def validate(self, text: str, position: int) -> _Judgement:
        """Anything may be typed; only what will do is taken."""
        return _judged(self, self._read(text), text), text, position

    def valueFromText(self, text: str) -> int:
        value = self._read(text)
        return self.value() if value is None else value

    def _read(self, text: str) -> int | None:
        text = text.strip().replace(",", "")
        if text == self._word:
            return self.minimum()
        digits = text.removeprefix("-").removeprefix("+")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


class BoundedFraction(FractionField):
    """A number in a range; at `named` it is shown as a word. `rule` begins the refusals."""

    refused = Signal(str)
    # Qt asks for texts before they are known.
    _named, _word, rule = math.nan, "", ""

    def __init__(self, low: float, high: float, *, named: float, word: str, rule: str, decimals: int = 4) -> None:
        super().__init__()
        self._named, self._word, self.rule = named, word, rule
        self.setKeyboardTracking(False)
        self.setDecimals(decimals)
        self.setRange(low, high)
        self.valueChanged.connect(lambda _: _say(self, ""))
        self.editingFinished.connect(lambda: _say(self, ""))

    def textFromValue(self, value: float) -> str:
        return self._word if value == self._named else super().textFromValue(value)

    def validate(self, text: str, position: int) -> _Judgement:
        """Anything may be typed; only what will do is taken. nan and inf are no numbers here."""
        return _judged(self, self._read(text), text), text, position

    def valueFromText(self, text: str) -> float:
        value = self._read(text)
        return self.value() if value is None else value

    def _read(self, text: str) -> float | None:
        text = text.strip().replace(",", ".")
        if text == self._word:
            return self._named
        try:
            return float(text)
        except ValueError:
            return None


def _judged(field: BoundedNumber | BoundedFraction, value: float | None, text: str) -> QValidator.State:
    good = value is not None and field.minimum() <= value <= field.maximum()
    _say(field, "" if good or not text.strip() else f"{field.rule}, not “{text.strip()}”")
    return QValidator.State.Acceptable if good else QValidator.State.Intermediate


def _say(field: BoundedNumber | BoundedFraction, reason: str) -> None:
    set_property(field, "mistake", bool(reason))
    field.setAccessibleDescription(reason)
    field.refused.emit(reason)
