"""Brings what two models have written into two views, and lets both write. Knows no engine but through the duet."""

from __future__ import annotations

from gpt_viz.protocol import CURRENT, OTHER, ModelInfo
from gpt_viz.ui.comparing.common_text import Given, prompt_for_other, same_ids, texts_of
from gpt_viz.ui.comparing.duet import SLOTS, Duet, Score, Voice
from gpt_viz.ui.panel import Context
from gpt_viz.ui.sampling.sampling_words import gap, pieces_of, unit, unreadable
from gpt_viz.ui.widgets.duet_pane import DuetPane


class CompareTexts:
    """The pane's texts follow the duet; both go when the prompt or one of the models is another."""

    def __init__(self, pane: DuetPane, duet: Duet, context: Context) -> None:
        self._pane, self._duet, self._context = pane, duet, context
        self._of: object = None  # what the texts go on from, and who writes them
        self._given: list[str] = []
        self._version = 0  # of the weights that the newest run began with
        pane.run.connect(self.run)
        pane.stop.connect(duet.stop)
        for view in pane.views:
            view.chosen.connect(self._mark)

    def obstacle(self, current: ModelInfo, other: ModelInfo | None) -> str:
        """Why nothing can be written, or ""."""
        if other is None:
            return "there is nothing to compare with yet"
        return unreadable(self._context.study.prompt, current)

    def run(self) -> None:
        """Let both write from the beginning of the prompt's end."""
        current, other, study = self._context.subject.weights, self._other, self._context.study
        if current is None or other is None or self.obstacle(current, other):
            return
        pane = self._pane
        for field in (pane.tokens, pane.temperature, pane.seed):
            field.interpretText()
        tokens = None if study.draws else study.tokens
        given = {CURRENT: Given(study.prompt), OTHER: prompt_for_other(study.prompt, tokens, current, other)}
        readers = {CURRENT: current, OTHER: _reader(current, other)}
        self._version = self._context.subject.version
        self._start_views(current)
        score = Score(pane.tokens.value(), pane.temperature.value(), pane.seed.value())
        self._duet.run(score, given, {slot: reader.piece for slot, reader in readers.items()})

    _other: ModelInfo | None = None

    def show(self, current: ModelInfo, other: ModelInfo | None, version: int, names: tuple[str, str]) -> None:
        """Bring the views up to date, at the cost of what is new; `version` counts the other models there were."""
        self._other = other
        of = (current, version, self._context.study.prompt)
        if of != self._of:
            self._of = of
            self._duet.clear()
            self._start_views(current)
        for at, slot in enumerate(SLOTS):
            voice, view = self._duet.voices[slot], self._pane.views[at]
            shown = len(view) - len(self._given)
            if shown > len(voice.pieces):
                view.truncate(len(self._given))
                shown = 0
            view.append(voice.pieces[shown:])
            place = self._duet.difference
            there = place is not None and place < len(voice.pieces)
            view.set_chosen(len(self._given) + place if place is not None and there else None)
            view.set_ending("incomplete" if voice.ended == "failed" and voice.pieces else "")
            self._pane.captions[at].say(names[at], self._state(voice, current), wrong=False)
        ready = not self.obstacle(current, other)
        self._pane.show_state(running=self._duet.running, ready=ready, stopping=self._duet.stopping)

    def _start_views(self, current: ModelInfo) -> None:
        study = self._context.study
        tokens = study.tokens if not study.draws else None
        self._given = pieces_of(study.prompt, current, tokens)
        for view in self._pane.views:
            view.start(study.prompt, self._given, gap(current))
            view.set_chosen(None)
            view.set_marked(None)

    def _state(self, voice: Voice, model: ModelInfo) -> str:
        score = self._duet.score
        if voice.ended == "failed":
            return f"not written: {voice.reason}" if not voice.pieces else f"broken off: {voice.reason}"
        if score is None:
            return ""
        count = len(voice.pieces)
        heat = "greedy" if score.temperature == 0 else f"temperature {score.temperature:g}"
        said = f"{count:,} {unit(model, count)} · {heat} · seed {score.seed}"
        return f"{said} · weights have changed since" if self._version != self._context.subject.version else said

    def _mark(self, token: int) -> None:
        """Outline the same place in both texts."""
        for view in self._pane.views:
            inside = 0 <= token < len(view)
            view.set_marked(token if inside else None)
            if inside:
                view.reveal(token)


def _reader(current: ModelInfo, other: ModelInfo) -> ModelInfo:
    """Whose texts the other model's ids are written with: its own, where it has any."""
    return current if texts_of(other) is None and same_ids(current, other) else other
