"""Each line of the model is explained, each explanation has its line, and the numbers in them are the model's own."""

import ast
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from gpt_viz import resources, tour
from gpt_viz.config import PRESETS, GPTConfig
from gpt_viz.protocol import Tokens, Traced
from gpt_viz.tour import STOPS, Stop
from gpt_viz.ui.tour.tour_words import filled, numbers, table

PACKAGE = Path(tour.__file__).parent
NOTEBOOKS = ("build-gpt.txt", "step5.txt")
HEAD = next(stop for stop in STOPS if stop.part == "Head")
every_stop = pytest.mark.parametrize("stop", STOPS, ids=[stop.name for stop in STOPS])


def chapters():
    return [tour.chapter(stop) for stop in STOPS]


def source(stop):
    return (PACKAGE / stop.file).read_text(encoding="utf-8")


def page(stop):
    return tour.page(resources.text(f"text/tour/{stop.page}.md"))


def code_lines(text):
    """The numbers of a file's lines that hold code: neither empty nor comment nor docstring. Found by ast alone."""
    tree, found = ast.parse(text), set()
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, node.end_lineno + 1))
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.strip().startswith("#") and number not in docstrings:
            found.add(number)
    return found


# --- every line, and nothing else ----------------------------------------------------------------------------------


@every_stop
def test_every_line_has_an_explanation_and_every_explanation_a_line(stop):
    found = tour.chapter(stop)
    assert found.unexplained == ()
    assert found.orphans == ()
    assert found.lines
    assert found.introduction
    assert found.title.startswith(f"{stop.name}: ")


def test_the_stops_hold_each_line_of_the_model_once():
    shown = [
        chapter.rows[row].number
        for chapter in chapters()
        if chapter.stop.file == tour.MODEL
        for line in chapter.lines
        for row in line.rows
    ]
    assert sorted(shown) == sorted(code_lines(source(HEAD)))
    assert len(shown) > 90


def test_the_config_is_explained_field_by_field():
    config = next(chapter for chapter in chapters() if chapter.stop.part == "GPTConfig")
    codes = [line.code for line in config.lines]
    assert [code.partition(":")[0] for code in codes if re.match(r"\w+: (int|float|bool|str) =", code)] == [
        field.name for field in fields(GPTConfig)
    ]
    assert "return self.width // self.heads" in codes
    assert not any("ConfigError" in row.text for row in config.rows if not row.text.startswith("    Raises"))
    assert [row.text.strip() for row in config.rows if not row.number] == [tour.GAP]


def test_the_rows_are_the_source_itself():
    for stop in STOPS:
        written = source(stop).splitlines()
        for row in tour.chapter(stop).rows:
            assert not row.number or row.text == written[row.number - 1].rstrip()


def test_a_line_that_is_added_changed_or_taken_away_is_noticed():
    text, explained = source(HEAD), page(HEAD)
    assert tour.joined(HEAD, text, explained).unexplained == ()
    added = text.replace("        D = q.shape[-1]\n", "        D = q.shape[-1]\n        print(D)\n")
    assert tour.joined(HEAD, added, explained).unexplained == ("print(D)",)
    changed = tour.joined(HEAD, text.replace("D = q.shape[-1]", "D = k.shape[-1]"), explained)
    assert changed.unexplained == ("D = k.shape[-1]",)
    assert changed.orphans == ("D = q.shape[-1]",)
    assert tour.joined(HEAD, text.replace("        return out\n", "", 1), explained).orphans == ("return out",)


def test_a_line_may_move_and_its_comment_may_change():
    text, explained = source(HEAD), page(HEAD)
    q, k = "        q = self.query(x)  # (B, T, D)\n", "        k = self.key(x)  # (B, T, D)\n"
    moved = tour.joined(HEAD, text.replace(q + k, k + q.replace("(B, T, D)", "another")), explained)
    assert moved.unexplained == moved.orphans == ()
    found = next(line for line in moved.lines if line.code == "q = self.query(x)")
    assert found.comment == "another"
    assert found.text == explained.texts["q = self.query(x)"]


