"""The command line: keys, totals, texts taken literally, one line and an exit code for whatever goes wrong."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpt_viz
from gpt_viz import arguments, commands, information, ledger
from gpt_viz.cli import main
from gpt_viz.config import PRESETS

ROOT = Path(__file__).resolve().parents[1]
# The configuration that the cases call TINY; 11 ids, no alphabet.
TINY = [f"--set={each}" for each in (
    "vocabulary=11", "block_size=8", "layers=2", "heads=3", "width=12", "qkv_bias=true", "tied_head=true",
)]  # fmt: skip
SMALL = [f"--set={each}" for each in ("block_size=8", "layers=1", "heads=2", "width=8")]  # reads characters


@pytest.fixture
def done(run):
    """Runs the words, which must succeed without a word on stderr; gives stdout."""

    def done(*words):
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        return out

    return done


@pytest.fixture
def refused(run):
    """Runs the words, which must be refused: gives the one line on stderr."""

    def refused(*words, code=2):
        found, out, err = run(*words)
        assert (found, out) == (code, "")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err[:-1]

    return refused


def start(*words, blocked=(), env=None, **options):
    """The program in a process of its own, in which the `blocked` libraries can't be imported."""
    program = (
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {tuple(blocked)!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
        "from gpt_viz.cli import main\n"
        "sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, cwd=ROOT, timeout=60, check=False,
        env={**os.environ, **(env or {})}, **options,
    )  # fmt: skip


# --- params --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "total"),
    [
        (["--preset", "step5"], 816_640),
        (["--preset", "build-gpt"], 824_897),
        (["--preset=gpt2"], 124_439_808),
        (["--preset", "gpt3"], 174_604_259_328),
        (TINY, 4_020),
        ([], 816_640),
    ],
)
def test_params_counts_the_module_and_its_formulas_alike(done, words, total):
    found = json.loads(done("params", *words, "--json"))
    assert found["total"] == found["formula_total"] == total
    for part in ("groups", "places", "rows"):
        assert sum(each["count"] for each in found[part]) == total
        assert sum(each["percent"] for each in found[part]) == pytest.approx(100)
    assert found["counted"] is (total < 1e11)


def test_params_has_the_agreed_keys(done):
    out = done("params", "--json")
    assert out.count("\n") == 1
    found = json.loads(out)
    assert {"total", "groups", "places", "rows", "formula_total"} <= set(found)
    assert "tensors" not in found
    assert [each["name"] for each in found["groups"]] == [
        "token embedding", "position embedding", "attention", "feed-forward", "LayerNorm", "output head",
    ]  # fmt: skip
    assert [each["name"] for each in found["places"]] == ["embeddings", "blocks", "final norm", "output head"]
    assert found["rows"][2] == {
        "name": "query, key, value", "shape": "L·H·3 × (D, C)", "formula": "L·3·C²", "numbers": "4·3·128²",
        "count": 196_608, "percent": 100 * 196_608 / 816_640,
    }  # fmt: skip


def test_params_lists_every_tensor_where_asked(done):
    found = json.loads(done("params", *TINY, "--tensors", "--json"))
    assert sum(each["count"] for each in found["tensors"]) == 4_020
    assert found["tensors"][0] == {"name": "token_embedding.weight", "shape": [11, 12], "count": 132}
    assert len(found["tensors"]) == len(ledger.tensors(arguments_of(TINY).config))


def arguments_of(words):
    return arguments.model_choice(arguments.model_parser().parse_args(words))


def test_g01_params_says_of_a_tied_head_what_it_is_shared_with(done):
    found = json.loads(done("params", *TINY, "--tensors", "--json"))
    head = {"shared_with": "token_embedding.weight"}
    assert found["rows"][-1] == {
        "name": "output head", "shape": "(V, C)", "formula": "V·C", "numbers": "11·12", "count": 0, "percent": 0.0,
    } | head  # fmt: skip
    assert found["groups"][-1] == found["places"][-1] == {"name": "output head", "count": 0, "percent": 0.0} | head
    assert found["tensors"][-1] == {"name": "head.weight", "shape": [11, 12], "count": 0} | head
    assert "shared with token_embedding.weight" in done("params", *TINY)


