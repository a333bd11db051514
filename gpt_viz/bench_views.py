"""Measures what answers a hand: a step that is opened, beside a plain pass; a size that is dragged, beside a frame."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from gpt_viz.config import PRESETS, GPTConfig

LESSONS = ("step5", "build-gpt")
STEPS = ("blocks.0.attn.heads.0.A", "logits")  # near the beginning of a pass, and at its end
FRAME_MS = 1000 / 60
TRIES = 7


def opening_speed(tries: int = TRIES) -> dict[str, dict[str, float]]:
    """Milliseconds to open a step of a full window of text in both lessons' models, over those of a plain pass."""
    import torch

    from gpt_viz.engine.initialise import build
    from gpt_viz.engine.opened import open_step

    torch.set_num_threads(1)
    found = {}
    for name in LESSONS:
        config = PRESETS[name].config
        model = build(config, 1337)
        ids = torch.arange(config.block_size)[None] % config.vocabulary

        looks = {step: partial(open_step, model, ids, step) for step in STEPS}
        found[name] = against_pass(torch.no_grad()(partial(model, ids)), looks, tries)
    return found


def against_pass(
    plain: Callable[[], object],
    opened: Mapping[str, Callable[[], object]],
    tries: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The medians of a pass and of each opening, in milliseconds, and how many passes an opening takes."""
    works: dict[str, Callable[[], object]] = {"plain_pass": plain, **opened}
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(1 + tries):  # alternating; the first is to warm up
        for name, work in works.items():
            began = clock()
            work()
            taken[name].append(1000 * (clock() - began))
    medians = {name: statistics.median(each[1:]) for name, each in taken.items()}
    ratios = {f"{name} over a pass": medians[name] / medians["plain_pass"] for name in opened}
    return {**{f"{name}_ms": value for name, value in medians.items()}, **ratios}


def dragging_speed() -> dict[str, float]:
    """Milliseconds until the parameters of a size that is dragged are worked out and painted, beside one frame's."""
    from gpt_viz.ui.parameters.dragging import followed

    seconds = followed(dragged(PRESETS["step5"].config), "gpt2")
    return {"redraw_ms": 1000 * statistics.median(seconds), "worst_ms": 1000 * max(seconds), "frame_ms": FRAME_MS}


def dragged(config: GPTConfig, steps: int = 30) -> list[GPTConfig]:
    """The configs that dragging the width, and then the layers, passes through."""
    widths = [replace(config, width=config.heads * (8 + step)) for step in range(steps)]
    return widths + [replace(config, layers=1 + step) for step in range(steps)]
