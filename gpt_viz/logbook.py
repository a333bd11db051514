"""The log file of the window: the newest and the one before it, neither too large. Knows neither torch nor Qt."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

LOG_BYTES = 1_000_000


def keep(path: Path) -> None:
    """Send the program's log to the file at `path` alone; where that can't be, to nowhere.

    A log that has grown large becomes the one before. (`logging.handlers` would also see to it while the program
    runs, which writes too little for that, and costs more to import than the whole of this start may take.)
    """
    logging.raiseExceptions = False  # a log that can't be written must not write to stderr instead
    root = logging.getLogger("gpt_viz")
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    handler: logging.Handler
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size > LOG_BYTES:
                os.replace(path, path.with_suffix(".old.log"))
        handler = logging.FileHandler(path, delay=True, encoding="utf-8", errors="backslashreplace")
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