def test_g02_params_does_not_count_the_mask(done):
    long = json.loads(done("params", *TINY, "--set=block_size=512", "--json"))
    assert long["total"] == 4_020 + 6_048


def test_g03_params_says_one_total_everywhere(done):
    out = done("params", "--preset", "step5", "--tensors")
    assert out.count("816,640") == 2  # the title and the table
    assert not any(figure in out for figure in ("808,448", "816640", "808448"))


def test_params_as_text_is_a_table_of_aligned_columns(done):
    lines = done("params", "--preset", "step5").splitlines()
    assert lines[0] == "Step 5: 816,640 parameters"
    table = lines[2:11]
    assert table[0].split() == ["name", "shape", "formula", "in", "numbers", "count", "%"]
    assert len({len(line) for line in table}) == 1  # the numbers end together
    assert table[-1].split() == ["total", "816,640", "100.00"]


def test_params_and_formulas_that_disagree_are_a_failure(refused, monkeypatch):
    monkeypatch.setattr(ledger, "total", lambda config: 1)
    said = refused("params", "--json", code=1)
    assert said == "gpt-viz params: the module holds 816,640 parameters, but the formulas say 1"


# --- shapes --------------------------------------------------------------------------------------------------------


def test_shapes_has_the_agreed_keys_and_the_shapes_of_a_real_pass(done):
    found = json.loads(done("shapes", *SMALL, "--text", "First", "--json"))
    assert found["ran"] is True
    assert found["steps"][5].items() >= {
        "name": "blocks.0.attn.heads.0.q", "symbols": ["B", "T", "D"], "shape": [1, 5, 4], "formula": "x·Wq",
        "module": "blocks.0.attn.heads.0.query",
    }.items()  # fmt: skip
    assert [each["name"] for each in found["steps"]] == [step.name for step in ledger.steps(arguments_of(SMALL).config)]
    letters = {"B": 1, "T": 5, "C": 8, "D": 4, "4C": 32, "V": 65}
    for each in found["steps"]:
        assert each["shape"] == [letters[symbol] for symbol in each["symbols"]]


def test_shapes_lists_every_operation_that_ran_and_what_each_step_takes(done):
    found = json.loads(done("shapes", *SMALL, "--text", "First", "--json"))
    config = arguments_of(SMALL).config
    assert found["multiply_adds"] == ledger.multiply_adds(config, 5)
    assert sum(each["multiply_adds"] for each in found["steps"]) == found["multiply_adds"]
    by_name = {each["name"]: each for each in found["steps"]}
    products = by_name["blocks.0.attn.heads.0.products"]
    assert [each["name"] for each in products["operations"]] == ["transpose", "matmul"]
    assert products["operations"][-1]["output"] == products["shape"] == [1, 5, 5]
    assert products["operations"][0]["view"] is True
    assert by_name["logits"]["bytes"] == 4 * 5 * 65
    assert by_name["logits"]["min"] <= by_name["logits"]["mean"] <= by_name["logits"]["max"]
    assert by_name["blocks.0.attn.heads.0.masked"]["not_finite"] == 10
    assert all(each["operations"] for each in found["steps"] if each["name"] != "ids")


def test_g05_shapes_shows_the_length_of_the_text_and_the_width_of_a_head(done):
    found = json.loads(done("shapes", *TINY, "--text", "1 2 3 4 5", "--json"))
    shapes = {each["name"]: each["shape"] for each in found["steps"]}
    assert shapes["embedded"] == [1, 5, 12]
    assert shapes["blocks.1.attn.heads.2.k"] == [1, 5, 4]
    assert shapes["blocks.1.attn.heads.2.A"] == [1, 5, 5]
    assert shapes["blocks.1.attn.concat"] == [1, 5, 12]
    assert shapes["blocks.1.mlp.gelu"] == [1, 5, 48]
    assert shapes["logits"] == [1, 5, 11]


