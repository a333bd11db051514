"""Whether a window can be opened here, asked in a way that can't abort: Qt itself ends the process when it can't.

Knows neither torch nor the program; Qt is only tried, after the libraries that it needs.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

# What Debian and Ubuntu call the packages of the libraries that Qt needs and the wheel does not bring.
QT_LIBRARIES: dict[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libz.so.1": "zlib1g",
}
X11_LIBRARIES: dict[str, str] = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-util.so.1": "libxcb-util1",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
}
WAYLAND_LIBRARIES: dict[str, str] = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
PACKAGES = QT_LIBRARIES | X11_LIBRARIES | WAYLAND_LIBRARIES
DISPLAYS = {"xcb": "DISPLAY", "wayland": "WAYLAND_DISPLAY"}  # Qt's platforms, and what says that there is one
_LIBRARY = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")

Load = Callable[[str], object]


def obstacle(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str:
    """Why no window can be opened, and what to do, in one line; "" where one can."""
    return choice(environment, platform)[1]


def choice(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> tuple[str, str]:
    """Which of Qt's platforms to name to it ("": Qt's own choice will do), and why no window can be opened, or ""."""
    linux = platform.startswith("linux")
    # wayland-egl and the like are of Wayland's plugin; what follows a colon is for the plugin itself.
    chosen = [re.split("[:-]", each)[0] for each in environment.get("QT_QPA_PLATFORM", "").split(";") if each]
    shown = [name for name, variable in DISPLAYS.items() if environment.get(variable)]
    if linux and not chosen and not shown:
        return "", (
            "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set; "
            "start it on a desktop, or under xvfb-run (apt install xvfb); gpt-viz shoot needs no display"
        )
    problem = qt_missing(importlib.import_module) or _unknown(chosen)
    if problem or not linux or not set(chosen) <= set(DISPLAYS):
        return "", problem  # offscreen, vnc and the like need none of what follows
    problems = {name: _problem(name, environment) for name in chosen or shown}
    good = [name for name, each in problems.items() if not each]
    if not good:
        return "", next(iter(problems.values()))
    # Qt ends the process where its first choice fails, without a try at the second.
    return "" if len(good) == len(problems) else good[0], ""


def _unknown(chosen: list[str]) -> str:
    """Why Qt has none of the platforms that were asked for, or ""."""
    from PySide6.QtCore import QLibraryInfo

    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms").glob("*q*.*")
    known = {each.stem.removeprefix("lib").removeprefix("q") for each in plugins}
    if not chosen or not known or known & set(chosen):
        return ""
    asked = ";".join(chosen)
    return f"Qt has no platform {asked!r}: unset QT_QPA_PLATFORM, or set it to one of {', '.join(sorted(known))}"


def _problem(name: str, environment: Mapping[str, str]) -> str:
    lacks = plugin_lacks(_plugin(name), ctypes.CDLL)
    if lacks:
        return lacks
    return _x11_silent(environment) if name == "xcb" else _wayland_silent(environment)


def qt_missing(load: Load) -> str:
    """Why Qt's own modules can't be imported; "" where they can."""
    for module in ("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets"):
        try:
            load(module)
        except ImportError as error:
            return explained(error)
    return ""


def explained(error: ImportError) -> str:
    """What an import error of Qt means, in one line."""
    found = _LIBRARY.search(str(error))
    if found is not None:
        # The loader stops at the first one; the others that are missing would each take another try.
        absent = missing(QT_LIBRARIES, ctypes.CDLL)
        return lacking({found[1], *absent})
    if isinstance(error, ModuleNotFoundError):
        return f"Qt for Python is not installed ({error}): python -m pip install PySide6-Essentials"
    why = " ".join(str(error).split())
    return f"Qt can't be loaded: {why}; reinstall it: python -m pip install --force-reinstall PySide6-Essentials"


def plugin_lacks(plugin: Path | None, load: Load) -> str:
    """Which libraries a plugin of Qt for a kind of display lacks; "" where it has them all."""
    if plugin is None:
        return ""
    try:
        load(str(plugin))
    except OSError as error:
        found = _LIBRARY.search(str(error))
        if found is None:
            return f"Qt's {plugin.name} can't be loaded: {' '.join(str(error).split())}"
        libraries = WAYLAND_LIBRARIES if "wayland" in plugin.name else X11_LIBRARIES
        return lacking({found[1], *missing(libraries, load)})
    return ""


def missing(libraries: Iterable[str], load: Load) -> list[str]:
    """Those of the libraries that can't be loaded."""
    absent = []
    for name in libraries:
        try:
            load(name)
        except OSError:
            absent.append(name)
    return absent


def lacking(libraries: set[str]) -> str:
    """The sentence that names libraries and packages."""
    names = sorted(libraries)
    packages = sorted({PACKAGES[name] for name in names if name in PACKAGES})
    said = f"Qt lacks {', '.join(names)}"
    if not packages:
        return f"{said}: install the system package that has it"
    return f"{said}: apt install {' '.join(packages)}"


def _plugin(name: str) -> Path | None:
    from PySide6.QtCore import QLibraryInfo

    path = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms" / f"libq{name}.so"
    return path if path.is_file() else None


def _wayland_silent(environment: Mapping[str, str]) -> str:
    """Why Wayland's server does not answer, or ""."""
    import socket

    display = environment.get("WAYLAND_DISPLAY", "wayland-0")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
            tried.settimeout(2)
            tried.connect(str(Path(environment.get("XDG_RUNTIME_DIR", ""), display)))
    except OSError as error:
        return f"the Wayland display {display!r} does not answer ({error}); set WAYLAND_DISPLAY to one that does"
    return ""


def _x11_silent(environment: Mapping[str, str]) -> str:
    """Why the X server does not answer, asked of libxcb, or ""."""
    display = environment.get("DISPLAY", "")
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode() or None, None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if not failed:
        return ""
    return f"the display {display!r} does not answer; set DISPLAY to one that does, or use xvfb-run (apt install xvfb)"
