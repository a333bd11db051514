"""From the form's Build to a model that stands, and from an opened text to one under study. Knows no panel, no file.

A text brings its own alphabet: where a model is built for that, the prompt changes only when it stands. Whatever fails
leaves model, text and form as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gpt_viz import resources
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.protocol import (
    Build,
    Built,
    Cancel,
    Cancelled,
    CheckpointOpened,
    Command,
    DeviceInfo,
    EngineReady,
    Event,
    Failed,
    Finished,
    ModelInfo,
    OpenCheckpoint,
    Progress,
    TextOpened,
)
from gpt_viz.ui.opening import Choice
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject

LOADING = "torch is loading; the model comes after it"
BUILDING = "the model is being built"
NO_ENGINE = "torch could not be loaded, so no model can be built"
BEGINNING = 32  # characters of a text that become the prompt: enough for a pattern, few enough to be read on an axis


class Form(Protocol):
    """What is needed of the model form."""

    build_requested: SignalInstance

    def set_devices(self, devices: tuple[DeviceInfo, ...]) -> None:
        """Offer these devices."""

    def set_alphabet(self, alphabet: tuple[str, ...] | None, vocabulary: int | None = None) -> None:
        """Let a model of as many characters read these, or of a `vocabulary` that is larger than they are."""

    def alphabet(self) -> tuple[str, ...] | None:
        """The alphabet for what the form holds now."""

    def show_config(self, config: GPTConfig, seed: int, device: str) -> None:
        """Hold this model."""

    def held(self) -> object:
        """What it holds now."""

    def show_failure(self, field: str, message: str) -> None:
        """Say at the field what is wrong with it."""

    def set_busy(self, busy: bool) -> None:
        """Show that a build is under way, or over."""


class Builder(QObject):
    """Sends Build and OpenCheckpoint and follows them; `file` is the path and settings of the model that stands.

    `said` carries a sentence, whether it is a mistake, and details; `ended` the same of a build that came to nothing.
    `opened` carries the CheckpointOpened, `asked` path, settings and Failed of a checkpoint that does not say enough,
    `held_back` the same of one that is too large to be opened unasked; `text_wanted` the text file to begin with.
    `working` what is being worked on (empty: nothing), `advanced` done and total; `settled` when nothing is left to do.
    """

    said = Signal(str, bool, str)
    ended = Signal(str, bool, str)
    working = Signal(str)
    advanced = Signal(int, int)
    settled = Signal()
    opened = Signal(object)
    asked = Signal(str, object, object)
    held_back = Signal(str, object, object)
    text_wanted = Signal(str)

    def __init__(
        self,
        subject: Subject,
        study: Study,
        form: Form,
        new_job: Callable[[], int],
        send: Callable[[Command], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._subject, self._study, self._form = subject, study, form
        self._new_job, self._send = new_job, send
        self._choice: Choice | None = None
        self._devices: tuple[DeviceInfo, ...] | None = None
        self._build_job: int | None = None
        self.file: tuple[str, tuple[str, ...]] | None = None
        self._file: tuple[str, tuple[str, ...]] | None = None  # the checkpoint that the build job opens
        self._opened: TextOpened | None = None  # a text that waits for a model that can read it
        self._shown: object = None  # what the form held when it was last filled or asked from
        self._asked: object = None  # what it held when the build job was asked for
        self._alphabet: tuple[str, ...] | None = None  # what the form was given, as long as nothing went wrong
        self._jobs: set[int] = set()
        self._waits: Command | None = None  # what is to be sent as soon as the model before may be given up
        self.before: Callable[[Callable[[], object]], object] = lambda then: then()
        self._excerpt = resources.passage()
        form.build_requested.connect(self.build)

    def begin(self, choice: Choice) -> None:
        """Show the first model in the form; it is built as soon as the engine is there."""
        self._choice = choice
        self._alphabet = choice.alphabet
        self._form.set_alphabet(choice.alphabet)
        self._show(choice.config, choice.seed, choice.device)
        self._asked = self._shown
        prompt = choice.prompt
        if prompt is None:
            prompt = prompt_for(choice.alphabet, choice.config, self._excerpt)
        self._study.set_prompt(prompt)
        self._subject.wait(LOADING)

    def build(self, config: GPTConfig, seed: int, device: str) -> None:
        """Build what the form holds."""
        self._opened, self._shown = None, self._form.held()
        self._start_build(config, seed, device, self._form.alphabet())

    def owns(self, event: Event) -> bool:
        """Whether the event belongs to a build, and is followed here."""
        return event.job in self._jobs

    def choose_preset(self, name: str) -> None:
        """Show a preset in the form and build it, if it can be."""
        chosen = PRESETS[name]
        seed, device = self._seed_and_device()
        if chosen.characters:
            self._form.set_alphabet(resources.alphabet())
        self._show(chosen.config, seed, device)
        if not self._subject.obstacle:
            self.build(chosen.config, seed, device)

    def open_checkpoint(self, path: str, settings: tuple[str, ...] = (), at_most: int | None = None) -> None:
        """Put the model of a file or a folder into the window; `settings` say what it does not.

        Where it has more than `at_most` bytes, it is `held_back`.
        """
        self._opened, self._shown = None, self._form.held()
        device = self._seed_and_device()[1]
        self._begin_build(f"opening {Path(path).name}", (path, settings))
        job = self._build_job
        assert job is not None
        self._send_soon(OpenCheckpoint(job=job, path=path, settings=settings, device=device, at_most=at_most))

    def cancel(self) -> None:
        """End what is under way."""
        if self._build_job is not None and self._waits is not None:
            self._waits = None
            self._handle_build(Cancelled(job=self._build_job))
        elif self._build_job is not None:
            self._send(Cancel(job=self._new_job(), target=self._build_job))

    def handle(self, event: Event) -> None:
        """Follow what the engine answers."""
        if isinstance(event, EngineReady):
            self._subject.wait(BUILDING)
            self._engine_is_there(event)
        elif isinstance(event, Failed) and event.job == 0:
            self._subject.wait(NO_ENGINE)
        elif event.job == self._build_job:
            self._handle_build(event)

    # -- the first model --

    def _engine_is_there(self, event: EngineReady) -> None:
        self._devices = event.devices
        untouched = self._form.held() == self._asked
        self._form.set_devices(event.devices)
        if self._choice is None or self._build_job is not None:
            return  # a model was asked for already, which is then the first one
        device = self._choice.device
        if not usable(device, event.devices):
            self.said.emit(f"The device {device} can't be used here; the model is on cpu.", False, "")
            self._choice = replace(self._choice, device="cpu")
        if untouched:
            self._show(self._choice.config, self._choice.seed, self._choice.device)
        if self._choice.checkpoint:
            self.open_checkpoint(self._choice.checkpoint, self._choice.settings)
        elif self._choice.path:
            self.text_wanted.emit(self._choice.path)
        else:
            self._build_first()

    def _build_first(self) -> None:
        assert self._choice is not None
        if self._subject.obstacle:
            self._subject.wait("")
            self.settled.emit()  # it is only examined; the form says why it is not built
        else:
            choice = self._choice
            self._start_build(choice.config, choice.seed, choice.device, choice.alphabet)

    # -- a build --

    def _start_build(self, config: GPTConfig, seed: int, device: str, alphabet: tuple[str, ...] | None) -> None:
        self._begin_build("building the model")
        assert self._build_job is not None
        self._send_soon(Build(job=self._build_job, config=config, seed=seed, device=device, alphabet=alphabet))

    def _send_soon(self, command: Command) -> None:
        """Send what replaces the model, once that may be given up."""
        self._waits = command
        self.before(self._send_now)

    def _send_now(self) -> None:
        command, self._waits = self._waits, None
        if command is not None:
            self._send(command)

    def _begin_build(self, what: str, file: tuple[str, tuple[str, ...]] | None = None) -> None:
        self._build_job, self._file, self._asked = self._job(), file, self._shown
        self._form.set_busy(True)
        self._subject.wait(LOADING if self._devices is None else BUILDING)
        self.working.emit(what)

    def _handle_build(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.advanced.emit(event.done, event.total)
        elif isinstance(event, Built):
            self._stands(event.model)
        elif isinstance(event, CheckpointOpened):
            self.opened.emit(event)
        elif isinstance(event, (Finished, Cancelled, Failed)):
            self._build_job = None
            self._form.set_busy(False)
            self.working.emit("")
            if not isinstance(event, Finished) and self._file is not None:
                self._not_opened(event, *self._file)
            elif not isinstance(event, Finished):
                self._not_built(event)
            if self._build_job is None:
                self._subject.wait("")
                self.settled.emit()

    def _stands(self, model: ModelInfo) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            self._excerpt = opened.excerpt
        before = self._subject.built
        chosen = self._choice.alphabet if self._choice else None
        reads = (chosen, None) if before is None else (before.alphabet, before.pieces)
        same = opened is None and reads == (model.alphabet, model.pieces)
        if before is None and self._file is not None and self._choice is not None:
            same = self._choice.prompt is not None  # a text that was given for this very file
        self._alphabet, self.file = model.alphabet or self._alphabet, self._file
        if self._file is not None:
            self._alphabet = model.alphabet
            self._form.set_alphabet(model.alphabet, model.config.vocabulary)
        self._subject.set_built(model)
        if self._form.held() == self._asked:  # what was entered or chosen meanwhile is the user's next model
            self._show(model.config, model.seed, model.device)
        # What the model before has sampled goes with it, also where the prompt stays.
        # The prompt stays wherever the ids mean the same, also one with a mistake in it: it is the user's.
        prompt = self._study.prompt if same else prompt_for(model.alphabet, model.config, self._excerpt, model.pieces)
        self._study.set_prompt(prompt)
        if opened is not None:
            self._study.set_corpus(opened)

    def _not_opened(self, event: Event, path: str, settings: tuple[str, ...]) -> None:
        """The model that was there stays; at the start, when there is none, the usual one is built."""
        if isinstance(event, Failed) and event.candidates:
            self.asked.emit(path, settings, event)
        elif isinstance(event, Failed) and event.field == "size":
            self.held_back.emit(path, settings, event)
        elif isinstance(event, Failed):
            self.said.emit(f"Not opened: {event.message}", True, "" if event.expected else event.details)
        else:
            self.said.emit("Opening was cancelled; everything is as it was.", False, "")
        if self._subject.built is None and self._choice is not None:
            self._build_first()

    def _not_built(self, event: Event) -> None:
        self._form.set_alphabet(self._alphabet)
        if self._opened is not None:
            self._opened = None
            if self._subject.built is not None:
                built = self._subject.built
                self._show(built.config, built.seed, built.device)
        if isinstance(event, Failed):
            if event.expected:
                self._form.show_failure(event.field, event.message)
            self.ended.emit(f"Not built: {event.message}", True, "" if event.expected else event.details)
        else:
            self.ended.emit("Building was cancelled; the model before is still there.", False, "")

    # -- a text --

    def reads(self, text: TextOpened) -> bool:
        """Whether the model that stands can read that text."""
        built = self._subject.built
        if built is None:
            return False
        if built.alphabet is None:
            return built.pieces is not None or bool(ids_in(text.excerpt, built.config.vocabulary))
        return set(text.alphabet) <= set(built.alphabet)

    def take(self, text: TextOpened, *, prompt: bool = True) -> None:
        """Put a text under study that the model reads, its beginning as the prompt unless that is to stay.

        Where there is no model yet, the first one is built for it, with its alphabet if need be.
        """
        built = self._subject.built
        if built is None:
            alphabet = self._current()[1]
            fits = alphabet is not None and set(text.alphabet) <= set(alphabet)
            self._build_with(text, alphabet if fits and alphabet is not None else text.alphabet)
            return
        self._excerpt = text.excerpt
        if prompt:
            self._study.set_prompt(prompt_for(built.alphabet, built.config, text.excerpt, built.pieces))
        self._study.set_corpus(text)

    def build_for(self, text: TextOpened) -> None:
        """Build a model with the text's alphabet; the text is under study once that stands."""
        self._build_with(text, text.alphabet)

    def begin_without_text(self) -> None:
        """The text to begin with can't be read: the built-in one will do for the first model."""
        if self._subject.built is None and self._build_job is None and self._choice is not None:
            self._build_first()

    def _build_with(self, text: TextOpened, alphabet: tuple[str, ...]) -> None:
        config = self._current()[0]
        seed, device = self._seed_and_device()
        if len(alphabet) > config.vocabulary or alphabet == text.alphabet:
            config = replace(config, vocabulary=len(alphabet))
        self._opened = text
        self._form.set_alphabet(alphabet)
        self._show(config, seed, device)
        self._start_build(config, seed, device, self._form.alphabet())

    def _show(self, config: GPTConfig, seed: int, device: str) -> None:
        self._form.show_config(config, seed, device)
        self._shown = self._form.held()

    def _job(self) -> int:
        job = self._new_job()
        self._jobs.add(job)
        return job

    def _current(self) -> tuple[GPTConfig, tuple[str, ...] | None]:
        if self._subject.built is not None:
            return self._subject.built.config, self._subject.built.alphabet
        assert self._choice is not None
        return self._choice.config, self._choice.alphabet

    def _seed_and_device(self) -> tuple[int, str]:
        if self._subject.built is not None:
            return self._subject.built.seed, self._subject.built.device
        return (self._choice.seed, self._choice.device) if self._choice else (1337, "auto")


