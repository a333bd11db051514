"""Sampling through the engine: a seed is a text, whichever way it was reached."""

import importlib.util
import json
import sys
import weakref
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from engines import LETTERS, TINY, built, of, sampled, wide

from gpt_viz.config import ConfigError, preset
from gpt_viz.engine import loaded as loaded_module
from gpt_viz.engine.engine import Engine
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.model import Head
from gpt_viz.engine.sampling import SettingError, distribution
from gpt_viz.engine.tokenizer import UnknownCharacters
from gpt_viz.protocol import (
    CURRENT,
    OTHER,
    Build,
    Distribution,
    Drawn,
    Inspect,
    Predict,
    Sample,
)
from gpt_viz.resources import alphabet

GOLDENS = json.loads((Path(__file__).parents[1] / "goldens" / "sampled.json").read_text(encoding="utf-8"))


@pytest.fixture
def engine():
    return built()


@pytest.mark.parametrize("name", GOLDENS)
def test_b14_an_untrained_preset_samples_the_notebooks_own_text_to_the_character(name):
    golden = GOLDENS[name]
    engine = built(preset(golden["preset"]).config, alphabet(), seed=1337)
    settings = {key: golden[key] for key in ("temperature", "top_k", "seed")}
    text = golden["prompt"] + sampled(engine, golden["prompt"], golden["tokens"], **settings)
    assert text == golden["text"]
    assert len(text) == len(golden["prompt"]) + golden["tokens"]


def test_b14_the_goldens_are_the_notebooks_own(shared):
    def load(file):
        spec = importlib.util.spec_from_file_location(file, shared / "reference" / f"{file}.py")
        found = importlib.util.module_from_spec(spec)
        sys.modules[file] = found  # dataclasses look their module up
        spec.loader.exec_module(found)
        return found

    for golden in GOLDENS.values():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1337)
            if golden["preset"] == "step5":
                model, options = load("step5").GPT(65, 64, 128, 4, 4), {}
            else:
                reference = load("build_gpt")
                model, options = reference.GPT(reference.GPTConfig()), {"top_k": golden["top_k"] or None}
            torch.manual_seed(golden["seed"])
            prompt = torch.tensor([[alphabet().index(character) for character in golden["prompt"]]])
            # Past the block size, where the window slides; the whole length takes a while.
            tokens = model.eval().generate(prompt, 70, golden["temperature"], **options)[0].tolist()
        assert golden["text"].startswith("".join(alphabet()[id] for id in tokens))


def test_b14_over_many_seeds_the_packed_model_samples_what_the_model_itself_does():
    config = replace(preset("build-gpt").config, block_size=16, layers=2, width=32)
    engine = wide(built(config, alphabet()))
    model = engine.model(CURRENT).model
    for seed in range(12):
        ids, generator = [5], torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for _ in range(40):
                logits = model(torch.tensor([ids[-16:]]))[0][0, -1]
                ids.append(int(torch.multinomial(distribution(logits, 0.9, 20), 1, generator=generator)))
        text = sampled(engine, alphabet()[5], tokens=40, temperature=0.9, top_k=20, seed=seed)
        assert text == "".join(alphabet()[id] for id in ids[1:])


@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("top_k", [0, 3])
def test_b14_a_seed_repeats_its_text_and_another_differs(temperature, top_k):
    engine = built()
    one, again, other = (
        sampled(engine, tokens=60, seed=seed, temperature=temperature, top_k=top_k) for seed in (7, 7, 8)
    )
    assert one == again
    assert one != other


def test_b14_stepping_gives_the_text_of_a_run(engine):
    run = sampled(engine, tokens=30, seed=7)
    ids = ()
    for _ in range(30):
        (drawn,) = of(Drawn, engine.run(Sample(job=2, text="abc", continuation=ids, tokens=1, seed=7)))
        assert drawn.position == 3 + len(ids)
        ids += (drawn.id,)
    assert "".join(LETTERS[id] for id in ids) == run
    for back in (29, 12, 0):  # and one back, and from anywhere
        rest = of(Drawn, engine.run(Sample(job=2, text="abc", continuation=ids[:back], tokens=30 - back, seed=7)))
        assert [event.id for event in rest] == list(ids[back:])


def test_b14_greedy_tokens_use_up_their_draws_too(engine):
    ids = tuple(event.id for event in of(Drawn, engine.run(Sample(job=1, text="abc", tokens=5, seed=3))))
    (after,) = of(Drawn, engine.run(Sample(job=1, text="abc", continuation=ids, tokens=1, seed=3)))
    mixed = of(Drawn, built().run(Sample(job=1, text="abc", continuation=ids, tokens=1, seed=3)))
    assert mixed[0].id == after.id


