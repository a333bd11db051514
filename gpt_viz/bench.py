"""Measures what the program promises about speed, each figure beside its yardstick in the same run.

Every figure is a ratio or stands next to the same measurement of something plain: an empty Qt window, a window at
rest, a plain pass, one frame, the notebooks' own loops of sampling and training on the lesson's model. Torch uses one
thread throughout, on both sides.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from gpt_viz.engine.model import GPT
    from gpt_viz.protocol import Event
    from gpt_viz.runner import Runs
    from gpt_viz.ui.window import MainWindow

TICK_S = 0.005

# Where each is measured, in their order: the start first, while nothing else is at work.
SECTIONS: dict[str, tuple[str, str]] = {
    "first_paint": ("bench_start", "first_paint"),
    "window": ("bench", "window_figures"),
    "dragging_a_size": ("bench_views", "dragging_speed"),
    "opening_a_step": ("bench_views", "opening_speed"),
    "sampling": ("bench", "sampling_speed"),
    "training": ("bench_training", "training_speed"),
    "training_in_a_window_with_all_panels": ("bench_training", "training_in_window"),
}


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late a 5 ms timer of the UI thread was, in milliseconds, over `seconds`."""

    p99_ms: float
    worst_ms: float
    ticks: int
    seconds: float


def bench(as_json: bool, only: Sequence[str] = ()) -> int:
    """Measure all sections, or `only` those of these names, print each as it ends, and return the exit code 0."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("win32", "darwin")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    found: dict[str, Any] = {}
    for name in only or SECTIONS:
        module, function = SECTIONS[name]
        found[name] = getattr(importlib.import_module(f"gpt_viz.{module}"), function)()
        if not as_json:
            print(as_text({name: found[name]}), flush=True)
    if as_json:
        print(json.dumps(found))
    return 0


def as_text(found: dict[str, Any], indent: str = "") -> str:
    """The figures as indented lines."""
    lines = []
    for name, value in found.items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            lines += [f"{indent}{label}", as_text(value, indent + "  ")]
        else:
            lines.append(
                f"{indent}{label:<46}{value:>10.3f}" if isinstance(value, float) else f"{indent}{label}: {value}"
            )
    return "\n".join(lines)


def window_figures(seconds: float = 8.0) -> dict[str, Any]:
    """How late the UI thread is at rest, sampling with all panels live, and in an empty window beside a thread."""
    from PySide6.QtWidgets import QApplication, QPushButton, QWidget

    app = QApplication.instance() or QApplication(["gpt-viz"])

    def press(name: str) -> None:
        button = window.findChild(QPushButton, name)
        assert isinstance(button, QPushButton), f"there is no button {name}"
        button.click()

    window = lesson_window()
    moments: dict[str, float] = {}
    window.ready.connect(lambda: moments.setdefault("ready", time.perf_counter()))
    window.show()
    waits = threading.Thread(target=lambda: moments.setdefault("torch", _torch_imported()))
    while "ready" not in moments:
        app.processEvents()
        if "torch" in sys.modules and waits.ident is None:
            waits.start()
    waits.join()
    set_threads(1)
    rest = lateness(seconds)
    window.panels["sampling"].controls.tokens.setValue(0)  # type: ignore[attr-defined]  # without end
    press("sampling.run")
    live = lateness(seconds)
    press("sampling.stop")
    window.close()
    bare_window = QWidget()
    bare_window.resize(1600, 1000)
    bare_window.show()
    stop = threading.Event()
    thread = threading.Thread(target=_sample_until, args=(stop,))
    thread.start()
    bare = lateness(seconds)
    stop.set()
    thread.join()
    return {
        "torch_imported_to_first_model_drawn_s": moments["ready"] - moments["torch"],
        "at_rest": asdict(rest),
        "sampling_with_all_panels": asdict(live),
        "empty_window_beside_bare_sampling_thread": asdict(bare),
    }


def lesson_window() -> MainWindow:
    """The program's window on the first lesson's model, not yet shown; its engine has one thread of torch."""
    from gpt_viz.app import make_window, start

    def one_thread(emit: Callable[[Event], None]) -> Runs:
        from gpt_viz.engine.engine import Engine

        return Engine(emit, threads=1)

    window = make_window(start(["--preset", "step5"], remembers=False), one_thread)
    window.resize(1600, 1000)
    return window


def _torch_imported() -> float:
    """When torch was whole: an import that another thread has begun is waited for here."""
    import torch  # noqa: F401

    return time.perf_counter()


def lateness(seconds: float) -> Lateness:
    """Run the event loop for that long with a 5 ms timer, and say how late its ticks were."""
    from PySide6.QtCore import QEventLoop, Qt, QTimer

    late: list[float] = []
    last = [time.perf_counter()]

    def tick() -> None:
        now = time.perf_counter()
        late.append(max(now - last[0] - TICK_S, 0.0) * 1000)
        last[0] = now

    loop = QEventLoop()
    timer = QTimer(interval=int(TICK_S * 1000), timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()
    timer.stop()
    late.sort()
    return Lateness(late[int(len(late) * 0.99)], late[-1], len(late), seconds)


def sampling_speed(tokens: int = 400) -> dict[str, float]:
    """Tokens per second of the notebooks' loop on the lesson's model and of the packed one, and their ratio."""
    from gpt_viz.config import PRESETS
    from gpt_viz.engine.initialise import build

    set_threads(1)
    model = build(PRESETS["step5"].config, 1337)
    plain, packed = [], []
    for _ in range(3):  # alternating, so that a busy moment of the machine hits both
        plain.append(timed(lambda: notebook_loop(model, tokens)))
        packed.append(timed(lambda: _packed_loop(model, tokens)))
    slow, quick = tokens / min(plain), tokens / min(packed)
    return {"notebook_loop_tokens_per_s": slow, "gpt_viz_tokens_per_s": quick, "ratio": quick / slow}


def notebook_loop(model: GPT, tokens: int) -> torch.Tensor:
    """Sampling as both notebooks do it: the whole window through the whole model for each token."""
    import torch

    ids = torch.zeros(1, 1, dtype=torch.long)
    with torch.no_grad():
        for _ in range(tokens):
            logits, _ = model(ids[:, -model.config.block_size :])
            probabilities = torch.softmax(logits[:, -1], dim=-1)
            ids = torch.cat([ids, torch.multinomial(probabilities, 1)], dim=1)
    return ids


def _packed_loop(model: GPT, tokens: int) -> None:
    from gpt_viz.engine.fast import Fast
    from gpt_viz.engine.sampling import Sampler, distribution

    fast, sampler, ids = Fast(model), Sampler(0, model.config.vocabulary), [0]
    for number in range(tokens):
        ids.append(sampler.draw(distribution(fast.next_logits(ids)), number))


def _sample_until(stop: threading.Event) -> None:
    from gpt_viz.config import PRESETS
    from gpt_viz.engine.initialise import build

    model = build(PRESETS["step5"].config, 1337)
    while not stop.is_set():
        notebook_loop(model, 20)


def timed(work: Callable[[], object]) -> float:
    """How long the work takes, in seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def set_threads(count: int) -> None:
    """How many threads torch takes for what this thread asks of it."""
    import torch

    torch.set_num_threads(count)
