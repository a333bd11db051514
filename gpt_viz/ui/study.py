"""The one text under study: a prompt and what was sampled after it. Knows no view."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gpt_viz import resources
from gpt_viz.protocol import Drawn, TextOpened, TextRefused, Tokens


@dataclass(frozen=True, slots=True)
class Passage:
    """A text as it is given to the engine: what was typed or opened, and the ids sampled after it."""

    text: str
    continuation: tuple[int, ...] = ()


class Study(QObject):
    """Holds prompt and continuation; `changed` after any change of them, `read` when a pass has seen them.

    `corpus` is the whole text that the prompt was the beginning of, `corpus_changed` when it is another: what a model
    is trained on, unless another one is chosen. The built-in passage has no path.
    """

    changed = Signal()
    read = Signal()
    corpus_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._prompt = ""
        self._draws: list[Drawn] = []
        self._ids: list[int] = []  # of the draws: with thousands of them no frame has the time to collect these
        self.tokens: Tokens | None = None
        self.passage: Passage | None = None  # what these tokens were read from
        self.refused: TextRefused | None = None
        self._corpus = built_in()

    @property
    def corpus(self) -> TextOpened:
        """The text that was opened and taken last; the built-in passage where there was none."""
        return self._corpus

    def set_corpus(self, corpus: TextOpened) -> None:
        """Another text was opened and taken."""
        if corpus is not self._corpus:
            self._corpus = corpus
            self.corpus_changed.emit()

    @property
    def prompt(self) -> str:
        """The text that was typed or opened, its real characters."""
        return self._prompt

    @property
    def draws(self) -> list[Drawn]:
        """The tokens sampled after the prompt, in order. Not to be changed by its readers."""
        return self._draws

    @property
    def continuation(self) -> tuple[int, ...]:
        """The ids sampled after the prompt."""
        return tuple(self._ids)

    def set_prompt(self, text: str) -> None:
        """Another prompt: what was sampled after the old one goes."""
        if text != self._prompt or self._draws:
            self._prompt = text
            self._draws.clear()
            self._ids.clear()
            self.changed.emit()

    def extend(self, draws: list[Drawn]) -> None:
        """More tokens were sampled."""
        if draws:
            self._draws.extend(draws)
            self._ids.extend(draw.id for draw in draws)
            self.changed.emit()

    def truncate(self, count: int) -> None:
        """Keep the first `count` sampled tokens."""
        if count < len(self._draws):
            del self._draws[max(count, 0) :]
            del self._ids[max(count, 0) :]
            self.changed.emit()

    def saw(self, tokens: Tokens, passage: Passage | None = None) -> None:
        """A pass has read a text, that of now where none is given: these are the tokens it saw."""
        self.refused = None
        self.passage = passage or Passage(self._prompt, self.continuation)
        if tokens != self.tokens:
            self.tokens = tokens
        self.read.emit()

    def refuse(self, refused: TextRefused) -> None:
        """The model can't read the text; the tokens seen before stay."""
        self.refused = refused
        self.read.emit()


def built_in() -> TextOpened:
    """The built-in passage, as if it had been opened."""
    text = resources.passage()
    alphabet = tuple(sorted(set(text)))
    return TextOpened(
        job=0,
        path="",
        name="the built-in passage",
        characters=len(text),
        alphabet=alphabet,
        excerpt=text,
        encoding="utf-8",
    )
