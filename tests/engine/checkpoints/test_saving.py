"""Our own format: what goes in comes out, and a crash while saving leaves what was there."""

import json
import os

import pytest
import torch
from originals import Original
from safetensors import safe_open

from gpt_viz.config import GPTConfig
from gpt_viz.engine.census import total
from gpt_viz.engine.checkpoints import saving
from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.refusals import CheckpointError, Contradiction
from gpt_viz.engine.engine import Engine, NoModel
from gpt_viz.engine.initialise import build
from gpt_viz.protocol import Build, Built, CheckpointSaved, OpenCheckpoint, SaveCheckpoint

ALPHABET = tuple("\n abcdefg\u00e9\U0001f600")


@pytest.fixture
def model(tiny):
    return build(tiny, 5)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tied_head": False},
        {"tied_head": False, "head_bias": True, "qkv_bias": False, "dropout": 0.25, "scale": "multiply"},
        {"bias": False, "qkv_bias": False, "gelu": "tanh", "initialisation": "gpt2"},
        {"layers": 0, "heads": 1},
        {"heads": 12},
    ],
)
def test_a_saved_model_comes_back_bit_for_bit(tmp_path, tiny, changes):
    from dataclasses import replace

    config = replace(tiny, **changes)
    model = build(config, 5)
    history = {"steps": 3, "losses": [2.5, 2.4, 2.3], "runs": [{"sha256": "86c4", "text": "a.txt"}]}
    size = saving.save(tmp_path / "m.safetensors", model, alphabet=ALPHABET, seed=5, history=history)
    assert size == (tmp_path / "m.safetensors").stat().st_size
    found = open_checkpoint(tmp_path / "m.safetensors")
    assert found.model.config == config
    assert (found.alphabet, found.seed, found.history) == (ALPHABET, 5, history)
    assert not found.model.training
    for (name, one), (_, other) in zip(model.named_parameters(), found.model.named_parameters(), strict=True):
        assert torch.equal(one, other), name


def test_d10_a_tied_model_is_saved_once_and_still_tied_when_it_comes_back(tmp_path, model, said):
    saving.save(tmp_path / "m.safetensors", model, alphabet=None, seed=5)
    with safe_open(tmp_path / "m.safetensors", "pt") as file:
        assert "head.weight" not in file.keys()  # noqa: SIM118 (no mapping)
    found = open_checkpoint(tmp_path / "m.safetensors")
    assert total(found.model) == 4_020
    assert said(found, "tied")
    ids = torch.randint(11, (2, 8))
    with torch.no_grad():
        assert torch.equal(found.model(ids)[0], model(ids)[0])
    loss = found.model(ids, ids)[1]
    loss.backward()
    with torch.no_grad():
        found.model.token_embedding.weight -= found.model.token_embedding.weight.grad
    assert torch.equal(found.model.head.weight, found.model.token_embedding.weight)


def test_the_file_tells_of_itself_in_json(tmp_path, model):
    saving.save(tmp_path / "m.safetensors", model, alphabet=ALPHABET, seed=5, history={"steps": 1})
    with safe_open(tmp_path / "m.safetensors", "pt") as file:
        texts = file.metadata()
    assert json.loads(texts["config"])["width"] == 12
    assert json.loads(texts["alphabet"]) == "".join(ALPHABET)
    assert json.loads(texts["seed"]) == 5
    assert json.loads(texts["history"]) == {"steps": 1}


def test_every_kind_of_tensor_is_written_as_the_library_reads_it(tmp_path):
    from gpt_viz.engine.checkpoints.tensorfiles import write_safetensors

    draws = torch.Generator().manual_seed(1)
    kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8)
    tensors = {str(kind): (100 * torch.rand(3, 5, generator=draws)).to(kind) for kind in kinds}
    tensors |= {"bool": torch.tensor([True, False, True]), "one": torch.tensor(2.5), "none": torch.zeros(0, 4)}
    tensors["turned"] = torch.arange(6.0).reshape(2, 3).t()
    with open(tmp_path / "x.safetensors", "wb") as file:
        write_safetensors(file, tensors, {"a": "\u00e9\n", "empty": ""})
    with safe_open(tmp_path / "x.safetensors", "pt") as file:
        assert file.metadata() == {"a": "\u00e9\n", "empty": ""}
        for name, each in tensors.items():
            assert file.get_tensor(name).dtype == each.dtype
            assert torch.equal(file.get_tensor(name), each)


def test_the_state_of_a_run_goes_along_and_is_no_part_of_the_model(tmp_path, model, said):
    state = {"draws": torch.Generator().manual_seed(3).get_state(), "exp_avg.0": torch.ones(11, 12)}
    saving.save(tmp_path / "m.safetensors", model, alphabet=None, seed=5, state=state)
    found = open_checkpoint(tmp_path / "m.safetensors")
    assert total(found.model) == 4_020
    assert "training.draws" in said(found, "ignored")
    kept = saving.kept_state(tmp_path / "m.safetensors")
    assert kept.keys() == state.keys()
    assert all(torch.equal(kept[name], state[name]) for name in state)


def test_a_model_without_an_alphabet_stays_without_even_where_it_has_65_tokens(tmp_path):
    model = build(GPTConfig(block_size=4, layers=1, heads=1, width=4), 0)
    saving.save(tmp_path / "m.safetensors", model, alphabet=None, seed=0)
    assert open_checkpoint(tmp_path / "m.safetensors").alphabet is None


def test_our_weights_without_our_notes_are_recognised(tmp_path, model):
    torch.save(model.state_dict(), tmp_path / "m.pt")
    found = open_checkpoint(tmp_path / "m.pt")
    assert found.model.config.heads == 3
    assert total(found.model) == 4_020


