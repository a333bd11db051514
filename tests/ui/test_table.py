"""The table: rows are asked for one by one, columns hide before a figure is cut, and nothing is rebuilt."""

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.column_fit import ColumnWidths, fitting
from gpt_viz.ui.widgets.lazy_rows import CHUNK, REACH, LazyRows, Line
from gpt_viz.ui.widgets.row_paint import Column
from gpt_viz.ui.widgets.table import Table

COLUMNS = (
    Column("name"),
    Column("shape", hides=2, mono=True),
    Column("formula", hides=1, mono=True),
    Column("count", figures=True),
)


class Branches:
    """Some rows, each with as many below it, to a depth; counts what it is asked."""

    def __init__(self, *counts, cell="816,640", form=None):
        self.counts, self.cell, self.asked = counts, cell, 0
        self.form = counts if form is None else form

    def count(self, path):
        return self.counts[len(path)] if len(path) < len(self.counts) else 0

    def line(self, path):
        self.asked += 1
        return Line((f"row {'.'.join(map(str, path))}", "L × (C, C)", "L·(C²+C)", self.cell), "attention", note="a < b")


@pytest.fixture
def table(qtbot):
    made = Table(COLUMNS, pages=True)
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    return made


def test_the_model_is_one_that_qt_finds_no_fault_with(qapp):
    model = LazyRows(("name", "shape", "formula", "count"))
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    tester.setUseFetchMore(False)  # it would fetch in the midst of a reset, which it then finds fault with
    model.show(Branches(3, 4, 2))
    model.show(Branches(3, 4, 2, cell="1"))
    model.show(Branches(CHUNK + 500, 2))
    assert model.at((CHUNK + 10,)).row() == CHUNK + 10
    tester.deleteLater()


def test_an_index_knows_its_path_and_its_parent(qapp):
    model = LazyRows(("name", "shape", "formula", "count"))
    model.show(Branches(3, 4, 2))
    index = model.at((2, 3, 1), 3)
    assert (model.path(index), index.column(), index.data()) == ((2, 3, 1), 3, "816,640")
    assert model.path(index.parent()) == (2, 3)
    assert model.path(index.parent().parent().parent()) == ()
    assert not model.at((3,)).isValid()
    assert not model.at((0, 4)).isValid()
    assert not model.at(()).isValid()


def test_a_long_level_is_given_in_pieces_and_reaches_any_row_that_is_near(qapp):
    model = LazyRows(("name", "shape", "formula", "count"))
    model.show(Branches(1_000_000))
    assert model.rowCount() == CHUNK
    model.fetchMore(QModelIndex())
    assert model.rowCount() == 2 * CHUNK
    assert model.at((4_321,)).isValid()
    assert model.rowCount() == 5 * CHUNK
    assert not model.at((5 * CHUNK + REACH,)).isValid()  # a view would lay out every one before it


def test_only_rows_in_sight_are_asked_for(table):
    rows = Branches(7, 96, 96, 6)
    table.show_rows(rows)
    table.expand(table.rows.at((2,)))
    table.fit()
    table.grab()
    assert rows.asked < 120


def test_g08_scrolling_to_the_end_of_a_long_level_fetches_the_rest(table):
    table.show_rows(Branches(CHUNK + 5))
    table.scrollToBottom()
    table.fit()
    assert table.rows.rowCount() == CHUNK + 5


def test_new_cells_are_put_in_place_and_nothing_closes(table, qtbot):
    table.show_rows(Branches(3, 4))
    table.expand(table.rows.at((1,)))
    table.choose((1, 2))
    resets = []
    table.rows.modelReset.connect(lambda: resets.append(1))
    with qtbot.waitSignal(table.rows.dataChanged):
        table.show_rows(Branches(3, 4, cell="17"))
    assert (resets, table.is_open((1,)), table.current()) == ([], True, (1, 2))
    assert table.rows.at((1, 2), 3).data() == "17"