def test_shapes_of_a_text_beyond_the_block_size_sees_its_end(done):
    found = json.loads(done("shapes", *SMALL, "--text", "First Citizen", "--json"))
    assert (found["tokens"], found["dropped"]) == (8, 5)
    assert found["steps"][0]["shape"] == [1, 8]
    assert "8 tokens (the last of 13: the block size)" in done("shapes", *SMALL, "--text", "First Citizen")


def test_shapes_of_a_single_token_has_no_loss(done):
    names = [each["name"] for each in json.loads(done("shapes", *SMALL, "--text", "F", "--json"))["steps"]]
    assert names[-1] == "logits"


def test_a02_shapes_of_no_layers_go_from_the_embedding_to_the_final_norm(done):
    found = json.loads(done("shapes", *TINY, "--set", "layers=0", "--text", "1 2", "--json"))
    assert [each["name"] for each in found["steps"]] == [
        "ids", "token_embedding", "position_embedding", "embedded", "ln_f", "logits", "loss",
    ]  # fmt: skip


def test_a07_shapes_of_a_model_that_fits_nowhere_come_from_the_formulas_and_say_so(done):
    found = json.loads(done("shapes", "--preset", "gpt3", "--text", "0 1 2", "--json"))
    assert found["ran"] is False
    assert "TB" in found["reason"]
    assert len(found["steps"]) == 74_599
    assert found["steps"][-2]["shape"] == [1, 3, 50_257]
    text = done("shapes", "--preset", "gpt3", "--set", "layers=1", "--set", "width=786432", "--text", "0")
    assert "by formula: this model needs about" in text


def test_shapes_without_a_text_reads_the_built_in_one(done):
    assert json.loads(done("shapes", "--json"))["tokens"] == 24
    assert json.loads(done("shapes", *TINY, "--json"))["tokens"] == 8


def test_shapes_that_differ_from_the_formulas_are_a_failure(refused, monkeypatch):
    from gpt_viz.engine import stepstats

    real = stepstats.measure
    words = ("shapes", *SMALL, "--text", "Fi")
    monkeypatch.setattr(stepstats, "measure", lambda model, ids: real(model, ids)[:-1])
    assert refused(*words, code=1) == "gpt-viz shapes: the pass ran nothing more, but the formulas say loss ()"
    monkeypatch.setattr(stepstats, "measure", lambda model, ids: real(model, ids[:1]))
    assert refused(*words, code=1) == "gpt-viz shapes: the pass ran ids (1, 1), but the formulas say ids (1, 2)"


# --- sample --------------------------------------------------------------------------------------------------------


def test_sample_prints_prompt_and_continuation_and_nothing_else(done):
    out = done("sample", *SMALL, "--prompt", "First", "--tokens", "7")
    assert out.startswith("First")
    assert len(out) == 12


def test_sample_gives_the_same_text_for_the_same_seeds(done):
    words = ("sample", *SMALL, "--prompt", "\n", "--tokens", "40")
    assert done(*words) == done(*words, "--seed", "0") == done(*words, "--model-seed", "1337")
    assert len({done(*words), done(*words, "--seed", "1"), done(*words, "--model-seed", "1")}) == 3


def test_sample_of_the_untrained_step5_is_the_notebooks_picture(done):
    golden = json.loads((ROOT / "tests" / "goldens" / "sampled.json").read_text(encoding="utf-8"))["step5"]["text"]
    assert golden.startswith("\nt3yrjmhVkdkhRxLsT?teWRdHEG\n?exhkAU&")
    assert done("sample", "--preset", "step5", "--prompt", "\n", "--tokens", "80") == golden[:81]


def test_sample_as_json_has_the_agreed_keys(done):
    words = ("sample", *SMALL, "--prompt", "ab", "--tokens", "5", "--top-k", "3")
    found = json.loads(done(*words, "--json"))
    assert set(found) == {"text", "ids", "steps", "tokens_per_second"}
    assert found["text"] == done(*words)
    assert len(found["ids"]) == 7
    assert [step["id"] for step in found["steps"]] == found["ids"][2:]
    assert "".join(step["token"] for step in found["steps"]) == found["text"][2:]
    assert all(0 < step["probability"] <= 1 and 0 <= step["rank"] < 3 for step in found["steps"])
    assert found["tokens_per_second"] > 0


