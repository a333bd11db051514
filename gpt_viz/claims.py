"""What is claimed of every model: the checks by name and in order, their titles, claims and explanations.

The words are in resources/text/checks; the numbers in them come from the check's own facts. Knows no torch and no Qt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpt_viz import resources

NAMES = (
    "parameter_count",
    "causality",
    "attention_rows",
    "mask",
    "initial_loss",
    "memorise",
    "gradients",
    "shapes",
    "layernorm",
    "scaled_scores",
    "before_sample",
    "validation_loss",
    "device",
)

Fact = int | float | str
_PLACE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Page:
    """The words of one check: its title, what it claims in one sentence, and paragraphs of plain text."""

    title: str
    claim: str
    paragraphs: tuple[str, ...]

    def explanation(self, facts: Mapping[str, Fact]) -> str:
        """The paragraphs with the facts put in. One that speaks of a fact that is not known is left out.

        >>> Page("", "", ("It is {total:,}.", "Of {nobody}.")).explanation({"total": 1234})
        'It is 1,234.'
        """
        known = [each for each in self.paragraphs if all(name in facts for name, _ in _PLACE.findall(each))]
        return "\n\n".join(_PLACE.sub(lambda found: format(facts[found[1]], found[2] or ""), each) for each in known)


@cache
def page(name: str) -> Page:
    """The words of a check. Raises KeyError for a name that there is not."""
    if name not in NAMES:
        raise KeyError(name)
    title, claim, *paragraphs = resources.text(f"text/checks/{name}.md").replace("\r", "").strip().split("\n\n")
    # One line a paragraph: it is broken where it is shown.
    return Page(title.removeprefix("# "), " ".join(claim.split()), tuple(" ".join(each.split()) for each in paragraphs))
