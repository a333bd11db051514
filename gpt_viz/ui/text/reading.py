"""What the first row says of model and text: which model, which text, where one looks, and how well it is predicted.

Knows the shared states and the row; no panel and no command.
"""

from __future__ import annotations

import re
from itertools import islice

from PySide6.QtCore import QObject, Signal

from gpt_viz import ledger
from gpt_viz.config import OWN_SIZES, preset_of
from gpt_viz.protocol import CURRENT, Event, ModelInfo, TextRefused, Tokens, Traced
from gpt_viz.ui.model.shipped import is_shipped, preset_of_shipped
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.text import text_words as words
from gpt_viz.ui.topbar import TopBar

LONGEST_NAME = 24  # characters of a file's name on the button of the model


class Reading(QObject):
    """Keeps the row and the shared states in step, both ways. `titled` carries the window's title, `refused` why the
    text can't be read, or "" when it can.
    """

    titled = Signal(str)
    refused = Signal(str)

    def __init__(
        self, row: TopBar, subject: Subject, study: Study, selection: SelectionModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._row, self._subject, self._study, self._selection = row, subject, study, selection
        self._pass: Traced | None = None  # the newest one of this text
        row.prompt.edited.connect(study.set_prompt)
        row.prompt.clicked.connect(self._choose)
        study.changed.connect(self._show_prompt)
        study.read.connect(self._show_reading)
        selection.changed.connect(self._mark)
        study.corpus_changed.connect(self._name_text)
        subject.changed.connect(self.show_model)
        self._name_text()

    def handle(self, event: Event) -> None:
        """The loss is that of the newest pass."""
        if isinstance(event, Traced) and event.slot == CURRENT:
            self._pass = event
            self._show_loss()

    def _show_loss(self) -> None:
        """Beside the name of a model that can't be built, the loss of another would be taken for its own."""
        seen = self._pass if self._subject.weights is not None else None
        self._row.show_loss(seen.loss if seen else None, seen.tokens if seen else None)

    def show_model(self) -> None:
        """Say which model stands or is examined."""
        self._show_loss()
        config, built = self._subject.config, self._subject.built
        if config is None:
            return
        preset = preset_of(config)
        source = ""
        if built is not None and not self._subject.what_if:
            preset = preset_of_shipped(built) if is_shipped(built) else preset
            source = "" if is_shipped(built) else built.source
        title = preset.title if preset else OWN_SIZES
        self._row.show_preset("" if source or preset is None else preset.name, _short(source) or title)
        title = source or title
        state = "not built" if built is None or self._subject.what_if else built.device
        self.titled.emit(f"GPT Viz — {title} · {ledger.total(config):,} parameters · {state}")

    def _name_text(self) -> None:
        self._row.show_corpus(self._study.corpus.name, words.about(self._study.corpus))

    def _show_prompt(self) -> None:
        self._row.prompt.setText(self._study.prompt)

    def _show_reading(self) -> None:
        refused, built = self._study.refused, self._subject.built
        message = "" if refused is None or built is None else refusal(refused, built)
        positions = () if refused is None else tuple(position for position, _ in refused.unknown)
        self._row.prompt.show_refusal(positions, message)
        if refused is not None:
            self._pass = None
            self._show_loss()
        self.refused.emit(message)
        self._mark()

    def _mark(self) -> None:
        tokens, built, value = self._study.tokens, self._subject.built, self._selection.value
        if tokens is not None and built is not None:
            prompt = self._study.prompt
            if built.pieces is not None:
                query, key = (piece_position(prompt, tokens, at) for at in (value.query, value.key))
            else:
                characters, dropped = built.alphabet is not None, tokens.dropped
                places = [None if at is None else at + dropped for at in (value.query, value.key)]
                query, key = (character_position(prompt, at, characters=characters) for at in places)
            self._row.prompt.mark(query, key)

    def _choose(self, position: int) -> None:
        tokens, built = self._study.tokens, self._subject.built
        if tokens is None or built is None:
            return
        token: int | None = position
        if built.pieces is not None:
            token = piece_at(self._study.prompt, tokens, position)
        elif built.alphabet is None:
            token = len(self._study.prompt[: position + 1].split()) - 1
        if token is not None and 0 <= token - tokens.dropped < len(tokens.ids):
            self._selection.choose(query=token - tokens.dropped)


def _short(name: str) -> str:
    """A file's name as a button shows it: its beginning and its end; an ampersand is no mark of a key."""
    shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]}…{name[-LONGEST_NAME // 2 :]}"
    return shown.replace("&", "&&")


def character_position(text: str, token: int | None, *, characters: bool) -> int | None:
    """Where the token of that number begins in the text; None where it is not in it.

    A model of characters has one token each; one of ids a token for each word between spaces.

    >>> character_position("12 7", 1, characters=False)
    3
    """
    if token is None or token < 0:
        return None
    if characters:
        return token if token < len(text) else None
    words = [found.start() for found in islice(re.finditer(r"\S+", text), token, token + 1)]
    return words[0] if words else None


def piece_position(text: str, tokens: Tokens, token: int | None) -> int | None:
    """Where that piece begins in a text that begins with the pieces seen; None where it is not in it.

    >>> piece_position("to be", Tokens((0, 1), ("to", " be")), 1)
    2
    """
    if token is None or tokens.dropped or not 0 <= token < len(tokens.pieces):
        return None
    before = "".join(tokens.pieces[:token])
    return len(before) if len(before) < len(text) and text.startswith(before) else None


def piece_at(text: str, tokens: Tokens, position: int) -> int | None:
    """The number of the piece that holds the character at that position; None where that can't be told."""
    end = 0
    for number, piece in enumerate(tokens.pieces if not tokens.dropped else ()):
        end += len(piece)
        if position < end:
            return number if text.startswith("".join(tokens.pieces[: number + 1])) else None
    return None


def refusal(refused: TextRefused, model: ModelInfo) -> str:
    """Why the model can't read the text, in one sentence. Characters are counted from 1, as people do."""
    if not refused.unknown:
        return "The text is empty: type something."
    position, character = refused.unknown[0]
    more = f" and {len(refused.unknown) - 1} more" if len(refused.unknown) > 1 else ""
    if model.pieces is not None:
        return f"The model's tokenizer has no piece for {character!r} at {position + 1}{more}."
    if model.alphabet is None:
        return f"{character!r}{more} is no id: write numbers below {model.config.vocabulary:,}, separated by spaces."
    reads = f"it reads {len(model.alphabet)} characters"
    return f"The model does not know {character!r} at {position + 1}{more}; {reads}."
