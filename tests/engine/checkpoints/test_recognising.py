"""What the weights show, what the file says, and what neither does: the named cases of reading a checkpoint."""

import json

import pytest
import torch
from originals import Original
from safetensors.torch import save_file

from gpt_viz.engine.census import census, total
from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.refusals import CheckpointError, Contradiction, NeedsSetting
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import Built, CheckpointOpened, Drawn, OpenCheckpoint, Sample


def _nanogpt(path, original, state=None, **changes):
    torch.save({"model": state or original.nanogpt(), "model_args": original.model_args(**changes)}, path)


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "module._orig_mod."])
def test_d01_keys_with_the_compile_prefix(tmp_path, opened_as, said, prefix):
    original = Original()
    _nanogpt(tmp_path / "plain.pt", original)
    _nanogpt(tmp_path / "ckpt.pt", original, {prefix + name: each for name, each in original.nanogpt().items()})
    found = opened_as(tmp_path / "ckpt.pt", original)
    plain = open_checkpoint(tmp_path / "plain.pt")
    with torch.no_grad():
        assert torch.equal(found.model(original.ids)[0], plain.model(original.ids)[0])
    assert prefix in said(found, "prefix removed")
    assert not said(plain, "prefix removed")


def test_d01_a_prefix_on_some_names_only_is_a_file_of_another_kind(tmp_path):
    original = Original()
    state = {("_orig_mod." if "h.1" in name else "") + name: each for name, each in original.nanogpt().items()}
    _nanogpt(tmp_path / "ckpt.pt", original, state)
    with pytest.raises(CheckpointError, match=r"_orig_mod\.transformer\.h\.1"):
        open_checkpoint(tmp_path / "ckpt.pt")


def test_d08_gpt2_weights_are_stored_transposed(tmp_path, opened_as, said):
    original = Original(tanh=True)
    state = original.gpt2()
    assert state["h.0.attn.c_attn.weight"].shape == (12, 36)
    assert state["h.0.mlp.c_fc.weight"].shape == (12, 48)
    assert state["h.0.mlp.c_proj.weight"].shape == (48, 12)
    save_file(state, tmp_path / "gpt2.safetensors")
    found = opened_as(tmp_path / "gpt2.safetensors", original, "heads=3")
    assert total(found.model) == 4_020
    shapes = {each.name: each.shape for each in census(found.model)}
    assert shapes["blocks.0.attn.heads.2.query.weight"] == (4, 12)
    assert shapes["blocks.1.mlp.fc.weight"] == (48, 12)
    assert shapes["blocks.1.mlp.proj.weight"] == (12, 48)
    assert said(found, "transposed")


def test_d10_no_output_head_in_the_file_means_the_token_embedding(tmp_path, opened_as, said):
    original = Original(tanh=True)
    save_file(original.gpt2(), tmp_path / "gpt2.safetensors")
    found = opened_as(tmp_path / "gpt2.safetensors", original, "heads=3")
    assert found.model.head.weight is found.model.token_embedding.weight
    assert found.model.config.tied_head
    assert "token embedding" in said(found, "tied")


def test_d10_a_notebook_without_its_head_is_not_whole(tmp_path):
    state = Original(qkv_bias=False, tied=False).step5()
    del state["head.weight"]
    torch.save(state, tmp_path / "cut.pt")
    with pytest.raises(CheckpointError, match=r"cut\.pt is not a whole checkpoint.*lacks head\.weight"):
        open_checkpoint(tmp_path / "cut.pt")


def test_d11_an_output_head_that_differs_is_the_files_own(tmp_path, opened_as, said):
    original = Original(tied=False, tanh=True)
    save_file({**original.gpt2(), "lm_head.weight": original.w["head"]}, tmp_path / "gpt2.safetensors")
    found = opened_as(tmp_path / "gpt2.safetensors", original, "heads=3")
    assert total(found.model) == 4_152
    assert not found.model.config.tied_head
    assert "differs" in said(found, "output head")
    with pytest.raises(Contradiction, match="tied"):
        open_checkpoint(tmp_path / "gpt2.safetensors", ("heads=3", "tied_head=true"))


