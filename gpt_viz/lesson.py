"""Which line of engine/model.py computes a place. Reads the lesson as text; knows no torch, no Qt and runs nothing."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

FILE = "engine/model.py"
_OWNERS = (
    (re.compile(r"blocks\.\d+\.attn\.heads\.\d+\.\w+"), "Head"),
    (re.compile(r"blocks\.\d+\.attn\.\w+"), "MultiHeadAttention"),
    (re.compile(r"blocks\.\d+\.mlp\.\w+"), "FeedForward"),
    (re.compile(r"blocks\.\d+\.\w+"), "Block"),
    (re.compile(r"\w+"), "GPT"),
)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A statement of the lesson with one line before and after it, without the indent that they share.

    `lit` are those of `lines` that are the statement; `number` is where it begins in the file, counted from 1.
    """

    file: str
    number: int
    class_name: str
    lines: tuple[str, ...]
    lit: range


def line_of(place: str) -> SourceLine:
    """The line that computes this place: the one that gives a value to the variable of the place's last name.

    Raises LookupError where the lesson has no such line, or is not there as text.

    >>> line_of("blocks.0.attn.heads.1.A").class_name
    'Head'
    """
    owner = next((name for pattern, name in _OWNERS if pattern.fullmatch(place)), "")
    return _line(owner, place.rpartition(".")[2])


@cache
def _line(owner: str, variable: str) -> SourceLine:
    source, tree = _lesson()
    body = next((node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner), [])
    methods = [part for part in body if isinstance(part, ast.FunctionDef)]
    methods.sort(key=lambda method: method.name == "forward")  # where it hands on to another method, that one computes
    for statement in (each for method in methods for each in ast.walk(method)):
        if isinstance(statement, ast.stmt) and variable in _given(statement):
            return _with_neighbours(source, owner, statement.lineno, statement.end_lineno or statement.lineno)
    for method in methods:
        if method.name == "forward" and variable in {each.arg for each in method.args.args}:  # it is given, like `ids`
            return _with_neighbours(source, owner, method.lineno, method.body[0].lineno - 1)
    raise LookupError(f"{FILE} has no line that computes {variable!r} in {owner or 'any class'}")


@cache
def _lesson() -> tuple[list[str], ast.Module]:
    try:
        text = (Path(__file__).parent / FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise LookupError(f"{FILE} is not there as text") from error
    return text.splitlines(), ast.parse(text)


def _given(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value to."""
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    else:
        return set()
    names = (each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target]))
    return {name.id for name in names if isinstance(name, ast.Name)}


def _with_neighbours(source: list[str], owner: str, first: int, last: int) -> SourceLine:
    """Lines `first` to `last`, counted from 1, and their neighbours, where those are not empty."""
    before = [line for line in source[first - 2 : first - 1] if line.strip()]
    after = [line for line in source[last : last + 1] if line.strip()]
    lines = dedent("\n".join([*before, *source[first - 1 : last], *after])).split("\n")
    return SourceLine(FILE, first, owner, tuple(lines), range(len(before), len(before) + last - first + 1))
