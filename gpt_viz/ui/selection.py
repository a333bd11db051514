"""The one cursor that all panels share: step, layer, head, query, key, parameter. Knows no view.

`Selection` and `moved` are pure; `SelectionModel` is the one instance that panels listen to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from gpt_viz.config import GPTConfig

_BLOCK = re.compile(r"^blocks\.(\d+)")
_HEAD = re.compile(r"^blocks\.(\d+)\.attn\.heads\.(\d+)")


@dataclass(frozen=True, slots=True)
class Selection:
    """Where everyone looks. `step` is a place's name; `query` and `key` are positions in the tokens of the pass.

    `parameter` is a tensor's or a module's name, such as `blocks.0.attn.heads.1` for the matrices of one head.
    """

    step: str = ""
    layer: int = 0
    head: int = 0
    query: int | None = None
    key: int | None = None
    parameter: str = ""


def moved(old: Selection, **changes: Any) -> Selection:
    """The selection after a choice, with what follows from it: a step implies its layer, head and matrices; a head
    implies its attention's step and its matrices.

    >>> moved(Selection(), layer=2, head=1).step
    'blocks.2.attn.heads.1.A'
    >>> moved(Selection(), step="blocks.3.attn.heads.0.q").layer
    3
    """
    if "step" in changes:
        block, head = _BLOCK.match(changes["step"]), _HEAD.match(changes["step"])
        if block:
            changes.setdefault("layer", int(block[1]))
        if head:
            changes.setdefault("head", int(head[2]))
        changes.setdefault("parameter", head[0] if head else "")
    elif "layer" in changes or "head" in changes:
        place = f"blocks.{changes.get('layer', old.layer)}.attn.heads.{changes.get('head', old.head)}"
        changes.setdefault("step", f"{place}.A")
        changes.setdefault("parameter", place)
    return replace(old, **changes)


def resolved(selection: Selection, config: GPTConfig, tokens: int) -> Selection:
    """The selection made to fit a model and a text: layer and head exist, query and key lie within the tokens."""
    layer, head = min(selection.layer, config.layers - 1), min(selection.head, config.heads - 1)
    if config.layers == 0:
        layer = head = 0
    same = (layer, head) == (selection.layer, selection.head)
    fits = same and (config.layers > 0 or not selection.step.startswith("blocks"))
    last = tokens - 1
    return Selection(
        step=selection.step if fits else (f"blocks.{layer}.attn.heads.{head}.A" if config.layers else "embedded"),
        layer=layer,
        head=head,
        query=None if selection.query is None or last < 0 else min(selection.query, last),
        key=None if selection.key is None or last < 0 else min(selection.key, last),
        parameter=selection.parameter if fits else "",
    )


class SelectionModel(QObject):
    """Holds the one Selection; `changed` is emitted with it when it is another than before."""

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._value = Selection()

    @property
    def value(self) -> Selection:
        """Where everyone looks now."""
        return self._value

    def choose(self, **changes: Any) -> None:
        """Move the cursor; what follows from the choice moves with it (see `moved`)."""
        self._set(moved(self._value, **changes))

    def fit(self, config: GPTConfig, tokens: int) -> None:
        """Make the cursor fit another model or text (see `resolved`)."""
        self._set(resolved(self._value, config, tokens))

    def _set(self, value: Selection) -> None:
        if value != self._value:
            self._value = value
            self.changed.emit(value)
