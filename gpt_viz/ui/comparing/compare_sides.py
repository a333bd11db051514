"""Who is compared: the model under study and the other one, each with its mark and its loss. Knows no engine."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.comparing.compare_choice import LONGEST, CompareChoice
from gpt_viz.ui.widgets.flow import FlowLayout
from gpt_viz.ui.widgets.manners import named, tip
from gpt_viz.ui.widgets.sides import SideMark


class CompareSides(QWidget):
    """One line, or two where it is narrow."""

    def __init__(self, prefix: str, owner: QWidget) -> None:
        super().__init__()
        self.first = named(QLabel(textFormat=Qt.TextFormat.PlainText), f"{prefix}.current", "The model under study")
        self.choice = CompareChoice(f"{prefix}.other", owner)
        self.losses = tuple(
            named(QLabel(textFormat=Qt.TextFormat.PlainText), f"{prefix}.loss.{name}", f"Loss of the {name} model")
            for name in ("first", "second")
        )
        flow = FlowLayout(self, across=24, down=4)
        for at, name in enumerate((self.first, self.choice)):
            self.losses[at].setProperty("muted", "true")
            self.losses[at].setToolTip("Mean over the text's own next tokens, in nats")
            group = QWidget()
            row = QHBoxLayout(group)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(theme.GRID)
            for each in (SideMark(second=bool(at)), name, self.losses[at]):
                row.addWidget(each)
            group.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            flow.addWidget(group)

    def say(self, first: str, second: str, note: str, losses: tuple[float | None, float | None]) -> None:
        """The names of both, what more there is to say of the second, and what the text costs each of them."""
        metrics = QFontMetrics(theme.ui_font())
        self.first.setText(metrics.elidedText(first, Qt.TextElideMode.ElideMiddle, LONGEST))
        self.first.setToolTip(tip(first))
        self.choice.say(second, note)
        for label, loss in zip(self.losses, losses, strict=True):
            label.setText("" if loss is None else f"loss {loss:.3f}")
