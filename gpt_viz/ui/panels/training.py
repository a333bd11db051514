"""How the model learns: the loss step by step, what it writes meanwhile, and every moment of it to go back to.

Knows no engine: the learner that it steers is shared with the window, and goes on while nobody looks.
"""

from __future__ import annotations

import math
import time

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QVBoxLayout

from gpt_viz.config import ConfigError
from gpt_viz.protocol import Event, ModelInfo, TextOpened
from gpt_viz.quantities import size
from gpt_viz.schedule import TrainingSettings
from gpt_viz.ui import theme
from gpt_viz.ui.header import Sentence
from gpt_viz.ui.panel import Context, Panel
from gpt_viz.ui.study import built_in
from gpt_viz.ui.training import training_words as words
from gpt_viz.ui.training.learner import Learner, Plan
from gpt_viz.ui.widgets.chooser import Chooser
from gpt_viz.ui.widgets.curve import Curve
from gpt_viz.ui.widgets.fields import SmallLabel
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.sample_roll import SampleRoll
from gpt_viz.ui.widgets.text_choice import TextChoice
from gpt_viz.ui.widgets.time_machine import TimeMachine
from gpt_viz.ui.widgets.training_controls import TrainingControls
from gpt_viz.ui.widgets.training_stage import TrainingStage

READABLE_S = 0.25  # a number that a person reads changes no faster, and what stands beside it is of the same step
ESTIMATES = 20  # on text not trained on, in a run
SCALES = {"linear": "linear", "log": "logarithmic"}


