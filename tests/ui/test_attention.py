"""The attention panel: what it says is measured, what it shows is the event's, and it says why it is empty."""

import math

import numpy as np
import pytest

from gpt_viz.config import GPTConfig
from gpt_viz.protocol import Attended, ModelInfo, TextRefused, Tokens
from gpt_viz.ui.panel import Context
from gpt_viz.ui.panels.attention import WAITING, Attention, shown
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.theme import THEMES, theme
from gpt_viz.ui.widgets.behaviour import Behaviour, behaviour, sentence

ALPHABET = tuple("abcdefghijk")


def built(config, alphabet=ALPHABET):
    return ModelInfo(
        config=config, seed=1, device="cpu", alphabet=alphabet, tensors=(), total=1, bytes=4, elapsed_s=0.0
    )


def softmax(scores):
    count = scores.shape[-1]
    scores = np.where(np.triu(np.ones((count, count), bool), 1), -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def attended(patterns, pieces=None, head=(0, 0), whole=None):
    patterns = np.asarray(patterns, np.float32)
    whole = patterns[head] if whole is None else whole
    pieces = tuple(pieces or "abcdefghijk"[i % 11] for i in range(len(whole))) if pieces is None else tuple(pieces)
    return Attended(
        job=1, tokens=Tokens(ids=tuple(range(len(pieces))), pieces=pieces), patterns=patterns, head=head, whole=whole
    )


def random(layers, heads, count, seed=0):
    return softmax(np.random.default_rng(seed).normal(size=(layers, heads, count, count)))


def previous(count):
    weights = np.zeros((count, count), np.float32)
    weights[0, 0] = 1.0
    weights[np.arange(1, count), np.arange(count - 1)] = 1.0
    return weights


class Desk:
    """A panel with the states around it, as the window has them."""

    def __init__(self, qtbot, config, alphabet=ALPHABET, size=(680, 400)):
        self.messages, self.commands = [], []
        self.selection, self.study, self.subject = SelectionModel(), Study(), Subject()
        self.subject.set_built(built(config, alphabet))
        self.subject.set_draft(config)
        context = Context(
            self.selection, self.study, self.subject, lambda: 1, self.commands.append, self.messages.append
        )
        self.panel = Attention(context)
        qtbot.addWidget(self.panel)
        qtbot.addWidget(self.panel.header)
        self.panel.resize(*size)
        self.panel.show()

    def show(self, event):
        self.panel.handle(event)
        self.panel.draw()
        return self

    @property
    def said(self):
        return self.panel.header.sentence.whole()

    @property
    def line(self):
        return self.panel.line.text()


@pytest.fixture
def desk(qtbot):
    return lambda config, **kwargs: Desk(qtbot, config, **kwargs)


@pytest.fixture(autouse=True)
def _light():
    theme.use("light")
    yield
    theme.use("light")


# --- what is measured ------------------------------------------------------------------------------------------------


def test_behaviour_is_the_mean_over_the_queries_from_the_third_on():
    pattern = np.zeros((4, 4), np.float32)
    pattern[0, 0] = 1.0
    pattern[1] = [0.9, 0.1, 0, 0]  # not counted: its previous is its first
    pattern[2] = [0.25, 0.5, 0.25, 0]
    pattern[3] = [0.0, 0.0, 1.0, 0.0]
    found = behaviour(pattern)
    assert found.rows == 2
    assert (found.previous, found.first, found.itself) == pytest.approx((0.75, 0.125, 0.125))
    assert found.spread == pytest.approx((1.5 + 0.0) / 2)
    assert found.uniform == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert found.uniform_spread == pytest.approx((math.log2(3) + 2) / 2)


def test_a_uniform_head_measures_as_uniform():
    found = behaviour(softmax(np.zeros((32, 32))))
    assert found.previous == pytest.approx(found.uniform, rel=1e-5)
    assert found.spread == pytest.approx(found.uniform_spread, rel=1e-5)
    assert sentence(found, "token") == "spreads evenly: 3.9 bits (uniform would be 3.9)"


@pytest.mark.parametrize("count", [1, 2])
def test_too_short_a_text_has_no_behaviour(count):
    assert behaviour(previous(count)) is None


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0.71, 0.04, 0.02, 1.1), "looks mostly at the previous character: 71 %"),
        ((0.05, 0.90, 0.02, 0.6), "looks mostly at the first character: 90 %"),
        ((0.05, 0.10, 0.60, 1.6), "looks mostly at itself: 60 %"),
        ((0.35, 0.10, 0.10, 2.9), "looks most at the previous character: 35 %"),
        ((0.12, 0.10, 0.10, 3.0), "spreads over about 8 characters: 3.0 bits (uniform: 3.9)"),
        ((0.10, 0.10, 0.10, 3.89), "spreads evenly: 3.9 bits (uniform would be 3.9)"),
    ],
)
def test_the_sentence_is_chosen_among_what_was_measured(numbers, words):
    assert sentence(Behaviour(*numbers, 0.1, 3.9, 30), "character") == words


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_the_chosen_head_is_described_and_drawn_from_the_event(desk):
    patterns = random(2, 3, 8)
    patterns[1, 2] = previous(8)
    it = desk(GPTConfig(layers=2, heads=3, width=12)).show(attended(patterns))
    it.selection.choose(layer=1, head=2)
    it.panel.draw()
    assert it.said == "Layer 1, head 2 looks mostly at the previous character: 100 %."
    assert it.panel.covered == ""
    assert it.panel.head.count == 8
    assert it.panel.column.rows()[0] == ("previous", "1.00", 1.0, pytest.approx(1 / 6, abs=0.05))
    assert it.commands == []


