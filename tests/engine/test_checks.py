"""The checks: they pass for right models of every form, and each fails for a model that is broken in its own way."""

import copy
import math
import types
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from engines import built, ended, of
from torch import nn

from gpt_viz import claims, resources
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine import model as lesson
from gpt_viz.engine.checks import CHECKS, CheckError, chosen, elsewhere, learning, prepared, specimen, tried, writing
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.initialise import build
from gpt_viz.engine.model import Head
from gpt_viz.protocol import CURRENT, Checked, Progress, RunChecks

STEP5, BUILD_GPT = PRESETS["step5"].config, PRESETS["build-gpt"].config
SMALL = GPTConfig(vocabulary=20, block_size=32, layers=2, heads=2, width=16)


def text_of(config):
    """One window and its next token: of the passage where the model reads it, else counting."""
    if config.vocabulary == 65:
        alphabet = resources.alphabet()
        return [alphabet.index(character) for character in resources.passage()[: config.block_size + 1]]
    return [number % config.vocabulary for number in range(min(config.block_size, 200) + 1)]


def outcomes(model, names=(), ids=None, **choices):
    alphabet = resources.alphabet() if model.config.vocabulary == 65 else None
    given = dict(piece=str, gap=" ", alphabet=alphabet, seed=1337) | choices
    prepared_ = ended(prepared(model, text_of(model.config) if ids is None else ids, **given))
    return {name: ended(tried(name, prepared_)) for name in chosen(names)}


def outcome(model, name, **choices):
    return outcomes(model, [name], **choices)[name]


def failing(model, **choices):
    return {name for name, found in outcomes(model, **choices).items() if found.passed is False}


def not_applying(model, **choices):
    return {name for name, found in outcomes(model, **choices).items() if found.passed is None}


@pytest.fixture(autouse=True)
def _short_samples(request, monkeypatch):
    """Most tests have no use for 300 tokens."""
    if "sample" not in request.node.name and "notebooks" not in request.node.name:
        monkeypatch.setattr(writing, "TOKENS", 24)


# --- right models ----------------------------------------------------------------------------------------------------


def test_the_checks_are_those_that_the_texts_speak_of():
    assert tuple(CHECKS) == claims.NAMES


@pytest.mark.parametrize("config", [STEP5, BUILD_GPT], ids=["step5", "build-gpt"])
def test_all_that_applies_passes_for_both_notebooks(config):
    found = outcomes(build(config, 1337))
    assert {name for name, each in found.items() if each.passed is None} == {"validation_loss", "device"}
    assert {name for name, each in found.items() if each.passed is False} == set()
    assert found["parameter_count"].found == ("816,640" if config is STEP5 else "824,897")


def test_all_that_applies_passes_for_tiny(tiny):
    found = outcomes(build(tiny, 0))
    assert {name for name, each in found.items() if each.passed is False} == set()
    # Tied to embeddings that are drawn at deviation 1: ln V is not where that begins.
    assert {name for name, each in found.items() if each.passed is None} == {
        "initial_loss",
        "validation_loss",
        "device",
    }
    assert found["parameter_count"].found == "4,020"
    assert "√12 = 3.5" not in found["initial_loss"].detail
    assert "spread by 3.5" in found["initial_loss"].detail


@pytest.mark.parametrize(
    ("changes", "silent"),
    [
        (dict(layers=0), {"attention_rows", "mask", "initial_loss", "scaled_scores"}),
        (dict(vocabulary=1), {"causality", "initial_loss", "memorise", "gradients"}),
        (dict(block_size=1), {"causality", "mask", "initial_loss", "scaled_scores"}),
        (dict(block_size=2), {"initial_loss"}),
        (dict(dropout=0.5), {"initial_loss"}),
        (dict(dropout=1.0, tied_head=False), set()),
        (dict(width=1, heads=1), {"memorise", "gradients", "layernorm", "scaled_scores"}),
        (dict(width=2, heads=1), {"memorise", "gradients"}),
        (dict(heads=12), {"initial_loss"}),
        (dict(bias=False, qkv_bias=False, tied_head=False), set()),
        (dict(head_bias=True, tied_head=False, vocabulary=2), set()),
        (dict(vocabulary=7), {"initial_loss"}),
        (dict(initialisation="gpt2"), set()),
        (dict(initialisation="build-gpt", scale="multiply", gelu="tanh"), set()),
        (
            dict(layers=0, vocabulary=1, block_size=1),
            {"causality", "attention_rows", "mask", "initial_loss", "memorise", "gradients", "scaled_scores"},
        ),
    ],
    ids=lambda given: "-".join(map(str, given.values())) if isinstance(given, dict) else "",
)
def test_no_right_model_fails_and_what_does_not_apply_says_so(tiny, changes, silent):
    found = outcomes(build(replace(tiny, **changes), 3))
    assert {name for name, each in found.items() if each.passed is False} == set()
    assert {name for name, each in found.items() if each.passed is None} == silent | {"validation_loss", "device"}
    assert all(each.detail for each in found.values())


