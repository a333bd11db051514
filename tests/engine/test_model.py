"""The lesson itself: what it computes, what it stashes, and what it can't see."""

import inspect
import math

import pytest
import torch

from gpt_viz.config import GPTConfig
from gpt_viz.engine import model as lesson
from gpt_viz.engine.initialise import build
from gpt_viz.engine.model import GPT, Head

IDS = torch.tensor([[3, 1, 4, 1, 5, 9]])


def heads(model):
    return [each for each in model.modules() if isinstance(each, Head)]


def small(**settings):
    return build(GPTConfig(**{"vocabulary": 11, "block_size": 8, "layers": 2, "heads": 3, "width": 12} | settings), 0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"qkv_bias": True, "tied_head": True},
        {"bias": False, "head_bias": True, "gelu": "tanh", "scale": "multiply"},
        {"layers": 0},
        {"vocabulary": 1},
        {"block_size": 1},
        {"heads": 12},
        {"heads": 1, "width": 1},
    ],
)
def test_every_kind_of_config_gives_logits_of_its_vocabulary_and_a_loss(settings):
    model = small(**settings)
    ids = torch.zeros(2, model.config.block_size, dtype=torch.long)
    logits, loss = model(ids, ids)
    assert logits.shape == (2, model.config.block_size, model.config.vocabulary)
    assert loss.shape == ()
    assert math.isfinite(loss.item())
    assert model(ids)[1] is None


def test_a_token_never_sees_a_later_one_bitwise():
    model = small()
    changed = IDS.clone()
    changed[0, 4] = 7
    with torch.no_grad():
        before, after = model(IDS)[0], model(changed)[0]
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4], after[:, 4])


@pytest.mark.parametrize("scale", ["divide", "multiply"])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_a06_scores_are_scaled_by_the_head_width(count, scale):
    model = small(heads=count, qkv_bias=True, tied_head=True, scale=scale)
    D = 12 // count
    with torch.no_grad():
        x = model.embed(IDS)
        mask = model.mask(x)
        for block in model.blocks:
            normed = block.ln1(x)
            block.attn(normed, mask)
            for head in block.attn.heads:
                q, k = head.query(normed)[0].double(), head.key(normed)[0].double()
                weights = torch.zeros(6, 6, dtype=torch.float64)
                for query in range(6):
                    scores = [float(q[query] @ k[key]) / math.sqrt(D) for key in range(query + 1)]
                    powers = [math.exp(score - max(scores)) for score in scores]
                    weights[query, : query + 1] = torch.tensor([each / sum(powers) for each in powers])
                assert torch.allclose(head.A[0].double(), weights, atol=1e-6, rtol=0)
            x = block(x, mask)


def test_a02_without_layers_the_embedding_goes_straight_to_the_final_norm():
    model = small(layers=0, qkv_bias=True, tied_head=True)
    assert sum(each.numel() for each in model.parameters()) == 252
    with torch.no_grad():
        assert torch.equal(model(IDS)[0], model.read_out(model.embed(IDS)))


def test_a05_a_vocabulary_of_one_has_a_loss_of_exactly_zero():
    model = small(vocabulary=1, qkv_bias=True, tied_head=True)
    ids = torch.zeros(1, 8, dtype=torch.long)
    assert model(ids, ids)[1].item() == 0.0


def test_the_loss_is_the_mean_of_minus_log_p_in_nats():
    model = small()
    with torch.no_grad():
        logits, loss = model(IDS[:, :-1], IDS[:, 1:])
    expected = 0.0
    for row, target in zip(logits[0].double().tolist(), IDS[0, 1:].tolist(), strict=True):
        expected -= math.log(math.exp(row[target]) / sum(math.exp(value) for value in row))
    assert loss.item() == pytest.approx(expected / 5, abs=1e-6)


@pytest.mark.parametrize("training", [False, True])
def test_e08_the_stash_is_always_there_detached_and_causal(training):
    model = small(dropout=0.5 if training else 0.0).train(training)
    model(IDS)
    assert len(heads(model)) == 6
    for head in heads(model):
        assert head.A.shape == (1, 6, 6)
        assert head.A.grad_fn is None
        assert not head.A.requires_grad
        assert torch.equal(head.A.triu(1), torch.zeros(1, 6, 6))
        assert torch.allclose(head.A.sum(-1), torch.ones(1, 6), atol=1e-5)


