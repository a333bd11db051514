"""What the values of the model form amount to: a config or mistakes, a preset, an alphabet. Knows no widget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpt_viz import resources
from gpt_viz.config import ConfigError, GPTConfig, preset_of

_WIDTHS = tuple(step * 2**power for power in range(1, 13) for step in (4, 5, 6, 7))  # 8, 10, 12, 14, 16, 20 ... 28,672
_MOST_HEADS = 256


def checked(values: dict[str, Any], blamed: str) -> tuple[GPTConfig | None, dict[str, str]]:
    """The config with these settings, or None and what is wrong with each; `blamed` is heads or width, where they
    don't go together.

    >>> checked({"layers": -2, "width": 0}, "width")[1]["layers"]
    'layers -2 is out of range; it goes from 0 to 10,000'
    """
    mistakes: dict[str, str] = {}
    values = dict(values)
    while True:
        try:
            config = GPTConfig(**values)
        except ConfigError as error:
            # A config names its first mistake only: with a value that is right in its place, it names the next.
            indivisible = "divisible" in str(error)
            if not indivisible:
                mistakes[error.field] = str(error)
            elif not {"heads", "width"} & set(mistakes):
                mistakes[blamed] = str(error)
            if indivisible:
                return None, mistakes
            values[error.field] = getattr(GPTConfig(), error.field)
        else:
            return (None if mistakes else config), mistakes


def preset_name(config: GPTConfig, own: tuple[str, ...] | None) -> str | None:
    """The preset that a config is, or None; with another text's `own` alphabet a preset has as many ids as that."""
    found = preset_of(config)
    if found is None and own is not None and config.vocabulary == len(own):
        found = preset_of(replace(config, vocabulary=len(resources.alphabet())))
        found = found if found is not None and found.characters else None
    return found.name if found else None


def alphabet_of(vocabulary: int, own: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The alphabet with as many characters as the vocabulary has ids: the text's `own`, the notebooks', or None."""
    known = (own, resources.alphabet())
    return next((each for each in known if each is not None and len(each) == vocabulary), None)


def described(alphabet: tuple[str, ...] | None, own: tuple[str, ...] | None) -> str:
    """What the ids of a vocabulary stand for, in a few words.

    >>> described(None, None)
    'no alphabet: token ids'
    """
    if alphabet is None:
        return "no alphabet: token ids"
    owner = "the text" if alphabet == own else "the notebooks"
    return f"{len(alphabet)} character{'s' if len(alphabet) > 1 else ''} of {owner}"


def head_stops(width: int) -> tuple[int, ...]:
    """The numbers of heads that divide a width, up to 256.

    >>> head_stops(12)
    (1, 2, 3, 4, 6, 12)
    """
    return tuple(heads for heads in range(1, min(max(width, 1), _MOST_HEADS) + 1) if width % heads == 0) or (1,)


def width_stops(heads: int) -> tuple[int, ...]:
    """Widths from 8 to 28,672 that the heads divide.

    >>> width_stops(3)[:4]
    (9, 12, 15, 21)
    """
    heads = max(heads, 1)
    return tuple(sorted({max(round(width / heads), 1) * heads for width in _WIDTHS}))
