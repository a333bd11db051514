"""The button under which one chooses what to compare with. Knows no model but by what is handed to it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from gpt_viz.config import PRESETS
from gpt_viz.ui import theme
from gpt_viz.ui.comparing.counterpart import AUTOMATIC, FILE, PRESET, SHIPPED, UNTRAINED, Pick
from gpt_viz.ui.opening import SUFFIXES
from gpt_viz.ui.widgets.manners import named, tip

_FILES = f"Checkpoints ({' '.join(f'*{each}' for each in SUFFIXES)});;All files (*)"
_TITLES = {
    AUTOMATIC: "Untrained or trained, whichever is not shown",
    UNTRAINED: "The same model, untrained, from the same seed",
    SHIPPED: "The trained weights that ship",
}
LONGEST = 220  # px of a name on the button


class CompareChoice(QToolButton):
    """`picked` carries a Pick. The menu is made when it opens: what can be chosen depends on the model."""

    picked = Signal(object)

    def __init__(self, name: str, owner: QWidget) -> None:
        super().__init__()
        named(self, name, "What to compare with")
        self.setProperty("outlined", "true")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._owner = owner
        self._pick = Pick()
        self._ships = False
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.fill)
        self.setMenu(self._menu)
        self.say("", "")

    def show_pick(self, pick: Pick, *, ships: bool) -> None:
        """What is chosen, and whether trained weights of this model ship."""
        self._pick, self._ships = pick, ships

    def say(self, title: str, note: str) -> None:
        """Write on the button what is compared with; `note` is what its tip says more."""
        metrics = QFontMetrics(theme.ui_font())
        shown = metrics.elidedText(title or "choose …", Qt.TextElideMode.ElideMiddle, LONGEST)
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(tip(note or title or "What to compare with"))

    def fill(self) -> None:
        """Put into the menu what can be chosen now."""
        self._menu.clear()
        for kind, title in _TITLES.items():
            action = self._menu.addAction(title, partial(self.picked.emit, Pick(kind)))
            action.setCheckable(True)
            action.setChecked(self._pick.kind == kind)
            action.setEnabled(kind != SHIPPED or self._ships)
        self._menu.addSeparator()
        presets = self._menu.addMenu("A preset, untrained")
        for preset in PRESETS.values():
            pick = Pick(PRESET, preset.name)
            action = presets.addAction(preset.title, partial(self.picked.emit, pick))
            action.setCheckable(True)
            action.setChecked(self._pick == pick)
        action = self._menu.addAction("A checkpoint …", self._ask)
        action.setCheckable(True)
        action.setChecked(self._pick.kind == FILE)

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self._owner, "Compare with a checkpoint", "", _FILES)
        if path:
            self.picked.emit(Pick(FILE, path))
