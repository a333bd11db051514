"""The texts that ship: in the alphabet, complete, plain, and with placeholders that exist."""

import re
import string

import pytest

from gpt_viz import ledger, resources
from gpt_viz.config import PRESETS

LETTERS = set("BTCDHLNV")
PANELS = ("parameters", "shapes", "attention", "sampling", "step", "checks", "training", "weights", "compare")


def family(name):
    """The page of a step: its own name, but a block's `out` is another than a head's."""
    last = name.rpartition(".")[2]
    return "block_out" if last == "out" and ".heads." not in name else last


STEPS = sorted({family(step.name) for step in ledger.steps(PRESETS["step5"].config)})
PAGES = ["glossary.md", *(f"panels/{name}.md" for name in PANELS), *(f"steps/{name}.md" for name in STEPS)]


def test_the_passage_is_a_play_within_the_notebooks_alphabet():
    passage = resources.passage()
    assert 6_000 <= len(passage) <= 9_000
    assert set(passage) == set(resources.alphabet())
    assert passage[:32] == "Warden:\nWho left the lamp alight"
    for speech in passage.strip("\n").split("\n\n"):
        assert re.fullmatch(r"[A-Z][a-z]+:(\n\S.*\S)+|[A-Z][a-z]+:\n\S\S?", speech), speech


def test_the_alphabet_is_sorted_and_has_65_characters():
    assert len(resources.alphabet()) == 65
    assert list(resources.alphabet()) == sorted(set(resources.alphabet()))


@pytest.mark.parametrize("page", PAGES)
def test_each_page_is_plain_markdown(page):
    text = resources.text(f"text/{page}")
    assert len(text) > 100
    assert text.endswith("\n")
    assert not re.search(r"</?[a-z]+[ >/]", text), "HTML"
    assert max(len(line) for line in text.splitlines()) <= (120 if not page.startswith("steps/") else 800)


@pytest.mark.parametrize("name", STEPS)
def test_each_step_has_one_paragraph_with_known_placeholders(name):
    text = resources.text(f"text/steps/{name}.md")
    assert text.count("\n") == 1
    fields = [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
    assert set(fields) <= LETTERS
    assert "{" not in text.format(**dict.fromkeys(LETTERS, 7))


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_page_says_what_is_seen_how_to_read_it_and_what_to_press(name):
    text = resources.text(f"text/panels/{name}.md")
    assert text.startswith(f"# {name.capitalize()}\n")
    assert [text.count(f"**{part}.**") for part in ("What you see", "How to read it", "Try this")] == [1, 1, 1]


def test_the_glossary_explains_every_letter():
    text = resources.text("text/glossary.md")
    assert all(f"| {letter} | " in text for letter in LETTERS)
