"""The layout that breaks lines as words do."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpt_viz.ui.widgets.flow import FlowLayout


@pytest.fixture
def flow(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    layout = FlowLayout(host, across=10, down=5)
    for width in (100, 100, 60):
        widget = QWidget()
        widget.setFixedSize(width, 20)
        layout.addWidget(widget)
    layout.host = host  # kept as long as its layout
    return layout


def places(flow):
    return [flow.itemAt(place).geometry().getRect() for place in range(flow.count())]


def test_what_does_not_fit_goes_on_in_the_next_line(flow):
    assert flow.hasHeightForWidth()
    assert [flow.heightForWidth(width) for width in (280, 279, 210, 209, 100)] == [20, 45, 45, 45, 70]
    flow.setGeometry(QRect(0, 0, 215, 45))
    assert places(flow) == [(0, 0, 100, 20), (110, 0, 100, 20), (0, 25, 60, 20)]
    assert flow.minimumSize().width() == 100


def test_hidden_widgets_take_no_room(flow):
    flow.itemAt(1).widget().hide()
    assert flow.heightForWidth(170) == 20


def test_growing_widgets_share_what_is_left_up_to_their_maximum(flow):
    widgets = [flow.itemAt(place).widget() for place in range(3)]
    for widget in widgets[:2]:
        widget.setMinimumSize(50, 20)
        widget.setMaximumSize(120, 20)
        widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    flow.setGeometry(QRect(0, 0, 220, 20))
    assert [rect[2] for rect in places(flow)] == [70, 70, 60]
    flow.setGeometry(QRect(0, 0, 500, 20))
    assert [rect[2] for rect in places(flow)] == [120, 120, 60]


def test_items_can_be_taken_out(flow):
    flow.takeAt(0)
    assert flow.count() == 2
    assert flow.itemAt(2) is None
    assert flow.takeAt(5) is None
