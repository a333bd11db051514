"""The form holds any model, says mistakes at their field, and asks for a build only when it can be done."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QSpinBox,
    QToolButton,
    QWidget,
)

from gpt_viz import ledger, resources
from gpt_viz.config import PRESETS, ConfigError, GPTConfig, preset
from gpt_viz.protocol import DeviceInfo, ModelInfo
from gpt_viz.quantities import short, size
from gpt_viz.ui.model.draft import head_stops, width_stops
from gpt_viz.ui.model.model_form import ModelForm
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.theme import theme

GB = 10**9
CPU = DeviceInfo("cpu", "CPU", memory_bytes=8 * GB)
NO_GPU = DeviceInfo("cuda", "NVIDIA GPU", "no NVIDIA GPU with a working driver was found")
GPU = DeviceInfo("cuda:0", "A <fast> GPU", memory_bytes=2 * GB)
STEP5 = PRESETS["step5"].config


@pytest.fixture
def subject():
    return Subject()


@pytest.fixture
def form(qtbot, subject):
    widget = ModelForm(subject)
    qtbot.addWidget(widget)
    widget.resize(232, 900)
    widget.show()
    widget.set_devices((CPU, NO_GPU))
    yield widget
    theme.use("light", 10)


def find(form, name, kind=QWidget):
    found = form.findChild(kind, f"model.{name}")
    assert found is not None, name
    return found


def spin(form, name):
    return find(form, name, QSpinBox)


def said(form, name):
    label = find(form, f"{name}.error", QLabel)
    return label.text() if label.isVisible() else ""


def built(config, seed=1337, device="cpu", alphabet=None):
    return ModelInfo(
        config=config, seed=seed, device=device, alphabet=alphabet, tensors=(), total=1, bytes=4, elapsed_s=0.0
    )


def asked(form):
    seen = []
    form.build_requested.connect(lambda *what: seen.append(what))
    return seen


def choose(form, name):
    combo = find(form, "preset", QComboBox)
    combo.setCurrentIndex(combo.findData(name))


# -- what it holds --


def test_it_begins_with_the_first_notebooks_model_and_says_what_that_costs(form, subject):
    assert subject.draft == STEP5
    assert find(form, "preset", QComboBox).currentData() == "step5"
    assert find(form, "parameters", QLabel).text() == "816,640"
    assert find(form, "bytes", QLabel).text() == "3.27 MB"
    assert find(form, "head_width", QLabel).text() == "32"
    assert find(form, "multiply_adds", QLabel).text() == short(ledger.multiply_adds_per_token(STEP5))


def test_its_fields_are_of_the_kinds_and_names_that_others_rely_on(form):
    for name in ("layers", "heads", "width", "block_size", "vocabulary"):
        assert spin(form, name).accessibleName()
        assert spin(form, name).value() == getattr(STEP5, name)
    assert find(form, "dropout", QDoubleSpinBox).value() == 0.0
    assert find(form, "seed", QLineEdit).text() == "1337"
    for kind, names in {
        QComboBox: ("preset", "device", "gelu", "initialisation", "scale"),
        QCheckBox: ("qkv_bias", "bias", "head_bias", "tied_head"),
        QPushButton: ("build",),
        QSlider: ("layers.slider", "heads.slider", "width.slider", "block_size.slider"),
        QToolButton: ("new_seed",),
    }.items():
        for name in names:
            assert find(form, name, kind).accessibleName()


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_chosen_and_is_what_is_asked_for(form, subject, name):
    form.set_devices((replace(CPU, memory_bytes=10**15),))
    seen = asked(form)
    choose(form, "gpt2" if name == "step5" else "step5")
    choose(form, name)
    assert subject.draft == preset(name).config
    find(form, "build").click()
    assert seen == [(preset(name).config, 1337, "auto")]
    assert find(form, "preset", QComboBox).currentData() == name


@pytest.mark.parametrize("change", [{"dropout": 0.1}, {"tied_head": True}, {"gelu": "tanh"}, {"layers": 0}])
def test_any_config_is_held_and_given_back_exactly(form, subject, change):
    config = replace(STEP5, **change)
    form.show_config(config, 2**63 - 1, "cpu")
    seen = asked(form)
    find(form, "build").click()
    assert subject.draft == config
    assert seen == [(config, 2**63 - 1, "cpu")]
    combo = find(form, "preset", QComboBox)
    assert combo.currentIndex() == -1
    assert combo.placeholderText() == "own sizes"


def test_boxes_and_lists_change_the_draft(form, subject):
    for name in ("qkv_bias", "head_bias", "tied_head"):
        find(form, name).click()
    find(form, "bias").setChecked(False)
    for name, value in (("gelu", "tanh"), ("initialisation", "gpt2"), ("scale", "multiply")):
        find(form, name).setCurrentText(value)
    assert subject.draft == replace(
        STEP5, qkv_bias=True, head_bias=True, tied_head=True, bias=False, gelu="tanh", initialisation="gpt2",
        scale="multiply",
    )  # fmt: skip


def test_typed_numbers_count_before_the_field_is_left(form, subject):
    field = spin(form, "width")
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "256")
    assert subject.draft == replace(STEP5, width=256)
    assert find(form, "parameters", QLabel).text() == f"{ledger.total(replace(STEP5, width=256)):,}"


# -- mistakes --


def test_a01_a_width_that_the_heads_do_not_divide_is_said_at_the_field_and_nothing_is_built(form, subject):
    subject.set_built(built(STEP5))
    seen = asked(form)
    spin(form, "heads").setValue(3)
    spin(form, "width").setValue(10)
    assert said(form, "width") == ("width 10 is not divisible by 3 heads; try 1, 2, 5, 10 heads, or width 9 or 12")
    assert said(form, "heads") == ""
    assert subject.draft is None
    assert subject.config == STEP5
    assert subject.weights is subject.built
    assert not find(form, "build").isEnabled()
    assert "width 10 is not divisible" in find(form, "build").toolTip().lower()
    find(form, "build").click()
    assert seen == []
    spin(form, "width").setValue(12)
    assert said(form, "width") == ""
    spin(form, "heads").setValue(5)
    assert "width 12 is not divisible by 5 heads; try 1, 2, 3, 4, 6, 12 heads" in said(form, "heads")
    spin(form, "heads").setValue(4)
    assert subject.draft == replace(STEP5, width=12)
    assert find(form, "build").isEnabled()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("block_size", -1, "block size -1 is out of range; it goes from 1 to 16,777,216"),
        ("block_size", 0, "block size 0 is out of range; it goes from 1 to 16,777,216"),
        ("layers", -2, "layers -2 is out of range; it goes from 0 to 10,000"),
        ("heads", 0, "heads 0 is out of range; it goes from 1 to 1,048,576"),
        ("width", 0, "width 0 is out of range; it goes from 1 to 1,048,576"),
        ("vocabulary", 0, "vocabulary 0 is out of range; it goes from 1 to 16,777,216"),
        ("vocabulary", 2**24 + 1, "vocabulary 16,777,217 is above 2^24 = 16,777,216"),
        ("dropout", -0.1, "dropout -0.1 is out of range; it goes from 0 to 1"),
        ("dropout", 1.5, "dropout 1.5 is out of range; it goes from 0 to 1"),
    ],
)
def test_a03_nonsense_is_named_at_its_field_with_value_and_range(form, subject, name, value, message):
    form.show_config(GPTConfig(11, 8, 2, 3, 12, qkv_bias=True, tied_head=True), 1, "cpu")
    with pytest.raises(ConfigError, match=message.split(";")[0].replace("^", r"\^")):
        replace(subject.draft, **{name: value})
    seen = asked(form)
    find(form, name).setValue(value)
    assert said(form, name).startswith(message)
    assert find(form, name).property("mistake") == "true"
    assert subject.draft is None
    assert find(form, "parameters", QLabel).text() == "–"
    find(form, "build").click()
    assert seen == []


def test_a03_what_is_no_number_cannot_be_typed(form, subject):
    field = spin(form, "layers")
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "abc")
    assert field.value() == 4
    assert subject.draft == STEP5
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    assert field.text() == ""
    find(form, "build").click()
    assert field.value() == 4
    assert field.text() == "4"


def test_two_mistakes_are_said_at_two_fields(form):
    spin(form, "layers").setValue(-1)
    find(form, "dropout").setValue(2.0)
    find(form, "seed").setText("abc")
    assert said(form, "layers")
    assert said(form, "dropout")
    assert said(form, "seed") == "the seed must be a whole number, not 'abc'"


def test_half_a_number_is_not_called_a_mistake_until_typing_pauses(form, qtbot, subject):
    field = spin(form, "width")
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "1")
    assert subject.draft is None
    assert said(form, "width") == ""
    qtbot.waitUntil(lambda: said(form, "width") != "", timeout=3000)
    QTest.keyClicks(field, "2")
    assert said(form, "width") == ""
    assert subject.draft == replace(STEP5, width=12)
    QTest.keyClicks(field, "3")
    QTest.keyClick(field, Qt.Key.Key_Tab)
    assert "width 123 is not divisible by 4 heads" in said(form, "width")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "the seed must be a whole number, not 'abc'"),
        ("1.5", "the seed must be a whole number, not '1.5'"),
        ("-1", "seed -1 is out of range; it goes from 0 to 2^63 - 1"),
        (str(2**64), f"seed {2**64:,} is out of range; it goes from 0 to 2^63 - 1"),
        ("٣", "the seed must be a whole number, not '٣'"),
        ("", "the seed is empty; write a whole number, or press new"),
    ],
)
def test_b14_a_bad_seed_is_refused_at_the_field(form, text, message):
    seen = asked(form)
    find(form, "seed").setText(text)
    assert said(form, "seed") == message
    find(form, "build").click()
    assert seen == []
    find(form, "seed").setText(" 7 ")
    assert said(form, "seed") == ""
    find(form, "build").click()
    assert seen == [(STEP5, 7, "auto")]


def test_b14_a_new_seed_is_another_one_and_can_be_read(form):
    seeds = [find(form, "seed").value()]
    for _ in range(20):
        find(form, "new_seed").click()
        seeds.append(find(form, "seed").value())
        assert seeds[-1] != seeds[-2]
    assert all(0 <= seed < 10**6 for seed in seeds)


# -- sizes --


def test_a07_what_can_never_fit_is_counted_at_once_and_refused_before_building(form, subject, calls_in):
    seen = asked(form)
    config = GPTConfig(100_000, 65_536, 96, 64, 65_536)
    assert calls_in(lambda: form.show_config(config, 1, "cpu")) < 20_000
    total = ledger.total(subject.draft)
    assert find(form, "parameters", QLabel).text() in (f"{total:,}", short(total))
    assert find(form, "parameters", QLabel).toolTip() == f"{total:,} parameters"
    sentence = find(form, "obstacle", QLabel).text()
    assert sentence == subject.obstacle
    assert sentence == (
        f"this model needs about {size(ledger.needed_bytes(subject.draft))}, and cpu has 7.2 GB for it; "
        "lower its layers, width, block size or vocabulary"
    )
    assert find(form, "memory").property("bad") == "true"
    find(form, "build").click()
    assert seen == []
    form.show_config(GPTConfig(11, 8, 2, 3, 12), 1, "cpu")
    assert subject.obstacle == ""
    find(form, "build").click()
    assert len(seen) == 1


def test_gpt3_is_counted_to_the_last_parameter(form, subject):
    choose(form, "gpt3")
    assert find(form, "parameters", QLabel).text() == "174,604,259,328"
    assert find(form, "bytes", QLabel).text() == "698 GB"
    assert subject.draft == PRESETS["gpt3"].config
    assert "cpu has 7.2 GB" in subject.obstacle


def test_the_limit_is_that_of_the_chosen_device_and_its_weights_fit_the_cpu(form, subject):
    form.set_devices((CPU, GPU))
    form.show_config(PRESETS["gpt2-medium"].config, 1, "cpu")
    assert subject.obstacle == ""
    combo = find(form, "device", QComboBox)
    combo.setCurrentIndex(combo.findData("cuda:0"))
    assert "cuda:0 has 1.8 GB for it" in subject.obstacle
    combo.setCurrentIndex(combo.findData("auto"))
    assert "cuda:0 has 1.8 GB for it" in subject.obstacle
    form.set_devices((replace(CPU, memory_bytes=GB), replace(GPU, memory_bytes=80 * GB)))
    assert "cpu, where its weights are drawn, has 900 MB for it" in subject.obstacle
    form.set_devices((replace(CPU, memory_bytes=None), replace(GPU, memory_bytes=None)))
    assert subject.obstacle == ""


def test_sliders_stop_only_at_models_that_can_be_built(form, subject):
    for name in ("heads", "width", "layers", "block_size"):
        slider = find(form, f"{name}.slider", QSlider)
        for place in range(slider.minimum(), min(slider.maximum(), 40) + 1):
            slider.setValue(place)
            assert subject.draft is not None
            assert getattr(subject.draft, name) == spin(form, name).value()
        form.show_config(STEP5, 1, "cpu")


def test_a_slider_follows_a_typed_value_and_leaves_it_as_it_is(form, subject):
    spin(form, "width").setValue(132)
    assert spin(form, "width").value() == 132
    assert subject.draft.width == 132
    assert head_stops(132) == (1, 2, 3, 4, 6, 11, 12, 22, 33, 44, 66, 132)
    slider = find(form, "heads.slider", QSlider)
    assert slider.value() == 3
    slider.setValue(4)
    assert subject.draft.heads == 6
    assert all(width % 6 == 0 for width in width_stops(6))
    assert {128, 768, 1024, 12_288} <= set(width_stops(4))


# -- alphabets --


def test_the_vocabulary_says_whose_characters_it_counts(form):
    note = find(form, "vocabulary").parentWidget().note
    assert form.alphabet() == resources.alphabet()
    assert note.text() == "65 characters of the notebooks"
    spin(form, "vocabulary").setValue(66)
    assert form.alphabet() is None
    assert note.text() == "no alphabet: token ids"
    form.set_alphabet(("a", "b", "c"))
    assert form.alphabet() is None
    spin(form, "vocabulary").setValue(3)
    assert form.alphabet() == ("a", "b", "c")
    assert note.text() == "3 characters of the text"
    spin(form, "vocabulary").setValue(65)
    assert form.alphabet() == resources.alphabet()
    form.set_alphabet(("a",))
    spin(form, "vocabulary").setValue(1)
    assert note.text() == "1 character of the text"


def test_a_character_preset_takes_the_alphabet_of_the_text_that_was_opened(form, subject):
    choose(form, "gpt2")
    assert form.alphabet() is None
    choose(form, "step5")
    assert form.alphabet() == resources.alphabet()
    form.set_alphabet(("a", "b", "c"))
    choose(form, "build-gpt")
    assert subject.draft == replace(PRESETS["build-gpt"].config, vocabulary=3)
    assert form.alphabet() == ("a", "b", "c")
    assert find(form, "preset", QComboBox).currentData() == "build-gpt"
    form.set_alphabet(None)
    choose(form, "step5")
    assert subject.draft == STEP5
    assert form.alphabet() == resources.alphabet()


# -- devices --


def test_f11_a_device_that_cannot_be_used_is_greyed_with_the_reason(form):
    combo = find(form, "device", QComboBox)
    place = combo.findData("cuda")
    assert combo.itemText(place) == "cuda – no NVIDIA GPU with a working driver was found"
    assert not combo.model().item(place).isEnabled()
    assert "No NVIDIA GPU" in combo.itemData(place, Qt.ItemDataRole.ToolTipRole)
    assert combo.model().item(combo.findData("cpu")).isEnabled()
    seen = asked(form)
    combo.setCurrentIndex(place)
    assert said(form, "device") == ("device cuda can't be used here: no NVIDIA GPU with a working driver was found")
    find(form, "build").click()
    assert seen == []


def test_f11_a_device_that_has_gone_is_replaced_and_said(form):
    form.show_config(STEP5, 1, "cuda:1")
    assert find(form, "device", QComboBox).currentData() == "auto"
    assert said(form, "device") == "device cuda:1 is not here; auto takes its place"


def test_a_device_asked_for_before_any_is_known_is_kept_while_it_is_there(qtbot, subject):
    form = ModelForm(subject)
    qtbot.addWidget(form)
    form.show_config(STEP5, 1, "cuda:0")
    assert find(form, "device", QComboBox).currentData() == "cuda:0"
    form.set_devices((CPU, GPU))
    assert find(form, "device", QComboBox).currentData() == "cuda:0"
    tip = find(form, "device", QComboBox).itemData(2, Qt.ItemDataRole.ToolTipRole)
    assert tip == "<qt>A &lt;fast&gt; GPU</qt>"
    form.show_config(STEP5, 1, "cuda")
    assert find(form, "device", QComboBox).currentData() == "cuda:0"
    form.set_devices((CPU, NO_GPU))
    assert find(form, "device", QComboBox).currentData() == "auto"


# -- Build --


def test_build_stands_out_while_the_form_holds_another_model_than_the_built_one(form, subject):
    button = find(form, "build")
    assert button.text() == "Build"
    assert button.property("accent") == "true"
    subject.set_built(built(STEP5, alphabet=resources.alphabet()))
    assert button.property("accent") is None
    assert button.isEnabled()
    find(form, "seed").setText("1")
    assert button.property("accent") == "true"
    find(form, "seed").setText("1337")
    assert button.property("accent") is None
    spin(form, "layers").setValue(5)
    assert button.property("accent") == "true"


def test_while_a_model_is_built_build_waits_and_says_why(form):
    seen = asked(form)
    button = find(form, "build")
    form.set_busy(True)
    assert not button.isEnabled()
    assert "a model is being built" in button.accessibleDescription()
    button.click()
    spin(form, "layers").setValue(2)
    assert not button.isEnabled()
    form.set_busy(False)
    button.click()
    assert seen == [(replace(STEP5, layers=2), 1337, "auto")]


def test_why_a_build_failed_is_said_at_its_field_until_something_changes(form, subject):
    form.show_failure("width", "the width <b> is unlucky")
    assert said(form, "width") == "the width <b> is unlucky"
    assert find(form, "width.error", QLabel).textFormat() == Qt.TextFormat.PlainText
    form.show_failure("", "out of memory")
    assert find(form, "obstacle", QLabel).text() == "out of memory"
    spin(form, "layers").setValue(3)
    assert said(form, "width") == ""
    assert not find(form, "obstacle", QLabel).isVisible()
    assert subject.draft == replace(STEP5, layers=3)


# -- how it lies --


def test_f08_in_a_low_window_everything_is_reached_by_scrolling(form):
    assert form.minimumSizeHint().height() == 0
    for height in (900, 480, 300, 120):
        form.resize(232, height)
        QApplication.processEvents()
        assert form.height() == height
        area = form.findChild(QScrollArea)
        button = find(form, "build")
        inside = area.isAncestorOf(button)
        bottom = button.mapTo(area.widget() if inside else form, QPoint(0, button.height())).y()
        assert bottom <= (area.widget().height() if inside else height)
        assert area.isAncestorOf(spin(form, "layers"))
    assert inside


@pytest.mark.parametrize("points", [10, 14])
def test_nothing_is_cut_at_the_width_it_has_in_the_window(form, points):
    theme.use("light", points)
    form.resize(232 if points == 10 else 300, 900)
    QApplication.processEvents()
    inner = form.findChild(QScrollArea).widget()
    assert inner.width() <= form.width()
    for name in ("layers", "vocabulary", "seed", "device", "build"):
        field = find(form, name)
        assert field.mapTo(form, QPoint(field.width(), 0)).x() <= form.width()


def test_the_wheel_scrolls_the_form_and_changes_a_field_only_when_it_is_chosen(form):
    field = spin(form, "layers")
    find(form, "seed").setFocus()

    def turn():
        where = QPointF(5, 5)
        event = QWheelEvent(
            where, field.mapToGlobal(where), QPoint(0, 0), QPoint(0, 120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(field, event)

    turn()
    assert field.value() == 4
    field.setFocus()
    turn()
    assert field.value() == 5