def test_sample_of_no_tokens_is_the_prompt(done):
    assert done("sample", *SMALL, "--prompt", "ab", "--tokens", "0") == "ab"
    found = json.loads(done("sample", *SMALL, "--prompt", "ab", "--tokens", "0", "--json"))
    assert found["steps"] == []
    assert len(found["ids"]) == 2


def test_sample_of_a_model_without_alphabet_reads_and_writes_ids(done):
    out = done("sample", *TINY, "--prompt", "1 2", "--tokens", "3")
    assert out.startswith("1 2 ")
    assert len([int(word) for word in out.split()]) == 5
    assert done("sample", *TINY, "--prompt", "1\t", "--tokens", "1").count(" ") == 0


@pytest.mark.parametrize("prompt", ["--", "-", "--json", "-h", "\n", " ", "'$HOME'", "--prompt", "&"])
def test_e07_a_prompt_is_taken_literally(done, prompt):
    words = ("--tokens", "0", *SMALL)
    assert done("sample", "--prompt", prompt, *words) == prompt
    assert done("sample", f"--prompt={prompt}", *words) == prompt


@pytest.mark.parametrize(("prompt", "unknown"), [("-x=1", "'=' at 3"), ("\\n", "'\\' at 1"), ("<b>", "'<' at 1")])
def test_e07_what_a_prompt_cannot_hold_is_named_as_it_stands(refused, prompt, unknown):
    said = refused("sample", "--tokens", "0", *SMALL, "--prompt", prompt)
    assert unknown in said


def test_b05_a_top_k_that_is_no_whole_number_is_refused(refused):
    words = ("sample", "--prompt", "a", "--tokens", "1", "--top-k")
    assert refused(*words, "ten") == "gpt-viz sample: --top-k must be a whole number, not 'ten'"
    assert refused(*words, "3.5") == "gpt-viz sample: --top-k must be a whole number, not '3.5'"
    assert refused(*words, "-1") == "gpt-viz sample: --top-k must be 0 or more, not '-1'"
    assert refused(*words, "-5") == "gpt-viz sample: --top-k must be 0 or more, not '-5'"
    assert refused(*words, "") == "gpt-viz sample: --top-k must be a whole number, not ''"


def test_b05_a_top_k_of_zero_is_off(done):
    words = ("sample", *SMALL, "--prompt", "a", "--tokens", "9")
    assert done(*words, "--top-k", "0") == done(*words)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--temperature", "-1", "must be 0 (greedy) or more, not '-1'"),
        ("--temperature", "nan", "must be a number, not 'nan'"),
        ("--temperature", "inf", "must be a number, not 'inf'"),
        ("--top-p", "0", "must be above 0 and at most 1 (off), not '0'"),
        ("--top-p", "1.5", "must be above 0 and at most 1 (off), not '1.5'"),
        ("--tokens", "-3", "must be 0 or more, not '-3'"),
        ("--tokens", "1e3", "must be a whole number, not '1e3'"),
        ("--seed", "-1", "takes a seed, and seed -1 is out of range; it goes from 0 to 2^63 - 1"),
        ("--model-seed", "x", "must be a whole number, not 'x'"),
    ],
)
def test_numbers_out_of_range_are_refused_at_their_option(refused, option, value, said):
    words = {"--prompt": "a", "--tokens": "1", option: value}
    assert refused("sample", *(f"{name}={each}" for name, each in words.items())) == f"gpt-viz sample: {option} {said}"


