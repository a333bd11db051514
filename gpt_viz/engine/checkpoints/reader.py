"""How an opened model reads text: by characters, by pieces, or as ids where nothing says what they stand for.

It is asked in this order: the person, the file itself, the meta.pkl or the tokenizer beside it, the notebooks' 65
characters. Knows no tensor.
"""

from __future__ import annotations

from gpt_viz.config import ConfigError
from gpt_viz.engine.checkpoints import alphabets, own
from gpt_viz.engine.checkpoints.contents import Contents
from gpt_viz.engine.checkpoints.declarations import Asked
from gpt_viz.engine.checkpoints.location import Location
from gpt_viz.engine.checkpoints.refusals import CheckpointError
from gpt_viz.engine.checkpoints.report import Report
from gpt_viz.engine.pieces import PiecesUnavailable, PieceTokenizer, description_in
from gpt_viz.engine.tokenizer import AlphabetError, Tokenizer, tokenizer_for


def reader(
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
            alphabet = alphabets.notebooks(vocabulary)
            whose = "that the notebooks use: the file has exactly as many tokens and says nothing of them"
    if alphabet is None:
        if notes is None or notes.tokenizer is None:
            ids = f"ids from 0 to {vocabulary - 1:,}"
            report.say("alphabet", f"none: text is written as {ids}, unless an alphabet is given")
        return None, tokenizer_for(None, vocabulary)
    alphabets.check_alphabet(alphabet, vocabulary, whose)
    try:
        tokenizer = tokenizer_for(alphabet, vocabulary)
    except AlphabetError as error:
        raise ConfigError("alphabet", str(error)) if wanted.alphabet else CheckpointError(str(error)) from None
    report.say("alphabet", f"{len(alphabet):,} characters {whose}")
    if len(alphabet) < vocabulary:
        bare = vocabulary - len(alphabet)
        shown = f"they are shown as ‹{vocabulary - 1}›"
        report.say("vocabulary", f"{bare:,} of {vocabulary:,} ids have no character; {shown}")
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
