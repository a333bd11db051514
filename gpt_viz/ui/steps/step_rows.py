"""The shape table's rows: one pass as a tree of steps, blocks and heads, with the sizes that really ran.

A row is worked out when it is asked for. Sizes come from the pass that was traced, never from the formula, which is
only held against them; of a model that did not run, they are the formula's. Knows the ledger; knows no view.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ledger import StepSpec
from gpt_viz.protocol import StepSeen
from gpt_viz.ui.widgets.lazy_rows import Line, Path

TITLES = ("step", "symbols", "sizes", "formula", "module")
_HEAD_STEPS = 8  # q, k, v, products, scores, masked, A, out


class StepRows:
    """The rows of one pass over `tokens` tokens. `seen` are the steps that ran, None where none did.

    `ids` is said of the first row; it may be set anew.
    """

    def __init__(
        self, config: GPTConfig, tokens: int, seen: Sequence[StepSeen] | None, *, loss: bool = True, ids: str = ""
    ) -> None:
        self.config, self.tokens, self.seen, self.ids = config, tokens, seen, ids
        self.form: Hashable = (config.layers, config.heads, loss)
        self.steps = ledger.steps(config, loss=loss)
        self._first = self.steps.index_of("embedded") + 1
        self._end = self.steps.index_of("ln_f")
        self._block = (self._end - self._first) // max(config.layers, 1)
        self._in_heads = _HEAD_STEPS * config.heads

    # -- where a step stands in the tree, and back --

    def path_of(self, index: int) -> Path:
        """The path of a step, given its number in the pass."""
        if index < self._first:
            return (index,)
        if index >= self._end:
            return (self._first + self.config.layers + index - self._end,)
        layer, offset = divmod(index - self._first, self._block)
        if offset == 0:
            return (self._first + layer, 0)
        if offset <= self._in_heads:
            head, offset = divmod(offset - 1, _HEAD_STEPS)
            return (self._first + layer, 1 + head, offset)
        return (self._first + layer, 1 + self.config.heads + offset - 1 - self._in_heads)

    def index_of(self, path: Path) -> int | None:
        """The number of the step in this row; None for a block's or a head's own row."""
        layer = path[0] - self._first
        if layer < 0:
            return path[0]
        if layer >= self.config.layers:
            return self._end + layer - self.config.layers
        if len(path) == 1:
            return None
        start, row = self._first + layer * self._block, path[1]
        if row == 0:
            return start
        if row > self.config.heads:
            return start + self._in_heads + row - self.config.heads
        return None if len(path) == 2 else start + 1 + (row - 1) * _HEAD_STEPS + path[2]

    # -- the rows, as the table asks for them --

    def count(self, path: Path) -> int:
        """How many rows lie below this one."""
        if not path:
            return self._first + self.config.layers + len(self.steps) - self._end
        if not 0 <= path[0] - self._first < self.config.layers:
            return 0
        if len(path) == 1:
            return self._block - self._in_heads + self.config.heads
        return _HEAD_STEPS if len(path) == 2 and 1 <= path[1] <= self.config.heads else 0

    def line(self, path: Path) -> Line:
        """What this row shows."""
        index = self.index_of(path)
        if index is not None:
            return self._step(index)
        block = f"blocks.{path[0] - self._first}"
        if len(path) == 1:
            cells = self._sizes(f"{block}.out")
            return Line((f"block {path[0] - self._first}", *cells, "", block), "residual", bold=True, note=block)
        head = f"{block}.attn.heads.{path[1] - 1}"
        cells = self._sizes(f"{head}.out")
        return Line((f"head {path[1] - 1}", *cells, "", head), "attention", note=head)

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The sizes of a step's result: as it ran, or by formula where nothing ran; None where it did not run."""
        spec = self.steps[index]
        if self.seen is None:
            return spec.shape(self.config, self.tokens)
        if index < len(self.seen) and self.seen[index].name == spec.name:
            return self.seen[index].shape
        return None

    def agrees(self, index: int) -> bool:
        """Whether a step ran with the sizes that its letters stand for."""
        return self.shape(index) == self.steps[index].shape(self.config, self.tokens)

    def _step(self, index: int) -> Line:
        spec = self.steps[index]
        shape, due = self.shape(index), spec.shape(self.config, self.tokens)
        note = self._note(spec)
        if shape != due:
            ran = "it did not run" if shape is None else f"the tensor that ran is {sizes(shape)}"
            note = f"{note}: the letters stand for {sizes(due)}, but {ran}"
        label = spec.name.rpartition(".")[2]
        shown = "not run" if shape is None else sizes(shape) if shape == due else f"{sizes(shape)} ≠ {sizes(due)}"
        return Line(
            (label, letters(spec.symbols), shown, spec.formula, spec.module), spec.kind, wrong=shape != due, note=note
        )

    def _note(self, spec: StepSpec) -> str:
        return f"ids: {self.ids}" if spec.name == "ids" and self.ids else spec.name

    def _sizes(self, name: str) -> tuple[str, str]:
        """Letters and sizes of what leaves a block or a head."""
        index = self.steps.index_of(name)
        shape = self.shape(index)
        return letters(self.steps[index].symbols), "not run" if shape is None else sizes(shape)


def letters(symbols: Sequence[str]) -> str:
    """`("B", "T", "C")` as `(B, T, C)`."""
    return f"({', '.join(symbols)})"


def sizes(shape: Sequence[int]) -> str:
    """`(1, 32, 128)` as `1 × 32 × 128`; a single number, which has no sizes, as "one number"."""
    return " × ".join(map(str, shape)) or "one number"
