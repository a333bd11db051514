"""Takes from the window what is to be there at the next start, and puts it back. Knows no panel by name and no file."""

from __future__ import annotations

import base64
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QGuiApplication

from gpt_viz.settings import LONGEST_TEXT, Settings
from gpt_viz.ui import controls
from gpt_viz.ui.model.shipped import ships

if TYPE_CHECKING:
    from gpt_viz.ui.desk import Desk
    from gpt_viz.ui.panel import Panel
    from gpt_viz.ui.window import MainWindow

DEFAULT_SIZE = (1600, 1000)

log = logging.getLogger(__name__)


def place(window: MainWindow, remembered: Settings) -> None:
    """Put the window where it was, or give it its first size, within the screen."""
    available = QGuiApplication.primaryScreen().availableGeometry()
    window.resize(min(DEFAULT_SIZE[0], available.width()), min(DEFAULT_SIZE[1], available.height()))
    # Qt itself pulls a geometry back that lies outside of every screen, and refuses one that it did not write.
    if remembered.geometry and not window.restoreGeometry(QByteArray(base64.b64decode(remembered.geometry))):
        log.warning("settings: geometry will not do; its default is used")


def put_back_layout(desk: Desk, remembered: Settings) -> None:
    """Lay the panels as they were."""
    if remembered.layout and not desk.restore_layout(base64.b64decode(remembered.layout)):
        log.warning("settings: layout will not do; its default is used")


def put_back_controls(panel: Panel, remembered: Settings) -> None:
    """Give the panel's inputs the values they had."""
    for refused in controls.write(panel, f"{panel.name}.", remembered.controls):
        log.warning("settings: %s; its default is used", refused)


def gathered(window: MainWindow, before: Settings) -> Settings:
    """All that is to be remembered; what the window does not have yet is as it was before."""
    values: dict[str, controls.Value] = {}
    for name, panel in window.panels.items():
        values |= controls.read(panel, f"{name}.")
    chosen, prompt = window.selection.value, window.study.prompt
    kept = replace(
        before,
        theme=window.looks.wanted,
        points=window.looks.points,
        geometry=base64.b64encode(window.saveGeometry().data()).decode("ascii"),
        layer=chosen.layer,
        head=chosen.head,
        prompt=prompt if len(prompt) <= LONGEST_TEXT else None,
    )
    if window.panels:
        layout = base64.b64encode(window.desk.layout_state()).decode("ascii")
        kept = replace(kept, layout=layout, controls=values)
    kept = replace(kept, **_files(window, before))
    built = window.subject.built
    if built is None or (built.source and kept.checkpoint):
        return kept  # a model out of a file is opened again; should that fail, the one before it is built
    return replace(kept, config=built.config, alphabet=built.alphabet, seed=built.seed, device=built.device)


def _files(window: MainWindow, before: Settings) -> dict[str, Any]:
    """What is open; what was to be opened again and has not been yet is as it was."""
    corpus, file = window.study.corpus, window.builder.file
    path, given = file or ("", ())
    if window.keeping.holds:
        path, given = str(window.keeping.place.path), ()
    if ships(path):  # the next start has them at hand wherever they lie then, and begins untrained as the first one did
        path, given = "", ()
    found: dict[str, dict[str, Any]] = {
        "text": {"text": corpus.path, "text_encoding": corpus.encoding if corpus.path else ""},
        "checkpoint": {"checkpoint": path, "checkpoint_settings": given},
    }
    waiting = window.reopening.waiting
    return {
        name: getattr(before, name) if what in waiting else value
        for what, values in found.items()
        for name, value in values.items()
    }
