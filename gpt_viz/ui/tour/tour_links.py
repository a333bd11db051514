"""What a line of the tour's source leads to: the step that it computes, or the weights that it makes. Knows no view."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from gpt_viz import ledger, lesson, tour
from gpt_viz.config import GPTConfig
from gpt_viz.tour import GAP, Chapter
from gpt_viz.ui.selection import Selection
from gpt_viz.ui.steps.step_rows import letters, sizes
from gpt_viz.ui.widgets.code_layout import CodeRow

# Where a class stands in the model, by the paths of its parts.
_PATHS = {
    "Head": "blocks.0.attn.heads.0.",
    "MultiHeadAttention": "blocks.0.attn.",
    "FeedForward": "blocks.0.mlp.",
    "Block": "blocks.0.",
    "GPT": "",
}
_MAKES = re.compile(r"self\.(\w+) = nn\.(?:Linear|Embedding|LayerNorm)\(")
_ONE = GPTConfig(layers=1, heads=1)


@dataclass(frozen=True, slots=True)
class Link:
    """What a line of the source is for: a step that it computes, or the weights that it makes (`weights`).

    `name` is that of the first head of the first block; `at` gives the one of another.
    """

    name: str
    kind: str
    symbols: tuple[str, ...]
    weights: bool

    def at(self, selection: Selection) -> str:
        """The name at the selection's layer and head."""
        found = re.sub(r"^blocks\.0", f"blocks.{selection.layer}", self.name)
        return found.replace(".heads.0.", f".heads.{selection.head}.")

    def sized(self, config: GPTConfig, tokens: int) -> str:
        """The shape of what is computed or made, in letters and in numbers."""
        shape = sizes(ledger.evaluate(self.symbols, config, tokens))
        return f"{letters(self.symbols)} = {shape}" if self.symbols else shape

    def obstacle(self, config: GPTConfig, selection: Selection, *, single: bool) -> str:
        """Why a model has no such step, or no such weights; "" where it has. `single` is a text of one token."""
        name = self.at(selection)
        try:
            if self.weights:
                ledger.tensors(config).index_of(f"{name}.weight")
            else:
                ledger.steps(config, loss=not single).index_of(name)
        except ValueError:
            if name == "loss":
                return "A text of a single token has no loss."
            return (
                f"This model has no `{name}`." if config.layers else "This model has no blocks: nothing of this runs."
            )
        return ""


@cache
def links(chapter: Chapter) -> dict[int, Link]:
    """What the lines of a chapter are for, by their numbers in it; most are for neither."""
    found: dict[int, Link] = {}
    stop = chapter.stop
    if stop.file != tour.MODEL or stop.part not in _PATHS:
        return found
    tensors = ledger.tensors(_ONE)
    for number, line in enumerate(chapter.lines):
        made = _MAKES.match(line.code)
        if made:
            name = f"{_PATHS[stop.part]}{made[1]}"
            spec = tensors[tensors.index_of(f"{name}.weight")]
            found[number] = Link(name, spec.kind, spec.symbols, weights=True)
    for step in ledger.steps(_ONE):
        source = lesson.line_of(step.name)
        at = chapter.line_at(source.number) if source.class_name == stop.part else None
        if at is not None:
            found[at] = Link(step.name, step.kind, step.symbols, weights=False)
    return found


@lru_cache(maxsize=1024)
def line_of(step: str) -> tuple[int, int] | None:
    """Where the tour shows the line that computes a step: stop and line, by number; None for no step of any model."""
    try:
        source = lesson.line_of(step)
        for number, stop in enumerate(tour.STOPS):
            if (stop.file, stop.part) == (source.file, source.class_name):
                line = tour.chapter(stop).line_at(source.number)
                return None if line is None else (number, line)
    except LookupError:
        pass
    return None


def code_rows(chapter: Chapter) -> tuple[CodeRow, ...]:
    """The rows of a chapter as the code view takes them."""
    units = {row: number for number, line in enumerate(chapter.lines) for row in line.rows}
    found = links(chapter)
    made = []
    for i, row in enumerate(chapter.rows):
        unit = units.get(i)
        if row.text.lstrip().startswith("#"):  # a comment belongs to the line below it
            unit = units.get(i + 1)
        link = found.get(unit) if unit is not None and chapter.lines[unit].rows[0] == i else None
        mark, hollow = (link.kind, link.weights) if link else ("", False)
        made.append(CodeRow(row.number, row.text if row.number else f"    {GAP}", unit, mark, hollow))
    return tuple(made)
