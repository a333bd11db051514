"""What must be true of every model, tried on this one: the claims as a list, and the chosen one opened.

Nothing is tried before it is asked for. Knows no torch and no check's arithmetic.
"""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QVBoxLayout

from gpt_viz import claims
from gpt_viz.claims import NAMES
from gpt_viz.protocol import Cancelled, Checked, Event, Failed, Finished, MomentShown, Progress, TrainedSteps
from gpt_viz.ui.checking.check_detail import CheckDetail
from gpt_viz.ui.checking.checker import Checker
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.widgets.check_list import CheckList, CheckRow
from gpt_viz.ui.widgets.check_mark import FAILED, PASSED, RUNNING, SILENT, WAITING, WORDS
from gpt_viz.ui.widgets.check_stage import CheckStage
from gpt_viz.ui.widgets.manners import named, set_property

_SINCE = {"": "", "text": ", on the text as it was", "weights": ", with the weights as they were"}
_STATES = {True: PASSED, False: FAILED, None: SILENT}


class Checks(Panel):
    """The list, with a button that tries all; and one check opened beside or below it."""

    name = "checks"
    title = "Checks"
    order = 5
    events = (Checked, Progress, Finished, Cancelled, Failed, TrainedSteps, MomentShown)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.checker = Checker(context, self)
        self.checker.changed.connect(self._news)
        self._chosen = NAMES[0]
        self._follows = False  # whether the check under way is opened, as long as nobody chooses
        self._before = self._chosen
        self.run_all = named(QPushButton("Run all"), "checks.run", "Run all checks")
        self.run_all.clicked.connect(self.toggle)
        self.header.tools.addWidget(self.run_all)
        self.list = named(CheckList(), "checks.list", "Claims")
        self.list.chosen.connect(self.choose)
        self.detail = CheckDetail()
        self.detail.again.connect(lambda: self._run((self._chosen,)))
        self.detail.changed.connect(self._change)
        self._stage = CheckStage(self.list, self.detail)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stage)
        context.study.changed.connect(self.mark)

    # -- what is asked --

    def run(self) -> None:
        """Try all."""
        self._run(())

    def toggle(self) -> None:
        """Try all, or stop."""
        if self.checker.running:
            self.checker.stop()
        else:
            self.run()

    def choose(self, name: str) -> None:
        """Open a check."""
        self._chosen, self._follows = name, False
        self.mark()

    def _run(self, names: tuple[str, ...]) -> None:
        if self._obstacle() or self.checker.running:
            return
        self._follows, self._before = not names, self._chosen
        self.checker.run(names)

    def _change(self, position: int, token: int) -> None:
        """Try causality with another token, unless there is nothing to change."""
        event = self.checker.result("causality")
        if event is None or self.checker.running or self._obstacle():
            return
        here = dict(event.facts)
        if position == here["position"] and token == here["new_id"]:
            return
        # At another position the same new token may be what stands there: then the check takes its own.
        other = token if token != here["new_id"] or position == here["position"] else None
        self.checker.run(("causality",), position, other)

    # -- what happens --

    def handle(self, event: Event) -> None:
        self.checker.handle(event)

    def _news(self) -> None:
        checker = self.checker
        if self._follows and checker.trying:
            self._chosen = checker.trying
        if self._follows and not checker.running:
            failed = [name for name in NAMES if self._state(name) == FAILED]
            self._chosen, self._follows = (failed or [self._before])[0], False
        self.mark()

    def draw(self) -> None:
        reason = self._obstacle()
        self.cover(reason)
        self._show_button(not reason)
        model = self.context.subject.weights
        if reason or model is None:
            self.say("")
            return
        self.list.show_rows([self._list_row(name) for name in NAMES])
        self.list.choose(self._chosen)
        event = self.checker.result(self._chosen)
        self.detail.show_check(
            self._chosen, self._state(self._chosen), event, model, ready=not self.checker.running
        )  # fmt: skip
        self._stage.arrange()
        self.say(self._sentence())

    def _obstacle(self) -> str:
        """Why nothing can be tried, or ""."""
        return self.context.subject.missing

    def _show_button(self, ready: bool) -> None:
        running = self.checker.running
        self.run_all.setText("Stop" if running else "Run all")
        self.run_all.setAccessibleName("Stop the checks" if running else "Run all checks")
        self.run_all.setEnabled(ready and not self.checker.stopping)
        set_property(self.run_all, "accent", not running and not any(map(self.checker.result, NAMES)))

    def _state(self, name: str) -> str:
        event, checker = self.checker.result(name), self.checker
        if checker.trying == name or (event is not None and event.running):
            return RUNNING
        return WAITING if event is None else _STATES[event.passed]

    def _list_row(self, name: str) -> CheckRow:
        event, state = self.checker.result(name), self._state(name)
        if event is None:
            return CheckRow(name, claims.page(name).title, state)
        found = WORDS[SILENT] if state == SILENT else event.found
        return CheckRow(name, claims.page(name).title, state, event.expected, found, event.detail)

    # -- words --

    def _sentence(self) -> str:
        checker = self.checker
        count = {state: [name for name in NAMES if self._state(name) == state] for state in WORDS}
        passed, failed, silent = (len(count[state]) for state in (PASSED, FAILED, SILENT))
        if checker.running:
            if not checker.trying:
                return "First a copy of the model is made."
            return f"Trying “{claims.page(checker.trying).title}”: {checker.done + 1} of {len(checker.asked)}."
        if checker.ended == "failed":
            return f"Nothing more was tried: {checker.reason}."
        if not passed + failed + silent:
            return f"{len(NAMES)} claims, none of them tried yet: press Run all."
        said = f"{passed} of {passed + failed} claims hold"
        if failed:
            named_ = ", ".join(claims.page(name).title for name in count[FAILED])
            said = f"{failed} of {passed + failed} claims {'fails' if failed == 1 else 'fail'}: {named_}"
        said += f"; {silent} {'does' if silent == 1 else 'do'} not apply" if silent else ""
        said += f"; {len(count[WAITING])} not tried yet" if count[WAITING] else ""
        before = "Of the built model: " if self.context.subject.what_if else ""
        return f"{before}{said}{_SINCE[checker.outdated]}."

    def table(self) -> list[list[str]]:
        rows = [["check", "claim", "result", "expected", "found", "detail"]]
        for name in NAMES:
            page, event = claims.page(name), self.checker.result(name)
            told = ["", "", ""] if event is None else [event.expected, event.found, event.detail]
            rows.append([name, page.claim, WORDS[self._state(name)], *told])
        return rows
