"""The bench's arithmetic and the shape of what it prints: on given times, so that no clock decides."""

import json

import pytest

from gpt_viz import bench, bench_start, bench_training, bench_views
from gpt_viz.bench_start import Start
from gpt_viz.config import PRESETS


def test_the_start_is_the_median_of_both_by_the_clock_and_by_the_processor():
    empty = [Start(0.1, 0.08), Start(0.2, 0.10), Start(9.0, 0.12)]
    ours = [Start(0.3, 0.2), Start(0.4, 0.25), Start(0.5, 0.3)]
    found = bench_start.compared(empty, ours)
    assert (found["empty_window_s"], found["gpt_viz_s"]) == (0.2, 0.4)
    assert found["ratio"] == pytest.approx(2)
    assert found["processor_ratio"] == pytest.approx(2.5)


@pytest.mark.parametrize("program", [bench_start.EMPTY, bench_start.OURS])
def test_both_programs_that_are_started_can_be_compiled(program):
    compile(program, "started", "exec")


def test_an_opened_step_is_held_against_a_pass_and_the_first_try_does_not_count():
    now = [0.0]

    def takes(*seconds):
        left = list(seconds)

        def work():
            now[0] += left.pop(0)

        return work

    found = bench_views.against_pass(takes(8, 1, 2, 3), {"logits": takes(9, 3, 4, 5)}, tries=3, clock=lambda: now[0])
    assert found == pytest.approx({"plain_pass_ms": 2000, "logits_ms": 4000, "logits over a pass": 2})


def test_every_size_that_is_dragged_through_is_a_model():
    configs = bench_views.dragged(PRESETS["step5"].config, steps=5)
    assert [each.width for each in configs[:5]] == [32, 36, 40, 44, 48]
    assert [each.layers for each in configs[5:]] == [1, 2, 3, 4, 5]


@pytest.fixture
def measured(monkeypatch):
    """The figures are given, not measured."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    lateness = bench.asdict(bench.Lateness(p99_ms=1.5, worst_ms=9.0, ticks=1600, seconds=8.0))
    monkeypatch.setattr(bench, "window_figures", lambda: {"at_rest": lateness})
    monkeypatch.setattr(bench, "sampling_speed", lambda: {"ratio": 2.5})
    monkeypatch.setattr(bench_start, "first_paint", lambda: {"ratio": 2.25})
    monkeypatch.setattr(bench_training, "training_speed", lambda: {"ratio": 1.25})
    monkeypatch.setattr(bench_training, "training_in_window", lambda: {"ratio": 1.125})
    monkeypatch.setattr(bench_views, "opening_speed", lambda: {"step5": {"logits_ms": 4.0}})
    monkeypatch.setattr(bench_views, "dragging_speed", lambda: {"redraw_ms": 5.0})


def test_json_is_one_document_and_text_has_the_same_figures(measured, capsys):
    assert bench.bench(as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        "first_paint", "window", "dragging_a_size", "opening_a_step", "sampling", "training",
        "training_in_a_window_with_all_panels",
    }  # fmt: skip
    assert found["window"]["at_rest"]["p99_ms"] == 1.5
    assert bench.bench(as_json=False, only=["sampling", "training"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "sampling",
        "ratio",
        "training",
        "ratio",
    ]
    bench.bench(as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert {"first paint", "opening a step"} <= set(lines)
    assert [line.split()[-1] for line in lines if "ratio" in line] == ["2.250", "2.500", "1.250", "1.125"]
