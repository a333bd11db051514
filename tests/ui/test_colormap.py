"""From weights to pixels: the table, the scales, and shrinking that loses nothing."""

import numpy as np
import pytest

from gpt_viz.ui.widgets.colormap import (
    LINEAR,
    LOG,
    causal_pixels,
    cividis,
    codes_of,
    count_not_finite,
    image_of,
    palette,
    pixel,
    position,
    spans,
)

BAD, MASKED = "#B42318", "#ECEEF2"


def test_the_table_runs_from_dark_blue_to_yellow_and_only_gets_lighter():
    table = cividis()
    assert table.shape == (256,)
    assert (table[0], table[255]) == (0xFF00204D, 0xFFFFEA46)
    red, green, blue = (table >> 16 & 255).astype(int), (table >> 8 & 255).astype(int), (table & 255).astype(int)
    luminance = 0.2126 * (red / 255) ** 2.2 + 0.7152 * (green / 255) ** 2.2 + 0.0722 * (blue / 255) ** 2.2
    assert (np.diff(luminance[::5]) > 0).all()  # whole numbers of 8 bits wobble from one to the next


def test_the_published_colours_are_met_within_three_percent():
    # Points of the published table (PLoS ONE 13(7): e0199239) that are no anchors of ours.
    for place, colour in ((8, 0x00265A), (64, 0x414D6B), (128, 0x7C7B78), (192, 0xBCAF6F), (250, 0xFDE546)):
        ours = int(cividis()[place])
        for shift in (16, 8, 0):
            assert abs((ours >> shift & 255) - (colour >> shift & 255)) <= 7


@pytest.mark.parametrize(
    ("weight", "linear", "log"),
    [(0.0, 0.0, 0.0), (1e-4, 1e-4, 0.0), (0.01, 0.01, 0.5), (0.1, 0.1, 0.75), (1.0, 1.0, 1.0), (2.0, 1.0, 1.0)],
)
def test_both_scales_are_fixed_whatever_the_data(weight, linear, log):
    assert position(weight, LINEAR) == pytest.approx(linear)
    assert position(weight, LOG) == pytest.approx(log)


@pytest.mark.parametrize("stretch", [LINEAR, LOG])
def test_a_weight_gets_the_colour_of_its_place_on_the_scale(stretch):
    weights = np.linspace(0, 1, 1001, dtype=np.float32)
    ours = palette(stretch, BAD)[codes_of(weights)]
    steps = {int(colour): step for step, colour in enumerate(cividis())}
    found = np.array([steps[int(each)] for each in ours])
    assert np.abs(found - position(weights, stretch) * 255).max() <= 1.6  # neighbours may share a colour
    assert ours[-1] == cividis()[255]


def test_e02_nan_and_infinity_have_a_colour_of_their_own_and_are_counted():
    weights = np.array([[0.5, np.nan], [np.inf, -np.inf], [-np.nan, 1.0], [-0.0, -0.5]], np.float32)
    codes = codes_of(weights)
    colours = palette(LINEAR, BAD)[codes]
    assert (colours == pixel(BAD)).tolist() == [[False, True], [True, True], [True, False], [False, False]]
    assert colours[3].tolist() == [cividis()[0]] * 2  # nothing below 0 is told apart from 0
    assert count_not_finite(codes) == 4
    assert count_not_finite(codes_of(np.zeros((2, 2), np.float32))) == 0


def test_codes_keep_the_order_of_the_weights_so_that_the_largest_code_is_the_largest_weight():
    weights = np.sort(np.random.default_rng(0).random(1000).astype(np.float32))
    assert (np.diff(codes_of(weights).astype(int)) >= 0).all()


@pytest.mark.parametrize(("cells", "pixels"), [(600, 270), (64, 46), (7, 5), (128, 127), (5, 5), (3, 100), (1, 40)])
def test_every_cell_belongs_to_a_pixel_when_shrunk_and_every_pixel_to_a_cell_when_grown(cells, pixels):
    starts, ends = spans(0, cells, pixels, cells)
    assert len(starts) == pixels
    if pixels <= cells:
        assert starts[0] == 0
        assert ends[-1] == cells
        assert (starts[1:] == ends[:-1]).all()
    else:
        assert set(starts.tolist()) == set(range(cells))
        assert (ends == starts + 1).all()


def test_e03_a_single_hot_cell_survives_any_shrinking():
    pattern = np.zeros((600, 600), np.float32)
    pattern[501, 257] = 1.0
    for side in (599, 270, 101, 46, 7):
        lines = spans(0, 600, side, 600)
        pixels = causal_pixels(codes_of(pattern), lines, lines, palette(LINEAR, BAD), MASKED)
        hot = np.argwhere(pixels == cividis()[255])
        assert len(hot) == 1
        assert np.abs(hot[0] - np.array([501, 257]) * side / 600).max() <= 1


def test_masked_cells_are_told_from_zero_and_a_weight_where_none_may_be_is_never_hidden():
    pattern = np.tril(np.full((4, 4), 0.25, np.float32))
    pattern[3, 0] = 0.0
    pattern[0, 3] = 1.0  # a leak from the future
    lines = spans(0, 4, 4, 4)
    pixels = causal_pixels(codes_of(pattern), lines, lines, palette(LINEAR, BAD), MASKED)
    assert pixels[0].tolist() == [cividis()[64], pixel(MASKED), pixel(MASKED), cividis()[255]]
    assert pixels[3, 0] == cividis()[0]
    assert pixel(MASKED) not in pixels[np.tril_indices(4)]


def test_an_image_shows_the_array_that_it_stands_on():
    pixels = np.zeros((2, 3), np.uint32)
    image = image_of(pixels)
    pixels[1, 2] = pixel("#123456")
    assert (image.width(), image.height()) == (3, 2)
    assert image.pixelColor(2, 1).name() == "#123456"
