"""A text file opened, or fetched from the web. Knows no model."""

from __future__ import annotations

from dataclasses import dataclass

from gpt_viz.protocol.base import Command, Event, command, event


@command
class OpenText(Command):
    """Read a text file. Yields Progress, then TextOpened. The file is only ever read.

    `encoding` None takes what the file's byte-order mark says, else UTF-8; where that does not fit, EncodingWanted
    comes before Failed. A file of more than `at_most` bytes is left alone: Failed with the field "size".
    """

    lane = "text"
    path: str
    encoding: str | None = None
    at_most: int | None = None


@command
class FetchText(Command):
    """Get a text from the web, unless it is in the folder already. Yields Progress, TextFetched and TextOpened.

    It has so many `bytes` and this `sha256`, whatever comes from the `url`, and is kept in `folder` under `name`.
    """

    lane = "text"
    url: str
    sha256: str
    bytes: int
    folder: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an encoding makes of a place in a file: the characters around it."""

    encoding: str
    text: str


@event
class TextOpened(Event):
    """A text file was read. `excerpt` is its beginning; `notes` are (what, number) pairs such as ("crlf", 123).

    `alphabet` is its different characters, Unicode code points; `counts` how often each of them occurs.
    """

    path: str
    name: str
    characters: int
    alphabet: tuple[str, ...]
    excerpt: str
    encoding: str
    notes: tuple[tuple[str, int], ...] = ()
    counts: tuple[int, ...] = ()


@event
class EncodingWanted(Event):
    """A text file is not in `encoding`: its byte number `offset` (from 0) is `byte`. `readings` are what others give.

    They can read the file as far as it was looked at, the commonest of them first.
    """

    path: str
    encoding: str
    offset: int
    byte: int
    readings: tuple[Reading, ...]


@event
class TextFetched(Event):
    """A text from the web lies in this file; whether it lay there before."""

    path: str
    bytes: int
    cached: bool