def test_settings_of_a_later_version_are_ignored_and_missing_ones_inferred(tmp_path, model, said):
    from safetensors.torch import load_file, save_file

    saving.save(tmp_path / "m.safetensors", model, alphabet=None, seed=5)
    config = {"heads": 3, "rotary": True}
    texts = {"gpt_viz": "1", "config": json.dumps(config)}
    save_file(load_file(tmp_path / "m.safetensors"), tmp_path / "n.safetensors", texts)
    found = open_checkpoint(tmp_path / "n.safetensors")
    assert found.model.config == model.config
    assert "rotary" in said(found, "ignored")


def test_notes_that_contradict_the_weights_build_nothing(tmp_path, model):
    from safetensors.torch import load_file, save_file

    saving.save(tmp_path / "m.safetensors", model, alphabet=None, seed=5)
    texts = {"gpt_viz": "1", "config": json.dumps({"layers": 7})}
    save_file(load_file(tmp_path / "m.safetensors"), tmp_path / "n.safetensors", texts)
    with pytest.raises(Contradiction, match="layers 7, but its weights have 2"):
        open_checkpoint(tmp_path / "n.safetensors")


@pytest.mark.parametrize("moment", ["writing", "syncing", "replacing"])
def test_a_crash_while_saving_leaves_the_old_file_and_nothing_else(tmp_path, model, monkeypatch, moment):
    path = tmp_path / "m.safetensors"
    saving.save(path, model, alphabet=None, seed=5)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    def fail(*_):
        raise OSError(5, "Input/output error")

    places = {
        "writing": (saving, "write_safetensors", full),
        "syncing": (os, "fsync", fail),
        "replacing": (os, "replace", fail),
    }
    monkeypatch.setattr(*places[moment])
    with pytest.raises(CheckpointError, match=r"m\.safetensors could not be written: (No space left|Input/output)"):
        saving.save(path, build(model.config, 6), alphabet=None, seed=6)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["m.safetensors"]


def test_a_process_that_dies_while_saving_leaves_the_old_file(tmp_path, model, monkeypatch):
    path = tmp_path / "m.safetensors"
    saving.save(path, model, alphabet=None, seed=5)
    before = path.read_bytes()

    class Dies(BaseException):
        pass

    def die(*_):
        raise Dies

    monkeypatch.setattr(os, "replace", die)
    with pytest.raises(Dies):
        saving.save(path, build(model.config, 6), alphabet=None, seed=6)
    assert path.read_bytes() == before


def test_a_new_file_may_be_read_by_whom_other_new_files_may(tmp_path, model):
    (tmp_path / "plain").write_bytes(b"")
    saving.save(tmp_path / "m.safetensors", model, alphabet=None, seed=0)
    assert (tmp_path / "m.safetensors").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_places_where_no_file_can_be_are_refused_before_any_work(tmp_path, model):
    with pytest.raises(CheckpointError, match="is a folder"):
        saving.save(tmp_path, model, alphabet=None, seed=0)
    with pytest.raises(CheckpointError, match="there is no folder"):
        saving.save(tmp_path / "a" / "b.safetensors", model, alphabet=None, seed=0)


def test_a_link_goes_on_pointing_to_the_file_and_its_permissions_stay(tmp_path, model):
    real, link = tmp_path / "real.safetensors", tmp_path / "link.safetensors"
    saving.save(real, model, alphabet=None, seed=0)
    real.chmod(0o600)
    try:
        link.symlink_to(real)
    except OSError:
        pytest.skip("no links here")
    saving.save(link, model, alphabet=ALPHABET, seed=0)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert open_checkpoint(real).alphabet == ALPHABET


def test_the_engine_saves_what_it_holds_and_opens_it_into_another_slot(tmp_path, tiny):
    engine, path = Engine(), str(tmp_path / "m.safetensors")
    with pytest.raises(NoModel):
        list(engine.run(SaveCheckpoint(job=1, path=path)))
    list(engine.run(Build(job=2, config=tiny, seed=9, alphabet=ALPHABET)))
    saved = list(engine.run(SaveCheckpoint(job=3, path=path)))[-1]
    assert isinstance(saved, CheckpointSaved)
    assert saved.bytes == os.path.getsize(path)
    events = list(engine.run(OpenCheckpoint(job=4, slot="other", path=path)))
    built = next(each for each in events if isinstance(each, Built))
    assert (built.slot, built.job) == ("other", 4)
    assert (built.model.config, built.model.seed, built.model.alphabet) == (tiny, 9, ALPHABET)
    assert built.model.source == "m.safetensors"
    one, other = engine.model("current").model, engine.model("other").model
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_what_was_opened_from_elsewhere_is_saved_as_ours(tmp_path, opened_as):
    original = Original(tied=False, tanh=True)
    torch.save(original.nanogpt(masks=True), tmp_path / "theirs.pt")
    found = opened_as(tmp_path / "theirs.pt", original, "heads=3")
    saving.save(tmp_path / "ours.safetensors", found.model, alphabet=found.alphabet, seed=found.seed)
    again = opened_as(tmp_path / "ours.safetensors", original)
    assert again.model.config == found.model.config


def test_a_file_may_be_replaced_while_a_model_from_it_lives(tmp_path, model):
    path = tmp_path / "m.safetensors"
    saving.save(path, model, alphabet=None, seed=5)
    found = open_checkpoint(path)
    before = [each.clone() for each in found.model.parameters()]
    saving.save(path, build(model.config, 6), alphabet=None, seed=6)
    path.write_bytes(b"")
    assert all(torch.equal(a, b) for a, b in zip(before, found.model.parameters(), strict=True))
