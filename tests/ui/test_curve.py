"""The curve: all points are on it, gaps where numbers are not finite, and axes that are always finite."""

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from gpt_viz.ui.theme import KINDS, theme, tokens
from gpt_viz.ui.widgets.curve import Curve
from gpt_viz.ui.widgets.curve_points import Scale, folded, scale_for, smoothed

LEVEL = (math.log(11), "ln 11 = 2.40")


def array(*values):
    return np.array(values, np.float32)


@pytest.fixture
def curve(qtbot):
    made = Curve()
    qtbot.addWidget(made)
    made.resize(420, 220)
    return made


def show(curve, losses, estimates=(), last=0):
    curve.show_losses(0, losses, list(estimates), last=last or len(losses), level=LEVEL)
    return curve.grab().toImage()


def count(image, colour):
    """How many pixels have nearly that colour."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    raw = np.frombuffer(image.convertToFormat(image.Format.Format_RGB32).constBits(), np.uint8).reshape(-1, 4)
    return int((np.abs(raw[:, [2, 1, 0]].astype(int) - wanted).max(axis=1) < 12).sum())


def test_every_point_is_in_exactly_one_fold():
    values = np.arange(1000, dtype=np.float32)
    points = folded(values, 64)
    assert len(points.at) <= 64
    assert (points.low[0], points.high[-1]) == (0, 999)
    assert np.all(points.low[1:] == points.high[:-1] + 1)
    assert points.at[0] == (points.low[0] + points.high[0]) / 2


def test_few_points_are_left_as_they_are():
    points = folded(array(3, 1, 2), 64)
    assert points.at.tolist() == [0, 1, 2]
    assert points.mean.tolist() == points.low.tolist() == points.high.tolist() == [3, 1, 2]
    assert len(folded(array(), 64).at) == 0


def test_an_outlier_among_a_million_is_in_the_picture():
    values = np.full(10**6, 2.0, np.float32)
    values[777_777] = 9.0
    assert folded(values, 300).high.max() == 9.0


def test_the_mean_does_not_lag_where_the_curve_falls():
    falling = np.linspace(4.0, 2.0, 50)
    assert smoothed(falling, 5)[:40] == pytest.approx(falling[:40])
    assert math.isnan(smoothed(np.array([1.0, math.nan, 3.0]), 1)[1])


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "losses",
    [
        (3.2, 2.9, math.nan, math.inf, 2.8),
        (math.nan,) * 5,
        (math.inf, -math.inf),
        (0.0,) * 5,
        (1e38, 1.0, -1e38),
        (),
        (2.0,),
    ],
)
def test_f19_axes_stay_finite_and_nothing_is_raised(curve, losses, log):
    curve.set_log(log)
    for last in (1, 10, 10**9):
        show(curve, array(*losses), [(0, math.nan), (3, math.inf)], last)
        scale = curve.scale()
        assert math.isfinite(scale.low)
        assert math.isfinite(scale.high)
        assert scale.low < scale.high
        ticks = scale.ticks(5)
        assert all(math.isfinite(each) for each in ticks)
        assert len(ticks) <= 8


def test_f19_a_gap_stays_open(curve):
    whole = array(*[2.0] * 41)
    gap = whole.copy()
    gap[10:30] = math.nan
    colour = tokens().accent_text
    assert count(show(curve, gap), colour) < 0.75 * count(show(curve, whole), colour)


def test_all_nan_draws_no_curve(curve):
    colour = tokens().accent_text
    nothing = count(show(curve, array()), colour)
    assert count(show(curve, array(*[math.nan] * 30)), colour) == nothing


def test_ticks_are_round_on_both_scales():
    assert Scale(0.0, 4.4).ticks(5) == [0, 1, 2, 3, 4]
    assert Scale(1.9, 4.4).ticks(6) == [2, 2.5, 3, 3.5, 4]
    assert Scale(0.1, 100.0, True).ticks(5) == [0.1, 1, 10, 100]
    assert Scale(1.5, 4.4, True).ticks(7) == pytest.approx([1.5, 2, 3, 4])


def test_the_level_has_room_beside_the_losses():
    scale = scale_for(np.array([1.0, 1.2, 2.4]), False)
    assert scale.low < 1.0
    assert scale.high > 2.4


def test_a_step_is_read_and_clicked(curve, qtbot):
    show(curve, array(*np.linspace(4, 2, 101)), [(0, 4.1), (50, 3.2)], 200)
    assert curve.words_at(50) == "step 50: batch 3.000, validation 3.200"
    assert curve.words_at(60) == "step 60: batch 2.800, validation 3.200 (of step 50)"
    assert curve.words_at(150) == "step 150: validation 3.200 (of step 50)"
    curve.show()
    middle = curve._plot().center().toPoint()
    chosen = []
    curve.chosen.connect(chosen.append)
    QTest.mouseClick(curve, Qt.MouseButton.LeftButton, pos=middle)
    assert chosen == [pytest.approx(100, abs=1)]
    QTest.mouseClick(curve, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert len(chosen) == 1
    assert curve._step_at(QPointF(middle)) == chosen[0]


def test_the_moment_that_is_shown_is_marked(curve):
    losses = array(*np.linspace(4, 2, 40))
    before = show(curve, losses)
    curve.mark(20)
    assert curve.grab().toImage() != before
    curve.mark(None)
    assert curve.grab().toImage() == before


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_both_curves_are_seen_in_each_theme(curve, name):
    theme.use(name)
    image = show(curve, array(*np.linspace(4, 2, 40)), [(0, 3.0), (40, 3.0)])
    assert count(image, tokens().accent_text) > 100
    assert count(image, tokens().key) > 100
    assert tokens().key not in KINDS.values()


@pytest.mark.parametrize("size", [(160, 84), (60, 30), (1500, 900)])
def test_any_size_is_painted(curve, size):
    curve.resize(*size)
    image = show(curve, np.random.default_rng(0).normal(3, 0.1, 5000).astype(np.float32), [(0, 3.0), (5000, 2.0)])
    assert (image.width(), image.height()) == size
    assert count(image, tokens().accent_text) > 0
