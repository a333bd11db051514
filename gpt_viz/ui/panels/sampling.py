"""How text comes about: token by token, each drawn from a distribution that can be seen. Knows no engine.

The text stands at the left, the distribution of its newest token, or of a chosen one, at the right. Where nothing was
drawn yet, the bars show what may come next.
"""

from __future__ import annotations

import secrets
import time

from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpt_viz.config import ConfigError, check_seed
from gpt_viz.protocol import Built, Cancelled, Distribution, Drawn, Event, Failed, Finished, ModelInfo, Tokens
from gpt_viz.ui import theme
from gpt_viz.ui.header import Sentence
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.sampling import sampling_words as words
from gpt_viz.ui.sampling.lookout import Lookout
from gpt_viz.ui.sampling.sampler import Plan, Sampler
from gpt_viz.ui.widgets.bars import ORDERS, Bars
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.fields import SmallLabel
from gpt_viz.ui.widgets.likelihood import percent
from gpt_viz.ui.widgets.sampling_controls import SamplingControls
from gpt_viz.ui.widgets.token_view import TokenView

READABLE_S = 0.25  # a number that a person reads changes no faster
CHOSEN_SEEDS = 1_000_000  # a seed that is picked stays short enough to be read aloud
BARS_WIDTH = 380  # px at most
BARS_S = 0.05  # so often the bars change at most while tokens stream in


