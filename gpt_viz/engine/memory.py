"""How much memory this computer has left, by what its system says. Knows no torch and no model."""

from __future__ import annotations

import os
import platform
from pathlib import Path

_ROOT = Path("/")


def free_host_bytes(root: Path = _ROOT) -> int | None:
    """The bytes that a program can still take without pushing others out; None where the system does not say.

    On Linux what is available, or less where a control group (a container, a batch job) allows less; on Windows what
    is free; on macOS, which gives away what it can take back, all there is. `root` is where /proc and /sys are.
    """
    if platform.system() == "Windows":
        return _windows()
    if platform.system() == "Darwin":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    known = [amount for amount in (_available(root), *_groups(root)) if amount is not None]
    return max(min(known), 0) if known else None


def _available(root: Path) -> int | None:
    kilobytes = _table(root / "proc/meminfo").get("MemAvailable:")
    return None if kilobytes is None else kilobytes * 1024


def _groups(root: Path) -> list[int | None]:
    """What each control group around this process still allows, in both versions of the kernel's interface."""
    groups = root / "sys/fs/cgroup"
    own: dict[str, str] = {}
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        own.update(dict.fromkeys(controllers.split(","), path))
    allowed = [
        _allowed(folder, "memory.max", "memory.current", "inactive_file")
        for folder in _upwards(groups, own.get("", ""))
    ]
    allowed += [
        _allowed(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        for folder in _upwards(groups / "memory", own.get("memory", ""))
    ]
    return allowed


def _upwards(top: Path, path: str) -> list[Path]:
    """The folders from `path` below `top` up to `top` itself: a limit on any of them holds."""
    folder = top / path.strip("/")
    return [each for each in (folder, *folder.parents) if each == top or top in each.parents]


def _allowed(folder: Path, limit: str, used: str, reclaimable: str) -> int | None:
    limits, uses = _lines(folder / limit), _lines(folder / used)
    if not limits or not uses or not limits[0].isdigit() or not uses[0].isdigit():  # "max": no limit
        return None
    return int(limits[0]) - int(uses[0]) + _table(folder / "memory.stat").get(reclaimable, 0)


def _table(path: Path) -> dict[str, int]:
    """A file of lines such as `name 123 kB`."""
    words = [line.split() for line in _lines(path)]
    return {each[0]: int(each[1]) for each in words if len(each) > 1 and each[1].isdigit()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _windows() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "page", "free_page", "own", "free_own", "rest")),
        )

    status = Status(length=ctypes.sizeof(Status))
    found = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined, unused-ignore]
    return int(status.free) if found else None