def test_b09_an_empty_prompt_is_refused_with_what_to_do(refused):
    expected = "gpt-viz sample: the prompt is empty; give --prompt at least one character, such as a newline"
    assert refused("sample", "--prompt", "", "--tokens", "1") == expected
    assert refused("sample", "--prompt=", "--tokens", "1") == expected
    assert "at least one id" in refused("sample", *TINY, "--prompt", "  ", "--tokens", "1")
    assert "the text is empty" in refused("shapes", "--text", "")


@pytest.mark.parametrize("prompt", ["a#b", "abé", "\U0001f600"])
def test_b10_unknown_characters_are_named_with_their_positions(refused, prompt):
    said = refused("sample", "--prompt", prompt, "--tokens", "1")
    at = next(place for place, each in enumerate(prompt, 1) if each not in arguments_of([]).alphabet)
    assert f"'{prompt[at - 1]}' at {at}" in said


def test_b10_ids_outside_the_vocabulary_are_named(refused):
    assert "'11' at 3" in refused("sample", *TINY, "--prompt", "1 11", "--tokens", "1")
    assert "'x' at 1" in refused("capture", *TINY, "--text", "x", "--taps", "ids", "--out", "unused.npz")


# --- capture -------------------------------------------------------------------------------------------------------


def test_capture_writes_the_arrays_by_place(done, tmp_path):
    out = tmp_path / "some file"
    said = done("capture", *SMALL, "--text", "First", "--taps", "blocks.*.attn.heads.?.A", "logits", "--out", out)
    assert said == f"3 arrays of a pass over 5 tokens, 1,500 bytes, written to {out}\n"
    with np.load(out) as arrays:
        assert sorted(arrays) == ["blocks.0.attn.heads.0.A", "blocks.0.attn.heads.1.A", "logits"]
        assert arrays["logits"].shape == (1, 5, 65)
        assert arrays["logits"].dtype == np.float32
        np.testing.assert_allclose(arrays["blocks.0.attn.heads.1.A"].sum(-1), 1, rtol=1e-6)
    assert list(tmp_path.iterdir()) == [out]


def test_capture_takes_taps_more_than_once_and_replaces_a_file(done, tmp_path):
    out = tmp_path / "x.npz"
    out.write_text("old")
    done("capture", *SMALL, "--text", "First", "--taps", "ids", "--taps", "l?_f", "--out", out)
    with np.load(out) as arrays:
        assert sorted(arrays) == ["ids", "ln_f"]


def test_capture_refuses_a_place_that_does_not_exist_and_names_the_nearest(refused, tmp_path):
    out = tmp_path / "x.npz"
    said = refused("capture", *SMALL, "--text", "a", "--taps", "logits", "logit", "--out", out)
    assert said == "gpt-viz capture: no place is called 'logit'; the nearest is logits"
    assert list(tmp_path.iterdir()) == []


