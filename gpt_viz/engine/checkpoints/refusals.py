"""Why a checkpoint was not opened or not saved, each said in one sentence. Knows no file and no torch."""

from __future__ import annotations

# So many names are listed in a sentence; the others are counted.
NAMED = 4


class CheckpointError(ValueError):
    """A file that can't be opened or written; the message is one sentence that names it and says the likely cause."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.field = "checkpoint"


class WantsCode(CheckpointError):  # noqa: N818 (what it is says more than "Error")
    """A pickle that asks for a function or a class. None of it was imported or called; `wanted` is its name."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(
            f"{name} wants to run code ({wanted}) and was not opened; if the file is your own, save it again with "
            "nothing but tensors, numbers, texts, lists and dictionaries: a model's state_dict(), the vars() of a "
            "Namespace"
        )
        self.wanted = wanted


class Contradiction(CheckpointError):  # noqa: N818
    """What was said of the model is not what its weights show; nothing was built."""


class NeedsSetting(CheckpointError):  # noqa: N818
    """Something that neither the weights nor their settings show. `candidates` are the values that would do."""

    def __init__(self, message: str, field: str, candidates: tuple[str, ...]) -> None:
        super().__init__(message)
        self.field = field
        self.candidates = candidates


def listed(names: list[str]) -> str:
    """A few of the names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def either(values: tuple[str, ...]) -> str:
    """`1, 2, 3 or 4`."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"
