"""An engine without torch, for what the window does around one: it answers every command, in small steps."""

import math

import fake_steps
import numpy as np

from gpt_viz import ledger
from gpt_viz.measures import Figures, Histogram, Picture
from gpt_viz.protocol import (
    Attended,
    Build,
    Built,
    DeviceInfo,
    Distribution,
    Drawn,
    EngineReady,
    Inspect,
    ModelInfo,
    OpenText,
    OpenWeights,
    Predict,
    Progress,
    Sample,
    StepSeen,
    TensorInfo,
    TextOpened,
    TextRefused,
    Tokens,
    Traced,
    Weights,
    WeightsOpened,
)

DEVICES = (DeviceInfo("cpu", "CPU", memory_bytes=2**34), DeviceInfo("cuda", "CUDA", "no NVIDIA driver was found"))


def frozen(array):
    array = np.ascontiguousarray(array, np.float32)
    array.setflags(write=False)
    return array


class FakeEngine:
    """Keeps what it was asked in `asked`; `mistake` raised once by the command of that type."""

    def __init__(self, emit=None):
        self.asked = []
        self.model = None
        self.mistake = None
        if emit is not None:
            emit(EngineReady(job=0, torch_version="0", devices=DEVICES, threads=1))

    def run(self, command):
        self.asked.append(command)
        if self.mistake is not None and isinstance(command, self.mistake[0]):
            error, self.mistake = self.mistake[1], None
            yield None
            raise error
        known = getattr(self, f"_{type(command).__name__.lower()}", None)
        yield None
        if known is not None:  # what it does not know it has nothing to say about
            yield from known(command)

    def _build(self, command: Build):
        yield Progress(job=command.job, done=1, total=2, what="token_embedding")
        config = command.config
        self.model = ModelInfo(
            config=config, seed=command.seed, device="cpu", alphabet=command.alphabet,
            tensors=tuple(TensorInfo(t.name, t.shape, t.count, t.shared_with) for t in ledger.tensors(config)),
            total=ledger.total(config), bytes=ledger.weight_bytes(config), elapsed_s=0.01,
        )  # fmt: skip
        yield Built(job=command.job, model=self.model)

    def _tokens(self, command):
        if self.model.alphabet is None:
            ids = [int(word) for word in command.text.split()]
        else:
            unknown = tuple((at, c) for at, c in enumerate(command.text) if c not in self.model.alphabet)
            if unknown or not command.text:
                return None, TextRefused(job=command.job, unknown=unknown)
            ids = [self.model.alphabet.index(c) for c in command.text]
        ids = (*ids, *command.continuation)
        kept = ids[-self.model.config.block_size :]
        return Tokens(kept, tuple(map(self.model.piece, kept)), len(ids) - len(kept)), None

    def _inspect(self, command: Inspect):
        yield None
        tokens, refused = self._tokens(command)
        if refused is not None:
            yield refused
            return
        count, config = len(tokens.ids), self.model.config
        steps = tuple(
            StepSeen(step.name, ledger.evaluate(step.symbols, config, count), "float32")
            for step in ledger.steps(config)
        )
        if command.trace:
            loss = math.log(config.vocabulary)
            yield Traced(job=command.job, tokens=tokens, steps=steps, loss=loss, first_bad="", elapsed_s=0.001)
        if command.attention:
            row = np.tril(np.ones((count, count))) / np.arange(1, count + 1)[:, None]
            patterns = np.broadcast_to(row, (config.layers, config.heads, count, count))
            yield Attended(
                job=command.job, tokens=tokens, patterns=frozen(patterns), head=command.head, whole=frozen(row)
            )  # fmt: skip

    def _distribution(self, command, position, chosen):
        size = self.model.config.vocabulary
        return Distribution(
            job=command.job, position=position, logits=frozen(np.zeros(size)),
            probabilities=frozen(np.full(size, 1 / size)), chosen=chosen, temperature=command.temperature,
            top_k=command.top_k, top_p=command.top_p,
        )  # fmt: skip

    def _predict(self, command: Predict):
        tokens, refused = self._tokens(command)
        yield refused or self._distribution(command, tokens.dropped + len(tokens.ids), command.chosen)

    def _sample(self, command: Sample):
        tokens, refused = self._tokens(command)
        if refused is not None:
            yield refused
            return
        start = tokens.dropped + len(tokens.ids)
        count = 0
        while command.tokens is None or count < command.tokens:
            id = (start + count) % self.model.config.vocabulary
            yield self._distribution(command, start + count, id)
            yield Drawn(
                job=command.job, id=id, piece=self.model.piece(id), position=start + count,
                probability=1 / self.model.config.vocabulary, rank=0, tokens_per_second=1000.0,
            )  # fmt: skip
            count += 1

    def _openstep(self, command):
        tokens, refused = self._tokens(command)
        yield refused or fake_steps.opened(command.job, self.model.config, tokens, command.step)

    def _explain(self, command):
        tokens, refused = self._tokens(command)
        yield refused or fake_steps.explained(command.job, self.model.config, tokens, command.step, command.index)

    def _measuresteps(self, command):
        tokens, refused = self._tokens(command)
        yield refused or fake_steps.all_measured(command.job, self.model.config, tokens)

    def _opentext(self, command: OpenText):
        yield Progress(job=command.job, done=0, total=1, what=command.path)
        with open(command.path, encoding="utf-8") as file:
            text = file.read()
        yield TextOpened(
            job=command.job, path=command.path, name=command.path, characters=len(text),
            alphabet=tuple(sorted(set(text))), excerpt=text[:4096], encoding="utf-8",
        )  # fmt: skip

    def _openweights(self, command: OpenWeights):
        yield None
        config, name = self.model.config, command.parameter
        specs = [spec for spec in ledger.tensors(config) if spec.name == name or spec.name.startswith(f"{name}.")]
        yield WeightsOpened(
            job=command.job, parameter=name, step=0,
            tensors=tuple(map(self._weights, specs)),
        )  # fmt: skip

    def _weights(self, spec):
        """Numbers from -1 to 1, in order."""
        numbers = np.linspace(-1, 1, math.prod(spec.shape)).reshape(-1, spec.shape[-1])
        figures = Figures(0.0, float(numbers.std()), -1.0, 1.0, float(np.linalg.norm(numbers)), 0)
        counts = Histogram(-1.0, 1.0, (numbers.size, *[0] * 63))
        picture = Picture(spec.name, spec.shape, spec.symbols, frozen(numbers))
        return Weights(picture, figures, counts, 0.5, figures.std)
