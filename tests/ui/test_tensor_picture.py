"""Tensors as pictures: cells, colours, masks, axes, and what can be done with mouse and keys."""

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest

from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets import shades
from gpt_viz.ui.widgets.colormap import cividis
from gpt_viz.ui.widgets.pane import CLOSEST, Pane
from gpt_viz.ui.widgets.shades import MASKED, SHARES, SIGNED, Shades, codes_of, diverging, limit_of, numbers_of
from gpt_viz.ui.widgets.sheet import Axis, Box, Sheet, box_of, later
from gpt_viz.ui.widgets.tensor_picture import TensorPicture

YELLOW, BLUE = "#ffea46", "#00204d"
WIDE = ("漢", "字", "🙂", "<", "&", "'", "\t", "\n", " ", "x")


def sheet(cells, **changes):
    cells = np.asarray(cells, np.float32)
    given = {"name": "q", "sizes": "2 × 3", "cells": cells, "down": Axis("token →"), "across": Axis("width →")}
    return Sheet(**(given | changes))


@pytest.fixture
def picture(qtbot):
    def make(shown, size=(420, 380), small=False):
        widget = TensorPicture(small=small)
        qtbot.addWidget(widget)
        widget.resize(*size)
        widget.show_sheet(shown)
        return widget

    return make


def colour(widget, row, column):
    """Of a cell, beside what may be written in it."""
    rect = widget.cell_rect(row, column)
    at = rect.center() if rect.width() < 12 else rect.topLeft() + QPointF(3, 3)
    return widget.grab().toImage().pixelColor(at.toPoint()).name()


def move(widget, row, column):
    at = QPointF(widget.cell_rect(row, column).center())
    none = Qt.MouseButton.NoButton
    widget.mouseMoveEvent(QMouseEvent(QEvent.Type.MouseMove, at, at, none, none, Qt.KeyboardModifier.NoModifier))


# -- numbers, codes and colours --------------------------------------------------------------------------------------


def test_codes_keep_numbers_to_one_part_in_256_and_their_order_by_size():
    numbers = np.array([0, 1e-9, -0.5, 0.51, -1, 3.25, -1e20], np.float32)
    codes = codes_of(numbers)
    assert np.allclose(numbers_of(codes), numbers, rtol=1 / 256)
    assert list(np.argsort(codes, kind="stable")) == list(np.argsort(np.abs(numbers), kind="stable"))
    assert codes_of(np.array([-0.0], np.float32))[0] == 0


def test_what_is_not_finite_is_counted_and_no_limit():
    codes = codes_of(np.array([np.nan, np.inf, -np.inf, -2.0], np.float32))
    assert shades.count_not_finite(codes) == 3
    assert limit_of(codes) == pytest.approx(2.0, rel=1 / 128)
    assert limit_of(codes_of(np.full(3, np.nan, np.float32))) == 0


def test_masked_cells_have_a_code_of_their_own():
    codes = codes_of(np.array([[-np.inf, 1.0]], np.float32), np.array([[True, False]]))
    assert (codes[0, 0], codes[0, 1] > 1) == (MASKED, True)
    assert shades.count_not_finite(codes) == 0


@pytest.mark.parametrize("dark", [False, True])
def test_the_diverging_colours_are_neutral_in_the_middle_and_apart_at_the_ends(dark):
    table = diverging(dark)
    middle = int(table[127])
    channels = [middle >> shift & 0xFF for shift in (16, 8, 0)]
    assert len(table) == 255
    assert max(channels) - min(channels) < 14
    below, above = (int(table[at]) for at in (20, 234))
    assert (below & 0xFF) > (below >> 16 & 0xFF)  # blue below 0
    assert (above >> 16 & 0xFF) > (above & 0xFF)  # orange above it


def test_signed_numbers_are_placed_around_0_and_shares_from_0_to_1():
    assert Shades(SIGNED, 2.0).place([-2, -1, 0, 1, 4]).tolist() == [-1, -0.5, 0, 0.5, 1]
    assert Shades(SHARES, 9.0).place([-1, 0, 0.25, 1]).tolist() == [0, 0, 0.25, 1]
    stretched = Shades(SIGNED, 1.0, shades.STRETCHED).place([-0.25, 0.01])
    assert stretched.tolist() == pytest.approx([-0.5, 0.1])
    assert Shades(SIGNED, 0.0).place([0.0]).tolist() == [0.0]


