"""The large pattern: where its cells and labels are, and what can be done with mouse and keys."""

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest

from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.colormap import cividis
from gpt_viz.ui.widgets.heatmap import Heatmap
from gpt_viz.ui.widgets.pane import CLOSEST, Pane
from gpt_viz.ui.widgets.token_axis import Span, TokenAxis, thinned

YELLOW, BLUE = "#ffea46", "#00204d"
WIDE = ["漢", "字", "🙂", "<", "&", "'", "\t", "\n", " ", "x"]


@pytest.fixture(autouse=True)
def _light():
    theme.use("light")
    yield
    theme.use("light")


def uniform(count):
    return np.tril(np.ones((count, count), np.float32)) / np.arange(1, count + 1, dtype=np.float32)[:, None]


@pytest.fixture
def heatmap(qtbot):
    def make(pattern, pieces=None, size=(420, 380)):
        widget = Heatmap()
        qtbot.addWidget(widget)
        widget.resize(*size)
        widget.set_pattern(np.asarray(pattern, np.float32), pieces or ["a"] * len(pattern))
        return widget

    return make


def move(widget, point, buttons=Qt.MouseButton.NoButton):
    at = QPointF(point)
    widget.mouseMoveEvent(
        QMouseEvent(QEvent.Type.MouseMove, at, at, Qt.MouseButton.NoButton, buttons, Qt.KeyboardModifier.NoModifier)
    )


def colour(widget, query, key):
    image = widget.grab().toImage()
    return image.pixelColor(widget.cell_rect(query, key).center().toPoint()).name()


def test_e04_rows_are_queries_from_the_top_and_columns_are_keys(heatmap):
    pattern = np.zeros((3, 3))
    pattern[2, 0] = 1.0
    widget = heatmap(pattern)
    picture, image = widget.picture(), widget.grab().toImage()
    at = {
        name: image.pixelColor(QPoint(round(x), round(y))).name()
        for name, x, y in (
            ("bottom left", picture.left() + 10, picture.bottom() - 10),
            ("top left", picture.left() + 10, picture.top() + 10),
            ("top right", picture.right() - 10, picture.top() + 10),
            ("bottom right", picture.right() - 10, picture.bottom() - 10),
        )
    }
    masked = THEMES["light"].masked.lower()
    assert at == {"bottom left": YELLOW, "top left": BLUE, "top right": masked, "bottom right": BLUE}


def test_e03_one_hot_cell_of_a_long_text_is_found_and_a_uniform_head_does_not_look_hot(heatmap):
    pattern = np.zeros((600, 600))
    pattern[501, 257] = 1.0
    widget = heatmap(pattern, size=(400, 300))
    image, picture = widget.grab().toImage(), widget.picture()
    hot = [
        (x, y)
        for x in range(int(picture.left()), int(picture.right()))
        for y in range(int(picture.top()), int(picture.bottom()))
        if image.pixelColor(x, y).name() == YELLOW
    ]
    assert len(hot) == 1
    (x, y), cell = hot[0], widget.cell_rect(501, 257)
    assert abs(x - cell.center().x()) <= 1.5
    assert abs(y - cell.center().y()) <= 1.5

    for _ in range(40):
        widget.zoom(0.8, 501.5, 257.5)
    assert widget.pane.rows == CLOSEST
    assert colour(widget, 501, 257) == YELLOW
    assert widget.cell_at(widget.cell_rect(501, 257).center()) == (501, 257)

    widget.set_pattern(np.full((600, 600), 1 / 600, np.float32), ["a"] * 600)
    assert colour(widget, 501, 257) in (BLUE, "#00204e")


def test_e02_a_row_that_is_not_finite_is_marked_and_a_good_pattern_after_it_looks_normal(heatmap):
    bad = THEMES["light"].bad.lower()
    pattern = uniform(5)
    pattern[3] = np.nan
    widget = heatmap(pattern)
    assert [colour(widget, 3, key) for key in range(5)] == [bad] * 5
    assert colour(widget, 2, 0) != bad
    widget.set_pattern(np.full((5, 5), np.nan, np.float32), ["a"] * 5)
    assert colour(widget, 0, 4) == bad
    widget.set_pattern(np.full((5, 5), np.inf, np.float32), ["a"] * 5)
    assert colour(widget, 4, 0) == bad
    widget.set_pattern(np.eye(5, dtype=np.float32), ["a"] * 5)
    assert (colour(widget, 4, 4), colour(widget, 4, 0)) == (YELLOW, BLUE)


