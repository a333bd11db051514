"""The one model under study: the built one, and the draft that the form holds. Knows no view.

A draft that differs from the built model is a what-if: formulas answer for it at once, weights do not exist. While a
draft can be built, panels that need weights go on showing the built model and say so; while it can't be (it does not
fit in memory), they say why they are empty.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import ModelInfo


class Subject(QObject):
    """Holds the built model's facts and the draft; `changed` after any change.

    `stepped` when the built model's weights are other ones: it is being trained, or another moment of it is looked at.
    Not more often than weights can be looked at anew; `version` counts it.
    """

    changed = Signal()
    stepped = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._built: ModelInfo | None = None
        self._draft: GPTConfig | None = None
        self._obstacle = self._waiting = ""
        self._version = 0

    @property
    def version(self) -> int:
        """How often the weights have become other ones."""
        return self._version

    def step(self) -> None:
        """The built model's weights are other ones."""
        self._version += 1
        self.stepped.emit()

    @property
    def built(self) -> ModelInfo | None:
        """The model that exists, or None before the first one."""
        return self._built

    @property
    def draft(self) -> GPTConfig | None:
        """What the form holds; None while it holds a mistake or nothing."""
        return self._draft

    @property
    def obstacle(self) -> str:
        """One sentence on why the draft can't be built here; empty where it can."""
        return self._obstacle

    @property
    def waiting(self) -> str:
        """What the first model is still waited for; empty where none is on its way."""
        return self._waiting

    @property
    def missing(self) -> str:
        """Why there are no weights to show, and what to press where that helps; empty where there are."""
        if self.weights is not None:
            return ""
        return self._obstacle or self._waiting or "No model yet: press Build."

    @property
    def config(self) -> GPTConfig | None:
        """What formulas are shown for: the draft where there is one, else the built model's config."""
        return self._draft or (self._built.config if self._built else None)

    @property
    def what_if(self) -> bool:
        """Whether `config` is another than the built model's."""
        return self._built is None or self.config != self._built.config

    @property
    def weights(self) -> ModelInfo | None:
        """The built model where its weights may be shown: not while a draft that can't be built is examined."""
        return None if self._obstacle and self.what_if else self._built

    def set_built(self, built: ModelInfo | None) -> None:
        """Another model exists (None: none)."""
        self._built, self._waiting = built, ""
        self.changed.emit()

    def wait(self, what: str) -> None:
        """The first model is on its way, and this is what it is waited for; "" where it is not any more."""
        what = "" if self._built else what
        if what != self._waiting:
            self._waiting = what
            self.changed.emit()

    def set_draft(self, draft: GPTConfig | None, obstacle: str = "") -> None:
        """The form holds something else; `obstacle` says why that can't be built."""
        if (draft, obstacle) != (self._draft, self._obstacle):
            self._draft, self._obstacle = draft, obstacle
            self.changed.emit()
