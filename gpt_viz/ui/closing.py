"""What the window waits for when it is closed: files that are being written, and training that is in none yet.

Knows no file and no command. A second try to close waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from gpt_viz.ui.model.checkpoints import Checkpoints
from gpt_viz.ui.training.keeping import Keeping
from gpt_viz.ui.training.learner import Learner

LIMIT_MS = 5_000  # so long files are waited for at most
WAITING, ASKING = "waiting", "asking"


class Closing(QObject):
    """Ends with `close`, or the user stays. `say` shows what is waited for."""

    def __init__(
        self,
        keeping: Keeping,
        checkpoints: Checkpoints,
        learner: Learner,
        say: Callable[[str], None],
        close: Callable[[], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._keeping, self._checkpoints, self._learner = keeping, checkpoints, learner
        self._say, self._close = say, close
        self._state = ""
        self._resumes = False
        checkpoints.ended.connect(self._written)

    def waits(self, *, keeps: bool) -> bool:
        """Whether the window has to stay for now; where it `keeps`, training is written for the next start."""
        unkept = self._keeping.unkept
        if self._state or not (unkept or self._checkpoints.saving):
            return False
        self._state, self._resumes = WAITING, self._learner.running
        QTimer.singleShot(LIMIT_MS, self, self._end)
        if unkept and keeps and self._keeping.possible:
            self._say("Keeping the training for the next start …")
            self._learner.pause()  # what is learned from now on would be in no file again
            self._keeping.keep(self._written)
        else:
            self._say("Saving …" if self._checkpoints.saving else "")
            self._written()
        return True

    def _written(self) -> None:
        if not self._checkpoints.saving and not self._keeping.writing:
            self._end()

    def _end(self) -> None:
        """All is written, or it can't be, or takes too long: training that is still in no file is asked about."""
        if self._state != WAITING:
            return
        if self._keeping.unkept:
            self._state = ASKING
            self._checkpoints.ask_to_leave(self._learner.unsaved, self._close, self._stay)
        else:
            self._close()

    def _stay(self) -> None:
        self._state = ""
        self._say("")
        if self._resumes:
            self._learner.resume()
