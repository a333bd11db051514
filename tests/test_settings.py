"""What is remembered comes back; what will not do falls back to its default, value by value, with a line in the log."""

import json
import os
import sys
from dataclasses import replace

import pytest

from gpt_viz import settings
from gpt_viz.config import GPTConfig
from gpt_viz.settings import Settings


def write(**values):
    settings.settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings.settings_file().write_text(json.dumps(values), encoding="utf-8")


def test_the_first_start_has_the_notebooks_model_and_alphabet():
    found = settings.load()
    assert found == Settings()
    assert found.config == GPTConfig()
    assert len(found.alphabet) == 65
    assert found.prompt is None


def test_everything_that_was_saved_comes_back():
    kept = Settings(
        theme="dark", points=13.0, geometry="AAAA", layout="BBBB", config=GPTConfig(vocabulary=3, layers=2),
        alphabet=("\n", "é", "\U0001f600"), seed=7, device="cpu", prompt="é\n<b>", layer=1, head=3,
        controls={"sampling.temperature": 0.5, "sampling.greedy": True, "parameters.by": "by kind"},
    )  # fmt: skip
    assert settings.save(kept)
    assert settings.load() == kept


def test_a_home_in_the_environment_takes_every_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT_VIZ_HOME", str(tmp_path / "home"))
    assert settings.config_dir() == tmp_path / "home"
    assert settings.settings_file().parent == tmp_path / "home"
    assert settings.log_file().parent == tmp_path / "home"
    monkeypatch.delenv("GPT_VIZ_HOME")
    assert settings.config_dir().name == "gpt-viz"
    assert "gpt-viz" in str(settings.log_file())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"),
        ("theme", ["dark"]),
        ("points", "abc"),
        ("points", True),
        ("points", 900),
        ("points", float("nan")),
        ("geometry", "garbage!"),
        ("geometry", 3),
        ("layout", {"a": 1}),
        ("config", {"width": 12, "heads": 5}),
        ("config", {"layers": "many"}),
        ("config", {"flux": 1}),
        ("config", {"gelu": ["exact"]}),
        ("config", 5),
        ("alphabet", "aa"),
        ("alphabet", 65),
        ("alphabet", ""),
        ("seed", -1),
        ("seed", 2**63),
        ("seed", 1.5),
        ("device", None),
        ("prompt", 12),
        ("prompt", "x" * (settings.LONGEST_TEXT + 1)),
        ("layer", -1),
        ("layer", 99),
        ("head", True),
        ("controls", [1]),
    ],
)
def test_f10_a_bad_value_alone_falls_back_with_one_line_in_the_log(name, value, caplog):
    write(**{"theme": "dark", "prompt": "kept"} | {name: value})
    found = settings.load()
    assert getattr(found, name) == getattr(Settings(), name)
    assert (found.theme, found.prompt)[name == "theme"] in ("dark", "kept")
    assert len(caplog.records) == 1
    assert name in caplog.text
    assert "\n" not in caplog.records[0].getMessage()


def test_f10_unknown_keys_are_ignored_and_named(caplog):
    write(theme="dark", flux_capacitor=88)
    assert settings.load() == Settings(theme="dark")
    assert "flux_capacitor" in caplog.text


@pytest.mark.parametrize("text", ["", "{", '{"theme": "dark"', "[1, 2]", "null", "[" * 100_000, "\x00\x01"])
def test_f10_a_truncated_or_foreign_file_gives_the_defaults(text, caplog):
    settings.settings_file().write_text(text, encoding="utf-8")
    assert settings.load() == Settings()
    assert len(caplog.records) == 1


def test_f10_bytes_that_are_no_text_give_the_defaults(caplog):
    settings.settings_file().write_bytes(b"\xff\xfe\x80")
    assert settings.load() == Settings()
    assert len(caplog.records) == 1


def test_f10_an_alphabet_of_another_size_than_the_vocabulary_is_not_used(caplog):
    write(config={"vocabulary": 5}, alphabet="abc")
    assert settings.load().alphabet is None
    assert "alphabet" in caplog.text
    write(config={}, alphabet="abc")
    assert settings.load().alphabet == Settings().alphabet


def test_f10_a_head_that_the_model_lacks_is_the_first_one():
    write(config={"heads": 2, "layers": 3}, layer=2, head=1)
    assert (settings.load().layer, settings.load().head) == (2, 1)
    write(config={"heads": 2, "layers": 3}, layer=2, head=2)
    assert (settings.load().layer, settings.load().head) == (0, 0)
    write(config={"layers": 0}, layer=0, head=0)
    assert settings.load().config.layers == 0


def test_f10_controls_that_are_no_plain_values_are_left_out(caplog):
    write(controls={"a": 1, "b": [1], "c": float("inf"), "d": "x", "e": None})
    assert settings.load().controls == {"a": 1, "d": "x"}
    assert len(caplog.records) == 3


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="this user may write everywhere")
def test_f10_a_read_only_folder_is_said_in_the_log_and_nowhere_else(tmp_path, monkeypatch, caplog, capsys):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("GPT_VIZ_HOME", str(tmp_path))
    assert not settings.save(Settings())
    assert len(caplog.records) == 1
    assert capsys.readouterr() == ("", "")


def test_f10_a_folder_that_is_a_file_is_said_in_the_log_and_nowhere_else(tmp_path, monkeypatch, caplog, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPT_VIZ_HOME", str(tmp_path / "file"))
    assert settings.load() == Settings()
    assert not settings.save(Settings())
    settings.reset()
    assert capsys.readouterr() == ("", "")


def test_a_failed_save_leaves_the_old_settings_whole(monkeypatch):
    settings.save(Settings(seed=3))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not settings.save(Settings(seed=4))
    assert settings.load().seed == 3
    assert [path.name for path in settings.config_dir().iterdir()] == ["settings.json"]


def test_a_reset_forgets_everything_twice():
    settings.save(replace(Settings(), seed=9))
    settings.reset()
    settings.reset()
    assert settings.load() == Settings()