@pytest.mark.parametrize("ids", [[3], [3, 4], [3, 3, 3, 3]])
def test_short_texts_will_do(tiny, ids):
    assert failing(build(tiny, 0), ids=ids) == set()


def test_a_text_that_the_model_cannot_read_is_refused(tiny):
    with pytest.raises(IdsError, match="not in the vocabulary"):
        outcomes(build(tiny, 0), ids=[1, 11])
    with pytest.raises(IdsError, match="no ids"):
        outcomes(build(tiny, 0), ids=[])


# --- broken models ---------------------------------------------------------------------------------------------------


@pytest.fixture
def softmax(monkeypatch):
    """Gives the lesson's heads another softmax, whose argument is the masked scores."""

    def give(function):
        names = {name: getattr(F, name) for name in ("gelu", "cross_entropy")}
        replaced = types.SimpleNamespace(**names, softmax=lambda scores, dim: function(scores, dim))
        monkeypatch.setattr(lesson, "F", replaced)

    return give


def test_a_parameter_too_many_fails_the_count_alone():
    model = build(SMALL, 1337)
    model.head.register_parameter("extra", nn.Parameter(torch.zeros(20)))
    model.head.register_forward_hook(lambda head, given, answer: answer + head.extra)
    assert failing(model) == {"parameter_count"}
    found = outcome(model, "parameter_count")
    assert (found.expected, found.found) == ("7,648", "7,668")
    assert "head.extra" in found.detail


def test_a_block_that_looks_at_later_tokens_fails_causality_alone():
    model = build(SMALL, 1337)
    model.blocks[1].mlp.register_forward_hook(lambda mlp, given, answer: answer + answer.mean(1, keepdim=True))
    assert failing(model) == {"causality"}
    assert "the first leak is in block 1 at position 0" in outcome(model, "causality").detail


def test_a_missing_mask_fails_causality_and_the_mask():
    model = build(SMALL, 1337)
    model.mask = lambda x: torch.zeros(x.shape[-2], x.shape[-2], dtype=torch.bool)
    assert failing(model) == {"causality", "mask"}


def test_rows_that_sum_to_more_than_one_fail_the_rows_alone(softmax):
    softmax(lambda scores, dim: 1.01 * F.softmax(scores, dim))
    found = outcomes(build(SMALL, 1337))
    assert {name for name, each in found.items() if each.passed is False} == {"attention_rows"}
    assert found["attention_rows"].facts["worst"] == pytest.approx(0.01, abs=1e-5)


def test_a_mask_that_huge_scores_overcome_fails_the_mask_alone(softmax):
    # At ordinary scores e^-1000 is exactly 0, so that nothing shows.
    softmax(lambda scores, dim: F.softmax(scores.clamp(min=-1000.0), dim))
    assert failing(build(SMALL, 1337)) == {"mask"}


@pytest.mark.parametrize("times", [50.0, 10.0])
def test_weights_drawn_far_too_large_fail_the_initial_loss_alone(times):
    model = build(SMALL, 1337)
    with torch.no_grad():
        model.head.weight.mul_(times)
    assert failing(model) == {"initial_loss"}