def test_c12_an_out_that_cannot_be_written_is_refused_before_the_work(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("gpt_viz.chosen.Chosen.model", lambda choice: pytest.fail("nothing is to be built"))
    words = ("capture", *SMALL, "--text", "a", "--taps", "logits", "--out")
    assert refused(*words, tmp_path) == f"gpt-viz capture: {tmp_path} is a folder; --out takes the name of a file"
    missing = tmp_path / "missing"
    assert refused(*words, missing / "x.npz") == f"gpt-viz capture: there is no folder {missing} to write x.npz to"
    assert "is not an ordinary file" in refused(*words, os.devnull)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert refused(*words, tmp_path / "x.npz") == f"gpt-viz capture: no permission to write to the folder {tmp_path}"


def test_c12_a_disk_that_is_full_leaves_the_old_file_and_no_part(refused, tmp_path, monkeypatch):
    out = tmp_path / "x.npz"
    out.write_text("old")

    def full(file, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device", str(out))

    monkeypatch.setattr(np, "savez", full)
    said = refused("capture", *SMALL, "--text", "a", "--taps", "logits", "--out", out, code=1)
    assert said == f"gpt-viz capture: No space left on device: {out}"
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("display", ["", ":99"])
def test_a_word_that_is_no_command_and_no_file_is_named_before_any_display_is_looked_for(
    refused, tmp_path, monkeypatch, display
):
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert refused("nonsense") == "gpt-viz: nonsense is neither a command nor a file; gpt-viz --help names the commands"
    assert refused(tmp_path / "a.txt") == f"gpt-viz: there is no file {tmp_path}/a.txt"
    assert refused("x\ny.txt").startswith("gpt-viz: there is no file x")


def test_with_a_file_that_is_there_the_display_is_what_is_missing(refused, tmp_path, monkeypatch):
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "a.txt").write_text("text")
    said = refused(tmp_path / "a.txt")
    assert "there is no display" in said or "apt install" in said


# --- the model -----------------------------------------------------------------------------------------------------


def test_a01_a_width_that_the_heads_do_not_divide_is_refused(refused):
    said = refused("params", "--set", "width=10", "--set", "heads=3")
    assert said == "gpt-viz params: width 10 is not divisible by 3 heads; try 1, 2, 5, 10 heads, or width 9 or 12"


@pytest.mark.parametrize(
    "setting",
    [
        "block_size=-1", "block_size=0", "layers=-2", "heads=0", "width=0", "vocabulary=0", "dropout=-0.1",
        "dropout=1.5", "dropout=nan",
    ],
)  # fmt: skip
def test_a03_nonsense_sizes_name_the_setting_the_value_and_the_range(refused, setting):
    name, value = setting.split("=")
    said = refused("shapes", *TINY, "--set", setting)
    assert said.startswith(f"gpt-viz shapes: {name.replace('_', ' ')} {value} is out of range; it goes from ")


def test_a05_a_vocabulary_of_one_samples_its_one_token(done):
    words = ("--set=vocabulary=1", "--prompt", "0", "--tokens", "10", "--top-k", "5", "--json")
    found = json.loads(done("sample", *TINY, *words))
    assert found["ids"] == [0] * 11
    assert {step["probability"] for step in found["steps"]} == {1.0}


def test_a07_a_model_that_fits_nowhere_is_refused_with_estimate_and_limit(refused, tmp_path):
    huge = [
        f"--set={each}" for each in ("vocabulary=100000", "block_size=65536", "layers=96", "heads=64", "width=65536")
    ]
    for words in (
        ("sample", *huge, "--prompt", "0", "--tokens", "1"),
        ("capture", *huge, "--text", "0", "--taps", "logits", "--out", tmp_path / "x.npz"),
    ):
        said = refused(*words)
        assert "this model needs about 1" in said
        assert "TB" in said
    assert "above 2^24" in refused("params", "--set", "vocabulary=16777217", "--set", "width=1", "--set", "heads=1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--preset", "gpt5"], "there is no preset 'gpt5'; choose step5, build-gpt"),
        (["--preset", ""], "there is no preset ''; choose step5"),
        (["--set", "layer=2"], "there is no setting 'layer'; did you mean layers?"),
        (["--set", "layers"], "'layers' is not a setting; write name=value, such as layers=2"),
        (["--device", "tpu", "--text", "a"], "there is no device 'tpu'; choose auto, cpu"),
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["a\nb"], "unrecognized arguments: a\\nb"),
        (["--pre", "gpt2"], "unrecognized arguments: --pre gpt2"),
        (["--set"], "--set expected one argument"),
        (["--text"], "--text expected one argument"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(refused, words, said):
    assert refused("shapes", *words).startswith(f"gpt-viz shapes: {said}")


def test_settings_change_a_preset_together(done):
    found = json.loads(done("params", "--preset", "build-gpt", "--set", "width=12", "--set", "heads=3", "--json"))
    assert (found["config"]["width"], found["config"]["heads"], found["config"]["block_size"]) == (12, 3, 128)


def test_the_chosen_model_has_an_alphabet_only_where_its_size_is_that_of_one():
    assert arguments_of([]).preset_name == "step5"
    assert len(arguments_of([]).alphabet) == 65
    assert arguments_of(["--preset", "gpt2"]).alphabet is None
    assert arguments_of(["--set", "vocabulary=11"]).alphabet is None
    assert arguments_of(["--set", "layers=1"]).preset_name == ""
    assert arguments_of(["--set", "layers=4"]).preset_name == "step5"
    assert (arguments_of([]).seed, arguments_of([]).device) == (1337, "auto")


def test_the_words_for_a_model_can_be_handed_on():
    words = ["--preset=gpt2", "--set=layers=1", "--set=heads=2", "--device=cpu", "--model-seed=3"]
    args = arguments.model_parser().parse_args(words)
    assert arguments.model_words(args) == words
    assert arguments.model_given(args)
    assert not arguments.model_given(arguments.model_parser().parse_args([]))
    assert arguments.model_words(arguments.model_parser().parse_args([])) == []


# --- the program ---------------------------------------------------------------------------------------------------


def test_the_window_parser_takes_a_model_a_text_and_a_file():
    args = arguments.window_parser().parse_args(
        ["--preset", "gpt2", "--text", "--", "--theme", "dark", "--panel", "attention", "--present", "x.txt"]
    )
    assert (args.preset, args.text, args.theme, args.panel) == ("gpt2", "--", "dark", "attention")
    assert (args.present, args.reset_settings, args.file) == (True, False, "x.txt")


def test_a_first_word_that_is_no_command_opens_the_window(monkeypatch, run, tmp_path):
    opened, play = [], str(tmp_path / "play.txt")
    Path(play).write_text("text")
    stub = type(sys)("gpt_viz.app")
    stub.run = lambda argv: opened.append(argv) or 7
    monkeypatch.setitem(sys.modules, "gpt_viz.app", stub)
    assert run("--preset", "gpt2", play)[0] == 7
    assert run()[0] == 7
    assert opened == [["--preset", "gpt2", play], []]


def test_mistakes_for_the_window_are_found_before_it_opens(monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "gpt_viz.app", None)
    assert refused("--theme", "blue").startswith("gpt-viz: --theme invalid choice: 'blue'")
    assert refused("--set", "heads=3").startswith("gpt-viz: width 128 is not divisible by 3 heads")


def test_help_names_the_commands_and_each_has_its_own(done):
    out = done("--help")
    for name in arguments.COMMANDS:
        assert f"\n  {name} " in out
        assert done(name, "--help").startswith(f"usage: gpt-viz {name}")


def test_version_is_the_packages(done):
    assert done("--version") == f"gpt-viz {gpt_viz.__version__}\n"


def test_shoot_gets_folder_model_themes_and_size(monkeypatch, run, refused):
    asked = []
    stub = type(sys)("gpt_viz.shoot")
    stub.shoot = lambda *words: asked.append(words) or 0
    monkeypatch.setitem(sys.modules, "gpt_viz.shoot", stub)
    words = ("shoot", "out", "--preset", "step5", "--theme", "light,dark", "--theme", "contrast", "--size", "1024x768")
    assert run(*words)[0] == 0
    assert run("shoot", "out")[0] == 0
    assert asked == [
        (Path("out"), ["--preset=step5"], ["light", "dark", "contrast"], (1024, 768)),
        (Path("out"), [], ["light"], (1600, 1000)),
    ]
    assert refused("shoot", "out", "--size", "big").startswith("gpt-viz shoot: --size must be WIDTHxHEIGHT in pixels")
    assert refused("shoot", "out", "--theme", "blue") == (
        "gpt-viz shoot: --theme must be light or dark or contrast, not 'blue'"
    )
    assert "DIR" in refused("shoot")


def test_bench_is_told_whether_to_print_json(monkeypatch, run):
    asked = []
    monkeypatch.setattr("gpt_viz.bench.bench", lambda *words: asked.append(words) or 0)
    assert [run("bench")[0], run("bench", "--json", "--only", "training")[0]] == [0, 0]
    assert asked == [(False, ()), (True, ["training"])]


def test_info_says_versions_devices_and_places(done):
    lines = dict(line.split(maxsplit=1) for line in done("info").splitlines())
    assert lines["gpt-viz"] == gpt_viz.__version__
    assert lines["numpy"] == np.__version__
    assert "threads" in lines["torch"]
    assert "PySide6" in lines["Qt"]
    assert lines["settings"] == os.environ["GPT_VIZ_HOME"]
    assert lines["log"].startswith(os.environ["GPT_VIZ_HOME"])
    assert "cpu   CPU, can be used" in lines["device"] or "can't be used: " in lines["device"]


def test_info_says_why_a_library_cannot_be_loaded(monkeypatch):
    def broken():
        raise ImportError("libEGL.so.1: cannot open shared object file:\nNo such file")

    monkeypatch.setattr(information, "_qt", broken)
    assert "can't be loaded: libEGL.so.1: cannot open shared object file: No such file" in information.information()


def test_f07_help_version_and_info_work_without_qt_and_without_torch():
    blocked = ("PySide6", "torch")
    for word in ("--help", "--version"):
        done = start(word, blocked=blocked)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"gpt-viz" in done.stdout
    done = start("info", blocked=blocked)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"not installed (torch)" in done.stdout
    assert b"not installed (PySide6)" in done.stdout


def test_f07_the_commands_work_without_qt():
    done = start("params", "--preset", "step5", "--json", blocked=("PySide6",))
    assert json.loads(done.stdout)["total"] == 816_640


def test_f07_the_window_without_qt_ends_with_one_line():
    done = start("--preset", "step5", blocked=("PySide6",))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"PySide6" in done.stderr


def test_output_is_utf8_whatever_the_locale():
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "", "PYTHONCOERCECLOCALE": "0"}
    done = start("params", "--preset", "gpt3", env=narrow)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "L·(8·C²+5·C)" in done.stdout.decode("utf-8")
    said = start("shapes", "--text", "é", env=narrow)
    assert (said.returncode, said.stdout) == (2, b"")
    assert b"'\\xe9' at 1" in said.stderr  # read as one character, though the locale has none