def test_other_rows_keep_open_what_still_exists(table):
    table.show_rows(Branches(3, 4))
    table.expand(table.rows.at((1,)))
    table.expand(table.rows.at((2,)))
    table.choose((1, 2))
    emitted = []
    table.chosen.connect(emitted.append)
    table.show_rows(Branches(2, 3))
    assert (table.is_open((1,)), table.current(), emitted) == (True, (1, 2), [])
    table.show_rows(Branches(1))
    assert (table.is_open((0,)), table.current()) == (False, ())


def test_a_row_chosen_by_hand_is_told_of_and_one_chosen_by_the_program_is_not(table, qtbot):
    table.show_rows(Branches(3, 4))
    emitted = []
    table.chosen.connect(emitted.append)
    table.choose((1, 0))
    assert emitted == []
    assert table.is_open((1,))
    where = table.visualRect(table.rows.at((2,))).center() + QPoint(60, 0)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert emitted == [(2,)]
    qtbot.keyClick(table, Qt.Key.Key_Up)
    assert emitted == [(2,), (1, 3)]
    table.choose(())
    assert (table.current(), emitted[2:]) == ((), [])


def test_a_row_far_away_is_brought_into_sight_with_what_comes_after(table):
    table.show_rows(Branches(40, 30))
    table.choose((20, 15))
    rect = table.visualRect(table.rows.at((20, 15)))
    assert table.viewport().rect().contains(rect.center())
    table.choose((20, 16))
    for row in range(17, 30):
        table.choose((20, row))
        after = table.visualRect(table.rows.at((20, row)))
        assert after.bottom() + table.paint.row_height < table.viewport().height()


def test_page_keys_step_and_letters_are_left_to_the_window(table, qtbot):
    table.show_rows(Branches(3))
    pages, ignored = [], []
    table.paged.connect(pages.append)
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_PageDown)
    qtbot.keyClick(table, Qt.Key.Key_PageUp)
    assert pages == [1, -1]
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QKeyEvent

    for key, text in ((Qt.Key.Key_Space, " "), (Qt.Key.Key_1, "1"), (Qt.Key.Key_Period, ".")):
        event = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, text)
        table.keyPressEvent(event)
        ignored.append(event.isAccepted())
    assert ignored == [False, False, False]


def test_the_least_important_columns_hide_first_and_come_back(table):
    table.show_rows(Branches(3))
    for width, shown in ((500, [0, 1, 2, 3]), (260, [0, 2, 3]), (160, [0, 3]), (500, [0, 1, 2, 3])):
        table.resize(width, 300)
        assert [slot.column for slot in table.slots()] == shown
        last = table.slots()[-1]
        assert last.left + last.width <= table.viewport().width()


def test_a_figure_is_never_cut(table):
    figures = "174,604,259,328"
    table.show_rows(Branches(3, cell=figures))
    needed = QFontMetrics(theme.ui_font(0.95)).horizontalAdvance(figures)
    for width in (220, 260, 300, 500):
        table.resize(width, 300)
        (slot,) = [slot for slot in table.slots() if slot.column == 3]
        assert slot.width > needed
        assert slot.left + slot.width <= table.viewport().width()


