"""A model out of a file or a folder, step by step; nothing is changed before all of it is there. Knows no command."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import torch

from gpt_viz.config import ConfigError
from gpt_viz.engine.checkpoints import alphabets, own
from gpt_viz.engine.checkpoints.assembly import assembled, check_tensors
from gpt_viz.engine.checkpoints.contents import Contents
from gpt_viz.engine.checkpoints.declarations import Asked, asked, declared
from gpt_viz.engine.checkpoints.location import Location, contents_of, located
from gpt_viz.engine.checkpoints.recognition import recognise
from gpt_viz.engine.checkpoints.refusals import CheckpointError
from gpt_viz.engine.checkpoints.report import Items, Report
from gpt_viz.engine.checkpoints.settlement import settled
from gpt_viz.engine.devices import check_fits
from gpt_viz.engine.limits import explained
from gpt_viz.engine.model import GPT
from gpt_viz.engine.pieces import PiecesUnavailable, PieceTokenizer, description_in
from gpt_viz.engine.tokenizer import AlphabetError, Tokenizer, tokenizer_for

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
    alphabet, tokenizer = _reader(place, contents, notes, wanted, config.vocabulary, report)
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


def _reader(
    place: Location,
    contents: Contents,
    notes: own.Notes | None,
    wanted: Asked,
    vocabulary: int,
    report: Report,
) -> tuple[tuple[str, ...] | None, Tokenizer]:
    """How the model reads text: by an alphabet, by pieces, or by ids where nothing says what they stand for."""
    alphabet, whose = _alphabet(place, contents, notes, wanted, report)
    if alphabet is None:
        pieces = _pieces(place, notes, vocabulary, report)
        if pieces is not None:
            return None, pieces
        if notes is None:
            alphabet, whose = (
                alphabets.notebooks(vocabulary),
                "that the notebooks use: the file has exactly as many tokens",
            )
    if alphabet is None:
        if notes is None or notes.tokenizer is None:
            report.say(
                "alphabet", f"none: text is written as ids from 0 to {vocabulary - 1:,}, unless an alphabet is given"
            )
        return None, tokenizer_for(None, vocabulary)
    alphabets.check_alphabet(alphabet, vocabulary, whose)
    try:
        tokenizer = tokenizer_for(alphabet, vocabulary)
    except AlphabetError as error:
        raise ConfigError("alphabet", str(error)) if wanted.alphabet else CheckpointError(str(error)) from None
    report.say("alphabet", f"{len(alphabet):,} characters {whose}")
    if len(alphabet) < vocabulary:
        bare = vocabulary - len(alphabet)
        report.say(
            "vocabulary", f"{bare:,} of {vocabulary:,} ids have no character; they are shown as ‹{vocabulary - 1}›"
        )
    return alphabet, tokenizer


def _alphabet(
    place: Location, contents: Contents, notes: own.Notes | None, wanted: Asked, report: Report
) -> tuple[tuple[str, ...] | None, str]:
    """The alphabet that somebody states, and who."""
    if wanted.alphabet is not None:
        return wanted.alphabet, "that were given"
    if notes is not None:
        return notes.alphabet, "in the file"
    inside = alphabets.spelled_out(contents.spelling)
    if inside is not None:
        return inside, "in the file"
    return alphabets.beside(place.weights, report), f"in {alphabets.META} beside the file"


def _pieces(place: Location, notes: own.Notes | None, vocabulary: int, report: Report) -> PieceTokenizer | None:
    """The tokenizer in our file or in the folder, where there is one and it can be used."""
    try:
        if notes is not None:
            found = (notes.tokenizer, "the file") if notes.tokenizer is not None else None
        else:
            found = description_in(place.folder) if place.described else None
        if found is None:
            return None
        tokenizer = PieceTokenizer(found[0], vocabulary)
    except PiecesUnavailable as error:
        report.say("tokenizer", f"not used, so text is written as ids: {error}")
        return None
    report.say("tokenizer", f"pieces of text, by {found[1]}")
    return tokenizer
