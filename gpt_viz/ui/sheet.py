"""The theme as Qt takes it: palette, font and style sheet of the application. Knows widgets only by name."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import cache

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from gpt_viz import resources
from gpt_viz.ui.theme import theme, tokens, ui_font


def prepare(application: QApplication) -> None:
    """Give the application style, palette and font, before there is a window: one that is there keeps its old font
    until the event loop runs, and the style sheet would take that for the font that was wanted.
    """
    if application.style().name() != "fusion":
        application.setStyle("Fusion")
    application.setPalette(palette())
    application.setFont(ui_font())


def apply(application: QApplication) -> None:
    """Give the application all of the theme that is on, the style sheet too."""
    prepare(application)
    application.setStyleSheet(stylesheet())


def palette() -> QPalette:
    """The theme's colours as Qt's own roles, so that widgets without a rule of their own are right as well."""
    t = tokens()
    role = QPalette.ColorRole
    colours = {
        role.Window: t.card, role.WindowText: t.text, role.Base: t.card, role.AlternateBase: t.field,
        role.Text: t.text, role.PlaceholderText: t.muted, role.Button: t.card, role.ButtonText: t.text,
        role.BrightText: t.bad, role.ToolTipBase: t.card, role.ToolTipText: t.text, role.Highlight: t.accent,
        role.HighlightedText: t.on_accent, role.Link: t.accent_text, role.LinkVisited: t.accent_text,
        role.Light: t.field, role.Midlight: t.field, role.Mid: t.line, role.Dark: t.line, role.Shadow: t.line,
        role.Accent: t.accent,
    }  # fmt: skip
    made = QPalette()
    for each, colour in colours.items():
        made.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, each, QColor(t.muted))
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(t.field))
    made.setColor(QPalette.ColorGroup.Disabled, role.HighlightedText, QColor(t.muted))
    return made


def stylesheet() -> str:
    """The window's style sheet with the theme's colours and sizes in it. Raises KeyError for an unknown placeholder."""
    t = tokens()
    # Where panels and window are of one colour, only an outline tells them apart.
    values = {name: str(value) for name, value in asdict(t).items()} | {
        "card_line": t.line if t.card == t.window else t.card,
        "title_size": f"{theme.points * 1.15:.1f}",
        "style": (resources.ROOT / "style").as_posix(),
    }
    return re.sub(r"\{([a-z_]+)\}", lambda found: values[found[1]], _sheet())


@cache
def _sheet() -> str:
    return re.sub(r"/\*.*?\*/", "", resources.text("style/window.qss"), flags=re.DOTALL)
