"""Every layout, written by an independent implementation, gives that implementation's own logits."""

import json
import pickle

import pytest
import torch
from originals import Original

from gpt_viz.engine.census import agrees, total
from gpt_viz.engine.checkpoints.opening import open_checkpoint


def test_a_step5_notebook_state_dict_gives_the_notebooks_logits(tmp_path, opened_as, said):
    original = Original(qkv_bias=False, tied=False)
    torch.save(original.step5(), tmp_path / "step5.pt")
    found = opened_as(tmp_path / "step5.pt", original)
    assert found.model.config.heads == 3
    assert found.model.config.scale == "divide"
    assert found.model.config.initialisation == "step5"
    assert agrees(found.model, found.model.config)
    assert "step-5" in said(found, "recognised")
    assert "tok.weight → token_embedding.weight" in said(found, "renamed")
    assert "blocks.0.attn.heads.0.tril" in said(found, "ignored")


def test_a_build_gpt_notebook_state_dict_gives_the_notebooks_logits(tmp_path, opened_as, said):
    original = Original(qkv_bias=False, tied=False, head_bias=True)
    torch.save(original.build_gpt(), tmp_path / "gpt.pt")
    found = opened_as(tmp_path / "gpt.pt", original)
    assert total(found.model) == 4_091  # as the cases count the lecture's layout
    assert found.model.config.scale == "multiply"
    assert found.model.config.initialisation == "build-gpt"
    assert "build-gpt" in said(found, "recognised")


def test_the_notebooks_own_classes_agree_bit_for_bit(tmp_path, shared, monkeypatch):
    monkeypatch.syspath_prepend(str(shared / "reference"))
    import build_gpt
    import step5

    torch.manual_seed(3)
    ids = torch.randint(65, (2, 16))
    for theirs in (step5.GPT(65, 16, 24, 4, 2), build_gpt.GPT(build_gpt.GPTConfig(65, 16, 2, 4, 24))):
        torch.save(theirs.state_dict(), tmp_path / "model.pt")
        ours = open_checkpoint(tmp_path / "model.pt").model
        with torch.no_grad():
            assert torch.equal(ours(ids)[0], theirs(ids)[0])


def test_a_nanogpt_checkpoint_with_all_that_its_training_writes(tmp_path, opened_as, said):
    original = Original()
    state = original.nanogpt()
    optimizer = torch.optim.AdamW([torch.nn.Parameter(each.clone()) for each in state.values()])
    torch.save(
        {
            "model": state,
            "optimizer": optimizer.state_dict(),
            "model_args": original.model_args(),
            "iter_num": 5,
            "best_val_loss": torch.tensor(1.5),
            "config": {"dataset": "shakespeare_char", "n_layer": 6, "learning_rate": 1e-3, "init_from": "resume"},
        },
        tmp_path / "ckpt.pt",
    )
    found = opened_as(tmp_path / "ckpt.pt", original)
    assert total(found.model) == 4_020
    assert said(found, "recognised").startswith("nanoGPT")
    assert "gelu=tanh" in said(found, "GELU")


def test_a_nanogpt_checkpoint_without_any_bias(tmp_path, opened_as):
    original = Original(qkv_bias=False, bias=False)
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    found = opened_as(tmp_path / "ckpt.pt", original)
    assert total(found.model) == 3_744


