"""A page of explanation: titles, paragraphs, code, and links that can be followed. Knows nothing of what it says.

Paragraphs are plain text in which `code` stands between backticks; nothing else in them is taken for markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtGui import QFont, QResizeEvent, QTextDocument
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser

from gpt_viz.ui import theme

TITLE, TEXT, CODE, NOTE, LINK = "title", "text", "code", "note", "link"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a page; `text` may hold several paragraphs, `target` is what a link says when it is followed.

    What is `spare` is left out where not all has room.
    """

    kind: str
    text: str
    target: str = ""
    spare: bool = False


class Prose(QTextBrowser):
    """`followed` is emitted with the target of a link."""

    followed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[Part, ...] = ()
        self._page = ""
        self._subject: object = None
        self._again = False  # whether this subject has been shown already
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.anchorClicked.connect(self._follow)
        theme.theme.changed.connect(self._write)

    def show_parts(self, parts: Sequence[Part], subject: object = None) -> None:
        """Show these parts: from the beginning, unless it is the same subject of which other numbers are said."""
        if subject != self._subject:
            self._subject = subject
            self._again = False
        if tuple(parts) != self._parts:
            self._parts = tuple(parts)
            self._write()
        self._again = True

    def sizeHint(self) -> QSize:
        return QSize(320, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 60)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._write()

    def _follow(self, url: QUrl) -> None:
        self.followed.emit(url.toString())

    def _write(self) -> None:
        kept = tuple(part for part in self._parts if not part.spare)
        whole = _page(self._parts)
        page = whole if kept == self._parts or self._fits(whole) else _page(kept)
        if page != self._page:  # else a scroll bar that comes or goes would have the page written while it is written
            self._page = page
            bar = self.verticalScrollBar()
            before = bar.value() if self._again else 0
            _prepare(self.document())
            self.setHtml(page)
            bar.setValue(before)

    def _fits(self, page: str) -> bool:
        trial, room = QTextDocument(), self.maximumViewportSize()
        _prepare(trial)
        trial.setHtml(page)
        trial.setTextWidth(room.width())
        return trial.size().height() <= room.height()


def _prepare(document: QTextDocument) -> None:
    document.setDefaultFont(theme.ui_font())
    document.setDocumentMargin(0)
    document.setDefaultStyleSheet(f"a {{ color: {theme.tokens().accent_text}; text-decoration: none; }}")


def _page(parts: Sequence[Part]) -> str:
    return "".join(_html(part, first=number == 0) for number, part in enumerate(parts))


def _html(part: Part, *, first: bool) -> str:
    tokens = theme.tokens()
    if part.kind == CODE:
        inner = f'<span style="{_style(theme.mono_font(0.9))} color:{tokens.text}">{html.escape(part.text)}</span>'
        # A table has no margins of its own, and at the very beginning an empty row above it.
        space = f'<p style="font-size:{1 if first else 5}pt; margin:0">&nbsp;</p>'
        return (
            f"{space}<table width='100%' cellspacing='0' cellpadding='6' bgcolor='{tokens.field}'>"
            f"<tr><td>{inner}</td></tr></table>"
        )
    colour = tokens.muted if part.kind == NOTE else tokens.text
    style = f"{_style(theme.ui_font(1.05, bold=True))} " if part.kind == TITLE else ""
    found = []
    for number, paragraph in enumerate(part.text.split("\n\n")):
        inner = _with_code(paragraph)
        if part.kind == LINK:
            inner = f'<a href="{html.escape(part.target)}">{inner}</a>'
        above = 0 if first and number == 0 else 8
        found.append(f'<p style="{style}color:{colour}; margin:{above}px 0 0 0; line-height:125%">{inner}</p>')
    return "".join(found)


def _with_code(text: str) -> str:
    """Plain text as HTML, what stands between backticks in the font of code."""
    parts = re.split(r"`([^`]+)`", text)
    style = _style(theme.mono_font(0.95))
    return "".join(
        f'<span style="{style}">{html.escape(part)}</span>' if number % 2 else html.escape(part)
        for number, part in enumerate(parts)
    )


def _style(font: QFont) -> str:
    return f"font-family:'{font.family()}'; font-size:{font.pointSizeF():.2f}pt; font-weight:{int(font.weight())};"
