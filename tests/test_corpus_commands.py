"""Text files on the command line: the same reader as the window's, and an option for what it can't know."""

import json

import pytest

SMALL = [f"--set={each}" for each in ("block_size=8", "layers=1", "heads=2", "width=8")]


@pytest.fixture
def latin(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(("café, fête, été\r\n" * 20).encode("latin-1"))
    return str(path)


@pytest.mark.parametrize(
    "command", [["check"], ["train", "--own-alphabet", "--steps", "1", "--out", "out.safetensors"]]
)
def test_c02_a_corpus_in_another_encoding_is_2_with_the_offset_and_what_to_choose(run, latin, tmp_path, command):
    command = [each.replace("out.safetensors", str(tmp_path / "out.safetensors")) for each in command]
    code, out, err = run(*command, *SMALL, "--corpus", latin)
    assert (code, out) == (2, "")
    assert f"{latin} is not UTF-8: byte 3 is 0xe9; choose its encoding, for instance cp1252" in err
    assert len(err.splitlines()) == 1


def test_c02_the_encoding_is_an_option_of_check(run, tmp_path):
    path = tmp_path / "wide.txt"
    path.write_bytes(("to be, or not to be\r\n" * 20).encode("utf-16-le"))
    words = ["check", "--device=cpu", *SMALL, "--corpus", str(path), "--json"]
    assert run(*words)[0] == 2
    code, out, _ = run(*words, "--encoding", "utf-16-le")
    assert code in (0, 1)
    assert json.loads(out)["checks"]


def test_c02_the_encoding_is_an_option_of_train(run, latin, tmp_path):
    out = str(tmp_path / "out.safetensors")
    code, said, err = run(
        "train", *SMALL, "--own-alphabet", "--steps=1", "--device=cpu", "--corpus", latin, "--encoding=latin-1",
        "--out", out, "--json",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(said)
    assert (found["characters"], found["config"]["vocabulary"]) == (16 * 20, len(set("café, fête, été\n")))


@pytest.mark.parametrize("command", ["check", "train"])
def test_c12_a_folder_is_no_corpus(run, tmp_path, command):
    words = ["--steps", "1", "--out", str(tmp_path / "out.safetensors")] if command == "train" else []
    code, out, err = run(command, *SMALL, "--device=cpu", "--corpus", str(tmp_path), *words)
    assert (code, out) == (2, "")
    assert f"{tmp_path} is a folder, not a text file" in err
