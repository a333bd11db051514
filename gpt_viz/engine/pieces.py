"""Text into pieces of several characters, as GPT-2 reads it: by the `tokenizers` library. Knows no torch and no model.

The library is an extra. Its files hold tables, never code.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gpt_viz.engine.tokenizer import UnknownCharacters

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Library

# What the decoder writes where the bytes of a piece are only a part of a character.
_BROKEN = "\ufffd"


class PiecesUnavailable(ValueError):  # noqa: N818 (what it is says more than "Error")
    """A tokenizer that can't be used: the library is not installed, or the file is not one of its."""


class PieceTokenizer:
    """One id for each piece of text; which pieces there are, the tokenizer's file says. Raises PiecesUnavailable.

    An id that is no whole text by itself (a part of a character, or none of the tokenizer's) is shown as `‹70›`.
    """

    def __init__(self, description: str, vocabulary: int) -> None:
        library = _library()
        try:
            self._library: Library = library.from_str(description)
        except Exception as error:  # the library raises Exception itself
            raise PiecesUnavailable(f"the tokenizer is damaged or of an unknown kind: {_first_line(error)}") from None
        self.description = description
        self.vocabulary = vocabulary
        model = self._library.model
        unknown = getattr(model, "unk_token", None)
        self._unknown = self._library.token_to_id(unknown) if unknown else None

    def encode(self, text: str) -> list[int]:
        """The ids of the text. Raises UnknownCharacters that names what no id of the model stands for."""
        found = self._library.encode(text, add_special_tokens=False)
        ids: list[int] = found.ids
        unknown: list[tuple[int, str]] = []
        covered = [False] * len(text)
        for id, (first, last) in zip(ids, found.offsets, strict=True):
            if id >= self.vocabulary or (id == self._unknown and text[first:last].strip() != self.piece(id).strip()):
                unknown.append((first, text[first:last]))
            covered[first:last] = [True] * (last - first)
        if not unknown and not all(seen or each.isspace() for seen, each in zip(covered, text, strict=True)):
            # The library leaves out what it has no piece for, without a word, and may count wrong after that.
            lost = {each for each in set(text) if not self._library.encode(each, add_special_tokens=False).ids}
            unknown = [(at, each) for at, each in enumerate(text) if each in lost]
            unknown = unknown or [(at, text[at]) for at, seen in enumerate(covered) if not seen]
        if unknown or (text and not ids):
            raise UnknownCharacters(tuple(unknown) or ((0, text[0]),), "its tokenizer has no piece for that")
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids together: characters that span pieces are whole again."""
        known = self._library.get_vocab_size()
        parts: list[str] = []
        run: list[int] = []
        for id in ids:
            if 0 <= id < known:
                run.append(id)
                continue
            parts += [self._decoded(run), f"‹{id}›"]
            run = []
        return "".join([*parts, self._decoded(run)])

    def piece(self, id: int) -> str:
        """The text of one id, or `‹id›` where it is none by itself."""
        return self.pieces[id] if 0 <= id < self.vocabulary else f"‹{id}›"

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The text of each id of the vocabulary."""
        known = min(self._library.get_vocab_size(), self.vocabulary)
        texts = self._library.decode_batch([[id] for id in range(known)], skip_special_tokens=False)
        shown = [text if text and _BROKEN not in text else f"‹{id}›" for id, text in enumerate(texts)]
        return (*shown, *(f"‹{id}›" for id in range(known, self.vocabulary)))

    def _decoded(self, ids: list[int]) -> str:
        text: str = self._library.decode(ids, skip_special_tokens=False) if ids else ""
        return text


def description_in(folder: Path) -> tuple[str, str] | None:
    """The tokenizer in a folder, as one text and the name of its file; None where there is none.

    It is tokenizer.json, or GPT-2's older pair of vocab.json and merges.txt. Raises PiecesUnavailable.
    """
    whole, vocabulary, merges = (folder / name for name in ("tokenizer.json", "vocab.json", "merges.txt"))
    try:
        if whole.is_file():
            return whole.read_text(encoding="utf-8"), whole.name
        if vocabulary.is_file() and merges.is_file():
            return _from_pair(vocabulary, merges), f"{vocabulary.name} and {merges.name}"
    except (OSError, UnicodeDecodeError) as error:
        raise PiecesUnavailable(f"the tokenizer could not be read: {_first_line(error)}") from None
    return None


def _from_pair(vocabulary: Path, merges: Path) -> str:
    """GPT-2's byte-level pieces, from the table of ids and the table of merges."""
    library = _library()
    from tokenizers import decoders, models, pre_tokenizers

    try:
        tokenizer = library(models.BPE.from_file(str(vocabulary), str(merges)))
    except Exception as error:
        raise PiecesUnavailable(f"vocab.json and merges.txt can't be read: {_first_line(error)}") from None
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    if tokenizer.token_to_id(end) is not None:
        tokenizer.add_special_tokens([end])
    description: str = tokenizer.to_str()
    return description


def _library() -> type[Library]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise PiecesUnavailable(
            "reading it takes the library tokenizers, which is not installed: pip install tokenizers"
        ) from None
    return Tokenizer


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:120]
