"""The parameters panel: its numbers are the ledger's and the module's, and it shows what is selected anywhere."""

import re
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from frames import settle
from PySide6.QtCore import QPoint, Qt

from gpt_viz import ledger
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.protocol import ModelInfo, TensorInfo
from gpt_viz.ui.panels.parameters import Parameters
from gpt_viz.ui.parameters.parameter_rows import ParameterRows
from gpt_viz.ui.parameters.percent import percents
from gpt_viz.ui.steps.links import has_step, module_of, step_of
from gpt_viz.ui.theme import theme
from gpt_viz.ui.widgets.arcs import arcs

STEP5, GPT2, GPT3 = PRESETS["step5"].config, PRESETS["gpt2"].config, PRESETS["gpt3"].config
CONFIGS = (
    STEP5,
    PRESETS["build-gpt"].config,
    GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True),
    GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, bias=False, tied_head=True, head_bias=True),
    GPTConfig(vocabulary=1, block_size=1, layers=1, heads=1, width=1, dropout=0.5),
    GPTConfig(layers=0),
)


def model(config, total=None):
    return ModelInfo(
        config=config,
        seed=1337,
        device="cpu",
        alphabet=None,
        tensors=tuple(TensorInfo(t.name, t.shape, t.count, t.shared_with) for t in ledger.tensors(config)),
        total=ledger.total(config) if total is None else total,
        bytes=1,
        elapsed_s=0.0,
    )


@pytest.fixture
def panel_of(world, qtbot):
    def make(config, *, built=True, size=(680, 430), draft=None, total=None):
        world.panel = panel = Parameters(world.context)
        qtbot.addWidget(panel)
        qtbot.addWidget(panel.header)
        panel.header.resize(680, 40)
        if built:
            world.subject.set_built(model(config, total))
        world.subject.set_draft(draft or config)
        panel.resize(*size)
        panel.show()
        settle(panel)
        return panel

    return make


def cells(panel):
    return [panel.rows.line((g,)).cells for g in range(len(panel.rows.groups))]


def leaves(rows, path=()):
    for i in range(rows.count(path)):
        below = (*path, i)
        if rows.count(below):
            yield from leaves(rows, below)
        else:
            yield below


# -- the rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("by", ledger.GROUPINGS)
def test_every_tensor_stands_in_exactly_one_row_of_every_grouping(config, by):
    rows = ParameterRows(config, by)
    found = Counter(rows.name(path) for path in leaves(rows) if len(path) > 1)
    assert found == Counter(tensor.name for tensor in ledger.tensors(config))


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("by", ledger.GROUPINGS)
def test_g01_rows_at_every_level_add_up_to_the_one_above(config, by):
    rows = ParameterRows(config, by)

    def number(path):
        text = rows.line(path).cells[4]
        return 0 if text.startswith("(") else int(text.replace(",", ""))

    def check(path):
        if rows.count(path):
            assert sum(number((*path, i)) for i in range(rows.count(path))) == number(path)
            for i in range(rows.count(path)):
                check((*path, i))

    for g in range(len(rows.groups)):
        check((g,))
    assert sum(group.count for group in rows.groups) == ledger.total(config)


@pytest.mark.parametrize("config", [*CONFIGS, GPT2, GPT3])
@pytest.mark.parametrize("by", ledger.GROUPINGS)
def test_formulas_are_worth_their_count_in_letters_and_in_numbers(config, by):
    rows = ParameterRows(config, by)
    letters = {
        "V": config.vocabulary, "N": config.block_size, "C": config.width, "L": config.layers, "H": config.heads
    }  # fmt: skip
    for group in rows.groups:
        if group.count or not config.tied_head:
            for formula in (group.formula, rows.with_numbers(group.formula)):
                python = formula.replace("·", "*").replace("²", "**2") or "0"
                assert eval(python, {}, letters) == group.count