def test_d11_an_output_head_stored_twice_is_counted_once_unless_two_are_asked_for(tmp_path, opened_as, said):
    original = Original(tanh=True)
    save_file({**original.gpt2(), "lm_head.weight": original.w["head"].clone()}, tmp_path / "gpt2.safetensors")
    found = opened_as(tmp_path / "gpt2.safetensors", original, "heads=3")
    assert total(found.model) == 4_020
    assert "counted once" in said(found, "tied")
    found = opened_as(tmp_path / "gpt2.safetensors", original, "heads=3", "tied_head=false")
    assert total(found.model) == 4_152
    assert "twice" in said(found, "output head")
    assert found.model.head.weight is not found.model.token_embedding.weight


def test_d11_the_bias_of_a_lecture_layouts_head_is_kept(tmp_path, opened_as):
    original = Original(qkv_bias=False, tied=False, head_bias=True)
    torch.save(original.build_gpt(), tmp_path / "gpt.pt")
    found = opened_as(tmp_path / "gpt.pt", original)
    assert torch.equal(found.model.head.bias.detach(), original.w["head", "shift"])


@pytest.mark.parametrize("prefix", ["", "transformer."])
@pytest.mark.parametrize("kind", [torch.uint8, torch.bool, torch.float32])
def test_d12_mask_buffers_are_ignored_and_not_counted(tmp_path, opened_as, said, prefix, kind):
    original = Original(tanh=True)
    state = original.gpt2(prefix)
    for layer in range(2):
        state[f"{prefix}h.{layer}.attn.bias"] = torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8).to(kind)
        state[f"{prefix}h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(state, tmp_path / "gpt2.safetensors")
    found = opened_as(tmp_path / "gpt2.safetensors", original, "heads=3")
    assert total(found.model) == 4_020
    assert f"{prefix}h.0.attn.bias" in said(found, "ignored")
    key = found.model.get_parameter("blocks.0.attn.heads.1.key.bias")
    assert torch.equal(key.detach(), state[f"{prefix}h.0.attn.c_attn.bias"][12 + 4 : 12 + 8])


def test_d13_a_vocabulary_padded_beyond_the_alphabet(tmp_path, said):
    original = Original(V=16, tied=False, head_bias=False)
    state = original.nanogpt()
    state["lm_head.weight"][11:] *= 100  # ids without a character are likely
    torch.save({"model": state, "model_args": original.model_args()}, tmp_path / "ckpt.pt")
    engine, settings = Engine(), ("alphabet=abcdefghijk",)
    events = list(engine.run(OpenCheckpoint(job=1, path=str(tmp_path / "ckpt.pt"), settings=settings, device="cpu")))
    built = next(each for each in events if isinstance(each, Built)).model
    report = next(each for each in events if isinstance(each, CheckpointOpened))
    assert built.config.vocabulary == 16
    assert "5 of 16 ids" in said(report, "vocabulary")
    assert [built.piece(id) for id in (0, 10, 11, 15)] == ["a", "k", "‹11›", "‹15›"]
    drawn = [e for e in engine.run(Sample(job=2, text="abc", tokens=30)) if isinstance(e, Drawn)]
    assert len(drawn) == 30
    assert any(each.id > 10 and each.piece == f"‹{each.id}›" for each in drawn)


def test_d14_bare_weights_ask_for_the_heads_which_no_shape_shows(tmp_path, opened_as):
    original = Original()
    torch.save(original.nanogpt(), tmp_path / "ckpt.pt")
    with pytest.raises(NeedsSetting, match=r"ckpt\.pt does not say how many heads.*1, 2, 3, 4, 6 or 12") as asked:
        open_checkpoint(tmp_path / "ckpt.pt")
    assert asked.value.field == "heads"
    assert asked.value.candidates == ("1", "2", "3", "4", "6", "12")
    found = opened_as(tmp_path / "ckpt.pt", original, "heads=3")
    config = found.model.config
    assert (config.vocabulary, config.block_size, config.width, config.layers) == (11, 8, 12, 2)
    assert config.bias
    assert config.qkv_bias


def test_d14_without_an_alphabet_text_is_ids(tmp_path, said):
    torch.save(Original().nanogpt(), tmp_path / "ckpt.pt")
    found = open_checkpoint(tmp_path / "ckpt.pt", ("heads=3",))
    assert found.alphabet is None
    assert found.tokenizer.encode("3 10") == [3, 10]
    assert "ids from 0 to 10" in said(found, "alphabet")


def test_d14_a_network_of_another_kind_is_refused_with_what_it_lacks(tmp_path):
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2))
    torch.save(network.state_dict(), tmp_path / "resnet.pt")
    with pytest.raises(CheckpointError, match=r"resnet\.pt is not a GPT checkpoint") as refused:
        open_checkpoint(tmp_path / "resnet.pt")
    for part in ("token embedding", "position embedding", "layers of attention", "final LayerNorm", "0.weight"):
        assert part in str(refused.value)


