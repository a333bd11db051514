"""One check, opened: what it claims, what was expected and found, its drawing, and what it means. Knows no run."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpt_viz import claims
from gpt_viz.protocol import Checked, ModelInfo
from gpt_viz.ui.checking.check_choice import CheckChoice
from gpt_viz.ui.checking.check_pictures import Pictures
from gpt_viz.ui.header import Sentence
from gpt_viz.ui.theme import theme, ui_font
from gpt_viz.ui.widgets.check_grid import CheckGrid
from gpt_viz.ui.widgets.check_mark import FAILED, SILENT, CheckMark
from gpt_viz.ui.widgets.check_picture import CheckPicture
from gpt_viz.ui.widgets.column import Column
from gpt_viz.ui.widgets.manners import named, set_property

_READABLE = 96  # characters of a line


class CheckDetail(QWidget):
    """`again` asks for the shown check once more; `changed` for the one of causality with (position, id)."""

    again = Signal()
    changed = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._picture: CheckPicture | None = None
        self.mark = CheckMark()
        self.title = _words("checks.title", "Check")
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.one = named(QPushButton("Try"), "checks.one", "Try this check")
        self.one.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.one.clicked.connect(self.again)
        self.claim = _words("checks.claim", "What is claimed")
        self.expected, self.found = _words("checks.expected", "Expected"), _words("checks.found", "Found")
        self.reason = _words("checks.reason", "Details", muted=True)
        self.choice = CheckChoice()
        self.choice.chosen.connect(self.changed)
        self.reading = Sentence()
        named(self.reading, "panelSentence", "Under the pointer")
        self.explanation = _words("checks.explanation", "What it means", muted=True)
        self._facts = self._fact_rows()
        self._inner = QWidget()
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 8, 0)
        self._column.setSpacing(8)
        for each in (self._head(), self.claim, self._facts, self.reason, self.choice, self.reading, self.explanation):
            self._column.addWidget(each)
        self._column.addStretch(1)
        self.pictures = Pictures(self._take)
        self.scroller = Column(self._inner)
        self.scroller.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.scroller)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_check(self, name: str, state: str, event: Checked | None, model: ModelInfo, *, ready: bool) -> None:
        """Show a check in a state (one of check_mark.WORDS); `event` is its newest word; `ready`: it can be tried."""
        self.one.setEnabled(ready)
        self.choice.setEnabled(ready)
        shown = (name, state, event, model)
        if shown == self._shown:
            return
        another = not self._shown or self._shown[0] != name
        self._shown = shown
        page = claims.page(name)
        self.mark.show_state(state)
        self.title.setText(page.title)
        self.claim.setText(page.claim)
        self.one.setText("Try again" if event is not None else "Try")
        self._show_facts(state, event)
        self._show_picture(event, model)
        facts = {} if event is None else dict(event.facts)
        self.explanation.setText(page.explanation(facts))
        self._set_letters()
        if another:
            self.reading.say("")
            self.scroller.verticalScrollBar().setValue(0)

    def _show_facts(self, state: str, event: Checked | None) -> None:
        told = event is not None and bool(event.expected or event.found)
        self._facts.setVisible(told)
        self.reason.setVisible(event is not None and bool(event.detail))
        if event is None:
            return
        tolerance = "" if event.tolerance is None else f"  (± {event.tolerance:.3g})"
        self.expected.setText(event.expected + tolerance)
        self.found.setText(event.found)
        set_property(self.found, "bad", state == FAILED)
        detail = event.detail[:1].upper() + event.detail[1:]
        self.reason.setText(f"Does not apply: {event.detail}." if state == SILENT else f"{detail}.")

    def _show_picture(self, event: Checked | None, model: ModelInfo) -> None:
        picture = None if event is None else self.pictures.show(event, model)
        if picture is not self._picture:
            if self._picture is not None:
                self._picture.hide()
            self._picture = picture
            if picture is not None:
                picture.show()
        self.reading.setVisible(picture is not None)
        causal = event is not None and event.name == "causality" and picture is not None
        self.choice.setVisible(causal)
        if event is not None and causal:
            facts, tokens = dict(event.facts), dict(event.labels)["tokens"]
            self.choice.show_choice(model, tokens, int(facts["position"]), int(facts["new_id"]))
        self._fit()

    # -- putting together --

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.title, 1)
        row.addWidget(self.one)
        return head

    def _fact_rows(self) -> QWidget:
        facts = QWidget()
        grid = QGridLayout(facts)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate((("expected", self.expected), ("found", self.found))):
            label = QLabel(name, textFormat=Qt.TextFormat.PlainText)
            label.setProperty("muted", "true")
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
        return facts

    def _take(self, name: str, picture: CheckPicture) -> None:
        """A drawing was made: it has its place above the line of words for what is pointed at."""
        named(picture, f"checks.picture.{name}", f"{claims.page(name).title}, drawn")
        picture.hide()
        picture.reading.connect(self.reading.say)
        self._column.insertWidget(self._column.indexOf(self.reading), picture)
        if isinstance(picture, CheckGrid) and name == "causality":
            picture.picked.connect(lambda _, column: self.choice.position.setValue(column))

    def _fit(self) -> None:
        if self._picture is not None:
            width = self.scroller.viewport().width() - 8
            room = max(self.scroller.viewport().height() - 120, 140)
            height = self._picture.fitted(max(width, 80), room)
            if height != self._picture.minimumHeight() or height != self._picture.maximumHeight():
                self._picture.setFixedHeight(height)

    def _restyle(self) -> None:
        self._set_letters()
        self._fit()

    def _set_letters(self) -> None:
        """Sizes and weights; again and again, as the style sheet forgets them when it looks at a label anew."""
        self.title.setFont(ui_font(1.1, bold=True))
        self.found.setFont(ui_font(bold=True))
        for label in (self.reason, self.explanation):
            label.setFont(ui_font(0.95))
            label.setMaximumWidth(_READABLE * label.fontMetrics().averageCharWidth())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _words(name: str, says: str, *, muted: bool = False) -> QLabel:
    label = named(QLabel(wordWrap=True), name, says)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    if muted:
        label.setProperty("muted", "true")
    return label
