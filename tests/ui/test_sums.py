"""Sums written out: everything that is shown is whole, and what is said first is the last to go."""

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from gpt_viz.ui.theme import theme
from gpt_viz.ui.widgets.footed import Footed
from gpt_viz.ui.widgets.sums import FORMULA, STRONG, Chunk, Piece, Sum, Sums


def made(word, terms=3):
    lead = (Chunk((Piece(f"{word} has", STRONG),)), Chunk((Piece("10", FORMULA),), note="ten <b>"))
    return Sum(lead, tuple(Chunk((Piece(f"{word}{i}"),), "attention", "+" if i else "") for i in range(terms)))


@pytest.fixture
def sums(qtbot):
    widget = Sums()
    qtbot.addWidget(widget)
    widget.show_sums([made("a"), made("b")])
    return widget


def test_with_room_all_is_shown_in_order(sums):
    assert sums.fit(2000, 500) > 0
    assert sums.shown() == "a has 10 a0 + a1 + a2 b has 10 b0 + b1 + b2"
    assert sums.accessibleDescription() == "a has 10 a0 + a1 + a2; b has 10 b0 + b1 + b2"


def test_with_less_room_the_last_sums_give_way_to_the_first(sums):
    heights = {}
    for height in range(500, -1, -1):
        used = sums.fit(90, height)
        assert used <= height
        heights[sums.shown()] = used
    assert list(heights) == [
        "a has 10 a0 + a1 + a2 b has 10 b0 + b1 + b2",
        "a has 10 a0 + a1 + a2 b has 10",
        "a has 10 a0 + a1 + a2",
        "a has 10 b has 10",
        "a has 10",
        "",
    ]
    assert list(heights.values()) == sorted(heights.values(), reverse=True)


@pytest.mark.parametrize("width", [2000, 300, 120, 60, 10])
def test_nothing_is_ever_cut_at_the_edge(sums, width):
    sums.fit(width, 1000)
    assert all(each.x + each.width <= width for each in sums._placed)
    if width == 10:
        assert sums.shown() == ""


def test_only_other_sums_are_said_to_be_others(sums):
    assert not sums.show_sums([made("a"), made("b")])
    assert sums.show_sums([made("c")])


def test_a_larger_font_takes_more_room(sums):
    before = sums.fit(300, 1000)
    theme.use("dark", 16.0)
    assert sums.fit(300, 1000) > before


def test_a_note_is_shown_as_plain_text(sums, monkeypatch):
    told = []
    monkeypatch.setattr(QToolTip, "showText", lambda where, text, *rest: told.append(text))
    sums.fit(2000, 100)
    ten = sums._placed[1]
    for at in (QPoint(int(ten.x) + 2, int(ten.y) + 2), QPoint(1900, 90)):
        QApplication.sendEvent(sums, QHelpEvent(QEvent.Type.ToolTip, at, at))
    assert told == ["<qt>ten &lt;b&gt;</qt>", ""]


def test_below_a_picture_they_take_only_what_it_can_spare(qtbot):
    class Stage(QWidget):
        def spare(self, width, height):
            return height - 200

    stage, sums = Stage(), Sums()
    footed = Footed(stage, stage, sums)
    qtbot.addWidget(footed)
    sums.show_sums([made("a"), made("b")])
    footed.show()
    for height in (150, 210, 240, 300, 600):
        footed.resize(90, height)
        footed.arrange()
        assert stage.geometry().bottom() < (sums.geometry().top() if sums.isVisible() else height)
        assert stage.height() == height if not sums.shown() else stage.height() >= 200
        assert footed.rect().contains(sums.geometry()) or not sums.isVisible()
    assert sums.shown().startswith("a has 10")