class Training(Panel):
    """Settings and buttons, the curve, the samples, and the time machine below them."""

    name = "training"
    title = "Training"
    order = 6
    events = ()

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.learner = context.learner or Learner(context.subject, context.new_job, context.send, self)
        self.clock = time.monotonic
        self._wrong: dict[str, str] = {}
        self._own_text = False  # whether the built-in passage was chosen in place of the text under study
        self._drawn_at = float("-inf")
        self._again = QTimer(self, singleShot=True)
        self._again.timeout.connect(self.mark)
        self._fill()
        self._connect()
        self._show_texts()

    def _fill(self) -> None:
        self.text = TextChoice("training.corpus", "Text to train on")
        self.controls = TrainingControls(self.text)
        self.problem = SmallLabel("bad")
        self.problem.setObjectName("training.problem")
        self.state = Sentence()
        self.state.setObjectName("training.state")
        self.state.setProperty("muted", "true")
        self.state.setAccessibleName("State of the run")
        self.curve = named(Curve(), "training.curve", "Loss over the steps")
        self.samples = named(SampleRoll(), "training.samples", "What the model writes as it learns")
        self.machine = TimeMachine("moments")
        self.scale = Chooser(SCALES, "training.scale", "Scale of the loss")
        self.header.tools.addWidget(self.scale)
        self._stage = TrainingStage(self.curve, self.samples, self.machine)
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID)
        for each in (self.controls, self.problem, self.state):
            column.addWidget(each)
        column.addWidget(self._stage, 1)

    def _connect(self) -> None:
        controls, learner = self.controls, self.learner
        for signal, act in (
            (controls.run, self.run),
            (controls.pause, self.pause),
            (controls.step, self.step),
            (controls.stop, self.stop),
            (controls.reset, self.reset),
            (controls.changed, self._judge),
            (learner.changed, self._news),
            (self.context.study.corpus_changed, self._show_texts),
            (self.context.subject.changed, self._judge),
            (theme.theme.changed, self.mark),
        ):
            signal.connect(act)
        controls.refused.connect(self._blame)
        self.text.chosen.connect(self._choose_text)
        self.scale.changed.connect(lambda choice: self.curve.set_log(choice == "log"))
        self.machine.chosen.connect(lambda step: learner.show(step))
        self.curve.chosen.connect(self._go_to)

    # -- what the buttons do --

    def run(self) -> None:
        """Train, or go on."""
        plan = self._plan()
        if plan is not None and not self.learner.running:
            self._at_once()
            self.learner.run(plan)

    def toggle(self) -> None:
        """Train, or pause."""
        if self.learner.running:
            self.pause()
        else:
            self.run()

    def step(self) -> None:
        """Make one step."""
        plan = self._plan()
        if plan is not None and not self.learner.running:
            self._at_once()
            self.learner.step(plan)

    def pause(self) -> None:
        """Rest after the step that is being made."""
        self._at_once()
        self.learner.pause()

    def stop(self) -> None:
        """End the run; its weights stay."""
        self._at_once()
        self.learner.stop()

    def reset(self) -> None:
        """Back to the first weights."""
        self.machine.rest()
        self._at_once()
        self.learner.reset()

    def _at_once(self) -> None:
        """What was pressed is seen in the next frame, however fast numbers come."""
        self._drawn_at = float("-inf")

    def _plan(self) -> Plan | None:
        """What is to be trained, and how; None, and the reason told, if that can't be."""
        self.controls.commit()
        self._judge()
        reason = self._reason()
        if reason:
            self.context.notify(f"Not trained: {reason}.")
            return None
        corpus = self.corpus()
        encoding = corpus.encoding if corpus.path else None
        return Plan(corpus.path or None, encoding, self._settings())

    def _settings(self) -> TrainingSettings:
        """What the fields say. Raises ConfigError."""
        controls = self.controls
        steps, seed = controls.steps.value(), controls.seed.value()
        return TrainingSettings(
            steps=steps,
            batch=controls.batch.value(),
            rate=controls.rate.value(),
            warmup=controls.warmup.value(),
            decay=controls.decay.value(),
            validation=controls.validation.value(),
            eval_every=max(steps // ESTIMATES, 1),
            seed=seed,  # type: ignore[arg-type]  # what is no number is refused with its name
        )

    # -- the text --

    def corpus(self) -> TextOpened:
        """The text that is trained on."""
        return built_in() if self._own_text else self.context.study.corpus

    def _choose_text(self, which: str) -> None:
        if which == "open":
            self.context.ask("open")
        else:
            self._own_text = which == "passage"
            self._show_texts()

    def _show_texts(self) -> None:
        opened = self.context.study.corpus
        names = {"passage": built_in().name}
        if opened.path:
            names = {"opened": opened.name, **names}
        self.text.show_texts(names, "opened" if opened.path and not self._own_text else "passage")
        self._judge()

    # -- what can't be --

    def _blame(self, field: str, reason: str) -> None:
        self._wrong[field] = reason
        self._show_buttons()

    def _judge(self) -> None:
        """Find out at once what is wrong with what is entered, for the buttons."""
        reason = ""
        try:
            self._settings()
        except ConfigError as error:
            reason = str(error) if error.field == "seed" else ""
        self._wrong["seed"] = reason
        self.controls.complain(reason)
        self._show_buttons()
        self.mark()

    def _reason(self) -> str:
        """Why there can be no training now, or ""."""
        model = self.context.subject.weights
        if model is None:
            subject = self.context.subject
            return subject.obstacle or subject.waiting or "there is no model yet: press Build"
        wrong = next((each for each in self._wrong.values() if each), "")
        return wrong or words.obstacle(model, self.corpus(), self.controls.validation.value())

    # -- what happens --

    def handle(self, event: Event) -> None:
        """Nothing comes here: the learner hears for everybody."""

    def _news(self) -> None:
        self._show_buttons()
        self.mark()

    def _go_to(self, step: int) -> None:
        """Show the kept moment that is nearest to a step of the curve."""
        moments = self.learner.moments
        if len(moments) > 1:
            self.machine.rest()
            self.learner.show(min(moments, key=lambda each: abs(each - step)))

    # -- what is shown --

    def draw(self) -> None:
        model = self.context.subject.weights
        self.cover(self.context.subject.missing)
        if model is None:
            self.say("")
            return
        now, learner = self.clock(), self.learner
        early_s = self._drawn_at + READABLE_S - now
        if early_s > 0 and learner.running:
            if not self._again.isActive():
                self._again.start(int(early_s * 1000) + 1)
            return
        self._drawn_at = now
        self.controls.set_room(self.width(), self.height())
        self._show_curve(model)
        self._show_samples()
        self._show_moments()
        length = words.lengths(model, self.corpus(), self.controls.validation.value())
        self.state.say("" if words.failure(learner) else words.state(learner) or length)
        self.state.setVisible(bool(self.state.whole()))
        before = "Of the built model: " if self.context.subject.what_if else ""
        said = words.sentence(learner, model)
        self.say(before + (said[:1].lower() + said[1:] if before else said))
        self._stage.arrange()

    def _show_curve(self, model: ModelInfo) -> None:
        learner = self.learner
        losses = np.array(learner.losses, np.float32)
        last = learner.began.last if learner.began is not None else learner.newest
        size_ = model.config.vocabulary
        self.curve.show_losses(
            learner.first,
            losses,
            learner.validations,
            last=max(last, learner.newest) or self.controls.steps.value(),
            level=(math.log(size_), f"ln {size_:,} = {math.log(size_):.2f}"),
        )
        self.curve.mark(None if learner.at_newest else learner.shown)

    def _show_samples(self) -> None:
        self.samples.show_samples(
            [
                (f"step {each.step:,} · seed {each.seed}", each.prompt.strip("\n") + each.text)
                for each in self.learner.samples
                if each.step <= self.learner.shown
            ]
        )

    def _show_moments(self) -> None:
        learner = self.learner
        note = words.kept(learner, size(learner.bytes), size(learner.limit_bytes))
        self.machine.show_moments(learner.moments, learner.shown, words.moment(learner), note)

    def _show_buttons(self) -> None:
        learner, reason = self.learner, self._reason()
        self.controls.show_state(
            running=learner.running,
            live=learner.live,
            stopping=learner.stopping,
            trained=learner.trained,
            anew=learner.begins_anew,
            begun=learner.live or (learner.incomplete and learner.ended in ("stopped", "paused")),
            reason="" if learner.live else reason,
        )
        said = [reason] if reason and self.context.subject.weights is not None else []
        said.append(words.failure(learner))
        self.problem.say(" ".join(f"{each[:1].upper()}{each[1:]}." for each in said if each))

    def table(self) -> list[list[str]]:
        """Every step; before the first one, what would be done."""
        learner, estimates = self.learner, dict(self.learner.validations)
        if not learner.losses:
            fields = [*self.controls.fields(), self.controls.seed]
            entered = [[field.accessibleName(), field.text()] for field in fields]
            return [["setting", "value"], ["text", self.corpus().name], *entered]
        rows = [["step", "loss of its batch", "learning rate", "gradient norm", "validation loss before it"]]
        for place, loss in enumerate(learner.losses):
            step = learner.first + place
            estimate = f"{estimates[step]:.6g}" if step in estimates else ""
            rows.append(
                [str(step), f"{loss:.6g}", f"{learner.rates[place]:.6g}", f"{learner.norms[place]:.6g}", estimate]
            )
        if learner.newest in estimates:
            rows.append([str(learner.newest), "", "", "", f"{estimates[learner.newest]:.6g}"])
        return rows
