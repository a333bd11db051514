"""Text into ids and back: by characters, or as the ids themselves. Knows no torch and no model.

A character that has no id is refused and named; it is never turned into the id of another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Protocol

# How many of the unknown characters a sentence names; the others are counted.
NAMED = 3


class UnknownCharacters(ValueError):  # noqa: N818 (what they are says more than "Error")
    """The text holds what the model has no id for. `unknown` lists (position, character), positions from 0.

    Where the text is made of ids, the "character" is a whole word and its position that of its first character.
    """

    def __init__(self, unknown: tuple[tuple[int, str], ...], known: str) -> None:
        named = [f"{_shown(character)} at {position + 1}" for position, character in unknown[:NAMED]]
        more = len(unknown) - len(named)
        if more:
            named.append(f"{more} more")
        listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        super().__init__(f"the model can't read {listed} (counted from 1); {known}")
        self.unknown = unknown
        self.field = "text"


class AlphabetError(ValueError):
    """An alphabet that no model of this vocabulary can use."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.field = "vocabulary"


class Tokenizer(Protocol):
    """What turns text into ids and back."""

    def encode(self, text: str) -> list[int]:
        """The ids of the text. Raises UnknownCharacters."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids."""
        ...

    def piece(self, id: int) -> str:
        """The text of one id."""
        ...


class CharacterTokenizer:
    """One id for each character: its place in the alphabet. Characters are Unicode code points.

    A vocabulary may be larger than the alphabet; the ids without a character are shown as `‹70›`.
    """

    def __init__(self, alphabet: tuple[str, ...], vocabulary: int) -> None:
        if len(alphabet) > vocabulary:
            raise AlphabetError(
                f"the text has {len(alphabet):,} different characters, but the vocabulary is {vocabulary:,}; "
                f"make the vocabulary {len(alphabet):,} or larger"
            )
        if any(len(character) != 1 for character in alphabet):
            raise AlphabetError("an alphabet is made of single characters")
        if len(set(alphabet)) != len(alphabet):
            raise AlphabetError("an alphabet holds each character once")
        self._alphabet = alphabet
        self._ids = {character: id for id, character in enumerate(alphabet)}

    def encode(self, text: str) -> list[int]:
        """The id of each character. Raises UnknownCharacters that names those without one."""
        try:
            return list(map(self._ids.__getitem__, text))
        except KeyError:
            unknown = tuple((position, each) for position, each in enumerate(text) if each not in self._ids)
        size = len(self._alphabet)
        raise UnknownCharacters(unknown, f"its alphabet has {size} other character{'s' if size != 1 else ''}")

    def decode(self, ids: Iterable[int]) -> str:
        """The characters of the ids, in one text."""
        return "".join(map(self.piece, ids))

    def piece(self, id: int) -> str:
        """The character of an id, or `‹id›` where it has none."""
        return self._alphabet[id] if 0 <= id < len(self._alphabet) else f"‹{id}›"


class IdTokenizer:
    """The text is the ids themselves, separated by white space: `12 7 3`."""

    def __init__(self, vocabulary: int) -> None:
        self._vocabulary = vocabulary

    def encode(self, text: str) -> list[int]:
        """The ids that the text lists. Raises UnknownCharacters that names the words which are none."""
        ids: list[int] = []
        unknown: list[tuple[int, str]] = []
        longest = len(str(self._vocabulary))
        for match in re.finditer(r"\S+", text):
            word = match[0]
            # A number of a thousand digits is out of range too, and int() refuses those beyond 4,300.
            digits = word.lstrip("0") or "0"
            fits = word.isascii() and word.isdigit() and len(digits) <= longest and int(digits) < self._vocabulary
            if fits:
                ids.append(int(digits))
            else:
                unknown.append((match.start(), word))
        if unknown:
            raise UnknownCharacters(tuple(unknown), f"it is fed with ids from 0 to {self._vocabulary - 1:,}")
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The ids with a space between them."""
        return " ".join(map(str, ids))

    def piece(self, id: int) -> str:
        """The id itself."""
        return str(id)


def tokenizer_for(alphabet: tuple[str, ...] | None, vocabulary: int) -> CharacterTokenizer | IdTokenizer:
    """The tokenizer of a model: by characters where it has an alphabet, else by ids. Raises AlphabetError."""
    return IdTokenizer(vocabulary) if alphabet is None else CharacterTokenizer(alphabet, vocabulary)


def _shown(text: str) -> str:
    """A character as it can be read in a sentence: what prints nothing of its own is named by its number."""
    if len(text) > 12:
        text = text[:12] + "…"
    plain = all(each.isprintable() and each != " " and not unicodedata.combining(each) for each in text)
    return f"'{text}'" if plain else " ".join(f"U+{ord(each):04X}" for each in text)
