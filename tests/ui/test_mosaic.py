"""The grid of all heads: one image, the right head in the right place, at any number of heads."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest

from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.legend import Legend
from gpt_viz.ui.widgets.mosaic import Mosaic
from gpt_viz.ui.widgets.tiling import thinned, tiled

YELLOW = "#ffea46"


@pytest.fixture(autouse=True)
def _light():
    theme.use("light")
    yield
    theme.use("light")


@pytest.fixture
def mosaic(qtbot):
    def make(layers, heads, count=16, size=(240, 320)):
        widget = Mosaic()
        qtbot.addWidget(widget)
        widget.resize(*size)
        patterns = np.zeros((layers, heads, count, count), np.float32)
        widget.set_patterns(patterns)
        return widget, patterns

    return make


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (4, 4), (2, 3), (12, 12), (48, 25), (1, 16), (24, 1)])
def test_a_hot_head_is_at_its_layer_downwards_and_its_head_across(mosaic, layers, heads):
    widget, patterns = mosaic(layers, heads)
    patterns[layers - 1, heads // 2] = np.tril(np.ones((16, 16)))
    widget.set_patterns(patterns)
    image = widget.grab().toImage()
    for layer in {0, layers - 1}:
        for head in {0, heads // 2, heads - 1}:
            tile = widget.tile_rect(layer, head)
            hot = image.pixelColor(QPoint(int(tile.left()), int(tile.bottom()) - 1)).name() == YELLOW
            assert hot == ((layer, head) == (layers - 1, heads // 2))
    assert widget.rect().toRectF().contains(widget.tile_rect(layers - 1, heads - 1))


def test_e03_a_hot_cell_shows_in_a_tile_smaller_than_its_pattern(mosaic):
    widget, patterns = mosaic(12, 12, count=128)
    patterns[7, 3, 100, 30] = 1.0
    widget.set_patterns(patterns)
    assert widget.tiling.side < 30
    image, tile = widget.grab().toImage(), widget.tile_rect(7, 3)
    hot = [
        (x, y)
        for x in range(int(tile.left()), int(tile.right()))
        for y in range(int(tile.top()), int(tile.bottom()))
        if image.pixelColor(x, y).name() == YELLOW
    ]
    assert len(hot) == 1


def test_e04_a_tile_has_its_first_query_on_top_and_its_masked_triangle_top_right(mosaic):
    widget, patterns = mosaic(2, 2, count=3)
    patterns[1, 0, 2, 0] = 1.0
    widget.set_patterns(patterns)
    image, tile = widget.grab().toImage(), widget.tile_rect(1, 0).toRect()
    assert image.pixelColor(tile.bottomLeft() + QPoint(3, -3)).name() == YELLOW
    assert image.pixelColor(tile.topRight() + QPoint(-3, 3)).name() == THEMES["light"].masked.lower()


@pytest.mark.parametrize("size", [(240, 320), (151, 97), (800, 700), (60, 60)])
@pytest.mark.parametrize(("layers", "heads"), [(4, 4), (12, 12), (48, 25), (1, 3)])
def test_what_is_fitted_into_a_room_is_tiled_alike_in_exactly_that_room(mosaic, layers, heads, size):
    widget, _ = mosaic(layers, heads, count=2)
    before = widget._tiling(*size, 1.0)
    widget.resize(*widget.fitted(*size))
    assert (widget.tiling.side, widget.tiling.gap) == (before.side, before.gap)


def test_tiles_fill_the_room_and_a_gap_belongs_to_the_tile_before_it():
    tiling = tiled(4, 4, width=210, height=300, left=10, top=5, largest=1000)
    assert (tiling.side, tiling.gap) == (47, 4)
    assert tiling.width == 4 * 47 + 3 * 4
    assert tiling.at(10, 5) == (0, 0)
    assert tiling.at(10 + 47 + 2, 5 + 51) == (1, 0)
    assert tiling.at(9, 5) is None
    assert tiling.at(10 + 4 * 51, 5) is None


def test_numbers_thin_out_where_tiles_are_small():
    assert list(thinned(4, 40, 14)) == [0, 1, 2, 3]
    assert list(thinned(12, 9, 14)) == [0, 2, 4, 6, 8, 10]
    assert list(thinned(48, 5, 14)) == list(range(0, 48, 5))


def test_a_click_and_the_arrow_keys_choose_a_head_and_the_pointer_names_it(mosaic):
    widget, _ = mosaic(3, 4)
    chosen = []
    widget.chosen.connect(lambda layer, head: (chosen.append((layer, head)), widget.set_chosen(layer, head)))
    at = widget.tile_rect(1, 2).center().toPoint()
    point = QPointF(at)
    none = Qt.MouseButton.NoButton
    widget.mouseMoveEvent(QMouseEvent(QEvent.Type.MouseMove, point, point, none, none, Qt.KeyboardModifier.NoModifier))
    assert widget.toolTip() == "layer 1 · head 2"
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Left):
        QTest.keyClick(widget, key)
    assert chosen == [(1, 2), (2, 2), (2, 3), (1, 3), (1, 2)]


def test_the_chosen_head_is_outlined_in_the_accent(mosaic):
    widget, _ = mosaic(4, 4)
    widget.set_chosen(2, 1)
    image, tile = widget.grab().toImage(), widget.tile_rect(2, 1)
    near = {image.pixelColor(QPoint(round(tile.center().x()), round(tile.top()) - d)).name() for d in (1, 2, 3)}
    assert THEMES["light"].accent_text.lower() in near


def test_the_image_is_kept_and_filled_anew_when_only_numbers_change(mosaic):
    widget, patterns = mosaic(4, 4)
    widget.grab()
    image, canvas = widget._image, widget._canvas
    widget.set_patterns(patterns + 0.5)
    widget.grab()
    assert widget._image is image
    assert widget._canvas is canvas


def test_the_grid_takes_the_focus_from_the_keyboard(mosaic):
    widget, _ = mosaic(2, 2)
    assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_e04_the_legend_shows_a_gradient_over_the_fixed_scale_in_both_stretches(qtbot):
    legend = Legend()
    qtbot.addWidget(legend)
    legend.resize(200, 60)
    bar, image = legend.bar(), legend.grab().toImage()
    y = round(bar.center().y())
    row = [image.pixelColor(x, y).lightness() for x in range(0, 200, 10)]
    assert row == sorted(row)
    assert row[-1] - row[0] > 90
    assert legend.ticks() == ((0.0, "0"), (1.0, "1"))
    legend.set_stretch("log")
    assert [text for _, text in legend.ticks()] == ["≤ 0.0001", "0.01", "1"]
    assert [place for place, _ in legend.ticks()] == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize("width", [90, 240])
def test_the_legend_names_masked_and_not_finite_cells_without_cutting_a_word(qtbot, width):
    legend = Legend()
    qtbot.addWidget(legend)
    assert [text for _, _, text in legend.marks()] == ["masked"]
    legend.set_not_finite(True)
    legend.resize(width, legend.needed_height(width))
    marks = legend.marks()
    assert [text for _, _, text in marks] == ["masked", "not finite"]
    assert not marks[0][0].intersects(marks[1][0])
    assert all(legend.rect().toRectF().contains(rect) for rect, _, _ in marks)
