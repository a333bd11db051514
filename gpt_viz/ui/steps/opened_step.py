"""An opened step as the panel shows it: its sheets, the number that is looked at, and what made it. Knows no view."""

from __future__ import annotations

from gpt_viz.explanation import Region
from gpt_viz.protocol import Explained, ModelInfo, StepOpened
from gpt_viz.ui.steps.derivation import Derivation, derivation, term_cells
from gpt_viz.ui.steps.step_measures import step_figures
from gpt_viz.ui.steps.step_names import cell_name, is_parameter, quoted, without_batch
from gpt_viz.ui.steps.step_sheets import StepSheet, input_sheet, main_sheet
from gpt_viz.ui.widgets.histogram import Bins
from gpt_viz.ui.widgets.input_pictures import MOST
from gpt_viz.ui.widgets.numbers import written
from gpt_viz.ui.widgets.shades import PLAIN
from gpt_viz.ui.widgets.sheet import Box, Cell


class OpenedStep:
    """One answer of the engine, and what is looked at in it. `inputs` are those that are shown, at most four."""

    def __init__(self, event: StepOpened, model: ModelInfo, index: tuple[int, ...]) -> None:
        self.event, self._model, self.index = event, model, index
        self.main = main_sheet(event.tensor, event.tokens, model)
        self.derivation: Derivation | None = None
        self._sheets: dict[str, StepSheet] = {}
        self.inputs = self._chosen(0)

    @property
    def name(self) -> str:
        """The step's name."""
        return self.event.step.name

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """The step measured, as pairs of name and figure."""
        return step_figures(self.event.step)

    @property
    def bins(self) -> Bins | None:
        """The step's histogram; None where sizes mean nothing, as of ids, and for one number alone."""
        found = self.event.histogram
        counts = found is not None and self.main.sheet.kind != PLAIN
        return Bins(found.low, found.high, found.counts) if found and counts else None

    @property
    def masked(self) -> bool:
        """Whether some of its cells are hidden on purpose."""
        return self.main.sheet.masked is not None and bool(self.main.sheet.masked.any())

    # -- the number that is looked at --

    def look_at(self, index: tuple[int, ...]) -> None:
        """Look at this number."""
        self.index = index

    @property
    def cell(self) -> Cell:
        """The cell of the number that is looked at."""
        return self.main.cell(self.index)

    def take(self, answer: Explained | None) -> None:
        """Take where a number of this step came from, if that is what this tells: the newest answer, or None."""
        if answer is None or answer.explanation.place != self.name or not self._has(answer.explanation.index):
            self.derivation = None
            return
        if self.derivation is None or self.derivation.explanation is not answer.explanation:
            tied = self._model.config.tied_head
            self.derivation = derivation(answer.explanation, answer.tokens, tied=tied)
            self.inputs = self._chosen(self._first(answer.explanation.sources))

    def _has(self, index: tuple[int, ...]) -> bool:
        return all(at < size for at, size in zip(index, self.event.step.shape, strict=True))

    def _first(self, sources: tuple[Region, ...]) -> int:
        names = [picture.name for picture in self.event.inputs]
        return min((names.index(each.name) for each in sources if each.name in names), default=0)

    def _chosen(self, first: int) -> list[StepSheet]:
        """Four of the inputs, the `first` that matters among them; where there are no more, all of them."""
        start = min(max(first - 1, 0), max(len(self.event.inputs) - MOST, 0))
        shown = self.event.inputs[start : start + MOST]
        for picture in shown:
            if picture.name not in self._sheets:
                self._sheets[picture.name] = input_sheet(picture, self.event.tokens, self._model)
        return [self._sheets[picture.name] for picture in shown]

    # -- what made it --

    @property
    def origin(self) -> str:
        """What can be done with the inputs that are shown."""
        more = len(self.event.inputs) - len(self.inputs)
        said = "lit is what made the number; click there to see where that came from"
        return said + (f" · {more} more" if more else "")

    def lit(self) -> list[tuple[Box, ...] | None]:
        """For each input that is shown the cells that made the number; None as long as that is not known."""
        if self.derivation is None:
            return [None] * len(self.inputs)
        sources = self.derivation.explanation.sources
        return [tuple(sheet.box(each) for each in sources if each.name == sheet.name) for sheet in self.inputs]

    def near(self, at: int, cell: Cell) -> tuple[int, ...]:
        """The number of an input that stands behind a cell of it."""
        return self.inputs[at].index(cell)

    def term_indices(self, term: tuple[int, int]) -> dict[str, tuple[int, ...]]:
        """The cells that a term was made of, by the inputs' names."""
        return {} if self.derivation is None else term_cells(self.derivation.explanation, *term)

    def term_marks(self, term: tuple[int, int] | None) -> list[Cell | None]:
        """For each input that is shown the cell that a term was made of."""
        found = {} if term is None else self.term_indices(term)
        return [sheet.cell(found[sheet.name]) if sheet.name in found else None for sheet in self.inputs]

    def symbols_of(self, name: str) -> tuple[str, ...]:
        """The axes of one of the inputs, in letters."""
        return next(picture.symbols for picture in self.event.inputs if picture.name == name)

    # -- in words --

    def number(self, cell: Cell | None) -> float:
        """The number in a cell, else the one that is looked at."""
        return float(self.main.sheet.cells[cell or self.cell])

    def reading(self, cell: Cell | None) -> tuple[str, str]:
        """What a cell says, else the number that is looked at: the number, and where it stands."""
        index = self.main.index(cell) if cell else self.index
        own = self.name.rpartition(".")[2]
        name = cell_name(own, without_batch(self.name, index))
        if not cell and self.main.picture.span != (1, 1):
            found = self.derivation.explanation.value if self.derivation else None
            return f"{name} = {written(found)}", self._where(self.event.tensor.symbols, index)
        return f"{name} = {written(self.number(cell))}", self._where(self.event.tensor.symbols, index)

    def input_reading(self, at: int, cell: Cell) -> tuple[str, str]:
        """What a cell of an input says."""
        sheet = self.inputs[at]
        index = sheet.index(cell)
        name = cell_name(sheet.sheet.name, without_batch(sheet.name, index))
        said = sheet.name if is_parameter(sheet.name) else self._where(sheet.picture.symbols, index)
        return f"{name} = {written(float(sheet.sheet.cells[cell]))}", said

    def _where(self, symbols: tuple[str, ...], index: tuple[int, ...]) -> str:
        """The place of a number in words, with the tokens that it belongs to."""
        pieces, said = self.event.tokens.pieces, []
        both = symbols[-2:] == ("T", "T")
        for at, (letter, figure) in enumerate(zip(symbols, index, strict=True)):
            if letter == "T":
                word = "token" if not both else "key" if at == len(symbols) - 1 else "query"
                said.append(f"{word} {figure} {quoted(pieces[figure])}")
            elif letter == "V":
                said.append(f"next {quoted(self._model.piece(figure))}")
        return " · ".join(said)

    def table(self) -> list[list[str]]:
        """The numbers that the picture shows, with their places along both axes."""
        sheet = self.main.sheet
        rows = [["", *sheet.across.labels(sheet.columns)]]
        labels = sheet.down.labels(sheet.rows)
        for at, numbers in enumerate(sheet.cells.tolist()):
            rows.append([labels[at] if at < len(labels) else "", *(f"{number:.9g}" for number in numbers)])
        return rows