# -- the picture -----------------------------------------------------------------------------------------------------


def test_e04_rows_begin_at_the_top_and_columns_at_the_left(picture):
    widget = picture(sheet([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], kind=SHARES))
    assert [[colour(widget, row, column) for column in range(3)] for row in range(2)] == [
        [BLUE, BLUE, YELLOW],
        [BLUE, BLUE, BLUE],
    ]
    assert widget.cell_rect(0, 2).x() > widget.cell_rect(0, 0).x()


@pytest.mark.parametrize("name", list(THEMES))
def test_e12_signed_numbers_are_blue_below_and_orange_above_in_every_theme(picture, name):
    theme.use(name)
    widget = picture(sheet([[-3.0, 3.0]]))
    dark = THEMES[name].dark
    ends = [f"#{int(each) & 0xFFFFFF:06x}" for each in diverging(dark)[[0, 254]]]
    corner = [widget.cell_rect(0, column).topLeft() + QPointF(3, 3) for column in (0, 1)]
    image = widget.grab().toImage()
    assert [image.pixelColor(each.toPoint()).name() for each in corner] == ends


def test_masked_cells_are_drawn_as_masked_and_hatched(picture):
    cells = np.where(later(4, 4), -np.inf, 1.0)
    widget = picture(sheet(cells, masked=later(4, 4), square=True))
    rect, image = widget.cell_rect(0, 3).toRect().adjusted(2, 2, -2, -2), widget.grab().toImage()
    seen = {
        image.pixelColor(x, y).name()
        for x in range(rect.left(), rect.right())
        for y in range(rect.top(), rect.bottom())
    }
    assert seen == {THEMES["light"].masked.lower(), THEMES["light"].line.lower()}


def test_e02_numbers_that_are_not_finite_have_their_own_colour_and_good_ones_after_them_look_normal(picture):
    widget = picture(sheet(np.full((6, 200), np.nan)))
    assert widget.not_finite
    assert colour(widget, 2, 3) == THEMES["light"].bad.lower()
    widget.show_sheet(sheet(np.zeros((6, 200)), kind=SHARES))
    assert not widget.not_finite
    assert colour(widget, 2, 3) == BLUE


@pytest.mark.parametrize("number", [1.0, -1.0])
def test_e03_one_number_that_stands_out_of_a_large_tensor_is_found(picture, number):
    cells = np.full((512, 512), 0.001)
    cells[301, 77] = number
    widget = picture(sheet(cells), size=(240, 220))
    end = f"#{int(diverging(False)[254 if number > 0 else 0]) & 0xFFFFFF:06x}"
    image, area = widget.grab().toImage(), widget.picture().toRect()
    hot = [
        (x, y)
        for x in range(area.left(), area.right())
        for y in range(area.top(), area.bottom())
        if image.pixelColor(x, y).name() == end
    ]
    assert len(hot) == 1
    middle = widget.cell_rect(301, 77).center()
    assert (abs(hot[0][0] - middle.x()) <= 1.5, abs(hot[0][1] - middle.y()) <= 1.5) == (True, True)


