"""A few lines of code with one of them lit. Knows no language and no file."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.tint import mixed

PAD = 8
LEAST_LINES = 3  # the strip keeps its height while lines come and go


class CodeStrip(QWidget):
    """Shows lines of code as plain text, their trailing comments aligned; comments go first where room is short."""

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

    def _line_height(self) -> int:
        return QFontMetrics(theme.mono_font(0.9)).height() + 4

    def sizeHint(self) -> QSize:
        return QSize(200, max(len(self.lines), LEAST_LINES) * self._line_height() + 2 * PAD)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, font = theme.tokens(), theme.mono_font(0.9)
        metrics, step = QFontMetrics(font), self._line_height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen if tokens.name != "contrast" else QColor(tokens.line))
        painter.setBrush(QColor(tokens.field))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(font)
        pairs = [_split(line) for line in self.lines]
        inset, room = PAD + 4, self.width() - 2 * (PAD + 4)
        column = max((metrics.horizontalAdvance(code) for code, _ in pairs), default=0)
        column += 3 * metrics.horizontalAdvance(" ")
        widest = max((metrics.horizontalAdvance(comment) for code, comment in pairs if code), default=0)
        for i, (code, comment) in enumerate(pairs):
            top = PAD + i * step
            if i in self.lit:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(lit_ground(self._kind))
                painter.drawRoundedRect(QRectF(PAD - 2, top, self.width() - 2 * PAD + 4, step), 3, 3)
            painter.setPen(QColor(tokens.text if i in self.lit else tokens.muted))
            shown = metrics.elidedText(code or comment, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(inset, top, room, step), Qt.AlignmentFlag.AlignVCenter, shown)
            if code and comment and column + widest <= room:
                rect = QRectF(inset + column, top, room - column, step)
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