@pytest.mark.parametrize("seed", [-1, 2**64, "abc"])
def test_b14_bad_seeds_are_refused_by_name(engine, seed):
    with pytest.raises(ConfigError) as refused:
        list(engine.run(Sample(job=1, text="a", tokens=1, seed=seed)))
    assert refused.value.field == "seed"


@pytest.mark.parametrize(
    ("field", "value"), [("temperature", -1.0), ("top_k", -5), ("top_p", 0.0), ("tokens", -1), ("top_k", 3.5)]
)
def test_b05_settings_out_of_range_are_refused_before_anything_is_drawn(engine, field, value):
    command = replace(Sample(job=1, text="abc", tokens=3), **{field: value})
    with pytest.raises(SettingError) as refused:
        next(engine.run(command))
    assert refused.value.field == field


def test_b01_at_temperature_0_every_seed_gives_the_arg_max_text(engine):
    texts = {sampled(engine, temperature=0, seed=seed) for seed in (1, 2, 3)}
    model, ids = engine.model(CURRENT).model, [0, 1, 2]
    with torch.no_grad():
        for _ in range(20):
            ids.append(int(model(torch.tensor([ids[-8:]]))[0][0, -1].argmax()))
    assert texts == {"".join(LETTERS[id] for id in ids[3:])}


@pytest.mark.parametrize("temperature", [1e-2, 1e-4, 1e-8, 1e-30])
def test_b02_tiny_temperatures_complete_with_probabilities_that_sum_to_1(engine, temperature):
    with torch.no_grad():
        engine.model(CURRENT).model.ln_f.weight.mul_(500)
    for event in of(Distribution, engine.run(Sample(job=1, text="abc", tokens=10, temperature=temperature))):
        assert np.isfinite(event.probabilities).all()
        assert event.probabilities.sum() == pytest.approx(1, abs=1e-6)
        assert temperature > 1e-8 or event.chosen == event.logits.argmax()


def test_b04_top_k_off_and_at_and_above_the_vocabulary_give_one_text():
    engine = built()
    assert len({sampled(engine, tokens=40, seed=5, top_k=top_k) for top_k in (0, 11, 12, 100_000)}) == 1
    assert sampled(engine, tokens=40, seed=5, top_k=2) != sampled(engine, tokens=40, seed=5)


def test_b08_a_long_prompt_goes_on_as_its_last_tokens_do(engine):
    for count in (7, 8, 9, 20):
        prompt = ("abcdefghijk" * 2)[:count]
        whole = of(Drawn, engine.run(Sample(job=1, text=prompt, tokens=12, temperature=0)))
        assert [event.position for event in whole] == list(range(count, count + 12))
        assert "".join(event.piece for event in whole) == sampled(engine, prompt[-8:], tokens=12, temperature=0)


def test_b09_there_must_be_something_to_go_on_from(engine):
    for command in (Sample(job=1, text="", tokens=3), Predict(job=1, text="")):
        with pytest.raises(IdsError, match="no text to go on from; type at least one character") as refused:
            list(engine.run(command))
        assert refused.value.field == "text"


def test_b10_sampling_from_unknown_characters_is_refused(engine):
    with pytest.raises(UnknownCharacters, match=r"'\?' at 2"):
        list(engine.run(Sample(job=1, text="a?b", tokens=3)))


def test_b16_the_piece_of_an_id_without_a_character_is_a_placeholder():
    engine = built(replace(TINY, vocabulary=16))
    drawn = of(Drawn, engine.run(Sample(job=1, text="abc", tokens=60)))
    assert any(event.id >= 11 for event in drawn)
    assert all(event.piece == f"‹{event.id}›" for event in drawn if event.id >= 11)


def test_each_token_comes_with_the_distribution_it_was_drawn_from(engine):
    events = list(engine.run(Sample(job=9, text="abc", tokens=6, temperature=0.8, top_k=4, top_p=0.95)))
    assert [type(event) for event in events] == [Drawn, Distribution] * 6
    for drawn, shown in zip(events[::2], events[1::2], strict=True):
        assert (shown.position, shown.chosen) == (drawn.position, drawn.id)
        assert drawn.probability == pytest.approx(float(shown.probabilities[drawn.id]))
        assert drawn.probability > 0
        assert drawn.rank == int((shown.logits > shown.logits[drawn.id]).sum())
        assert int((shown.probabilities > 0).sum()) <= 4


def test_no_tokens_are_none_and_without_a_number_it_goes_on(engine):
    assert list(engine.run(Sample(job=1, text="abc", tokens=0))) == []
    steps = engine.run(Sample(job=1, text="abc"))
    assert [type(next(steps)) for _ in range(200)] == [Drawn, Distribution] * 100
    steps.close()


