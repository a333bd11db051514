"""The command line: which word does what, what goes to stdout and stderr, and the exit code. Computes nothing itself.

Exit codes: 0 done; 1 the work could not be done; 2 wrong usage or bad input; 130 stopped by Ctrl+C. On an error stdout
stays empty and one line on stderr says why. Torch and Qt are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from gpt_viz import arguments
from gpt_viz.arguments import COMMANDS, PROGRAM, Parser, model_parser, one_line

DONE, FAILED, WRONG, STOPPED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with these words (the process's own if None) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = words[0] if words and words[0] in COMMANDS else ""
    speaker = f"{PROGRAM} {command}".strip()
    _as_utf8(sys.stdout)
    try:
        code = _COMMANDS[command](speaker, words[1:]) if command else _window(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse's way to end: help, version, a mistake
        return _ended(end)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        _silence()
        return FAILED
    except Exception as error:
        return _refused(speaker, error)


def _ended(end: SystemExit) -> int:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return FAILED
    if end.code is None or isinstance(end.code, int):
        return end.code or DONE
    print(one_line(str(end.code)), file=sys.stderr)
    return FAILED


def _refused(speaker: str, error: Exception) -> int:
    """Say in one line what went wrong; the traceback of what nobody expected goes to the log."""
    text = one_line(str(error)) or type(error).__name__
    ours = type(error).__module__.split(".")[0] == __name__.split(".")[0]
    if ours and isinstance(error, ValueError):
        code = WRONG
    elif isinstance(error, ImportError):
        code, text = WRONG, f"a library can't be loaded: {text}; install {PROGRAM} again, see README.md"
    elif isinstance(error, OSError):
        code, text = FAILED, f"{one_line(error.strerror or text)}{f': {error.filename}' if error.filename else ''}"
    elif ours:
        code = FAILED
    elif isinstance(error, MemoryError) or re.search("can't allocate memory|out of memory", text):
        code, text = FAILED, "there is not enough memory for this; choose a smaller model or a shorter text"
    else:
        code, text = FAILED, f"unexpected {type(error).__name__}: {text[:300]}{_logged(error)}"
    print(f"{speaker}: {text}", file=sys.stderr)
    return code


def _logged(error: Exception) -> str:
    """Where the traceback was written to, if it could be."""
    try:
        from gpt_viz.settings import log_file

        path = log_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(traceback.format_exception(error))
    except Exception:
        return ""
    return f" (details in {path})"


def _as_utf8(stream: TextIO | None) -> None:
    """Make the stream take every character, whatever the locale, and keep line ends as they are."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _silence() -> None:
    """Nobody reads stdout any more: what is still in its buffer goes nowhere, without a word at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str) -> int:
    if sys.stdout is not None:
        sys.stdout.write(text)
    return DONE


# --- the commands --------------------------------------------------------------------------------------------------


def _window(words: list[str]) -> int:
    # Help, version and mistakes are answered before Qt is looked for.
    if words:
        args = arguments.window_parser().parse_args(words)
        arguments.check_file(args)
        arguments.check_model(args)
    from gpt_viz.app import run

    return run(words)


def _params(speaker: str, words: list[str]) -> int:
    parser = model_parser(speaker, description="Where the parameters are, by formula and counted in the module.")
    parser.add_argument("--tensors", action="store_true", help="list every tensor too")
    _add_json(parser)
    args = parser.parse_args(words)
    from gpt_viz.commands import params

    return _write(params(args))


def _shapes(speaker: str, words: list[str]) -> int:
    parser = model_parser(speaker, description="One forward pass, step by step, with the shape of each result.")
    parser.add_argument("--text", metavar="T", type=arguments.as_it_stands, help="the text that the model reads")
    _add_json(parser)
    args = parser.parse_args(words)
    from gpt_viz.commands import shapes

    return _write(shapes(args))


def _check(speaker: str, words: list[str]) -> int:
    parser = model_parser(speaker, description="Try what must be true of every model; 1 where a check fails.")
    parser.add_argument("--corpus", metavar="F", help="the text file that it reads; the built-in passage if not given")
    arguments.add_encoding(parser)
    _add_json(parser)
    args = parser.parse_args(words)
    from gpt_viz.check_command import check

    text, passed = check(args)
    _write(text)
    return DONE if passed else FAILED


def _train(speaker: str, words: list[str]) -> int:
    from gpt_viz.training_command import train
    from gpt_viz.training_options import add_arguments

    parser = model_parser(speaker, description="Train a model on a text and write a checkpoint; progress on stderr.")
    add_arguments(parser)
    _add_json(parser)
    text, code = train(parser.parse_args(words))
    _write(text)
    return code


def _sample(speaker: str, words: list[str]) -> int:
    parser = model_parser(speaker, description="Continue a text. Prints prompt and continuation, and nothing else.")
    parser.add_argument(
        "--prompt", metavar="P", required=True, type=arguments.as_it_stands, help="the text to continue, literally"
    )
    parser.add_argument("--tokens", metavar="N", required=True, type=arguments.count, help="how many to draw")
    parser.add_argument(
        "--temperature", metavar="X", type=arguments.temperature, default=1.0, help="0 is greedy; 1 if not given"
    )
    parser.add_argument(
        "--top-k", metavar="K", type=arguments.count, default=0, help="draw from the K likeliest; 0, off, if not given"
    )
    parser.add_argument(
        "--top-p", metavar="P", type=arguments.share, default=1.0,
        help="draw from the likeliest that reach P together; 1, off, if not given",
    )  # fmt: skip
    parser.add_argument("--seed", metavar="S", type=arguments.seed, default=0, help="of the draws; 0 if not given")
    _add_json(parser)
    args = parser.parse_args(words)
    from gpt_viz.commands import sample

    return _write(sample(args))


def _capture(speaker: str, words: list[str]) -> int:
    parser = model_parser(speaker, description="Write what named places of one forward pass hold to an .npz file.")
    parser.add_argument(
        "--text", metavar="T", required=True, type=arguments.as_it_stands, help="the text that the model reads"
    )
    parser.add_argument(
        "--taps", metavar="GLOB", required=True, nargs="+", action="extend",
        help="places by name or pattern, such as 'blocks.*.attn.heads.*.A' (see shapes)",
    )  # fmt: skip
    parser.add_argument("--out", metavar="F.npz", required=True, help="the file to write")
    args = parser.parse_args(words)
    from gpt_viz.commands import capture

    return _write(capture(args))


def _shoot(speaker: str, words: list[str]) -> int:
    parser = model_parser(speaker, description="Pictures of the window and of each panel; no display is needed.")
    parser.add_argument("directory", metavar="DIR", help="the folder to write them to")
    parser.add_argument(
        "--theme", metavar="NAME", type=arguments.themes, action="extend", default=None,
        help="light, dark or contrast; more with commas or repeated; light if not given",
    )  # fmt: skip
    parser.add_argument(
        "--size", metavar="WxH", type=arguments.size, default=(1600, 1000), help="of the window; 1600x1000 if not given"
    )
    args = parser.parse_args(words)
    arguments.check_model(args)
    from gpt_viz.shoot import shoot

    themes = list(dict.fromkeys(args.theme or ["light"]))
    return shoot(Path(args.directory), arguments.model_words(args), themes, args.size)


def _bench(speaker: str, words: list[str]) -> int:
    from gpt_viz.bench import SECTIONS, bench

    parser = Parser(
        prog=speaker,
        description="Speed, each figure beside its yardstick, measured in one run of some two minutes. Where "
        "there is a display it opens windows; what else is at work meanwhile is measured with it.",
    )
    parser.add_argument("--only", metavar="NAME", action="append", choices=SECTIONS, help=", ".join(SECTIONS))
    _add_json(parser)
    args = parser.parse_args(words)
    return bench(args.json, args.only or ())


def _info(speaker: str, words: list[str]) -> int:
    Parser(prog=speaker, description="Versions, devices, and where settings and logs are.").parse_args(words)
    from gpt_viz.information import information

    return _write(information())


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


_COMMANDS: dict[str, Callable[[str, list[str]], int]] = {
    "params": _params,
    "shapes": _shapes,
    "check": _check,
    "train": _train,
    "sample": _sample,
    "capture": _capture,
    "shoot": _shoot,
    "bench": _bench,
    "info": _info,
}
