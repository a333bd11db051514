"""The plain loop that the tour shows draws what the engine draws, and what the packed model would."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from engines import LETTERS, TINY, built, sampled, wide

from gpt_viz.config import preset
from gpt_viz.engine.fast import Fast
from gpt_viz.engine.generate import generate
from gpt_viz.engine.initialise import build
from gpt_viz.engine.taps import evaluating
from gpt_viz.protocol import CURRENT
from gpt_viz.resources import alphabet

GOLDENS = json.loads((Path(__file__).parents[1] / "goldens" / "sampled.json").read_text(encoding="utf-8"))
PROMPT = [0, 1, 2]


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def engine():
    return wide(built())


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.7}, {"top_k": 3}, {"temperature": 1.3, "top_k": 5}])
def test_the_plain_loop_draws_the_text_that_the_engine_samples(engine, settings):
    model = engine.model(CURRENT).model
    for seed in range(4):  # 20 tokens, of which the model sees 8: the window slides
        ids = generate(model, torch.tensor([PROMPT]), 20, **settings, generator=seeded(seed))[0].tolist()
        assert ids[:3] == PROMPT
        assert "".join(LETTERS[id] for id in ids[3:]) == sampled(engine, "abc", seed=seed, **settings)


@pytest.mark.parametrize("name", GOLDENS)
def test_b14_the_plain_loop_draws_the_notebooks_own_text(name):
    golden = GOLDENS[name]
    prompt = torch.tensor([[alphabet().index(each) for each in golden["prompt"]]])
    model = build(preset(golden["preset"]).config, 1337)
    ids = generate(model, prompt, 20, golden["temperature"], golden["top_k"], seeded(golden["seed"]))[0].tolist()
    assert golden["text"].startswith("".join(alphabet()[id] for id in ids))
    assert len(ids) == len(golden["prompt"]) + 20


def test_b01_at_temperature_0_the_plain_loop_takes_the_packed_models_likeliest_token(engine):
    model = engine.model(CURRENT).model
    fast, expected = Fast(model), list(PROMPT)
    for _ in range(20):
        expected.append(int(fast.next_logits(expected).argmax()))
    assert generate(model, torch.tensor([PROMPT]), 20, temperature=0)[0].tolist() == expected
    assert "".join(LETTERS[id] for id in expected[3:]) == sampled(engine, "abc", temperature=0)


def test_b04_a_top_k_above_the_vocabulary_leaves_all_in_the_draw(engine):
    model, prompt = engine.model(CURRENT).model, torch.tensor([PROMPT])
    texts = {tuple(generate(model, prompt, 20, top_k=k, generator=seeded(5))[0].tolist()) for k in (0, 11, 100_000)}
    assert len(texts) == 1


def test_b06_of_equal_logits_no_more_than_k_stay():
    model = build(replace(TINY, layers=0), 0)
    with torch.no_grad():
        model.token_embedding.weight.zero_()  # the tied head too: all logits are equal
    drawn = {
        generate(model, torch.tensor([[0]]), 1, top_k=2, generator=seeded(seed))[0, 1].item() for seed in range(40)
    }
    assert len(drawn) == 2


def test_several_texts_are_written_on_side_by_side_and_no_gradient_is_kept(engine):
    model = engine.model(CURRENT).model
    with evaluating(model):
        found = generate(model, torch.tensor([PROMPT, [5, 6, 7]]), 4, generator=seeded(0))
    assert found.shape == (2, 7)
    assert found[:, :3].tolist() == [PROMPT, [5, 6, 7]]
    assert not found.requires_grad
    assert generate(model, torch.tensor([PROMPT]), 0).tolist() == [PROMPT]
