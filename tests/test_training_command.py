"""The command train: what it writes and says, how it is interrupted and gone on with, and what it refuses."""

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from gpt_viz import training_command
from gpt_viz.arguments import model_parser
from gpt_viz.cli import main
from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.saving import kept_state
from gpt_viz.engine.evaluation import evaluate
from gpt_viz.engine.initialise import build
from gpt_viz.engine.timeline import flat
from gpt_viz.engine.training import Trainer, split
from gpt_viz.meter import Meter, span
from gpt_viz.schedule import TrainingSettings
from gpt_viz.training_options import add_arguments

ROOT = Path(__file__).resolve().parents[1]
SMALL = [f"--set={each}" for each in ("block_size=8", "layers=1", "heads=2", "width=8", "dropout=0.1")]
TEXT = "To be, or not to be: that is the question.\n" * 20


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, newline="")
    return path


@pytest.fixture
def train(capsys, corpus):
    """Runs `train` in this process: exit code, stdout, stderr."""

    def train(out, *words, small=True, text=corpus):
        model = SMALL if small else []
        code = main(["train", *model, "--corpus", str(text), "--out", str(out), *map(str, words)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return train


def ended(steps):
    """What a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def weights(path):
    return flat(open_checkpoint(path).model.parameters())


def interrupt_after(monkeypatch, looks):
    """Ctrl+C, noted at the look of that number."""

    @contextmanager
    def interrupts():
        seen = []
        yield lambda: len(seen) >= looks or seen.append(1)

    monkeypatch.setattr(training_command, "_interrupts", interrupts)


def test_a_run_is_the_trainer_s_own_and_ends_in_a_checkpoint_that_tells_of_it(train, tmp_path, corpus):
    out = tmp_path / "a.safetensors"
    code, said, progress = train(
        out, "--steps", 6, "--batch", 4, "--lr", "3e-3", "--warmup", 2, "--decay", 0.1, "--weight-decay", 0.05,
        "--validation", 0.2, "--eval-every", 3, "--clip", 0.5, "--seed", 7,
    )  # fmt: skip
    assert code == 0
    assert re.fullmatch(r"6 steps, loss \d\.\d{4}, validation \d\.\d{4} nats per token, \d+ s; written to .*\n", said)
    assert "step 3 / 6" in progress
    opened = open_checkpoint(out)
    settings = TrainingSettings(6, 4, 3e-3, 2, 0.1, 0.05, 0.2, 3, 0.5, 7)
    ids, validation = split(torch.tensor([opened.alphabet.index(each) for each in TEXT]), 0.2)
    trainer = Trainer(build(opened.model.config, 1337), ids, settings)
    losses = [trainer.step().loss for _ in range(6)]
    assert torch.equal(flat(trainer.model.parameters()), weights(out))
    assert opened.seed == 1337
    assert opened.history["steps"] == 6
    assert opened.history["losses"] == pytest.approx(losses, abs=1e-5)
    run = opened.history["runs"][0]
    assert run["settings"]["warmup"] == 2
    assert run["text"] == "text.txt"
    assert run["sha256"] == hashlib.sha256(corpus.read_bytes()).hexdigest()
    assert [step for step, _ in opened.history["validations"]] == [0, 3, 6]
    assert opened.history["validations"][-1][1] == pytest.approx(ended(evaluate(trainer.model, validation)), abs=1e-5)


def test_as_json_it_is_one_document(train, tmp_path):
    code, said, _ = train(tmp_path / "a.safetensors", "--steps", 3, "--batch", 2, "--json")
    found = json.loads(said)
    assert code == 0
    assert said.count("\n") == 1
    assert set(found) >= {
        "steps", "loss", "validation", "elapsed_s", "tokens_per_second", "parameters", "config", "model_seed",
        "settings", "text", "sha256", "losses", "validations", "out", "bytes",
    }  # fmt: skip
    assert found["steps"] == len(found["losses"]) == 3
    assert found["bytes"] == (tmp_path / "a.safetensors").stat().st_size


def test_a_run_that_is_interrupted_goes_on_with_the_numbers_of_an_unbroken_one(train, tmp_path, monkeypatch):
    settings = ("--steps", 20, "--batch", 4, "--warmup", 3, "--decay", 0.1, "--eval-every", 5)
    whole, broken = tmp_path / "whole.safetensors", tmp_path / "broken.safetensors"
    assert train(whole, *settings)[0] == 0
    with monkeypatch.context() as patched:
        interrupt_after(patched, 12)
        code, said, err = train(broken, *settings)
        assert (code, said) == (130, "")
        assert re.search(r"stopped after \d+ steps and written to .*--resume goes on\n$", err)
    made = open_checkpoint(broken).history["steps"]
    assert 0 < made < 20
    code, said, err = train(broken, "--steps", 20, "--resume", small=False)
    assert code == 0
    assert f"from step {made}" in err
    assert whole.read_bytes() == broken.read_bytes()


def test_a_run_that_is_interrupted_before_its_first_step_leaves_the_file_as_it_was(train, tmp_path, monkeypatch):
    out = tmp_path / "a.safetensors"
    train(out, "--steps", 3, "--batch", 2)
    before = out.read_bytes()
    interrupt_after(monkeypatch, 1)
    code, said, err = train(out, "--steps", 3, "--batch", 2)
    assert (code, said) == (130, "")
    assert err.endswith("stopped before the first step; nothing was written to " + str(out) + "\n")
    assert out.read_bytes() == before


def test_a_real_ctrl_c_ends_with_130_and_a_file_that_goes_on(tmp_path, corpus):
    out = tmp_path / "a.safetensors"
    words = [*SMALL, "--corpus", str(corpus), "--steps", "1000000", "--batch", "2", "--eval-every", "5"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gpt_viz", "train", *words, "--out", str(out)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    for line in process.stderr:
        if line.startswith("step 10 "):
            break
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == ""
    assert "Traceback" not in err
    assert open_checkpoint(out).history["steps"] >= 10
    assert not list(tmp_path.glob(".*part"))


def test_more_steps_go_on_with_a_complete_run_and_none_are_nothing_to_do(train, tmp_path):
    long, short = tmp_path / "long.safetensors", tmp_path / "short.safetensors"
    assert train(long, "--steps", 8, "--batch", 2)[0] == 0
    assert train(short, "--steps", 5, "--batch", 2)[0] == 0
    assert train(short, "--steps", 8, "--resume", small=False)[0] == 0
    assert torch.equal(weights(long), weights(short))
    before = short.read_bytes()
    code, said, err = train(short, "--steps", 8, "--resume", "--json", small=False)
    assert code == 0
    assert json.loads(said)["steps"] == 8
    assert "is complete; give more --steps" in err
    assert short.read_bytes() == before


def test_a_compact_file_holds_the_model_alone(train, tmp_path):
    large, small = tmp_path / "large.safetensors", tmp_path / "small.safetensors"
    train(large, "--steps", 3, "--batch", 2)
    train(small, "--steps", 3, "--batch", 2, "--compact")
    assert torch.equal(weights(large), weights(small))
    assert kept_state(large)
    assert not kept_state(small)
    code, said, err = train(small, "--steps", 6, "--resume", small=False)
    assert (code, said) == (2, "")
    assert "no run to go on with; train it on with --checkpoint" in err


def test_the_weights_of_the_lowest_estimate_are_kept_in_a_file_of_their_own(train, tmp_path):
    out, best = tmp_path / "run.safetensors", tmp_path / "best.safetensors"
    # It gets better while the learning rate is low, and then by far worse: no rounding can change where it was best.
    words = ["--steps", 12, "--batch", 2, "--eval-every", 2, "--lr", 1, "--warmup", 6, "--best", best]
    assert train(out, *words)[0] == 0
    whole, kept = open_checkpoint(out).history, open_checkpoint(best).history
    lowest = min(loss for _, loss in whole["validations"])
    assert kept["validations"][-1][1] == lowest < whole["validations"][-1][1]
    assert 0 < kept["steps"] == kept["validations"][-1][0] < whole["steps"] == 12
    assert not kept_state(best)


def test_a_run_gone_on_with_writes_over_the_best_only_where_it_is_better(train, tmp_path):
    out, best = tmp_path / "run.safetensors", tmp_path / "best.safetensors"
    words = ["--batch", 2, "--eval-every", 2, "--lr", 1, "--best", best]  # so fast that it only gets worse
    train(out, "--steps", 4, *words)
    before, lowest = best.read_bytes(), open_checkpoint(best).history["validations"][-1][1]
    train(out, "--steps", 8, "--resume", "--best", best, small=False)
    later = [loss for step, loss in open_checkpoint(out).history["validations"] if step > 4]
    assert min(later) > lowest
    assert best.read_bytes() == before
    best.unlink()  # gone: then the lowest from here on is what can be kept
    train(out, "--steps", 12, "--resume", "--best", best, small=False)
    last = [loss for step, loss in open_checkpoint(out).history["validations"] if step > 8]
    assert open_checkpoint(best).history["validations"][-1][1] == min(last)


def test_the_best_weights_are_those_of_this_text(train, tmp_path):
    easy = tmp_path / "easy.txt"
    first, second, best = (tmp_path / f"{name}.safetensors" for name in "abc")
    easy.write_text("aaaaaaaaaa" * 60, newline="")
    train(first, "--steps", 30, "--batch", 4, "--lr", 0.1, text=easy)
    words = ["--steps", 2, "--batch", 2, "--checkpoint", first, "--best", best]
    assert train(second, *words, small=False)[0] == 0
    kept = open_checkpoint(best).history
    assert kept["validations"][-1][1] > min(loss for _, loss in open_checkpoint(first).history["validations"])
    assert [len(run["estimates"]) > 0 for run in kept["runs"]][-1]


def test_best_without_an_estimate_is_refused(train, tmp_path):
    out, best = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    code, said, err = train(out, "--steps", 2, "--validation", 0, "--best", best)
    assert (code, said) == (2, "")
    assert "give a --validation share above 0" in err
    code, said, err = train(out, "--steps", 2, "--validation", 0.001, "--best", best)
    assert (code, said) == (2, "")
    assert "hold no window for one; give a larger --validation share" in err
    code, said, err = train(out, "--steps", 2, "--best", tmp_path)
    assert (code, said) == (2, "")
    assert "--best takes the name of a file" in err
    assert not best.exists()


def test_the_best_weights_need_a_file_of_their_own(train, tmp_path):
    out = tmp_path / "run.safetensors"
    code, said, err = train(out, "--steps", 2, "--best", out)
    assert (code, said) == (2, "")
    assert "need a file each" in err
    assert not out.exists()


def test_an_opened_model_is_trained_on_with_its_own_past(train, tmp_path):
    first, second = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    train(first, "--steps", 4, "--batch", 2)
    code, _, err = train(second, "--steps", 3, "--batch", 2, "--checkpoint", first, small=False)
    assert code == 0
    assert "from step 4" in err
    history = open_checkpoint(second).history
    assert history["steps"] == 7
    assert [(run["first"], run["steps"]) for run in history["runs"]] == [(0, 4), (4, 3)]
    assert len(history["losses"]) == 7


def test_another_text_than_the_model_s_is_refused_by_name_or_gets_a_model_of_its_own(train, tmp_path):
    text = tmp_path / "essay.txt"
    text.write_text("déjà vu — " * 40, encoding="utf-8")
    out = tmp_path / "a.safetensors"
    code, said, err = train(out, "--steps", 2, text=text)
    assert (code, said) == (2, "")
    assert "can't read 'é' (first at 2), 'à' (first at 4), '—' (first at 9) of the characters in essay.txt" in err
    assert "--own-alphabet" in err
    assert not out.exists()
    assert train(out, "--steps", 2, "--own-alphabet", text=text)[0] == 0
    assert open_checkpoint(out).alphabet == tuple(sorted(set("déjà vu — ")))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--steps", 0), "--steps: steps must be a whole number from 1"),
        (("--steps", 5, "--batch", 0), "--batch: batch must be a whole number from 1 to 1,000,000, not 0"),
        (("--steps", 5, "--lr", -1), "--lr: learning rate must be a number from 0"),
        (("--steps", 5, "--lr", "nan"), "--lr must be a number, not 'nan'"),
        (("--steps", 5, "--decay", 2), "--decay: decay must be a number from 0 to 1"),
        (("--steps", 5, "--resume"), "to go on with; begin without --resume"),
        (("--steps", 5, "--preset", "step6"), "no preset 'step6'"),
    ],
)
def test_a03_wrong_settings_are_refused_before_anything_is_built(train, tmp_path, words, said):
    code, out, err = train(tmp_path / "a.safetensors", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_c07_c08_a_text_that_is_too_short_is_refused_with_what_is_needed(train, tmp_path):
    text = tmp_path / "short.txt"
    text.write_text("To be, o")
    code, _, err = train(tmp_path / "a.safetensors", "--steps", 2, "--validation", 0, text=text)
    assert code == 2
    assert "needs at least T+1 = 9" in err
    text.write_text("")
    code, _, err = train(tmp_path / "a.safetensors", "--steps", 2, text=text)
    assert code == 2
    assert "the file is empty" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--batch", 3), "was trained with --batch 2, not 3"),
        (("--set", "width=16"), "has width=8, not 16"),
        (("--model-seed", 4), "has the seed 1337, not 4"),
        (("--checkpoint", "x.safetensors"), "leave --checkpoint and --own-alphabet away"),
    ],
)
def test_a_run_is_not_gone_on_with_as_another_one(train, tmp_path, words, said):
    out = tmp_path / "a.safetensors"
    train(out, "--steps", 3, "--batch", 2)
    before = out.read_bytes()
    same = SMALL if words[0] == "--set" else []
    code, _, err = train(out, "--steps", 6, "--resume", *same, *words, small=False)
    assert code == 2
    assert said in err
    assert out.read_bytes() == before


def test_a_run_is_not_gone_on_with_on_another_text(train, tmp_path):
    out, other = tmp_path / "a.safetensors", tmp_path / "other.txt"
    train(out, "--steps", 3, "--batch", 2)
    other.write_text(TEXT + "!")
    code, _, err = train(out, "--steps", 6, "--resume", small=False, text=other)
    assert code == 2
    assert "was trained on another text" in err


def test_f19_a_loss_that_is_not_finite_ends_with_1_and_keeps_the_steps_before(train, tmp_path):
    out = tmp_path / "a.safetensors"
    code, said, err = train(out, "--steps", 200, "--batch", 2, "--lr", "1e6", "--clip", 0)
    assert (code, said) == (1, "")
    found = re.search(r"became \w+ at step (\d+); lower the learning rate 1e\+06; the steps before it are in", err)
    assert open_checkpoint(out).history["steps"] == int(found[1])


def test_a_crash_while_writing_leaves_the_old_file(train, tmp_path, monkeypatch):
    out = tmp_path / "a.safetensors"
    out.write_bytes(b"what was there before")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    code, _, err = train(out, "--steps", 2, "--batch", 2)
    assert code == 2
    assert "No space left on device" in err
    assert out.read_bytes() == b"what was there before"
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".part")] == []


def test_the_file_is_written_now_and_then(corpus, tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(training_command._Work, "_save", lambda self, *, whole=True: saved.append(whole))
    ticks = iter(range(0, 10**9, 20))
    parser = model_parser("train")
    add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(
        [*SMALL, "--corpus", str(corpus), "--out", str(tmp_path / "a"), "--steps", "4", "--batch", "2"]
    )
    training_command.train(args, io.StringIO(), lambda: float(next(ticks)))
    assert len(saved) >= 2


# --- the meter -----------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_one_line_is_written_over_four_times_a_second_at_most():
    stream, now = Terminal(), [0.0]
    meter = Meter(stream, lambda: now[0])
    for step in range(100):
        now[0] = step / 100
        meter.show(step, 100, "loss 1.0")
    assert stream.getvalue().count("\r") == 4
    assert "\n" not in stream.getvalue()
    meter.say("done")
    assert stream.getvalue().endswith("loss 1.0\ndone\n")


def test_elsewhere_marks_are_lines_and_one_now_and_then_and_a_missing_stderr_is_silence():
    stream, now = io.StringIO(), [0.0]
    meter = Meter(stream, lambda: now[0])
    meter.show(1, 10, "loss 2.0")
    meter.show(5, 10, "loss 1.0", mark=True)
    assert stream.getvalue() == "step 5 / 10  loss 1.0\n"
    for second in range(25):
        now[0] = float(second)
        meter.show(second, 25, "loss 1.0")
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == ["5", "10", "20"]
    Meter(None).say("nobody hears")


def test_a_time_is_told_in_the_units_that_it_needs():
    assert [span(each) for each in (-1, 0.2, 59.4, 60, 200, 3599, 7300)] == [
        "0 s", "0 s", "59 s", "1 min 0 s", "3 min 20 s", "59 min 59 s", "2 h 1 min",
    ]  # fmt: skip
