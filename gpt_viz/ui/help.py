"""The help: one page for each panel from resources/text, and one on the keys, made of the commands there are."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QKeyEvent, QTextTable
from PySide6.QtWidgets import QTextBrowser, QVBoxLayout, QWidget

from gpt_viz import resources
from gpt_viz.ui.palette import keys_of
from gpt_viz.ui.widgets.manners import named

WELCOME = """# GPT Viz

One model, one text, several views of the same forward pass. Choose anything in one panel and the others follow.
Hold the pointer over a thing to read its number.
"""


def page(name: str) -> str:
    """The Markdown of that panel's page, or "" where there is none."""
    try:
        return resources.text(f"text/panels/{name}.md")
    except FileNotFoundError:
        return ""


class Help(QWidget):
    """A window of its own beside the program's, so that both can be seen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        named(self, "help", "Help")
        self.setWindowTitle("GPT Viz: help")
        self._titles: dict[str, str] = {}
        self._keys = ""
        self.browser = named(QTextBrowser(openLinks=False), "help.page", "Help page")
        self.browser.document().setDocumentMargin(16)
        self.browser.anchorClicked.connect(self._follow)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.browser)
        self.resize(560, 640)

    def prepare(self, titles: dict[str, str], actions: Iterable[QAction]) -> None:
        """The panels there are, by name, and the commands."""
        self._titles = {name: title for name, title in titles.items() if page(name)}
        rows = [(keys_of(action), action.text()) for action in actions if keys_of(action)]
        self._keys = "\n".join(
            ["| key | what it does |", "| --- | --- |", *(f"| {key} | {what} |" for key, what in rows)]
        )

    def open(self, name: str = "") -> None:
        """Show the page of that panel, or the first page."""
        links = " · ".join(["[Keys](page:)", *(f"[{title}](page:{each})" for each, title in self._titles.items())])
        text = page(name) or f"{WELCOME}\n## Keys\n\n{self._keys}\n"
        self.browser.setMarkdown(f"{links}\n\n{text}")
        self._calm_tables()
        self.show()
        self.raise_()
        self.activateWindow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _calm_tables(self) -> None:
        for frame in self.browser.document().rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                format = frame.format().toTableFormat()
                format.setBorder(0)
                format.setCellPadding(4)
                format.setCellSpacing(0)
                frame.setFormat(format)

    def _follow(self, url: QUrl) -> None:
        if url.scheme() == "page":
            self.open(url.path())