@pytest.mark.parametrize("count", [1, 2, 8, 32, 64, 256])
@pytest.mark.parametrize("size", [(900, 600), (300, 240)])
def test_e06_labels_never_overlap_and_are_never_cut(picture, count, size):
    pieces = (WIDE * count)[:count]
    widget = picture(sheet(np.zeros((count, 96)), down=Axis("token →", pieces)), size)
    for chosen in (None, (count // 2, 50), (count - 1, 95)):
        widget.set_chosen(chosen)
        for labels in widget.labels():
            assert labels
            assert all(not one.rect.intersects(other.rect) for one, other in pairwise(labels))
            assert all(widget.rect().toRectF().contains(label.rect) for label in labels)
        if chosen:
            chips = [[label.cell for label in labels if label.chip] for labels in widget.labels()]
            assert chips == [[chosen[0]], [chosen[1]]]


def test_numbered_axes_are_written_at_round_numbers(picture):
    widget = picture(sheet(np.zeros((4, 500))), size=(700, 300))
    assert [label.text for label in widget.labels()[1]] == [str(each) for each in range(0, 500, 50)]
    widget.show_sheet(sheet(np.zeros((4, 500)), across=Axis("width →", stride=4)))
    assert widget.labels()[1][1].text == "200"


def test_groups_of_columns_are_named_and_the_chosen_ones_number_too(picture):
    widget = picture(sheet(np.zeros((4, 128)), across=Axis("width →", group=32, grouped="head")), size=(700, 300))
    assert [label.text for label in widget.labels()[1]] == ["head 0", "head 1", "head 2", "head 3"]
    widget.set_chosen((0, 48))
    assert [label.text for label in widget.labels()[1]] == ["head 0", "48", "head 2", "head 3"]


def test_numbers_are_written_into_cells_that_are_large_enough(picture):
    few, many = picture(sheet(np.eye(4))), picture(sheet(np.eye(64)))
    assert sheet(np.eye(2)).text(0, 0) == "1"
    rect = few.cell_rect(0, 0).toRect().adjusted(4, 4, -4, -4)
    image = few.grab().toImage()
    colours = {
        image.pixelColor(x, y).name()
        for x in range(rect.left(), rect.right())
        for y in range(rect.top(), rect.bottom())
    }
    assert len(colours) > 1
    rect = many.cell_rect(0, 0)
    assert rect.width() < 20


def test_what_is_not_lit_is_faded(picture):
    widget = picture(sheet(np.full((40, 40), 1.0), kind=SHARES, square=True))
    assert colour(widget, 20, 20) == YELLOW
    widget.set_lit((Box(10, 11, 0, 40),))
    assert (colour(widget, 10, 20) == YELLOW, colour(widget, 20, 20) == YELLOW) == (True, False)
    widget.set_lit(())
    assert colour(widget, 10, 20) != YELLOW


def test_a_region_of_a_tensor_is_a_box_of_cells():
    assert box_of(((0, 1), (20, 21), (0, 128)), (1, 1)) == Box(20, 21, 0, 128)
    assert box_of(((7, 8),), (1, 1)) == Box(0, 1, 7, 8)
    assert box_of((), (1, 1)) == Box(0, 1, 0, 1)
    assert box_of(((0, 1), (20, 21), (0, 1000)), (2, 3)) == Box(10, 11, 0, 334)
    assert Box(2, 4, 1, 3).holds((3, 2))
    assert not Box(2, 4, 1, 3).holds((9, 0))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 64), (64, 1), (64, 64), (32, 512), (512, 512), (3, 2)])
@pytest.mark.parametrize("size", [(700, 440), (160, 120)])
def test_the_cells_lie_within_the_widget_whatever_the_tensor(picture, rows, columns, size):
    widget = picture(sheet(np.zeros((rows, columns))), size)
    area = widget.picture()
    assert widget.rect().toRectF().adjusted(-1, -1, 1, 1).contains(area)
    assert area.height() >= min(20, size[1] / 4)
    assert widget.cell_at(widget.cell_rect(rows - 1, columns - 1).center()) == (rows - 1, columns - 1)
    assert not widget.grab().isNull()


def test_a_square_tensor_has_square_cells(picture):
    rect = picture(sheet(np.zeros((20, 20)), square=True), (700, 300)).cell_rect(0, 0)
    assert rect.width() == rect.height()


def test_cells_that_are_not_there_can_not_be_pointed_at(picture):
    widget = picture(sheet(np.zeros((2, 3)), kind=shades.PLAIN, texts=("a 1", "b 2", "c 3", "d 4"), blank=2))
    assert widget.cell_at(widget.cell_rect(1, 0).center()) == (1, 0)
    assert widget.cell_at(widget.cell_rect(1, 1).center()) is None
    assert [widget.sheet.text(1, column) for column in range(3)] == ["d 4", "", ""]
    assert colour(widget, 1, 2) == THEMES["light"].card.lower()


def test_without_a_tensor_it_says_why(picture):
    widget = picture(None)
    plain = widget.grab().toImage()
    widget.set_message("The tensor has not come yet.")
    assert widget.grab().toImage() != plain
    assert widget.cell_at(QPointF(50, 50)) is None


# -- mouse and keys --------------------------------------------------------------------------------------------------


