"""The list of a sum's terms: order, columns, bars, and what mouse and keys say."""

from itertools import pairwise

import numpy as np
import pytest
from pointer import point_at
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest

from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.terms import IN_ORDER, NAME, NUMBER, RESULT, SIGN, Piece, Terms
from gpt_viz.ui.widgets.written_sum import TITLE, WrittenSum

PIECES = (
    Piece(NAME, 9, instead=1), Piece(NAME, 2), Piece(NUMBER), Piece(SIGN), Piece(NAME, 3), Piece(NUMBER), Piece(SIGN),
    Piece(RESULT),
)  # fmt: skip


def terms(amounts, title="a sum", asked=None):
    amounts = np.asarray(amounts, np.float64)

    def row(k):
        if asked is not None:
            asked.append(k)
        return str(k), f"q[3, {k}]", f"{amounts[k]:.3g}", "×", f"k[5, {k}]", "1", "=", f"{amounts[k]:.3g}"

    return Terms(title, amounts, PIECES, row)


@pytest.fixture
def listed(qtbot):
    def make(*sums, size=(460, 200)):
        widget = WrittenSum()
        qtbot.addWidget(widget)
        widget.resize(*size)
        widget.show()
        widget.show_sums(sums)
        return widget

    return make


def test_the_largest_terms_come_first_and_what_is_no_number_before_them(listed):
    widget = listed(terms([0.1, -3.0, 2.0, float("nan")]))
    assert [widget.term(row) for row in range(5)] == [(0, TITLE), (0, 3), (0, 1), (0, 2), (0, 0)]
    widget.set_order(IN_ORDER)
    assert [widget.term(row)[1] for row in range(5)] == [TITLE, 0, 1, 2, 3]


def test_several_sums_stand_one_below_the_other(listed):
    widget = listed(terms([1.0, 2.0], "mean"), terms([3.0], "variance"))
    assert widget.rows == 5
    assert [widget.term(row) for row in range(5)] == [(0, TITLE), (0, 1), (0, 0), (1, TITLE), (1, 0)]
    with pytest.raises(IndexError):
        widget.term(5)


def test_a_hundred_thousand_terms_open_at_once_and_only_those_in_sight_are_written(listed):
    asked = []
    widget = listed(terms(np.sin(np.arange(100_000)), asked=asked))
    widget.grab()
    assert len(asked) < 400
    assert widget.rows == 100_001
    QTest.keyClick(widget, Qt.Key.Key_End)
    assert widget.pointed_term == (0, int(np.argsort(-np.abs(np.sin(np.arange(100_000))), kind="stable")[-1]))


@pytest.mark.parametrize(
    ("width", "columns"), [(520, [1, 2, 3, 4, 5, 6, 7]), (300, [1, 2, 3, 5, 6, 7]), (235, [0, 2, 3, 5, 6, 7])]
)
def test_names_go_first_where_room_is_short_and_the_place_stands_in_for_them(listed, width, columns):
    widget = listed(terms(np.linspace(-1, 1, 64)), size=(width, 200))
    shown = widget._shown(0)
    assert [column for column, *_ in shown] == columns
    assert all(one[1] + one[2] <= other[1] for one, other in pairwise(shown))


def test_the_term_under_the_pointer_is_said_and_one_can_be_taken(listed, qtbot):
    widget = listed(terms([1.0, 2.0, 3.0]))
    pointed, taken = [], []
    widget.pointed.connect(pointed.append)
    widget.taken.connect(lambda *term: taken.append(term))
    at = QPoint(40, int(2.5 * widget.line))
    point_at(widget.viewport(), at)
    qtbot.mousePress(widget.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert pointed[-1] == (0, 1)
    qtbot.mouseDClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert taken == [(0, 1)]
    widget.clearFocus()
    widget.leaveEvent(QEvent(QEvent.Type.Leave))
    assert widget.pointed_term is None


def test_arrows_walk_through_the_terms_and_enter_takes_one(listed):
    widget = listed(terms([1.0, 2.0, 3.0]))
    taken = []
    widget.taken.connect(lambda *term: taken.append(term))
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(widget, key)
    assert taken == [(0, 1)]
    QTest.keyClick(widget, Qt.Key.Key_Home)
    assert widget.pointed_term is None  # the title
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
    widget.keyPressEvent(event)
    assert not event.isAccepted()


def test_another_number_of_the_same_kind_keeps_the_place_in_the_list(listed):
    widget = listed(terms(np.arange(200.0)))
    widget.verticalScrollBar().setValue(50)
    widget.show_sums((terms(np.arange(200.0) * 2),))
    assert widget.verticalScrollBar().value() == 50
    widget.show_sums((terms(np.arange(30.0)),))
    assert widget.verticalScrollBar().value() == 0


@pytest.mark.parametrize("name", list(THEMES))
def test_bars_stand_left_of_nothing_for_what_is_taken_away(listed, name):
    theme.use(name)
    both, above = listed(terms([1.0, -1.0])), listed(terms([1.0, 0.5]))
    assert (both.sums[0].signed, above.sums[0].signed) == (True, False)
    assert both.grab().toImage() != above.grab().toImage()
    assert not listed().grab().isNull()
