"""The line of cells shows stand-ins and means the real characters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.one_line import LONGEST
from gpt_viz.ui.widgets.prompt import PromptEdit
from gpt_viz.ui.widgets.stand_ins import held, real, starts

ODD = "a\tb\r\n<b>&x</b>\n\n ↵ ␣ \u00a0 \u2028\u2029\x00\x0b é e\u0301 \u200d 字 😀 "
ODD += "\U000f000a \ufdd0\ufdd2\U000f0041 \ufffc"


@pytest.fixture
def prompt(qtbot):
    window, widget = QWidget(), PromptEdit()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addWidget(widget)
    window.resize(600, 100)
    window.show()
    yield widget
    theme.use("light", 10)


def pasted(text):
    data = QMimeData()
    data.setText(text)
    return data


def centre(prompt, position):
    return prompt._cell(prompt._line(), position).center().toPoint()


def select(prompt, start, end):
    cursor = prompt.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    prompt.setTextCursor(cursor)


@given(st.text(st.characters(codec="utf-8")))
def test_every_text_is_held_in_one_line_and_comes_back_exactly(text):
    raw = held(text)
    assert real(raw) == text
    assert not set(raw) & set("\n\r\u2028\u2029")


@given(st.text(st.sampled_from("a\n\u00a0\ufdd2\U000f0041😀\u200d")))
def test_positions_are_those_of_the_real_characters(text):
    raw = held(text)
    found = starts(raw)
    units = raw.encode("utf-16-le", "surrogatepass")
    if found is None:
        found = list(range(len(text) + 1))
    assert len(found) == len(text) + 1
    pieces = [units[2 * a : 2 * b].decode("utf-16-le") for a, b in pairwise(found)]
    assert [real(piece) for piece in pieces] == list(text)


@pytest.mark.parametrize("text", ["", "First Citizen:\nBefore we", ODD, "\n", "\n\n\n", " ", "↵", "a" * 1000])
def test_the_text_set_is_the_text_read(prompt, text):
    prompt.setText(text)
    assert prompt.text() == text
    assert prompt.toPlainText() == text
    assert prompt.blockCount() == 1


def test_typing_writes_real_characters_and_return_a_newline(prompt):
    QTest.keyClicks(prompt, "To be")
    QTest.keyClick(prompt, Qt.Key.Key_Return)
    QTest.keyClick(prompt, Qt.Key.Key_Enter)
    QTest.keyClick(prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(prompt, "or")
    assert prompt.text() == "To be\n\n\nor"
    QTest.keyClick(prompt, Qt.Key.Key_Backspace)
    QTest.keyClick(prompt, Qt.Key.Key_Backspace)
    QTest.keyClick(prompt, Qt.Key.Key_Backspace)
    assert prompt.text() == "To be\n\n"


def test_a_typed_arrow_is_not_a_newline(prompt):
    prompt.setText("↵\n↵")
    QTest.keyClick(prompt, Qt.Key.Key_End)
    prompt.insertPlainText("↵")
    assert prompt.text() == "↵\n↵↵"


def test_what_is_pasted_has_newlines_whatever_its_line_ends(prompt):
    prompt.setText("xy")
    select(prompt, 1, 1)
    prompt.insertFromMimeData(pasted("one\r\ntwo\rthree\n\tfour"))
    assert prompt.text() == "xone\ntwo\nthree\n\tfoury"


def test_what_is_copied_has_newlines_and_pastes_as_it_was(prompt):
    prompt.setText("one\n\ttwo 😀")
    prompt.selectAll()
    prompt.copy()
    assert QApplication.clipboard().text() == "one\n\ttwo 😀"
    prompt.moveCursor(QTextCursor.MoveOperation.End)
    prompt.paste()
    assert prompt.text() == "one\n\ttwo 😀" * 2
    select(prompt, 0, 4)
    prompt.cut()
    assert QApplication.clipboard().text() == "one\n"
    assert prompt.text() == "\ttwo 😀one\n\ttwo 😀"


def test_undo_and_redo_go_through_real_texts(prompt):
    prompt.setText("one\n")
    prompt.moveCursor(QTextCursor.MoveOperation.End)
    prompt.insertFromMimeData(pasted("two\nthree"))
    prompt.undo()
    assert prompt.text() == "one\n"
    prompt.redo()
    assert prompt.text() == "one\ntwo\nthree"
    prompt.setText("another")
    prompt.undo()
    assert prompt.text() == "one\ntwo\nthree"


def test_edited_carries_the_text_once_and_only_when_it_is_another(prompt):
    seen = []
    prompt.edited.connect(seen.append)
    prompt.setText("a\nb")
    prompt.setText("a\nb")
    prompt.mark(0, 1)
    prompt.show_refusal([0], "no")
    prompt.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(prompt, "c")
    prompt.undo()
    assert seen == ["a\nb", "a\nbc", "a\nb"]


def test_an_input_method_commits_real_characters(prompt):
    QApplication.sendEvent(prompt, QInputMethodEvent("に", []))
    assert prompt.text() == ""
    for text in ("日本", "a\nb"):
        event = QInputMethodEvent("", [])
        event.setCommitString(text)
        QApplication.sendEvent(prompt, event)
    assert prompt.text() == "日本a\nb"
    assert prompt.blockCount() == 1


def test_tab_moves_on_and_the_windows_keys_are_left_to_the_window(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    prompt, after = PromptEdit(), QLineEdit()
    column = QVBoxLayout(window)
    column.addWidget(prompt)
    column.addWidget(after)
    reached = []
    window.keyPressEvent = lambda event: reached.append(event.key())
    window.show()
    prompt.setText("a")
    prompt.setFocus()
    for key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Up, Qt.Key.Key_Down):
        QTest.keyClick(prompt, key)
    assert reached == [Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Up, Qt.Key.Key_Down]
    QTest.keyClick(prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert reached[-1] == Qt.Key.Key_Return
    QTest.keyClick(prompt, Qt.Key.Key_Tab)
    assert prompt.text() == "a"
    assert window.focusWidget() is after


@pytest.mark.parametrize("text", ["First\nCitizen", "字😀\n\u200d\U000f0041x"])
def test_a_click_on_a_character_tells_its_position(prompt, text):
    prompt.setText(text)
    seen = []
    prompt.clicked.connect(seen.append)
    for position in range(len(text)):
        QTest.mouseClick(prompt.viewport(), Qt.MouseButton.LeftButton, pos=centre(prompt, position))
    QTest.mouseClick(prompt.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(prompt.viewport().width() - 5, 10))
    assert seen == list(range(len(text)))


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_the_marks_are_seen_in_the_themes_colours_and_the_unknown_underlined(prompt, name):
    theme.use(name)
    prompt.clearFocus()
    prompt.setText("xxx yyy")
    prompt.mark(3, 5)
    prompt.show_refusal([1, 99], "'x' at 1 is not in the vocabulary")
    image = prompt.grab().toImage()
    query, key, unknown = (prompt._cell(prompt._line(), position) for position in (3, 5, 1))
    assert image.pixelColor(query.center().toPoint()) == QColor(tokens().query)
    assert image.pixelColor(round(key.left()), round(key.center().y())) == QColor(tokens().key)
    below = [image.pixelColor(round(unknown.center().x()), round(unknown.bottom()) + dy) for dy in range(-1, 4)]
    assert QColor(tokens().bad) in below
    assert prompt.accessibleDescription() == "'x' at 1 is not in the vocabulary"
    prompt.mark(None, None)
    prompt.show_refusal([], "")
    image = prompt.grab().toImage()
    assert QColor(tokens().query) != image.pixelColor(query.center().toPoint())
    assert prompt.toolTip() == ""


def test_e07_a_message_and_a_tip_show_markup_as_text(prompt):
    prompt.setText("<b>&\n")
    prompt.show_refusal([0], "'<b>' & co")
    assert prompt.toolTip() == "<qt>&#x27;&lt;b&gt;&#x27; &amp; co</qt>"
    assert "position 0: &lt;" in prompt._tip(0)
    assert "↵  U+000A" in prompt._tip(4)


def test_a_mark_outside_the_view_is_brought_into_it(prompt):
    prompt.setText("abc " * 200)
    prompt.clearFocus()
    prompt.mark(700, None)
    cell = prompt._cell(prompt._line(), 700)
    assert 0 <= cell.left() < cell.right() <= prompt.viewport().width()
    prompt.mark(0, None)
    assert prompt.horizontalScrollBar().value() == 0


def test_a_dropped_file_is_left_to_the_window(prompt, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.txt"))])
    assert not prompt.canInsertFromMimeData(data)
    assert prompt.canInsertFromMimeData(pasted("x"))


def test_a_hundred_thousand_characters_are_kept_and_the_next_is_said_to_be_left_out(prompt):
    out = []
    prompt.shortened.connect(out.append)
    text = "The quick brown fox\n" * (LONGEST // 20)
    prompt.insertFromMimeData(pasted(text))
    prompt.grab()
    assert prompt.text() == text
    assert out == []
    prompt.insertFromMimeData(pasted("more"))
    QTest.keyClicks(prompt, "m")
    assert prompt.text() == text
    assert out == [4, 1]
    select(prompt, 0, 10)
    prompt.insertFromMimeData(pasted("twelve chars"))
    assert len(prompt.text()) == LONGEST
    assert out == [4, 1, 2]


def test_its_height_follows_the_font(prompt):
    low = prompt.height()
    theme.use("light", 20)
    assert prompt.height() > low
    assert prompt.minimumSizeHint().width() <= 96
