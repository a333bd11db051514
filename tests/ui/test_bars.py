"""The bars of a distribution: their order, what the cuts took away, what is said of a token, how many are painted."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent
from PySide6.QtWidgets import QToolTip

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.bars import LEAST_WIDTH, Bars
from gpt_viz.ui.widgets.likelihood import before_cuts, likeliest, percent

LOGITS = np.log(np.array([0.1, 0.4, 0.2, 0.3], np.float32))


def floats(*values):
    return np.array(values, np.float32)


@pytest.fixture
def bars(qtbot):
    theme.theme.use("light", 10)
    widget = Bars()
    qtbot.addWidget(widget)
    widget.resize(220, 120)
    widget.show()
    return widget


def ids(bars):
    return [bars.id_at_row(row) for row in range(len(bars))]


@pytest.mark.parametrize(
    ("probability", "text"),
    [(1.0, "100 %"), (0.4123, "41.2 %"), (0.001, "0.1 %"), (0.00002, "0.002 %"), (1e-9, "≈ 0 %"), (0.0, "0 %")],
)
def test_percent_always_leaves_a_figure(probability, text):
    assert percent(probability) == text


def test_before_the_cuts_is_the_softmax_of_the_scaled_logits():
    assert before_cuts(LOGITS, 1.0) == pytest.approx([0.1, 0.4, 0.2, 0.3], abs=1e-6)
    squared = np.array([0.01, 0.16, 0.04, 0.09])
    assert before_cuts(LOGITS, 0.5) == pytest.approx(squared / squared.sum(), abs=1e-6)
    assert before_cuts(LOGITS, 0.0) == pytest.approx([0.1, 0.4, 0.2, 0.3], abs=1e-6)
    for tiny in (1e-4, 1e-30, 5e-324):
        assert before_cuts(LOGITS, tiny) == pytest.approx([0, 1, 0, 0], abs=1e-6)


def test_order_is_by_probability_or_by_id(bars):
    bars.show_distribution(LOGITS, floats(0.1, 0.4, 0.2, 0.3))
    assert ids(bars) == [1, 3, 2, 0]
    bars.set_order("id")
    assert ids(bars) == [0, 1, 2, 3]
    assert bars.rank(0) == 3


def test_equal_logits_are_ordered_by_id_as_the_engine_ranks_them(bars):
    bars.show_distribution(floats(1, 2, 1, 2, 1), floats(0.2, 0.2, 0.2, 0.2, 0.2))
    assert ids(bars) == [1, 3, 0, 2, 4]
    assert [bars.rank(id) for id in range(5)] == [2, 0, 3, 1, 4]


def test_the_likeliest_of_many_are_those_of_a_full_sort_also_among_equals():
    random = np.random.default_rng(0)
    logits = random.integers(0, 500, 50_257).astype(np.float32)
    whole = np.argsort(-logits, kind="stable")
    for count in (1, 512, 40_000, 50_257, 99_999):
        found = likeliest(logits, count)
        assert len(found) >= min(count, len(logits))
        assert (found == whole[: len(found)]).all()


def test_a_large_vocabulary_paints_only_the_rows_in_sight_and_can_be_scrolled_to_its_end(bars, monkeypatch):
    logits = np.random.default_rng(0).normal(size=50_257).astype(np.float32)
    bars.show_distribution(logits, before_cuts(logits, 1.0).astype(np.float32))
    painted = []
    monkeypatch.setattr(bars, "_paint_row", lambda painter, rect, id, scale: painted.append(id))
    bars.grab()
    assert len(painted) <= 120 // 15 + 2
    assert painted == np.argsort(-logits)[: len(painted)].tolist()
    painted.clear()
    bars.verticalScrollBar().setValue(bars.verticalScrollBar().maximum())
    bars.grab()
    assert painted[-1] == logits.argmin()


def test_the_drawn_token_is_in_sight_also_where_its_row_is_not(bars):
    logits = -np.arange(1000, dtype=np.float32)
    bars.show_distribution(logits, before_cuts(logits, 1.0).astype(np.float32), drawn=900)
    assert bars.row_at(QPoint(20, bars.page * bars._pitch - 2)) == 900
    bars.verticalScrollBar().setValue(bars.verticalScrollBar().maximum())
    assert bars.row_at(QPoint(20, 2)) == 900
    bars.show_distribution(logits, before_cuts(logits, 1.0).astype(np.float32), drawn=None)
    assert bars.row_at(QPoint(20, 2)) > 900


def pixel(bars, id, x):
    row = bars.row_rect(bars.row_of(id))
    return bars.grab().toImage().pixelColor(int(x), int(row.center().y())).name().upper()


def first_of_bar(bars):
    return 4 + bars._cell * bars._label_columns + 8


def test_the_drawn_bar_has_the_heads_colour_and_a_cut_one_is_hollow(bars):
    bars.show_distribution(LOGITS, floats(0, 0.571, 0, 0.429), drawn=1)
    bars.grab()
    inside = first_of_bar(bars) + 5
    assert pixel(bars, 1, inside) == theme.KINDS["output head"]
    assert pixel(bars, 3, inside) not in (theme.KINDS["output head"], theme.LIGHT.card)
    hollow = {pixel(bars, 2, inside), pixel(bars, 0, inside)}
    assert hollow == {pixel(bars, 2, 215)}  # the ground
    assert [bars.is_cut(id) for id in range(4)] == [True, False, True, False]


def test_tool_tip_tells_logit_probability_and_rank_and_what_was_cut(bars):
    bars.show_distribution(LOGITS, floats(0, 0.571, 0, 0.429), drawn=1, piece=["a", "\n", "<", "d"].__getitem__)
    assert bars.tip(1) == "“↵”  id 1\nlogit -0.9163\nthe likeliest\nprobability 57.1 %"
    assert bars.tip(2) == "“<”  id 2\nlogit -1.609\nrank 2 of 4, counted from 0\ncut away; before the cuts 20.0 %"


def test_e07_tool_tip_shows_markup_as_it_is(bars, monkeypatch):
    shown = []
    monkeypatch.setattr(QToolTip, "showText", lambda _, text, *rest: shown.append(text))
    bars.show_distribution(floats(0), floats(1), piece=lambda id: "<b>&")
    bars.viewportEvent(QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    bars.viewportEvent(QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 100), QPoint(5, 100)))
    assert shown == ["<qt>“&lt;b&gt;&amp;”  id 0<br>logit 0<br>the likeliest<br>probability 100 %</qt>", ""]


def test_a05_a_single_token_is_a_single_bar_of_100_percent(bars):
    bars.show_distribution(floats(-3), floats(1), drawn=0, piece=lambda id: "a")
    assert ids(bars) == [0]
    assert "probability 100 %" in bars.tip(0)
    bars.grab()


def test_no_distribution_is_no_bar(bars):
    bars.show_distribution(LOGITS, floats(0.1, 0.4, 0.2, 0.3), drawn=2)
    bars.clear()
    assert len(bars) == 0
    assert bars.row_at(QPoint(5, 5)) is None
    bars.grab()


def test_arrow_keys_scroll_and_win_over_shortcuts_and_page_keys_do_not(bars, qtbot):
    logits = -np.arange(100, dtype=np.float32)
    bars.show_distribution(logits, before_cuts(logits, 1.0).astype(np.float32))
    qtbot.keyClick(bars, Qt.Key.Key_Down)
    assert bars.verticalScrollBar().value() == 1
    qtbot.keyClick(bars, Qt.Key.Key_End)
    assert bars.verticalScrollBar().value() == bars.verticalScrollBar().maximum()
    for key, wanted in ((Qt.Key.Key_Up, True), (Qt.Key.Key_PageDown, False), (Qt.Key.Key_Space, False)):
        override = QKeyEvent(QKeyEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        override.ignore()
        bars.event(override)
        assert override.isAccepted() is wanted


@pytest.mark.parametrize("points", [10, 16])
@pytest.mark.parametrize("piece", [str, lambda id: "a"], ids=["ids", "characters"])
def test_label_bar_and_number_fit_at_the_least_width(bars, points, piece, monkeypatch):
    theme.theme.use("light", points)
    try:
        logits = np.zeros(50_257, np.float32)
        bars.show_distribution(logits, before_cuts(logits, 1.0).astype(np.float32), drawn=50_256, piece=piece)
        assert bars.minimumWidth() >= LEAST_WIDTH
        bars.resize(bars.minimumWidth(), 200)
        # Beside the widest row at full length nothing is left over, and nothing is missing.
        end = first_of_bar(bars) + 8 + 8 + bars._number_width
        assert end <= bars.viewport().width()
    finally:
        theme.theme.use("light", 10)