@pytest.mark.parametrize("count", [1, 2, 8, 32, 64, 256])
@pytest.mark.parametrize("size", [(900, 600), (400, 300)])
@pytest.mark.parametrize("pieces", [["a"], WIDE, ["50256", "1"], ["‹70›", " " * 40]])
def test_e06_labels_never_overlap_are_never_cut_and_stand_at_their_cells(heatmap, count, size, pieces):
    widget = heatmap(uniform(count), (pieces * count)[:count], size)
    for chosen in (None, count // 2, count - 1):
        widget.set_chosen(chosen, chosen)
        down, across = widget.labels()
        for labels in (down, across):
            assert labels
            for one, other in pairwise(labels):
                assert not one.rect.intersects(other.rect)
            assert all(widget.rect().toRectF().contains(label.rect) for label in labels)
            if chosen is not None:
                assert [label.cell for label in labels if label.chip] == [chosen]
            elif count <= 32:
                assert {labels[0].cell, labels[-1].cell} == {0, count - 1}
        for label in down:
            assert label.rect.center().y() == pytest.approx(widget.cell_rect(label.cell, 0).center().y())
        for label in across:
            assert label.rect.center().x() == pytest.approx(widget.cell_rect(0, label.cell).center().x())
    assert widget.grab().toImage().width() == size[0]


def test_e06_thinned_labels_are_every_kth_with_the_last_one_among_them():
    assert thinned(range(0, 8), 8, step=20, extent=12) == list(range(8))
    cells = thinned(range(0, 32), 32, step=8, extent=14)
    assert cells[0] == 0
    assert cells[-1] == 31
    assert set(np.diff(cells[:-1])) == {2}
    assert thinned(range(10, 20), 100, step=8, extent=14) == [10, 12, 14, 16, 18]


def test_e07_labels_are_literal_and_what_has_no_ink_has_a_glyph(heatmap):
    pieces = ["<b>", "&", "\n", "\t", " ", "x", "</b>"]
    widget = heatmap(uniform(7), pieces, (900, 700))
    down, across = widget.labels()
    assert [label.text for label in down] == ["<b>", "&", "↵", "⇥", "␣", "x", "</b>"]
    assert [label.text for label in across] == [label.text for label in down]


@pytest.mark.parametrize("count", [1, 3, 5, 8])
def test_e10_a_pattern_of_n_tokens_has_n_rows_columns_and_labels(heatmap, count):
    widget = heatmap(uniform(count), list("abcdefgh")[:count])
    down, across = widget.labels()
    assert widget.count == count
    assert [label.text for label in down] == [label.text for label in across] == list("abcdefgh")[:count]
    assert widget.cell_rect(count - 1, count - 1).bottomRight() == widget.picture().bottomRight()


def test_a_click_chooses_and_the_mouse_says_where_it_is(heatmap, qtbot):
    widget = heatmap(uniform(8))
    seen = []
    widget.hovered.connect(seen.append)
    at = widget.cell_rect(5, 2).center().toPoint()
    with qtbot.waitSignal(widget.chosen, timeout=1000) as caught:
        move(widget, at)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)
    assert caught.args == [5, 2]
    widget.leaveEvent(QEvent(QEvent.Type.Leave))
    assert seen[0] == (5, 2)
    assert seen[-1] is None


def test_arrow_keys_move_the_chosen_cell_within_the_pattern(heatmap):
    widget = heatmap(uniform(4))
    moves = []
    widget.chosen.connect(lambda query, key: (moves.append((query, key)), widget.set_chosen(query, key)))
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(widget, key)
    assert moves == [(3, 3), (2, 3), (2, 2), (3, 2), (3, 2), (3, 3)]


def test_its_own_keys_are_kept_from_the_windows_shortcuts_and_no_others(heatmap):
    widget = heatmap(uniform(4))

    def kept(key, modifiers=Qt.KeyboardModifier.NoModifier):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers)
        event.ignore()
        widget.event(event)
        return event.isAccepted()

    assert kept(Qt.Key.Key_Left)
    assert kept(Qt.Key.Key_0)
    assert not kept(Qt.Key.Key_PageDown)
    assert not kept(Qt.Key.Key_Space)
    assert not kept(Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)


