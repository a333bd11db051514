"""Pictures of the window and of every panel, of the size that was asked for, without a display."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from gpt_viz.ui.panel import find_panels

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--set=layers=2", "--set=heads=2", "--set=width=16", "--set=block_size=32"]


def shoot(home, directory, *words, themes=("light",), size=(1024, 768)):
    program = (
        "import sys; from pathlib import Path; from gpt_viz.shoot import shoot\n"
        f"sys.exit(shoot(Path({str(directory)!r}), {list(words)!r}, {list(themes)!r}, {size!r}))"
    )
    hidden = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=100, check=False,
        env=environment | {"GPT_VIZ_HOME": str(home), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def test_each_theme_has_a_folder_with_the_window_and_each_panel_and_settings_are_left_alone(tmp_path):
    done = shoot(tmp_path / "home", tmp_path / "out", *SMALL, themes=("light", "dark"), size=(800, 600))
    assert (done.returncode, done.stdout) == (0, "")
    for theme in ("light", "dark"):
        names = {path.name for path in (tmp_path / "out" / theme).iterdir()}
        assert names == {"window.png"} | {f"{kind.name}.png" for kind in find_panels()}
        for name in names:
            picture = QImage(str(tmp_path / "out" / theme / name))
            assert (picture.width(), picture.height()) == (800, 600), name
    pictures = [QImage(str(tmp_path / "out" / theme / "window.png")) for theme in ("light", "dark")]
    assert pictures[0] != pictures[1]
    assert not (tmp_path / "home" / "settings.json").exists()


@pytest.mark.parametrize("words", [["--preset=nothing"], ["--set=heads=3"]])
def test_what_can_not_be_shown_is_one_line_and_1(tmp_path, words):
    done = shoot(tmp_path, tmp_path / "out", *words)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if line.startswith("gpt-viz: ")] == done.stderr.splitlines()
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_that_can_not_be_made_is_one_line_and_1(tmp_path):
    (tmp_path / "file").write_text("")
    done = shoot(tmp_path, tmp_path / "file" / "out", *SMALL)
    assert done.returncode == 1
    assert "file" in done.stderr
