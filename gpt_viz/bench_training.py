"""Measures how fast a model is trained beside the notebooks' own loop: alone, and in a window that shows it.

The same model, batch and text on both sides, torch on one thread, the two taking turns so that a busy moment of the
machine hits both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gpt_viz.bench import lesson_window, set_threads, timed
from gpt_viz.config import PRESETS
from gpt_viz.schedule import TrainingSettings

if TYPE_CHECKING:
    from torch import Tensor

    from gpt_viz.engine.model import GPT

SETTINGS = TrainingSettings(steps=10**6, batch=16, rate=3e-3)
STEPS, ROUNDS = 10, 4
# In the window many short turns: what a run does now and then, such as writing a sample, must fall into their sum, and
# a machine that is quicker in one second than in the next must not tell for one side.
WINDOW_STEPS, WINDOW_ROUNDS, WINDOW_S = 6, 20, 2.0


def training_speed() -> dict[str, float]:
    """Tokens per second of both, and their ratio: the fastest round of each."""
    from gpt_viz.engine.training import Trainer

    set_threads(1)
    ids = passage()
    trainer, plain = Trainer(model(), ids, SETTINGS), notebook_steps(model(), ids)
    slow, quick = [], []
    for _ in range(ROUNDS):
        slow.append(timed(lambda: [next(plain) for _ in range(STEPS)]))
        quick.append(timed(lambda: [trainer.step() for _ in range(STEPS)]))
    tokens = STEPS * SETTINGS.batch * PRESETS["step5"].config.block_size
    return {
        "notebook_loop_tokens_per_s": tokens / min(slow),
        "gpt_viz_tokens_per_s": tokens / min(quick),
        "ratio": min(slow) / min(quick),
    }


def training_in_window() -> dict[str, float]:
    """Tokens per second with training and four more panels in sight, in turns with the notebooks' loop; the ratio."""
    from PySide6.QtCore import QEventLoop, Qt, QTimer
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication(["gpt-viz"])
    window = lesson_window()
    ready: list[bool] = []
    window.ready.connect(lambda: ready.append(True))
    window.show()
    while not ready:
        app.processEvents()
    # It stands behind another one by default, and so would not be painted.
    window.desk.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, window.desk.dock("training"))
    set_threads(1)
    controls, learner = window.panels["training"].controls, window.learner  # type: ignore[attr-defined]
    controls.batch.setValue(SETTINGS.batch)
    controls.steps.setValue(SETTINGS.steps)

    def wait_for(step: int) -> None:
        while learner.newest < step:
            app.processEvents()
            if learner.ended == "failed":
                raise RuntimeError(f"the training in the window failed: {learner.reason}")

    steps = notebook_steps(model(), passage())
    next(steps)  # the optimizer's first one imports much
    plain_s = ours_s = 0.0
    made = 0
    for _ in range(WINDOW_ROUNDS):
        plain_s += timed(lambda: [next(steps) for _ in range(WINDOW_STEPS)])
        window.call("training", "run")
        wait_for(learner.newest + 2)
        first, began = learner.newest, time.perf_counter()
        loop = QEventLoop()
        QTimer.singleShot(int(WINDOW_S * 1000), loop.quit)
        loop.exec()
        wait_for(learner.newest + 1)  # begun at a step's end, it ends at one
        made += learner.newest - first
        ours_s += time.perf_counter() - began
        window.call("training", "pause")
        _rest(app.processEvents, lambda: learner.newest)
    window.close()
    window.worker.stop(10)
    tokens = SETTINGS.batch * PRESETS["step5"].config.block_size
    slow, quick = WINDOW_ROUNDS * WINDOW_STEPS * tokens / plain_s, made * tokens / ours_s
    return {"notebook_loop_tokens_per_s": slow, "gpt_viz_tokens_per_s": quick, "ratio": quick / slow}


def _rest(process: Callable[[], None], made: Callable[[], int], rest_s: float = 0.5) -> None:
    """Let the window go on until no step has come for a while: it rests only after the one that is being made."""
    seen, since = made(), time.perf_counter()
    while time.perf_counter() - since < rest_s:
        process()
        if made() != seen:
            seen, since = made(), time.perf_counter()


def model() -> GPT:
    """The lesson's model, untrained."""
    from gpt_viz.engine.initialise import build

    return build(PRESETS["step5"].config, 1337)


def passage() -> Tensor:
    """The built-in text as ids (n,)."""
    import torch

    from gpt_viz import resources

    place = {each: id for id, each in enumerate(resources.alphabet())}
    return torch.tensor([place[each] for each in resources.passage()])


def notebook_steps(model: GPT, ids: Tensor) -> Iterator[float]:
    """Training as the notebooks do it, a step for each `next`: AdamW on random windows, nothing else."""
    import torch

    N = model.config.block_size
    optimizer = torch.optim.AdamW(model.parameters(), lr=SETTINGS.rate)
    generator = torch.Generator().manual_seed(0)
    model.train()
    while True:
        starts = torch.randint(len(ids) - N, (SETTINGS.batch,), generator=generator).tolist()
        texts = torch.stack([ids[start : start + N] for start in starts])
        targets = torch.stack([ids[start + 1 : start + N + 1] for start in starts])
        _, loss = model(texts, targets)
        assert loss is not None  # targets were given
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        yield loss.item()
