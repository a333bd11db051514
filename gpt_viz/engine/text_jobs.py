"""Answers the commands about text files: a generator of events for each. Knows no model, no window and no thread."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from gpt_viz.engine import corpus
from gpt_viz.engine.corpus import TextFileError
from gpt_viz.engine.download import fetching
from gpt_viz.engine.telling import told
from gpt_viz.protocol import Command, EncodingWanted, Event, FetchText, OpenText, TextFetched, TextOpened

Events = Generator[Event | None, None, None]

# So many characters of an opened text are handed out.
EXCERPT = 5_000


def methods() -> dict[type[Command], Callable[[Any], Events]]:
    """Which method answers which command."""
    return {OpenText: _open, FetchText: _fetch}


def _open(command: OpenText) -> Events:
    yield from _opened(command, command.path, command.encoding, command.at_most)


def _fetch(command: FetchText) -> Events:
    steps = fetching(command.url, command.folder, command.name, sha256=command.sha256, size=command.bytes)
    found = yield from told(steps, command)
    yield TextFetched(job=command.job, slot=command.slot, path=found.path, bytes=command.bytes, cached=found.cached)
    yield from _opened(command, found.path, None, None)


def _opened(command: Command, path: str, encoding: str | None, at_most: int | None) -> Events:
    job, slot = command.job, command.slot
    try:
        # Only its beginning is kept: a text of any length takes no more memory than that.
        found = yield from told(corpus.reading(path, encoding, keep=EXCERPT, at_most=at_most), command)
    except TextFileError as error:
        if error.readings:
            yield EncodingWanted(
                job=job,
                slot=slot,
                path=path,
                encoding=error.encoding,
                offset=error.offset,
                byte=error.byte,
                readings=error.readings,
            )
        raise
    yield TextOpened(
        job=job,
        slot=slot,
        path=found.path,
        name=found.name,
        characters=found.characters,
        alphabet=found.alphabet,
        excerpt=found.text,
        encoding=found.encoding,
        notes=found.notes,
        counts=found.counts,
    )