@pytest.mark.parametrize("thing", [[1, 2], {"loss": 1.5}, {}, torch.ones(3), {"model": {"a": 1}}])
def test_d14_what_holds_no_weights_is_refused(tmp_path, thing):
    torch.save(thing, tmp_path / "x.pt")
    with pytest.raises(CheckpointError, match=r"x\.pt is not a (GPT )?checkpoint"):
        open_checkpoint(tmp_path / "x.pt")


def test_d14_weights_that_lack_a_part_name_it_in_their_own_words(tmp_path):
    original = Original()
    state = original.nanogpt()
    del state["transformer.h.1.attn.c_attn.weight"]
    _nanogpt(tmp_path / "ckpt.pt", original, state)
    with pytest.raises(CheckpointError, match=r"lacks transformer\.h\.1\.attn\.c_attn\.weight"):
        open_checkpoint(tmp_path / "ckpt.pt")
    state = {name: each for name, each in original.nanogpt().items() if ".h.0." not in name}
    _nanogpt(tmp_path / "ckpt.pt", original, state)
    with pytest.raises(CheckpointError, match="lacks layer 0, but has layer 1"):
        open_checkpoint(tmp_path / "ckpt.pt")


def test_d14_tensors_that_no_gpt_has_make_it_a_model_of_another_kind(tmp_path):
    original = Original()
    state = {**original.nanogpt(), "transformer.h.0.attn.lora_A": torch.ones(2, 2)}
    _nanogpt(tmp_path / "ckpt.pt", original, state)
    with pytest.raises(CheckpointError, match="lora_A besides: it is a model of another kind"):
        open_checkpoint(tmp_path / "ckpt.pt")


def test_d15_settings_that_came_later_are_inferred_and_unknown_ones_noted(tmp_path, opened_as, said):
    original = Original(qkv_bias=False, bias=False)
    args = original.model_args()
    del args["bias"], args["dropout"]
    torch.save({"model": original.nanogpt(), "model_args": args}, tmp_path / "old.pt")
    found = opened_as(tmp_path / "old.pt", original)
    assert not found.model.config.bias
    assert found.model.config.dropout == 0.0
    original = Original()
    _nanogpt(tmp_path / "new.pt", original, foo=1)
    found = opened_as(tmp_path / "new.pt", original)
    assert "foo" in said(found, "ignored")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_layer": 3}, "layers 3, but its weights have 2"),
        ({"vocab_size": 50257}, "vocabulary 50257, but its weights have 11"),
        ({"block_size": 4}, "block size 4, but its weights have 8"),
        ({"n_embd": 24}, "width 24, but its weights have 12"),
        ({"bias": False}, "bias false, but its weights have true"),
    ],
)
def test_d15_a_file_that_contradicts_itself_builds_nothing(tmp_path, changes, words):
    _nanogpt(tmp_path / "ckpt.pt", Original(), **changes)
    with pytest.raises(Contradiction, match=rf"ckpt\.pt contradicts itself: its settings say {words}"):
        open_checkpoint(tmp_path / "ckpt.pt")


def test_d15_heads_that_do_not_divide_the_width_are_said(tmp_path):
    _nanogpt(tmp_path / "ckpt.pt", Original(), n_head=5)
    with pytest.raises(CheckpointError, match=r"ckpt\.pt.*width 12 is not divisible by 5 heads"):
        open_checkpoint(tmp_path / "ckpt.pt")