def test_tokens_are_called_tokens_where_the_model_has_no_alphabet(desk):
    it = desk(GPTConfig(layers=1, heads=1, width=4), alphabet=None).show(
        attended(previous(5)[None, None], list("12345"))
    )
    assert it.said == "Layer 0, head 0 looks mostly at the previous token: 100 %."


def test_the_line_tells_the_hovered_weight_then_the_chosen_one(desk):
    patterns = random(1, 1, 6)
    patterns[0, 0, 4] = [0.1, 0.1, 0.0, 0.7125, 0.0875, 0]
    it = desk(GPTConfig(layers=1, heads=1, width=4)).show(attended(patterns, list("ab \ncd")))
    assert it.line == "Point at a cell to read its weight."
    it.selection.choose(query=4, key=3)
    it.panel.draw()
    assert it.line in ("c takes 0.713 from ↵ query 4 · key 3", "c takes 0.712 from ↵ query 4 · key 3")
    it.panel.head.hovered.emit((4, 2))
    assert it.line == "c takes 0 from ␣ query 4 · key 2"
    it.panel.head.hovered.emit((1, 4))
    assert it.line == "b can't see c masked: it comes later · query 1 · key 4"
    it.panel.head.hovered.emit(None)
    assert it.line.startswith("c takes 0.71")
    assert it.panel.line.accessibleDescription() == it.line


def test_of_a_query_alone_the_line_tells_its_largest_weight(desk):
    it = desk(GPTConfig(layers=1, heads=1, width=4)).show(attended(previous(6)[None, None]))
    it.selection.choose(query=4)
    it.panel.draw()
    assert it.line == "e takes 1.000 from d query 4 · key 3 · its largest"


def test_choosing_in_either_picture_moves_the_one_cursor(desk):
    it = desk(GPTConfig(layers=2, heads=3, width=12)).show(attended(random(2, 3, 8)))
    it.panel.grid.chosen.emit(1, 2)
    assert (it.selection.value.layer, it.selection.value.head) == (1, 2)
    assert it.selection.value.step == "blocks.1.attn.heads.2.A"
    it.panel.head.chosen.emit(6, 3)
    assert (it.selection.value.query, it.selection.value.key) == (6, 3)