def test_the_same_line_is_explained_anew_in_each_class():
    code = "self.dropout = nn.Dropout(config.dropout)"
    texts = [line.text for chapter in chapters() for line in chapter.lines if line.code == code]
    assert len(texts) == len(set(texts)) == 3


def test_a_line_over_several_rows_is_one():
    text = (
        "def long(\n    a: int,  # one\n    b: int,\n) -> int:\n    '''Says.'''\n    # why\n"
        "    return (\n        a + b\n    )\n"
    )
    found = tour.joined(
        Stop("long", "", "long", ""), text, tour.Page("", "", {"def long(a: int, b: int) -> int:": "x"})
    )
    assert [(list(line.rows), line.code, line.comment) for line in found.lines] == [
        ([0, 1, 2, 3], "def long(a: int, b: int) -> int:", "one"),
        ([6, 7, 8], "return (a + b)", ""),
    ]
    assert found.unexplained == ("return (a + b)",)
    assert found.line_at(3) == 0
    assert found.line_at(6) is None


def test_what_can_not_be_read_is_said():
    with pytest.raises(LookupError, match=r"nowhere.py is not there as text"):
        tour.chapter(Stop("x", "nowhere.py", "", "head"))
    with pytest.raises(LookupError, match="has no Nothing"):
        tour.rows_of("x = 1\n", Stop("x", "some.py", "Nothing", ""))
    with pytest.raises(ValueError, match="explained twice"):
        tour.page("# t\n\ni\n\n## `a = 1`\n\nx\n\n## `a  =  1`\n\ny\n")
    assert tour.rows_of("x = 1\n\n", Stop("x", "some.py", "", "")) == (tour.Row(1, "x = 1"),)


# --- the texts -------------------------------------------------------------------------------------------------------


@every_stop
def test_the_texts_are_short_and_plain(stop):
    found = tour.chapter(stop)
    written = resources.text(f"text/tour/{stop.page}.md")
    assert written.endswith("\n")
    assert not re.search(r"</?[a-z]+[ >/]", written), "HTML"
    assert max(len(line) for line in written.splitlines() if not line.startswith("## ")) <= 120
    assert 200 <= len(found.introduction) <= 900
    for line in found.lines:
        sentences = re.findall(r"[.:;?](?:\s|$)", line.text)
        assert 1 <= len(sentences) <= 7, line.code
        assert 30 <= len(line.text) <= 480, line.code
        assert line.text.endswith((".", "}")), line.code
        assert line.text.count("`") % 2 == 0, line.code


def test_no_sentence_is_the_notebooks(shared):
    words = re.compile(r"\w+")

    def runs(text):
        found = [each.lower() for each in words.findall(re.sub(r"`[^`]*`", " . ", text))]
        return {tuple(found[i : i + 7]) for i in range(len(found) - 6)}

    theirs = set().union(*(runs((shared / "notebooks" / name).read_text(encoding="utf-8")) for name in NOTEBOOKS))
    for chapter in chapters():
        for text in (chapter.introduction, *(line.text for line in chapter.lines)):
            assert not runs(text) & theirs


@pytest.mark.parametrize("config", [GPTConfig(layers=0), *(preset.config for preset in PRESETS.values())])
def test_every_number_that_a_text_names_is_known_for_every_model(config):
    values = numbers(config, None)
    rows = table(chapters(), values)
    assert rows[0] == ["class", "line", "code", "explanation"]
    assert len(rows) == 1 + len(STOPS) + sum(len(chapter.lines) for chapter in chapters())
    assert not any("{" in row[3] or "}" in row[3] for row in rows)
    with pytest.raises(KeyError):
        filled("{nothing}", values)


