"""Each place's line is found in the lesson, and is the one that gives the place its value."""

import re

import pytest

from gpt_viz import ledger, lesson
from gpt_viz.config import GPTConfig

PLACES = [step.name for step in ledger.steps(GPTConfig(layers=2, heads=2, width=8))]


@pytest.mark.parametrize("place", PLACES)
def test_every_place_has_its_line(place):
    found = lesson.line_of(place)
    variable = place.rpartition(".")[2]
    lit = found.lines[found.lit[0]]
    assert re.match(rf"{variable}(: Tensor)? = ", lit) or (place == "ids" and lit.startswith("def forward(self, ids"))
    assert 1 <= len(found.lines) <= 4
    assert found.file == "engine/model.py"


@pytest.mark.parametrize(
    ("place", "owner", "code"),
    [
        ("blocks.1.attn.heads.0.A", "Head", "softmax"),
        ("blocks.1.attn.heads.0.out", "Head", "@ v"),
        ("blocks.0.out", "Block", "self.mlp"),
        ("blocks.0.attn.proj", "MultiHeadAttention", "self.proj(concat)"),
        ("blocks.0.mlp.contract", "FeedForward", "self.proj(gelu)"),
        ("logits", "GPT", "self.head("),
        ("loss", "GPT", "cross_entropy"),
    ],
)
def test_the_line_is_the_one_that_computes_the_place(place, owner, code):
    found = lesson.line_of(place)
    assert found.class_name == owner
    assert code in found.lines[found.lit[0]]


def test_the_number_is_that_of_the_line_in_the_file():
    found = lesson.line_of("blocks.0.attn.heads.0.products")
    source = (lesson.Path(lesson.__file__).parent / lesson.FILE).read_text(encoding="utf-8").splitlines()
    assert source[found.number - 1].strip() == found.lines[found.lit[0]]
    assert source[found.number].strip() == found.lines[found.lit[0] + 1].strip()


@pytest.mark.parametrize("place", ["", "nothing", "blocks.0", "blocks.0.attn.heads.0", "blocks.0.nothing"])
def test_a_place_that_does_not_exist_is_said_to_have_no_line(place):
    with pytest.raises(LookupError):
        lesson.line_of(place)
