"""Every token can be seen, whatever its text."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpt_viz.ui.widgets.glyphs import is_invisible, is_mark, visible


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        (" ", "␣"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("\r", "U+000D"),
        ("\0", "U+0000"),
        ("\x7f", "U+007F"),
        ("\u00a0", "U+00A0"),
        ("\u00ad", "U+00AD"),
        ("\u200d", "U+200D"),
        ("\u2028", "U+2028"),
        ("\ufeff", "U+FEFF"),
        ("\ufe0f", "U+FE0F"),
        ("\u3164", "U+3164"),
        ("\ud800", "U+D800"),
        ("\ue000", "U+E000"),
        ("\U000e0020", "U+E0020"),
    ],
)
def test_a_character_without_ink_gets_a_visible_form_and_counts_as_invisible(piece, shown):
    assert visible(piece) == shown
    assert is_invisible(piece)


@pytest.mark.parametrize("piece", ["a", "<", "&", '"', "'", "é", "ж", "字", "😀", "🇩", "🏽", "␣", "↵", "‹70›"])
def test_e07_ink_is_shown_as_it_is(piece):
    assert visible(piece) == piece
    assert not is_invisible(piece)


def test_e07_a_longer_piece_keeps_its_letters_and_shows_its_white_space():
    assert visible('<b>&\n\t x"</b>') == '<b>&↵⇥␣x"</b>'
    assert not is_invisible(" x")
    assert is_invisible(" \n")


def test_b12_an_accent_alone_is_named_and_stays_on_its_letter_in_one_piece():
    assert visible("\u0301") == "U+0301"
    assert visible("e\u0301") == "e\u0301"
    assert visible(" \u0301") == "␣U+0301"
    assert visible("e\u200d\u0301") == "eU+200DU+0301"
    assert is_mark("\u0301")
    assert not is_mark("e")


def test_nothing_is_made_of_nothing():
    assert visible("") == ""
    assert not is_invisible("")


@given(st.characters(max_codepoint=sys.maxunicode))
def test_every_character_has_a_visible_form(character):
    shown = visible(character)
    assert shown
    assert not is_invisible(shown)
