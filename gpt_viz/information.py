"""What `info` says: versions, devices, threads, places. Knows no view, and works where torch or Qt is missing."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable

import gpt_viz
from gpt_viz import resources
from gpt_viz.tabular import aligned


def information() -> str:
    """One plain line for each fact, for a person or a bug report."""
    rows = [
        ("gpt-viz", gpt_viz.__version__),
        ("python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
        ("torch", _tried(_torch)),
        ("numpy", _tried(lambda: _version("numpy"))),
        ("Qt", _tried(_qt)),
        *_devices(),
        ("settings", _tried(lambda: _place("config_dir"))),
        ("texts", _tried(lambda: _place("texts_dir"))),
        ("log", _tried(lambda: _place("log_file"))),
        ("resources", str(resources.ROOT)),
    ]
    return aligned(rows) + "\n"


def _tried(fact: Callable[[], str]) -> str:
    """The fact, or in a few words why there is none."""
    try:
        return fact()
    except ModuleNotFoundError as error:
        return f"not installed ({error.name})" if error.name else "not installed"
    except Exception as error:  # a library that is broken is what a report is about
        return f"can't be loaded: {' '.join(str(error).split()) or type(error).__name__}"


def _version(module: str) -> str:
    return str(importlib.import_module(module).__version__)


def _torch() -> str:
    torch = importlib.import_module("torch")
    return f"{torch.__version__}, {torch.get_num_threads()} threads"


def _qt() -> str:
    core, binding = importlib.import_module("PySide6.QtCore"), importlib.import_module("PySide6")
    importlib.import_module("PySide6.QtWidgets")  # needs the libraries that a bare system lacks
    return f"{core.qVersion()}, PySide6 {binding.__version__}"


def _place(name: str) -> str:
    return str(getattr(importlib.import_module("gpt_viz.settings"), name)())


def _devices() -> list[tuple[str, str]]:
    try:
        devices = importlib.import_module("gpt_viz.engine.devices").devices()
    except Exception as error:
        return [("devices", f"none without torch ({type(error).__name__})")]
    rows = []
    for device in devices:
        memory = "" if device.memory_bytes is None else f", {device.memory_bytes / 1e9:.1f} GB"
        state = f"can't be used: {device.reason}" if device.reason else f"can be used{memory}"
        rows.append((f"device {device.name}", f"{device.title}, {state}"))
    return rows
