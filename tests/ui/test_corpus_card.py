"""The card on the text under study, and its alphabet as a page of cells."""

from itertools import pairwise

import pytest
from conftest import SMALL
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton
from text_engine import made_by

from gpt_viz import resources
from gpt_viz.protocol import ModelInfo, TextOpened
from gpt_viz.ui.study import built_in
from gpt_viz.ui.text import text_words as words
from gpt_viz.ui.widgets.alphabet_view import AlphabetView

FAMILY = "e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44b\U0001f3fd\n"


@pytest.fixture
def window(open_window):
    return open_window(*SMALL, make_engine=made_by())


@pytest.fixture
def card(window, qtbot, tmp_path):
    """The card on a text of marks and emoji, which a model was built for."""
    path = tmp_path / "family.txt"
    path.write_bytes((FAMILY * 40).replace("\n", "\r\n").encode())
    window.texts.open(str(path))
    qtbot.waitUntil(lambda: window.texts.offer.text() != "")
    window.findChild(QPushButton, "offer.answer.0").click()
    qtbot.waitUntil(lambda: window.study.corpus.name == "family.txt")
    window.show_text()
    yield window.text_card
    window.text_card.hide()


def text(card, name):
    return card.findChild(QLabel, f"corpus.{name}").text()


def opened(alphabet, **options):
    values = {"characters": len(alphabet), "excerpt": "", "encoding": "utf-8", "counts": (1,) * len(alphabet)}
    return TextOpened(job=0, path="x.txt", name="x.txt", alphabet=tuple(alphabet), **{**values, **options})


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_b12_the_card_counts_code_points_and_says_so(card):
    assert text(card, "name") == "family.txt"
    assert text(card, "facts") == "600 characters, 12 different · UTF-8 · 40 CRLF converted"
    assert text(card, "count") == "12 characters, each a Unicode code point; they are the model's alphabet."
    assert text(card, "beginning").splitlines()[0].startswith("eU+0301 \U0001f468U+200D\U0001f469")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_b12_a_lone_mark_is_named_with_its_number_and_its_share(card):
    view = card.findChild(AlphabetView)
    place = card._text.alphabet.index("\u0301")
    view.pointed.emit(place)
    assert text(card, "detail") == "U+0301 · combining acute accent · 40 times, 6.7 %"
    view.pointed.emit(card._text.alphabet.index("\n"))
    assert text(card, "detail") == "U+000A · newline · 40 times, 6.7 %"
    view.pointed.emit(-1)
    assert text(card, "detail").startswith("Point at a character")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_what_the_model_lacks_is_outlined_and_a_model_is_offered(window):
    window.show_text()
    card = window.text_card
    assert text(card, "count") == "65 characters, each a Unicode code point; they are the model's alphabet."
    assert not card.findChild(QPushButton, "corpus.text.build").isVisible()
    card.show_text(opened("aéü"), window.subject.built)
    assert text(card, "count") == (
        "3 characters, each a Unicode code point; 2 of them are not in the model's alphabet."
    )
    assert not card.findChild(QPushButton, "corpus.text.build").isHidden()
    card.hide()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_cards_buttons_do_what_they_say(card, window, qtbot):
    card.findChild(QPushButton, "corpus.built-in").click()
    assert not card.isVisible()
    qtbot.waitUntil(lambda: window.texts.offer.text() != "")  # the model of a dozen marks can't read it
    window.findChild(QPushButton, "offer.answer.0").click()
    qtbot.waitUntil(lambda: window.study.corpus.path == "")
    assert window.subject.built.alphabet == resources.alphabet()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_text_can_be_read_again_with_another_encoding(card, window, qtbot):
    choice = card.findChild(QComboBox, "corpus.encoding")
    assert choice.currentText() == "UTF-8"
    choice.activated.emit(choice.findText("Latin-1"))
    qtbot.waitUntil(lambda: "can't read" in window.texts.offer.text())
    assert "A model for it has 19 characters" in window.texts.offer.text()
    window.findChild(QPushButton, "offer.answer.1").click()
    assert window.study.corpus.encoding == "utf-8"


def test_the_button_says_which_text_it_is_where_there_is_room(window, qtbot):
    button = window.topbar.corpus
    window.resize(1600, 900)
    assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert button.toolTip().startswith("<qt>The text is of the built-in passage: ")
    window.resize(1024, 768)
    assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    qtbot.waitUntil(lambda: button.width() < 60)


# --- words ---------------------------------------------------------------------------------------------------------


def model(**values):
    return ModelInfo(
        **{"config": None, "seed": 1, "device": "cpu", "alphabet": None, "tensors": (), "total": 0, "bytes": 0,
           "elapsed_s": 0.0, **values}
    )  # fmt: skip


def test_what_was_read_is_said_in_one_sentence():
    long = opened("ab", characters=2_000, encoding="cp1252", notes=(("crlf", 123), ("cut", 3 * 10**8), ("used", 2_000)))
    assert words.opened(long) == (
        "Opened x.txt: 2,000 characters, 2 different; read as Windows-1252 (Western); 123 CRLF converted; "
        "only the first 2 kB of 300 MB are used."
    )


def test_many_unknown_characters_are_counted():
    reader = model(alphabet=("a",))
    assert words.lacking(opened("abc"), reader) == ("b", "c")
    assert words.named(tuple("bcdefghij")) == "“b”, “c”, “d”, “e”, “f”, “g” and 3 more"
    assert words.lacking(opened("abc"), model(pieces=("x",))) == ()


def test_the_built_in_passage_is_a_text_like_any_other():
    assert words.counted(built_in()) == f"{len(resources.passage()):,} characters, 65 different"


# --- the page of cells ---------------------------------------------------------------------------------------------


@pytest.fixture
def view(qtbot):
    made = AlphabetView()
    qtbot.addWidget(made)
    made.resize(400, 200)
    made.show_alphabet("abcdefghijklmnopqrstuvwxyz", list(range(1, 27)), {"c"})
    made.show()
    return made


def test_a_cell_is_pointed_at_with_the_mouse(view, qtbot):
    seen = []
    view.pointed.connect(seen.append)
    for place in (3, 4):
        at = QPointF(view._rect(place).center())
        no = Qt.MouseButton.NoButton
        move = QMouseEvent(QEvent.Type.MouseMove, at, at, no, no, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(view.viewport(), move)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(399, 199))
    assert (seen, view.current) == ([3, 4, -1], -1)


def test_the_arrows_walk_over_the_cells(view, qtbot):
    columns = view._columns(view.viewport().width())
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left):
        qtbot.keyClick(view, key)
    assert view.current == columns
    qtbot.keyClick(view, Qt.Key.Key_Up)
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert view.current == 0


def test_cells_share_the_width_and_never_overlap(view):
    columns = view._columns(view.viewport().width())
    rects = [view._rect(place) for place in range(columns)]
    assert all(one.right() < other.left() for one, other in pairwise(rects))
    assert abs(rects[-1].right() + 1 - view.viewport().width()) <= 1


def test_an_alphabet_of_thousands_paints_only_what_can_be_seen(view, qtbot, calls_in):
    characters = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))
    view.show_alphabet(characters, [1] * len(characters), frozenset())
    assert calls_in(view.grab) < 20_000
    qtbot.keyClick(view, Qt.Key.Key_Right)
    for _ in range(30):
        qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.viewport().rect().contains(view._rect(view.current))
    assert view.verticalScrollBar().value() > 0


def test_an_empty_alphabet_is_an_empty_page(view, qtbot):
    view.show_alphabet("", (), frozenset())
    view.grab()
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.current == -1
