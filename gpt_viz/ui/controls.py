"""The values of inputs by object name, to be kept and put back. Knows no input by name, and no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QRadioButton,
    QSlider,
    QSpinBox,
    QWidget,
)

Value = bool | int | float | str
KINDS = (QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QRadioButton, QSlider, QSpinBox)


def read(widget: QWidget, prefix: str) -> dict[str, Value]:
    """What stands in the widget's named inputs whose names begin with the prefix."""
    return {each.objectName(): _value(each) for each in _inputs(widget, prefix)}


def write(widget: QWidget, prefix: str, values: Mapping[str, Value]) -> list[str]:
    """Put the values back; returns a sentence for each that the input does not take, and leaves that one alone."""
    refused = []
    for each in _inputs(widget, prefix):
        name = each.objectName()
        if name in values and not _put(each, values[name]):
            refused.append(f"{name} does not take {values[name]!r:.60}")
    return refused


def _inputs(widget: QWidget, prefix: str) -> Iterable[QWidget]:
    return [
        each
        for each in widget.findChildren(QWidget)
        if isinstance(each, KINDS) and each.objectName().startswith(prefix)
    ]


def _value(each: QWidget) -> Value:
    if isinstance(each, (QCheckBox, QRadioButton)):
        return each.isChecked()
    if isinstance(each, QComboBox):
        return each.currentText()
    if isinstance(each, (QSpinBox, QDoubleSpinBox, QSlider)):
        return each.value()
    assert isinstance(each, QLineEdit)
    return each.text()


def _put(each: QWidget, value: Value) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(each, (QCheckBox, QRadioButton)) and isinstance(value, bool):
        each.setChecked(value)
    elif isinstance(each, QComboBox) and isinstance(value, str) and each.findText(value) >= 0:
        each.setCurrentIndex(each.findText(value))
    elif isinstance(each, QDoubleSpinBox) and number and each.minimum() <= float(value) <= each.maximum():
        each.setValue(float(value))
    elif (
        isinstance(each, (QSpinBox, QSlider)) and isinstance(value, int) and number
        and each.minimum() <= value <= each.maximum()
    ):  # fmt: skip
        each.setValue(value)
    elif isinstance(each, QLineEdit) and isinstance(value, str):
        each.setText(value)
    else:
        return False
    return True
