"""What there is to know of the text under study: where it is from, how it was read, its alphabet. Opens nothing itself.

Pops up under its button; a click beside it or Esc closes it.
"""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpt_viz.protocol import ModelInfo, TextOpened
from gpt_viz.ui.text import text_words as words
from gpt_viz.ui.theme import mono_font, theme, ui_font
from gpt_viz.ui.widgets.alphabet_view import AlphabetView
from gpt_viz.ui.widgets.manners import named, set_property

WIDTH, MARGIN = 560, 16
ROWS = 6  # of the alphabet, before it scrolls
BEGINNING = 240  # characters that are shown of the text
LINES = 4


class TextCard(QFrame):
    """`asked` carries what is to be done: "text.build", "open", "fetch" or "built-in"; `read_as` an encoding."""

    asked = Signal(str)
    read_as = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        named(self, "corpus", "The text and its alphabet")
        self._text: TextOpened | None = None
        self._model: ModelInfo | None = None
        self._name, self._place, self._facts = self._label("name"), self._label("place"), self._label("facts")
        self._beginning = self._label("beginning")
        self._beginning.setWordWrap(False)
        self._alphabet = named(AlphabetView(), "corpus.alphabet", "Alphabet")
        self._alphabet.pointed.connect(self._point)
        self._count, self._detail = self._label("count"), self._label("detail")
        self._encoding = named(QComboBox(), "corpus.encoding", "Encoding")
        self._encoding.activated.connect(lambda place: self.read_as.emit(self._encoding.itemData(place)))
        self._encoding_label = self._label("encoding_label")
        self._encoding_label.setText("read as")
        self._buttons = {
            what: self._button(what, title)
            for what, title in (
                ("text.build", "Build a model for it"),
                ("open", "Open a text …"),
                ("fetch", "Get Tiny Shakespeare"),
                ("built-in", "Built-in passage"),
            )
        }
        self._lay_out()
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_text(self, text: TextOpened, model: ModelInfo | None) -> None:
        """Say what is known of this text, and what the model makes of it."""
        self._text, self._model = text, model
        self._name.setText(text.name)
        self._place.setText(text.path)
        self._place.setVisible(bool(text.path))
        self._facts.setText(" · ".join([words.counted(text), words.encoded(text), *words.changes(text)]))
        lines = text.excerpt[:BEGINNING].split("\n")
        whole = [line + "\n" for line in lines[:-1]] + lines[-1:]
        self._beginning.setText("\n".join(map(words.shown, whole[:LINES])))
        lacking = words.lacking(text, model) if model is not None else ()
        self._alphabet.show_alphabet(text.alphabet, text.counts, frozenset(lacking))
        self._alphabet.setFixedHeight(self._alphabet.height_for(self._inner_width(), ROWS))
        self._count.setText(self._said(len(lacking)))
        self._point(-1)
        self._offer_encodings(text)
        own = model is None or model.alphabet != text.alphabet
        self._buttons["text.build"].setVisible(own and (model is None or model.pieces is None or bool(lacking)))
        self._buttons["built-in"].setVisible(bool(text.path))

    def pop_up(self, below: QWidget) -> None:
        """Show it under a button, within the window."""
        window = below.window()
        width = min(WIDTH, window.width() - 32)
        self.setFixedWidth(width)
        if self._text is not None:
            self.show_text(self._text, self._model)
        self.adjustSize()
        corner = below.mapTo(window, QPoint(0, below.height() + 6))
        corner.setX(max(min(corner.x(), window.width() - width - 16), 16))
        self.move(window.mapToGlobal(corner))
        self.show()
        self._alphabet.setFocus()

    # -- what it says --

    def _said(self, lacking: int) -> str:
        assert self._text is not None
        count = len(self._text.alphabet)
        said = f"{count:,} character{'' if count == 1 else 's'}, each a Unicode code point"
        if self._model is None or self._model.alphabet is None:
            return f"{said}."
        if lacking:
            return f"{said}; {lacking:,} of them {'is' if lacking == 1 else 'are'} not in the model's alphabet."
        same = self._model.alphabet == self._text.alphabet
        return f"{said}; {'they are' if same else 'all are in'} the model's alphabet."

    def _point(self, place: int) -> None:
        text = self._text
        if text is None or not 0 <= place < len(text.alphabet):
            self._detail.setText("Point at a character to see its name and how often it occurs.")
            return
        character = text.alphabet[place]
        parts = [f"U+{ord(character):04X}", unicodedata.name(character, "").lower() or _unnamed(character)]
        if text.counts:
            count = text.counts[place]
            times = "once" if count == 1 else f"{count:,} times"
            parts.append(f"{times}, {100 * count / text.characters:.2g} %")
        self._detail.setText(" · ".join(parts))

    def _offer_encodings(self, text: TextOpened) -> None:
        self._encoding.clear()
        names = list(dict.fromkeys([text.encoding, *words.ENCODINGS]))
        for name in names:
            self._encoding.addItem(words.encoding_title(name), name)
        for widget in (self._encoding, self._encoding_label):
            widget.setVisible(bool(text.path))

    # -- how it looks --

    def _lay_out(self) -> None:
        read_as = QHBoxLayout()
        read_as.setSpacing(8)
        read_as.addWidget(self._encoding_label)
        read_as.addWidget(self._encoding)
        read_as.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in self._buttons.values():
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 12, MARGIN, 16)
        column.setSpacing(8)
        column.addWidget(self._name)
        column.addWidget(self._place)
        column.addWidget(self._facts)
        column.addWidget(self._beginning)
        column.addWidget(self._count)
        column.addWidget(self._alphabet)
        column.addWidget(self._detail)
        column.addLayout(read_as)
        column.addLayout(buttons)

    def _label(self, name: str) -> QLabel:
        label = named(QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText), f"corpus.{name}", name)
        if name != "encoding_label":
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_property(label, "muted", name in ("place", "facts", "detail", "encoding_label"))
        return label

    def _button(self, what: str, title: str) -> QPushButton:
        button = named(QPushButton(title), f"corpus.{what}", title)
        set_property(button, "accent", what == "text.build")
        button.clicked.connect(self.hide)
        button.clicked.connect(lambda: self.asked.emit(what))
        return button

    def _inner_width(self) -> int:
        return self.width() - 2 * MARGIN

    def _restyle(self) -> None:
        self._name.setFont(ui_font(1.15, bold=True))
        self._beginning.setFont(mono_font())
        height = LINES * QFontMetrics(mono_font()).lineSpacing()
        self._beginning.setFixedHeight(height)


def _unnamed(character: str) -> str:
    """What a character without a name in Unicode is called."""
    return {"\n": "newline", "\t": "tab", "\r": "carriage return", "\x1b": "escape"}.get(character, "control character")
