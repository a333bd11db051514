"""The fields of a form: each takes what is typed as it is, and says below itself what is wrong with it.

Knows no model: ranges are checked by whoever owns the form, so that a mistake can be named and not only prevented.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLocale, Qt
from PySide6.QtGui import QPaintEvent, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from gpt_viz.ui.theme import theme, ui_font
from gpt_viz.ui.widgets.manners import named, set_property, tip, wheel_is_meant
from gpt_viz.ui.widgets.stop_slider import StopSlider

FIELD_WIDTH = 96
QWIDGETSIZE_MAX = 2**24 - 1  # Qt's own word for: as large as you like
_ENGLISH = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
_REARRANGED = (QEvent.Type.Resize, QEvent.Type.StyleChange, QEvent.Type.Show, QEvent.Type.PolishRequest)
_MOST = 2**31 - 1  # what Qt's own field can hold


def _dress(field: QAbstractSpinBox) -> None:
    """What both fields of numbers have: English digits at the right, no arrows, the focus by a click or Tab."""
    field.setLocale(_ENGLISH)
    field.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.setMinimumWidth(48)


def _centre_text(field: QAbstractSpinBox) -> None:
    # A style sheet that places the arrows leaves no room for the text where there are none.
    field.lineEdit().setGeometry(field.rect().adjusted(8, 3, -8, -3))


class NumberField(QSpinBox):
    """A whole number. Any that is typed is taken; the form says whether it will do."""

    def __init__(self) -> None:
        super().__init__()
        _dress(self)
        self.setRange(-_MOST, _MOST)
        self.setGroupSeparatorShown(True)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in _REARRANGED:
            _centre_text(self)
        return done

    def wheelEvent(self, event: QWheelEvent) -> None:
        if wheel_is_meant(self, event):
            super().wheelEvent(event)


class FractionField(QDoubleSpinBox):
    """A number with a fraction, shown without needless zeros. Any that is typed is taken."""

    def __init__(self) -> None:
        super().__init__()
        _dress(self)
        self.setDecimals(12)
        self.setRange(-1e6, 1e6)
        self.setSingleStep(0.05)

    def textFromValue(self, value: float) -> str:
        shown = f"{value:.12f}".rstrip("0")
        return shown + "0" if shown.endswith(".") else shown

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in _REARRANGED:
            _centre_text(self)
        return done

    def wheelEvent(self, event: QWheelEvent) -> None:
        if wheel_is_meant(self, event):
            super().wheelEvent(event)


class SeedField(QLineEdit):
    """A whole number of up to 19 digits, which is more than Qt's number field can hold."""

    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(40)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setMinimumWidth(48)

    def value(self) -> int | str:
        """The number, or the text as it stands where it is none."""
        text = self.text().strip()
        digits = text[1:] if text[:1] in ("-", "+") else text
        return int(text) if digits.isascii() and digits.isdigit() else text

    def setValue(self, value: int) -> None:  # noqa: N802 (as in QSpinBox)
        """Write a number; where it is longer than the field, its beginning is seen."""
        self.setText(str(value))
        self.setToolTip(str(value))
        self.setCursorPosition(0)


class Choice(QComboBox):
    """A list to choose from; entries that can't be chosen stay in it, greyed, with the reason."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumWidth(48)

    def add(self, text: str, data: str, reason: str = "") -> None:
        """One more entry; `reason` says why it can't be chosen."""
        self.addItem(f"{text} – {reason}" if reason else text, data)
        if reason:
            model, place = self.model(), self.count() - 1
            assert isinstance(model, QStandardItemModel)
            model.item(place).setEnabled(False)
            self.setItemData(place, tip(reason[:1].upper() + reason[1:]), Qt.ItemDataRole.ToolTipRole)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        room = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        shown = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, room.width())
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def showPopup(self) -> None:  # noqa: N802 (Qt's name)
        # As wide as its longest entry, however narrow the field is.
        self.view().setMinimumWidth(max(self.view().sizeHintForColumn(0) + 32, self.width()))
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if wheel_is_meant(self, event):
            super().wheelEvent(event)


class SmallLabel(QLabel):
    """A line of plain text under something, hidden while it is empty; `kind` is the sheet's: muted or bad."""

    def __init__(self, kind: str) -> None:
        super().__init__(wordWrap=True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty(kind, "true")
        self.setVisible(False)
        theme.changed.connect(self._restyle)
        self._restyle()

    def say(self, text: str) -> None:
        """Another text; "" hides the line."""
        self.setText(text)
        self.setVisible(bool(text))

    def _restyle(self) -> None:
        self.setFont(ui_font(0.9))


class FieldRow(QWidget):
    """A label, its field, where given a slider, and below them a note and what is wrong."""

    def __init__(self, name: str, label: str, field: QWidget, *, beside: QWidget | None = None) -> None:
        super().__init__()
        self.field = field
        named(field, name, label)
        field.setFixedWidth(FIELD_WIDTH)
        field.setMinimumHeight(28)
        self.label = QLabel(label)
        self.label.setProperty("muted", "true")
        self.label.setBuddy(field)
        self.note = SmallLabel("muted")
        self.error = SmallLabel("bad")
        self.error.setObjectName(f"{name}.error")
        self.slider: StopSlider | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(self.label, 0, 0)
        if beside is not None:
            self._grid.addWidget(beside, 0, 1)
        self._grid.addWidget(field, 0, 2)
        self._grid.addWidget(self.note, 2, 0, 1, 3)
        self._grid.addWidget(self.error, 3, 0, 1, 3)

    def add_slider(self) -> StopSlider:
        """Put a slider below the field."""
        self.slider = StopSlider()
        named(self.slider, f"{self.field.objectName()}.slider", f"{self.label.text()} slider")
        self._grid.addWidget(self.slider, 1, 0, 1, 3)
        return self.slider

    def let_grow(self) -> None:
        """Give the field the room that the label leaves."""
        self.field.setMinimumWidth(FIELD_WIDTH)
        self.field.setMaximumWidth(QWIDGETSIZE_MAX)
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, self.field.sizePolicy().verticalPolicy())
        self._grid.setColumnStretch(0, 0)
        self._grid.setColumnStretch(2, 1)

    def complain(self, message: str) -> None:
        """Say what is wrong with the field, in one sentence; "" takes it back."""
        self.error.say(message)
        self.blame(bool(message))
        self.field.setAccessibleDescription(message)

    def blame(self, mistaken: bool) -> None:
        """Frame the field as a wrong one, or no longer."""
        set_property(self.field, "mistake", mistaken)
