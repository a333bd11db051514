"""What the program remembers from one start to the next, and where. Knows no torch and no Qt.

The file is written by hand sometimes, by other versions, and by a machine that loses power: each value is judged for
itself on load, and one that will not do is left at its default, with one line in the log.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from gpt_viz import resources
from gpt_viz.config import CHOICES, FIELD_TYPES, GPTConfig, check_seed

THEMES = ("system", "light", "dark", "contrast")
POINTS = (7.0, 28.0)
LONGEST_TEXT = 100_000

Control = bool | int | float | str

log = logging.getLogger(__name__)


def config_dir() -> Path:
    """The folder of the settings; the environment's GPT_VIZ_HOME is taken instead of it and of every other folder."""
    home = os.environ.get("GPT_VIZ_HOME")
    return Path(home) if home else Path(platformdirs.user_config_dir("gpt-viz", appauthor=False))


def settings_file() -> Path:
    """The settings, as JSON."""
    return config_dir() / "settings.json"


def log_file() -> Path:
    """The newest of the log files."""
    home = os.environ.get("GPT_VIZ_HOME")
    return (Path(home) if home else Path(platformdirs.user_log_dir("gpt-viz", appauthor=False))) / "gpt-viz.log"


def texts_dir() -> Path:
    """The folder of the texts that were got from the web."""
    home = os.environ.get("GPT_VIZ_HOME")
    return (Path(home) if home else Path(platformdirs.user_data_dir("gpt-viz", appauthor=False))) / "texts"


def trainings_dir() -> Path:
    """The folder where training is kept that was saved nowhere else."""
    home = os.environ.get("GPT_VIZ_HOME")
    return (Path(home) if home else Path(platformdirs.user_data_dir("gpt-viz", appauthor=False))) / "trainings"


@dataclass(frozen=True, slots=True)
class Settings:
    """What is remembered. `geometry` and `layout` are the window's, in base64; `prompt` None is the built-in text.

    `alphabet` None means that the model runs on ids. `controls` are the values of the panels' own inputs by object
    name; whether a panel still takes one is found out when it is put back. `text` and `checkpoint` are the files that
    were open, "" where none was, with the encoding and the settings that they were opened with.
    """

    theme: str = "system"
    points: float = 10.0
    geometry: str = ""
    layout: str = ""
    config: GPTConfig = field(default_factory=GPTConfig)
    alphabet: tuple[str, ...] | None = field(default_factory=resources.alphabet)
    seed: int = 1337
    device: str = "auto"
    prompt: str | None = None
    layer: int = 0
    head: int = 0
    controls: dict[str, Control] = field(default_factory=dict)
    text: str = ""
    text_encoding: str = ""
    checkpoint: str = ""
    checkpoint_settings: tuple[str, ...] = ()


def load() -> Settings:
    """The settings of the last time, or the defaults for whatever is missing or will not do. Never raises."""
    path = settings_file()
    try:
        stored = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError, RecursionError) as error:
        log.warning("settings: %s can't be read (%s); the defaults are used", path, error)
        return Settings()
    if not isinstance(stored, dict):
        log.warning("settings: %s holds no settings; the defaults are used", path)
        return Settings()
    return _settled(_accepted(stored))


def save(settings: Settings) -> bool:
    """Write the settings whole or not at all; returns whether it could be done. Never raises."""
    path = settings_file()
    shown: dict[str, Any] = {each.name: getattr(settings, each.name) for each in fields(settings)}
    shown["config"] = asdict(settings.config)
    shown["alphabet"] = None if settings.alphabet is None else "".join(settings.alphabet)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_name(f".settings-{os.getpid()}.json")
        try:
            whole.write_text(json.dumps(shown, indent=1), encoding="ascii")
            os.replace(whole, path)
        except BaseException:
            whole.unlink(missing_ok=True)
            raise
    except OSError as error:
        log.warning("settings: %s can't be written (%s)", path, error)
        return False
    return True


def reset() -> None:
    """Forget everything. Never raises."""
    try:
        settings_file().unlink(missing_ok=True)
    except OSError as error:
        log.warning("settings: %s can't be removed (%s)", settings_file(), error)


# --- files that are opened by themselves --------------------------------------------------------------------------


def begin_opening(path: str) -> None:
    """Write down that a file is being opened which nobody has asked for today. Never raises."""
    try:
        _opening_file().parent.mkdir(parents=True, exist_ok=True)
        _opening_file().write_text(path, encoding="utf-8", errors="surrogatepass", newline="")
    except (OSError, ValueError) as error:
        log.warning("settings: %s can't be written (%s)", _opening_file(), error)


