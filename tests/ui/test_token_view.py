"""The text pane: real characters in and out, rows that grow at the cost of what is new, tokens that can be chosen."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QKeyEvent
from PySide6.QtWidgets import QToolTip

from gpt_viz.ui import theme
from gpt_viz.ui.widgets.token_page import shown
from gpt_viz.ui.widgets.token_view import PAD, TokenView
from gpt_viz.ui.widgets.wrapping import Wrapping, row_starts

SPECIAL = "<b>&\"'\n\t x</b>é漢😀\u0301"


@pytest.fixture
def view(qtbot):
    theme.theme.use("light", 10)
    widget = TokenView()
    qtbot.addWidget(widget)
    widget.resize(420, 240)
    widget.show()
    return widget


def one_by_one(widths, breaks, columns):
    """The rows as a person would fill them: the slow rule that the fast one is held against."""
    starts, column = [], None
    for token, (width, ends) in enumerate(zip(widths, breaks, strict=True)):
        if column is None or (column + width > columns and column > 0):
            starts.append(token)
            column = 0
        column = None if ends else column + width
    return starts


@pytest.mark.parametrize("widest", [1, 2, 9])
def test_rows_are_filled_as_by_hand_whatever_is_added_cut_off_or_resized(widest):
    random = np.random.default_rng(widest)
    for _ in range(150):
        count, columns = random.integers(0, 40), int(random.integers(1, 9))
        breaks = random.random(count) < 0.2
        widths = random.integers(1, widest + 1, count)
        widths[breaks & (random.random(count) < 0.5)] = 0
        expected = one_by_one(widths, breaks, columns)
        assert row_starts(widths, breaks, columns).tolist() == expected
        rows = Wrapping(columns)
        for part in np.array_split(np.arange(count), 5):
            rows.append(widths[part], breaks[part])
        assert [rows.span(row)[0] for row in range(rows.rows)] == expected
        kept = int(random.integers(0, count + 1))
        rows.truncate(kept)
        rows.rewrap(columns + 1)
        expected = one_by_one(widths[:kept], breaks[:kept], columns + 1)
        assert [rows.span(row)[0] for row in range(rows.rows)] == expected


def test_text_is_the_real_characters(view):
    view.start("First Citizen:\n", list("First Citizen:\n"))
    view.append([*"You ", "\n"])
    assert view.text() == "First Citizen:\nYou \n"
    assert len(view) == 20


def test_text_of_ids_has_spaces_between_them(view):
    view.start("12 7", ["12", "7"], " ")
    view.append(["50256", "3"])
    assert view.text() == "12 7 50256 3"
    view.truncate(2)
    assert view.text() == "12 7"
    view.start("12 7 ", ["12", "7"], " ")
    view.append(["5"])
    assert view.text() == "12 7 5"


def test_e07_every_character_is_kept_and_has_a_visible_form(view):
    view.start(SPECIAL, list(SPECIAL))
    assert view.text() == SPECIAL
    assert [shown(character) for character in "\n\t <&"] == ["↵", "⇥", "·", "<", "&"]
    assert shown("\u0301") == "U+0301"
    assert shown(" to\n") == "·to↵"
    view.grab()


def test_e07_tool_tip_shows_markup_as_it_is(view, monkeypatch):
    shown_tips = []
    monkeypatch.setattr(QToolTip, "showText", lambda _, text, *rest: shown_tips.append(text))
    view.start("<", ["<"])
    view.tip = lambda token: f"token {token}: <b>&"
    position = view.token_rect(0).center().toPoint()
    view.viewportEvent(QHelpEvent(QHelpEvent.Type.ToolTip, position, QPoint(5, 5)))
    view.viewportEvent(QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(400, 200), QPoint(5, 5)))
    assert shown_tips == ["<qt>token 0: &lt;b&gt;&amp;</qt>", ""]


@pytest.mark.parametrize("piece", ["x", "\n"])
def test_f17_fifty_thousand_tokens_cost_what_is_new_and_arrive_complete(view, piece):
    view.show()
    view.start("a", ["a"])
    placed = []
    for _ in range(500):
        before = view.page.rows.placed
        view.append([piece] * 100)
        placed.append(view.page.rows.placed - before)
    assert view.text() == "a" + piece * 50_000
    # Each batch lays out itself and the row that was begun before it.
    assert max(placed) <= 100 + view.page.rows.columns
    assert view.following


def test_f17_only_the_rows_in_sight_are_painted(view, monkeypatch):
    view.start("", [])
    view.append(["x"] * 50_000)
    painted = []
    monkeypatch.setattr(view.page, "paint_row", lambda painter, row: painted.append(row))
    view.grab()
    assert len(painted) <= view.height() // view.page.pitch + 2
    assert painted[-1] == view.page.rows.rows - 1


def test_f17_a_view_that_was_scrolled_up_stays_where_it_is(view):
    view.start("", [])
    view.append(["\n"] * 1000)
    view.verticalScrollBar().setValue(30)
    view.append(["\n"] * 1000)
    assert view.verticalScrollBar().value() == 30
    view.follow()
    view.append(["\n"] * 1000)
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum() > 2900


def test_text_wraps_at_the_width_and_a_line_break_hangs_behind_a_full_row(view):
    columns = view.page.rows.columns
    assert 40 < columns < 60
    view.start("", [])
    view.append([*("x" * columns), "\n", "y"])
    assert [view.page.rows.span(row) for row in range(view.page.rows.rows)] == [
        (0, columns + 1),
        (columns + 1, columns + 2),
    ]
    assert view.token_rect(columns).right() <= view.viewport().width()


def test_a_token_wider_than_the_view_has_a_row_to_itself(view):
    view.resize(80, 240)
    view.start("", [])
    view.append(["a", "b" * 500, "c"])
    assert view.page.rows.rows == 3
    assert view.token_rect(1).right() <= view.width()
    view.grab()


def test_clicking_chooses_the_token_under_the_mouse(view, qtbot):
    view.start("ab\ncd", list("ab\ncd"))
    for token in range(5):
        with qtbot.waitSignal(view.chosen) as chosen:
            qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.token_rect(token).center().toPoint())
        assert chosen.args == [token]
    with qtbot.waitSignal(view.chosen) as chosen:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 200))
    assert chosen.args == [-1]
    assert view.token_at(QPointF(PAD - 3, PAD + 3)) is None


def test_arrow_keys_move_along_the_tokens_and_win_over_shortcuts(view, qtbot):
    view.start("ab\ncd", list("ab\ncd"))
    chosen = []
    view.chosen.connect(chosen.append)
    view.chosen.connect(view.set_chosen)
    for key in ("Left", "Left", "Up", "Right", "Down", "Home", "End"):
        qtbot.keyClick(view, getattr(Qt.Key, f"Key_{key}"))
    assert chosen == [4, 3, 0, 1, 4, 0, 4]
    override = QKeyEvent(QKeyEvent.Type.ShortcutOverride, Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier)
    override.ignore()
    view.event(override)
    assert override.isAccepted()
    for other in (Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Backspace):
        override = QKeyEvent(QKeyEvent.Type.ShortcutOverride, other, Qt.KeyboardModifier.NoModifier)
        override.ignore()
        view.event(override)
        assert not override.isAccepted()


def test_choosing_a_token_far_up_scrolls_to_it(view, qtbot):
    view.start("", [])
    view.append(["\n"] * 500)
    view.set_chosen(499)
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.verticalScrollBar().value() == 0


def test_copy_puts_the_real_text_on_the_clipboard(view, qtbot):
    view.start(SPECIAL, list(SPECIAL))
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == SPECIAL


def test_given_and_sampled_tokens_and_the_chosen_one_are_painted_apart(view):
    view.start("████", list("████"))
    view.append(list("██ █"))
    view.set_chosen(6)
    image = view.grab().toImage()

    def colour(token):
        return image.pixelColor(view.token_rect(token).center().toPoint()).name().upper()

    assert colour(1) == theme.LIGHT.muted
    assert colour(5) == theme.LIGHT.text
    box = view.token_rect(6)
    assert image.pixelColor(int(box.center().x()), int(box.top()) + 5).name().upper() == theme.LIGHT.accent


def test_an_early_end_is_written_below_the_text_and_can_be_scrolled_to(view):
    view.start("", [])
    view.append(["\n"] * 500)
    before = view.verticalScrollBar().maximum()
    view.set_ending("incomplete")
    assert view.verticalScrollBar().maximum() == before + 1
    assert view.following


def test_another_theme_and_font_size_are_taken_over(view):
    view.start("abc", list("abc"))
    before = view.page.cell
    theme.theme.use("dark", 14)
    try:
        assert view.page.cell > before
        assert view.grab().toImage().pixelColor(200, 200).name().upper() == theme.DARK.field
    finally:
        theme.theme.use("light", 10)
