"""The sums behind a number as lists of terms: how each term is called and written. Knows no view."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpt_viz.explanation import Explanation, Region, Sum
from gpt_viz.protocol import Tokens
from gpt_viz.ui.steps.step_names import without_batch
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.numbers import written
from gpt_viz.ui.widgets.terms import NAME, NUMBER, RESULT, SIGN, Piece, Terms

_ON_ROWS = ("A", "masked", "scores", "products")  # whose last axis counts tokens too


class TermLists:
    """Writes the terms of one pass; `letter` is how a step or a parameter is called there."""

    def __init__(self, tokens: Tokens, letter: Callable[[str], str]) -> None:
        self._tokens, self._letter = tokens, letter

    def products(self, whole: Sum, title: str, left: Region, right: Region) -> Terms:
        first, second, place = self._varied(left), self._varied(right), self._place(left)

        def written_out(k: int) -> tuple[str, ...]:
            a, b = whole.coefficients[k], whole.values[k]
            return place(k), first(k), _term(a), "×", second(k), _term(b), "=", _term(a * b)

        pieces = (
            Piece(NAME, 9, instead=1), Piece(NAME, 2), Piece(NUMBER), Piece(SIGN), Piece(NAME, 3), Piece(NUMBER),
            Piece(SIGN), Piece(RESULT),
        )  # fmt: skip
        return Terms(title, np.array(whole.products), pieces, written_out)

    def row(self, whole: Sum, title: str, source: Region, after: str, of: Callable[[str], str] = str) -> Terms:
        """The terms of a sum over one row of cells; `after` is what each is divided by, as it is written."""
        name, place = self._varied(source, of), self._place(source)

        def written_out(k: int) -> tuple[str, ...]:
            term = _term(whole.coefficients[k] * whole.values[k])
            return place(k), name(k), _term(whole.values[k]) + after if after else "", "=", term

        pieces = (Piece(NAME, 9, instead=1), Piece(NAME, 1), Piece(NUMBER, 2), Piece(SIGN, 1), Piece(RESULT))
        return Terms(title, np.array(whole.products), pieces, written_out)

    def _place(self, region: Region) -> Callable[[int], str]:
        """The k-th place along the one axis on which a region has more than one, and its token."""
        axis, tokens = self._axis(region)
        start = without_batch(region.name, region.spans)[axis][0]
        return lambda k: f"{start + k} {visible(self._piece(start + k))}" if tokens else str(start + k)

    def _axis(self, region: Region) -> tuple[int, bool]:
        """Which axis that is, and whether it counts tokens."""
        spans = without_batch(region.name, region.spans)
        axis = next((i for i, (start, stop) in enumerate(spans) if stop - start > 1), len(spans) - 1)
        return axis, axis == len(spans) - 1 and self._letter(region.name) in _ON_ROWS

    def _varied(self, region: Region, of: Callable[[str], str] = str) -> Callable[[int], str]:
        """The name of the k-th cell along the one axis on which a region has more than one, and its token."""
        spans, (axis, tokens) = without_batch(region.name, region.spans), self._axis(region)
        name = self._letter(region.name)

        def named(k: int) -> str:
            index = [str(start + k if i == axis else start) for i, (start, _) in enumerate(spans)]
            said = of(f"{name}[{', '.join(index)}]")
            return f"{said} {visible(self._piece(spans[axis][0] + k))}" if tokens else said

        return named

    def surprises(self, it: Explanation) -> Terms:
        """The loss of each next token."""
        logs, logits, surprise = (it.sum(name) for name in ("log-sum", "logit", "surprise"))

        def written_out(k: int) -> tuple[str, ...]:
            before, after = (visible(self._piece(at)) for at in (k, k + 1))
            numbers = (_term(each.values[k]) for each in (logs, logits, surprise))
            return f"{before} → {after}", next(numbers), "−", next(numbers), "=", next(numbers)

        pieces = (Piece(NAME), Piece(NUMBER, 1), Piece(SIGN, 1), Piece(NUMBER, 1), Piece(SIGN, 1), Piece(RESULT))
        title = f"log ∑ of all logits’ exponentials − the logit of what came, over {len(surprise):,} next tokens"
        return Terms(title, np.array(surprise.values), pieces, written_out)

    def _piece(self, position: int) -> str:
        pieces = self._tokens.pieces
        return pieces[position] if position < len(pieces) else str(position)


def _term(value: float) -> str:
    """A number in a list of terms."""
    return written(value, 3)