def test_gradients_that_point_the_wrong_way_fail_memorising_alone():
    class Backwards(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return -gradient

    model = build(SMALL, 1337)
    model.head.register_forward_hook(lambda head, given, answer: Backwards.apply(answer))
    assert failing(model) == {"memorise"}


def test_a_parameter_that_no_gradient_reaches_fails_the_gradients_alone_and_is_named():
    model = build(SMALL, 1337)
    model.token_embedding.register_forward_hook(lambda embedding, given, answer: answer.detach())
    assert failing(model) == {"gradients"}
    assert "token_embedding.weight" in outcome(model, "gradients").detail
    assert outcome(model, "gradients").labels["dead"] == ("token_embedding.weight",)


def test_a_frozen_parameter_is_a_dead_one():
    model = build(SMALL, 1337)
    model.blocks[0].mlp.fc.bias.requires_grad_(False)
    assert outcome(model, "gradients").labels["dead"] == ("blocks.0.mlp.fc.bias",)


def test_a_result_of_another_shape_fails_the_shapes_alone():
    model = build(SMALL, 1337)
    model.head.register_forward_hook(lambda head, given, answer: F.pad(answer, (0, 1), value=-30.0))
    assert failing(model) == {"shapes"}
    assert outcome(model, "shapes").detail == "logits is (B, T, V) = (1, 32, 20), but was (1, 32, 21)"


class Uncentred(nn.LayerNorm):
    """Scales each row to length √C and forgets to take its mean away."""

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def test_a_norm_that_does_not_centre_fails_layernorm_alone():
    model = build(SMALL, 1337)
    model.blocks[0].ln2 = Uncentred(16)
    assert failing(model) == {"layernorm"}
    assert "in blocks.0.ln2 a row's mean is" in outcome(model, "layernorm").detail


def test_a_norm_whose_epsilon_is_not_the_one_it_states_fails_layernorm():
    class Coarse(nn.LayerNorm):
        def forward(self, x):
            return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, 1e-2)

    model = build(SMALL, 1337)
    model.ln_f = Coarse(16)
    assert outcome(model, "layernorm").passed is False


@pytest.mark.parametrize("wrong", [2.0, 0.5, 4**-0.5])
def test_scores_scaled_otherwise_fail_the_scaling_alone(softmax, wrong):
    softmax(lambda scores, dim: F.softmax(scores * wrong, dim))
    found = outcomes(build(SMALL, 1337))
    assert {name for name, each in found.items() if each.passed is False} == {"scaled_scores"}
    assert found["scaled_scores"].facts["factor"] == pytest.approx(wrong * 8**-0.5, rel=1e-3)


class Restless(nn.Linear):
    """Has another weight at each look, but only where text is sampled."""

    @property
    def weight(self):
        kept = self._parameters["weight"]
        return kept + torch.rand_like(kept) if torch.is_inference_mode_enabled() else kept


def test_a_text_that_cannot_be_written_again_fails_the_before_sample_alone():
    model = build(SMALL, 1337)
    model.head.__class__ = Restless
    assert failing(model) == {"before_sample"}
    assert "the two differ from token" in outcome(model, "before_sample").detail


def test_another_device_that_computes_otherwise_fails_the_device_alone(monkeypatch):
    class Lossy(nn.Linear):
        """Moved to a device it comes out another one."""

        def _apply(self, function, recurse=True):
            with torch.no_grad():
                self.weight.mul_(1.01)
            return super()._apply(function, recurse)

    monkeypatch.setattr(elsewhere, "is_elsewhere", lambda there: True)
    right = build(SMALL, 1337)
    assert outcome(right, "device").passed is True
    broken = copy.deepcopy(right)
    broken.head = Lossy(16, 20, bias=False)
    broken.head.weight = right.head.weight
    assert failing(broken) == {"device"}


def test_weights_that_are_not_numbers_fail_and_nothing_raises():
    model = build(SMALL, 1337)
    with torch.no_grad():
        model.blocks[0].ln1.weight[0] = math.nan
    found = failing(model)
    assert {"attention_rows", "mask", "memorise", "gradients", "before_sample"} <= found
    assert "parameter_count" not in found


def test_a_model_that_breaks_under_a_check_has_failed_it_by_name():
    def breaks(*_):
        raise RuntimeError("a hole in block 1")

    model = build(SMALL, 1337)
    model.blocks[1].register_forward_hook(breaks)
    found = outcome(model, "causality")
    assert (found.passed, found.detail) == (False, "RuntimeError: a hole in block 1")


# --- what they say ---------------------------------------------------------------------------------------------------


