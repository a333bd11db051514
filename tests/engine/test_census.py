"""The real module counted tensor by tensor, held against the ledger and against known totals."""

from dataclasses import replace

import pytest
import torch

from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.census import agrees, census, total, weight_bytes
from gpt_viz.engine.initialise import build, skeleton


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({}, 4_020),
        ({"tied_head": False}, 4_152),
        ({"qkv_bias": False, "bias": False}, 3_744),
        ({"qkv_bias": False, "bias": False, "tied_head": False}, 3_876),
        ({"layers": 0}, 252),
        ({"block_size": 1}, 3_936),
        ({"vocabulary": 1}, 3_900),
        ({"qkv_bias": False, "tied_head": False, "head_bias": True}, 4_091),
    ],
)
def test_g01_the_small_model_counts_as_the_cases_say_and_as_the_ledger_says(change, count, tiny):
    config = replace(tiny, **change)
    model = build(config, 0)
    assert total(model) == count
    assert sum(each.count for each in census(model)) == count
    assert agrees(model, config)
    assert weight_bytes(model) == 4 * count


@pytest.mark.parametrize(
    ("preset", "count"), [("step5", 816_640), ("build-gpt", 824_897), ("gpt2", 124_439_808), ("gpt2-xl", 1_557_611_200)]
)
def test_g01_presets_count_as_published(preset, count):
    config = PRESETS[preset].config
    model = skeleton(config)
    assert total(model) == count
    assert agrees(model, config)


def test_g01_a_lecture_model_counts_as_published():
    config = GPTConfig(vocabulary=65, block_size=256, width=384, layers=6, heads=6, head_bias=True)
    assert total(skeleton(config)) == 10_788_929


def test_g01_a_tied_head_is_listed_with_its_size_and_counts_nothing(tiny):
    head = census(build(tiny, 0))[-1]
    assert (head.name, head.shape, head.count, head.shared_with) == (
        "head.weight",
        (11, 12),
        0,
        "token_embedding.weight",
    )


def test_g02_a_longer_block_adds_positions_and_no_mask(tiny):
    longer = replace(tiny, block_size=512)
    assert total(build(longer, 0)) - total(build(tiny, 0)) == (512 - 8) * 12


def test_g02_buffers_are_not_counted(tiny):
    model = build(tiny, 0)
    model.blocks[0].register_buffer("mask", torch.ones(8, 8))
    assert total(model) == 4_020
    assert agrees(model, tiny)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 12])
def test_g04_the_count_does_not_depend_on_the_number_of_heads(heads, tiny):
    config = replace(tiny, heads=heads)
    model = build(config, 0)
    assert total(model) == 4_020
    assert agrees(model, config)
    matrices = [each for each in census(model) if each.name.split(".")[-2] in ("key", "query", "value")]
    assert sum(each.count for each in matrices) == 2 * (3 * 12 * 12 + 3 * 12)
    assert {each.shape for each in matrices if each.name.endswith("weight")} == {(12 // heads, 12)}


def test_a_module_that_is_not_what_the_ledger_promises_is_found_out(tiny):
    model = build(tiny, 0)
    assert not agrees(model, replace(tiny, layers=3))
    assert not agrees(model, replace(tiny, tied_head=False))
    assert not agrees(model, replace(tiny, heads=4))
    model.ln_f.extra = torch.nn.Parameter(torch.zeros(3))
    assert not agrees(model, tiny)
