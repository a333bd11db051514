"""The small menu of each panel: large, copy, export, help. Knows no panel by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from gpt_viz.ui import icons
from gpt_viz.ui.panel import Panel
from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.manners import named

KINDS = {"png": "PNG", "svg": "SVG", "csv": "CSV"}


class PanelMenu(QToolButton):
    """The three dots at the end of a panel's title row. `tell` gets a sentence and whether it is a mistake."""

    def __init__(
        self,
        panel: Panel,
        *,
        fill: Callable[[], None],
        close: Callable[[], None],
        help: Callable[[], None] | None,
        tell: Callable[[str, bool], None],
    ) -> None:
        super().__init__()
        named(self, f"{panel.name}.menu", f"Menu of {panel.title}")
        self._panel, self._tell = panel, tell
        self.setToolTip("Copy, export, help")
        self.setIconSize(QSize(icons.SIDE, icons.SIDE))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.addAction("Large, and back", fill)
        menu.addAction("Close", close)
        menu.addSeparator()
        menu.addAction("Copy picture", self.copy_picture)
        menu.addAction("Copy as table", self.copy_table)
        menu.addSeparator()
        for kind, title in KINDS.items():
            menu.addAction(f"Save as {title} …", partial(self._ask, kind))
        if help is not None:
            menu.addSeparator()
            menu.addAction("What is this?", help)
        self.setMenu(menu)
        theme.changed.connect(self._restyle)
        self._restyle()

    def copy_picture(self) -> None:
        """Put the panel's picture on the clipboard."""
        self._try(lambda export: export.copy_picture(self._panel.body), "The picture is on the clipboard.")

    def copy_table(self) -> None:
        """Put the panel's table on the clipboard."""
        self._try(lambda export: export.copy_table(self._panel.table()), "The table is on the clipboard.")

    def save(self, kind: str, path: Path) -> None:
        """Write the panel as a file of that kind."""
        panel = self._panel
        acts = {
            "png": lambda export: export.save_png(panel.body, path),
            "svg": lambda export: export.save_svg(panel.body, path),
            "csv": lambda export: export.save_csv(panel.table(), path),
        }
        self._try(acts[kind], f"Written: {path}")

    def _ask(self, kind: str) -> None:
        name = f"{self._panel.name}.{kind}"
        path, _ = QFileDialog.getSaveFileName(self, f"Save {self._panel.title}", name, f"{KINDS[kind]} (*.{kind})")
        if path:
            self.save(kind, Path(path) if Path(path).suffix else Path(f"{path}.{kind}"))

    def _try(self, act: Callable[..., None], done: str) -> None:
        from gpt_viz.ui import export  # it loads QtSvg, which the first paint can do without

        try:
            act(export)
        except export.ExportError as error:
            self._tell(f"{error}.", True)
        else:
            self._tell(done, False)

    def _restyle(self) -> None:
        self.setIcon(icons.icon("more", tokens().muted))
