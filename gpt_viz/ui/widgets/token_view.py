"""A text as a model writes it, token by token: each can be seen, pointed at and chosen. Knows no model.

Only the rows in sight are painted, and what is added at the end touches the last row alone, so that a text of 50,000
tokens costs no more than a page.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.token_page import TokenPage

PAD = 12  # px around the text
ROUND = 3.0  # px, the corners of a marked token
_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)


class TokenView(QAbstractScrollArea):
    """The text so far. `chosen` carries the place of the token that the user points at, -1 where there is none.

    `tip` gives the tool tip of a token, as plain text.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tip: Callable[[int], str] = lambda token: ""
        self.page = TokenPage()
        self._given = ""
        self._chosen: int | None = None
        self._marked: int | None = None
        self._hovered: int | None = None
        self._ending = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        theme.theme.changed.connect(self._measure)

    # -- what it holds --

    def text(self) -> str:
        """The real characters, whatever glyphs are drawn; between ids a space."""
        gap = self.page.gap
        sampled = gap.join(self.page.pieces[self.page.given :])
        joint = gap if sampled and self._given and not self._given[-1].isspace() else ""
        return self._given + joint + sampled

    def __len__(self) -> int:
        return len(self.page.pieces)

    def start(self, text: str, pieces: Sequence[str], gap: str = "") -> None:
        """Show a given text, which is made of these tokens, with `gap` between them."""
        self.truncate(0)
        self.page.set_gap(gap)
        self.page.given, self._given = len(pieces), text
        self.append(pieces)
        self.follow()

    def append(self, pieces: Sequence[str]) -> None:
        """Add sampled tokens. The view follows the end, unless it was scrolled up."""
        following = self.following
        self.page.append(pieces)
        self._fit(following)

    def truncate(self, count: int) -> None:
        """Keep the first `count` tokens."""
        self.page.truncate(count)
        self._hovered = None
        self._fit(following=False)

    def set_chosen(self, token: int | None) -> None:
        """Highlight the token whose distribution is shown."""
        if token != self._chosen:
            self._chosen = token
            self.viewport().update()

    def set_marked(self, token: int | None) -> None:
        """Outline the token that is selected in the other panels."""
        if token != self._marked:
            self._marked = token
            self.viewport().update()

    def set_ending(self, words: str) -> None:
        """Write this below the last row, in the colour of a mistake: the text ends before its end."""
        if words != self._ending:
            self._ending = words
            self._fit(self.following)

    # -- where things stand --

    @property
    def following(self) -> bool:
        """Whether the end of the text is in sight, and will be when there is more."""
        return self.verticalScrollBar().value() >= self.verticalScrollBar().maximum()

    def follow(self) -> None:
        """Scroll to the end."""
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def token_at(self, point: QPointF | QPoint) -> int | None:
        """The token under a point of the viewport."""
        return self.page.token_at(point.x() - PAD, point.y() - PAD + self._scrolled)

    def token_rect(self, token: int) -> QRectF:
        """Where a token is drawn, in pixels of the viewport."""
        return self.page.rect(token).translated(PAD, PAD - self._scrolled)

    def reveal(self, token: int) -> None:
        """Scroll as far as needed to see the token."""
        bar, row = self.verticalScrollBar(), self.page.rows.row_of(token)
        if row < bar.value():
            bar.setValue(row)
        elif row >= bar.value() + self._page_rows:
            bar.setValue(row - self._page_rows + 1)

    @property
    def _page_rows(self) -> int:
        """How many whole rows can be seen; the text is scrolled by rows, so that none is ever cut."""
        return max((self.viewport().height() - 2 * PAD) // self.page.pitch, 1)

    @property
    def _scrolled(self) -> int:
        return self.verticalScrollBar().value() * self.page.pitch

    def sizeHint(self) -> QSize:
        return QSize(round(40 * self.page.cell) + 2 * PAD, 3 * self.page.pitch + 2 * PAD)

    def minimumSizeHint(self) -> QSize:
        return QSize(round(14 * self.page.cell) + 2 * PAD, 2 * self.page.pitch + 2 * PAD)

    def _measure(self) -> None:
        self.page.measure()
        self._wrap()

    def _wrap(self) -> None:
        following = self.following
        # The scroll bar's room is kept free while it is not there, so that its coming does not move the text; and a
        # column for a line break that hangs.
        bar = self.verticalScrollBar().sizeHint().width()
        self.page.wrap(self.width() - bar - 2 * PAD - self.page.cell)
        self._fit(following)

    def _fit(self, following: bool) -> None:
        rows = self.page.rows.rows + (1 if self._ending else 0)
        self.verticalScrollBar().setPageStep(self._page_rows)
        self.verticalScrollBar().setRange(0, max(rows - self._page_rows, 0))
        if following:
            self.follow()
        self.viewport().update()

    # -- painting --

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1)
        # Where field and panel are of one colour, only an outline tells them apart.
        edge = colours.line if colours.field == colours.card else colours.field
        painter.setPen(QPen(QColor(colours.accent_text), 2) if self.hasFocus() else QPen(QColor(edge)))
        painter.setBrush(QColor(colours.field))
        painter.drawRoundedRect(whole, 6, 6)
        painter.setClipRect(whole.adjusted(1, 1, -1, -1))
        painter.translate(PAD, PAD - self._scrolled)
        painter.setFont(self.page.font)
        rows, first = self.page.rows.rows, self.verticalScrollBar().value()
        last = min(first + self._page_rows, rows)
        for row in range(first, last):
            self.page.paint_row(painter, row)
        if first < last:
            seen = range(self.page.rows.span(first)[0], self.page.rows.span(last - 1)[1])
            self._paint_marks(painter, seen, colours)
        if self._ending and first + self._page_rows > rows:
            self._paint_ending(painter, colours)

    def _paint_marks(self, painter: QPainter, seen: range, colours: theme.Tokens) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for token, colour in ((self._hovered, colours.muted), (self._marked, colours.query)):
            if token is not None and token in seen and token != self._chosen:
                painter.setPen(QPen(QColor(colour), 1.5))
                painter.drawRoundedRect(self.page.rect(token).adjusted(-1, 1, 1, -1), ROUND, ROUND)
        if self._chosen is not None and self._chosen in seen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(self.page.rect(self._chosen).adjusted(-1, 1, 1, -1), ROUND, ROUND)
            painter.setPen(QColor(colours.on_accent))
            self.page.paint_token(painter, self._chosen)

    def _paint_ending(self, painter: QPainter, colours: theme.Tokens) -> None:
        row = QRectF(0, self.page.height, self.viewport().width() - 2 * PAD, self.page.pitch)
        painter.setFont(theme.ui_font(0.9))
        painter.setPen(QColor(colours.bad))
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, self._ending)

    # -- mouse and keys --

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._wrap()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            token = self.token_at(event.pos())
            words = self.tip(token) if token is not None else ""
            # A tool tip guesses at HTML; escaped inside <qt> it shows what is meant.
            QToolTip.showText(event.globalPos(), f"<qt>{html.escape(words)}</qt>" if words else "", self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(None)
        return super().viewportEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.token_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            token = self.token_at(event.position())
            self.chosen.emit(-1 if token is None else token)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()  # a press was taken, so its release is, too

    def _hover(self, token: int | None) -> None:
        if token != self._hovered:
            self._hovered = token
            pointing = Qt.CursorShape.ArrowCursor if token is None else Qt.CursorShape.PointingHandCursor
            self.viewport().setCursor(pointing)
            self.viewport().update()

    def event(self, event: QEvent) -> bool:
        # The window's single-key shortcuts give way to the keys that move along the tokens here.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._uses(event):
            event.accept()
            return True
        return super().event(event)

    def _uses(self, event: QKeyEvent) -> bool:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return (event.key() in _KEYS and plain) or event.matches(QKeySequence.StandardKey.Copy)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._uses(event):
            event.ignore()
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.text())
        elif len(self):
            self._move(event.key())

    def _move(self, key: int) -> None:
        last = len(self) - 1
        at = last + 1 if self._chosen is None else min(self._chosen, last)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            at = self.page.beside(min(at, last), -1 if key == Qt.Key.Key_Up else 1)
        else:
            at = {Qt.Key.Key_Left: at - 1, Qt.Key.Key_Right: at + 1, Qt.Key.Key_Home: 0}.get(Qt.Key(key), last)
        at = min(max(at, 0), last)
        self.reveal(at)
        self.chosen.emit(at)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.viewport().update()