def test_causality_changes_token_20_of_32_as_the_notebook_does():
    found = outcome(build(STEP5, 1337), "causality")
    ids = text_of(STEP5)
    assert found.expected == "positions 0–19 bitwise the same"
    assert (found.facts["position"], found.facts["tokens"]) == (20, 32)
    assert found.facts["new_id"] == (ids[20] + 7) % 65
    change = found.arrays["change"]
    assert change.shape == (6, 32)  # before and after four blocks, and the logits
    assert not change[:, :20].any()
    assert (change[:, 20] > 0).all()
    assert not change[0, 21:].any()  # embeddings look at no other position
    assert (change[-1, 21:] > 0).any()


def test_position_and_token_of_causality_can_be_chosen():
    found = outcome(build(STEP5, 1337), "causality", position=5, token=64)
    assert (found.facts["position"], found.facts["new_id"], found.passed) == (5, 64, True)
    assert outcome(build(STEP5, 1337), "causality", position=0).passed is True


@pytest.mark.parametrize(
    ("choice", "field", "says"),
    [
        (dict(position=32), "position", "position 32 is not in this text; choose one from 0 to 31"),
        (dict(position=-1), "position", "position -1 is not in this text"),
        (dict(token=65), "token", "id 65 is not in the vocabulary; choose one from 0 to 64"),
        (dict(position=0, token=text_of(STEP5)[0]), "token", "stands at position 0 already"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_in_a_sentence(choice, field, says):
    with pytest.raises(CheckError, match=says) as refused:
        outcome(build(STEP5, 1337), "causality", **choice)
    assert refused.value.field == field


def test_an_unknown_check_is_refused_with_those_there_are():
    with pytest.raises(CheckError, match="there is no check 'causal'; choose parameter_count, causality"):
        chosen(["causal"])
    assert chosen(["mask", "causality"]) == ("causality", "mask")


@pytest.mark.parametrize(
    "config", [STEP5, BUILD_GPT, replace(BUILD_GPT, tied_head=True)], ids=["step5", "build", "tied"]
)
def test_the_expected_loss_holds_for_any_seed(config):
    for seed in range(12):
        assert outcome(build(config, seed), "initial_loss").passed is True, seed


def test_the_expected_loss_follows_from_the_initialisation():
    found = outcome(build(STEP5, 1337), "initial_loss").facts
    assert found["ln_v"] == pytest.approx(4.1744, abs=1e-4)
    assert found["promised_std"] == pytest.approx(3**-0.5)  # uniform within ±1/√C: C · 1/(3·C)
    assert found["logit_std"] == pytest.approx(found["promised_std"], rel=0.05)
    assert outcome(build(BUILD_GPT, 1337), "initial_loss").facts["promised_std"] == pytest.approx(0.02 * 128**0.5)


def test_a_trained_models_loss_is_not_held_against_ln_v():
    model = build(STEP5, 1337)
    with torch.no_grad():
        model.ln_f.bias[0] += 1e-3  # as the first step of any optimizer does
    assert outcome(model, "initial_loss").passed is None


def test_a_trained_model_is_compared_with_what_its_seed_wrote_before():
    model = build(SMALL, 1337)
    before = outcome(model, "before_sample")
    with torch.no_grad():
        model.head.weight.mul_(2)
        model.ln_f.bias[0] += 1e-3
    found = outcome(model, "before_sample")
    assert found.facts["text"] == before.facts["text"]
    assert found.facts["now"] not in ("", found.facts["text"])
    assert before.facts["now"] == ""


def test_the_before_sample_is_what_the_notebooks_loop_writes():
    model = build(STEP5, 1337)
    alphabet = resources.alphabet()
    found = outcome(model, "before_sample", piece=alphabet.__getitem__, gap="")
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        ids = torch.tensor([[alphabet.index("\n")]])
        for _ in range(40):
            logits, _ = model(ids[:, -64:])
            ids = torch.cat([ids, torch.multinomial(F.softmax(logits[:, -1], -1), 1)], 1)
    assert found.facts["text"][:40] == "".join(alphabet[id] for id in ids[0, 1:].tolist())
    assert len(found.facts["text"]) == 300


def test_the_curve_of_layernorm_falls_short_as_epsilon_predicts():
    found = outcome(build(STEP5, 1337), "layernorm")
    scales, measured, predicted = (found.arrays[name] for name in ("scales", "measured", "predicted"))
    assert measured == pytest.approx(predicted, rel=1e-3, abs=1e-6)
    assert measured[-1] == pytest.approx(128**0.5, rel=1e-4)
    assert measured[0] < 0.01 * 128**0.5
    assert (scales[0], scales[-1]) == (pytest.approx(1e-6), pytest.approx(10.0))
    assert found.facts["short"] < 0.9 * 128**0.5


def test_memorising_is_told_while_it_goes_on(monkeypatch):
    monkeypatch.setattr(learning, "_REPORT_S", 0.0)
    prepared_ = ended(prepared(build(SMALL, 1337), text_of(SMALL)))
    told = [each for each in tried("memorise", prepared_) if each is not None]
    assert [len(each.arrays["losses"]) for each in told] == list(range(1, 51))
    assert all(each.running for each in told)
    found = ended(tried("memorise", prepared_))
    assert (len(found.arrays["losses"]), found.running) == (51, False)


def test_memorising_takes_the_steps_of_torchs_adamw():
    torch_model, ids = build(SMALL, 1337), torch.tensor([text_of(SMALL)])
    optimizer = torch.optim.AdamW(torch_model.parameters(), lr=1e-3 * 128 / 16)
    losses = []
    for _ in range(51):
        _, loss = torch_model(ids[:, :-1], ids[:, 1:])
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert outcome(build(SMALL, 1337), "memorise").arrays["losses"].tolist() == pytest.approx(losses, rel=1e-4)


def test_a_keys_bias_is_excused_since_softmax_takes_no_notice_of_it(tiny):
    found = outcome(build(tiny, 0), "gradients")
    assert found.labels["excused"] == tuple(
        f"blocks.{layer}.attn.heads.{head}.key.bias" for layer in range(2) for head in range(3)
    )
    assert "softmax takes no notice" in found.detail


# --- cost ------------------------------------------------------------------------------------------------------------


def test_what_is_too_expensive_says_so_with_its_estimate(monkeypatch):
    monkeypatch.setattr(learning, "MOST_STEPS", 1e6)
    monkeypatch.setattr(writing, "MOST", 1e5)
    found = outcomes(build(SMALL, 1337), ["memorise", "before_sample"])
    assert [each.passed for each in found.values()] == [None, None]
    assert "50 steps take about 4.1e+07 multiply-adds" in found["memorise"].detail
    assert "48 tokens take about" in found["before_sample"].detail


def test_without_room_for_a_copy_only_the_count_is_made(monkeypatch):
    monkeypatch.setattr(specimen, "free_bytes", lambda device: 1000)
    found = outcomes(build(SMALL, 1337))
    assert {name for name, each in found.items() if each.passed is not None} == {"parameter_count"}
    assert "a copy of its own to be checked on, and cpu has 900 B" in found["mask"].detail


def test_a_wide_model_is_shown_fewer_tokens(monkeypatch):
    monkeypatch.setattr(specimen, "PASS", 1.0)
    found = outcome(build(STEP5, 1337), "shapes")
    assert found.facts["tokens"] == 16


# --- what they leave alone -------------------------------------------------------------------------------------------


def state_of(model):
    return (
        {name: tensor.clone() for name, tensor in model.state_dict().items()},
        [each.training for each in model.modules()],
        [(each.stash, each.A) for each in model.modules() if isinstance(each, Head)],
        [each.grad for each in model.parameters()],
        [len(each._forward_hooks) for each in model.modules()],
        torch.get_rng_state().clone(),
        torch.is_grad_enabled(),
    )


def assert_same(one, other):
    for name, tensor in one[0].items():
        assert torch.equal(tensor, other[0][name]), name
    assert one[1:5] == other[1:5]
    assert torch.equal(one[5], other[5])
    assert one[6] == other[6]


def test_nothing_of_the_model_is_touched_at_any_pause_nor_by_closing_early(tiny):
    model = build(replace(tiny, dropout=0.3), 0).train()
    model.blocks[0].attn.heads[0].stash = False
    before = state_of(model)
    steps = prepared(model, text_of(tiny))
    prepared_ = ended(steps)
    for name in CHECKS:
        running = tried(name, prepared_)
        for count, _ in enumerate(running):
            if count % 7 == 0:
                assert_same(before, state_of(model))
        for early in (1, 2):
            running = tried(name, prepared_)
            for _ in range(early):
                next(running, None)
            running.close()
        assert_same(before, state_of(model))


def test_checks_that_were_closed_early_leave_the_copy_as_it_was(tiny):
    prepared_ = ended(prepared(build(tiny, 0), text_of(tiny)))
    before = state_of(prepared_.model)
    for name in CHECKS:
        running = tried(name, prepared_)
        next(running, None)
        running.close()
    assert_same(before, state_of(prepared_.model))


def test_weights_that_change_while_they_are_copied_are_copied_anew(tiny):
    model = build(tiny, 0)
    copying = specimen.copied(model)
    for _ in range(5):
        next(copying)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    copied = ended(copying)
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), copied.parameters(), strict=True))
    assert copied.head.weight is copied.token_embedding.weight


