"""Every theme can be read: contrast of all texts on all surfaces, and a sheet without a hole."""

import itertools
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QLabel, QSpinBox

from gpt_viz.ui import sheet, theme

READABLE = 4.5
TEXTS = ("text", "muted", "accent_text", "bad")
SURFACES = ("window", "card", "field", "selected", "masked")


@pytest.mark.parametrize("name", theme.THEMES)
def test_e12_every_text_can_be_read_on_every_surface(name):
    tokens = theme.THEMES[name]
    for text, surface in itertools.product(TEXTS, SURFACES):
        found = theme.contrast(getattr(tokens, text), getattr(tokens, surface))
        assert found >= READABLE, f"{text} on {surface}: {found:.2f}"
    assert theme.contrast(tokens.on_accent, tokens.accent) >= READABLE


@pytest.mark.parametrize("name", theme.THEMES)
def test_e12_marks_stand_out_from_the_card(name):
    tokens = theme.THEMES[name]
    for mark in (tokens.query, tokens.key):
        assert theme.contrast(mark, tokens.card) >= 3.0
    assert len(set(tokens.kinds.values())) == 7


@pytest.mark.parametrize("name", theme.THEMES)
def test_e12_palette_and_tool_tips_follow_the_theme(qapp, name):
    theme.theme.use(name)
    sheet.apply(qapp)
    tokens = theme.tokens()
    palette = qapp.palette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for text, surface in (
        (role.Text, role.Base),
        (role.WindowText, role.Window),
        (role.ButtonText, role.Button),
        (role.ToolTipText, role.ToolTipBase),
        (role.HighlightedText, role.Highlight),
        (role.PlaceholderText, role.Base),
    ):
        for each in (group.Active, group.Inactive, group.Disabled):
            found = theme.contrast(palette.color(each, text).name(), palette.color(each, surface).name())
            assert found >= READABLE, f"{text} {each}: {found:.2f}"
    assert palette.color(role.Window) == QColor(tokens.card)
    assert tokens.card.lower() in re.search(r"QToolTip \{([^}]*)\}", qapp.styleSheet())[1].lower()


@pytest.mark.parametrize("name", theme.THEMES)
def test_the_sheet_has_no_placeholder_left_and_only_the_themes_colours(qapp, name):
    theme.theme.use(name)
    text = sheet.stylesheet()
    assert not re.search(r"\{[a-z_]+\}", text)
    known = {value.upper() for value in vars_of(theme.tokens())}
    assert {colour.upper() for colour in re.findall(r"#[0-9A-Fa-f]{6}\b", text)} <= known


def vars_of(tokens):
    return [value for value in map(tokens.__getattribute__, tokens.__slots__) if isinstance(value, str)]


def test_the_sheets_pictures_are_there(qapp):
    for name in theme.THEMES:
        theme.theme.use(name)
        for path in re.findall(r'url\("([^"]+)"\)', sheet.stylesheet()):
            assert Path(path).read_bytes().startswith(b"<svg")


def test_a_change_of_theme_is_told_once_and_only_when_it_is_one(qapp, qtbot):
    told = []
    theme.theme.changed.connect(lambda: told.append(theme.tokens().name))
    theme.theme.use("dark")
    theme.theme.use("dark")
    theme.theme.use("dark", 12.0)
    assert told == ["dark", "dark"]
    assert theme.ui_font().pointSizeF() == 12.0


def test_the_system_theme_is_light_where_the_desktop_says_nothing(qapp):
    assert theme.resolved("system") in ("light", "dark")
    assert theme.resolved("contrast") == "contrast"


def test_a_number_field_without_buttons_keeps_its_room_under_the_sheet(qtbot, qapp):
    sheet.apply(qapp)
    field = QSpinBox()
    field.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
    field.setFixedWidth(104)
    qtbot.addWidget(field)
    field.show()
    assert field.lineEdit().width() > 80


def test_digits_are_of_one_width(qtbot, qapp):
    sheet.apply(qapp)
    label = QLabel("0")
    qtbot.addWidget(label)
    widths = {label.fontMetrics().horizontalAdvance(digit * 8) for digit in "0123456789"}
    assert len(widths) == 1


def test_known_contrasts():
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert theme.contrast("#777777", "#FFFFFF") == pytest.approx(4.478, abs=0.001)