def test_an_older_nanogpt_is_opened_with_the_tanh_it_was_made_with(tmp_path, opened_as):
    original = Original(tanh=True)
    torch.save({"model": original.nanogpt(masks=True), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    found = opened_as(tmp_path / "ckpt.pt", original, "gelu=tanh")
    assert found.model.config.gelu == "tanh"


def test_a_mingpt_model_beside_its_config_json(tmp_path, opened_as, said):
    original = Original(tied=False, tanh=True)
    torch.save(original.nanogpt(masks=True), tmp_path / "model.pt")
    config = {"system": {"seed": 1}, "model": {"model_type": None, "n_layer": 2, "n_head": 3, "n_embd": 12}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = opened_as(tmp_path / "model.pt", original)
    assert total(found.model) == 4_152
    assert said(found, "recognised").startswith("minGPT")


def test_a_mingpt_model_in_a_checkpoint_with_its_config(tmp_path, opened_as, said):
    original = Original(tied=False, tanh=True)
    config = {"model_type": "gpt-nano", "n_layer": 2, "n_head": 3, "n_embd": 12, "vocab_size": 11, "block_size": 8}
    torch.save({"model": original.nanogpt(masks=True), "config": config}, tmp_path / "ckpt.pt")
    found = opened_as(tmp_path / "ckpt.pt", original)
    assert found.model.config.gelu == "tanh"
    assert said(found, "recognised").startswith("minGPT")


def test_a_mingpt_model_of_2020_gives_its_own_logits(tmp_path, opened_as):
    original = Original(tied=False)
    torch.save(original.old_mingpt(), tmp_path / "model.pt")
    found = opened_as(tmp_path / "model.pt", original, "heads=3")
    assert total(found.model) == 4_152


def test_a_file_from_before_torch_1_6_is_read_too(tmp_path, opened_as):
    original = Original(qkv_bias=False, tied=False)
    torch.save(original.step5(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    opened_as(tmp_path / "old.pt", original)


def test_the_alphabet_comes_from_the_meta_file_beside_the_checkpoint(tmp_path, opened_as, said):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    characters = sorted("hello world!\n\u00e9"[:13])
    characters = sorted(set(characters))
    table = {"vocab_size": 11, "itos": dict(enumerate(characters)), "stoi": {c: i for i, c in enumerate(characters)}}
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps(table))
    found = opened_as(tmp_path / "ckpt.pt", original)
    assert found.alphabet == tuple(characters)
    assert found.tokenizer.decode(found.tokenizer.encode("hello")) == "hello"
    assert "meta.pkl" in said(found, "alphabet")


def test_an_alphabet_that_was_given_goes_before_the_one_beside_it(tmp_path):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps({"itos": dict(enumerate("ABCDEFGHIJK"))}))
    found = open_checkpoint(tmp_path / "ckpt.pt", ("alphabet= bcdefghij\n",))
    assert found.alphabet == tuple(" bcdefghij\n")
    assert found.tokenizer.encode("bed\n") == [1, 4, 3, 10]


def test_a_meta_file_of_another_model_is_a_contradiction(tmp_path):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps({"itos": dict(enumerate("ABCDEFGHIJKLM"))}))
    with pytest.raises(ValueError, match=r"meta\.pkl.* 13 characters.*vocabulary is 11"):
        open_checkpoint(tmp_path / "ckpt.pt")


def test_a_file_of_65_tokens_without_an_alphabet_is_read_with_the_notebooks_65_and_says_so(tmp_path, opened_as, said):
    original = Original(V=65, qkv_bias=False, tied=False)
    torch.save(original.step5(), tmp_path / "step5.pt")
    found = opened_as(tmp_path / "step5.pt", original)
    assert found.tokenizer.encode("\n !z") == [0, 1, 2, 64]
    assert "65" in said(found, "alphabet")
    assert "notebooks" in said(found, "alphabet")


def test_an_alphabet_inside_the_checkpoint_is_used(tmp_path):
    original = Original(qkv_bias=False, tied=False)
    torch.save({"model": original.step5(), "chars": list("ABCDEFGHIJK")}, tmp_path / "step5.pt")
    assert open_checkpoint(tmp_path / "step5.pt").alphabet == tuple("ABCDEFGHIJK")


def test_the_lectures_names_ask_which_gelu_since_its_own_code_has_none(tmp_path, opened_as):
    original = Original(qkv_bias=False, tied=False, head_bias=True)
    torch.save(original.build_gpt(table="_table"), tmp_path / "lecture.pt")
    with pytest.raises(ValueError, match="ReLU") as refused:
        open_checkpoint(tmp_path / "lecture.pt")
    assert refused.value.field == "gelu"
    assert refused.value.candidates == ("exact", "tanh")
    opened_as(tmp_path / "lecture.pt", original, "gelu=exact")


def test_a_model_without_layers_is_opened(tmp_path, opened_as):
    original = Original(L=0)
    torch.save(original.nanogpt(), tmp_path / "empty.pt")
    assert total(opened_as(tmp_path / "empty.pt", original).model) == 252
