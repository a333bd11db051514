"""The shape table's rows with what was measured at each step, and below each step the calls of torch that made it.

What formulas know (bytes, parameters, multiply-adds) is there before anything was measured. Knows no view.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.measures import Operation, StepMeasure
from gpt_viz.protocol import StepSeen
from gpt_viz.quantities import short, size
from gpt_viz.ui.steps.step_rows import TITLES, StepRows, sizes
from gpt_viz.ui.widgets.lazy_rows import Line, Path
from gpt_viz.ui.widgets.numbers import duration, written

MEASURED = ("dtype", "bytes", "parameters", "mult-adds", "time", "mean", "std", "min", "max", "norm")
_NOTHING = ("",) * len(MEASURED)
_NOT_YET = Line(("not measured yet", *("",) * (len(TITLES) + len(MEASURED) - 1)), quiet=True)


class MeasuredRows(StepRows):
    """As StepRows, with ten cells more in each row where `figures`, which are empty else.

    Of a pass that ran, every step can be opened; what is in it is known once it was `measured`.
    """

    def __init__(
        self,
        config: GPTConfig,
        tokens: int,
        seen: Sequence[StepSeen] | None,
        *,
        loss: bool = True,
        ids: str = "",
        measured: Sequence[StepMeasure] = (),
        figures: bool = False,
    ) -> None:
        super().__init__(config, tokens, seen, loss=loss, ids=ids)
        self._measured: Mapping[str, StepMeasure] = {step.name: step for step in measured}
        self._figures = figures
        self._used: dict[int, tuple[int, int]] = {}
        calls = tuple(len(step.operations) for step in measured)
        self.form: Hashable = (config.layers, config.heads, loss, seen is not None, figures, calls)

    def is_step(self, path: Path) -> bool:
        """Whether this row is a step, and neither what holds steps nor a call in one."""
        index = self.index_of(path) if path else None
        return index is not None and self.path_of(index) == path

    def count(self, path: Path) -> int:
        if path and self.is_step(path):
            return max(len(self._operations(path)), 1) if self.seen is not None and path != (0,) else 0
        index = self.index_of(path) if path else None
        return super().count(path) if index is None else 0

    def line(self, path: Path) -> Line:
        index = self.index_of(path)
        if index is not None and self.path_of(index) != path:
            return self._call(self.path_of(index), path[-1])
        line = super().line(path)
        if not self._figures:
            more = _NOTHING
        elif index is not None:
            more = self._step_figures(index)
        else:
            more = self._sums(path)
        return Line((*line.cells, *more), line.kind, line.bold, line.quiet, line.wrong, line.span, line.note)

    # -- what was measured --

    def _operations(self, path: Path) -> tuple[Operation, ...]:
        index = self.index_of(path)
        found = None if index is None else self._measured.get(self.steps[index].name)
        return found.operations if found else ()

    def _call(self, step: Path, number: int) -> Line:
        """One call of torch: its name, what came out, what went in."""
        operations = self._operations(step)
        if number >= len(operations):
            return _NOT_YET
        call = operations[number]
        given = ", ".join(map(sizes, call.inputs))
        time = duration(call.elapsed_s)
        more = (call.dtype, "", "", "", time, *("",) * 5) if self._figures else _NOTHING
        how = "moves no numbers" if call.view else time
        note = f"torch’s {call.name}({given}): {how}"
        kind = "view" if call.view else ""
        return Line(
            (call.name, "", sizes(call.output), f"of {given}" if given else "", kind, *more), quiet=True, note=note
        )

    def _step_figures(self, index: int) -> tuple[str, ...]:
        spec = self.steps[index]
        step = self._measured.get(spec.name)
        if step is None:
            count = math.prod(spec.shape(self.config, self.tokens))
            used, work = self._known(index)
            return ("", size(count * ledger.BYTES_PER_NUMBER) if self.seen is None else "", used, work, *("",) * 6)
        found, work = step.figures, short(step.multiply_adds) if step.multiply_adds else ""
        cost = (step.dtype, size(step.bytes), _some(step.parameters), work, duration(step.elapsed_s))
        numbers = (found.mean, found.std, found.smallest, found.largest, found.norm)
        return *cost, *(written(number, 3) for number in numbers)

    def _known(self, index: int) -> tuple[str, str]:
        spec = self.steps[index]
        work = ledger.step_multiply_adds(self.config, spec, self.tokens)
        return _some(ledger.parameters_used(self.config, spec)), short(work) if work else ""

    def _sums(self, path: Path) -> tuple[str, ...]:
        """What the steps of a block or a head use together."""
        used, work = self._alike(path)
        specs = [self.steps[i] for i in self._inside(path)] if self._measured else []
        steps = [self._measured[spec.name] for spec in specs if spec.name in self._measured]
        times = [step.elapsed_s for step in steps if step.elapsed_s is not None]
        spent = duration(math.fsum(times)) if times and len(times) == len(specs) else ""
        return "", "", _some(used), short(work) if work else "", spent, *("",) * 5

    def _alike(self, path: Path) -> tuple[int, int]:
        """Parameters and multiply-adds of a block or a head, which are alike in all of them."""
        if len(path) not in self._used:
            specs = [self.steps[i] for i in self._inside(path)]
            used = sum(ledger.parameters_used(self.config, spec) for spec in specs)
            work = sum(ledger.step_multiply_adds(self.config, spec, self.tokens) for spec in specs)
            self._used[len(path)] = used, work
        return self._used[len(path)]

    def _inside(self, path: Path) -> range:
        """The numbers of the steps in a block or in a head."""
        first = self.index_of((*path, 0)) or 0
        if len(path) == 1:
            return range(first, self.steps.index_of(f"blocks.{path[0] - self._first}.out") + 1)
        return range(first, first + super().count(path))


def _some(count: int) -> str:
    return f"{count:,}" if count else ""
