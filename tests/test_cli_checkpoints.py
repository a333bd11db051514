"""Checkpoints on the command line: every command takes them, the report is on stderr or in the JSON document."""

import json

import numpy as np
import pytest
import torch

from gpt_viz.config import GPTConfig
from gpt_viz.engine.checkpoints.saving import save
from gpt_viz.engine.initialise import build

CONFIG = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
ALPHABET = tuple(" abcdefghij")


@pytest.fixture
def ours(tmp_path):
    """A file of our own of a model that reads characters."""
    path = tmp_path / "mine.safetensors"
    save(path, build(CONFIG, 3), alphabet=ALPHABET, seed=3)
    return path


@pytest.fixture
def bare(tmp_path):
    """The same weights as nanoGPT names them, without a word on heads and alphabet."""
    state = {}
    for name, each in build(CONFIG, 3).state_dict().items():
        state[name] = each
    fused = {"transformer.wte.weight": state["token_embedding.weight"]}
    fused["transformer.wpe.weight"] = state["position_embedding.weight"]
    for layer in range(2):
        here, there = f"blocks.{layer}", f"transformer.h.{layer}"
        for kind in ("weight", "bias"):
            fused[f"{there}.ln_1.{kind}"] = state[f"{here}.ln1.{kind}"]
            fused[f"{there}.ln_2.{kind}"] = state[f"{here}.ln2.{kind}"]
            fused[f"{there}.attn.c_attn.{kind}"] = torch.cat(
                [state[f"{here}.attn.heads.{h}.{part}.{kind}"] for part in ("query", "key", "value") for h in range(3)]
            )
            fused[f"{there}.attn.c_proj.{kind}"] = state[f"{here}.attn.proj.{kind}"]
            fused[f"{there}.mlp.c_fc.{kind}"] = state[f"{here}.mlp.fc.{kind}"]
            fused[f"{there}.mlp.c_proj.{kind}"] = state[f"{here}.mlp.proj.{kind}"]
    fused |= {f"transformer.ln_f.{kind}": state[f"ln_f.{kind}"] for kind in ("weight", "bias")}
    torch.save(fused, tmp_path / "ckpt.pt")
    return tmp_path / "ckpt.pt"


def test_params_counts_the_opened_module(run, ours):
    code, out, err = run("params", "--checkpoint", ours, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["total"] == found["formula_total"] == 4_020
    assert found["checkpoint"]["name"] == "mine.safetensors"
    assert {"recognised", "tied", "alphabet"} <= {each["what"] for each in found["checkpoint"]["report"]}


def test_the_report_goes_to_stderr_and_the_answer_to_stdout(run, ours):
    code, out, err = run("params", "--checkpoint", ours)
    assert code == 0
    assert out.startswith("mine.safetensors: 4,020 parameters\n")
    assert "recognised" not in out
    assert next(line.split()[1] for line in err.splitlines()) == "recognised"
    assert "11 characters in the file" in err


def test_sample_continues_with_the_opened_weights(run, ours, bare):
    words = ("--prompt", "abc", "--tokens", "6", "--temperature", "0")
    code, out, err = run("sample", "--checkpoint", ours, *words)
    assert code == 0
    assert out.startswith("abc")
    assert len(out) == 9
    assert "recognised" in err
    given = ("--set", "heads=3", "--set", "alphabet= abcdefghij", "--set", "gelu=exact")
    assert run("sample", "--checkpoint", bare, *given, *words)[1] == out
    code, found, err = run("sample", "--checkpoint", ours, *words, "--json")
    assert (code, err) == (0, "")
    assert json.loads(found)["text"] == out


def test_without_an_alphabet_the_prompt_is_ids(run, bare):
    code, out, _ = run("sample", "--checkpoint", bare, "--set=heads=3", "--prompt=1 2", "--tokens=2")
    assert code == 0
    assert len(out.split()) == 4


def test_what_the_file_does_not_say_is_asked_for_in_one_line(run, bare):
    code, out, err = run("shapes", "--checkpoint", bare)
    assert (code, out) == (2, "")
    assert err == (
        "gpt-viz shapes: ckpt.pt does not say how many heads a layer has, and its weights can't show it; "
        "set heads to 1, 2, 3, 4, 6 or 12\n"
    )


def test_shapes_and_check_and_capture_run_the_opened_model(run, ours, tmp_path):
    code, out, err = run("shapes", "--checkpoint", ours, "--json")
    found = json.loads(out)
    assert (code, err, found["ran"], found["tokens"]) == (0, "", True, 8)
    assert found["config"]["heads"] == 3
    code, out, _ = run("check", "--checkpoint", ours, "--json")
    assert code in (0, 1)
    assert {each["name"]: each["passed"] for each in json.loads(out)["checks"]}["parameter_count"] is True
    out_file = tmp_path / "x.npz"
    code, _, err = run("capture", "--checkpoint", ours, "--text", "abc", "--taps", "logits", "--out", out_file)
    assert code == 0
    assert "recognised" in err
    with torch.no_grad():
        expected = build(CONFIG, 3)(torch.tensor([[1, 2, 3]]))[0]
    assert np.array_equal(np.load(out_file)["logits"], expected.numpy())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "step5"), "--preset and --checkpoint both say which model; give one of them"),
        (("--model-seed", "3"), "--model-seed draws new weights, and a checkpoint has its own; leave one of them away"),
        (("--set", "layers=3"), "mine.safetensors can't be opened with layers 3: its weights have 2"),
        (("--set", "head=3"), "there is no setting 'head'; did you mean heads?"),
    ],
)
@pytest.mark.parametrize("command", ["params", "shapes"])
def test_what_does_not_go_with_a_checkpoint_is_refused(run, ours, command, words, said):
    assert run(command, "--checkpoint", ours, *words) == (2, "", f"gpt-viz {command}: {said}\n")


def test_d03_a_hostile_file_runs_nothing_and_says_so(run, tmp_path):
    import os

    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "marker"),)

    torch.save({"model": Attack()}, tmp_path / "x.pt")
    code, out, err = run("params", "--checkpoint", tmp_path / "x.pt", "--json")
    assert (code, out) == (2, "")
    assert err.startswith("gpt-viz params: x.pt wants to run code (")
    assert err.count("\n") == 1
    assert not (tmp_path / "marker").exists()


def test_d06_a_missing_file_is_named(run, tmp_path):
    assert (
        run("params", "--checkpoint", tmp_path / "no.pt")[2] == f"gpt-viz params: there is no file {tmp_path}/no.pt\n"
    )


def test_names_in_a_file_cannot_write_to_the_terminal(run, tmp_path):
    state = build(CONFIG, 3).state_dict()
    torch.save({**state, "\x1b[31mred\n": torch.ones(1)}, tmp_path / "x.pt")
    _, _, err = run("params", "--checkpoint", tmp_path / "x.pt")
    assert "\x1b" not in err
    assert err.count("\n") == 1