def test_output_on_a_narrow_code_page_is_utf8_with_line_ends_kept(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="cp1252", newline="\r\n"))
    assert main(["params", "--preset", "gpt3"]) == 0
    assert "L·(8·C²+5·C)" in buffer.getvalue().decode("utf-8")
    assert b"\r" not in buffer.getvalue()


def test_a_program_without_stdout_does_not_fail(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["params", "--preset", "gpt3"]) == 0
    assert main(["--version"]) == 0


def test_a_reader_that_goes_away_is_no_message():
    read, write = os.pipe()
    os.close(read)
    try:
        program = "import sys; from gpt_viz.cli import main; sys.exit(main(['params', '--preset', 'gpt3']))"
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE, cwd=ROOT, timeout=60, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_ctrl_c_ends_quietly(monkeypatch, run):
    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "params", interrupted)
    assert run("params") == (130, "", "")


def test_an_error_that_nobody_expected_is_one_line_and_its_traceback_is_in_the_log(monkeypatch, refused):
    def broken(args):
        raise TypeError("first\nsecond")

    monkeypatch.setattr(commands, "params", broken)
    said = refused("params", code=1)
    assert said.startswith("gpt-viz params: unexpected TypeError: first\\nsecond (details in ")
    log = Path(said.split("(details in ")[1][:-1])
    assert "in broken" in log.read_text(encoding="utf-8")


def test_a_valueerror_of_a_library_is_not_taken_for_bad_input(monkeypatch, refused):
    def broken(args):
        raise ValueError("operands could not be broadcast")

    monkeypatch.setattr(commands, "params", broken)
    assert "unexpected ValueError" in refused("params", code=1)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 1 bytes")])
def test_too_little_memory_is_said_plainly(monkeypatch, refused, error):
    def broken(args):
        raise error

    monkeypatch.setattr(commands, "params", broken)
    assert refused("params", code=1).startswith("gpt-viz params: there is not enough memory for this")


def test_every_preset_has_a_title_on_its_page(done):
    for name, preset in PRESETS.items():
        if name in ("step5", "gpt3"):
            assert done("params", "--preset", name).startswith(preset.title)