def test_a_head_with_its_stash_off_keeps_nothing_and_forgets_what_it_had():
    model = small()
    model(IDS)
    for head in heads(model):
        head.stash = False
    model(IDS)
    assert [head.A for head in heads(model)] == [None] * 6


def test_the_first_token_looks_only_at_itself():
    model = small()
    model(IDS)
    assert {head.A[0, 0, 0].item() for head in heads(model)} == {1.0}


def test_one_mask_is_made_per_pass_and_none_in_a_head(monkeypatch):
    masks = []
    made = GPT.mask
    monkeypatch.setattr(GPT, "mask", lambda self, x: masks.append(made(self, x)) or masks[-1])
    model = small()
    seen = []
    for head in heads(model):
        head.register_forward_pre_hook(lambda _, args: seen.append(args[1]))
    model(IDS)
    assert len(masks) == 1
    assert len(seen) == 6
    assert all(each is masks[0] for each in seen)
    assert masks[0].dtype == torch.bool
    assert masks[0].tolist()[1] == [False, False, True, True, True, True]
    assert list(model.buffers()) == []
    source = inspect.getsource(Head)
    assert "tril" not in source
    assert "triu" not in source


def test_gelu_and_scale_make_the_differences_they_are_named_for():
    plain, tanh, multiply = small(), small(gelu="tanh"), small(scale="multiply")
    with torch.no_grad():
        logits = plain(IDS)[0]
        assert 0 < (logits - tanh(IDS)[0]).abs().max() < 1e-2
        assert torch.allclose(logits, multiply(IDS)[0], atol=1e-6)


def test_dropout_acts_on_attention_its_projection_and_the_feed_forward_part():
    model = small(dropout=1.0, layers=1).train()
    x = model.embed(IDS)
    block, mask = model.blocks[0], model.mask(x)
    assert torch.equal(block.attn(x, mask), torch.zeros_like(x))
    assert torch.equal(block.mlp(x), torch.zeros_like(x))
    head = block.attn.heads[0]
    assert torch.equal(head(x, mask), torch.zeros(1, 6, 4))
    assert torch.allclose(head.A.sum(-1), torch.ones(1, 6))  # the stash is what the head meant, before dropout
    assert torch.equal(block(x, mask), x)


def test_a03_dropout_of_everything_gives_no_nan():
    model = small(dropout=1.0).train()
    _, loss = model(IDS, IDS)
    loss.backward()
    assert math.isfinite(loss.item())
    assert all(torch.isfinite(each.grad).all() for each in model.parameters() if each.grad is not None)


def test_a_tied_head_is_the_token_embedding_itself():
    model = small(tied_head=True)
    assert model.head.weight is model.token_embedding.weight
    assert small().head.weight is not small().token_embedding.weight


def test_gradients_reach_every_parameter():
    model = small(qkv_bias=True, head_bias=True).train()
    model(IDS, IDS.roll(-1))[1].backward()
    still = {name for name, each in model.named_parameters() if each.grad is None or not each.grad.abs().sum() > 0}
    # A constant added to every key moves all scores of a row alike, so softmax never tells.
    assert all(name.endswith("key.bias") for name in still)


def test_modules_are_registered_in_the_order_of_the_contract():
    model = small()
    assert [name for name, _ in model.named_children()] == [
        "token_embedding", "position_embedding", "blocks", "ln_f", "head",
    ]  # fmt: skip
    assert [name for name, _ in model.blocks[0].named_children()] == ["ln1", "attn", "ln2", "mlp"]
    assert [name for name, _ in model.blocks[0].attn.named_children()] == ["heads", "proj", "dropout"]
    assert [name for name, _ in model.blocks[0].attn.heads[0].named_children()] == ["key", "query", "value", "dropout"]
    assert [name for name, _ in model.blocks[0].mlp.named_children()] == ["fc", "proj", "dropout"]


def test_the_lesson_is_read_in_the_order_of_the_forward_pass_and_imports_no_machinery():
    names = [
        name for name, each in vars(lesson).items() if inspect.isclass(each) and each.__module__ == lesson.__name__
    ]
    assert names == ["Head", "MultiHeadAttention", "FeedForward", "Block", "GPT"]
    source = inspect.getsource(lesson)
    assert "hook" not in source
    assert len(source.splitlines()) < 160