def test_the_numbers_are_those_of_the_presets():
    step5, build_gpt, gpt2 = (numbers(PRESETS[name].config, None) for name in ("step5", "build-gpt", "gpt2"))
    assert [each["parameters.total"] for each in (step5, build_gpt, gpt2)] == ["816,640", "824,897", "124,439,808"]
    assert [step5[letter] for letter in "BTCDHLNV"] == ["1", "64", "128", "32", "4", "4", "64", "65"]
    assert (step5["4C"], step5["2L"], step5["pairs"], step5["patterns"]) == ("512", "8", "4,096", "16")
    assert (step5["sqrtD"], step5["lnV"], gpt2["lnV"]) == ("5.657", "4.17", "10.82")
    assert (step5["parameters.query"], step5["parameters.head"], gpt2["parameters.query"]) == (
        "4,096",
        "12,288",
        "49,216",
    )
    assert (step5["parameters.output_head"], gpt2["parameters.output_head"]) == ("8,320", "0")
    assert build_gpt["parameters.output_head"] == "8,385"
    assert (step5["percent.feed_forward"], build_gpt["percent.blocks"]) == ("64.5 %", "96.0 %")
    assert (step5["qkv_bias"], gpt2["qkv_bias"], gpt2["tied_head"], gpt2["gelu"]) == ("off", "on", "on", "tanh")


def test_a_pass_gives_its_tokens_and_its_loss():
    def after(ids, loss):
        told = Traced(job=1, tokens=Tokens(ids, ("a",) * len(ids)), steps=(), loss=loss, first_bad="", elapsed_s=0.0)
        found = numbers(GPTConfig(), told)
        return found["T"], found["T-1"], found["loss"]

    assert after((1, 2, 3), 4.234) == ("3", "2", "4.23 nats per token")
    assert after((1,), None) == ("1", "0", "none, since nothing follows a single token")
    assert numbers(GPTConfig(), None)["loss"] == "not measured yet"


@pytest.mark.parametrize(
    "changes",
    [{}, {"qkv_bias": True, "head_bias": True}, {"bias": False}, {"tied_head": True}, {"layers": 1}, {"heads": 1}],
)
def test_the_counts_are_those_of_the_real_modules(tiny, changes):
    from gpt_viz.engine.initialise import skeleton

    config = replace(tiny, **{"tied_head": False, "qkv_bias": False, **changes})
    model = skeleton(config)
    block = model.blocks[0]
    parts = {
        "total": model, "token_embedding": model.token_embedding, "position_embedding": model.position_embedding,
        "query": block.attn.heads[0].query, "head": block.attn.heads[0], "heads": block.attn.heads,
        "attn_proj": block.attn.proj, "attention": block.attn, "fc": block.mlp.fc, "contract": block.mlp.proj,
        "feed_forward": block.mlp, "norm": model.ln_f, "block": block, "blocks": model.blocks,
    }  # fmt: skip
    if not config.tied_head:
        parts["output_head"] = model.head
    values = numbers(config, None)
    for name, module in parts.items():
        assert values[f"parameters.{name}"] == f"{sum(each.numel() for each in module.parameters()):,}", name
    assert {name.removeprefix("parameters.") for name in values if name.startswith("parameters.")} <= {
        *parts, "output_head",
    }  # fmt: skip


def test_the_two_forms_of_gelu_differ_by_less_than_the_text_says():
    import torch
    from torch.nn.functional import gelu

    x = torch.linspace(-8, 8, 20_001, dtype=torch.float64)
    assert 1e-4 < (gelu(x) - gelu(x, approximate="tanh")).abs().max() < 1e-3


def test_the_tour_is_read_without_torch_qt_and_numpy():
    code = (
        "import sys; from gpt_viz import tour; [tour.chapter(stop) for stop in tour.STOPS]\n"
        "print([name for name in ('torch', 'PySide6', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=True)
    assert done.stdout.strip() == "[]"


def test_the_panels_page_says_what_is_seen_how_to_read_it_and_what_to_press():
    text = resources.text("text/panels/tour.md")
    assert text.startswith("# Tour\n")
    assert [text.count(f"**{part}.**") for part in ("What you see", "How to read it", "Try this")] == [1, 1, 1]
    assert max(len(line) for line in text.splitlines()) <= 120
