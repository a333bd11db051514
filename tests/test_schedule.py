"""Training settings: what is refused and in which words, and the learning rate step by step."""

import math

import pytest

from gpt_viz.config import ConfigError
from gpt_viz.schedule import TrainingSettings


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("batch", 0, ("batch", "0", "from 1 to 1,000,000")),
        ("batch", 2.5, ("batch", "2.5", "whole number")),
        ("batch", True, ("batch", "True")),
        ("steps", 0, ("steps", "0", "from 1")),
        ("rate", -1, ("learning rate", "-1", "from 0 to")),
        ("rate", math.nan, ("learning rate", "nan", "from 0 to")),
        ("rate", math.inf, ("learning rate", "inf")),
        ("warmup", -1, ("warmup", "-1", "from 0")),
        ("decay", 1.5, ("decay", "1.5", "from 0 to 1")),
        ("weight_decay", -0.1, ("weight decay", "-0.1")),
        ("validation", 0.95, ("validation share", "0.95", "from 0 to 0.9")),
        ("eval_every", 0, ("eval every", "0")),
        ("clip", math.nan, ("gradient clip", "nan")),
        ("seed", -1, ("seed", "-1")),
        ("seed", 2**63, ("seed", "2^63")),
    ],
)
def test_a03_nonsense_is_refused_with_field_value_and_range(field, value, words):
    with pytest.raises(ConfigError) as caught:
        TrainingSettings(**{field: value})
    assert caught.value.field == field
    for word in words:
        assert word in str(caught.value)


def test_a03_a_learning_rate_of_zero_is_allowed():
    assert [TrainingSettings(rate=0, warmup=2, decay=0.1).rate_at(step) for step in (0, 1, 5)] == [0, 0, 0]


def test_without_warmup_and_decay_the_rate_stays():
    settings = TrainingSettings(steps=10, rate=2e-3)
    assert {settings.rate_at(step) for step in range(20)} == {2e-3}


def test_the_rate_rises_in_a_line_and_falls_along_half_a_cosine():
    settings = TrainingSettings(steps=104, rate=1.0, warmup=4, decay=0.1)
    assert [settings.rate_at(step) for step in range(4)] == [0.25, 0.5, 0.75, 1.0]
    assert settings.rate_at(4) == 1.0
    assert settings.rate_at(54) == pytest.approx(0.55)
    assert settings.rate_at(104) == pytest.approx(0.1)
    assert settings.rate_at(500) == pytest.approx(0.1)
    falling = [settings.rate_at(step) for step in range(4, 104)]
    assert falling == sorted(falling, reverse=True)


def test_a_warmup_longer_than_the_run_never_reaches_the_peak():
    settings = TrainingSettings(steps=5, rate=1.0, warmup=10)
    assert [settings.rate_at(step) for step in range(5)] == [0.1, 0.2, 0.3, 0.4, 0.5]
