"""Two models on one text: asks for what the other one makes of it, and holds the answers side by side. Knows no widget.

What the model under study makes of its text is asked for by the window; here come the other model's pass, and of both
what they hold likely next. Two answers are put together only where they are of the same tokens.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gpt_viz.protocol import (
    CURRENT,
    OTHER,
    Attended,
    Built,
    Distribution,
    Event,
    Inspect,
    ModelInfo,
    Predict,
    TextRefused,
    Tokens,
    Traced,
)
from gpt_viz.ui.asking.errand import Errand
from gpt_viz.ui.comparing.common_text import same_heads, same_ids, tokens_for, unlike
from gpt_viz.ui.comparing.counterpart import HEARD, Counterpart
from gpt_viz.ui.comparing.side_by_side import Heads, NextToken, held_together
from gpt_viz.ui.panel import Context

ASKER = "compare"
EVENTS: tuple[type[Event], ...] = (*HEARD, Traced, Attended, Distribution, TextRefused)


class Comparison(QObject):
    """`changed` is emitted at any news. `in_sight` says whether someone can see it: otherwise nothing is asked.

    `loss` and `other_loss` are those of the text in nats per token, None where not known; `apart` says why heads can't
    be compared, `unlike` why distributions can't, both "" where they can.
    """

    changed = Signal()

    def __init__(self, context: Context, in_sight: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._in_sight = context, in_sight
        self.counterpart = Counterpart(context, self)
        self._passing, self._ours, self._theirs = (
            Errand(context.new_job, context.send, self) for _ in range(3)
        )  # fmt: skip
        self._of: ModelInfo | None = None
        self._traced: Traced | None = None
        self._attended: Attended | None = None
        self._heads: Heads | None = None
        self._next: NextToken | None = None
        self.apart = self.unlike = ""
        for each in (self.counterpart, self._passing, self._ours, self._theirs):
            each.changed.connect(self.changed)

    # -- what is there --

    @property
    def busy(self) -> bool:
        """Whether something that was asked for is still on its way."""
        return any(each.busy for each in (self.counterpart, self._passing, self._ours, self._theirs))

    @property
    def current(self) -> ModelInfo | None:
        """The model under study, where its weights may be shown."""
        return self._context.subject.weights

    @property
    def other(self) -> ModelInfo | None:
        """The model that it is compared with."""
        return self.counterpart.model

    @property
    def heads(self) -> Heads | None:
        """The heads of both as they were last seen on the same text."""
        return self._heads

    @property
    def next_token(self) -> NextToken | None:
        """What both held likely next, as last seen on the same text."""
        return self._next

    @property
    def loss(self) -> float | None:
        """The loss of the model under study."""
        return self._traced.loss if self._traced is not None else None

    @property
    def other_loss(self) -> float | None:
        """The loss of the other model, of the same text."""
        traced = self._passing.answers.get(Traced)
        fits = self._traced is not None and self._fits(self._traced.tokens)
        return traced.loss if isinstance(traced, Traced) and fits else None

    @property
    def failure(self) -> str:
        """Why something that was asked for did not come, or ""."""
        return next((each.failure for each in (self._passing, self._ours, self._theirs) if each.failure), "")

    # -- what happens --

    def handle(self, event: Event) -> None:
        """Take in what the engine says of both models."""
        self.counterpart.handle(event)
        for errand in (self._passing, self._ours, self._theirs):
            errand.handle(event)
        if isinstance(event, Built):
            self._forget(event.slot)
        elif event.slot == CURRENT and isinstance(event, (Traced, Attended)):
            self._of = self._context.subject.built
            if isinstance(event, Traced):
                self._traced = event
                if self._attended is not None and self._attended.tokens != event.tokens:
                    self._attended = None
            else:
                self._attended = event

    def _forget(self, slot: str) -> None:
        self._heads = self._next = None
        if slot == CURRENT:
            self._traced = self._attended = None
            self._ours.forget()
        else:
            self._passing.forget()
            self._theirs.forget()

    def pursue(self) -> None:
        """Ask for what is missing, and put together what is there."""
        current = self.current
        if current is None or not self._in_sight():
            return
        self.counterpart.need()
        other, traced = self.other, self._traced
        self.apart = self.unlike = ""
        if other is None or traced is None or self._of is not current:
            return
        self._ask_ours(traced)
        given = tokens_for(traced.tokens, current, other)
        if given.reason:
            self.apart = self.unlike = given.reason
            self._passing.want_nothing()
            self._theirs.want_nothing()
            self._heads = self._next = None
            return
        layer, head = self._head_of(other)
        long = len(traced.tokens.ids) > 128
        key = self._key(traced.tokens)
        self._passing.ask(
            key if not long else (*key, layer, head),
            lambda job: Inspect(
                job=job, slot=OTHER, asker=ASKER, text=given.text, continuation=given.continuation,
                attention=other.config.layers > 0, head=(layer, head),
            ),
        )  # fmt: skip
        if not same_ids(current, other):
            self.unlike = unlike(current, other)
            self._theirs.want_nothing()
            self._next = None
        else:
            self._theirs.ask(
                key,
                lambda job: Predict(
                    job=job, slot=OTHER, asker=ASKER, text=given.text, continuation=given.continuation
                ),
            )  # fmt: skip
        self._join(current, other)

    def _ask_ours(self, traced: Traced) -> None:
        self._ours.ask(
            traced.tokens.ids,
            lambda job: Predict(job=job, asker=ASKER, text="", continuation=traced.tokens.ids),
            self._context.subject.version,
        )

    def _key(self, tokens: Tokens) -> tuple[object, ...]:
        return (self.counterpart.version, tokens.ids)

    def _head_of(self, model: ModelInfo) -> tuple[int, int]:
        value = self._context.selection.value
        return min(value.layer, max(model.config.layers - 1, 0)), min(value.head, model.config.heads - 1)

    # -- what belongs together --

    def _join(self, current: ModelInfo, other: ModelInfo) -> None:
        self._join_heads(current, other)
        ours, theirs = self._ours.answers.get(Distribution), self._theirs.answers.get(Distribution)
        if not isinstance(ours, Distribution) or not isinstance(theirs, Distribution) or self.unlike:
            return
        traced = self._traced
        if traced is None or self._ours.key != traced.tokens.ids or self._theirs.key != self._key(traced.tokens):
            return
        if self._next is None or self._next.current is not ours.logits or self._next.other is not theirs.logits:
            self._next = NextToken(ours.logits, theirs.logits, traced.tokens)

    def _join_heads(self, current: ModelInfo, other: ModelInfo) -> None:
        ours, theirs = self._attended, self._passing.answers.get(Attended)
        if isinstance(self._passing.answers.get(TextRefused), TextRefused):
            self.apart = "the other model can't read this text"
        elif not current.config.layers or not other.config.layers:
            self.apart = "a model without layers has no attention"
        elif isinstance(theirs, Attended) and ours is not None and self._fits(ours.tokens):
            mine, yours = len(ours.tokens.ids), len(theirs.tokens.ids)
            if mine != yours:
                self.apart = f"one model cuts this text into {mine:,} tokens and the other into {yours:,}"
        if self.apart:
            self._heads = None
            return
        if ours is None or not isinstance(theirs, Attended) or not self._fits(ours.tokens):
            return
        if self._heads is not None and self._heads.current is ours and self._heads.other is theirs:
            return
        self._heads = held_together(ours, theirs, paired=same_heads(current, other))

    def _fits(self, tokens: Tokens) -> bool:
        """Whether the other's pass was one of these tokens."""
        key = self._passing.key
        return isinstance(key, tuple) and key[:2] == self._key(tokens)
