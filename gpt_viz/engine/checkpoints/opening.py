"""A model out of a file or a folder, step by step; nothing is changed before all of it is there. Knows no command."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import torch

from gpt_viz.engine.checkpoints import own
from gpt_viz.engine.checkpoints.assembly import assembled, check_tensors
from gpt_viz.engine.checkpoints.declarations import asked, declared
from gpt_viz.engine.checkpoints.location import contents_of, located
from gpt_viz.engine.checkpoints.reader import reader
from gpt_viz.engine.checkpoints.recognition import recognise
from gpt_viz.engine.checkpoints.report import Items, Report
from gpt_viz.engine.checkpoints.settlement import settled
from gpt_viz.engine.devices import check_fits
from gpt_viz.engine.limits import explained
from gpt_viz.engine.model import GPT
from gpt_viz.engine.tokenizer import Tokenizer

# What a model gets whose file does not say from which seed it was drawn: a reset would draw it from this one.
USUAL_SEED = 1337


@dataclass(frozen=True, slots=True)
class Opened:
    """A model that was in a file, what it reads, and what was done to open it."""

    name: str
    model: GPT
    alphabet: tuple[str, ...] | None
    tokenizer: Tokenizer
    seed: int
    history: own.History
    report: Items


Steps = Generator[tuple[int, int, str], None, Opened]


def open_checkpoint(path: str | Path, settings: tuple[str, ...] = (), device: torch.device | str = "cpu") -> Opened:
    """`opening` in one go."""
    steps = opening(path, settings, device)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            opened: Opened = end.value
            return opened


def opening(path: str | Path, settings: tuple[str, ...] = (), device: torch.device | str = "cpu") -> Steps:
    """Open a checkpoint: yields (done, total, what) between parts of the work.

    `settings` are `name=value` for what the file does not say (`heads=4`, `gelu=tanh`, `alphabet=ABC`). Raises
    CheckpointError, among them WantsCode, Contradiction and NeedsSetting; ConfigError for a bad setting; TooLarge.
    """
    wanted = asked(settings)
    report = Report()
    place = located(Path(path))
    yield 0, 0, place.weights.name
    contents = contents_of(place)
    notes = own.understood(contents.notes, contents.name)
    if notes is not None:
        contents.said = notes.config
    yield 0, 0, place.weights.name
    found = recognise(contents, report)
    said = declared(contents.said, contents.entry, report)
    config = settled(found, said, wanted, report)
    check_tensors(found, config)
    alphabet, tokenizer = reader(place, contents, notes, wanted, config.vocabulary, report)
    check_fits(config, device)
    yield 0, 0, place.weights.name
    try:
        model = yield from assembled(found, config, torch.device(device))
    except (RuntimeError, MemoryError) as error:
        sentence = explained(error, config, str(device))
        if sentence is None:
            raise
        raise sentence from None
    seed = USUAL_SEED if notes is None or notes.seed is None else notes.seed
    history: own.History = {} if notes is None else notes.history
    return Opened(contents.name, model, alphabet, tokenizer, seed, history, report.items)