@pytest.mark.parametrize("count", [1, 3, 5, 8])
def test_e10_a_prompt_of_n_characters_is_n_by_n_with_n_labels(desk, tiny, count):
    it = desk(tiny).show(attended(random(2, 3, count)))
    down, across = it.panel.head.labels()
    assert it.panel.head.count == count
    assert [label.text for label in down] == [label.text for label in across] == list("abcdefgh")[:count]
    if count < 3:
        assert it.said == "Layer 0, head 0 can be described from the third character on."


def test_e10_labels_follow_while_the_text_grows_and_then_slides(desk, tiny):
    it = desk(tiny)
    for text in ("abc", "abcd", "abcdefgh", "bcdefghi", "cdefghij"):
        it.show(attended(random(2, 3, len(text)), list(text)))
        assert [label.text for label in it.panel.head.labels()[0]] == list(text)


def test_a_shorter_text_arriving_under_a_far_cursor_is_no_mistake(desk, tiny):
    it = desk(tiny).show(attended(random(2, 3, 8)))
    it.selection.choose(query=7, key=6)
    it.panel.head.set_hovered((7, 7))
    it.panel.draw()
    it.panel.handle(attended(random(2, 3, 2)))
    it.panel.head.set_hovered((6, 6))  # the mouse moves before the next frame
    assert "query 6 · key 6" in it.line
    it.panel.draw()
    assert it.line.endswith("query 1 · key 1")


# --- long texts ------------------------------------------------------------------------------------------------------


def test_of_a_long_text_the_asked_head_is_whole_and_another_one_coarse_until_it_comes(desk):
    whole = softmax(np.random.default_rng(1).normal(size=(600, 600)))
    pooled = random(2, 2, 120)  # each cell the largest of 5 x 5
    event = attended(pooled, ["a"] * 600, head=(1, 1), whole=whole)
    assert shown(event, 1, 1).weights is whole
    assert (shown(event, 0, 1).square, shown(event, 0, 1).weights.shape) == (5, (120, 120))
    assert (shown(event, 9, 9).layer, shown(event, 9, 9).head) == (1, 1)

    it = desk(GPTConfig(layers=2, heads=2, width=8, block_size=1024)).show(event)
    assert it.said == "Layer 0, head 0 is coarse: each cell is the largest of 5 × 5 weights."
    assert [text for _, text, _, _ in it.panel.column.rows()] == ["–"] * 4
    it.selection.choose(query=599, key=0)
    it.panel.draw()
    assert "takes ≤" in it.line
    assert it.line.endswith("query 595–599 · key 0–4")
    it.panel.head.chosen.emit(3, 2)
    assert (it.selection.value.query, it.selection.value.key) == (15, 10)
    it.selection.choose(layer=1, head=1)
    it.panel.draw()
    assert it.panel.head.count == 600
    assert it.said.startswith("Layer 1, head 1 ")
    assert "coarse" not in it.said


# --- numbers that are none -------------------------------------------------------------------------------------------


def test_e02_a_pattern_with_nan_is_marked_counted_and_said_and_a_good_one_after_it_looks_normal(desk):
    it = desk(GPTConfig(layers=1, heads=2, width=8))
    patterns = random(1, 2, 5)
    patterns[0, 0, 3] = np.nan
    it.show(attended(patterns))
    assert it.said == "Layer 0, head 0: 5 of 25 weights are not finite (NaN or infinite)."
    it.panel.head.hovered.emit((3, 1))
    assert "takes NaN from" in it.line
    assert len(it.panel.legend.marks()) == 2
    it.selection.choose(layer=0, head=1)
    it.panel.draw()
    assert it.said.endswith("; other heads hold 5 weights that are not finite.")
    patterns = np.full((1, 2, 5, 5), np.nan)
    it.show(attended(patterns))
    assert "25 of 25" in it.said
    it.show(attended(np.full((1, 2, 5, 5), np.inf)))
    it.panel.head.hovered.emit((2, 1))
    assert "takes ∞ from" in it.line
    it.panel.grab()
    it.show(attended(random(1, 2, 5)))
    assert "not finite" not in it.said
    assert len(it.panel.legend.marks()) == 1


