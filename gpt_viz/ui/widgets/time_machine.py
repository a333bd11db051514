"""A slider over the moments of something that changes, and a button that plays them as a film. Knows not what it is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.manners import named, tip
from gpt_viz.ui.widgets.stop_slider import StopSlider
from gpt_viz.ui.widgets.transport import GlyphButton

FRAME_MS = 250  # four moments a second: each can be seen


class TimeMachine(QWidget):
    """`chosen` carries the moment that is wanted. The film goes on to the next one only once the last is shown."""

    chosen = Signal(int)

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._moments: tuple[int, ...] = (0,)
        self._shown = 0
        self.play = GlyphButton("play", f"{prefix}.play", "Play the training as a film")
        self.slider = named(StopSlider(), f"{prefix}.slider", "Moment of the training")
        self.where = named(QLabel(textFormat=Qt.TextFormat.PlainText), f"{prefix}.where", "Moment that is shown")
        self.where.setProperty("muted", "true")
        self.where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.GRID)
        row.addWidget(self.play)
        row.addWidget(self.slider, 1)
        row.addWidget(self.where)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._film = QTimer(self, interval=FRAME_MS)
        self._film.timeout.connect(self._next)
        self._asked: int | None = None
        self.slider.chosen.connect(self._slide)
        self.play.clicked.connect(self.toggle)
        theme.theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def playing(self) -> bool:
        """Whether the film runs."""
        return self._film.isActive()

    def show_moments(self, moments: Sequence[int], shown: int, words: str, note: str) -> None:
        """The moments that can be shown, rising, and the one that is; `words` say it, `note` is the tool tip."""
        self._moments, self._shown = tuple(moments), shown
        if self._asked == shown:
            self._asked = None
        self.slider.show_value(shown, self._moments)
        several = len(self._moments) > 1
        self.slider.setEnabled(several)
        self.play.setEnabled(several)
        self.where.setText(words)
        self.setToolTip(tip(note))

    def toggle(self) -> None:
        """Play from here, or from the beginning where one stands at the end; or pause."""
        if self.playing:
            self.rest()
        elif len(self._moments) > 1:
            if self._shown >= self._moments[-1]:
                self._ask(self._moments[0])
            self._film.start()
            self._turn()

    def rest(self) -> None:
        """Stop the film where it is."""
        self._film.stop()
        self._asked = None
        self._turn()

    def _next(self) -> None:
        if self._asked is not None and self._asked in self._moments:
            return
        later = [moment for moment in self._moments if moment > self._shown]
        if not later:
            self.rest()
        else:
            self._ask(later[0])
            if len(later) == 1:
                self.rest()

    def _ask(self, moment: int) -> None:
        self._asked = moment
        self.chosen.emit(moment)

    def _slide(self, moment: int) -> None:
        self.rest()
        self.chosen.emit(moment)

    def _turn(self) -> None:
        self.play.turn("pause" if self.playing else "play", "Pause" if self.playing else "Play the training as a film")

    def _restyle(self) -> None:
        self.where.setFont(theme.ui_font(0.9))
        self.where.setMinimumWidth(QFontMetrics(self.where.font()).horizontalAdvance("step 88,888"))
