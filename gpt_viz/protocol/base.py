"""What every Command and every Event has, and what makes a class one of them. Knows none of them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

CURRENT = "current"
OTHER = "other"

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def command(cls: type[T]) -> type[T]:
    """Make a class a command: frozen, slotted, its fields given by name."""
    return dataclass(frozen=True, slots=True, kw_only=True, repr=False)(cls)


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False, field_specifiers=(field,))
def event(cls: type[T]) -> type[T]:
    """Make a class an event: as a command, but equal to itself only, as arrays have no plain equality."""
    return dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)(cls)


def _written(each: Any) -> str:
    # One for all of them: a start has no time to make such a method for every class.
    values = (f"{field.name}={getattr(each, field.name)!r}" for field in fields(each))
    return f"{type(each).__qualname__}({', '.join(values)})"


@command
class Command:
    """Something to be done. A newer command of the same `lane` and slot supersedes an older one, if it is of the same
    `asker`: views that ask for themselves do not take each other's answers away.
    """

    job: int
    slot: str = CURRENT
    asker: str = ""
    lane: ClassVar[str] = ""

    __repr__ = _written


@event
class Event:
    """Something that happened. Of a `picture` kind the mailbox keeps only the newest of each slot and job; of any other
    kind it keeps all.
    """

    job: int
    slot: str = CURRENT
    picture: ClassVar[bool] = False

    __repr__ = _written
