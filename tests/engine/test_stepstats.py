"""The steps of a pass, measured and opened: figures of the whole tensor, each call of torch, and the pictures."""

import contextlib
import itertools
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.engine.engine import Engine
from gpt_viz.engine.ids import IdsError
from gpt_viz.engine.initialise import build
from gpt_viz.engine.opened import open_step, opening
from gpt_viz.engine.operations import Recorder
from gpt_viz.engine.pictures import SIDE, picture
from gpt_viz.engine.stages import finished
from gpt_viz.engine.stepstats import BINS, figures, histogram, measure, measuring
from gpt_viz.engine.taps import UnknownPlace, capture, own_loss
from gpt_viz.engine.trace import trace
from gpt_viz.measures import Figures
from gpt_viz.protocol import Build, Explain, Explained, MeasureSteps, OpenStep, StepOpened, StepsMeasured, TextRefused

IDS = [3, 1, 4, 1, 5]
CHANGES = [
    {},
    {"heads": 1, "dropout": 0.5},
    {"qkv_bias": False, "tied_head": False, "bias": False},
    {"head_bias": True, "gelu": "tanh", "scale": "multiply"},
    {"layers": 0},
]


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """So small a model is as fast with one, and the machine may be busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def model(tiny):
    return build(tiny, 0)


def operations(steps):
    return {step.name: [each.name for each in step.operations] for step in steps}


def told(operation):
    return operation.place, operation.name, operation.inputs, operation.output, operation.dtype


@pytest.mark.parametrize("change", CHANGES)
def test_every_step_is_measured_and_is_what_trace_and_capture_see(change, tiny):
    model = build(replace(tiny, **change), 0).train()
    found = measure(model, IDS)
    assert [(each.name, each.shape, each.dtype) for each in found] == [
        (each.name, each.shape, each.dtype) for each in trace(model, IDS)
    ]
    arrays = capture(model, IDS, ["*"])
    for step in found:
        numbers = arrays[step.name].astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        assert step.figures.not_finite == numbers.size - finite.size
        assert step.figures.mean == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12)
        assert step.figures.std == pytest.approx(finite.std(), rel=1e-9, abs=1e-12)
        assert (step.figures.smallest, step.figures.largest) == (finite.min(), finite.max())
        assert step.figures.norm == pytest.approx(np.linalg.norm(finite), rel=1e-9)
        assert step.bytes == numbers.size * (8 if step.name == "ids" else 4)
        assert step.device == "cpu"
    assert all(each.training for each in model.modules())


@pytest.mark.parametrize("change", CHANGES)
def test_the_measured_multiply_adds_and_parameters_agree_with_the_closed_formulas(change, tiny):
    config = replace(tiny, **change)
    found = measure(build(config, 0), [IDS, IDS])
    assert sum(each.multiply_adds for each in found) == 2 * ledger.multiply_adds(config, 5)
    shared = config.vocabulary * config.width if config.tied_head else 0
    assert sum(each.parameters for each in found) == ledger.total(config) + shared


def test_every_call_of_torch_is_listed_under_the_place_that_it_helped_to_compute(model):
    found = operations(measure(model, IDS))
    assert found["ids"] == []
    assert found["token_embedding"] == ["embedding"]
    assert found["position_embedding"] == ["arange", "embedding"]
    assert found["embedded"] == ["add"]
    assert found["blocks.0.ln1"] == ["layer_norm"]
    head = "blocks.1.attn.heads.2."
    assert found[head + "q"] == found[head + "k"] == found[head + "v"] == ["linear"]
    assert found[head + "products"] == ["transpose", "matmul"]
    assert found[head + "scores"] == ["div"]
    assert found[head + "masked"] == ["masked_fill"]
    assert found["blocks.0.attn.heads.0.masked"] == ["ones", "triu", "masked_fill"]  # the mask is made once a pass
    assert found[head + "A"] == ["softmax"]
    assert found[head + "out"] == ["dropout", "matmul"]
    assert found["blocks.1.attn.concat"] == ["cat"]
    assert found["blocks.1.attn.proj"] == ["linear", "dropout"]
    assert found["blocks.1.mid"] == found["blocks.1.out"] == ["add"]
    assert found["blocks.1.mlp.expand"] == ["linear"]
    assert found["blocks.1.mlp.gelu"] == ["gelu"]
    assert found["blocks.1.mlp.contract"] == ["linear", "dropout"]
    assert found["logits"] == ["linear"]
    assert found["loss"] == ["getitem", "getitem", "flatten", "flatten", "cross_entropy"]


def test_each_call_tells_its_shapes_and_whether_it_moves_numbers(model):
    steps = {step.name: step for step in measure(model, IDS)}
    transpose, matmul = steps["blocks.0.attn.heads.1.products"].operations
    assert (transpose.inputs, transpose.output, transpose.view) == (((1, 5, 4),), (1, 4, 5), True)
    assert (matmul.inputs, matmul.output, matmul.view) == (((1, 5, 4), (1, 4, 5)), (1, 5, 5), False)
    (cat,) = steps["blocks.0.attn.concat"].operations
    assert (cat.inputs, cat.output, cat.view) == (((1, 5, 4),) * 3, (1, 5, 12), False)
    ones, triu, fill = steps["blocks.0.attn.heads.0.masked"].operations
    assert (ones.output, ones.dtype, triu.inputs) == ((5, 5), "bool", ((5, 5),))
    assert (fill.inputs, fill.dtype) == (((1, 5, 5), (5, 5)), "float32")
    linear, dropout = steps["blocks.0.attn.proj"].operations
    assert (linear.inputs, linear.view) == (((1, 5, 12), (12, 12), (12,)), False)
    assert dropout.view  # in evaluation it hands its input on
    for step in steps.values():
        assert all(each.place == step.name for each in step.operations)
        if step.operations:
            assert step.operations[-1].output == step.shape


def test_without_layers_the_mask_belongs_to_no_place_for_none_uses_it(tiny):
    model = build(replace(tiny, layers=0), 0)
    recorder, ids = Recorder(), torch.tensor([IDS])
    with torch.no_grad(), recorder.over(model):
        model(ids)
    assert [(each.place, each.name) for each in recorder.operations()] == [
        ("position_embedding", "arange"),
        ("token_embedding", "embedding"),
        ("position_embedding", "embedding"),
        ("embedded", "add"),
        ("", "ones"),
        ("", "triu"),
        ("ln_f", "layer_norm"),
        ("logits", "linear"),
    ]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("outer", [contextlib.nullcontext, torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_g07_the_operations_are_the_same_in_every_mode(training, outer, tiny):
    model = build(replace(tiny, dropout=0.1), 0)
    expected = [each for step in measure(model, IDS) for each in step.operations]
    model.train(training)
    with outer():
        again = [each for step in measure(model, IDS) for each in step.operations]
        recorder = Recorder()
        ids = torch.tensor([IDS])
        with recorder.over(model):  # and in a plain pass in that very mode
            logits, _ = model(ids)
            own_loss(model, logits, ids)
    plain = [each for each in recorder.operations() if each.name != "detach"]  # of the stash
    assert list(map(told, again)) == list(map(told, expected))
    assert sorted(map(told, plain)) == sorted(map(told, expected))


def test_a_plain_pass_lists_the_stash_as_well(model):
    recorder, ids = Recorder(), torch.tensor([IDS])
    with recorder.over(model):
        model(ids)
    assert [each.name for each in recorder.operations()].count("detach") == 6
    assert model.blocks[0].attn.heads[0].A is not None


def test_without_the_lessons_text_the_calls_are_heard_but_no_line_says_what_for(model, monkeypatch):
    monkeypatch.setattr("gpt_viz.engine.operations._lines", dict)
    assert all(step.operations == () for step in measure(model, IDS))
    recorder, ids = Recorder(), torch.tensor([IDS])
    with recorder.over(model):
        model(ids)
    assert {each.place for each in recorder.operations()} == {""}


def test_times_are_those_of_the_calls_alone(model):
    ticks = itertools.count()
    found = measure(model, IDS, clock=lambda: float(next(ticks)))
    for step in found:
        assert [each.elapsed_s for each in step.operations] == [1.0] * len(step.operations)
        assert step.elapsed_s == (float(len(step.operations)) if step.operations else None)


def test_measuring_pauses_between_blocks_holds_nothing_and_sees_one_state_of_the_weights(tiny):
    model = build(replace(tiny, dropout=0.5), 0).train()
    profile, steps = sys.getprofile(), measuring(model, IDS)
    for _ in range(2):
        next(steps)
        assert all(each.training for each in model.modules())
        assert torch.is_grad_enabled()
        assert sys.getprofile() is profile
        assert torch._C._len_torch_function_stack() == 0
    with torch.no_grad():
        for each in model.parameters():
            each.mul_(1.5)
    mixed, fresh = finished(steps), measure(model, IDS)
    assert [each.figures for each in mixed] == [each.figures for each in fresh]
    assert operations(mixed) == operations(fresh)


def test_what_is_not_finite_is_counted_and_left_out_of_the_figures():
    tensor = torch.tensor([[1.0, math.nan, -3.0], [math.inf, -math.inf, 2.0]])
    found = figures(tensor)
    assert (found.mean, found.smallest, found.largest, found.not_finite) == (0.0, -3.0, 2.0, 3)
    assert found.std == pytest.approx(math.sqrt(14 / 3))
    assert found.norm == pytest.approx(math.sqrt(14))
    assert figures(torch.full((2, 2), math.nan)) == Figures(None, None, None, None, None, 4)
    assert histogram(torch.full((2, 2), math.nan), figures(torch.full((2, 2), math.nan))) is None


def test_figures_of_more_numbers_than_are_taken_at_once_and_of_very_large_ones():
    tensor = torch.arange(2_500_000, dtype=torch.float32) + 10_000_000
    found = figures(tensor)
    numbers = tensor.double().numpy()
    assert found.mean == pytest.approx(numbers.mean(), rel=1e-12)
    assert found.std == pytest.approx(numbers.std(), rel=1e-9)
    assert found.norm == pytest.approx(math.sqrt((numbers**2).sum()), rel=1e-12)
    assert sum(histogram(tensor, found).counts) == 2_500_000
    assert figures(torch.tensor([3e38, -3e38])).norm == pytest.approx(math.sqrt(2) * 3e38, rel=1e-6)
    assert figures(torch.tensor([3e38, 3e38])).std == 0.0


def test_a_histogram_counts_every_finite_number_and_goes_from_the_smallest_to_the_largest():
    tensor = torch.tensor([0.0, 1.0, 1.0, 4.0, math.nan])
    found = histogram(tensor, figures(tensor), bins=4)
    assert (found.low, found.high, found.counts) == (0.0, 4.0, (1, 2, 0, 1))
    assert found.edges(1) == (1.0, 2.0)
    same = histogram(torch.full((5,), -2.0), figures(torch.full((5,), -2.0)), bins=2)
    assert (same.low, same.high, sum(same.counts)) == (-3.0, -1.0, 5)


@pytest.mark.parametrize("change", CHANGES)
def test_an_opened_step_shows_the_tensors_that_capture_sees_and_the_weights(change, tiny):
    model = build(replace(tiny, **change), 0)
    arrays = capture(model, IDS, ["*"])
    weights = {name: each.detach().numpy() for name, each in model.named_parameters(remove_duplicate=False)}
    plain = {step.name: step for step in measure(model, IDS)}
    for spec in ledger.steps(model.config):
        found = open_step(model, IDS, spec.name)
        assert [each.name for each in found.inputs] == list(ledger.inputs(model.config, spec))
        for each in (found.picture, *found.inputs):
            truth = arrays[each.name] if each.name in arrays else weights[each.name]
            assert each.shape == truth.shape
            assert len(each.symbols) == len(each.shape)
            assert each.cells.dtype == np.float32
            assert not each.cells.flags.writeable
            np.testing.assert_array_equal(each.cells.reshape(truth.shape), truth)
        assert sum(found.histogram.counts) == arrays[spec.name].size - found.measure.figures.not_finite
        assert len(found.histogram.counts) == BINS
        assert found.measure.figures == plain[spec.name].figures
        assert list(map(told, found.measure.operations)) == list(map(told, plain[spec.name].operations))


def test_an_opened_step_lists_its_calls_and_only_those(model):
    found = open_step(model, IDS, "blocks.0.attn.heads.2.products")
    assert [each.name for each in found.measure.operations] == ["transpose", "matmul"]
    assert found.measure.multiply_adds == 5 * 5 * 4
    assert open_step(model, IDS, "blocks.0.attn.heads.2.q").measure.parameters == 12 * 4 + 4


def test_opening_ends_where_the_step_is_computed(model):
    reached = []
    model.blocks[1].register_forward_pre_hook(lambda *args: reached.append(args))
    profile = sys.getprofile()
    for _ in opening(model, IDS, "blocks.0.out"):
        assert sys.getprofile() is profile
        assert torch.is_grad_enabled()
        assert torch._C._len_torch_function_stack() == 0
    assert reached == []


def test_weights_that_change_while_a_step_is_opened_are_not_mixed_with_those_that_it_was_computed_with(model):
    before = open_step(model, IDS, "blocks.0.attn.heads.0.q")
    steps = opening(model, IDS, "blocks.0.attn.heads.0.q")
    next(steps), next(steps)  # the pass is over
    with torch.no_grad():
        for each in model.parameters():
            each.mul_(1.5)
    after = finished(steps)
    np.testing.assert_array_equal(after.picture.cells, before.picture.cells)
    for one, other in zip(after.inputs, before.inputs, strict=True):
        np.testing.assert_array_equal(one.cells, other.cells)


def test_what_cannot_be_opened_is_refused_with_its_name(model):
    with pytest.raises(UnknownPlace, match=r"blocks\.2\.ln1"):
        open_step(model, IDS, "blocks.2.ln1")
    with pytest.raises(UnknownPlace, match="no loss"):
        open_step(model, [3], "loss")
    with pytest.raises(IdsError, match="one text at a time"):
        open_step(model, [IDS, IDS], "ids")


def test_a_large_tensor_becomes_a_picture_in_which_nothing_that_stands_out_is_lost():
    generator = torch.Generator().manual_seed(0)
    tensor = torch.randn(1, 3, 2 * SIDE + 1, generator=generator)
    found = picture("logits", tensor, ("B", "T", "V"))
    assert found.span == (1, 3)
    assert found.cells.shape == (3, math.ceil((2 * SIDE + 1) / 3))
    assert not found.offsets.flags.writeable
    for row, column in ((0, 0), (2, 200), (1, found.cells.shape[1] - 1)):
        part = tensor[0, row, 3 * column : 3 * column + 3]
        assert found.cells[row, column] == part[part.abs().argmax()]
        index = found.index(row, column)
        assert tensor[index].item() == found.cells[row, column]
        assert found.cell(index) == (row, column)


def test_a_picture_pooled_both_ways_in_parts_is_the_same_as_in_one_go(monkeypatch):
    tensor = torch.randn(1, SIDE + 5, SIDE + 88, generator=torch.Generator().manual_seed(1))
    whole = picture("A", tensor, ("B", "T", "T"))
    assert whole.span == (2, 2)
    monkeypatch.setattr("gpt_viz.engine.pictures._AT_ONCE", 5000)
    parts = picture("A", tensor, ("B", "T", "T"))
    np.testing.assert_array_equal(parts.cells, whole.cells)
    np.testing.assert_array_equal(parts.offsets, whole.offsets)
    assert whole.cells.shape == (math.ceil((SIDE + 5) / 2), math.ceil((SIDE + 88) / 2))


def test_a_picture_shows_what_is_not_finite_but_the_mask_only_where_all_is_masked():
    tensor = torch.ones(1, 1, 4 * SIDE)
    tensor[0, 0, :8] = torch.tensor([0.0, math.nan, -math.inf, 5.0, -math.inf, -math.inf, -math.inf, -math.inf])
    tensor[0, 0, 8:12] = torch.tensor([1.0, -7.0, math.inf, 2.0])
    tensor[0, 0, 12:16] = torch.tensor([-math.inf, 0.5, -0.75, 0.25])
    found = picture("masked", tensor, ("B", "T", "T"))
    assert found.span == (1, 4)
    np.testing.assert_array_equal(found.cells[0, :4], [math.nan, -math.inf, math.inf, -0.75])


@pytest.mark.parametrize(
    ("tensor", "cells", "index"),
    [
        (torch.tensor(2.5), [[2.5]], ()),
        (torch.tensor([1.0, 2.0]), [[1.0, 2.0]], (1,)),
        (torch.tensor([[4, 7]]), [[4.0, 7.0]], (0, 1)),
        (torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), [[1.0, 2.0], [3.0, 4.0]], (0, 1, 1)),
    ],
)
def test_a_tensor_of_any_number_of_axes_is_a_matrix(tensor, cells, index):
    found = picture("x", tensor, ())
    np.testing.assert_array_equal(found.cells, cells)
    row, column = len(cells) - 1, len(cells[0]) - 1
    assert found.index(row, column) == index
    assert found.cell(index) == (row, column)


def test_the_engine_measures_opens_and_explains_the_text_under_study(tiny):
    engine = Engine()
    list(engine.run(Build(job=1, config=tiny, device="cpu", alphabet=tuple("abcdefghijk"))))
    text = "abcdefghijkabc"  # longer than the block size of 8

    def only(command):
        (event,) = [each for each in engine.run(command) if each is not None]
        assert (event.job, event.slot) == (command.job, command.slot)
        return event

    measured = only(MeasureSteps(job=2, text=text, continuation=(3,)))
    assert isinstance(measured, StepsMeasured)
    assert (len(measured.tokens.ids), measured.tokens.dropped) == (8, 7)
    assert len(measured.steps) == len(ledger.steps(tiny))
    place = "blocks.1.attn.heads.2.A"
    opened = only(OpenStep(job=3, text=text, continuation=(3,), step=place))
    assert isinstance(opened, StepOpened)
    assert opened.step.name == opened.tensor.name == place
    assert [each.name for each in opened.inputs] == ["blocks.1.attn.heads.2.masked"]
    explained = only(Explain(job=4, text=text, continuation=(3,), step=place, index=opened.tensor.index(7, 2)))
    assert isinstance(explained, Explained)
    assert explained.explanation.value == opened.tensor.cells[7, 2]
    refused = only(OpenStep(job=5, text="a?", step=place))
    assert isinstance(refused, TextRefused)
    assert refused.unknown == ((1, "?"),)
    assert isinstance(only(Explain(job=6, text="", step=place, index=(0, 0, 0))), TextRefused)
    with pytest.raises(UnknownPlace):
        only(OpenStep(job=7, text="a", step="loss"))


@pytest.mark.parametrize("preset", ["step5", "build-gpt"])
def test_opening_the_last_step_of_a_notebooks_model_takes_no_more_work_than_some_passes(preset, calls_in):
    """Well under 100 ms on a machine that has time for it (see the bench); here the work is counted."""
    config = PRESETS[preset].config
    model = build(config, 1337)
    ids = [id % 65 for id in range(config.block_size)]

    def plain():
        with torch.no_grad():
            model(torch.tensor([ids]))

    open_step(model, ids, "blocks.3.mlp.contract")  # the first time torch imports what it needs for it
    assert calls_in(lambda: open_step(model, ids, "blocks.3.mlp.contract")) < 40 * calls_in(plain)


def test_a_step_of_a_long_text_is_opened_with_its_numbers_whole_and_its_picture_small():
    config = GPTConfig(vocabulary=11, block_size=600, layers=1, heads=2, width=8)
    found = open_step(build(config, 0), [1, 2, 3] * 200, "blocks.0.attn.heads.1.masked")
    assert found.measure.shape == (1, 600, 600)
    assert found.measure.figures.not_finite == 600 * 599 // 2
    assert sum(found.histogram.counts) == 600 * 601 // 2
    assert (found.picture.cells.shape, found.picture.span) == ((300, 300), (2, 2))
    assert np.isneginf(found.picture.cells[np.triu_indices(300, 1)]).all()
    assert np.isfinite(found.picture.cells[np.tril_indices(300)]).all()