def wheel(widget, point, steps):
    event = QWheelEvent(
        QPointF(point), QPointF(point), QPoint(), QPoint(0, 120 * steps), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    widget.wheelEvent(event)


def test_the_wheel_zooms_about_the_cursor_a_drag_moves_and_a_double_click_shows_all(heatmap):
    widget = heatmap(uniform(64))
    point = widget.cell_rect(40, 20).center()
    wheel(widget, point, 4)
    assert widget.pane.rows == pytest.approx(64 * 0.8**4)
    assert widget.cell_at(point) == (40, 20)
    chosen = []
    widget.chosen.connect(lambda *cell: chosen.append(cell))
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=point.toPoint())
    move(widget, point.toPoint() + QPoint(-40, 30), Qt.MouseButton.LeftButton)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=point.toPoint() + QPoint(-40, 30))
    assert chosen == []
    assert widget.cell_at(point + QPointF(-40, 30)) == (40, 20)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton, pos=point.toPoint())
    assert widget.pane == Pane.whole(64, 64)
    wheel(widget, point, 3)
    QTest.keyClick(widget, Qt.Key.Key_0)
    assert widget.pane == Pane.whole(64, 64)


def test_zooming_never_leaves_the_pattern():
    whole = Pane.whole(10, 10)
    assert whole.zoomed(0.5, 0, 0, 10, 10) == Pane(0, 0, 5, 5)
    assert whole.zoomed(0.01, 9.9, 9.9, 10, 10).rows == CLOSEST
    assert Pane(6, 6, 4, 4).zoomed(100, 8, 8, 10, 10) == whole
    assert Pane(-3, 20, 4, 4).kept(10, 10) == Pane(0, 6, 4, 4)
    assert Pane(0, 0, 4, 4).showing(7, 2, 10, 10) == Pane(4, 0, 4, 4)
    assert Pane.whole(1, 1).kept(1, 1) == Pane.whole(1, 1)


def test_the_zoom_stays_while_the_text_keeps_its_length_and_goes_with_it(heatmap):
    widget = heatmap(uniform(64))
    widget.set_pane(Pane(10, 10, 20, 20))
    widget.set_pattern(uniform(64), ["b"] * 64)
    assert widget.pane == Pane(10, 10, 20, 20)
    widget.set_pattern(uniform(65), ["b"] * 65)
    assert widget.pane == Pane.whole(65, 65)


def test_the_chosen_row_and_cell_are_outlined_in_the_themes_colours(heatmap):
    widget = heatmap(uniform(16))
    widget.set_chosen(9, 4)
    image, row = widget.grab().toImage(), widget.cell_rect(9, 12)
    names = {image.pixelColor(QPoint(round(row.center().x()), round(row.top()) + d)).name() for d in (-2, -1, 0)}
    assert THEMES["light"].query.lower() in names
    cell = widget.cell_rect(9, 4)
    names = {image.pixelColor(QPoint(round(cell.center().x()), round(cell.top()) + d)).name() for d in (-2, -1, 0)}
    assert THEMES["light"].key.lower() in names


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_another_theme_repaints_masked_cells_and_never_the_scale(heatmap, name):
    widget = heatmap(np.eye(4))
    widget.grab()
    theme.use(name)
    assert colour(widget, 0, 3) == THEMES[name].masked.lower()
    assert (colour(widget, 3, 3), colour(widget, 3, 0)) == (YELLOW, BLUE)


def test_a_log_scale_lifts_small_weights_and_keeps_both_ends(heatmap):
    pattern = np.zeros((3, 3))
    pattern[0, 0], pattern[1, 0] = 1.0, 0.01
    widget = heatmap(pattern)
    widget.set_stretch("log")
    assert (colour(widget, 0, 0), colour(widget, 2, 0)) == (YELLOW, BLUE)
    middle = [f"#{int(each) & 0xFFFFFF:06x}" for each in cividis()[127:129]]
    assert colour(widget, 1, 0) in middle  # 0.01 is the middle


def test_labels_under_the_picture_stand_on_their_side_when_they_are_wide(heatmap):
    widget = heatmap(uniform(32), ["50256"] * 32)
    assert widget._across.rotated
    assert not widget._down.rotated
    widget.set_pattern(uniform(32), ["a"] * 32)
    assert not widget._across.rotated


def test_a_span_knows_which_cells_can_be_seen():
    assert Span(count=8, first=0, low=10, high=90, step=10).visible_cells == range(0, 8)
    zoomed = Span(count=100, first=10.6, low=0, high=40, step=10)
    assert zoomed.visible_cells == range(11, 15)
    assert zoomed.centre(11) == pytest.approx(9.0)
    assert TokenAxis(across=True).placed(zoomed, edge=0.0) == []
