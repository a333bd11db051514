"""One or two texts that were sampled, each under a caption, as their tokens. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout

from gpt_viz.ui.widgets.check_picture import CheckPicture
from gpt_viz.ui.widgets.fields import SmallLabel
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.token_view import TokenView


class CheckTexts(CheckPicture):
    """A text, and where there is one, another to compare with below it."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.captions = SmallLabel("muted"), SmallLabel("muted")
        self.views = TokenView(), TokenView()
        for caption, view, name in zip(self.captions, self.views, ("before", "now"), strict=True):
            named(view, f"checks.text.{name}", f"Sample {name}")
            column.addWidget(caption)
            column.addWidget(view, 1)

    def show_texts(self, texts: Sequence[tuple[str, Sequence[str]]], gap: str) -> None:
        """Show (caption, tokens) once or twice, `gap` between tokens."""
        for place, (caption, view) in enumerate(zip(self.captions, self.views, strict=True)):
            there = place < len(texts) and bool(texts[place][1])
            view.setVisible(there)
            words, pieces = texts[place] if there else ("", ())
            caption.say(words)
            if list(pieces) != view.page.pieces or gap != view.page.gap:
                view.start(gap.join(pieces), pieces, gap)
                view.verticalScrollBar().setValue(0)

    def fitted(self, width: int, room: int) -> int:
        shown = sum(1 for view in self.views if not view.isHidden())
        return shown * max(min(round(0.42 * width), room // max(shown, 1), 230), 110) + shown * 22
