"""Colours, fonts and spacing of the three themes, and which one is on. Knows no widget.

The five kinds keep their colours everywhere and in every theme; they are marks, never text (as text they fail the
contrast). All text colours are at least 4.5:1 against what they stand on, in each theme; a test measures it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

GRID = 8  # px; distances are multiples of it, or half

KINDS: dict[str, str] = {
    "token embedding": "#56B4E9",
    "position embedding": "#8FD0F5",
    "attention": "#E69F00",
    "feed-forward": "#009E73",
    "LayerNorm": "#CC79A7",
    "output head": "#0072B2",
    "residual": "#8A929E",
}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The named colours of one theme, as #RRGGBB."""

    name: str
    window: str  # behind the panels
    card: str  # a panel
    field: str  # an input, a code block
    line: str  # hairlines and the borders of inputs
    text: str
    muted: str  # captions; still 4.5:1 on window, card and field
    accent: str  # the one accent: as a fill, with `on_accent` on it
    on_accent: str
    accent_text: str  # the accent as text or as an outline on a card
    selected: str  # a selected row's background; `text` stands on it
    query: str  # outline of the chosen query, and of the chosen key
    key: str
    masked: str  # a masked cell: what attention is not allowed to see
    bad: str  # a mistake, as text
    dark: bool
    kinds: dict[str, str] = dataclasses.field(default_factory=lambda: dict(KINDS))


LIGHT = Tokens(
    name="light", window="#EFF1F4", card="#FFFFFF", field="#F3F4F7", line="#D9DDE3", text="#14181F", muted="#535C69",
    accent="#3B5BDB", on_accent="#FFFFFF", accent_text="#3350C4", selected="#E5EAFD", query="#3B5BDB", key="#C77700",
    masked="#ECEEF2", bad="#B42318", dark=False,
)  # fmt: skip
DARK = Tokens(
    name="dark", window="#111318", card="#1B1E25", field="#262A33", line="#3A404C", text="#E9EBEF", muted="#A8B0BD",
    accent="#4263EB", on_accent="#FFFFFF", accent_text="#9DB2FF", selected="#2B3560", query="#8FA6FF", key="#F0A93B",
    masked="#2A2E37", bad="#FF9B8F", dark=True,
)  # fmt: skip
CONTRAST = Tokens(
    name="contrast", window="#000000", card="#000000", field="#000000", line="#FFFFFF", text="#FFFFFF",
    muted="#FFFFFF", accent="#FFD60A", on_accent="#000000", accent_text="#FFD60A", selected="#003A8C",
    query="#FFD60A", key="#FF9F0A", masked="#3D3D3D", bad="#FF9B8F", dark=True,
)  # fmt: skip
THEMES: dict[str, Tokens] = {tokens.name: tokens for tokens in (LIGHT, DARK, CONTRAST)}


class _Theme(QObject):
    """The theme that is on; `changed` when it is another. `wanted` is what was chosen, `system` included."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.tokens = LIGHT
        self.points = 10.0
        self.wanted = "light"

    def use(self, name: str, points: float | None = None) -> None:
        """Switch to the theme of that name (`system`: light or dark as the desktop is), and to a base font size."""
        wanted = THEMES[resolved(name)]
        before = (self.tokens, self.points)
        self.tokens, self.points, self.wanted = wanted, points or self.points, name
        if (self.tokens, self.points) != before:
            self.changed.emit()


theme = _Theme()


def tokens() -> Tokens:
    """The colours that are on now. Ask in each paint: they change."""
    return theme.tokens


def resolved(name: str) -> str:
    """The name of a theme there is: `system` becomes what the desktop says, light where it says nothing."""
    if name != "system":
        return name
    return "dark" if QApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"


def contrast(one: str, other: str) -> float:
    """How well one colour can be read on the other: 1 (not at all) to 21, by the WCAG's formula."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def _first_family(wanted: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> str:
    return next(filter(QFontDatabase.hasFamily, wanted), "") or QFontDatabase.systemFont(fallback).family()


@cache
def _ui_font(points: float, bold: bool) -> QFont:
    family = _first_family(
        ("Inter", "SF Pro Text", "Segoe UI", "Noto Sans", "DejaVu Sans"), QFontDatabase.SystemFont.GeneralFont
    )
    font = QFont(family)
    font.setPointSizeF(points)
    font.setFeature(QFont.Tag("tnum"), 1)
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


@cache
def _mono_font(points: float, bold: bool) -> QFont:
    family = _first_family(
        ("JetBrains Mono", "SF Mono", "Cascadia Mono", "DejaVu Sans Mono"), QFontDatabase.SystemFont.FixedFont
    )
    font = QFont(family)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(points)
    font.setWeight(QFont.Weight.Bold if bold else QFont.Weight.Normal)
    return font


def ui_font(scale: float = 1.0, *, bold: bool = False) -> QFont:
    """The font of labels, its digits all of one width. A copy: whoever asks may change it."""
    return QFont(_ui_font(theme.points * scale, bold))


def mono_font(scale: float = 1.0, *, bold: bool = False) -> QFont:
    """The font of tokens, shapes, formulas and code. A copy: whoever asks may change it."""
    return QFont(_mono_font(theme.points * scale, bold))
