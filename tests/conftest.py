"""What every test needs: no display, no user's settings, and the shared folder only where it is there."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory, monkeypatch):
    """Settings and logs of a test go to a folder of its own."""
    monkeypatch.setenv("GPT_VIZ_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def run(capsys):
    """Runs the words of a command line in this process: exit code, stdout, stderr."""
    from gpt_viz.cli import main

    def run(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def calls_in():
    """How many functions some work calls: what it costs, counted, so that no test fails on a clock."""

    def count(work):
        calls = 0

        def seen(frame, event, argument):
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(seen)
        try:
            work()
        finally:
            sys.setprofile(before)
        return calls

    return count


@pytest.fixture
def tiny():
    """The configuration that the cases call TINY: 4,020 parameters."""
    from gpt_viz.config import GPTConfig

    return GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)


@pytest.fixture
def shared():
    """The folder with the notebooks' classes; a test that needs it is skipped where it is not there."""
    if not SHARED.is_dir():
        pytest.skip("the reference folder is not here")
    return SHARED