def end_opening() -> None:
    """Cross it out: the opening has come to an end. Never raises."""
    try:
        _opening_file().unlink(missing_ok=True)
    except OSError as error:
        log.warning("settings: %s can't be removed (%s)", _opening_file(), error)


def unfinished() -> str:
    """The file whose opening has never come to an end; "" where there is none. Never raises."""
    try:
        return _opening_file().read_bytes().decode("utf-8", errors="surrogatepass")
    except (OSError, ValueError):
        return ""


def _opening_file() -> Path:
    return config_dir() / "opening.txt"


# --- judging one value each ----------------------------------------------------------------------------------------


def _accepted(stored: dict[str, Any]) -> Settings:
    accepted: dict[str, Any] = {}
    for name, value in stored.items():
        if name not in _JUDGES:
            log.warning("settings: there is no setting %r; it is ignored", name)
            continue
        try:
            accepted[name] = _JUDGES[name](value)
        except (ValueError, TypeError) as error:
            log.warning("settings: %s = %.60r will not do (%s); its default is used", name, value, error)
    return Settings(**accepted)


def _settled(settings: Settings) -> Settings:
    """What has to fit each other: an alphabet its vocabulary, the chosen head its model."""
    config = settings.config
    if settings.alphabet is not None and len(settings.alphabet) != config.vocabulary:
        if config.vocabulary != GPTConfig().vocabulary:
            log.warning("settings: the alphabet is not that of a vocabulary of %d; ids are used", config.vocabulary)
        default = Settings().alphabet
        alphabet = default if default and len(default) == config.vocabulary else None
        settings = replace(settings, alphabet=alphabet)
    for name, count in (("layer", config.layers), ("head", config.heads)):
        if getattr(settings, name) >= max(count, 1):
            log.warning("settings: %s = %d is not in the model; 0 is used", name, getattr(settings, name))
            settings = replace(settings, layer=0, head=0)
    return settings


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError("it must be a text")
    return value


def _encoded(value: Any) -> str:
    try:
        base64.b64decode(_text(value), validate=True)
    except binascii.Error as error:
        raise ValueError("it is not base64") from error
    return str(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("it must be a whole number from 0 on")
    return value


def _theme(value: Any) -> str:
    if value not in THEMES:
        raise ValueError(f"choose {', '.join(THEMES)}")
    return str(value)


def _points(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not POINTS[0] <= value <= POINTS[1]:
        raise ValueError(f"it must be a number from {POINTS[0]:g} to {POINTS[1]:g}")
    return float(value)


def _config(value: Any) -> GPTConfig:
    if not isinstance(value, dict):
        raise ValueError("it must be a model's settings by name")
    unknown = [name for name in value if name not in FIELD_TYPES]
    if unknown:
        raise ValueError(f"a model has no {unknown[0]!r}")
    if any(name in CHOICES and not isinstance(each, str) for name, each in value.items()):
        raise ValueError(f"{' and '.join(CHOICES)} are names")
    return GPTConfig(**value)


def _alphabet(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    characters = tuple(value) if isinstance(value, str) else ()
    if not characters or len(set(characters)) != len(characters):
        raise ValueError("it must be a text in which each character stands once")
    return characters


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("it must be a list of texts")
    return tuple(map(_text, value))


def _prompt(value: Any) -> str | None:
    return None if value is None else _text(value)


def _controls(value: Any) -> dict[str, Control]:
    if not isinstance(value, dict):
        raise ValueError("it must be values by name")
    kept: dict[str, Control] = {}
    for name, each in value.items():
        if not isinstance(each, (bool, int, float, str)) or (isinstance(each, float) and not math.isfinite(each)):
            log.warning("settings: %s = %.60r will not do; its default is used", name, each)
        else:
            kept[name] = each
    return kept


_JUDGES: dict[str, Callable[[Any], Any]] = {
    "theme": _theme,
    "points": _points,
    "geometry": _encoded,
    "layout": _encoded,
    "config": _config,
    "alphabet": _alphabet,
    "seed": check_seed,
    "device": _text,
    "prompt": _prompt,
    "layer": _count,
    "head": _count,
    "controls": _controls,
    "text": _text,
    "text_encoding": _text,
    "checkpoint": _text,
    "checkpoint_settings": _texts,
}
