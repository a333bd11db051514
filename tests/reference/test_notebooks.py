"""The two presets held against the notebooks' own classes bit for bit, and against plain figures where those lack."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

from gpt_viz.config import PRESETS
from gpt_viz.engine.initialise import build

SEED = 1337
GOLDENS = json.loads((Path(__file__).parents[1] / "goldens" / "notebooks.json").read_text(encoding="utf-8"))
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABET = "\n !$&',-.3:;?" + LETTERS + LETTERS.lower()
IDS = [ALPHABET.index(character) for character in GOLDENS["text"]]


def load(path: Path):
    spec = importlib.util.spec_from_file_location(f"reference_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notebook(preset, shared, seed):
    """The notebook's model, made as the notebook makes it, without disturbing the tests' own random numbers."""
    module = load(shared / "reference" / f"{preset.replace('-', '_')}.py")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if preset == "step5":
            return module.GPT(V=65, T=64, d=128, H=4, L=4)
        return module.GPT(module.GPTConfig())


@pytest.fixture(params=["step5", "build-gpt"])
def preset(request):
    return request.param


@pytest.mark.parametrize("seed", [SEED, 0])
def test_a_preset_is_the_notebooks_model_bit_for_bit(preset, seed, shared, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    reference = notebook(preset, shared, seed)
    ours = build(PRESETS[preset].config, seed)
    theirs = list(reference.parameters())
    assert len(theirs) == len(list(ours.parameters())) == (93 if preset == "step5" else 94)
    for (name, mine), other in zip(ours.named_parameters(), theirs, strict=True):
        assert torch.equal(mine, other), name
    ids, targets = torch.tensor([IDS[:64], IDS[1:65]]), torch.tensor([IDS[1:65], IDS[2:66]])
    (logits, loss), (their_logits, their_loss) = ours(ids, targets), reference(ids, targets)
    assert torch.equal(logits, their_logits)
    assert torch.equal(loss, their_loss)


def test_the_stash_is_the_first_notebooks_stash(shared, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    reference = notebook("step5", shared, SEED)
    ours = build(PRESETS["step5"].config, SEED)
    ids = torch.tensor([IDS[:33]])
    ours(ids), reference(ids)
    for mine, other in zip(ours.blocks, reference.blocks, strict=True):
        for head, their_head in zip(mine.attn.heads, other.attn.heads, strict=True):
            assert torch.equal(head.A, their_head.A)


def test_the_loss_of_the_first_batch_is_the_notebooks_on_any_machine(preset):
    golden = GOLDENS[preset]
    model = build(PRESETS[preset].config, SEED)
    with torch.no_grad():
        logits, loss = model(torch.tensor([IDS[:64]]), torch.tensor([IDS[1:65]]))
    assert loss.item() == pytest.approx(golden["loss"], abs=1e-5)
    assert logits.double().sum().item() == pytest.approx(golden["logits_sum"], abs=1e-2)
    for place, value in golden["logits_diagonal"].items():
        assert logits[0, int(place), int(place)].item() == pytest.approx(value, abs=1e-5)


def test_the_weights_are_the_notebooks_on_any_machine(preset):
    golden = GOLDENS[preset]
    model = build(PRESETS[preset].config, SEED)
    parameters = dict(model.named_parameters())
    assert sum(each.numel() for each in parameters.values()) == golden["parameters"]
    assert sum(each.double().sum().item() for each in parameters.values()) == pytest.approx(
        golden["parameters_sum"], abs=1e-2
    )
    assert sum(each.double().square().sum().item() for each in parameters.values()) == pytest.approx(
        golden["parameters_square_sum"], rel=1e-6
    )
    for name, values in golden["first"].items():
        assert parameters[name].flatten()[:3].tolist() == pytest.approx(values, abs=1e-6), name
