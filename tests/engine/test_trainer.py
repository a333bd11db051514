"""The trainer by itself: its numbers, its steps in parts, and what a step leaves as it was."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from engines import TINY, ended

from gpt_viz.engine.backpropagation import Embedding
from gpt_viz.engine.evaluation import evaluate, windows_in
from gpt_viz.engine.initialise import build
from gpt_viz.engine.model import Head
from gpt_viz.engine.timeline import flat
from gpt_viz.engine.training import Trainer, TrainingError, split
from gpt_viz.schedule import TrainingSettings

# The model that the golden losses were made with before anything was built around the trainer; those with dropout,
# which draws in an order of its own, by the trainer.
GOLDEN = replace(TINY, initialisation="step5")
PATTERN = torch.arange(400) % 7 + (torch.arange(400) % 5 == 0).long()
GOLDEN_SETTINGS = TrainingSettings(batch=4, steps=12, warmup=3, decay=0.1, rate=3e-3, seed=5)


def in_parts(trainer):
    """One step by its parts, and how often it paused."""
    steps, pauses = trainer.parts(), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, pauses
        pauses += 1


@pytest.mark.parametrize(
    ("changes", "expected", "norm", "loss"),
    [
        ({}, (6.963877, 5.357371, 5.245041), 3.059954, 5.139378),
        ({"dropout": 0.2}, (7.000135, 5.457042, 5.273031), 3.170439, 5.214252),
        ({"tied_head": False, "layers": 0}, (2.496933, 2.610190, 2.399810), 0.682409, 2.350306),
    ],
)
@pytest.mark.parametrize("parts", [False, True])
def test_given_settings_always_give_these_losses(changes, expected, norm, loss, parts):
    model = build(replace(GOLDEN, **changes), 3)
    trainer = Trainer(model, PATTERN, GOLDEN_SETTINGS)
    made = [in_parts(trainer)[0] if parts else trainer.step() for _ in range(12)]
    assert [each.loss for each in made[::4]] == pytest.approx(expected, abs=2e-5)
    assert made[-1].gradient_norm == pytest.approx(norm, abs=2e-4)
    assert [each.step for each in made] == list(range(12))
    assert ended(evaluate(model, PATTERN)) == pytest.approx(loss, abs=2e-5)


@pytest.mark.parametrize("changes", [{}, {"dropout": 0.2}, {"layers": 0}, {"tied_head": False, "head_bias": True}])
def test_a_step_in_parts_is_the_same_step_to_the_last_bit(changes):
    config = replace(GOLDEN, **changes)
    whole, parted = (Trainer(build(config, 3), PATTERN, GOLDEN_SETTINGS) for _ in range(2))
    for _ in range(4):
        made, pauses = in_parts(parted)
        assert made == whole.step()
        assert pauses == 2 * config.layers + 3
    assert torch.equal(flat(whole.model.parameters()), flat(parted.model.parameters()))


def test_a_step_in_parts_begins_anew_when_the_weights_were_written_to_between_two_of_them():
    model = build(replace(GOLDEN, dropout=0.2), 3)
    trainer, kept = Trainer(model, PATTERN, GOLDEN_SETTINGS), flat(model.parameters())
    steps = trainer.parts()
    for _ in range(3):
        next(steps)
    with torch.no_grad():
        for parameter in model.parameters():
            before = parameter.clone()
            parameter.zero_()
            parameter.copy_(before)
    made = ended(steps)
    other = Trainer(build(replace(GOLDEN, dropout=0.2), 3), PATTERN, GOLDEN_SETTINGS)
    assert made == other.step()
    assert torch.equal(flat(model.parameters()), flat(other.model.parameters()))
    assert not torch.equal(flat(model.parameters()), kept)


@pytest.mark.parametrize("pauses", range(8))
def test_what_is_kept_amid_a_step_goes_on_as_if_that_step_had_not_begun(pauses):
    config = replace(GOLDEN, dropout=0.2)
    trainer, other = (Trainer(build(config, 3), PATTERN, GOLDEN_SETTINGS) for _ in range(2))
    trainer.step()
    under_way = trainer.parts()
    for _ in range(pauses):
        next(under_way)
    state = copy.deepcopy(trainer.state())
    other.model.load_state_dict(trainer.model.state_dict())
    other.restore(state)
    assert other.step() == ended(under_way)
    assert other.step() == trainer.step()
    assert torch.equal(flat(trainer.model.parameters()), flat(other.model.parameters()))


@pytest.mark.parametrize("parts", [0, 1, 5])
def test_a_step_that_is_given_up_leaves_the_run_as_it_was(parts):
    model = build(replace(GOLDEN, dropout=0.2), 3)
    trainer = Trainer(model, PATTERN, GOLDEN_SETTINGS)
    steps = trainer.parts()
    for _ in range(parts):
        next(steps)
    steps.close()
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module.training for module in model.modules())
    other = Trainer(build(replace(GOLDEN, dropout=0.2), 3), PATTERN, GOLDEN_SETTINGS)
    assert [trainer.step() for _ in range(3)] == [other.step() for _ in range(3)]


def test_after_a_step_mode_stash_gradients_and_global_random_numbers_are_what_they_were():
    model = build(replace(GOLDEN, dropout=0.5), 3)
    trainer = Trainer(model, PATTERN, GOLDEN_SETTINGS)
    before = torch.get_rng_state()
    trainer.step()
    assert torch.equal(before, torch.get_rng_state())
    assert not any(module.training for module in model.modules())
    assert all(head.stash and head.A is None for head in model.modules() if isinstance(head, Head))
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.is_grad_enabled()


def test_an_estimate_is_the_mean_over_windows_that_do_not_overlap():
    model = build(GOLDEN, 3)
    ids = PATTERN[:35]  # four windows of 8 and their next tokens
    assert windows_in(len(ids), 8) == 4
    texts = ids[:32].view(4, 8)
    with torch.no_grad():
        expected = model(texts, ids[1:33].view(4, 8))[1].item()
    assert ended(evaluate(model, ids)) == pytest.approx(expected, abs=1e-6)
    assert ended(evaluate(model, ids, batch=1)) == pytest.approx(expected, abs=1e-6)
    with torch.no_grad():
        first_and_last = model(texts[[0, 3]], ids[1:33].view(4, 8)[[0, 3]])[1].item()
    assert ended(evaluate(model, ids, windows=2)) == pytest.approx(first_and_last, abs=1e-6)
    assert math.isnan(ended(evaluate(model, ids[:8])))


def test_the_validation_part_is_the_end_of_the_text():
    ids = torch.arange(100)
    assert [part.tolist() for part in split(ids, 0.25)] == [list(range(75)), list(range(75, 100))]
    assert [len(part) for part in split(ids, 0.0)] == [100, 0]


def test_a03_a_learning_rate_of_zero_changes_nothing_and_gives_no_nan():
    model = build(replace(GOLDEN, dropout=1.0), 3)
    before = flat(model.parameters())
    trainer = Trainer(model, PATTERN, TrainingSettings(steps=2, batch=2, rate=0.0))
    assert all(math.isfinite(trainer.step().loss) for _ in range(2))
    assert torch.equal(before, flat(model.parameters()))


def test_f19_a_gradient_that_is_not_finite_does_not_reach_the_weights(monkeypatch):
    model = build(TINY, 3)
    monkeypatch.setattr(Embedding, "back", lambda self, d: model.ln_f.weight.grad.fill_(math.nan))
    before = flat(model.parameters())
    trainer = Trainer(model, PATTERN, GOLDEN_SETTINGS)
    with pytest.raises(TrainingError, match="the gradient became nan at step 0"):
        trainer.step()
    assert torch.equal(before, flat(model.parameters()))
    assert all(parameter.grad is None for parameter in model.parameters())
