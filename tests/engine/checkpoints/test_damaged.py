"""Broken, cut and foreign files: one sentence each, with the file's name and the likely cause."""

import pickle
import zipfile

import pytest
import torch
from originals import Original
from safetensors.torch import save_file

from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.refusals import CheckpointError

POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 548105171\n"
)
PAGE = b"\n<!DOCTYPE html>\n<html><head><title>Not found</title></head><body>...</body></html>"


@pytest.fixture
def refusal(tmp_path):
    """The sentence that a file of these bytes is refused with."""

    def sentence(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(CheckpointError) as refused:
            open_checkpoint(path)
        text = str(refused.value)
        assert name in text
        assert "\x1b" not in text
        assert "\n" not in text
        assert len(text) < 200
        for word in ("central directory", "HeaderTooLarge", "Error", "pickle.", "header too"):
            assert word not in text
        return text

    return sentence


@pytest.fixture
def torch_bytes(tmp_path):
    torch.save(Original(qkv_bias=False, tied=False).step5(), tmp_path / "whole.pt")
    return (tmp_path / "whole.pt").read_bytes()


@pytest.fixture
def old_bytes(tmp_path):
    state = Original(qkv_bias=False, tied=False).step5()
    torch.save(state, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    return (tmp_path / "old.pt").read_bytes()


@pytest.fixture
def tensor_bytes(tmp_path):
    save_file(Original().gpt2(), tmp_path / "whole.safetensors")
    return (tmp_path / "whole.safetensors").read_bytes()


@pytest.mark.parametrize("length", [0.5, 0.99])
def test_d06_a_torch_file_cut_short_is_an_incomplete_download(refusal, torch_bytes, length):
    assert "incomplete download" in refusal("ckpt.pt", torch_bytes[: int(len(torch_bytes) * length)])


def test_d06_a_torch_file_of_20_bytes_is_an_incomplete_download(refusal, torch_bytes):
    assert "incomplete download" in refusal("ckpt.pt", torch_bytes[:20])


@pytest.mark.parametrize("length", [0.3, 0.5, 0.99])
def test_d06_an_old_torch_file_cut_short_is_said_to_be_so(refusal, old_bytes, length):
    text = refusal("ckpt.pt", old_bytes[: int(len(old_bytes) * length)])
    assert "incomplete" in text or "damaged" in text


@pytest.mark.parametrize("name", ["ckpt.pt", "model.safetensors"])
def test_d06_a_file_of_no_bytes_is_empty(refusal, name):
    assert "is empty" in refusal(name, b"")


def test_d06_a_text_named_pt_is_a_text(refusal):
    assert "not a checkpoint: it is a text" in refusal("ckpt.pt", b"To be, or not to be\n" * 50)


@pytest.mark.parametrize("cut", [4, 400])
def test_d06_a_safetensors_file_cut_short_says_what_is_missing(refusal, tensor_bytes, cut):
    text = refusal("model.safetensors", tensor_bytes[:-cut])
    assert f"{len(tensor_bytes):,}" in text
    assert "download was broken off" in text


def test_d06_a_header_whose_length_begins_like_a_pickle_is_a_header(tmp_path):
    torch_like = {"a" * length: torch.ones(1) for length in range(1, 200)}
    for count in range(1, 200):
        save_file(dict(list(torch_like.items())[:count]), tmp_path / "x.safetensors")
        if (tmp_path / "x.safetensors").read_bytes()[0] == 0x80:
            break
    with pytest.raises(CheckpointError, match="is not a GPT checkpoint: it has no token embedding"):
        open_checkpoint(tmp_path / "x.safetensors")


def test_d06_a_safetensors_file_cut_within_its_header_is_incomplete(refusal, tensor_bytes):
    assert "incomplete" in refusal("model.safetensors", tensor_bytes[:100])


def test_d06_a_safetensors_file_of_4_bytes_is_an_incomplete_download(refusal, tensor_bytes):
    assert "only 4 bytes" in refusal("model.safetensors", tensor_bytes[:4])


@pytest.mark.parametrize("name", ["model.safetensors", "ckpt.pt"])
def test_d06_a_web_page_saved_as_a_checkpoint_is_a_web_page(refusal, name):
    assert "web page" in refusal(name, PAGE)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"GGUF\x03\0\0\0" + b"\0" * 100, "GGUF"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "PNG"),
        (bytes(range(200, 256)) * 9, "begins like no file"),
        (pickle.dumps({"n_layer": 2}, 2), "torch.save"),
    ],
)
def test_d06_other_files_are_called_what_they_are(refusal, content, words):
    assert words in refusal("model.bin", content)


def test_d06_a_zip_of_something_else_is_no_checkpoint(refusal, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("word/document.xml", "x")
    assert "zip archive of something else" in refusal("ckpt.pt", (tmp_path / "a.zip").read_bytes())


def test_d06_damage_in_the_middle_of_a_file_is_damage(refusal, torch_bytes, tensor_bytes):
    at = torch_bytes.index(b"data.pkl") + 60
    text = refusal("ckpt.pt", torch_bytes[:at] + b"\xff" * 40 + torch_bytes[at + 40 :])
    assert "damaged" in text
    text = refusal("model.safetensors", tensor_bytes[:12] + b"\xff" * 8 + tensor_bytes[20:])
    assert "damaged" in text


@pytest.mark.parametrize("name", ["model.safetensors", "ckpt.pt", "pytorch_model.bin"])
def test_d07_a_git_lfs_pointer_is_recognised(refusal, name):
    text = refusal(name, POINTER)
    assert "Git LFS pointer: the real file was not downloaded" in text


def test_d06_a_path_to_nothing_and_a_forbidden_one(tmp_path, monkeypatch):
    with pytest.raises(CheckpointError, match="there is no file"):
        open_checkpoint(tmp_path / "missing.pt")
    with pytest.raises(CheckpointError, match="there is no file"):
        open_checkpoint("nul\0.pt")
    with pytest.raises(CheckpointError, match=r"holds no model\.safetensors"):
        open_checkpoint(tmp_path)
    torch.save({}, tmp_path / "x.pt")

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(CheckpointError, match=r"no permission to read .*x\.pt"):
        open_checkpoint(tmp_path / "x.pt")


def test_d06_a_later_format_of_ours_says_so(tmp_path):
    save_file({"token_embedding.weight": torch.ones(2, 2)}, tmp_path / "x.safetensors", {"gpt_viz": "9"})
    with pytest.raises(CheckpointError, match=r"x\.safetensors was written by a later version"):
        open_checkpoint(tmp_path / "x.safetensors")


@pytest.mark.parametrize("notes", [{"config": "{"}, {"config": "[]"}, {"config": "{}", "seed": "-1"}])
def test_d06_damaged_notes_of_ours_are_said(tmp_path, notes):
    save_file({"token_embedding.weight": torch.ones(2, 2)}, tmp_path / "x.safetensors", {"gpt_viz": "1", **notes})
    with pytest.raises(CheckpointError, match=r"x\.safetensors is damaged"):
        open_checkpoint(tmp_path / "x.safetensors")