@pytest.mark.parametrize("by", ledger.GROUPINGS)
def test_a_group_is_what_its_glob_matches(by):
    config = CONFIGS[2]
    for group in ParameterRows(config, by).groups:
        matching = sum(t.count for t in ledger.tensors(config) if fnmatchcase(t.name, group.glob))
        assert matching == group.count


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("by", ledger.GROUPINGS)
def test_the_name_of_a_row_leads_back_to_it(config, by):
    rows = ParameterRows(config, by)
    blocks = [(g, i) for g in range(len(rows.groups)) for i in range(rows.count((g,)))]
    for path in [*leaves(rows), *blocks, *((g,) for g in range(len(rows.groups)))]:
        found = rows.find(rows.name(path))
        # A group of one tensor has its name.
        assert found == path or (len(found) == 1 and rows.name(found) == rows.name(path))


def test_a_module_leads_to_the_one_row_that_holds_all_of_it():
    kind, place = ParameterRows(STEP5, "kind"), ParameterRows(STEP5, "place")
    assert kind.find("blocks.1.attn.heads.2") == (2, 1, 2)
    assert kind.find("blocks.1.attn.heads.2.query") == (2, 1, 2, 1)
    assert place.find("blocks.1.attn.heads.2") == (1, 1, 4)
    assert kind.find("blocks.3.mlp.fc") == (4, 3, 0)
    assert kind.find("ln_f") == (5, 4)
    assert kind.find("blocks.0") == ()  # in several groups
    assert place.find("blocks.0") == (1, 0)
    assert place.find("blocks.*.mlp.*") == (1,)
    for nothing in ("", "nothing", "blocks.4", "blocks.0.attn.heads.4", "blocks.9.mlp.fc.weight"):
        assert kind.find(nothing) == ()


def test_g01_tiny_has_the_slices_of_the_case():
    def slices(config):
        return [group.count for group in ParameterRows(config, "kind").groups]

    tiny = CONFIGS[2]
    assert slices(tiny) == [132, 96, 936, 312, 2424, 120, 0]
    assert sum(slices(tiny)) == 4020
    assert sum(slices(replace(tiny, tied_head=False))) == 4152
    assert sum(slices(replace(tiny, bias=False, qkv_bias=False))) == 3744
    assert sum(slices(replace(tiny, bias=False, qkv_bias=False, tied_head=False))) == 3876
    assert sum(slices(GPT2)) == 124_439_808


def test_g02_a_longer_block_adds_positions_and_no_mask():
    tiny = CONFIGS[2]
    longer = replace(tiny, block_size=512)
    assert ParameterRows(longer, "kind").total - ParameterRows(tiny, "kind").total == 6_048


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 12])
def test_g04_more_heads_change_shapes_and_no_count(heads):
    rows = ParameterRows(replace(CONFIGS[2], heads=heads), "kind")
    assert rows.total == 4020
    assert rows.line((2,)).cells[4] == f"{2 * (3 * 12 * 12 + 3 * 12):,}"
    assert "Each head reads the whole width C" in rows.line((2,)).note
    assert rows.line((2, 0, 0, 0)).cells[1] == f"{12 // heads} × 12"


@pytest.mark.parametrize(
    "counts",
    [[8320, 8192, 196_608, 66_048, 526_848, 2304, 8320], [1, 1, 1], [0, 0, 5], [10**12, 1], [1] * 7, [6] * 15, [3, 7]],
)
def test_g08_percentages_as_they_are_read_add_up_to_100(counts):
    read = [0.0 if text.startswith("<") else float(text.rstrip(" %")) for text in percents(counts)]
    assert sum(read) == pytest.approx(100, abs=0.1001)
    for text, count in zip(read, counts, strict=True):
        assert text == pytest.approx(100 * count / sum(counts), abs=0.11)


def test_something_tiny_is_not_said_to_be_nothing():
    assert percents([10**9, 1, 0]) == ("100.0 %", "< 0.1 %", "0.0 %")