def usable(device: str, devices: tuple[DeviceInfo, ...]) -> bool:
    """Whether a device of that name is here and can be used; `cuda` stands for any of that kind."""
    names = {each.name for each in devices if each.usable}
    return device == "auto" or device in names or device in {name.partition(":")[0] for name in names}


def prompt_for(
    alphabet: tuple[str, ...] | None, config: GPTConfig, excerpt: str, pieces: tuple[str, ...] | None = None
) -> str:
    """A text to begin with for a model: the beginning of the excerpt, as far as the model reads its characters.

    A model of pieces reads any; one without an alphabet reads ids separated by spaces: those of the excerpt, or else
    0 1 2 3 and so on.

    >>> prompt_for(None, GPTConfig(vocabulary=5), "")
    '0 1 2 3 4'
    """
    length = min(BEGINNING, config.block_size)
    if pieces is not None:
        return excerpt[:length]
    if alphabet is None:
        return " ".join(ids_in(excerpt, config.vocabulary)[:length] or map(str, range(min(length, config.vocabulary))))
    known = set(alphabet)
    readable = "".join(character for character in excerpt if character in known)
    return readable[:length] or "".join(alphabet[:length])


def ids_in(excerpt: str, vocabulary: int) -> list[str]:
    """The ids that an excerpt lists, separated by spaces; none where it holds anything else.

    >>> ids_in("3 1 4", 5), ids_in("3 1 4", 4), ids_in("three", 5)
    (['3', '1', '4'], [], [])
    """
    words, longest = excerpt.split(), len(str(vocabulary))
    good = all(each.isascii() and each.isdigit() and len(each) <= longest and int(each) < vocabulary for each in words)
    return words if good else []
