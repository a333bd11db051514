"""The words of the checks: one page for each, in one form, with no placeholder that its check can't fill."""

import re

import pytest

from gpt_viz import claims, resources
from gpt_viz.claims import NAMES, Page, page


@pytest.mark.parametrize("name", NAMES)
def test_each_check_has_a_title_a_claim_of_one_sentence_and_an_explanation(name):
    text, words = resources.text(f"text/checks/{name}.md"), page(name)
    assert text.startswith(f"# {words.title}\n\n{words.claim[:20]}")
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 120
    assert not re.search(r"</?[a-z]+[ >/]", text), "HTML"
    assert words.claim.endswith(".")
    assert "{" not in words.claim
    assert len(words.paragraphs) >= 2
    assert all("\n" not in paragraph for paragraph in words.paragraphs)


def test_a_paragraph_that_speaks_of_what_is_not_known_is_left_out():
    words = Page("t", "c", ("Always.", "{loss:.2f} and {missing}.", "{loss:.2f} alone."))
    assert words.explanation({}) == "Always."
    assert words.explanation({"loss": 1.234}) == "Always.\n\n1.23 alone."


def test_there_is_no_page_for_a_check_that_there_is_not():
    with pytest.raises(KeyError):
        page("nothing")


def test_every_placeholder_is_a_fact_of_its_check(monkeypatch):
    torch = pytest.importorskip("torch")
    from gpt_viz.config import GPTConfig
    from gpt_viz.engine.checks import Exam, elsewhere, prepared, tried
    from gpt_viz.engine.initialise import build

    def ended(steps):
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    monkeypatch.setattr(elsewhere, "is_elsewhere", lambda there: True)
    config = GPTConfig(vocabulary=20, block_size=16, layers=1, heads=2, width=16)
    model, ids = build(config, 0), [number % 20 for number in range(17)]
    with torch.no_grad():
        loss = float(model(torch.tensor([ids[:-1]]), torch.tensor([ids[1:]]))[1])
    exam = Exam(torch.tensor(ids), loss, 5, 0, "a text", 0.1, ((0, 3.0), (5, loss)))
    with torch.no_grad():
        specimen = ended(prepared(model, ids, exam=exam))
    for name in NAMES:
        outcome = ended(tried(name, specimen))
        assert outcome.passed is True, name
        wanted = set(re.findall(r"\{(\w+)", resources.text(f"text/checks/{name}.md")))
        assert wanted <= set(outcome.facts), name
        filled = page(name).explanation(outcome.facts)
        assert "{" not in filled
        assert len(filled.split("\n\n")) == len(page(name).paragraphs)


def test_the_names_are_those_of_the_files():
    folder = resources.ROOT / "text/checks"
    assert {each.stem for each in folder.iterdir()} == set(claims.NAMES)
