"""What two models hold likely next: in one line how far they are apart, and both distributions. Knows no model."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.caption import Caption
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.paired_bars import PairedBars


class NextPane(QWidget):
    """The line above the bars, with their order beside it."""

    def __init__(self, prefix: str, orders: Mapping[str, str]) -> None:
        super().__init__()
        self.facts = named(Caption(), f"{prefix}.facts", "How far the distributions are apart")
        self.order = Chooser(orders, f"{prefix}.order", "Order of the bars")
        self.bars = named(PairedBars(), f"{prefix}.bars", "Both distributions over the vocabulary")
        above = QHBoxLayout()
        above.setSpacing(theme.GRID)
        above.addWidget(self.facts, 1)
        above.addWidget(self.order)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID // 2)
        column.addLayout(above)
        column.addWidget(self.bars, 1)
