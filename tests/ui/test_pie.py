"""The chart: slices make a full circle whatever the counts, and what is under the mouse is what was given."""

import itertools
import math

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt

from gpt_viz.ui.theme import theme, tokens
from gpt_viz.ui.widgets.arcs import LEAST_DEGREES, arcs
from gpt_viz.ui.widgets.pie import Pie, Wedge

KINDS = ("token embedding", "attention", "feed-forward", "LayerNorm", "output head")


def wedges(*counts):
    return [Wedge(f"part {i}", count, KINDS[i % len(KINDS)]) for i, count in enumerate(counts)]


def shown(qtbot, outer, inner=(), size=(200, 200), centre=("816,640", "816.6 k")):
    pie = Pie()
    qtbot.addWidget(pie)
    pie.resize(*size)
    pie.show_rings(list(inner) or wedges(1), outer, centre, "parameters", "inner ring")
    pie.show()
    return pie


@pytest.mark.parametrize(
    "counts",
    [[1], [1, 1], [600_000, 96, 432, 156, 1212, 72, 600_000], [10**12, 1, 1, 1], [0, 5, 0], [3, 2, 1], [1] * 50],
)
def test_slices_make_a_full_circle_without_gap_or_overlap(counts):
    drawn = arcs(counts)
    assert drawn[0].start == 0
    assert sum(arc.span for arc in drawn) == pytest.approx(360)
    for arc, after in itertools.pairwise(drawn):
        assert after.start == pytest.approx(arc.start + arc.span)
    members = sorted(i for arc in drawn for i in arc.members)
    assert members == [i for i, count in enumerate(counts) if count]


def test_slices_of_ordinary_size_are_drawn_in_proportion():
    assert [arc.span for arc in arcs([50, 25, 25])] == [180, 90, 90]


def test_g08_slices_under_one_percent_are_drawn_as_one_and_can_still_be_seen():
    drawn = arcs([600_000, 96, 432, 156, 72])
    assert [arc.members for arc in drawn] == [(0,), (1, 2, 3, 4)]
    assert drawn[1].span == pytest.approx(LEAST_DEGREES)


def test_g08_zero_slices_are_not_drawn():
    assert [arc.members for arc in arcs([0, 7, 0, 3])] == [(1,), (3,)]


def test_g08_one_part_of_100_percent_is_a_full_circle_without_a_seam(qtbot):
    pie = shown(qtbot, wedges(0, 252, 0))
    (arc,) = arcs([0, 252, 0])
    assert arc.span == 360
    picture, colour = pie.grab().toImage(), tokens().kinds["attention"].lower()
    x = y = 100
    for degrees in range(0, 360, 5):
        angle = math.radians(degrees)
        assert picture.pixelColor(x + round(82 * math.sin(angle)), y - round(82 * math.cos(angle))).name() == colour


def test_nothing_at_all_draws_nothing():
    assert arcs([]) == arcs([0, 0]) == ()


def test_g08_the_other_slice_tells_the_exact_numbers_of_all_in_it(qtbot):
    outer = wedges(600_000, 96, 432)
    pie = shown(qtbot, outer)
    tip = pie.tip(1, arcs([wedge.count for wedge in outer])[1])
    assert tip.splitlines() == ["other: 528, 0.0879 %", "part 1: 96, 0.016 %", "part 2: 432, 0.0719 %"]


def test_a_click_chooses_the_slice_under_it_in_the_ring_under_it(qtbot):
    pie = shown(qtbot, wedges(1, 1, 1, 1), inner=wedges(1, 1))
    chosen = []
    pie.chosen.connect(lambda *at: chosen.append(at))
    for position in (QPoint(165, 40), QPoint(40, 40), QPoint(160, 110), QPoint(100, 100), QPoint(2, 2)):
        qtbot.mouseClick(pie, Qt.MouseButton.LeftButton, pos=position)
    assert chosen == [(1, 0), (1, 3), (0, 0)]


def test_a_click_on_the_other_slice_chooses_its_largest_part(qtbot):
    pie = shown(qtbot, wedges(1_000_000, 1, 5, 2))
    chosen = []
    pie.chosen.connect(lambda *at: chosen.append(at))
    qtbot.mouseClick(pie, Qt.MouseButton.LeftButton, pos=QPoint(99, 15))
    assert chosen == [(1, 2)]


def test_a_lit_slice_stands_out(qtbot):
    pie = shown(qtbot, wedges(1, 1))
    before = pie.grab().toImage()
    pie.light(None, 0)
    assert pie.lit == (None, 0)
    after = pie.grab().toImage()
    kinds = tokens().kinds
    assert after.pixelColor(182, 100).name() == kinds["token embedding"].lower()
    assert before.pixelColor(18, 100).name() == kinds["attention"].lower()
    assert after.pixelColor(18, 100).name() != kinds["attention"].lower()


@pytest.mark.parametrize("size", [(72, 72), (120, 90), (200, 400), (460, 460)])
@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_the_sum_stays_within_its_hole_at_every_size(qtbot, size, name):
    theme.use(name)
    pie = shown(qtbot, wedges(3, 2, 1), size=size, centre=("174,604,259,328", "174.6 B"))
    picture = pie.grab().toImage()
    circle, radius = pie._circle()
    hole, _ = pie._radii(radius)
    assert radius * hole > 12
    # On the circle halfway between hole and ring's edge nothing but the ring is painted.
    for degrees in range(0, 360, 10):
        angle = math.radians(degrees)
        at = QPointF(
            circle.x() + (radius * hole - 1.5) * math.sin(angle), circle.y() - (radius * hole - 1.5) * math.cos(angle)
        )
        colour = picture.pixelColor(at.toPoint())
        assert colour.name() != tokens().text.lower()


def test_tips_escape_what_looks_like_markup(qtbot):
    pie = shown(qtbot, [Wedge("<b>", 1, "attention")])
    assert pie.tip(1, arcs([1])[0]) == "<b>: 1, 100 %"  # plain here; escaped where it is shown


@pytest.mark.parametrize("height", [14, 20, 26])
def test_where_it_is_too_low_for_a_circle_the_rings_are_unrolled_and_can_still_be_pointed_at(qtbot, height):
    pie, chosen = shown(qtbot, wedges(1, 3), inner=wedges(1, 1), size=(360, height)), []
    pie.chosen.connect(lambda *which: chosen.append(which))
    for x, y in ((10, 5), (350, 5), (10, height - 2), (350, height - 2)):
        qtbot.mouseClick(pie, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    assert chosen == [(1, 0), (1, 1), (0, 0), (0, 1)]
    picture, kinds = pie.grab().toImage(), tokens().kinds
    assert [picture.pixelColor(x, 5).name() for x in (45, 225)] == [kinds[each].lower() for each in KINDS[:2]]
    pie.resize(360, 120)
    assert pie.at(QPointF(10, 5)) is None  # a circle again
