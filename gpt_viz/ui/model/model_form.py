"""The form in which a model is made: settings, what they cost, and Build. Knows no engine and no panel.

Whatever it holds is the subject's draft at once; a mistake is said at its field, and then there is no draft.
"""

from __future__ import annotations

import random
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QStyle, QVBoxLayout, QWidget

from gpt_viz import resources
from gpt_viz.config import PRESETS, ConfigError, GPTConfig, check_seed, preset
from gpt_viz.protocol import DeviceInfo
from gpt_viz.ui.model.draft import alphabet_of, checked, described, preset_name
from gpt_viz.ui.model.model_fields import ModelFields
from gpt_viz.ui.model.model_figures import ModelFigures
from gpt_viz.ui.model.room import AUTO, device_called, obstacle
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.theme import theme, ui_font
from gpt_viz.ui.widgets.column import Column
from gpt_viz.ui.widgets.fields import SmallLabel
from gpt_viz.ui.widgets.manners import named, set_property, tip

_PATIENCE_MS = 700  # while someone types, half a number is not called a mistake
_LOW = 420  # px; lower than this, the numbers and Build scroll with the fields


class _Shrinking(QVBoxLayout):
    """A column that may become lower than its texts need: a scroll area around it then leaves scrolling to it."""

    def hasHeightForWidth(self) -> bool:
        return False


