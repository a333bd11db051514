"""A slider over chosen numbers goes where it is clicked."""

import pytest
from PySide6.QtCore import QPoint, Qt

from gpt_viz.ui.widgets.stop_slider import StopSlider


@pytest.fixture
def slider(qtbot):
    slider = StopSlider()
    qtbot.addWidget(slider)
    slider.resize(300, 24)
    slider.show_value(200, tuple(range(201)))
    slider.heard = []
    slider.chosen.connect(slider.heard.append)
    slider.show()
    return slider


def click(qtbot, slider, x):
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(x, slider.height() // 2))


def test_a_click_in_the_middle_goes_to_the_middle_at_once(slider, qtbot):
    click(qtbot, slider, 150)
    assert len(slider.heard) == 1
    assert slider.heard[0] == pytest.approx(100, abs=2)
    click(qtbot, slider, 1)
    assert slider.value() == 0
    click(qtbot, slider, 298)
    assert slider.value() == 200


def test_a_click_between_two_stops_goes_to_the_nearer_and_no_further(slider, qtbot):
    slider.show_value(1, (1, 2, 4))
    click(qtbot, slider, 110)
    assert slider.heard == [2]
    click(qtbot, slider, 200)
    assert slider.heard == [2]


def test_from_where_it_was_clicked_it_can_be_dragged(slider, qtbot):
    middle = slider.height() // 2
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(150, middle))
    assert slider.isSliderDown()
    qtbot.mouseMove(slider, QPoint(75, middle))
    assert slider.value() < 60
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(75, middle))


def test_other_buttons_move_nothing(slider, qtbot):
    qtbot.mouseClick(slider, Qt.MouseButton.RightButton, pos=QPoint(100, slider.height() // 2))
    assert slider.heard == []