class Sampling(Panel):
    """Runs, steps and stops the sampler; shows its text and where each token came from."""

    name = "sampling"
    title = "Sampling"
    order = 4
    events = (Drawn, Distribution, Finished, Cancelled, Failed, Built)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        learner = context.learner
        moment = None if learner is None else lambda: learner.moment
        self.sampler = Sampler(context.study, context.subject, context.new_job, context.send, self, moment)
        self.lookout = Lookout(context, self.sampler)
        self.clock = time.monotonic
        self._bars_at = float("-inf")
        self._model: ModelInfo | None = None
        self._prompt: str | None = None
        self._given: list[str] = []  # the prompt's tokens
        self._judged: object = None  # the model and the prompt that the next line is about
        self._obstacle = ""  # why the prompt can't be gone on from
        self._wrong: dict[str, str] = {}  # what is wrong with a field, by its name
        self._newest: Drawn | None = None  # the last token that the view has got
        self._read_at = float("-inf")
        self._fill()
        self._connect()

    def _fill(self) -> None:
        self.controls = SamplingControls()
        self.note = SmallLabel("muted")
        self.note.setObjectName("sampling.note")
        self.problem = SmallLabel("bad")
        self.problem.setObjectName("sampling.problem")
        self.view = TokenView()
        self.view.setObjectName("sampling.text")
        self.view.setAccessibleName("Text so far")
        self.view.tip = self._tip
        self.state = Sentence()
        self.state.setObjectName("sampling.state")
        self.state.setProperty("muted", "true")
        self.state.setAccessibleName("State of the run")
        self.stages = Sentence()
        self.stages.setObjectName("sampling.stages")
        self.stages.setProperty("muted", "true")
        self.bars = Bars()
        self.bars.setObjectName("sampling.bars")
        self.bars.setAccessibleName("Distribution over the vocabulary")
        self.chooser = Chooser(ORDERS, "sampling.order", "Order of the bars")
        self.header.tools.addWidget(self.chooser)
        text, bars = QVBoxLayout(), QVBoxLayout()
        for column, parts in ((text, (self.state, self.view)), (bars, (self.stages, self.bars))):
            column.setSpacing(theme.GRID // 2)
            for part in parts:
                column.addWidget(part, 0 if isinstance(part, QLabel) else 1)
        side = QWidget()
        side.setLayout(bars)
        side.setMaximumWidth(BARS_WIDTH)
        bars.setContentsMargins(0, 0, 0, 0)
        side.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout()
        row.setSpacing(2 * theme.GRID)
        row.addLayout(text, 8)
        row.addWidget(side, 5)
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID)
        column.addWidget(self.controls)
        column.addWidget(self.problem)
        column.addWidget(self.note)
        column.addLayout(row, 1)

    def _connect(self) -> None:
        controls = self.controls
        for signal, act in (
            (controls.run, self.toggle),
            (controls.step, self.step),
            (controls.stop, self.stop),
            (controls.back, self.back),
            (controls.clear, self.clear),
            (controls.changed, self._settings_changed),
            (controls.edited, self._judge_seed),
            (controls.reseeded, self._seed_entered),
        ):
            signal.connect(act)
        controls.refused.connect(lambda reason: self._blame("field", reason))
        self.chooser.changed.connect(self.bars.set_order)
        self.view.chosen.connect(self._choose)
        self.sampler.changed.connect(self.mark)
        self.context.study.changed.connect(self._text_changed)
        self.context.subject.changed.connect(self._judge_text)
        self.context.subject.stepped.connect(self.mark)

    # -- what the window's keys and the buttons do --

    def run(self) -> None:
        """Sample on from the text."""
        plan = self._plan_to_draw()
        if plan is not None and (not self.sampler.running or self.sampler.stepping):
            self._read_at = float("-inf")
            self.sampler.run(plan, self.controls.tokens.value() or None)
            self._look_at_newest()
        self.mark()
        self._show_buttons()

    def step(self) -> None:
        """Sample one token."""
        plan = self._plan_to_draw()
        if plan is not None:
            self.sampler.step(plan)
            self._look_at_newest()
        self._show_buttons()

    def stop(self) -> None:
        """End the run after the token that is being drawn."""
        self.sampler.stop()
        self._show_buttons()
        self._show_state()

    def toggle(self) -> None:
        """Run, or stop."""
        if self.sampler.running:
            self.stop()
        else:
            self.run()

    def back(self) -> None:
        """Take the newest sampled token back."""
        if self.context.study.draws and not self.sampler.running:
            self.lookout.ahead()
            self.sampler.back()

    def clear(self) -> None:
        """Take all sampled tokens back."""
        if not self.sampler.running:
            self.lookout.ahead()
            self.sampler.abandon()
            self.sampler.truncate(0)

    def _look_at_newest(self) -> None:
        self.lookout.to_newest()
        self.view.follow()

    def _plan_to_draw(self) -> Plan | None:
        """The settings for a run, with a seed where none is given. None, and the reason told, if none can be."""
        self.controls.commit()
        self._judge_text()
        reason = self._reason()
        if reason:
            self.context.notify(f"Nothing was sampled: {reason}.")
            return None
        if not self.controls.seed.text().strip():
            self.controls.seed.setText(str(secrets.randbelow(CHOSEN_SEEDS)))
        return self._plan()

    def _plan(self) -> Plan:
        seed = self.controls.seed.value()
        return Plan(
            temperature=self.controls.temperature.value(),
            top_k=self.controls.top_k.value(),
            top_p=self.controls.top_p.value(),
            seed=seed if isinstance(seed, int) else 0,
        )

    # -- what is entered --

    def _settings_changed(self) -> None:
        """Other settings act at once: on the run, on a chosen token, or on what may come next."""
        self.lookout.settings_changed()
        self.sampler.follow(self._plan())
        self.mark()

    def _judge_seed(self) -> None:
        reason = ""
        if self.controls.seed.text().strip():
            try:
                check_seed(self.controls.seed.value())
            except ConfigError as error:
                reason = str(error)
        self.controls.complain(reason)
        self._blame("seed", reason)

    def _seed_entered(self) -> None:
        if not self._wrong.get("seed") and self.controls.seed.text().strip():
            self.sampler.follow(self._plan())

    def _blame(self, field: str, reason: str) -> None:
        self._wrong[field] = reason
        self.mark()
        self._show_buttons()

    def _reason(self) -> str:
        """Why nothing can be sampled now, or ""."""
        subject = self.context.subject
        if subject.weights is None:
            return subject.obstacle or subject.waiting or "there is no model yet: press Build"
        return self._obstacle or self._wrong.get("seed", "")

    # -- what happens --

    def handle(self, event: Event) -> None:
        self.sampler.handle(event)
        self.lookout.handle(event)
        self.mark()

    def _text_changed(self) -> None:
        if not self.context.study.draws or self.context.study.prompt != self._prompt:
            self.lookout.ahead()
        self._judge_text()
        self.mark()

    def _choose(self, token: int) -> None:
        """Look at the token that was pointed at; at the newest again where there is none, or at the same once more."""
        tokens = self.context.study.tokens
        if self.lookout.pin(token) and tokens is not None and 0 <= token - tokens.dropped < len(tokens.ids):
            self.context.selection.choose(query=token - tokens.dropped)
        self.mark()

    # -- what is shown --

    def draw(self) -> None:
        model = self.context.subject.weights
        self.cover(self.context.subject.missing)
        if model is None:
            self.say("")
            return
        self.sampler.flush()
        self._look_at_text(model)
        self._show_text(model)
        self._show_notes(model)
        self._show_distribution(model)
        self._show_state()

    def _judge_text(self) -> None:
        """Find out whether the model can go on from the prompt, if either is another; at once, for the buttons."""
        model, prompt = self.context.subject.weights, self.context.study.prompt
        if model is not None and (model, prompt) != self._judged:
            self._judged = (model, prompt)
            self._obstacle = words.unreadable(prompt, model)
        self._show_buttons()

    def _look_at_text(self, model: ModelInfo) -> None:
        """Find out what the prompt is made of, if it or the model is another."""
        self._judge_text()
        prompt = self.context.study.prompt
        if model is self._model and prompt == self._prompt and not self._is_cut_otherwise(model, prompt):
            return
        self._model, self._prompt = model, prompt
        self._given = words.pieces_of(prompt, model, self._tokens_of(prompt))
        self.view.start(prompt, self._given, words.gap(model))
        self._newest = None
        self.lookout.begin(model, self._given)
        self.controls.set_vocabulary(model.config.vocabulary)

    def _is_cut_otherwise(self, model: ModelInfo, prompt: str) -> bool:
        """Whether the engine has meanwhile said into which pieces it cuts the prompt."""
        cut = model.pieces is not None and not self.context.study.draws
        return cut and self._given != words.pieces_of(prompt, model, self._tokens_of(prompt))

    def _tokens_of(self, prompt: str) -> Tokens | None:
        study = self.context.study
        return None if study.draws or study.prompt != prompt else study.tokens

    def _show_text(self, model: ModelInfo) -> None:
        """Bring the view to the study's tokens, at the cost of what is new."""
        draws, shown = self.context.study.draws, len(self.view) - len(self._given)
        if shown > len(draws) or (shown > 0 and draws[shown - 1] is not self._newest):
            kept = 0 if shown <= len(draws) else len(draws)
            self.view.truncate(len(self._given) + kept)
            shown = kept
        if shown < len(draws):
            self.view.append([draw.piece for draw in draws[shown:]])
        self._newest = draws[-1] if draws else None
        self.view.set_chosen(self.lookout.place())
        tokens, query = self.context.study.tokens, self.context.selection.value.query
        marked = None if tokens is None or query is None else query + tokens.dropped
        self.view.set_marked(marked if marked is not None and marked < len(self.view) else None)
        self.view.set_ending("incomplete" if self.sampler.ended == "failed" else "")

    def _show_buttons(self) -> None:
        reason = self._reason()
        self.controls.show_state(
            running=self.sampler.running,
            stopping=self.sampler.stopping,
            ready=not reason,
            drawn=bool(self.context.study.draws),
            reason=reason,
        )
        problems = [self._obstacle, *self._wrong.values(), self.lookout.failure]
        if self.sampler.ended == "failed":
            problems.append(f"{self._words_of_run()}: {self.sampler.reason} (incomplete)")
        self.problem.say(" ".join(_sentence(each) for each in problems if each))

    def _show_notes(self, model: ModelInfo) -> None:
        found = words.notes(len(self._given), self.controls.top_k.value(), model)
        self.note.say(_sentence("; ".join(found)))

    def _show_distribution(self, model: ModelInfo) -> None:
        size, shown = model.config.vocabulary, self.lookout.look(self._plan(), readable=not self._obstacle)
        self.stages.say(f"all {size:,}  ·  logit ▸ /T ▸ top-k/p ▸ p")
        if shown is None and (self._obstacle or self.lookout.place() == 0):
            self.bars.clear()
            self.say("" if self._obstacle else "Nothing stands before the first token, so nothing was predicted.")
        elif shown is not None and len(shown.logits) == size and self._may_change_bars():
            self.bars.show_distribution(
                shown.logits,
                shown.probabilities,
                drawn=shown.chosen,
                temperature=shown.temperature,
                piece=model.piece,
            )
            if self._may_change_numbers():
                self.say(self.lookout.sentence(shown, model))

    def _may_change_bars(self) -> bool:
        """While tokens stream in, the bars change more seldom than the text: no eye follows each of them."""
        now = self.clock()
        if self.sampler.running and now - self._bars_at < BARS_S:
            return False
        self._bars_at = now
        return True

    def _may_change_numbers(self) -> bool:
        """While tokens stream in, what is read changes four times a second."""
        return not self.sampler.running or self.clock() - self._read_at >= READABLE_S

    def _show_state(self) -> None:
        if not (self.sampler.stopping or self._may_change_numbers()):
            return
        self._read_at = self.clock()
        self.state.say(self._words_of_run())

    def _words_of_run(self) -> str:
        sampler = self.sampler
        if self._model is None:
            return ""
        return words.of_run(
            running=sampler.running,
            stopping=sampler.stopping,
            ended=sampler.ended,
            drawn=sampler.drawn,
            total=len(self.context.study.draws),
            tokens_per_second=sampler.tokens_per_second,
            model=self._model,
        )

    def _tip(self, token: int) -> str:
        """What is known of a token of the text, as plain text."""
        place = token - len(self._given)
        if place < 0 or place >= len(self.context.study.draws):
            return f"{words.quoted([self.view.page.pieces[token]])} of the prompt, at position {token:,}"
        draw = self.context.study.draws[place]
        rank = "the likeliest" if draw.rank == 0 else f"rank {draw.rank:,}, counted from 0"
        return f"{words.quoted([draw.piece])} at position {token:,}, drawn at {percent(draw.probability)}, {rank}"

    def table(self) -> list[list[str]]:
        return self.lookout.table(self.bars.order)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