# -- the panel --------------------------------------------------------------------------------------------------------


def test_step_5_is_shown_with_the_notebooks_numbers(panel_of):
    panel = panel_of(STEP5)
    assert cells(panel)[2] == ("query, key, value", "L·H·3 × (D, C)", "L·3·C²", "4·3·128²", "196,608", "24.1 %")
    assert [row[4] for row in cells(panel)] == ["8,320", "8,192", "196,608", "66,048", "526,848", "2,304", "8,320"]
    total, module = panel.totals.lines
    assert (total.cells[0], total.cells[4]) == ("total", "816,640")
    assert (module.cells[0], module.cells[4], module.wrong) == ("formula = module ✓", "816,640", False)
    assert panel.header.sentence.whole() == "Feed-forward holds 64.5 % of 816,640: twice what attention does."


def test_a_module_that_disagrees_with_the_formulas_is_marked(panel_of):
    module = panel_of(STEP5, total=816_641).totals.lines[1]
    assert (module.cells[0], module.cells[4], module.wrong) == ("formula ≠ module ✗", "816,641", True)
    assert "one of the two is wrong" in module.note


def test_g01_a_tied_head_is_shown_as_shared_and_not_added(panel_of, tiny):
    panel = panel_of(tiny)
    assert cells(panel)[6] == ("output head", "(V, C)", "shared with token embedding", "", "(132)", "shared")
    assert panel.totals.lines[0].cells[4] == "4,020"
    assert panel.rows.line((6, 0)).cells[2:] == ("shared with token embedding", "", "(132)", "shared")
    assert [6 in arc.members for arc in arcs([group.count for group in panel.rows.groups])].count(True) == 0


def test_g01_a_tied_head_with_a_bias_of_its_own_adds_that_alone(panel_of, tiny):
    panel = panel_of(replace(tiny, head_bias=True))
    assert cells(panel)[6][2:5] == ("V, weight shared", "", "11")
    assert panel.totals.lines[0].cells[4] == panel.totals.lines[1].cells[4] == "4,031"


def test_g03_there_is_one_total_and_a_second_figure_has_a_name(panel_of, tiny):
    panel = panel_of(tiny)
    assert [line.cells[4] for line in panel.totals.lines] == ["4,020", "4,020"]
    assert "without positions 3,924" in panel.totals.lines[0].note
    texts = [
        panel.header.sentence.whole(),
        panel.pie.accessibleDescription(),
        *(line.note for line in panel.totals.lines),
    ]
    assert not any("3,924" in text and "without positions" not in text for text in texts)


def test_a_draft_is_shown_at_once_as_a_what_if(panel_of, world):
    panel = panel_of(STEP5)
    world.subject.set_draft(replace(STEP5, layers=8))
    assert panel.dirty
    panel.draw()
    assert panel.rows.total == 1_608_192
    assert panel.header.sentence.whole().startswith("What-if, not built: feed-forward holds 65.5 % of 1,608,192")
    assert panel.totals.lines[1].cells[0] == "from the formulas; not built"
    world.subject.set_draft(STEP5)
    panel.draw()
    assert panel.totals.lines[1].cells[0] == "formula = module ✓"


def test_without_any_model_the_panel_says_what_to_press(panel_of, world):
    panel = Parameters(world.context)
    panel.draw()
    assert "press Build" in panel.covered
    assert panel.table() == []


def test_175_billion_parameters_open_at_once_row_by_row(panel_of):
    panel = panel_of(GPT3, built=False)
    assert panel.totals.lines[0].cells[4] == "174,604,259,328"
    asked = []
    original = panel.rows.line
    panel.rows.line = lambda path: asked.append(path) or original(path)
    panel.tree.expand(panel.tree.rows.at((2,)))
    panel.tree.expand(panel.tree.rows.at((2, 95)))
    panel.tree.fit()
    panel.grab()
    assert len(asked) < 200
    assert panel.rows.line((2, 95, 95, 3)).cells[:2] == ("query.bias", "128")
    assert panel.rows.line((2, 95)).cells[4] == f"{43_490_082_816 // 96:,}"


