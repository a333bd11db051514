"""A text as the ids that a model trains on. Knows no run and no command.

The text must fit the model: a character that has no id is refused and named, never left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gpt_viz import resources
from gpt_viz.engine import corpus
from gpt_viz.engine.tokenizer import IdTokenizer, Tokenizer, UnknownCharacters

PASSAGE = "the built-in passage"
# Small enough that no part keeps the interpreter for more than a few milliseconds.
CHUNK = 2**18
NAMED = 3


class UnreadableText(ValueError):  # noqa: N818 (what it is says more than "Error")
    """A text that holds what the model has no id for. `unknown` lists (first position, character), from 0."""

    def __init__(self, message: str, unknown: tuple[tuple[int, str], ...]) -> None:
        super().__init__(message)
        self.unknown = unknown
        self.field = "corpus"


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A text that was read and encoded: `ids` (n,) int64. `sha256` is that of the text itself, as UTF-8.

    The text itself: with `\\n` line ends and without a byte-order mark, so for most files also that of the file.
    """

    name: str
    sha256: str
    characters: int
    ids: Tensor


def reading(
    path: str | None, encoding: str | None, tokenizer: Tokenizer, alphabet: tuple[str, ...] | None
) -> Generator[tuple[int, int, str], None, Material]:
    """Read a text file (None: the built-in passage) and encode it; yields (done, total, name) now and then.

    Raises TextFileError and UnreadableText.
    """
    if path is None:
        name, text, characters = PASSAGE, resources.passage(), sorted(set(resources.passage()))
    else:
        found = yield from corpus.reading(path, encoding)
        name, text, characters = found.name, found.text, list(found.alphabet)
    if alphabet is not None:
        _check(characters, alphabet, text, name)
        steps = _looked_up(text, alphabet, name)
    elif isinstance(tokenizer, IdTokenizer):
        steps = _listed(text, tokenizer, name)
    else:
        steps = _whole(text, tokenizer, name)
    ids = yield from steps
    return Material(name, _sha256(text), len(text), ids)


def _check(characters: list[str], alphabet: tuple[str, ...], text: str, name: str) -> None:
    unknown = tuple(sorted((text.index(each), each) for each in set(characters) - set(alphabet)))
    if not unknown:
        return
    named = [f"{each!r} (first at {position + 1:,})" for position, each in unknown[:NAMED]]
    more = len(unknown) - len(named)
    also = f" and {more:,} other{'' if more == 1 else 's'}" if more else ""
    raise UnreadableText(
        f"the model can't read {', '.join(named)}{also} of the characters in {name}; "
        "open that text to build a model with its alphabet",
        unknown,
    )


def _looked_up(text: str, alphabet: tuple[str, ...], name: str) -> Generator[tuple[int, int, str], None, Tensor]:
    """One id a character: its place in the alphabet."""
    table = np.zeros(max(map(ord, alphabet)) + 1, np.int64)
    table[[ord(each) for each in alphabet]] = np.arange(len(alphabet))
    ids = torch.empty(len(text), dtype=torch.int64)
    for start in range(0, len(text), CHUNK):
        codes = np.frombuffer(text[start : start + CHUNK].encode("utf-32-le", "surrogatepass"), np.uint32)
        ids[start : start + len(codes)] = torch.from_numpy(table[codes])
        yield start + len(codes), len(text), name
    return ids


def _listed(text: str, tokenizer: IdTokenizer, name: str) -> Generator[tuple[int, int, str], None, Tensor]:
    """Ids between white space, cut where there is some."""
    parts: list[Tensor] = []
    start = 0
    while start < len(text):
        gap = re.compile(r"\s").search(text, start + CHUNK)
        end = len(text) if gap is None else gap.end()
        try:
            parts.append(torch.tensor(tokenizer.encode(text[start:end]), dtype=torch.int64))
        except UnknownCharacters as error:
            position, word = error.unknown[0]
            shown = word if len(word) <= 20 else word[:20] + "…"
            raise UnreadableText(
                f"the model is fed with ids, and {shown!r} (at {start + position + 1:,} in {name}) is none; "
                "choose a text of ids separated by spaces, or a model that reads characters",
                ((start + position, word),),
            ) from None
        yield end, len(text), name
        start = end
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.int64)


def _whole(text: str, tokenizer: Tokenizer, name: str) -> Generator[tuple[int, int, str], None, Tensor]:
    """All at once, for a tokenizer whose tokens may lie across any cut."""
    yield 0, len(text), name
    return torch.tensor(tokenizer.encode(text), dtype=torch.int64)


def _sha256(text: str) -> str:
    digest = hashlib.sha256()
    for start in range(0, len(text), CHUNK):
        digest.update(text[start : start + CHUNK].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