@pytest.mark.parametrize(
    ("setting", "words"),
    [("layers=3", "layers 3"), ("heads=4", "heads 4"), ("width=24", "width 24"), ("qkv_bias=false", "qkv bias false")],
)
def test_what_is_asked_against_the_weights_builds_nothing(tmp_path, setting, words):
    _nanogpt(tmp_path / "ckpt.pt", Original())
    with pytest.raises(Contradiction, match=rf"can't be opened with {words}"):
        open_checkpoint(tmp_path / "ckpt.pt", (setting,))


def test_what_no_weight_shows_can_be_chosen(tmp_path):
    _nanogpt(tmp_path / "ckpt.pt", Original())
    config = open_checkpoint(tmp_path / "ckpt.pt", ("dropout=0.25", "gelu=tanh", "scale=divide")).model.config
    assert (config.dropout, config.gelu, config.scale) == (0.25, "tanh", "divide")


def test_a_setting_that_there_is_not_is_a_mistake_of_its_own(tmp_path):
    _nanogpt(tmp_path / "ckpt.pt", Original())
    with pytest.raises(ValueError, match="did you mean heads"):
        open_checkpoint(tmp_path / "ckpt.pt", ("head=3",))
    with pytest.raises(ValueError, match=r"12 characters.*vocabulary is 11"):
        open_checkpoint(tmp_path / "ckpt.pt", ("alphabet=abcdefghijkl",))
    with pytest.raises(ValueError, match="each character once") as refused:
        open_checkpoint(tmp_path / "ckpt.pt", ("alphabet=aa",))
    assert refused.value.field == "alphabet"


def test_a_tensor_of_another_shape_is_named_with_both_shapes(tmp_path):
    original = Original()
    state = original.nanogpt()
    state["transformer.h.0.mlp.c_fc.weight"] = torch.ones(40, 12)
    _nanogpt(tmp_path / "ckpt.pt", original, state)
    with pytest.raises(CheckpointError, match=r"mlp\.c_fc\.weight of the shape \(40, 12\).*\(48, 12\)"):
        open_checkpoint(tmp_path / "ckpt.pt")


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float64"])
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_d16_half_precision_is_computed_in_float32_and_the_stored_type_said(tmp_path, opened_as, said, kind, suffix):
    original = Original(tanh=True).rounded(getattr(torch, kind))
    state = {name: each.to(getattr(torch, kind)) for name, each in original.gpt2().items()}
    path = tmp_path / f"gpt2{suffix}"
    torch.save(state, path) if suffix == ".pt" else save_file(state, path)
    found = opened_as(path, original, "heads=3")
    assert {each.dtype for each in found.model.parameters()} == {torch.float32}
    assert kind in said(found, "stored as")


def test_d16_a_bfloat16_model_is_watched_sampled_and_saved(tmp_path, said):
    from gpt_viz.protocol import Attended, CheckpointSaved, Inspect, SaveCheckpoint

    original = Original(tanh=True)
    state = {name: each.bfloat16() for name, each in original.gpt2().items()}
    torch.save(state, tmp_path / "half.pt")
    engine = Engine()
    settings = ("heads=3", "alphabet=abcdefghijk")
    events = list(engine.run(OpenCheckpoint(job=1, path=str(tmp_path / "half.pt"), settings=settings, device="cpu")))
    built = next(each.model for each in events if isinstance(each, Built))
    assert built.bytes == 4 * 4_020
    seen = next(each for each in engine.run(Inspect(job=2, text="abcd")) if isinstance(each, Attended))
    assert abs(seen.patterns.sum(-1) - 1).max() < 1e-6
    assert sum(isinstance(each, Drawn) for each in engine.run(Sample(job=3, text="ab", tokens=5))) == 5
    saved = list(engine.run(SaveCheckpoint(job=4, path=str(tmp_path / "whole.safetensors"))))
    assert isinstance(saved[-1], CheckpointSaved)
    assert open_checkpoint(tmp_path / "whole.safetensors").model.config == built.config


def test_d16_a_half_precision_model_is_trained_on_in_float32(tmp_path):
    from gpt_viz.engine.training import Trainer
    from gpt_viz.schedule import TrainingSettings

    state = {name: each.half() for name, each in Original(tanh=True).gpt2().items()}
    torch.save(state, tmp_path / "half.pt")
    model = open_checkpoint(tmp_path / "half.pt", ("heads=3",)).model
    before = model.token_embedding.weight.detach().clone()
    ids = torch.randint(11, (200,), generator=torch.Generator().manual_seed(0))
    trainer = Trainer(model, ids, TrainingSettings(steps=3, batch=4))
    losses = [trainer.step().loss for _ in range(3)]
    assert all(0 < each < 5 for each in losses)
    assert {each.dtype for each in model.parameters()} == {torch.float32}
    assert not torch.equal(before, model.token_embedding.weight)
    assert model.head.weight is model.token_embedding.weight