@pytest.mark.parametrize("by", ledger.GROUPINGS)
def test_the_grouping_is_followed_by_table_and_ring(panel_of, by):
    panel = panel_of(STEP5)
    panel.grouping.choose(by)
    assert panel.dirty
    panel.draw()
    named = [each.name for each in ledger.groups(STEP5, by)]
    shown = [group.name for group in panel.rows.groups]
    assert [wedge.name for wedge in panel.pie._rings[1]] == shown
    assert sum(group.count for group in panel.rows.groups) == 816_640
    assert shown == named or by == "kind"  # by kind, attention stands in its two parts


def test_a_head_chosen_elsewhere_lights_its_row_and_slice_and_is_spoken_of(panel_of, world):
    panel = panel_of(STEP5)
    world.selection.choose(layer=1, head=2)
    panel.draw()
    assert panel.tree.current() == (2,)
    assert panel.pie.lit == (1, 2)
    said = "Head 2 of layer 1: its q, k, v matrices hold 12,288 numbers, 1.5 % of 816,640."
    assert panel.header.sentence.whole() == said
    panel.tree.expand(panel.tree.rows.at((2,)))
    panel.tree.expand(panel.tree.rows.at((2, 1)))
    panel.draw()
    assert panel.tree.current() == (2, 1, 2)


def test_a_step_lights_the_matrices_that_compute_it(panel_of, world):
    panel = panel_of(STEP5)
    world.selection.choose(step="blocks.0.mlp.expand")
    panel.draw()
    assert (panel.tree.current(), panel.pie.lit) == ((4,), (1, 4))
    world.selection.choose(step="ids")
    panel.draw()
    assert (panel.tree.current(), panel.pie.lit) == ((), (None, None))
    world.selection.choose(step="blocks.99.ln1")  # of a larger model
    panel.draw()
    assert panel.tree.current() == ()


def test_a_row_chosen_here_is_selected_everywhere(panel_of, world, qtbot):
    panel = panel_of(STEP5)
    where = panel.tree.visualRect(panel.tree.rows.at((4,))).center() + QPoint(40, 0)
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert world.selection.value.parameter == "blocks.*.mlp.*"
    panel.draw()
    assert (panel.tree.current(), panel.pie.lit) == ((4,), (1, 4))
    assert panel.header.sentence.whole() == "Feed-forward holds 526,848 numbers, 64.5 % of 816,640."
    panel.grouping.choose("step5")
    panel.draw()
    assert panel.tree.current() == (2,)


@pytest.mark.parametrize(
    ("parameter", "step"),
    [
        ("token_embedding.weight", "token_embedding"),
        ("position_embedding.weight", "position_embedding"),
        ("blocks.1.ln1.bias", "blocks.1.ln1"),
        ("blocks.1.attn.heads.2", "blocks.1.attn.heads.2.A"),
        ("blocks.1.attn.heads.2.query.weight", "blocks.1.attn.heads.2.q"),
        ("blocks.1.attn.heads.0.key", "blocks.1.attn.heads.0.k"),
        ("blocks.1.attn.heads.0.value.weight", "blocks.1.attn.heads.0.v"),
        ("blocks.1.attn.proj.weight", "blocks.1.attn.proj"),
        ("blocks.1.mlp.fc.weight", "blocks.1.mlp.expand"),
        ("blocks.1.mlp.proj.bias", "blocks.1.mlp.contract"),
        ("ln_f.weight", "ln_f"),
        ("head.weight", "logits"),
    ],
)
def test_a_parameter_leads_to_the_step_it_is_for_and_that_step_to_its_module(parameter, step):
    assert step_of(parameter) == step
    assert has_step(STEP5, step)
    assert parameter.startswith(module_of(step, STEP5))