def test_the_tokens_per_second_are_those_of_the_last_second_and_change_four_times_a_second():
    now = [0.0]
    engine = built(engine=Engine(clock=lambda: now[0]))
    rates = []
    for event in engine.run(Sample(job=1, text="abc", tokens=600)):
        if isinstance(event, Drawn):
            rates.append(event.tokens_per_second)
        else:
            now[0] += 0.010 if len(rates) < 300 else 0.020
    assert rates[-1] == pytest.approx(50, rel=0.05)
    assert rates[250] == pytest.approx(100, rel=0.05)
    # After the first quarter of a second, in which it is the mean since the start.
    changes = sum(one != two for one, two in pairwise(rates[50:]))
    assert changes <= 4 * now[0] + 1


def test_sampling_ends_quietly_when_its_model_is_replaced_and_frees_it(engine):
    steps = engine.run(Sample(job=1, text="abc", tokens=100))
    for _ in range(7):
        next(steps)
    gone = weakref.ref(engine.model(CURRENT).model)
    built(engine=engine, seed=3)
    assert [type(event) for event in steps] == [Distribution]  # that of the token which was drawn before
    assert gone() is None


def test_sampling_uses_the_weights_of_the_moment(engine):
    expected = sampled(wide(built()), tokens=1, temperature=0)
    assert sampled(engine, tokens=1, temperature=0) != expected
    wide(engine)
    assert sampled(engine, tokens=1, temperature=0) == expected


def test_sampling_disturbs_no_one_s_random_numbers(engine):
    before = torch.get_rng_state()
    sampled(engine)
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_of_torch_s_spans_a_yield(engine, monkeypatch):
    monkeypatch.setattr("gpt_viz.engine.fast.LARGE", 0)
    model = engine.model(CURRENT).model
    commands = (
        Build(job=1, slot=OTHER, config=TINY, device="cpu", alphabet=LETTERS),
        Inspect(job=1, text="abc"),
        Predict(job=1, text="abc"),
        Sample(job=1, text="abc", tokens=5),
    )
    state = torch.get_rng_state()
    for training in (False, True):
        model.train(training)
        for command in commands:
            for _ in engine.run(command):
                assert torch.is_grad_enabled()
                assert not torch.is_inference_mode_enabled()
                assert sys.getprofile() is None
                assert {each.training for each in model.modules()} == {training}
                assert all(each.A is None for each in model.modules() if isinstance(each, Head))
                assert torch.equal(torch.get_rng_state(), state)


def test_jobs_that_take_turns_give_what_they_give_alone(engine, monkeypatch):
    monkeypatch.setattr("gpt_viz.engine.fast.LARGE", 0)
    commands = [
        Sample(job=1, text="abc", tokens=12, seed=3),
        Sample(job=2, text="kji", tokens=12, seed=3),
        Predict(job=3, text="defg"),
        Inspect(job=4, text="abcdefgh"),
    ]
    alone = [[event for event in built().run(command) if event is not None] for command in commands]
    running = [engine.run(command) for command in commands]
    together = [[] for _ in commands]
    live = list(range(len(commands)))
    while live:
        for number in list(live):
            try:
                event = next(running[number])
            except StopIteration:
                live.remove(number)
                continue
            if event is not None:
                together[number].append(event)
    for events, expected in zip(together, alone, strict=True):
        assert [_told(event) for event in events] == [
            {name: _near(value) for name, value in _told(event).items()} for event in expected
        ]


def _told(event):
    """What an event says, without its times."""
    names = [name for name in type(event).__slots__ if not name.endswith(("_s", "_second"))]
    return {"kind": type(event).__name__} | {name: getattr(event, name) for name in names}


def _near(value):
    return pytest.approx(value, abs=1e-5) if isinstance(value, (float, np.ndarray)) else value


def test_a_long_continuation_is_skipped_in_parts(monkeypatch):
    engine = built()
    monkeypatch.setattr(loaded_module, "_NUMBERS", 110)
    ids = tuple(event.id for event in of(Drawn, engine.run(Sample(job=1, text="abc", tokens=40))))
    events = list(built().run(Sample(job=1, text="abc", continuation=ids[:39], tokens=1)))
    assert events[:3] == [None, None, None]
    assert of(Drawn, events)[0].id == ids[39]


def test_only_the_newest_seeds_are_remembered(engine):
    for seed in range(20):
        sampled(engine, tokens=1, seed=seed)
    assert len(engine.model(CURRENT)._samplers) == 4
