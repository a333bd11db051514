"""A guided tour of the model's source: each class, each line, what it does and why, with this model's numbers.

A line that computes a step leads to it and back: both are the selection's. Knows no torch and runs nothing.
"""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout

from gpt_viz import tour
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import CURRENT, Event, ModelInfo, Traced
from gpt_viz.tour import STOPS, Chapter
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.theme import theme
from gpt_viz.ui.tour.tour_links import Link, code_rows, line_of, links
from gpt_viz.ui.tour.tour_words import filled, numbers, table
from gpt_viz.ui.widgets.code_view import CodeView
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.prose import CODE, LINK, NOTE, TEXT, TITLE, Part, Prose
from gpt_viz.ui.widgets.stop_list import StopList
from gpt_viz.ui.widgets.transport import Transport

# px, in letters of ten points, from which the stops stand upright beside the code, and the explanation beside it.
_WIDE, _BESIDE = 1060, 780


class Tour(Panel):
    """The stops, the source of the current one, and the explanation of the class and of the current line."""

    name = "tour"
    title = "Tour"
    order = 7
    events = (Traced,)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.stop = 0
        self.line: int | None = None
        self._traced: Traced | None = None
        self._traced_of: ModelInfo | None = None
        self._followed = context.selection.value.step
        self.transport = _two_buttons()
        self.transport.previous.connect(self.previous_stop)
        self.transport.next.connect(self.next_stop)
        self.header.tools.addWidget(self.transport)
        self.stops = named(StopList(), "tour.stops", "Stops of the tour")
        self.stops.chosen.connect(self._stop_chosen)
        self.code = named(CodeView(), "tour.code", "Source")
        self.code.chosen.connect(self.line_clicked)
        self.code.stepped.connect(self.step_line)
        self.code.turned.connect(lambda way: self.go_to(self.stop + way))
        self.code.entered.connect(self.open_step)
        self.text = named(Prose(), "tour.text", "Explanation")
        self.text.followed.connect(lambda _: self.open_step())
        self._chapters: tuple[Chapter, ...] = ()
        self._reading = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._reading.addWidget(self.code, 1)
        self._reading.addWidget(self.text, 1)
        self._all = QBoxLayout(QBoxLayout.Direction.TopToBottom, self.body)
        self._all.setContentsMargins(0, 0, 0, 0)
        self._list = QVBoxLayout()
        self._list.addWidget(self.stops)
        self._list.addStretch()
        self._all.addLayout(self._list)
        self._all.addLayout(self._reading, 1)
        theme.changed.connect(self._arrange)

    def handle(self, event: Event) -> None:
        if isinstance(event, Traced) and event.slot == CURRENT:
            self._traced, self._traced_of = event, self.context.subject.built
            self.mark()

    def draw(self) -> None:
        config = self.context.subject.config
        if config is None:
            self._refuse(self.context.subject.missing)
            return
        try:
            self._chapters = self._chapters or tuple(tour.chapter(stop) for stop in STOPS)
        except LookupError as error:
            self._refuse(f"The tour reads the program's own source, and {error}.")
            return
        self.cover("")
        self._follow()
        chapter = self._chapters[self.stop]
        if not self.stops.names:
            self.stops.show_stops(
                tuple(stop.name for stop in STOPS),
                tuple(each.title.partition(": ")[2] for each in self._chapters),
            )
        self.stops.choose(self.stop)
        self.transport.stand(self.stop, len(STOPS), playing=False)
        self.code.setAccessibleName(f"Source of {chapter.stop.name}")
        self.code.show_rows(code_rows(chapter))
        if self.code.unit != self.line:
            self.code.choose(self.line)
        self._explain(chapter, config)

    # -- where one stands --

    def go_to(self, stop: int, line: int | None = None) -> None:
        """Go to a stop, and to one of its lines or to the class as a whole; out of range nothing happens."""
        lines = len(self._chapters[stop].lines) if self._chapters and 0 <= stop < len(STOPS) else 0
        if 0 <= stop < len(STOPS) and (line is None or 0 <= line < lines):
            self.stop, self.line = stop, line
            self.mark()

    def _stop_chosen(self, stop: int) -> None:
        self.go_to(stop)
        self.code.setFocus()  # so that the arrows walk through its lines next

    def previous_stop(self) -> None:
        """Go one stop back."""
        self.go_to(self.stop - 1)

    def next_stop(self) -> None:
        """Go one stop on."""
        self.go_to(self.stop + 1)

    def step_line(self, way: int) -> None:
        """Go to the next line (1) or the one before (-1), over the stops' borders; above the first is the class."""
        if not self._chapters:
            return
        to = (-1 if self.line is None else self.line) + way
        if to < -1 and self.stop > 0:
            self.go_to(self.stop - 1, len(self._chapters[self.stop - 1].lines) - 1)
        elif to >= len(self._chapters[self.stop].lines):
            self.go_to(self.stop + 1)
        else:
            self.go_to(self.stop, to if to >= 0 else None)

    def line_clicked(self, line: int) -> None:
        """Go to a line, and to the step that it computes."""
        self.go_to(self.stop, line)
        self.open_step()

    def open_step(self) -> None:
        """Choose the step that the current line computes, or the weights that it makes, if the model has them."""
        link = self._link()
        if link is None or self._obstacle(link):
            return
        name = link.at(self.context.selection.value)
        if link.weights:
            self.context.selection.choose(parameter=name)
        else:
            self._followed = name
            self.context.selection.choose(step=name)

    def _follow(self) -> None:
        """Go to the line that computes the selected step, if another was selected elsewhere."""
        step = self.context.selection.value.step
        if step != self._followed:
            self._followed = step
            found = line_of(step)
            if found is not None:
                self.stop, self.line = found

    def _link(self) -> Link | None:
        if self.line is None or not self._chapters:
            return None
        return links(self._chapters[self.stop]).get(self.line)

    # -- what is said --

    def _trace(self) -> Traced | None:
        """The last pass, where it is one of the model that is shown."""
        subject = self.context.subject
        fits = self._traced_of is not None and self._traced_of is subject.built and not subject.what_if
        return self._traced if fits else None

    def _explain(self, chapter: Chapter, config: GPTConfig) -> None:
        trace = self._trace()
        values = numbers(config, trace)
        spare = self.line is not None  # the line comes first where there is little room
        parts = [
            Part(TITLE, chapter.title, spare=spare),
            Part(TEXT, filled(chapter.introduction, values), spare=spare),
        ]
        if self.line is None:
            self.text.show_parts(parts, (self.stop, self.line))
            self.say(f"{chapter.title}.")
            return
        line, link = chapter.lines[self.line], self._link()
        shape = "" if line.comment.startswith("noqa") or not line.comment else f"  # {line.comment}"
        parts += [Part(CODE, line.code + shape.replace(" ", "\u00a0")), Part(TEXT, filled(line.text, values))]
        if link is not None:
            parts.append(self._leads_to(link, config, trace))
        self.text.show_parts(parts, (self.stop, self.line))
        number = chapter.rows[line.rows[0]].number
        whose = ", with the numbers of the draft" if self.context.subject.what_if else ""
        self.say(f"{chapter.stop.name}, line {number} of {chapter.stop.file}{whose}.")

    def _leads_to(self, link: Link, config: GPTConfig, trace: Traced | None) -> Part:
        """The sizes of what the line computes or makes, and the way there."""
        obstacle = self._obstacle(link)
        if obstacle:
            return Part(NOTE, obstacle)
        name = link.at(self.context.selection.value)
        tokens = len(trace.tokens.ids) if trace else config.block_size
        verb = "Show the weights" if link.weights else "Go to the step"
        return Part(LINK, f"{verb} `{name}`: {link.sized(config, tokens)}", name)

    def _obstacle(self, link: Link) -> str:
        """Why the selection can't be put there, or ""; it stands in the model that can be run, where there is one."""
        subject, trace = self.context.subject, self._trace()
        config = subject.weights.config if subject.weights else subject.config
        if config is None:
            return subject.missing
        return link.obstacle(config, self.context.selection.value, single=trace is not None and trace.loss is None)

    def _refuse(self, why: str) -> None:
        self.cover(why)
        self.say("")
        self.transport.stand(-1, len(STOPS), playing=False)

    def table(self) -> list[list[str]]:
        """Every line with its explanation, this model's numbers in it."""
        config = self.context.subject.config
        if config is None or not self._chapters:
            return []
        return table(self._chapters, numbers(config, self._trace()))

    # -- Qt's own --

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        room = self.width() * 10 / theme.points
        wide, beside = room >= _WIDE, room >= _BESIDE
        way = QBoxLayout.Direction
        self.stops.stand_upright(wide)
        self._all.setDirection(way.LeftToRight if wide else way.TopToBottom)
        self._all.setSpacing(16 if wide else 8)
        self._reading.setDirection(way.LeftToRight if beside else way.TopToBottom)
        self._reading.setSpacing(20 if beside else 8)
        self._reading.setStretch(0, 3 if beside else 1)
        self._reading.setStretch(1, 2 if beside else 1)


def _two_buttons() -> Transport:
    made = Transport("tour")
    for name in ("first", "last", "play"):
        made.buttons[name].hide()
    made.buttons["previous"].turn("previous", "Previous class (←)")
    made.buttons["next"].turn("next", "Next class (→)")
    return made