def test_e07_markup_in_the_text_is_shown_as_it_is(desk):
    pieces = ["<b>", "&", "\n", "\t", " ", "</b>"]
    it = desk(GPTConfig(layers=1, heads=1, width=4)).show(attended(previous(6)[None, None], pieces))
    it.panel.head.hovered.emit((5, 0))
    assert it.line == "</b> takes 0 from <b> query 5 · key 0"
    assert [label.text for label in it.panel.head.labels()[0]] == ["<b>", "&", "↵", "⇥", "␣", "</b>"]


# --- why it is empty -------------------------------------------------------------------------------------------------


def test_before_anything_came_it_says_what_is_missing(desk, tiny):
    it = desk(tiny)
    it.panel.draw()
    assert it.panel.covered == WAITING
    assert not it.panel.stretch.isEnabled()
    it.subject.set_built(None)
    it.panel.draw()
    assert it.panel.covered == "No model yet: press Build."


def test_a02_a_model_without_layers_says_so_and_the_maps_come_back_with_them(desk, tiny):
    it = desk(tiny).show(attended(random(2, 3, 5)))
    assert it.panel.covered == ""
    none = GPTConfig(vocabulary=11, block_size=8, layers=0, heads=3, width=12)
    it.subject.set_draft(none)
    it.subject.set_built(built(none))
    it.panel.draw()
    assert it.panel.covered.startswith("This model has no layers")
    assert it.said == ""
    empty = np.zeros((0, 3, 5, 5), np.float32)
    it.show(attended(empty, list("abcde"), whole=np.zeros((0, 0), np.float32)))
    assert it.panel.covered.startswith("This model has no layers")
    assert not it.panel.stretch.isEnabled()
    it.subject.set_draft(tiny)
    it.subject.set_built(built(tiny))
    it.show(attended(random(2, 3, 5)))
    assert it.panel.covered == ""
    assert it.panel.stretch.isEnabled()


def test_e08_the_pattern_of_an_earlier_model_is_not_shown_for_the_next(desk, tiny):
    it = desk(tiny).show(attended(random(2, 3, 5)))
    it.subject.set_built(built(tiny))
    it.panel.draw()
    assert it.panel.covered == WAITING
    it.show(attended(random(2, 3, 5)))
    assert it.panel.covered == ""


def test_a_what_if_says_that_the_built_model_is_shown_and_one_that_does_not_fit_why_it_is_empty(desk, tiny):
    it = desk(tiny).show(attended(np.broadcast_to(previous(5), (2, 3, 5, 5))))
    it.subject.set_draft(GPTConfig(layers=9))
    it.panel.draw()
    assert it.said == "Shows the built model: layer 0, head 0 looks mostly at the previous character: 100 %."
    it.subject.set_draft(GPTConfig(layers=96, heads=96, width=12288), "It needs 698 GB; this machine has 8 GB.")
    it.panel.draw()
    assert it.panel.covered == "It needs 698 GB; this machine has 8 GB."
    it.subject.set_draft(tiny)
    it.panel.draw()
    assert it.said.startswith("Layer 0, head 0")


def test_a_text_that_cannot_be_read_leaves_the_last_picture_and_says_so(desk, tiny):
    it = desk(tiny).show(attended(np.broadcast_to(previous(5), (2, 3, 5, 5))))
    it.study.refuse(TextRefused(job=1, unknown=((0, "ß"),)))
    it.panel.draw()
    assert it.said.startswith("Shows the last text that could be read: layer 0, head 0 looks mostly")


def test_another_slots_event_is_not_for_this_panel(desk, tiny):
    it = desk(tiny)
    event = attended(random(2, 3, 5))
    it.panel.handle(
        Attended(job=1, slot="other", tokens=event.tokens, patterns=event.patterns, head=(0, 0), whole=event.whole)
    )
    it.panel.draw()
    assert it.panel.covered == WAITING


