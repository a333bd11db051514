"""From a text file, or the web, to a text under study: opens it, says what was done, asks what can't be known.

Reads no file itself. What was there stays until another text is taken: a text that the model can't read is only
offered, since a model for it would take the place of the one that stands, with all that it has learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from gpt_viz import settings
from gpt_viz.protocol import (
    Cancel,
    Cancelled,
    Command,
    EncodingWanted,
    Event,
    Failed,
    FetchText,
    Finished,
    ModelInfo,
    OpenText,
    Progress,
    TextOpened,
)
from gpt_viz.shelf import TINY_SHAKESPEARE, RemoteText
from gpt_viz.ui.study import Study, built_in
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.text import text_words as words
from gpt_viz.ui.text.offer import Answer, Offer, Option


class Takes(Protocol):
    """What is needed of the builder."""

    def reads(self, text: TextOpened) -> bool:
        """Whether the model that stands can read it."""

    def take(self, text: TextOpened, *, prompt: bool = True) -> None:
        """Put it under study; where there is no model yet, the first one is built for it."""

    def build_for(self, text: TextOpened) -> None:
        """Build a model with its alphabet, and put it under study when that stands."""

    def begin_without_text(self) -> None:
        """Build the first model, where there is none yet."""


class Texts(QObject):
    """Sends OpenText and FetchText and follows them; `offer` is where it asks.

    `said` carries a sentence, whether it is a mistake, and details; `working` what is under way (empty: nothing),
    `advanced` done and total.
    """

    said = Signal(str, bool, str)
    working = Signal(str)
    advanced = Signal(int, int)

    def __init__(
        self,
        subject: Subject,
        study: Study,
        builder: Takes,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.offer = Offer()
        self._subject, self._study, self._builder = subject, study, builder
        self._new_job, self._send = new_job, send
        self._job: int | None = None
        self._jobs: set[int] = set()
        self._wanted: EncodingWanted | None = None
        self._taking: TextOpened | None = None  # what is to be said of it, once it is under study
        self._offered: TextOpened | None = None  # what a model is offered for
        study.corpus_changed.connect(self._tell)
        subject.changed.connect(self._reconsider)

    def owns(self, event: Event) -> bool:
        """Whether the event belongs to a text that is opened, and is followed here."""
        return event.job in self._jobs

    # -- what is asked of it --

    def open(self, path: str, encoding: str | None = None) -> None:
        """Read a text file."""
        job = self._begin(f"reading {PurePath(path).name}")
        self._send(OpenText(job=job, path=path, encoding=encoding))

    def fetch(self, text: RemoteText = TINY_SHAKESPEARE) -> None:
        """Get a text from the web, or out of the user's folder where it was got before."""
        job = self._begin(f"getting {text.title}")
        folder = str(settings.texts_dir())
        self._send(
            FetchText(job=job, url=text.url, sha256=text.sha256, bytes=text.bytes, folder=folder, name=text.name)
        )

    def use_built_in(self) -> None:
        """Back to the passage that comes with the program."""
        self._decide(built_in())

    def read_as(self, encoding: str) -> None:
        """Read the file under study again, with another encoding."""
        if self._study.corpus.path:
            self.open(self._study.corpus.path, encoding)

    def build_for_corpus(self) -> None:
        """Build a model for the text under study."""
        self._builder.build_for(self._study.corpus)

    def propose(self, why: str, act: Callable[[], object]) -> None:
        """Ask whether a file is to be opened after all."""
        self._ask(why, [Answer("Open it", lambda _: act()), _LEAVE])

    def cancel(self) -> None:
        """End what is under way, if anything is."""
        if self._job is not None:
            self._send(Cancel(job=self._new_job(), target=self._job))

    # -- what the engine answers --

    def handle(self, event: Event) -> None:
        """Follow the job that is under way."""
        if event.job != self._job:
            return
        if isinstance(event, Progress):
            self.advanced.emit(event.done, event.total)
        elif isinstance(event, EncodingWanted):
            self._wanted = event
        elif isinstance(event, TextOpened):
            self._end()
            self._decide(event)
        elif isinstance(event, (Finished, Cancelled, Failed)):
            self._not_opened(event)

    def _not_opened(self, event: Event) -> None:
        wanted = self._wanted
        self._end()
        if isinstance(event, Failed) and wanted is not None:
            self._ask_encoding(wanted)
        elif isinstance(event, Failed):
            self.said.emit(words.not_opened(event.message), True, "" if event.expected else event.details)
        elif isinstance(event, Cancelled):
            self.said.emit("Opening was cancelled; the text before is still there.", False, "")
        self._builder.begin_without_text()

    # -- what becomes of a text --

    def _decide(self, text: TextOpened) -> None:
        model = self._subject.built
        self._taking = text
        self.offer.dismiss()
        if model is None or self._builder.reads(text):
            self._builder.take(text)
        else:
            self._offer_model(text, model)

    def _offer_model(self, text: TextOpened, model: ModelInfo) -> None:
        build = Answer("Build a model for it", lambda _: self._builder.build_for(text))
        self._ask(words.why_not_read(text, model), [build, Answer("Keep this model", lambda _: None)])
        self._offered = text

    def _ask_encoding(self, event: EncodingWanted) -> None:
        options = [Option(each.encoding, words.encoding_title(each.encoding), each.text) for each in event.readings]
        self._ask(words.wanted(event), [Answer("Open", partial(self.open, event.path)), _LEAVE], options)

    def _ask(self, sentence: str, answers: Sequence[Answer], options: Sequence[Option] = ()) -> None:
        self._offered = None
        self.offer.ask(sentence, answers, options)

    def _tell(self) -> None:
        """Say what was read, once it is under study."""
        if self._study.corpus is self._taking:
            self.said.emit(words.opened(self._study.corpus), False, "")
        self._taking = None

    def _reconsider(self) -> None:
        """A model that reads the text has come by another way: it is taken, and nothing is left to ask."""
        text, self._offered = self._offered, None
        if text is None or self.offer.isHidden():
            return
        if self._builder.reads(text):
            self.offer.dismiss()
            self._builder.take(text)
        else:
            self._offered = text

    # -- jobs --

    def _begin(self, what: str) -> int:
        self._job, self._wanted = self._new_job(), None
        self._jobs.add(self._job)
        self.working.emit(what)
        return self._job

    def _end(self) -> None:
        self._job, self._wanted = None, None
        self.working.emit("")


_LEAVE = Answer("Leave it", lambda _: None)
