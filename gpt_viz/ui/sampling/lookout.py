"""Which token's distribution is looked at, and how it is come by. Knows no widget.

Looked at is a token that was pinned, else the newest one, else the one that is still to come. A distribution that came
with the token as it was drawn is there already, as long as the weights are those that drew it; every other one is asked
for, once.
"""

from __future__ import annotations

import numpy as np

from gpt_viz.protocol import Distribution, Drawn, Event, Failed, ModelInfo, Predict
from gpt_viz.ui.panel import Context
from gpt_viz.ui.sampling import sampling_words as words
from gpt_viz.ui.sampling.sampler import Plan, Sampler
from gpt_viz.ui.training.moment import Moment


class Lookout:
    """Keeps the place and its distribution. `failure` is why the last one that was asked for did not come, or ""."""

    def __init__(self, context: Context, sampler: Sampler) -> None:
        self._context, self._study, self._sampler = context, context.study, sampler
        self._model: ModelInfo | None = None
        self._given: list[str] = []
        self._pinned: int | None = None
        self._ahead = True
        self._replayed = False
        self._job: int | None = None
        self._asked: object = None
        self._answer: Distribution | None = None
        self._answered: Moment | None = None  # which weights gave the answer
        # What was looked at last, and whose it is.
        self._shown: tuple[Distribution | None, Moment | None] = (None, None)
        self.failure = ""

    # -- where to --

    def begin(self, model: ModelInfo, given: list[str]) -> None:
        """Another model or another prompt, which is made of these tokens."""
        self._model, self._given = model, given
        self._job = self._asked = self._answer = None
        self._shown = (None, None)

    def to_newest(self) -> None:
        """Follow the tokens as they come."""
        self._pinned, self._ahead, self._replayed = None, False, False

    def ahead(self) -> None:
        """Look at the token that is still to come, where none is on its way."""
        self._pinned, self._ahead = None, not self._sampler.running

    def pin(self, token: int) -> bool:
        """Look at this token until told otherwise; at no special one for -1, or for the same once more."""
        self._pinned = token if token >= 0 and token != self._pinned else None
        self._replayed = False
        if self._pinned is None and not self._sampler.running:
            self._ahead = not self._study.draws
        return self._pinned is not None

    def settings_changed(self) -> None:
        """A pinned token is looked at with the settings of now; unpinned, what may come next with them."""
        self._replayed = True
        if self._pinned is None and not self._sampler.running:
            self._ahead = True

    def place(self) -> int | None:
        """The place of the token that is looked at, in prompt and continuation; None: the one that is to come."""
        count = len(self._given) + len(self._study.draws)
        if self._pinned is not None and self._pinned < count:
            return self._pinned
        if self._ahead or not self._study.draws:
            return None
        newest = self._sampler.newest
        # A token comes a moment before its distribution; while they stream, the latter is followed.
        return min(newest.position, count - 1) if self._sampler.running and newest is not None else count - 1

    # -- what is there --

    def handle(self, event: Event) -> None:
        """Take the answer to what was asked last."""
        if event.job == self._job:
            if isinstance(event, Distribution):
                self._answer, self._answered = event, self._sampler.moment()
            elif isinstance(event, Failed):
                self.failure = event.message

    def look(self, plan: Plan, *, readable: bool) -> Distribution | None:
        """The distribution at the place, or the one before it as long as that is on its way.

        `plan` is how tokens would be drawn now; None where there is none, as before the first token.
        """
        drawn_with = self._drawn_with()
        if drawn_with is None:
            self._ask(plan, readable)
        draw = self._draw_at(drawn_with.position) if drawn_with else None
        moment = self._sampler.moment_of(draw) if draw else None
        self._shown = (drawn_with, moment) if drawn_with else (self._answer, self._answered)
        return self._shown[0]

    def _drawn_with(self) -> Distribution | None:
        newest, sampler = self._sampler.newest, self._sampler
        if newest is None or self._pinned is not None or newest.position != self.place():
            return None
        draw = self._draw_at(newest.position)  # none yet, while the token is about to be taken in
        fits = sampler.running or draw is None or sampler.moment_of(draw) == sampler.moment()
        return newest if fits else None

    def _draw_at(self, position: int) -> Drawn | None:
        """What was drawn at this place of prompt and continuation; None in the prompt."""
        place = position - len(self._given)
        return self._study.draws[place] if 0 <= place < len(self._study.draws) else None

    def _ask(self, plan: Plan, readable: bool) -> None:
        place, given, draws = self.place(), self._given, self._study.draws
        before = len(given) + len(draws) if place is None else place
        count = max(before - len(given), 0)
        chosen = None
        if place is not None and self._model is not None:
            chosen = draws[count].id if place >= len(given) else words.id_of(given[place], self._model)
            if place >= len(given) and not self._replayed:
                plan = self._sampler.plan_of(draws[count]) or plan
        settings = (plan.temperature, plan.top_k, plan.top_p)
        # A draw is known by its identity: after a step back another one can stand at the same place.
        newest = draws[count - 1] if count else None
        weights = (self._model, self._context.subject.version)
        asked = (weights, before, place, newest, chosen, settings, readable)
        if asked == self._asked:
            return
        self._asked, self.failure = asked, ""
        self._answer, self._answered = self._shown  # until the new one is there
        if not readable or before == 0:
            self._answer = self._job = None
            return
        gap = "" if self._model is None else words.gap(self._model)
        self._job = self._context.new_job()
        self._context.send(
            Predict(
                job=self._job,
                text=self._study.prompt if before >= len(given) else gap.join(given[:before]),
                continuation=self._study.continuation[:count],
                temperature=plan.temperature,
                top_k=plan.top_k,
                top_p=plan.top_p,
                chosen=chosen,
            )
        )

    # -- in words and figures --

    def sentence(self, shown: Distribution, model: ModelInfo) -> str:
        """What the distribution says of its token."""
        before = words.tail(self._given, self._study, shown.position)
        if shown.chosen is None:
            return words.of_next(shown, before, model)
        draw = self._draw_at(shown.position)
        otherwise = "" if draw is None else self._otherwise(draw, shown)
        sampled = shown.position >= len(self._given)
        return words.of_token(shown, before, model, sampled=sampled, otherwise=otherwise)

    def _otherwise(self, draw: Drawn, shown: Distribution) -> str:
        """How else the token was drawn than `shown` would draw it."""
        plan, drawn_by, whose = self._sampler.plan_of(draw), self._sampler.moment_of(draw), self._shown[1]
        found = []
        if drawn_by and whose and drawn_by != whose:
            found.append("by earlier weights" if drawn_by.became(whose) else "by other weights")
        settings = (shown.temperature, shown.top_k, shown.top_p)
        if plan is not None and (plan.temperature, plan.top_k, plan.top_p) != settings:
            found.append("with other settings")
        return " and ".join(found)

    def table(self, by: str) -> list[list[str]]:
        """The distribution as rows of token, id, logit, probability and rank, by "probability" or by "id"."""
        shown = self._drawn_with() or self._answer
        if shown is None or self._model is None:
            return []
        order = np.argsort(-shown.logits, kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        logits, probabilities = shown.logits.tolist(), shown.probabilities.tolist()
        return [["token", "id", "logit", "probability", "rank"]] + [
            [self._model.piece(id), str(id), f"{logits[id]:.6g}", f"{probabilities[id]:.6g}", str(ranks[id])]
            for id in (order.tolist() if by == "probability" else range(len(order)))
        ]
