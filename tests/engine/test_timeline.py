"""Moments of a model: kept densely at first and sparser later, within a limit, and put back bit for bit."""

import gc
import weakref
from itertools import pairwise

import pytest
import torch
from engines import TINY

from gpt_viz.engine.initialise import build
from gpt_viz.engine.timeline import LEAST, NoMoment, Timeline, flat

EACH = 4_020 * 4


@pytest.fixture
def model():
    return build(TINY, 3)


def run(timeline, steps):
    """Keep what is due of a run of so many steps."""
    for step in range(1, steps + 1):
        if timeline.wants(step):
            timeline.keep(step)


def nudge(model, by):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(by)


def test_every_early_step_is_kept_then_one_in_twenty_of_the_way(model):
    timeline = Timeline(model)
    timeline.keep(0)
    run(timeline, 2000)
    steps = timeline.steps
    assert steps[:40] == tuple(range(40))
    gaps = [after - before for before, after in pairwise(steps)]
    assert all(gap <= max(1, after / 20) + 1 for gap, after in zip(gaps, steps[1:], strict=True))
    assert len(steps) < 130


def test_a_limit_holds_and_the_first_moment_stays(model):
    timeline = Timeline(model, limit_bytes=12 * EACH)
    timeline.keep(0)
    run(timeline, 5000)
    steps = timeline.steps
    assert len(steps) == 12
    assert timeline.bytes == 12 * EACH <= timeline.limit_bytes
    assert steps[0] == 0
    assert 4700 < steps[-1] <= 5000
    assert sum(step < 200 for step in steps) >= 3  # the beginning is not thinned away
    assert steps == tuple(sorted(steps))


def test_a_model_larger_than_the_limit_keeps_the_least(model):
    timeline = Timeline(model, limit_bytes=10)
    timeline.keep(0)
    run(timeline, 50)
    assert len(timeline) == LEAST
    assert timeline.steps[0] == 0


def test_a_moment_comes_back_bit_for_bit_with_a_tied_head_counted_once(model):
    timeline = Timeline(model)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    timeline.keep(0)
    nudge(model, 0.1)
    timeline.keep(1)
    later = flat(model.parameters())
    timeline.put(timeline.at(0))
    assert all(torch.equal(before[name], parameter) for name, parameter in model.named_parameters())
    assert model.head.weight is model.token_embedding.weight
    timeline.put(timeline.at(1))
    assert torch.equal(later, flat(model.parameters()))
    assert timeline.bytes == 2 * EACH


def test_a_kept_moment_does_not_change_with_the_model(model):
    timeline = Timeline(model)
    timeline.keep(0)
    kept = timeline.at(0).clone()
    nudge(model, 1.0)
    assert torch.equal(timeline.at(0), kept)


def test_weights_that_are_put_back_are_seen_as_changed(model):
    timeline = Timeline(model)
    timeline.keep(0)
    versions = [parameter._version for parameter in model.parameters()]
    timeline.put(timeline.at(0))
    assert all(now._version > was for now, was in zip(model.parameters(), versions, strict=True))


def test_a_moment_that_was_not_kept_is_refused_with_its_neighbours(model):
    timeline = Timeline(model)
    with pytest.raises(NoMoment, match="none was"):
        timeline.at(7)
    for step in (0, 5, 9, 30):
        timeline.keep(step)
    with pytest.raises(NoMoment, match="step 7 were not kept; the nearest that were are 5 and 9"):
        timeline.at(7)


def test_forgetting_leaves_the_first_moment_alone(model):
    timeline = Timeline(model)
    for step in range(5):
        timeline.keep(step)
    dropped = weakref.ref(timeline.at(3))
    timeline.forget()
    gc.collect()
    assert timeline.steps == (0,)
    assert dropped() is None