def test_a_copy_shares_no_memory_with_the_model_and_holds_no_stash(tiny):
    model = build(tiny, 0)
    model(torch.tensor([[1, 2, 3]]))
    copied = ended(specimen.copied(model))
    assert not {each.data_ptr() for each in model.parameters()} & {each.data_ptr() for each in copied.parameters()}
    assert all(each.A is None for each in copied.modules() if isinstance(each, Head))


def test_two_runs_of_the_checks_find_the_same(tiny):
    model = build(tiny, 0)
    one, other = outcomes(model), outcomes(model)
    assert [each.found for each in one.values()] == [each.found for each in other.values()]


def test_numbers_for_pictures_are_read_only_float32(tiny):
    for name, found in outcomes(build(tiny, 0)).items():
        for what, array in found.arrays.items():
            assert array.dtype == "float32", (name, what)
            assert not array.flags.writeable, (name, what)
            assert array.size < 20_000, (name, what)


# --- as a job --------------------------------------------------------------------------------------------------------


def test_the_command_answers_with_progress_and_one_last_word_for_each_check():
    engine = built()
    before = state_of(engine.model(CURRENT).model)
    events = [each for each in engine.run(RunChecks(job=7, text="abcdefghijk")) if each is not None]
    assert_same(before, state_of(engine.model(CURRENT).model))
    assert {each.job for each in events} == {7}
    last = [each for each in of(Checked, events) if not each.running]
    assert tuple(each.name for each in last) == claims.NAMES
    assert [each.name for each in last if each.passed is False] == []
    assert [each.what for each in of(Progress, events)] == [*claims.NAMES, ""]
    assert dict(last[1].labels)["tokens"] == tuple("cdefghij")


