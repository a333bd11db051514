"""Where a number came from, as it is read: the computation typeset with its numbers, and its terms. Knows no view."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gpt_viz.explanation import Explanation, Region
from gpt_viz.protocol import Tokens
from gpt_viz.ui.steps.step_names import cell_name, quoted, symbol, without_batch
from gpt_viz.ui.steps.term_lists import TermLists
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.numbers import written
from gpt_viz.ui.widgets.terms import Terms

DIGITS = 5  # of the numbers in a computation
ROUNDING = 4e-6  # of what was added up: so much float32 may be off
_HEAD = re.compile(r"\.heads\.(\d+)\.out$")
_COUNTED = {"product": "d", "weighted sum": "j"}  # what counts along the axis that is summed over


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """One number, written out: `formula` typeset, its `terms`, what it comes to, and one `sentence` that says how."""

    explanation: Explanation
    tokens: Tokens
    formula: str
    sentence: str
    terms: tuple[Terms, ...] = ()
    name: str = field(default="")

    @property
    def agrees(self) -> bool:
        """Whether the number written out is the one that the pass found, but for the rounding of float32."""
        found, total = self.explanation.value, self.explanation.total
        if found == total or (math.isnan(found) and math.isnan(total)):
            return True
        size = sum((sum(map(abs, each.products)) for each in self.explanation.sums), abs(total))
        return abs(found - total) <= ROUNDING * max(size, abs(total), 1e-6)

    @property
    def verdict(self) -> str:
        """Both numbers side by side."""
        found, total = written(self.explanation.value, 7), written(self.explanation.total, 7)
        if self.agrees:
            return f"found {found} · written out {total} ✓"
        return f"found {found}, but written out it is {total}"


def derivation(explanation: Explanation, tokens: Tokens, *, tied: bool = False) -> Derivation:
    """The explanation of one cell of a pass over these tokens."""
    return _Writer(explanation, tokens, tied).derivation()


def term_cells(explanation: Explanation, at: int, number: int) -> dict[str, tuple[int, ...]]:
    """Which cell of each source a term was made of: by name, an index with a figure for each axis."""
    if explanation.kind == "sum":
        region = explanation.sources[number]
        return {region.name: tuple(start for start, _ in region.spans)}
    found: dict[str, tuple[int, ...]] = {}
    for region in explanation.sources[: 1 if explanation.kind in ("LayerNorm", "softmax") else 2]:
        index, varied = [], False
        for start, stop in region.spans:
            grows = stop - start > 1 and not varied
            varied = varied or grows
            index.append(start + number if grows else start)
        found[region.name] = tuple(index)
    if explanation.kind == "loss":
        logits, ids = explanation.sources
        found[logits.name] = (0, number, 0)
        found[ids.name] = (0, number + 1)
    return found


class _Writer:
    """Writes one explanation."""

    def __init__(self, explanation: Explanation, tokens: Tokens, tied: bool) -> None:
        self._it, self._tokens, self._tied = explanation, tokens, tied
        self._lists = TermLists(tokens, self._letter)

    def derivation(self) -> Derivation:
        right, sentence, terms = _HOW[self._it.kind](self)
        index = without_batch(self._it.place, self._it.index)
        result = _number(self._it.total)
        own = self._it.place.rpartition(".")[2]
        formula = f"{_cell(own, index)} = {right}" + ("" if right.endswith(f"= {result}") else f" = {result}")
        name = cell_name(own, index)
        return Derivation(
            self._it, self._tokens, formula, f"{name} = {written(self._it.value)}: {sentence}", terms, name
        )

    # -- one for each kind; each gives what stands right of the =, the end of a sentence, and the terms --

    def character(self) -> tuple[str, str, tuple[Terms, ...]]:
        piece = self._piece(self._it.index[-1])
        return f'"the number of {_plain(piece)}"', f"the number of {quoted(piece)} in the vocabulary.", ()

    def lookup(self) -> tuple[str, str, tuple[Terms, ...]]:
        table, row = self._it.sources[-1], int(self._it.number("row"))
        where = f"position {row}"
        if len(self._it.sources) > 1:
            where = f"{quoted(self._piece(self._it.index[-2]))}, token {row} of the vocabulary"
        right = f"{self._region(table)} = {_number(self._it.total)}"
        return right, f"looked up in {symbol(table.name)}, in the row of {where}.", ()

    def sum(self) -> tuple[str, str, tuple[Terms, ...]]:
        whole, names = self._it.sum("sum"), [self._region(each) for each in self._it.sources]
        a, b = whole.values
        left, right = (symbol(each.name) for each in self._it.sources)
        found = f"{' + '.join(names)} = {_number(a)} + {_bracketed(_number(b))}"
        return found, f"{left} and {right}, added.", ()

    def norm(self) -> tuple[str, str, tuple[Terms, ...]]:
        number = self._it.number
        x, mean, variance = (_number(number(each)) for each in ("x", "mean", "variance"))
        epsilon = _power(number("epsilon"))
        spread = rf"\frac{{{x} − {_bracketed(mean)}}}{{\sqrt{{{variance} + {epsilon}}}}}"
        right = f"{spread} · {_bracketed(_number(number('gain')))}"
        if self._it.has("bias"):
            right += f" + {_bracketed(_number(number('bias')))}"
        row = self._it.sources[0]
        # The mean's terms are x / C each, the variance's the squared distances / C.
        count = len(self._it.sum("mean"))
        terms = (
            self._lists.row(self._it.sum("mean"), f"mean of {count:,}: {written(number('mean'))}", row, f" / {count}"),
            self._lists.row(
                self._it.sum("variance"), f"variance of {count:,}: {written(number('variance'))}", row, f" / {count}",
                of=lambda name: f"({name} − mean)²",
            ),
        )  # fmt: skip
        return right, f"row {row.spans[-2][0]} of {symbol(row.name)}, centred and scaled.", terms

    def dot(self) -> tuple[str, str, tuple[Terms, ...]]:
        left, right = self._it.sources[:2]
        whole = self._it.sum("sum")
        letter = _COUNTED.get(self._it.kind, "m" if left.name.endswith(".gelu") else "c")
        names = f"{self._region(left, letter)} · {self._region(right, letter)}"
        found = rf"\sum_{{{letter}}} {names}"
        count = len(whole)
        what = f"{count:,} products" if count != 1 else "one product"
        what += f" of {symbol(left.name)} and {self._letter(right.name)}"
        if whole.bias is not None:
            total = math.fsum(whole.products)
            found += f" + {self._region(self._it.sources[2])} = {_number(total)} + {_bracketed(_number(whole.bias))}"
            what += ", and a bias"
        terms = self._lists.products(whole, f"{count:,} product{'s' * (count != 1)}", left, right)
        return found, f"{what}.", (terms,)

    def scaling(self) -> tuple[str, str, tuple[Terms, ...]]:
        product = _number(self._it.number("product"))
        if self._it.has("divisor"):
            divisor = _number(self._it.number("divisor"))
            return rf"\frac{{{product}}}{{{divisor}}}", "the product, divided by √D.", ()
        return f"{product} · {_number(self._it.number('factor'))}", "the product times D^−½.", ()

    def mask(self) -> tuple[str, str, tuple[Terms, ...]]:
        query, key = self._it.index[-2:]
        if self._it.number("hidden"):
            why = f'−∞ "as key" {key} "comes later than query" {query}'
            return why, f"hidden, since key {key} comes later than query {query}.", ()
        return f"{self._region(self._it.sources[0])}", f"the score itself, since key {key} is not later.", ()

    def softmax(self) -> tuple[str, str, tuple[Terms, ...]]:
        number, whole = self._it.number, self._it.sum("exponentials")
        masked, largest = _number(number("masked")), _bracketed(_number(number("largest")))
        above, total = _number(number("exponential")), _number(whole.total)
        found = rf"\frac{{e^{{{masked} − {largest}}}}}{{\sum e^{{\ldots}}}} = \frac{{{above}}}{{{total}}}".replace(
            r"\ldots", "…"
        )
        row = self._it.sources[0]
        title = f"row {self._it.index[-2]}: {written(whole.total)} in all; {written(number('largest'))} is its largest"
        terms = self._lists.row(whole, title, row, "", of=lambda name: f"e^({name} − {written(number('largest'))})")
        return found, f"its share of row {self._it.index[-2]} of masked, by the softmax.", (terms,)

    def copy(self) -> tuple[str, str, tuple[Terms, ...]]:
        head, column = int(self._it.number("head")), int(self._it.number("column"))
        return self._region(self._it.sources[0]), f"column {column} of head {head}, unchanged.", ()

    def gelu(self) -> tuple[str, str, tuple[Terms, ...]]:
        x, phi = _number(self._it.number("x")), _number(self._it.number("phi"))
        passed = f"{100 * self._it.number('phi'):.3g} %"
        return f"x · Φ(x) = {x} · {phi}", f"of {written(self._it.number('x'))}, {passed} passes.", ()

    def loss(self) -> tuple[str, str, tuple[Terms, ...]]:
        count = len(self._it.sum("surprise"))
        surprises = r"\paren{log \sum_{v} e^{logits_{t,v}} − logits_{t,ids_{t+1}}}"
        right = rf"\frac{{1}}{{{count}}} \sum_{{t}} {surprises}"
        return right, f"the mean surprise of {count:,} next tokens.", (self._lists.surprises(self._it),)

    # -- names --

    def _letter(self, name: str) -> str:
        return "E" if self._tied and name == "head.weight" else symbol(name)

    def _piece(self, position: int) -> str:
        pieces = self._tokens.pieces
        return pieces[position] if position < len(pieces) else str(position)

    def _region(self, region: Region, letter: str = "…") -> str:
        spans = without_batch(region.name, region.spans)
        index = tuple(start if stop - start == 1 else letter for start, stop in spans)
        head = _HEAD.search(region.name)
        if head and self._it.kind == "copy":
            return f"out^{{({head[1]})}}_{{{','.join(map(str, index))}}}"
        return _cell(self._letter(region.name), index)


def _cell(name: str, index: tuple[object, ...]) -> str:
    """A cell as a formula has it."""
    word = name if len(name) == 1 else f'"{name}"'
    return f"{word}_{{{','.join(map(str, index))}}}" if index else word


def _plain(piece: str) -> str:
    return visible(piece).replace('"', "”")


def _number(value: float) -> str:
    """A number in a formula: powers of ten as such."""
    text = written(value, DIGITS)
    if "e" in text and "NaN" not in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa} · 10^{{{exponent}}}"
    return f'"{text}"' if text == "NaN" else text


def _power(value: float) -> str:
    return f"10^{{−{round(-math.log10(value))}}}" if value > 0 and math.log10(value) % 1 == 0 else _number(value)


def _bracketed(text: str) -> str:
    """A number that follows a sign, in brackets where it has a sign itself."""
    return f"({text})" if text.startswith("−") else text


_HOW: dict[str, Callable[[_Writer], tuple[str, str, tuple[Terms, ...]]]] = {
    "character": _Writer.character,
    "lookup": _Writer.lookup,
    "sum": _Writer.sum,
    "LayerNorm": _Writer.norm,
    "linear": _Writer.dot,
    "product": _Writer.dot,
    "scaling": _Writer.scaling,
    "mask": _Writer.mask,
    "softmax": _Writer.softmax,
    "weighted sum": _Writer.dot,
    "copy": _Writer.copy,
    "GELU": _Writer.gelu,
    "loss": _Writer.loss,
}