class ModelForm(QWidget):
    """`build_requested` carries (GPTConfig, seed, device's name) when Build is pressed and can be done."""

    build_requested = Signal(object, object, str)

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self._subject = subject
        self._own: tuple[str, ...] | None = None  # the alphabet that a text brought
        self._padded: tuple[int, tuple[str, ...]] | None = None  # a checkpoint's vocabulary, and its fewer characters
        self._devices: tuple[DeviceInfo, ...] = ()
        self._config: GPTConfig | None = None
        self._mistakes: dict[str, str] = {}
        self._obstacle = ""
        self._filling = self._busy = False
        self._blamed = "heads"  # where a width that the heads don't divide is said: at the one changed last
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(self._show_mistakes)
        self.setObjectName("model")
        self.setAccessibleName("Model")
        self._lay_out()
        self.fields.changed.connect(self._changed)
        self.fields.left.connect(self._show_mistakes)
        self.fields.new_seed.connect(self._new_seed)
        subject.changed.connect(self._show_build)
        theme.changed.connect(self._restyle)
        self.show_config(PRESETS["step5"].config, 1337, AUTO)

    def _lay_out(self) -> None:
        self.fields, self.figures = ModelFields(), ModelFigures()
        for each in PRESETS.values():
            self.fields.preset.addItem(each.title, each.name)
        self.fields.device.add(AUTO, AUTO)
        self._remark = SmallLabel("bad")
        self._remark.setObjectName("model.obstacle")
        self.build = named(QPushButton("Build"), "model.build", "Build the model")
        self.build.clicked.connect(self._build)
        self._foot = QWidget()
        foot = QVBoxLayout(self._foot)
        foot.setContentsMargins(16, 6, 12, 8)
        foot.setSpacing(6)
        foot.addWidget(self.figures)
        foot.addWidget(self._remark)
        foot.addWidget(self.build)
        self._inner = QWidget()
        inside = QVBoxLayout(self._inner)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(self.fields)
        self._outside = _Shrinking(self)
        self._outside.setContentsMargins(0, 0, 0, 0)
        self._outside.setSpacing(0)
        self._outside.addWidget(Column(self._inner))
        self._outside.addWidget(self._foot)
        self._outside.addStretch(1)

    # -- what the window says --

    def show_config(self, config: GPTConfig, seed: int, device: str) -> None:
        """Hold this model, its seed and its device."""
        self._filling = True
        self.fields.fill(config)
        self.fields.seed.setValue(seed)
        place = self._place_of(device)
        if place < 0 and not self._devices:
            self.fields.device.add(device, device)
            place = self._place_of(device)
        self.fields.device.setCurrentIndex(max(place, 0))
        self._filling = False
        self._refresh()
        if place < 0:
            self.show_failure("device", f"device {device} is not here; {AUTO} takes its place")

    def set_devices(self, devices: tuple[DeviceInfo, ...]) -> None:
        """Offer these devices; those that can't be used are greyed, with the reason."""
        chosen = self.fields.device.currentData()
        self._devices = devices
        self._filling = True
        self.fields.device.clear()
        self.fields.device.add(AUTO, AUTO)
        for each in devices:
            self.fields.device.add(each.name, each.name, each.reason)
            if each.usable:
                place = self.fields.device.count() - 1
                self.fields.device.setItemData(place, tip(each.title), Qt.ItemDataRole.ToolTipRole)
        place = self._place_of(chosen)
        info = device_called(chosen, self._devices)
        self.fields.device.setCurrentIndex(place if place > 0 and info is not None and info.usable else 0)
        self._filling = False
        self._refresh()

    def set_alphabet(self, alphabet: tuple[str, ...] | None, vocabulary: int | None = None) -> None:
        """The characters that a text brought, in the order of their ids; None: only the notebooks' are known.

        A checkpoint's `vocabulary` may be larger than its alphabet: there some ids have no character.
        """
        self._own = alphabet if alphabet != resources.alphabet() else None
        self._padded = None if alphabet is None or vocabulary is None else (vocabulary, alphabet)
        self._refresh()

    def alphabet(self) -> tuple[str, ...] | None:
        """The characters of the ids, where there are as many as the vocabulary says; otherwise None: ids only."""
        vocabulary = self.fields.values()["vocabulary"]
        if self._padded is not None and self._padded[0] == vocabulary:
            return self._padded[1]
        return alphabet_of(vocabulary, self._own)

    def held(self) -> object:
        """What it holds now, right or wrong: to be compared with what it holds later."""
        fields = self.fields
        return fields.values(), fields.seed.text(), fields.device.currentData()

    def show_failure(self, field: str, message: str) -> None:
        """Say at the field why a build failed, until something is changed; below all where no field is at fault."""
        if field in self.fields.rows:
            self.fields.rows[field].complain(message)
        else:
            self._remark.say(message)

    def set_busy(self, busy: bool) -> None:
        """A build is under way, or over."""
        self._busy = busy
        self._show_build()

    # -- what the user does --

    def _changed(self, name: str) -> None:
        if self._filling:
            return
        if name == "preset":
            self._choose_preset(self.fields.preset.currentData())
        elif name in ("heads", "width"):
            self._blamed = name
        self._refresh()

    def _choose_preset(self, name: str | None) -> None:
        if name is None:
            return
        chosen = preset(name)
        characters = self._own or resources.alphabet()
        config = replace(chosen.config, vocabulary=len(characters)) if chosen.characters else chosen.config
        self._filling = True
        self.fields.fill(config)
        self._filling = False

    def _new_seed(self) -> None:
        before = self.fields.seed.value()
        self.fields.seed.setValue(
            next(s for s in iter(lambda: random.SystemRandom().randrange(10**6), -1) if s != before)
        )

    def _build(self) -> None:
        self.fields.interpret()
        self._refresh()
        self._show_mistakes()
        if self.build.isEnabled() and self._config is not None:
            self.build_requested.emit(self._config, self.fields.seed.value(), self.fields.device.currentData())

    # -- what follows from it --

    def _refresh(self) -> None:
        self._config, self._mistakes = self._read()
        self._obstacle = self._no_room(self._config) if self._config else ""
        self._filling = True
        name = preset_name(self._config, self._own) if self._config else None
        self.fields.preset.setCurrentIndex(self.fields.preset.findData(name))
        self.fields.move_sliders()
        self._filling = False
        self.fields.rows["vocabulary"].note.say(described(self.alphabet(), self._own))
        self.figures.show_config(self._config, bool(self._obstacle))
        self._remark.say(self._obstacle)
        if self.fields.typing() and self._mistakes:
            self._patience.start()
        else:
            self._show_mistakes()
        self._subject.set_draft(self._config, self._obstacle)
        self._show_build()

    def _read(self) -> tuple[GPTConfig | None, dict[str, str]]:
        config, mistakes = checked(self.fields.values(), self._blamed)
        text = self.fields.seed.text().strip()
        try:
            check_seed(self.fields.seed.value())
        except ConfigError as error:
            mistakes["seed"] = str(error) if text else "the seed is empty; write a whole number, or press new"
        info = device_called(self.fields.device.currentData(), self._devices)
        if info is not None and not info.usable:
            mistakes["device"] = f"device {info.name} can't be used here: {info.reason}"
        return config, mistakes

    def _show_mistakes(self) -> None:
        self._patience.stop()
        for name, row in self.fields.rows.items():
            row.complain(self._mistakes.get(name, ""))
        if "heads" in self._mistakes or "width" in self._mistakes:
            both = any("divisible" in self._mistakes.get(name, "") for name in ("heads", "width"))
            for name in ("heads", "width"):
                self.fields.rows[name].blame(both or name in self._mistakes)

    def _no_room(self, config: GPTConfig) -> str:
        return obstacle(config, self.fields.device.currentData(), self._devices)

    def _place_of(self, device: str) -> int:
        place = self.fields.device.findData(device)
        if place < 0 and device == "cuda":
            place = next((i for i in range(self.fields.device.count()) if self._data(i).startswith("cuda")), -1)
        return place

    def _data(self, place: int) -> str:
        return str(self.fields.device.itemData(place))

    # -- how it looks --

    def _show_build(self) -> None:
        reason = self._obstacle or next(iter(self._mistakes.values()), "")
        if self._busy:
            reason = "a model is being built; it can be cancelled in the status bar"
        self.build.setText("Building …" if self._busy else "Build")
        self.build.setEnabled(not reason)
        self.build.setToolTip(tip(reason[:1].upper() + reason[1:]) if reason else "")
        self.build.setAccessibleDescription(reason)
        set_property(self.build, "accent", self._differs())

    def _differs(self) -> bool:
        built, device = self._subject.built, self.fields.device.currentData()
        if built is None:
            return True
        held = (self._config, self.fields.seed.value(), self.alphabet())
        return held != (built.config, built.seed, built.alphabet) or device not in (AUTO, built.device)

    def _restyle(self) -> None:
        self.setFont(ui_font())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.setAutoFillBackground(False)  # which a scroll area switches on; it is the dock that has a background

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self._inner.layout()
        assert isinstance(inside, QVBoxLayout)
        if self.height() < _LOW:
            inside.addWidget(self._foot)
        elif self._foot.parentWidget() is not self:
            self._outside.insertWidget(1, self._foot)

    def minimumSizeHint(self) -> QSize:
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        return QSize(self.fields.minimumSizeHint().width() + bar, 0)