def test_chosen_checks_alone_are_made():
    events = list(built().run(RunChecks(job=7, text="abc", names=("shapes", "mask"))))
    assert [each.name for each in of(Checked, events)] == ["mask", "shapes"]


def test_the_job_ends_without_a_word_once_the_slot_holds_another_model():
    engine = built()
    running = engine.run(RunChecks(job=7, text="abcdefghijk"))
    next(running)
    built(engine=engine)
    assert of(Checked, list(running)) == []


def test_a_text_that_cannot_be_read_and_an_unknown_check_are_mistakes_of_the_asker():
    for command, says in (
        (RunChecks(job=7, text="ab?"), "can't read"),
        (RunChecks(job=7, text=""), "no text"),
        (RunChecks(job=7, text="abc", names=("maths",)), "there is no check 'maths'"),
        (RunChecks(job=7, text="abc", position=3), "choose one from 0 to 2"),
    ):
        with pytest.raises(ValueError, match=says):
            list(built().run(command))


def test_training_meanwhile_changes_nothing_of_what_the_checks_find():
    engine = built()
    model = engine.model(CURRENT).model
    running = engine.run(RunChecks(job=7, text="abcdefghijk", names=("parameter_count", "attention_rows", "memorise")))
    heard = []
    for event in running:
        heard.append(event)
        if of(Progress, heard):  # the copy has been made
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(1.5)
    quiet = list(built().run(RunChecks(job=7, text="abcdefghijk", names=("attention_rows", "memorise"))))
    assert of(Checked, heard)[-1].found == of(Checked, quiet)[-1].found