def test_rows_that_come_into_sight_widen_their_columns(table):
    class Growing(Branches):
        def line(self, path):
            return Line(("row", "C" * (path[0] // 4), "", "1" * (1 + path[0] // 10)))

    table.show_rows(Growing(100))
    before = table.needed(10_000)
    table.scrollToBottom()
    QApplication.processEvents()
    assert table.needed(10_000) > before
    metrics = QFontMetrics(theme.mono_font(0.85))
    assert table.columnWidth(1) >= metrics.horizontalAdvance("C" * 24)


def test_rows_set_closer_together_take_less_room(table):
    table.show_rows(Branches(7))
    height = table.content_height()
    table.make_compact(True)
    assert table.content_height() == height - 7 * 5
    assert table.visualRect(table.rows.at((1,))).top() == table.paint.row_height


def test_columns_do_not_jitter_when_numbers_get_shorter(table):
    table.show_rows(Branches(3, cell="816,640"))
    before = [(slot.column, slot.left) for slot in table.slots()]
    table.show_rows(Branches(3, cell="17"))
    assert [(slot.column, slot.left) for slot in table.slots()] == before


def test_tips_are_escaped_and_tell_what_hidden_columns_hold(table):
    table.show_rows(Branches(3))
    table.resize(160, 300)
    assert table.tip(table.rows.at((0,))) == "<qt>row 0<br>shape: L × (C, C)<br>formula: L·(C²+C)<br>a &lt; b</qt>"


def test_the_content_height_counts_what_is_open(table):
    table.show_rows(Branches(3, 4, 5))
    closed = table.content_height()
    table.expand(table.rows.at((1, 2)))  # in a row that is closed itself
    assert table.content_height() == closed
    table.expand(table.rows.at((1,)))
    assert table.content_height() == closed + 9 * table.paint.row_height


def test_columns_fit_in_the_order_of_their_importance():
    assert fitting([50, 80, 60, 40], [0, 2, 1, 0], 1000) == [0, 1, 2, 3]
    assert fitting([50, 80, 60, 40], [0, 2, 1, 0], 180) == [0, 2, 3]
    assert fitting([50, 80, 60, 40], [0, 2, 1, 0], 10) == [0, 3]
    assert fitting([50, 0, 60, 40], [0, 2, 1, 0], 1000) == [0, 2, 3]


def test_what_is_spare_goes_to_words_and_what_is_short_comes_from_the_name():
    widths = ColumnWidths([0, 1, 0], [False, False, True], 0, 30)
    widths.see([50, 60, 40], [0, 0, 0])
    assert widths.shared(171) == {0: 61, 1: 70, 2: 40}
    assert widths.shared(100) == {0: 60, 2: 40}
    assert widths.shared(80) == {0: 40, 2: 40}
    assert widths.shared(20) == {0: 30, 2: 40}
    assert (widths.needed(171), widths.needed(100)) == (150, 90)
    widths.see([20, 20, 45], [0, 0, 0])
    assert widths.needed(171) == 155
    widths.forget()
    widths.see([20, 20, 45], [0, 0, 0])
    assert widths.needed(171) == 85


def test_the_name_gives_some_of_its_room_rather_than_that_another_column_hides():
    widths = ColumnWidths([0, 1, 0], [False, False, True], 20, 30)
    widths.see([50, 60, 40], [0, 0, 0])
    assert widths.shared(130) == {0: 30, 1: 60, 2: 40}
    assert widths.shared(129) == {0: 89, 2: 40}


def test_text_that_runs_on_gets_room_where_there_is_some_and_hides_nothing():
    widths = ColumnWidths([0, 1, 2, 0], [False, False, False, True], 0, 30)
    widths.see([50, 60, 50, 40], [0, 150, 0, 0])
    assert widths.needed(199) == 150 + 49  # the third column does not fit; what is left goes to the text
    assert widths.needed(240) == 240  # 60 + 50 for the text, and 40 more
    assert widths.needed(1000) == 240
    assert widths.shared(150) == {0: 50, 1: 60, 3: 40}


def test_the_chosen_row_stays_in_sight_when_the_table_gets_lower(table):
    table.show_rows(Branches(40))
    table.choose((8,))
    table.resize(500, 150)
    rect = table.visualRect(table.rows.at((8,)))
    assert rect.top() >= 0
    assert rect.bottom() <= table.viewport().height()


def test_another_font_size_gives_taller_rows_and_wider_columns(table):
    table.show_rows(Branches(3))
    height, natural = table.paint.row_height, table.needed(10_000)
    theme.theme.use("dark", 14.0)
    table.fit()
    assert table.paint.row_height > height
    assert table.needed(10_000) > natural
