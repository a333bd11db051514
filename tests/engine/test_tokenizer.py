"""Text and ids: nothing is lost, and nothing unknown becomes a known id."""

import pytest

from gpt_viz.engine.tokenizer import AlphabetError, UnknownCharacters, tokenizer_for
from gpt_viz.resources import alphabet

ABC = tuple("\n abc")


def test_the_notebooks_alphabet_gives_the_notebooks_ids():
    tokenizer = tokenizer_for(alphabet(), 65)
    assert tokenizer.encode("First Citizen:\n") == [18, 47, 56, 57, 58, 1, 15, 47, 58, 47, 64, 43, 52, 10, 0]
    assert tokenizer.decode(range(65)) == "".join(alphabet())
    assert len(alphabet()) == 65


@pytest.mark.parametrize(
    ("prompt", "unknown", "named"),
    [
        ("a?b", ((1, "?"),), "'?' at 2"),
        ("ABC", ((0, "A"), (1, "B"), (2, "C")), "'A' at 1, 'B' at 2 and 'C' at 3"),
        ("ab\u00e9", ((2, "\u00e9"),), "'é' at 3"),
        ("\U0001f600", ((0, "\U0001f600"),), "'😀' at 1"),
        ("a\tb", ((1, "\t"),), "U+0009 at 2"),
        ("e\u0301", ((0, "e"), (1, "\u0301")), "'e' at 1 and U+0301 at 2"),
    ],
)
def test_b10_unknown_characters_are_named_with_their_positions(prompt, unknown, named):
    tokenizer = tokenizer_for(ABC, 5)
    with pytest.raises(UnknownCharacters) as refused:
        tokenizer.encode(prompt)
    assert refused.value.unknown == unknown
    assert named in str(refused.value)
    assert isinstance(refused.value, ValueError)
    assert refused.value.field == "text"


def test_b10_three_unknown_characters_are_named_and_the_others_counted():
    with pytest.raises(UnknownCharacters, match=r"'1' at 1, '2' at 2, '3' at 3 and 997 more") as refused:
        tokenizer_for(ABC, 5).encode("1234567890" * 100)
    assert len(refused.value.unknown) == 1000


def test_b12_code_points_survive_the_way_there_and_back():
    text = "e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd\n" * 40
    characters = tuple(sorted(set(text)))
    tokenizer = tokenizer_for(characters, len(characters))
    assert len(tokenizer.encode(text)) == len(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_d13_ids_without_a_character_are_shown_as_a_placeholder():
    tokenizer = tokenizer_for(ABC, 16)
    assert tokenizer.piece(4) == "c"
    assert tokenizer.piece(5) == "‹5›"
    assert tokenizer.decode([2, 15, 3]) == "a‹15›b"
    assert tokenizer.piece(-1) == "‹-1›"


def test_an_alphabet_longer_than_the_vocabulary_is_refused_with_both_numbers():
    with pytest.raises(AlphabetError, match=r"5 different characters, but the vocabulary is 4; make .* 5 or larger"):
        tokenizer_for(ABC, 4)


@pytest.mark.parametrize("characters", [("a", "a"), ("ab", "c"), ("",)])
def test_an_alphabet_of_anything_but_different_single_characters_is_refused(characters):
    with pytest.raises(AlphabetError):
        tokenizer_for(characters, 9)


def test_without_an_alphabet_the_text_is_the_ids():
    tokenizer = tokenizer_for(None, 50_257)
    assert tokenizer.encode(" 12 7\n3\t50256 ") == [12, 7, 3, 50_256]
    assert tokenizer.decode([12, 7, 3]) == "12 7 3"
    assert tokenizer.piece(50_256) == "50256"
    assert tokenizer.encode("") == []
    assert tokenizer.encode("007") == [7]


@pytest.mark.parametrize("word", ["11", "-1", "x", "1.5", "1_0", "+3", "٣", "9" * 5000])
def test_f14_words_that_are_no_id_are_named_with_their_position(word):
    with pytest.raises(UnknownCharacters, match=r"at 3 .*ids from 0 to 10") as refused:
        tokenizer_for(None, 11).encode(f"1 {word} 10")
    assert refused.value.unknown == ((2, word),)


def test_the_empty_text_has_no_ids():
    assert tokenizer_for(ABC, 5).encode("") == []
