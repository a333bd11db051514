"""A file can ask for any function to be called; none ever is. Each attack leaves a folder where it worked."""

import argparse
import collections
import os
import pickle
import subprocess
import zipfile

import numpy as np
import pytest
import torch
from originals import Original

from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.refusals import CheckpointError, WantsCode


class Attack:
    """Pickled, it is a call of `function` with `arguments`."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.fixture
def marker(tmp_path):
    """A folder that an attack would make; at the end of the test it is not there."""
    folder = tmp_path / "marker"
    yield str(folder)
    assert not folder.exists()


def _attacks(marker):
    return {
        "mkdir": Attack(os.mkdir, marker),
        "system": Attack(os.system, f"mkdir {marker}"),
        "eval": Attack(eval, f"__import__('os').mkdir({marker!r})"),
        "exec": Attack(exec, f"import os; os.mkdir({marker!r})"),
        "popen": Attack(subprocess.Popen, ["mkdir", marker]),
        "load": Attack(pickle.loads, pickle.dumps(Attack(os.mkdir, marker))),
        "torch": Attack(torch.load, marker),
    }


ATTACKS = tuple(_attacks(""))


def test_the_attacks_do_work_where_nothing_stops_them(tmp_path):
    for name in ("mkdir", "system", "eval", "exec", "load"):
        folder = tmp_path / name
        pickle.loads(pickle.dumps(_attacks(str(folder))[name]))
        assert folder.is_dir()


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("place", ["model", "config", "optimizer", "model_args", "itos", "weight"])
def test_d03_a_hostile_pickle_runs_nothing_wherever_it_hides(tmp_path, marker, place, name):
    original, attack = Original(), _attacks(marker)[name]
    file = {"model": original.nanogpt(), "model_args": original.model_args(), "config": {}, "optimizer": {}}
    if place == "weight":
        file["model"]["transformer.wte.weight"] = attack
    else:
        file[place] = attack
    torch.save(file, tmp_path / "ckpt.pt")
    with pytest.raises(WantsCode, match=r"ckpt\.pt wants to run code \(.*\) and was not opened") as refused:
        open_checkpoint(tmp_path / "ckpt.pt")
    assert "\x1b" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "weights_only" not in str(refused.value)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("name", ATTACKS)
def test_d03_a_hostile_file_is_refused_in_either_kind_of_torch_file(tmp_path, marker, name, old):
    torch.save(_attacks(marker)[name], tmp_path / "x.pt", _use_new_zipfile_serialization=not old)
    with pytest.raises(WantsCode):
        open_checkpoint(tmp_path / "x.pt")


@pytest.mark.parametrize("protocol", range(6))
def test_d03_a_bare_pickle_that_calls_itself_a_checkpoint_runs_nothing(tmp_path, marker, protocol):
    (tmp_path / "x.pt").write_bytes(pickle.dumps({"model": Attack(os.mkdir, marker)}, protocol))
    with pytest.raises(CheckpointError):
        open_checkpoint(tmp_path / "x.pt")


def test_d03_settings_of_the_environment_do_not_open_the_door(tmp_path, marker, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    torch.save({"model": Attack(os.mkdir, marker)}, tmp_path / "x.pt")
    with pytest.raises(WantsCode):
        open_checkpoint(tmp_path / "x.pt")


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", ATTACKS)
def test_d03_a_hostile_meta_file_runs_nothing(tmp_path, marker, name, protocol):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    table = {"itos": dict(enumerate("abcdefghijk")), "stoi": _attacks(marker)[name]}
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps(table, protocol))
    with pytest.raises(WantsCode, match=r"meta\.pkl wants to run code \(.*\) and was not opened"):
        open_checkpoint(tmp_path / "ckpt.pt")


@pytest.mark.parametrize(
    "thing", [collections.OrderedDict(a=1), np.float64(1.0), argparse.Namespace(a=1), os.mkdir, dict.fromkeys, range(3)]
)
def test_a_meta_file_may_name_nothing_at_all(tmp_path, thing):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps({"itos": thing}))
    with pytest.raises(WantsCode):
        open_checkpoint(tmp_path / "ckpt.pt")


@pytest.mark.parametrize("bytes", [b"", b"\x80", b"\x80\x04K", b"hello", b"(lp0\n", b"\x80\x04\x8c\xff", b"cos\n"])
def test_a_broken_meta_file_is_said_to_be_broken(tmp_path, bytes):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    (tmp_path / "meta.pkl").write_bytes(bytes)
    with pytest.raises(CheckpointError, match=r"^meta\.pkl is damaged"):
        open_checkpoint(tmp_path / "ckpt.pt")


def test_d03_the_model_that_was_there_stays(tmp_path, marker):
    from gpt_viz.config import GPTConfig
    from gpt_viz.engine.engine import Engine
    from gpt_viz.protocol import Build, OpenCheckpoint

    engine = Engine()
    list(engine.run(Build(job=1, config=GPTConfig(vocabulary=5, block_size=4, layers=1, heads=1, width=4))))
    before = engine.model("current")
    torch.save({"model": Attack(os.mkdir, marker)}, tmp_path / "x.pt")
    with pytest.raises(WantsCode):
        list(engine.run(OpenCheckpoint(job=2, path=str(tmp_path / "x.pt"))))
    assert engine.model("current") is before


@pytest.mark.parametrize("loss", [np.float64(1.5), np.float32(1.5), np.int64(3), np.bool_(True), torch.tensor(1.5)])
@pytest.mark.parametrize("old", [True, False])
def test_d05_a_numpy_number_in_an_honest_checkpoint_is_read(tmp_path, opened_as, loss, old):
    original = Original()
    file = {"model": original.nanogpt(), "model_args": original.model_args(), "best_val_loss": loss}
    torch.save(file, tmp_path / "ckpt.pt", _use_new_zipfile_serialization=not old)
    opened_as(tmp_path / "ckpt.pt", original)


def test_d05_numpy_numbers_are_read_as_what_they_are(tmp_path):
    from gpt_viz.engine.checkpoints.pickles import read_torch

    numbers = [np.float64(1.5), np.float32(-0.25), np.float16(2), np.int64(-(2**40)), np.uint8(255), np.bool_(True)]
    torch.save(numbers, tmp_path / "x.pt")
    assert read_torch(tmp_path / "x.pt", True) == [1.5, -0.25, 2.0, -(2**40), 255, True]


def test_d05_numpy_numbers_of_the_older_numpy_are_read(tmp_path):
    from gpt_viz.engine.checkpoints.pickles import read_torch

    torch.save([np.float64(1.5)], tmp_path / "new.pt")
    with zipfile.ZipFile(tmp_path / "new.pt") as new, zipfile.ZipFile(tmp_path / "old.pt", "w") as old:
        for each in new.namelist():
            old.writestr(each, new.read(each).replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    assert read_torch(tmp_path / "old.pt", True) == [1.5]


@pytest.mark.parametrize("thing", [np.ones(3), np.dtype("O"), np.str_("x"), np.datetime64("2020-01-01")])
def test_d05_of_numpy_nothing_but_numbers_is_made(tmp_path, thing):
    torch.save({"model": {}, "best": thing}, tmp_path / "x.pt")
    with pytest.raises(CheckpointError):
        open_checkpoint(tmp_path / "x.pt")


def test_d05_a_namespace_is_named_with_the_way_to_save_it_again(tmp_path):
    original = Original()
    torch.save({"model": original.nanogpt(), "config": argparse.Namespace(n_head=3)}, tmp_path / "ckpt.pt")
    with pytest.raises(WantsCode, match=r"argparse\.Namespace.*save it again.*vars\(\)") as refused:
        open_checkpoint(tmp_path / "ckpt.pt")
    assert len(str(refused.value)) < 300
    file = {"model": original.nanogpt(), "config": vars(argparse.Namespace(n_head=3))}
    torch.save(file, tmp_path / "again.pt")
    assert open_checkpoint(tmp_path / "again.pt").model.config.heads == 3


def test_d05_a_whole_pickled_module_is_refused_with_the_way_to_save_it_again(tmp_path):
    torch.save(torch.nn.Linear(2, 2), tmp_path / "x.pt")
    with pytest.raises(WantsCode, match=r"torch\.nn\.modules\.linear\.Linear.*state_dict\(\)"):
        open_checkpoint(tmp_path / "x.pt")


def test_nothing_that_was_allowed_stays_allowed(tmp_path):
    before = set(map(str, torch.serialization.get_safe_globals()))
    torch.save(Original(qkv_bias=False, tied=False).step5(), tmp_path / "x.pt")
    open_checkpoint(tmp_path / "x.pt")
    assert set(map(str, torch.serialization.get_safe_globals())) == before
