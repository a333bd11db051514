"""The model's source beside its explanation, line by line. Reads both as text; knows no torch, no Qt and runs nothing.

The source is never copied into a text: an explanation is found by the code that it stands under, so a line may move.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpt_viz import resources

MODEL = "engine/model.py"
GAP = "⋯"  # stands for members that are left out


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the tour: a class or a function of a file, or with `part` "" what comes before the first of them.

    `page` names its explanation in resources/text/tour; the members in `left_out` are not shown.
    """

    name: str
    file: str
    part: str
    page: str
    left_out: tuple[str, ...] = ()


STOPS = (
    Stop("model.py", MODEL, "", "model"),
    Stop("GPTConfig", "config.py", "GPTConfig", "config", ("__post_init__", "_indivisible", "with_settings")),
    Stop("Head", MODEL, "Head", "head"),
    Stop("MultiHeadAttention", MODEL, "MultiHeadAttention", "multi_head_attention"),
    Stop("FeedForward", MODEL, "FeedForward", "feed_forward"),
    Stop("Block", MODEL, "Block", "block"),
    Stop("GPT", MODEL, "GPT", "gpt"),
    Stop("generate", "engine/generate.py", "generate", "generate"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a source as it is written; `number` counts the file's lines from 1, 0 is a gap."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One statement's line, which may go over several rows (`rows`, numbers into the chapter's), and what it is for.

    `code` is in one line and without its comment, `comment` without its #, `text` as it stands in the page.
    """

    rows: range
    code: str
    comment: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """An explanation as it is written: a title, an introduction, and a text for each code, in order."""

    title: str
    introduction: str
    texts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A stop with all that is shown there. `orphans` are explained codes that the source does not have."""

    stop: Stop
    title: str
    introduction: str
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]
    orphans: tuple[str, ...]

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The codes that have no explanation."""
        return tuple(line.code for line in self.lines if not line.text)

    def line_at(self, number: int) -> int | None:
        """Which of the lines holds that line of the file; None where none does."""
        held = (i for i, line in enumerate(self.lines) if any(self.rows[row].number == number for row in line.rows))
        return next(held, None)


@cache
def chapter(stop: Stop) -> Chapter:
    """The stop's source and explanation. Raises LookupError where the source is not there as text."""
    try:
        source = (Path(__file__).parent / stop.file).read_text(encoding="utf-8")
    except OSError as error:
        raise LookupError(f"{stop.file} is not there as text") from error
    return joined(stop, source, page(resources.text(f"text/tour/{stop.page}.md")))


def joined(stop: Stop, source: str, explained: Page) -> Chapter:
    """The stop's part of the source, each of its lines with the text for it. Raises LookupError without such a part."""
    rows = rows_of(source, stop)
    lines = tuple(
        Line(where, code, comment, explained.texts.get(code, "")) for where, code, comment in statements(rows)
    )
    known = {line.code for line in lines}
    orphans = tuple(code for code in explained.texts if code not in known)
    return Chapter(stop, explained.title, explained.introduction, rows, lines, orphans)


def page(text: str) -> Page:
    """The Markdown of a stop: `# title`, an introduction, then for each line its code in a heading and its text.

    Raises ValueError where a code is explained twice.
    """
    head, *parts = re.split(r"(?m)^## `(.+)`$", text)
    title, _, introduction = head.strip().removeprefix("#").strip().partition("\n")
    texts: dict[str, str] = {}
    for code, explanation in zip(parts[::2], parts[1::2], strict=True):
        key = normalised(code)
        if key in texts:
            raise ValueError(f"{key!r} is explained twice in {title!r}")
        texts[key] = paragraphs(explanation)
    return Page(title, paragraphs(introduction), texts)


def paragraphs(text: str) -> str:
    """A text whose lines were broken anywhere: one line for each paragraph, an empty line between them."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def normalised(code: str) -> str:
    """Code in one line, however it was broken: the key under which a line is explained."""
    flat = " ".join(code.split())
    return re.sub(r",? ([)\]}])", r"\1", re.sub(r"([(\[{]) ", r"\1", flat))


def rows_of(source: str, stop: Stop) -> tuple[Row, ...]:
    """The rows of the stop's part, with a gap for each run of members that are left out. Raises LookupError."""
    body = ast.parse(source).body
    owners = [node for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    rows = [Row(number, text.rstrip()) for number, text in enumerate(source.splitlines(), 1)]
    if not stop.part:
        return _trimmed(rows[: _first(owners[0]) - 1 if owners else None])
    owner = next((node for node in owners if node.name == stop.part), None)
    if owner is None:
        raise LookupError(f"{stop.file} has no {stop.part}")
    hidden: set[int] = set()
    for member in owner.body:
        if isinstance(member, ast.FunctionDef) and member.name in stop.left_out:
            hidden.update(range(_first(member), (member.end_lineno or member.lineno) + 1))
    shown: list[Row] = []
    for row in rows[_first(owner) - 1 : owner.end_lineno]:
        if row.number in hidden:
            row = Row(0, f"    {GAP}")
        last = shown[-1] if shown else row
        if not row.number and GAP in {each.text.strip() for each in shown[-2:]}:
            continue  # a gap stands for all that is left out there
        if row.text or last.text:
            shown.append(row)
    return _trimmed(shown)


def statements(rows: tuple[Row, ...]) -> Iterator[tuple[range, str, str]]:
    """Every line of code that does something: its rows, its code, its comment. Docstrings and comments do nothing."""
    text = "".join(f"{row.text if row.number else ''}\n" for row in rows)
    passing = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    parts: list[tokenize.TokenInfo] = []
    comments: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if parts:  # else it has a row of its own
                comments.append(token)
        elif token.type == tokenize.NEWLINE:
            if any(part.type != tokenize.STRING for part in parts):
                yield _statement(rows, parts, comments)
            parts, comments = [], []
        elif token.type not in passing:
            parts.append(token)


def _statement(
    rows: tuple[Row, ...], parts: list[tokenize.TokenInfo], comments: list[tokenize.TokenInfo]
) -> tuple[range, str, str]:
    where = range(parts[0].start[0] - 1, parts[-1].end[0])
    ends = {comment.start[0] - 1: comment.start[1] for comment in comments}
    code = normalised(" ".join(rows[i].text[: ends.get(i)] for i in where))
    return where, code, " ".join(comment.string.lstrip("# ") for comment in comments)


def _first(node: ast.ClassDef | ast.FunctionDef) -> int:
    """The line in which a definition begins, with its decorators."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _trimmed(rows: list[Row]) -> tuple[Row, ...]:
    """Without empty rows at either end."""
    full = [i for i, row in enumerate(rows) if row.number and row.text]
    return tuple(rows[full[0] : full[-1] + 1]) if full else ()