def test_a_parameter_that_is_for_many_steps_leads_to_none():
    for parameter in (
        "",
        "blocks.1",
        "blocks.*",
        "blocks.*.mlp.*",
        "blocks.1.mlp",
        "nothing",
        "blocks.1.nothing.weight",
    ):
        assert step_of(parameter) == ""
    assert module_of("blocks.9.ln1", STEP5) == module_of("", STEP5) == ""


def test_a_tensor_chosen_here_takes_the_other_panels_to_its_step(panel_of, world):
    panel = panel_of(STEP5)
    panel.tree.chosen.emit((2, 3, 1, 1))
    chosen = world.selection.value
    assert (chosen.parameter, chosen.step) == ("blocks.3.attn.heads.1.query.weight", "blocks.3.attn.heads.1.q")
    assert (chosen.layer, chosen.head) == (3, 1)


def test_a_tensor_of_a_draft_moves_no_step_that_the_built_model_lacks(panel_of, world):
    panel = panel_of(STEP5, draft=replace(STEP5, layers=8))
    world.selection.choose(layer=1, head=1)
    panel.tree.chosen.emit((2, 7, 1, 1))
    chosen = world.selection.value
    assert (chosen.parameter, chosen.step) == ("blocks.7.attn.heads.1.query.weight", "blocks.1.attn.heads.1.A")


def test_the_arrow_keys_walk_through_all_rows_that_are_open(panel_of, world, qtbot):
    panel = panel_of(STEP5)
    for path in ((0,), (2,), (2, 0), (5,)):
        panel.tree.expand(panel.tree.rows.at(path))
    seen = []
    for _ in range(7 + 1 + 4 + 4 + 6):
        qtbot.keyClick(panel.tree, Qt.Key.Key_Down)
        panel.draw()
        seen.append(panel.tree.current())
    assert seen[:6] == [(0,), (0, 0), (1,), (2,), (2, 0), (2, 0, 0)]
    assert seen[-4:] == [(5, 3), (5, 4), (5, 5), (6,)]
    assert len(set(seen)) == len(seen)


def test_a_slice_chosen_here_is_selected_everywhere(panel_of, world):
    panel = panel_of(STEP5)
    panel.pie.chosen.emit(1, 3)
    assert world.selection.value.parameter == "blocks.*.attn.proj.*"
    panel.pie.chosen.emit(0, 1)
    assert world.selection.value.parameter == "blocks.*"
    panel.draw()
    assert panel.pie.lit == (1, None)
    assert panel.header.sentence.whole() == "Blocks holds 791,552 numbers, 96.9 % of 816,640."


def test_drawing_again_changes_nothing_and_resets_nothing(panel_of):
    panel = panel_of(STEP5)
    panel.tree.expand(panel.tree.rows.at((2,)))
    rows, resets = panel.rows, []
    panel.tree.rows.modelReset.connect(lambda: resets.append(1))
    for _ in range(5):
        panel.draw()
    assert panel.rows is rows
    assert resets == []
    assert panel.tree.is_open((2,))


@pytest.mark.parametrize("config", [*CONFIGS, replace(STEP5, vocabulary=50_000, width=12, heads=3, layers=1)])
@pytest.mark.parametrize("size", [(400, 300), (420, 800), (1500, 900)])
def test_a02_g08_every_model_is_drawn_at_every_size_without_a_cut_figure(panel_of, config, size):
    panel = panel_of(config, size=size)
    slots = panel.tree.slots()
    assert slots[-1].left + slots[-1].width <= panel.tree.viewport().width()
    assert [slot.column for slot in slots][:1] == [0]
    assert 4 in [slot.column for slot in slots]
    assert not panel.pie.geometry().intersects(panel.tree.geometry())
    assert panel.body.rect().contains(panel.pie.geometry())
    assert panel.totals.geometry().bottom() <= panel.body.rect().bottom()


