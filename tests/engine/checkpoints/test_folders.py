"""GPT-2 folders as Hugging Face lays them out: weights, config.json and tokenizer; transformers judges where it is."""

import json
import sys

import pytest
import torch
from originals import Original
from safetensors.torch import save_file

from gpt_viz.engine.census import total
from gpt_viz.engine.checkpoints import saving
from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.refusals import CheckpointError, Contradiction
from gpt_viz.engine.engine import Engine
from gpt_viz.engine.tokenizer import UnknownCharacters
from gpt_viz.protocol import Built, Drawn, Inspect, OpenCheckpoint, Sample, Traced

TEXT = "low lower lowest newer \U0001f600 wider\n"


@pytest.fixture
def folder(tmp_path):
    """Write a folder and return it."""

    def write(original, weights="model.safetensors", prefix="", **changes):
        (tmp_path / "config.json").write_text(json.dumps(original.config_json(**changes)))
        state = original.gpt2(prefix)
        save_file(state, tmp_path / weights, {"format": "pt"}) if weights.endswith("s") else torch.save(
            state, tmp_path / weights
        )
        return tmp_path

    return write


@pytest.fixture
def pieces():
    """A byte-level tokenizer as GPT-2's, of 256 bytes, an end of text, and a few merges."""
    tokenizers = pytest.importorskip("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("l", "o"), ("lo", "w"), ("Ġ", "low"), ("e", "r"), ("n", "e"), ("ne", "w"), ("Ġ", "new"), ("Ġnew", "er")]
    vocabulary = {each: id for id, each in enumerate([*letters, *map("".join, merges), "<|endoftext|>"])}
    return vocabulary, merges


def _tokenizer_json(pieces):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    tokenizer = Tokenizer(models.BPE(vocab=pieces[0], merges=pieces[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer.to_str()


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_a_gpt2_folder_gives_gpt2s_logits(folder, opened_as, said, weights, prefix):
    original = Original(tanh=True)
    found = opened_as(folder(original, weights, prefix), original)
    assert total(found.model) == 4_020
    assert (found.model.config.gelu, found.model.config.dropout) == ("tanh", 0.1)
    assert "GPT-2" in said(found, "recognised")


def test_a_file_of_such_a_folder_is_opened_with_the_config_beside_it(folder, opened_as):
    original = Original(tanh=True)
    opened_as(folder(original) / "model.safetensors", original)


def test_a_folder_of_shards_is_put_together(folder, opened_as):
    original = Original(tanh=True)
    path = folder(original)
    state = original.gpt2()
    (path / "model.safetensors").unlink()
    names = sorted(state)
    table = {}
    for number, part in enumerate((names[:9], names[9:]), 1):
        shard = f"model-{number:05}-of-00002.safetensors"
        save_file({name: state[name] for name in part}, path / shard)
        table |= dict.fromkeys(part, shard)
    index = path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": table}))
    opened_as(path, original)
    index.write_text(json.dumps({"weight_map": {"wte.weight": "../../etc/passwd"}}))
    with pytest.raises(CheckpointError, match="another folder"):
        open_checkpoint(path)


def test_d11_a_folders_own_head_is_used_though_its_config_says_tied(folder, opened_as, said):
    original = Original(tied=False, tanh=True)
    path = folder(original, tie_word_embeddings=True)
    save_file({**original.gpt2(), "lm_head.weight": original.w["head"]}, path / "model.safetensors")
    found = opened_as(path, original)
    assert total(found.model) == 4_152
    assert "though" in said(found, "output head")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "llama"}, "'llama', not GPT-2"),
        ({"activation_function": "relu"}, "'relu'; this program has only GELU"),
        ({"layer_norm_epsilon": 1e-6}, "layer_norm_epsilon = 1e-06"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx = true"),
        ({"scale_attn_weights": False}, "scale_attn_weights = false"),
        ({"add_cross_attention": True}, "add_cross_attention"),
        ({"n_inner": 40}, "40 wide"),
    ],
)
def test_what_this_program_cannot_compute_is_refused_and_not_computed_otherwise(folder, changes, words):
    with pytest.raises(CheckpointError, match=words):
        open_checkpoint(folder(Original(tanh=True), **changes))


def test_exact_gelu_is_taken_from_the_config(folder, opened_as):
    original = Original()
    assert opened_as(folder(original, activation_function="gelu"), original).model.config.gelu == "exact"


def test_d15_a_config_that_contradicts_the_weights_builds_nothing(folder):
    with pytest.raises(Contradiction, match="layers 12, but its weights have 2"):
        open_checkpoint(folder(Original(tanh=True), n_layer=12))


@pytest.mark.parametrize("text", ["", "{", "[]", "<html>", '{"model_type": "gpt2", "n_head": "three"}'])
def test_a_broken_config_is_named_or_its_gap_is_asked_for(folder, text):
    path = folder(Original(tanh=True))
    (path / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"config\.json|how many heads"):
        open_checkpoint(path)


def test_a_folder_with_one_checkpoint_of_another_kind_opens_it(tmp_path, opened_as):
    original = Original()
    torch.save({"model": original.nanogpt(), "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    opened_as(tmp_path, original)
    torch.save({}, tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match=r"2 checkpoints, ckpt\.pt, other\.pt; open one"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("pair", [False, True])
def test_text_goes_through_the_folders_tokenizer(folder, pieces, said, pair):
    original = Original(V=len(pieces[0]), tanh=True)
    path = folder(original)
    if pair:
        (path / "vocab.json").write_text(json.dumps(pieces[0]))
        merges = "\n".join(" ".join(each) for each in pieces[1])
        (path / "merges.txt").write_text(f"#version: 0.2\n{merges}\n", encoding="utf-8")
    else:
        (path / "tokenizer.json").write_text(_tokenizer_json(pieces), encoding="utf-8")
    found = open_checkpoint(path)
    ids = found.tokenizer.encode(TEXT)
    assert len(ids) < len(TEXT.encode())
    assert found.tokenizer.decode(ids) == TEXT
    assert found.tokenizer.piece(ids[0]) == "low"
    assert found.tokenizer.piece(ids[1]) == " low"
    assert found.tokenizer.encode("<|endoftext|>") == [pieces[0]["<|endoftext|>"]]
    assert found.alphabet is None
    assert ("vocab.json" if pair else "tokenizer.json") in said(found, "tokenizer")


def test_the_window_is_told_the_pieces_and_text_is_sampled_in_them(folder, pieces):
    path = folder(Original(V=len(pieces[0]), tanh=True))
    (path / "tokenizer.json").write_text(_tokenizer_json(pieces), encoding="utf-8")
    engine = Engine()
    built = next(e.model for e in engine.run(OpenCheckpoint(job=1, path=str(path))) if isinstance(e, Built))
    assert built.alphabet is None
    assert len(built.pieces) == built.config.vocabulary
    assert built.piece(pieces[0]["Ġlow"]) == " low"
    traced = next(e for e in engine.run(Inspect(job=2, text="low low")) if isinstance(e, Traced))
    assert traced.tokens.pieces == ("low", " low")
    drawn = [e for e in engine.run(Sample(job=3, text="low", tokens=6)) if isinstance(e, Drawn)]
    assert [each.piece for each in drawn] == [built.piece(each.id) for each in drawn]


def test_parts_of_a_character_are_marked_and_whole_again_together(folder, pieces):
    path = folder(Original(V=len(pieces[0]), tanh=True))
    (path / "tokenizer.json").write_text(_tokenizer_json(pieces), encoding="utf-8")
    tokenizer = open_checkpoint(path).tokenizer
    ids = tokenizer.encode("\U0001f600")
    assert len(ids) == 4
    assert [tokenizer.piece(id) for id in ids] == [f"‹{id}›" for id in ids]
    assert tokenizer.decode(ids) == "\U0001f600"


def test_d13_ids_beyond_the_tokenizer_are_shown_by_number(folder, pieces):
    size = len(pieces[0])
    path = folder(Original(V=size + 7, tanh=True))
    (path / "tokenizer.json").write_text(_tokenizer_json(pieces), encoding="utf-8")
    tokenizer = open_checkpoint(path).tokenizer
    assert tokenizer.piece(size + 6) == f"‹{size + 6}›"
    assert tokenizer.decode([pieces[0]["low"], size + 6, pieces[0]["Ġlow"]]) == f"low‹{size + 6}› low"


def test_text_that_the_model_has_no_id_for_is_refused_and_named(folder, pieces):
    size = len(pieces[0]) - 1  # the end of text is the tokenizer's, but not the model's
    path = folder(Original(V=size, tanh=True))
    (path / "tokenizer.json").write_text(_tokenizer_json(pieces), encoding="utf-8")
    tokenizer = open_checkpoint(path).tokenizer
    with pytest.raises(UnknownCharacters) as refused:
        tokenizer.encode("low<|endoftext|>")
    assert refused.value.unknown == ((3, "<|endoftext|>"),)


def test_characters_that_a_tokenizer_leaves_out_are_never_lost_silently(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    from gpt_viz.engine.pieces import PieceTokenizer

    plain = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"a": 0, "b": 1}, merges=[]))
    tokenizer = PieceTokenizer(plain.to_str(), 2)
    assert tokenizer.encode("ab") == [0, 1]
    with pytest.raises(UnknownCharacters) as refused:
        tokenizer.encode("a?b!")
    assert refused.value.unknown == ((1, "?"), (3, "!"))


def test_without_the_library_text_is_ids_and_the_report_says_why(folder, said, monkeypatch):
    path = folder(Original(tanh=True))
    (path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    found = open_checkpoint(path)
    assert found.tokenizer.encode("3 4") == [3, 4]
    assert "pip install tokenizers" in said(found, "tokenizer")
    assert "ids" in said(found, "alphabet")


def test_a_broken_tokenizer_does_not_cost_the_model(folder, said):
    pytest.importorskip("tokenizers")
    path = folder(Original(tanh=True))
    (path / "tokenizer.json").write_text('{"model": 5}')
    found = open_checkpoint(path)
    assert found.tokenizer.encode("3 4") == [3, 4]
    assert "damaged" in said(found, "tokenizer")


def test_a_folders_tokenizer_goes_along_into_our_file(folder, pieces, tmp_path):
    path = folder(Original(V=len(pieces[0]), tanh=True))
    (path / "tokenizer.json").write_text(_tokenizer_json(pieces), encoding="utf-8")
    found = open_checkpoint(path)
    ours = tmp_path / "ours"
    ours.mkdir()
    saving.save(ours / "m.safetensors", found.model, alphabet=None, seed=0, tokenizer=found.tokenizer.description)
    again = open_checkpoint(ours / "m.safetensors")
    assert again.tokenizer.encode(TEXT) == found.tokenizer.encode(TEXT)


def test_transformers_itself_computes_the_same(tmp_path, opened_as):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(2)
    config = transformers.GPT2Config(
        vocab_size=17, n_positions=8, n_embd=12, n_layer=2, n_head=3, bos_token_id=0, eos_token_id=0
    )
    theirs = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for each in theirs.parameters():
            each.normal_(0.1, 0.3)  # as drawn, biases are 0 and gains 1, which hides mistakes
    ids = torch.randint(17, (2, 8))
    theirs.save_pretrained(tmp_path / "safe")
    torch.save(theirs.state_dict(), tmp_path / "pytorch_model.bin")
    (tmp_path / "config.json").write_text((tmp_path / "safe" / "config.json").read_text())
    with torch.no_grad():
        expected = theirs(ids).logits
        for path in (tmp_path / "safe", tmp_path / "pytorch_model.bin"):
            ours = open_checkpoint(path)
            assert (ours.model(ids)[0] - expected).abs().max() < 1e-5
            assert total(ours.model) == sum(each.numel() for each in theirs.parameters())