def test_quantised_weights_are_refused_by_name(tmp_path):
    original = Original()
    state = original.nanogpt()
    state["transformer.h.0.mlp.c_fc.weight"] = torch.ones(48, 12, dtype=torch.int8)
    _nanogpt(tmp_path / "ckpt.pt", original, state)
    with pytest.raises(CheckpointError, match=r"mlp\.c_fc\.weight as int8"):
        open_checkpoint(tmp_path / "ckpt.pt")


@pytest.mark.parametrize("where", ["cuda:0", "cuda:1", "mps"])
def test_d17_a_file_saved_on_a_gpu_opens_on_a_machine_without_one(tmp_path, opened_as, monkeypatch, where):
    original = Original()
    state = original.nanogpt()
    optimizer = {"state": {0: {"exp_avg": torch.ones(11, 12)}}, "param_groups": [{"lr": 1e-3}]}
    with monkeypatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: where)
        torch.save({"model": state, "optimizer": optimizer, "model_args": original.model_args()}, tmp_path / "c.pt")
    assert where.encode() in (tmp_path / "c.pt").read_bytes()
    found = opened_as(tmp_path / "c.pt", original)
    assert {each.device.type for each in found.model.parameters()} == {"cpu"}


def test_a_model_too_large_for_the_machine_is_refused_before_it_is_made(tmp_path, monkeypatch):
    torch.save(Original(qkv_bias=False, tied=False).step5(), tmp_path / "large.pt")
    monkeypatch.setattr("gpt_viz.engine.devices.free_host_bytes", lambda: 10_000)
    with pytest.raises(ValueError, match="needs about"):
        open_checkpoint(tmp_path / "large.pt")


def test_a_tensor_that_claims_more_numbers_than_it_holds_is_refused_at_once(tmp_path):
    state = Original(qkv_bias=False, tied=False).step5()
    state["tok.weight"] = torch.ones(1, 1).expand(2**24, 2**20)
    state["head.weight"] = torch.ones(1, 1).expand(2**24, 2**20)
    torch.save(state, tmp_path / "huge.pt")
    assert (tmp_path / "huge.pt").stat().st_size < 2**20
    with pytest.raises(CheckpointError, match=r"huge\.pt is damaged: tok\.weight"):
        open_checkpoint(tmp_path / "huge.pt")


def test_a_failure_leaves_the_model_that_was_there(tmp_path):
    from gpt_viz.config import GPTConfig
    from gpt_viz.protocol import Build

    engine = Engine()
    list(engine.run(Build(job=1, config=GPTConfig(vocabulary=5, block_size=4, layers=1, heads=1, width=4))))
    before = engine.model("current")
    torch.save(Original().nanogpt(), tmp_path / "ckpt.pt")
    with pytest.raises(NeedsSetting):
        list(engine.run(OpenCheckpoint(job=2, path=str(tmp_path / "ckpt.pt"))))
    assert engine.model("current") is before
    steps = engine.run(OpenCheckpoint(job=3, path=str(tmp_path / "ckpt.pt"), settings=("heads=3",)))
    for _ in range(5):
        next(steps)
    steps.close()
    assert engine.model("current") is before


def test_reports_and_questions_are_plain_and_picklable(tmp_path):
    torch.save(Original().nanogpt(), tmp_path / "ckpt.pt")
    from gpt_viz.runner import failure

    with pytest.raises(NeedsSetting) as asked:
        open_checkpoint(tmp_path / "ckpt.pt")
    event = failure(asked.value, 1, "current")
    assert event.expected
    assert (event.field, event.candidates) == ("heads", ("1", "2", "3", "4", "6", "12"))
    report = open_checkpoint(tmp_path / "ckpt.pt", ("heads=3",)).report
    assert json.loads(json.dumps(report)) == [list(each) for each in report]