def test_a02_without_layers_the_table_has_zeros_and_the_chart_no_slices_for_them(panel_of, tiny):
    panel = panel_of(replace(tiny, layers=0))
    assert panel.totals.lines[0].cells[4] == "252"
    assert [row[4] for row in cells(panel)[2:5]] == ["0", "0", "0"]
    drawn = {i for arc in arcs([group.count for group in panel.rows.groups]) for i in arc.members}
    assert drawn == {0, 1, 5}
    assert panel.rows.count((2,)) == 0


def test_the_least_important_columns_hide_in_their_order(panel_of):
    panel = panel_of(STEP5, size=(1500, 900))
    shown = {}
    for width in (1500, 680, 420, 300):
        panel.resize(width, min(430, width))
        settle(panel)
        shown[width] = [slot.column for slot in panel.tree.slots()]
    assert shown[1500] == [0, 1, 2, 3, 4, 5]
    assert {0, 2, 4, 5} <= set(shown[680])
    assert 3 not in shown[420]
    assert shown[300] == [0, 4]


@pytest.mark.parametrize("config", [STEP5, PRESETS["build-gpt"].config, GPT2, GPT3])
def test_on_a_small_projector_the_formula_stays_and_the_rings_are_unrolled_above_the_table(panel_of, config):
    panel = panel_of(config, built=config is not GPT3, size=(370, 268))  # what a window of 1024 x 768 leaves
    assert [slot.column for slot in panel.tree.slots()] == [0, 2, 4]
    chart, rows = panel.pie.geometry(), panel.tree.geometry()
    assert chart.width() == rows.width() == panel.body.width()
    assert 14 <= chart.height() <= 26
    assert chart.bottom() < rows.top()
    assert rows.height() >= panel.tree.content_height()  # no row is lost to it
    assert panel.totals.geometry().bottom() <= panel.body.rect().bottom()


def test_where_nothing_but_the_count_finds_room_the_ring_stays_beside_it(panel_of):
    panel = panel_of(STEP5, size=(290, 270))
    assert [slot.column for slot in panel.tree.slots()] == [0, 4]
    assert panel.pie.geometry().right() < panel.tree.geometry().left()


def test_the_table_is_copied_as_plain_numbers_with_the_total(panel_of):
    table = panel_of(STEP5).table()
    assert table[0] == ["name", "shape", "formula", "with numbers", "count", "percent"]
    assert table[5][4:] == ["526848", "64.51"]
    assert table[-1] == ["total", "", "", "", "816640", "100.00"]
    assert sum(int(row[4]) for row in table[1:-1]) == 816_640


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (replace(STEP5, vocabulary=1, layers=0, block_size=1, bias=False, tied_head=True), "as much as"),
        (replace(STEP5, vocabulary=50_000, tied_head=True), "token embedding holds 88.9 % of"),
        (GPT2, "1.5 times what the token embedding does"),
        (replace(STEP5, vocabulary=16_000, layers=0, tied_head=True), "250 times what the position embedding does"),
    ],
)
def test_the_sentence_compares_the_largest_with_the_next(panel_of, config, said):
    sentence = panel_of(config).header.sentence.whole()
    assert said.lower() in sentence.lower()
    assert re.match(r"[A-Z].*\.$", sentence)


def test_every_control_has_its_name(panel_of):
    panel = panel_of(STEP5)
    assert panel.objectName() == "panel.parameters"
    for widget in (panel.grouping, panel.pie, panel.tree, panel.totals):
        assert widget.objectName().startswith("parameters.")
        assert widget.accessibleName()
    assert "816,640" in panel.totals.accessibleDescription()
    assert "feed-forward: 526,848, 64.5 %" in panel.pie.accessibleDescription()


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_another_theme_is_taken_over_while_shown(panel_of, name):
    panel = panel_of(STEP5)
    theme.use(name, 13.0)
    panel.draw()
    assert not panel.grab().isNull()
