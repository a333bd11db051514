"""A few lines of code with one of them lit. Knows no language and no file."""

from __future__ import annotations

import html
import textwrap

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.tint import mixed

PAD, INSET = 8, 12
LEAST_LINES = 3  # the strip keeps its height while lines come and go


class CodeStrip(QWidget):
    """Shows lines of code as plain text, trailing comments aligned. Where room is short, comments go first."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: tuple[str, ...] = ()
        self.lit: range = range(0)
        self.where = ""
        self._kind = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.theme.changed.connect(self.updateGeometry)
        theme.theme.changed.connect(self.update)

    def show_lines(self, lines: tuple[str, ...], lit: range, kind: str, where: str) -> None:
        """Show these lines, those in `lit` on a tint of the kind's colour; `where` says where they stand."""
        if (lines, lit, kind, where) != (self.lines, self.lit, self._kind, self.where):
            self.lines, self.lit, self._kind, self.where = lines, lit, kind, where
            self.updateGeometry()
            self.setAccessibleDescription(f"{where}\n" + "\n".join(lines[i] for i in lit))
            self.update()

    def rows(self) -> list[tuple[str, str, bool]]:
        """What is drawn, row by row: code, its comment, lit or not. A lit line that is too long is broken, never cut;
        its neighbours make room for it.
        """
        metrics, room = self._metrics(), self.width() - 2 * INSET
        made: list[tuple[str, str, bool]] = []
        for i, line in enumerate(self.lines):
            code, comment = _split(line)
            lit = i in self.lit
            # One character alone is measured in whole px, a hundred tell how wide it really is.
            columns = 100 * room // max(metrics.horizontalAdvance("x" * 100), 1)
            pieces = _broken(code, max(columns, 16)) if lit else [code]
            made += [(piece, comment if len(pieces) == 1 else "", lit) for piece in pieces]
        while len(made) > LEAST_LINES and not all(lit for *_, lit in made):
            made.pop(0 if not made[0][2] else -1)
        return made

    @staticmethod
    def _metrics() -> QFontMetrics:
        return QFontMetrics(theme.mono_font(0.9))

    def sizeHint(self) -> QSize:
        return QSize(200, max(len(self.rows()), LEAST_LINES) * (self._metrics().height() + 4) + 2 * PAD)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, metrics, rows = theme.tokens(), self._metrics(), self.rows()
        step, room = metrics.height() + 4, self.width() - 2 * INSET
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen if tokens.name != "contrast" else QColor(tokens.line))
        painter.setBrush(QColor(tokens.field))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(theme.mono_font(0.9))
        column = max((metrics.horizontalAdvance(code) for code, *_ in rows), default=0)
        column += 3 * metrics.horizontalAdvance(" ")
        widest = max((metrics.horizontalAdvance(comment) for code, comment, _ in rows if code), default=0)
        for i, (code, comment, lit) in enumerate(rows):
            top = PAD + i * step
            if lit:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(lit_ground(self._kind))
                painter.drawRect(QRectF(PAD - 2, top, self.width() - 2 * PAD + 4, step))
            painter.setPen(QColor(tokens.text if lit else tokens.muted))
            shown = metrics.elidedText(code or comment, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(INSET, top, room, step), Qt.AlignmentFlag.AlignVCenter, shown)
            if code and comment and column + widest <= room:
                rect = QRectF(INSET + column, top, room - column, step)
                painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, comment)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self.lines:
            text = html.escape("\n".join(self.lines))
            QToolTip.showText(event.globalPos(), f"<qt>{html.escape(self.where)}<pre>{text}</pre></qt>", self)
            return True
        return super().event(event)


def lit_ground(kind: str) -> QColor:
    """What a lit line stands on: its kind's colour, so faint that text can be read on it."""
    tokens = theme.tokens()
    return mixed(tokens.kinds[kind], tokens.field, 0.36 if tokens.dark else 0.28)


def _split(line: str) -> tuple[str, str]:
    """The code of a line and its trailing comment, which begins with two spaces and a #."""
    code, sign, comment = line.partition("  # ")
    return (code.rstrip(), f"# {comment}") if sign else (line.rstrip(), "")


def _broken(code: str, columns: int) -> list[str]:
    """The code in pieces of at most so many characters, broken between words, later pieces indented."""
    pieces = textwrap.wrap(code, columns, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return pieces or [code]
