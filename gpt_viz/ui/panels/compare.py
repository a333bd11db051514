"""Two models on one text, side by side: their heads, what they hold likely next, and what they write on.

The one is the model under study, the other can be chosen. Knows no tensor of torch and no other panel.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from PySide6.QtWidgets import QVBoxLayout

from gpt_viz.compare_measures import ORDERS, divergence, likely, paired_order
from gpt_viz.protocol import CURRENT, OTHER, Event, Failed, ModelInfo
from gpt_viz.ui import theme
from gpt_viz.ui.comparing import compare_words as words
from gpt_viz.ui.comparing import duet
from gpt_viz.ui.comparing.common_text import texts_of
from gpt_viz.ui.comparing.compare_heads import CompareHeads
from gpt_viz.ui.comparing.compare_sides import CompareSides
from gpt_viz.ui.comparing.compare_texts import CompareTexts
from gpt_viz.ui.comparing.comparison import ASKER, EVENTS, Comparison
from gpt_viz.ui.comparing.counterpart import Pick
from gpt_viz.ui.comparing.duet import Duet
from gpt_viz.ui.model.checkpoint_question import ask_setting
from gpt_viz.ui.model.shipped import fitting
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.colormap import LINEAR, LOG
from gpt_viz.ui.widgets.compare_layout import CompareLayout
from gpt_viz.ui.widgets.covered import Covered
from gpt_viz.ui.widgets.duet_pane import DuetPane
from gpt_viz.ui.widgets.fields import SmallLabel
from gpt_viz.ui.widgets.heads_stage import HeadsStage
from gpt_viz.ui.widgets.next_pane import NextPane

HEADS, NEXT, TEXTS = "heads", "next", "texts"
STRETCHES = {LINEAR: "linear", LOG: "stretched"}
VIEWS = {HEADS: "heads", NEXT: "next token", TEXTS: "sampled texts"}
NOTHING = "There is nothing to compare with: choose another model at the blue mark."
WAITING = "The other model's first pass of the text under study has not come yet."


class Compare(Panel):
    """Asks the engine about the other model while it can be seen, and about nothing while it can't."""

    name = "compare"
    title = "Compare"
    order = 11
    behind = "attention"
    events = tuple(dict.fromkeys((*EVENTS, *duet.HEARD)))
    needs = frozenset({"attention", "trace"})

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.comparison = Comparison(context, self.in_sight, self)
        self.duet = Duet(context, ASKER, self)
        self._asked: Failed | None = None  # what a file did not say, once that has been asked for
        self._weighed: tuple[object, ...] = ()  # what the bars show
        self._pair: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
        self._fill()
        self.heads = CompareHeads(self.stage, context.selection)
        self.texts = CompareTexts(self.pane, self.duet, context)
        self.comparison.changed.connect(self.mark)
        self.duet.changed.connect(self.mark)
        context.subject.stepped.connect(self.mark)
        self.sides.choice.picked.connect(self.pick)
        self.view.changed.connect(self._choose_view)
        self.stretch.changed.connect(self.stage.set_stretch)
        self.next.order.changed.connect(self.mark)
        self.pane.changed.connect(self.mark)
        self.layout_.rearranged.connect(self.mark)
        theme.theme.changed.connect(self.mark)

    def _fill(self) -> None:
        self.view = Chooser(VIEWS, "compare.view", "What is compared")
        self.stretch = Chooser(STRETCHES, "compare.stretch", "Colour scale")
        self.header.tools.addWidget(self.stretch)
        self.header.tools.addWidget(self.view)
        self.sides = CompareSides("compare", self)
        self.problem = SmallLabel("bad")
        self.problem.setObjectName("compare.problem")
        self.stage, self.next, self.pane = HeadsStage("compare"), NextPane("compare", ORDERS), DuetPane("compare")
        self.covers = {HEADS: Covered(self.stage), NEXT: Covered(self.next), TEXTS: Covered(self.pane)}
        self.layout_ = CompareLayout(dict(self.covers))
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID)
        column.addWidget(self.sides)
        column.addWidget(self.problem)
        column.addWidget(self.layout_, 1)

    # -- what is asked of it --

    def pick(self, pick: Pick) -> None:
        """Compare with another model."""
        self.comparison.counterpart.choose(pick)

    def _choose_view(self, name: str) -> None:
        self.layout_.choose(name)
        self.mark()

    @property
    def waiting(self) -> bool:
        return self.comparison.busy

    def handle(self, event: Event) -> None:
        """Take in what belongs to the comparison or to the texts."""
        self.comparison.handle(event)
        self.duet.handle(event)
        self.mark()

    # -- what is shown --

    def draw(self) -> None:
        model, found = self.context.subject.weights, self.comparison
        self.cover(self.context.subject.missing)
        self.view.setVisible(model is not None and not self.layout_.whole)
        self.stretch.setVisible(model is not None and self.part == HEADS)
        if model is None:
            self.say("")
            return
        found.pursue()
        names = self._show_sides(model)
        self._show_heads(names)
        self._show_next(model)
        self.texts.show(model, found.other, found.counterpart.version, names)
        self.problem.say(words.sentence(found.counterpart.failure or found.failure))
        self.say(self._sentence(model))
        self._ask_what_lacks()

    def _show_sides(self, model: ModelInfo) -> tuple[str, str]:
        counterpart = self.comparison.counterpart
        first, second = counterpart.current_title(), counterpart.title()
        self.sides.choice.show_pick(counterpart.pick, ships=fitting(model) is not None)
        coming = "building …" if counterpart.busy else second
        self.sides.say(first, coming, second, (self.comparison.loss, self.comparison.other_loss))
        return first, second

    def _show_heads(self, names: tuple[str, str]) -> None:
        found = self.comparison.heads
        self.covers[HEADS].cover(self._why_not(self.comparison.apart, found is not None))
        if found is not None:
            self.stage.show_titles(*names)
            self.heads.show(found)

    def _why_not(self, reason: str, there: bool) -> str:
        if reason:
            return f"Not to be compared: {reason}."
        failed = self.comparison.counterpart.failure or self.comparison.failure
        return "" if there else NOTHING if failed else WAITING

    def _show_next(self, model: ModelInfo) -> None:
        found = self.comparison.next_token
        self.covers[NEXT].cover(self._why_not(self.comparison.unlike, found is not None))
        if found is None:
            self._weighed = ()
            return
        heat, by = self._heat(), self.next.order.choice
        if (found, heat, by) != self._weighed:
            self._weighed = (found, heat, by)
            self._pair = one, other = likely(found.current, heat), likely(found.other, heat)
            self.next.bars.show_pair(one, other, paired_order(one, other, by), self._reader(model).piece)
            apart = words.nats(divergence(found.current, found.other, heat))
            at = "" if heat == 1 else f", at temperature {heat:g}"
            self.next.facts.say(f"KL {apart} nats", f"first from second{at}")

    def _heat(self) -> float:
        """The temperature of both distributions; greedy ones would have one token each, so those are at 1."""
        return self.pane.temperature.value() or 1.0

    def _reader(self, model: ModelInfo) -> ModelInfo:
        """Whose texts the ids are written with: the other's, where the model under study has none."""
        other = self.comparison.other
        return other if texts_of(model) is None and other is not None else model

    @property
    def part(self) -> str:
        """The part that sentence and table are about."""
        return HEADS if self.layout_.whole else self.layout_.chosen

    def _sentence(self, model: ModelInfo) -> str:
        subject, said = self.context.subject, self._finding(model)
        if subject.what_if:
            return f"Shows the built model: {said[:1].lower()}{said[1:]}"
        if self.context.study.refused is not None:
            return f"Shows the last text that could be read: {said[:1].lower()}{said[1:]}"
        return said

    def _finding(self, model: ModelInfo) -> str:
        found, part = self.comparison, self.part
        if part == TEXTS:
            count = min(len(voice.pieces) for voice in self.duet.voices.values())
            return words.of_texts(count, self.duet.difference, model)
        if part == NEXT:
            if found.next_token is None or self._pair is None:
                return words.sentence(found.unlike)
            best = [int(each.argmax()) for each in self._pair]
            piece = self._reader(model).piece
            ours, theirs = (float(each[id]) for each, id in zip(self._pair, best, strict=True))
            return words.of_next(ours, theirs, piece(best[0]), piece(best[1]))
        if found.heads is None:
            return words.sentence(found.apart) or "Two models on the same text, side by side."
        chosen = self.heads.chosen
        if found.heads.distances is None and found.heads.paired and chosen is not None:
            return words.of_one_head(chosen)
        return words.of_heads(found.heads.order) or "The two have other numbers of heads, which have no counterparts."

    def _ask_what_lacks(self) -> None:
        """Ask once for what a file does not say."""
        counterpart = self.comparison.counterpart
        event, pick = counterpart.asked, counterpart.pick
        if event is None or event is self._asked:
            return
        self._asked = event
        ask_setting(
            self, pick.name, event, lambda setting: self.pick(replace(pick, settings=(*pick.settings, setting)))
        )

    def table(self) -> list[list[str]]:
        """Of the part that is seen: the heads with their distances, both distributions, or both texts."""
        if self.part == TEXTS:
            ours, theirs = (self.duet.voices[slot].pieces for slot in (CURRENT, OTHER))
            count = max(len(ours), len(theirs))
            rows = [[str(at), *(each[at] if at < len(each) else "" for each in (ours, theirs))] for at in range(count)]
            return [["place", "first", "second"], *rows]
        model = self.context.subject.weights
        if self.part == NEXT and model is not None:
            return [["token", "id", "first", "second"], *self._distribution_rows(model)]
        return [["layer", "head", "attention elsewhere"], *self._head_rows(model)]

    def _head_rows(self, model: ModelInfo | None) -> list[list[str]]:
        """Every head with its distance, the largest first; without one as long as that is not known."""
        heads = self.comparison.heads
        if heads is not None and heads.order:
            return [[str(each.layer), str(each.head), f"{each.distance:.6g}"] for each in heads.order]
        if model is None:
            return []
        return [[str(layer), str(head), ""] for layer, head in np.ndindex(model.config.layers, model.config.heads)]

    def _distribution_rows(self, model: ModelInfo) -> list[list[str]]:
        if self._pair is None or not self._weighed:
            return []
        one, other = (each.tolist() for each in self._pair)
        piece, order = self._reader(model).piece, self.next.bars.order.tolist()
        return [[piece(id), str(id), f"{one[id]:.6g}", f"{other[id]:.6g}"] for id in order]
