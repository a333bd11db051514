"""The fake engine with the real reading of text files, which needs no torch; a bench to open texts without a window."""

from typing import ClassVar

from fake_engine import DEVICES, FakeEngine

from gpt_viz.config import GPTConfig
from gpt_viz.engine import text_jobs
from gpt_viz.protocol import EngineReady, FetchText, OpenText
from gpt_viz.resources import alphabet
from gpt_viz.runner import Runner
from gpt_viz.ui.model.builder import Builder
from gpt_viz.ui.model.model_form import ModelForm
from gpt_viz.ui.opening import Choice
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.text.texts import Texts


class TextEngine(FakeEngine):
    """Opens and fetches as the program does. With a `gate` it stands still after each event until that is set."""

    def __init__(self, emit=None, gate=None):
        self._gate = gate
        super().__init__(emit)

    def _opentext(self, command: OpenText):
        yield from self._held(text_jobs.methods()[OpenText](command))

    def _fetchtext(self, command: FetchText):
        yield from self._held(text_jobs.methods()[FetchText](command))

    def _held(self, steps):
        for event in steps:
            yield event
            while self._gate is not None and not self._gate.is_set():
                yield None


def made_by(kind=TextEngine, **options):
    """What makes such an engine; the newest one is its `engine`."""

    def make_engine(emit):
        make_engine.engine = kind(emit, **options)
        return make_engine.engine

    return make_engine


class Bench:
    """Builder and texts with an engine that answers at once. `said` are the sentences, the newest last.

    All that are `made` are to be closed: their widgets have no window that would take them along.
    """

    made: ClassVar[list] = []

    def __init__(self, config=None, path=""):
        self.made.append(self)
        config = config or GPTConfig(layers=1, heads=1, width=8, block_size=16)
        self.subject, self.study, self.said, self.working = Subject(), Study(), [], []
        self.engine = TextEngine()
        self._runner = Runner(self.engine, self._heard)
        self._jobs = iter(range(1, 10**9))
        self.form = ModelForm(self.subject)
        self.builder = Builder(self.subject, self.study, self.form, self._new_job, self._send)
        self.texts = Texts(self.subject, self.study, self.builder, self._new_job, self._send)
        self.builder.text_wanted.connect(self.texts.open)
        self.builder.said.connect(lambda *each: self.said.append(each[0]))
        self.builder.ended.connect(lambda *each: self.said.append(each[0]))
        self.texts.said.connect(lambda *each: self.said.append(each[0]))
        self.texts.working.connect(self.working.append)
        self._sent = []
        self.builder.begin(Choice(config, alphabet(), 1337, "cpu", path=path))
        self._heard(EngineReady(job=0, torch_version="0", devices=DEVICES, threads=1))
        self.run()

    def close(self):
        """Give the widgets back."""
        for widget in (self.form, self.texts.offer):
            widget.deleteLater()

    def open(self, path, encoding=None):
        """Open a text, and wait for what comes of it."""
        self.texts.open(path, encoding)
        self.run()

    def answer(self, place):
        """Press a button of the question, and wait for what comes of it."""
        self.texts.offer._buttons[place].click()
        self.run()

    def run(self):
        """Let the engine do all that it was asked for."""
        while self._sent or self._runner.busy:
            while self._sent:
                self._runner.submit(self._sent.pop(0))
            self._runner.advance()

    @property
    def question(self):
        return self.texts.offer.text()

    @property
    def alphabet(self):
        return self.subject.built.alphabet

    def state(self):
        """What stands, and what is looked at."""
        return self.subject.built, self.study.prompt, self.study.corpus, self.subject.what_if

    def _new_job(self):
        return next(self._jobs)

    def _send(self, command):
        self._sent.append(command)

    def _heard(self, event):
        self.builder.handle(event)
        self.texts.handle(event)
