"""The letters that shapes are written in, and long lists worked out entry by entry. Knows nothing of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from gpt_viz.config import GPTConfig


def evaluate(symbols: tuple[str, ...], config: GPTConfig, tokens: int, batch: int = 1) -> tuple[int, ...]:
    """A shape in letters, such as `("B", "T", "4C")`, as the numbers it stands for. Raises KeyError for another letter.

    >>> evaluate(("B", "T", "4C"), GPTConfig(width=128), tokens=5)
    (1, 5, 512)
    """
    letters = {
        "B": batch, "T": tokens, "V": config.vocabulary, "N": config.block_size, "C": config.width,
        "H": config.heads, "D": config.head_width, "L": config.layers,
    }  # fmt: skip
    return tuple(int(symbol[:-1] or 1) * letters[symbol[-1]] for symbol in symbols)


Item = TypeVar("Item")


class Lazy(Sequence[Item]):
    """A long sequence whose entries are worked out one by one; a slice is a tuple of entries."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple(self._at(i) for i in range(self._size)[index])
        return self._at(range(self._size)[index])  # the range knows negative indices and raises IndexError

    def _at(self, index: int) -> Item:
        raise NotImplementedError
