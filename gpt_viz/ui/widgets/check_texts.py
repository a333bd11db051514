"""One or two texts that were sampled, each under a caption, as their tokens. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout

from gpt_viz.ui.widgets.check_picture import CheckPicture
from gpt_viz.ui.widgets.fields import SmallLabel
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.token_view import PAD, TokenView


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
        views = [view for view in self.views if not view.isHidden()]
        most = max(min(round(0.42 * width), room // max(len(views), 1), 230), 110)
        return sum(min(_needed(view, width), most) + self.captions[0].sizeHint().height() + 8 for view in views)


def _needed(view: TokenView, width: int) -> int:
    """About the height of a text that is broken at that width."""
    columns = max(int((width - 2 * PAD - 2 * view.page.cell - 16) / view.page.cell), 8)
    rows = sum(-(-max(len(line), 1) // columns) for line in view.text().split("\n"))
    return (rows + 1) * view.page.pitch + 2 * PAD
