"""A step's tensor, and those it was computed from, as sheets: axes named, masked cells known. Knows no view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpt_viz.config import GPTConfig
from gpt_viz.explanation import Region
from gpt_viz.measures import Picture
from gpt_viz.protocol import ModelInfo, Tokens
from gpt_viz.ui.steps.step_names import symbol, without_batch
from gpt_viz.ui.widgets.glyphs import visible
from gpt_viz.ui.widgets.shades import PLAIN, SHARES, SIGNED
from gpt_viz.ui.widgets.sheet import Axis, Box, Cell, Sheet, box_of, later

WRAPPED = 8  # cells of a row, where a tensor of one row is shown in several
NAMED = 512  # names of the vocabulary that are written at an axis, at most
_KINDS = {"A": SHARES, "ids": PLAIN, "loss": PLAIN}
_TITLES = {"C": "width C", "D": "head width D", "4C": "width 4C", "V": "vocabulary V", "N": "position", "B": ""}


@dataclass(frozen=True, slots=True, eq=False)
class StepSheet:
    """A picture of a tensor and the sheet that shows it, of which every `wrapped` cells are a row (0: all of them)."""

    picture: Picture
    sheet: Sheet
    wrapped: int = 0

    @property
    def name(self) -> str:
        """The place's or the parameter's name."""
        return self.picture.name

    def index(self, cell: Cell) -> tuple[int, ...]:
        """Where in the tensor a cell's number stands."""
        row, column = cell
        if self.wrapped:
            return self.picture.index(0, row * self.wrapped + column)
        return self.picture.index(row, column)

    def cell(self, index: tuple[int, ...]) -> Cell:
        """The cell that stands for a place in the tensor."""
        row, column = self.picture.cell(index)
        return divmod(column, self.wrapped) if self.wrapped else (row, column)

    def box(self, region: Region) -> Box:
        """The cells that stand for a region of the tensor."""
        return box_of(region.spans, self.picture.span)

    def number(self, index: tuple[int, ...]) -> float:
        """The number that is shown for a place in the tensor."""
        return float(self.sheet.cells[self.cell(index)])


def main_sheet(picture: Picture, tokens: Tokens, model: ModelInfo) -> StepSheet:
    """The step's own tensor; the ids stand in several rows, each with its token."""
    if picture.name == "ids" and picture.cells.shape[1] > WRAPPED:
        return _wrapped(picture, tokens)
    return StepSheet(picture, _sheet(picture, tokens, model))


def input_sheet(picture: Picture, tokens: Tokens, model: ModelInfo) -> StepSheet:
    """A tensor that the step was computed from."""
    return StepSheet(picture, _sheet(picture, tokens, model))


def sizes(picture: Picture) -> str:
    """The sizes of a tensor's own axes, without the batch's."""
    return " × ".join(f"{each:,}" for each in without_batch(picture.name, picture.shape)) or "one number"


def _sheet(picture: Picture, tokens: Tokens, model: ModelInfo) -> Sheet:
    last = picture.name.rpartition(".")[2]
    down, across = ("B", "B", *picture.symbols)[-2:] if picture.symbols else ("B", "B")
    rows, columns = picture.cells.shape
    both = down == across == "T"
    hidden = None
    if both and last in ("A", "masked"):
        hidden = later(rows, columns) & (picture.cells == (0 if last == "A" else -np.inf))
    return Sheet(
        name=_caption(picture.name, model.config),
        sizes=sizes(picture),
        cells=picture.cells,
        down=_axis(down, "query (from) →" if both else "token →", picture.span[0], tokens, model),
        across=_grouped(last, model.config, picture.span[1])
        or _axis(across, "key (to) →" if both else "token →", picture.span[1], tokens, model),
        kind=_KINDS.get(last, SIGNED),
        masked=hidden,
        square=both,
    )


def _caption(name: str, config: GPTConfig) -> str:
    return "E" if config.tied_head and name == "head.weight" else symbol(name)


def _axis(letter: str, title: str, stride: int, tokens: Tokens, model: ModelInfo) -> Axis:
    if letter == "T":
        return Axis(title, tokens.pieces, stride)
    if letter == "V" and model.config.vocabulary <= NAMED:
        return Axis(f"{_TITLES['V']} →", tuple(map(model.piece, range(model.config.vocabulary))), stride)
    name = _TITLES.get(letter, letter)
    return Axis(f"{name} →" if name else "", stride=stride)


def _grouped(last: str, config: GPTConfig, stride: int) -> Axis | None:
    """The heads side by side along what they leave together."""
    if last != "concat" or config.heads == 1 or stride != 1:
        return None
    return Axis("width C = H·D →", group=config.head_width, grouped="head")


def _wrapped(picture: Picture, tokens: Tokens) -> StepSheet:
    count = picture.cells.shape[1]
    rows = -(-count // WRAPPED)
    cells = np.zeros(rows * WRAPPED, np.float32)
    cells[:count] = picture.cells[0]
    texts = _texts(tokens.pieces[:: picture.span[1]], picture.cells[0].tolist())
    starts = tuple(str(row * WRAPPED * picture.span[1]) for row in range(rows))
    sheet = Sheet(
        name=picture.name,
        sizes=sizes(picture),
        cells=cells.reshape(rows, WRAPPED),
        down=Axis("token →", starts),
        across=Axis("token, from the row’s first on →", tuple(f"+{column}" for column in range(WRAPPED))),
        kind=PLAIN,
        texts=texts,
        blank=rows * WRAPPED - count,
    )
    return StepSheet(picture, sheet, WRAPPED)


def _texts(pieces: Sequence[str], ids: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{visible(piece)} {id:.0f}" for piece, id in zip(pieces, ids, strict=True))
