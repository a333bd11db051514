"""`gpt-viz check`: the words it takes, what it prints, and its exit code."""

import json

import pytest

from gpt_viz import claims, cli

TINY = [
    "--set=vocabulary=11",
    "--set=block_size=8",
    "--set=layers=2",
    "--set=heads=3",
    "--set=width=12",
    "--set=tied_head=true",
]


@pytest.fixture
def run(capsys):
    def words(*given):
        code = cli.main(["check", *given])
        out, err = capsys.readouterr()
        return code, out, err

    return words


@pytest.fixture(autouse=True)
def _short_samples(monkeypatch):
    from gpt_viz.engine.checks import writing

    monkeypatch.setattr(writing, "TOKENS", 20)


def test_one_json_document_lists_every_check_and_null_is_what_does_not_apply(run):
    code, out, err = run("--device", "cpu", *TINY, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["checks"]
    assert tuple(each["name"] for each in found) == claims.NAMES
    assert all({"name", "passed", "expected", "found", "detail"} <= set(each) for each in found)
    assert {each["name"] for each in found if each["passed"] is None} == {"initial_loss", "validation_loss", "device"}
    assert {each["name"] for each in found if each["passed"] is False} == set()
    assert found[0]["found"] == "3,948"  # TINY without biases of query, key and value


def test_a_table_otherwise(run):
    code, out, err = run("--device", "cpu", *TINY)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "own sizes: 10 passed, 0 failed, 3 do not apply"
    assert lines[3].split()[:4] == ["parameter_count", "passed", "3,948", "3,948"]
    assert any(line.startswith("initial_loss") and "does not apply" in line for line in lines)


def test_one_check_that_fails_makes_it_1_and_is_named(run, monkeypatch):
    from gpt_viz.engine import checks
    from gpt_viz.engine.checks.outcome import Outcome

    def broken(specimen):
        yield None
        return Outcome(passed=False, expected="exactly 0 for later tokens", found="0.25 at most", detail="in layer 1")

    monkeypatch.setitem(checks.CHECKS, "mask", broken)
    code, out, err = run("--device", "cpu", *TINY)
    assert (code, err) == (1, "")
    assert "9 passed, 1 failed, 3 do not apply" in out
    assert next(line for line in out.splitlines() if line.startswith("mask")).split()[1] == "FAILED"
    code, out, _ = run("--device", "cpu", *TINY, "--json")
    assert code == 1
    assert [each["name"] for each in json.loads(out)["checks"] if each["passed"] is False] == ["mask"]


def test_the_corpus_is_what_the_model_reads(run, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("to be or not to be" * 5, encoding="utf-8", newline="")
    small = ("--device=cpu", "--set=layers=1", "--set=width=16", "--json")
    found = {each["name"]: each for each in json.loads(run(*small, "--corpus", str(path))[1])["checks"]}
    assert found["memorise"]["detail"].startswith("50 steps of AdamW at 0.008 on one window of 64 tokens")
    assert found["memorise"]["passed"] is True


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--corpus", "missing.txt"], "missing.txt"),
        (["--set", "heads=5"], "width 128 is not divisible by 5 heads"),
        (["--tokens", "3"], "unrecognized arguments: --tokens 3"),
    ],
)
def test_bad_input_is_2_with_one_line(run, words, says):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert says in err


def test_a_corpus_that_the_model_cannot_read_is_2_and_names_the_characters(run, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("naïve", encoding="utf-8")
    code, out, err = run("--device", "cpu", "--set", "layers=1", "--corpus", str(path))
    assert (code, out) == (2, "")
    assert "can't read 'ï' at 3" in err
