"""What `check` does: the same checks that the window runs, as JSON or as a table. Knows no Qt.

Torch is imported only once the options are known to be good.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from gpt_viz import claims, resources
from gpt_viz.chosen import Chosen, chosen
from gpt_viz.commands import as_json
from gpt_viz.protocol import Checked, RunChecks
from gpt_viz.tabular import aligned

MARKS = {True: "passed", False: "FAILED", None: "does not apply"}


def check(args: argparse.Namespace) -> tuple[str, bool]:
    """The text for stdout, and whether no check failed. Raises ValueErrors that say what to change."""
    choice = chosen(args)
    text = _text(choice, args.corpus, args.encoding)
    events = choice.engine().run(RunChecks(job=2, text=text, corpus=args.corpus, encoding=args.encoding))
    found = [event for event in events if isinstance(event, Checked) and not event.running]
    passed = all(event.passed is not False for event in found)
    if args.json:
        return as_json({"checks": list(map(_entry, found)), **choice.about()}), passed
    choice.tell()
    return _table(choice, found), passed


def _text(choice: Chosen, corpus: str | None, encoding: str | None) -> str:
    """One window and the token after it: of the corpus, of the built-in passage, or ids that count."""
    from gpt_viz.engine.corpus import read

    length = choice.config.block_size + 1
    if corpus is not None:
        whole = read(corpus, encoding).text
        return " ".join(whole.split()[:length]) if choice.reads_ids else whole[:length]
    if not choice.reads_ids:
        return choice.readable(resources.passage())[:length]
    return " ".join(str(number % choice.config.vocabulary) for number in range(length))


def _entry(event: Checked) -> dict[str, Any]:
    page = claims.page(event.name)
    return {
        "name": event.name,
        "title": page.title,
        "claim": page.claim,
        "passed": event.passed,
        "expected": event.expected,
        "found": event.found,
        "tolerance": event.tolerance,
        "detail": event.detail,
    }


def _table(choice: Chosen, found: Sequence[Checked]) -> str:
    rows = [("check", "", "expected", "found", "detail")]
    rows += [(event.name, MARKS[event.passed], event.expected, event.found, event.detail) for event in found]
    count = {passed: sum(event.passed is passed for event in found) for passed in MARKS}
    said = f"{choice.title}: {count[True]} passed, {count[False]} failed, {count[None]} do not apply"
    return f"{said}\n\n{aligned(rows)}\n"
