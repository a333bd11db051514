"""How two models of any kind are given the same text, and what of theirs can be held against each other."""

from dataclasses import replace

import pytest

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import ModelInfo, Tokens
from gpt_viz.ui.comparing.common_text import Given, prompt_for_other, same_heads, same_ids, tokens_for, unlike

CONFIG = GPTConfig(vocabulary=4, block_size=8, layers=1, heads=1, width=4)


def model(alphabet=None, pieces=None, **changes):
    return ModelInfo(
        config=replace(CONFIG, **changes), seed=0, device="cpu", alphabet=alphabet, tensors=(), total=0, bytes=0,
        elapsed_s=0.0, pieces=pieces,
    )  # fmt: skip


LETTERS, OTHERS = model(tuple("abcd")), model(tuple("dcba"))
PIECES, IDS = model(pieces=("a", "b", " c", "d")), model()
TOKENS = Tokens((0, 2, 1), ("a", "c", "b"))


@pytest.mark.parametrize("other", [LETTERS, IDS])
def test_where_an_id_is_the_same_token_to_both_they_get_the_ids(other):
    assert same_ids(LETTERS, other)
    assert same_ids(other, LETTERS)
    assert tokens_for(TOKENS, LETTERS, other) == Given(continuation=(0, 2, 1))


def test_where_it_is_not_they_get_the_text():
    assert not same_ids(LETTERS, OTHERS)
    assert tokens_for(TOKENS, LETTERS, OTHERS) == Given("acb")
    assert unlike(LETTERS, OTHERS) == "of their 4 tokens the two models share 4"
    assert unlike(LETTERS, model(vocabulary=9)) == "one model chooses among 4 tokens and the other among 9"


def test_a_text_that_the_other_does_not_know_or_has_no_room_for_is_refused_with_the_reason():
    capitals = model(tuple("ABCD"))
    assert tokens_for(TOKENS, LETTERS, capitals).reason == "the other model doesn't know “a”, “c”, “b”"
    short = model(tuple("abcd"), block_size=2)
    assert tokens_for(TOKENS, LETTERS, short).reason == "the other model sees at most 2 tokens, and this text has 3"
    reason = "one model reads text and the other ids below 9, so no text can be given to both"
    assert tokens_for(TOKENS, LETTERS, model(vocabulary=9)).reason == reason
    assert tokens_for(TOKENS, IDS, model(vocabulary=9)).reason == "one model has 4 tokens and the other 9"


def test_the_prompt_is_handed_on_as_it_is_to_a_model_that_reads_alike():
    assert prompt_for_other("abc", TOKENS, LETTERS, LETTERS) == Given("abc")
    assert prompt_for_other("0 1", None, IDS, IDS) == Given("0 1")
    assert prompt_for_other("abc", TOKENS, LETTERS, OTHERS) == Given("abc")


def test_a_model_of_ids_gets_the_prompt_s_ids_and_the_other_way_round_its_text():
    assert prompt_for_other("acb", TOKENS, PIECES, IDS) == Given("0 2 1")
    assert prompt_for_other("0 2 1", TOKENS, IDS, LETTERS) == Given("acb")
    unknown = "the other model reads ids, and those of this text are not known"
    for tokens in (None, replace(TOKENS, dropped=1)):
        assert prompt_for_other("acb", tokens, PIECES, IDS).reason == unknown


def test_heads_have_counterparts_where_there_are_as_many_in_as_many_layers():
    assert same_heads(LETTERS, OTHERS)
    assert not same_heads(LETTERS, model(heads=2))
    assert not same_heads(LETTERS, model(layers=2))
