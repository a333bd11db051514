"""Engines for tests, and what they answer: small models that are quick to build and to ask."""

import torch

from gpt_viz.config import GPTConfig
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import CURRENT, Build, Built, Drawn, Inspect, Sample

# Drawn small, so that an untrained one is undecided and its text differs from seed to seed.
TINY = GPTConfig(11, 8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True, initialisation="gpt2")
LETTERS = tuple("abcdefghijk")


def of(kind, events):
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def built(config=TINY, characters=LETTERS, seed=0, slot=CURRENT, engine=None, device="cpu"):
    """An engine (a new one, or the given) with a model in the slot."""
    engine = engine or Engine()
    command = Build(job=1, slot=slot, config=config, seed=seed, device=device, alphabet=characters)
    assert isinstance(list(engine.run(command))[-1], Built)
    return engine


def wide(engine, seed=1):
    """Weights wide enough that the model has opinions, and a cut takes something away."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in engine.model(CURRENT).model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return engine


def sampled(engine, text="abc", tokens=20, **settings):
    """The text that is sampled after this one."""
    events = list(engine.run(Sample(job=2, text=text, tokens=tokens, **settings)))
    return "".join(event.piece for event in of(Drawn, events))


def inspected(engine, text="abc", **settings):
    """The events of an inspection, without the pauses."""
    return [event for event in engine.run(Inspect(job=3, text=text, **settings)) if event is not None]


def ended(steps):
    """What a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
