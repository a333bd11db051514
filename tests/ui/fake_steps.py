"""What an engine without torch answers about the steps of a pass: right names and shapes, numbers that are easy."""

import math

import numpy as np

from gpt_viz import ledger
from gpt_viz.explanation import Explanation, Region
from gpt_viz.measures import Figures, Histogram, Operation, Picture, StepMeasure
from gpt_viz.protocol import Explained, StepOpened, StepsMeasured


def measured(config, step, count):
    """A step whose result is 0, 1, 2, ..., made by one call of torch."""
    shape = step.shape(config, count)
    n = math.prod(shape)
    numbers = np.arange(n, dtype=np.float64)
    figures = Figures(numbers.mean(), numbers.std(), 0.0, float(n - 1), float(np.linalg.norm(numbers)), 0)
    calls = (Operation(step.name, "made", (shape,), shape, "float32", False, 0.001),) if step.name != "ids" else ()
    return StepMeasure(
        name=step.name, shape=shape, dtype="float32", device="cpu", bytes=4 * n, figures=figures,
        parameters=ledger.parameters_used(config, step),
        multiply_adds=ledger.step_multiply_adds(config, step, count), elapsed_s=0.001, operations=calls,
    )  # fmt: skip


def picture(name, shape, symbols):
    rows, columns = (1, 1, *shape)[-2:]
    cells = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    cells.setflags(write=False)
    return Picture(name, shape, symbols, cells)


def inputs(config, step, count):
    steps, tensors = ledger.steps(config), ledger.tensors(config)
    for name in ledger.inputs(config, step):
        if name.endswith((".weight", ".bias")):
            tensor = tensors[tensors.index_of(name)]
            yield picture(name, tensor.shape, tensor.symbols)
        else:
            place = steps[steps.index_of(name)]
            yield picture(name, place.shape(config, count), place.symbols)


def opened(job, config, tokens, name):
    step = spec(config, name)
    count = len(tokens.ids)
    measure = measured(config, step, count)
    n = max(math.prod(measure.shape) - 1, 1)
    return StepOpened(
        job=job, tokens=tokens, step=measure, histogram=Histogram(0.0, float(n), (1, 2, 3, 4)),
        tensor=picture(name, measure.shape, step.symbols), inputs=tuple(inputs(config, step, count)),
    )  # fmt: skip


def explained(job, config, tokens, name, index):
    """Every number is told to be a copy of one in the first input."""
    step = spec(config, name)
    count = len(tokens.ids)
    shape = step.shape(config, count)
    value = float(np.ravel_multi_index(index, shape)) if shape else 0.0
    sources = ()
    for each in inputs(config, step, count):
        spans = tuple((min(at, size - 1), min(at, size - 1) + 1) for at, size in zip(index, each.shape, strict=False))
        if len(spans) == len(each.shape):
            sources = (Region(each.name, spans),)
            break
    kind, numbers = ("copy", (("head", 0.0), ("column", 0.0))) if sources else ("character", (("id", value),))
    explanation = Explanation(name, tuple(index), kind, value, value, sources, (), numbers)
    return Explained(job=job, tokens=tokens, explanation=explanation)


def all_measured(job, config, tokens):
    steps = ledger.steps(config, loss=len(tokens.ids) > 1)
    return StepsMeasured(
        job=job, tokens=tokens, steps=tuple(measured(config, step, len(tokens.ids)) for step in steps)
    )  # fmt: skip


def spec(config, name):
    steps = ledger.steps(config)
    return steps[steps.index_of(name)]
