"""The parameter table's rows: groups, their blocks and heads, down to the single tensor. All by formula, one by one.

Nothing is listed: a row is worked out when it is asked for, so that the 56,000 tensors of 175 billion parameters open
at once. Knows the ledger; knows no view.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.ledger import TensorSpec
from gpt_viz.ui.parameters.percent import percent, percents
from gpt_viz.ui.widgets.lazy_rows import Line, Path

TITLES = ("name", "shape", "formula", "with numbers", "count", "percent")
SHARED = "shared with token embedding"
HEADS_NOTE = (
    "Each head reads the whole width C and writes D = C / H numbers, so H heads of C × D are C × C together: more "
    "heads change the shapes of q, k and v, not how many numbers there are."
)
# Globs over tensor names, of each grouping's groups in the ledger's order; by kind, the ledger has them.
_GLOBS: dict[str, tuple[str, ...]] = {
    "place": ("*_embedding.weight", "blocks.*", "ln_f.*", "head.*"),
    "step5": ("*_embedding.weight", "blocks.*.attn.*", "blocks.*.mlp.*", "blocks.*.ln[12].*", "[hl]*"),
    "build-gpt": ("token_embedding.weight", "position_embedding.weight", "blocks.*", "ln_f.*", "head.*"),
}
_HEAD = re.compile(r".+\.heads\.(\d+)")
_PLACE = re.compile(r"blocks\.(\d+)\.?(?:attn\.heads\.(\d+)\.?)?")


@dataclass(frozen=True, slots=True)
class Group:
    """One row at the top, which is also one slice of the outer ring; `glob` is its name in the selection.

    A block holds the tensors `before` the heads, the tensors `in_head` of each head, and those `after`.
    """

    name: str
    kind: str
    count: int
    glob: str
    shape: str
    formula: str
    before: tuple[str, ...]
    in_head: tuple[str, ...]
    after: tuple[str, ...]
    outside: tuple[str, ...]

    @property
    def in_blocks(self) -> bool:
        """Whether the blocks have a part in it."""
        return bool(self.before or self.in_head or self.after)


class ParameterRows:
    """The rows of one config in one of the ledger's groupings. `form` is equal where the paths are."""

    def __init__(self, config: GPTConfig, by: str) -> None:
        self.config, self.by = config, by
        self.form: Hashable = (by, config.layers, config.heads, config.bias, config.qkv_bias, config.head_bias)
        self.total = ledger.total(config)
        self._tensors = ledger.tensors(config)
        self._template = _template(config)
        self.groups = tuple(self._groups(by))
        self.percents = percents([group.count for group in self.groups])

    # -- the rows, as the table asks for them --

    def count(self, path: Path) -> int:
        """How many rows lie below this one."""
        if not path:
            return len(self.groups)
        group = self.groups[path[0]]
        blocks = self.config.layers if group.in_blocks else 0
        if len(path) == 1:
            return blocks + len(group.outside)
        if path[1] >= blocks:
            return 0
        heads = self.config.heads if group.in_head else 0
        if len(path) == 2:
            return len(group.before) + heads + len(group.after)
        return len(group.in_head) if len(path) == 3 and 0 <= path[2] - len(group.before) < heads else 0

    def name(self, path: Path) -> str:
        """What the selection calls this row: a tensor's or module's name, or a glob over the tensors of a group."""
        group = self.groups[path[0]]
        if len(path) == 1:
            return group.glob
        blocks = self.config.layers if group.in_blocks else 0
        if path[1] >= blocks:
            return group.outside[path[1] - blocks]
        block = f"blocks.{path[1]}"
        if len(path) == 2:  # what the group has of this block: its glob, with the block's number in it
            return f"{block}.{group.glob.removeprefix('blocks.*').lstrip('*.')}".rstrip(".")
        head, heads = path[2] - len(group.before), self.config.heads if group.in_head else 0
        if head < 0:
            return f"{block}.{group.before[path[2]]}"
        if head >= heads:
            return f"{block}.{group.after[head - heads]}"
        inner = f"{block}.attn.heads.{head}"
        return inner if len(path) == 3 else f"{inner}.{group.in_head[path[3]]}"

    def line(self, path: Path) -> Line:
        """What this row shows."""
        if len(path) == 1:
            return self._group_line(path[0])
        group, name = self.groups[path[0]], self.name(path)
        if len(path) == 2 and group.in_blocks and path[1] < self.config.layers:
            return self._plain(f"block {path[1]}", self.block_count(group), group.kind, "", name)
        if len(path) == 3 and (head := _HEAD.fullmatch(name)):
            return self._plain(f"head {head[1]}", self.head_count(group), group.kind, "3 × (D, C)", name)
        return self._tensor_line(self._tensors[self._tensors.index_of(name)])

    def held(self, g: int, name: str) -> int:
        """How many numbers the row of that name in group `g` adds; 0 where these rows have none of that name."""
        group = self.groups[g]
        if name == group.glob:
            return group.count
        at, head = _PLACE.match(name), _HEAD.fullmatch(name)
        if at and (int(at[1]) >= self.config.layers or int(at[2] or 0) >= self.config.heads):
            return 0
        if head:
            return self.head_count(group)
        if name.endswith((".weight", ".bias")):
            try:
                return self._tensors[self._tensors.index_of(name)].count
            except ValueError:
                return 0
        return self.block_count(group) if at else 0

    def find(self, parameter: str) -> Path:
        """The row that holds the whole of what the selection names; () where none does or several share it."""
        for g, group in enumerate(self.groups):
            if group.glob == parameter:
                return (g,)
        at = _PLACE.match(parameter)
        layer, head = (int(at[1]), int(at[2] or 0)) if at else (0, 0)
        if at and (layer >= self.config.layers or head >= self.config.heads):
            return ()
        # The first block and its first head stand for all of them.
        first = _PLACE.sub(lambda found: re.sub(r"\d+", "0", found[0]), parameter, count=1)
        names = [spec.name for spec in self._template]
        touched = [n for n in names if n == first or n.startswith(f"{first}.") or fnmatchcase(n, first)]
        for g, group in enumerate(self.groups):
            if touched and all(fnmatchcase(name, group.glob) for name in touched):
                if at is None and touched[0].startswith("blocks."):
                    return (g,)
                return (g, *self._within(group, at is not None and at[2] is not None, layer, head, first, touched))
        return ()

    def _within(self, group: Group, in_head: bool, layer: int, head: int, first: str, touched: list[str]) -> Path:
        """The rest of the path, below the group that holds all of the tensors that are touched."""
        row = touched[0]
        if row in group.outside:
            alone = len(touched) == 1 or all(name in group.outside for name in touched)
            return ((self.config.layers if group.in_blocks else 0) + group.outside.index(row),) if alone else ()
        inside = row.removeprefix("blocks.0.")
        if in_head:
            inner = (group.in_head.index(inside.removeprefix("attn.heads.0.")),) if len(touched) == 1 else ()
            return (layer, len(group.before) + head, *inner)
        if "*" in first or len({name.rpartition(".")[0] for name in touched}) > 1:
            return (layer,)
        if inside in group.before:
            return (layer, group.before.index(inside))
        if inside in group.after:
            heads = self.config.heads if group.in_head else 0
            return (layer, len(group.before) + heads + group.after.index(inside))
        return (layer,)

    # -- how they are made --

    def _groups(self, by: str) -> Iterable[Group]:
        if by == "kind":
            rows = ledger.rows(self.config)
            parts = [(r.name, r.kind, r.count, r.members, r.shape, r.formula) for r in rows]
        else:
            named = zip(ledger.groups(self.config, by), _GLOBS[by], strict=True)
            parts = [(each.name, each.kind, each.count, glob, "", self._formula(glob)) for each, glob in named]
        for part in parts:
            names = [spec.name for spec in self._template if fnmatchcase(spec.name, part[3])]
            inside = [name.removeprefix("blocks.0.") for name in names if name.startswith("blocks.0.")]
            before = [name for name in inside if name.startswith("ln1")]
            in_head = [name for name in inside if name.startswith("attn.heads.")]
            yield Group(
                *part,
                before=tuple(before),
                in_head=tuple(name.removeprefix("attn.heads.0.") for name in in_head),
                after=tuple(name for name in inside if name not in before and name not in in_head),
                outside=tuple(name for name in names if not name.startswith("blocks.")),
            )

    def _formula(self, glob: str) -> str:
        """The group's count in letters, from the shapes of its tensors; H matrices of D × C are one of C × C."""
        inside: Counter[str] = Counter()
        outside: Counter[str] = Counter()
        for spec in self._template:
            if fnmatchcase(spec.name, glob) and not spec.shared_with:
                letters = [symbol[-1].replace("D", "C") for symbol in spec.symbols]
                times = math.prod(int(symbol[:-1] or 1) for symbol in spec.symbols)
                where = inside if spec.name.startswith("blocks.") else outside
                where["C²" if letters == ["C", "C"] else "·".join(letters)] += times
        block = _added(inside)
        blocks = f"L·({block})" if "+" in block else f"L·{block}" if block else ""
        return "+".join(filter(None, (blocks, _added(outside))))

    def with_numbers(self, formula: str) -> str:
        """A formula with this model's numbers in place of its letters."""
        return re.sub("[VNCHDL]", lambda letter: str(ledger.evaluate((letter[0],), self.config, 0)[0]), formula)

    def _group_line(self, g: int) -> Line:
        group, share = self.groups[g], self.percents[g]
        if "head.weight" in group.outside and self.config.tied_head:
            return self._shared_line(group, share)
        numbers = self.with_numbers(group.formula)
        cells = (group.name, group.shape, group.formula, numbers, f"{group.count:,}", share)
        return Line(cells, group.kind, quiet=not group.count, note=HEADS_NOTE if group.in_head else "")

    def _shared_line(self, group: Group, share: str) -> Line:
        """A head that is the token embedding: what it shares is said, and not added."""
        size = f"{self.config.vocabulary * self.config.width:,}"
        note = f"The head's weight is the token embedding's own: {size} numbers, {SHARED}, not added again."
        if not group.count:
            return Line((group.name, group.shape, SHARED, "", f"({size})", "shared"), group.kind, span=2, note=note)
        own = f"{group.formula}, weight shared"
        return Line((group.name, group.shape, own, "", f"{group.count:,}", share), group.kind, span=2, note=note)

    def _tensor_line(self, spec: TensorSpec) -> Line:
        label = re.sub(r"^blocks\.\d+\.(attn\.heads\.\d+\.)?", "", spec.name)
        sizes, letters, numbers = (
            " × ".join(map(str, spec.shape)),
            "·".join(spec.symbols),
            "·".join(map(str, spec.shape)),
        )
        if not spec.shared_with:
            cells = (label, sizes, letters, numbers, f"{spec.count:,}", self._share(spec.count))
            return Line(cells, spec.kind, note=spec.name)
        size = f"{math.prod(spec.shape):,}"
        note = f"{spec.name} is {spec.shared_with}: {size} numbers, not added again."
        return Line((label, sizes, SHARED, "", f"({size})", "shared"), spec.kind, span=2, note=note)

    def _plain(self, label: str, count: int, kind: str, shape: str, note: str) -> Line:
        return Line((label, shape, "", "", f"{count:,}", self._share(count)), kind, note=note)

    def _share(self, count: int) -> str:
        return percent(round(1000 * count / self.total), count)

    def _sum(self, owner: str, names: Sequence[str]) -> int:
        return sum(self._tensors[self._tensors.index_of(f"{owner}.{name}")].count for name in names)

    def block_count(self, group: Group) -> int:
        """How many numbers one block adds to the group: all blocks are alike."""
        if not self.config.layers:
            return 0
        return self._sum("blocks.0", (*group.before, *group.after)) + self.config.heads * self.head_count(group)

    def head_count(self, group: Group) -> int:
        """How many numbers one head adds to the group."""
        return self._sum("blocks.0.attn.heads.0", group.in_head) if self.config.layers else 0


@lru_cache(maxsize=4)  # the two rings and what is compared are made for the same config, while it is dragged
def _template(config: GPTConfig) -> tuple[TensorSpec, ...]:
    """The tensors outside the blocks and those of one block with one head: in shape and name they stand for all."""
    tensors = ledger.tensors(replace(config, layers=1))
    heads = tensors.index_of("blocks.0.attn.proj.weight")
    first = next(i for i, each in enumerate(tensors) if each.name.startswith("blocks.0.attn.heads."))
    each = (heads - first) // config.heads
    return (*tensors[: first + each], *tensors[heads:])


def _added(terms: Counter[str]) -> str:
    ordered = sorted(terms.items(), key=lambda item: "²" not in item[0])
    return "+".join(term if times == 1 else f"{times}·{term}" for term, times in ordered)