def test_the_cell_under_the_pointer_is_said_and_a_click_chooses_it(picture, qtbot):
    widget = picture(sheet(np.zeros((8, 8))))
    hovered, chosen = [], []
    widget.hovered.connect(hovered.append)
    widget.chosen.connect(lambda *cell: chosen.append(cell))
    move(widget, 3, 5)
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.cell_rect(6, 1).center().toPoint())
    widget.leaveEvent(QEvent(QEvent.Type.Leave))
    assert hovered[0] == (3, 5)
    assert hovered[-1] is None
    assert chosen == [(6, 1)]


def test_arrows_point_and_enter_takes(picture, qtbot):
    widget = picture(sheet(np.zeros((8, 8))))
    widget.set_chosen((2, 2))
    chosen = []
    widget.chosen.connect(lambda *cell: chosen.append(cell))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Down):
        QTest.keyClick(widget, key)
    assert (widget.hovered_cell, chosen) == ((4, 3), [])
    QTest.keyClick(widget, Qt.Key.Key_Return)
    assert chosen == [(4, 3)]
    for _ in range(10):
        QTest.keyClick(widget, Qt.Key.Key_Up)
    assert widget.hovered_cell == (0, 3)


def test_the_first_arrow_goes_to_what_is_lit_where_nothing_is_chosen(picture):
    widget = picture(sheet(np.zeros((8, 8))), small=True)
    widget.set_lit((Box(5, 6, 0, 8),))
    QTest.keyClick(widget, Qt.Key.Key_Right)
    assert widget.hovered_cell == (5, 0)


def test_backspace_goes_back_and_other_letters_are_left_to_the_window(picture):
    widget = picture(sheet(np.zeros((8, 8))))
    back = []
    widget.back.connect(lambda: back.append(1))
    QTest.keyClick(widget, Qt.Key.Key_Backspace)
    assert back == [1]
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
    widget.keyPressEvent(event)
    assert not event.isAccepted()


def test_wheel_and_keys_zoom_and_0_or_a_double_click_shows_everything(picture, qtbot):
    widget = picture(sheet(np.zeros((64, 128))))
    at = QPointF(widget.cell_rect(32, 64).center())
    turn = QWheelEvent(
        at, at, QPointF(0, 0).toPoint(), QPointF(0, 120).toPoint(), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    for _ in range(20):
        widget.wheelEvent(turn)
    assert (widget.pane.rows, widget.pane.columns) == (CLOSEST, CLOSEST)
    assert widget.cell_at(at) == (32, 64)
    QTest.keyClick(widget, Qt.Key.Key_0)
    assert widget.pane == Pane.whole(64, 128)
    QTest.keyClick(widget, Qt.Key.Key_Plus)
    assert widget.pane.rows == pytest.approx(0.8 * 64)
    qtbot.mouseDClick(widget, Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert widget.pane == Pane.whole(64, 128)


def test_the_zoom_stays_while_the_tensor_has_the_same_size(picture):
    widget = picture(sheet(np.zeros((64, 64))))
    QTest.keyClick(widget, Qt.Key.Key_Plus)
    zoomed = widget.pane
    widget.show_sheet(sheet(np.ones((64, 64))))
    assert widget.pane == zoomed
    widget.show_sheet(sheet(np.ones((65, 64))))
    assert widget.pane == Pane.whole(65, 64)


def test_a_pane_stays_within_its_matrix():
    pane = Pane.whole(10, 100).zoomed(0.5, 10, 100, 10, 100)
    assert pane == Pane(5, 50, 5, 50)
    assert pane.showing(0, 0, 10, 100) == Pane(0, 0, 5, 50)
    assert Pane(-3, 99, 2, 2).kept(10, 100) == Pane(0, 96, 4, 4)
    assert Pane.whole(2, 1).zoomed(0.1, 0, 0, 2, 1) == Pane.whole(2, 1)


def test_e09_showing_other_tensors_makes_no_more_objects(picture):
    widget = picture(sheet(np.zeros((8, 8))))
    before = len(widget.findChildren(object))
    for count in range(1, 40):
        widget.show_sheet(sheet(np.zeros((count, 8))))
        widget.grab()
    assert len(widget.findChildren(object)) == before


def test_the_shares_have_the_colours_of_the_attention_panel():
    with_table = shades.pixels_of(codes_of(np.array([0.0, 1.0], np.float32)), Shades(SHARES), THEMES["light"])
    assert with_table.tolist() == [int(cividis()[0]), int(cividis()[255])]
