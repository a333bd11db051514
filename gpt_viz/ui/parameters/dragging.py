"""How long the parameters take to follow a size that is dragged: a panel alone, no window. Knows no engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import count

from PySide6.QtCore import QCoreApplication

from gpt_viz.config import GPTConfig
from gpt_viz.ui.panel import Context
from gpt_viz.ui.panels.parameters import Parameters
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject

SIZE = (680, 430)  # px, as in a window of usual size


def followed(
    drafts: Iterable[GPTConfig], compared: str = "", clock: Callable[[], float] = time.perf_counter
) -> tuple[float, ...]:
    """The seconds from each draft to its chart and table being worked out and painted. Needs a QApplication.

    `compared` is the name of a preset whose differences are shown too.
    """
    subject, jobs = Subject(), count(1)
    panel = Parameters(
        Context(SelectionModel(), Study(), subject, lambda: next(jobs), lambda command: None, lambda *told: None)
    )
    panel.resize(*SIZE)
    panel.compare.choose(compared)
    panel.show()
    taken = []
    for draft in drafts:
        began = clock()
        subject.set_draft(draft)
        panel.draw()
        panel.grab()
        taken.append(clock() - began)
        QCoreApplication.processEvents()
    panel.deleteLater()
    panel.header.deleteLater()
    return tuple(taken)