# --- the frame -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(648, 390), (388, 290), (1468, 860), (368, 640), (300, 220)])
@pytest.mark.parametrize(("layers", "heads", "count"), [(4, 4, 32), (12, 12, 64), (48, 25, 8), (1, 1, 1)])
def test_no_part_covers_another_or_is_cut_at_any_size(desk, size, layers, heads, count):
    it = desk(GPTConfig(layers=layers, heads=heads, width=heads * 4), size=size)
    it.show(attended(np.zeros((layers, heads, count, count), np.float32)))
    panel = it.panel
    parts = [panel.grid, panel.legend, panel.head, panel.line, panel.column]
    seen = [part.geometry() for part in parts if part.isVisibleTo(panel)]
    stage = panel.grid.parentWidget().rect()
    for index, one in enumerate(seen):
        assert stage.contains(one), (parts[index], one, stage)
        assert not any(one.intersects(other) for other in seen[index + 1 :])
    assert panel.column.isVisibleTo(panel) == (stage.width() >= 560)
    assert panel.head.picture().width() > 0.2 * min(stage.width(), stage.height())


def test_the_head_at_the_top_of_its_grid_stands_level_with_it(desk):
    it = desk(GPTConfig()).show(attended(random(4, 4, 32)))
    grid = it.panel.grid.y() + it.panel.grid.tile_rect(0, 0).top()
    assert grid == it.panel.head.y() + it.panel.head.picture().top()


def test_the_stretch_is_one_for_grid_head_and_legend(desk):
    it = desk(GPTConfig()).show(attended(random(4, 4, 32)))
    it.panel.stretch.setCurrentText("log")
    assert [text for _, text in it.panel.legend.ticks()] == ["≤ 0.0001", "0.01", "1"]
    assert (it.panel.grid._stretch, it.panel.head.stretch) == ("log", "log")


def test_every_control_has_its_name_and_says_what_it_is(desk, tiny):
    it = desk(tiny)
    parts = (it.panel.grid, it.panel.head, it.panel.stretch, it.panel.legend, it.panel.line, it.panel.column)
    assert [part.objectName() for part in parts[:3]] == ["attention.grid", "attention.head", "attention.stretch"]
    assert all(part.accessibleName() for part in parts)
    assert it.panel.objectName() == "panel.attention"


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_e12_another_theme_is_painted_in_its_own_colours(desk, tiny, name):
    it = desk(tiny).show(attended(random(2, 3, 8)))
    theme.use("dark" if name == "light" else "light")
    it.panel.grab()
    it.panel.dirty = False
    theme.use(name)
    assert it.panel.dirty
    it.panel.draw()
    image, tile = it.panel.grid.grab().toImage(), it.panel.grid.tile_rect(1, 1).toRect()
    assert image.pixelColor(tile.right() - 2, tile.top() + 2).name() == THEMES[name].masked.lower()


def test_e09_drawing_again_keeps_every_widget_and_image(desk):
    it = desk(GPTConfig())
    it.show(attended(random(4, 4, 32)))
    it.panel.grab()
    before = len(it.panel.findChildren(object)), it.panel.grid._image
    for seed in range(20):
        it.show(attended(random(4, 4, 32, seed)))
        it.panel.grab()
    assert (len(it.panel.findChildren(object)), it.panel.grid._image) == before


def test_the_table_holds_the_chosen_querys_row_or_all_rows(desk):
    patterns = random(1, 1, 4)
    it = desk(GPTConfig(layers=1, heads=1, width=4))
    assert it.panel.table() == [["query", "query token", "key", "key token", "weight"]]
    it.show(attended(patterns, list("ab\nc")))
    assert len(it.panel.table()) == 1 + 4 + 3 + 2 + 1
    it.selection.choose(query=2)
    rows = it.panel.table()
    assert [row[:4] for row in rows[1:]] == [["2", "\n", "0", "a"], ["2", "\n", "1", "b"], ["2", "\n", "2", "\n"]]
    assert [float(row[4]) for row in rows[1:]] == pytest.approx(patterns[0, 0, 2, :3].tolist(), rel=1e-7)
