"""The optimizer: torch's own numbers to the last bit, without torch's compiler."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from engines import TINY

from gpt_viz.engine.adamw import BETAS, AdamW, Group
from gpt_viz.engine.initialise import build
from gpt_viz.engine.timeline import flat

ROOT = Path(__file__).resolve().parents[2]


def gradients(parameters, number):
    generator = torch.Generator().manual_seed(number)
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=generator)


def groups(model):
    parameters = list(model.parameters())
    return [each for each in parameters if each.dim() > 1], [each for each in parameters if each.dim() < 2]


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_each_step_is_torch_s_own_to_the_last_bit(weight_decay):
    mine, theirs = build(TINY, 3), build(TINY, 3)
    matrices, others = groups(mine)
    own = AdamW([Group(matrices, weight_decay), Group(others, 0.0)])
    matrices, others = groups(theirs)
    torchs = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}],
        betas=BETAS, fused=True,
    )  # fmt: skip
    for number in range(12):
        rate = 1e-3 * (number + 1)
        for group in torchs.param_groups:
            group["lr"] = rate
        for model in (mine, theirs):
            gradients(model.parameters(), number)
        own.step(rate)
        torchs.step()
    assert torch.equal(flat(mine.parameters()), flat(theirs.parameters()))


def test_a_step_is_counted_as_a_write_to_each_weight():
    model = build(TINY, 3)
    weights = list(model.parameters())
    before = [each._version for each in weights]
    gradients(weights, 0)
    AdamW([Group(weights, 0.1)]).step(1e-3)
    assert all(each._version > was for each, was in zip(weights, before, strict=True))


def test_what_it_remembers_can_be_handed_on():
    one, other = build(TINY, 3), build(TINY, 3)
    first, second = AdamW([Group(list(one.parameters()), 0.1)]), AdamW([Group(list(other.parameters()), 0.1)])
    for number in range(3):
        gradients(one.parameters(), number)
        first.step(1e-2)
    with torch.no_grad():
        for mine, theirs in zip(other.parameters(), one.parameters(), strict=True):
            mine.copy_(theirs)
    second.restore(first.state())
    for optimizer, model in ((first, one), (second, other)):
        gradients(model.parameters(), 9)
        optimizer.step(1e-2)
    assert torch.equal(flat(one.parameters()), flat(other.parameters()))
    second.restore({})
    assert all(float(state["step"]) == 0 and not state["exp_avg"].any() for state in second.state().values())


def test_a_weight_without_a_gradient_stays():
    weights = [torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)]
    weights[0].grad = torch.ones(2)
    AdamW([Group(weights, 0.1)]).step(0.1)
    assert weights[0][0] < 1
    assert weights[1].tolist() == [1, 1]


def test_the_first_step_of_a_process_imports_no_compiler():
    program = (
        "import sys, torch\n"
        "from gpt_viz.config import GPTConfig\n"
        "from gpt_viz.engine.initialise import build\n"
        "from gpt_viz.engine.training import Trainer\n"
        "from gpt_viz.schedule import TrainingSettings\n"
        "model = build(GPTConfig(vocabulary=5, block_size=4, layers=1, heads=1, width=4), 0)\n"
        "Trainer(model, torch.arange(30) % 5, TrainingSettings(batch=2)).step()\n"
        "print('torch._dynamo' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
