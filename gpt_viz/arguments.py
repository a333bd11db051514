"""The words of the command line: parsers, and the model that they choose. Knows no torch, no Qt and no engine."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import gpt_viz
from gpt_viz import resources
from gpt_viz.config import PRESETS, GPTConfig, check_seed, preset

PROGRAM = "gpt-viz"
DEFAULT_PRESET = "step5"
DEFAULT_MODEL_SEED = 1337
THEMES = ("light", "dark", "contrast")

COMMANDS: dict[str, str] = {
    "params": "where the parameters are: formulas, counts, percentages",
    "shapes": "one forward pass, step by step, with the shape of each result",
    "train": "train a model on a text and write a checkpoint",
    "check": "what must be true of every model, tried on this one",
    "sample": "continue a text",
    "capture": "write what named places of a forward pass hold to an .npz file",
    "shoot": "pictures of the window and of each panel, no display needed",
    "bench": "speed, each figure beside its yardstick",
    "info": "versions, devices, and where settings and logs are",
}


class UsageError(ValueError):
    """The command line asks for something that this program does not have."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that a command line asks for.

    `preset_name` is empty where settings changed the preset; `alphabet` None means that the model reads ids.
    """

    config: GPTConfig
    preset_name: str
    alphabet: tuple[str, ...] | None
    seed: int
    device: str


@dataclass(frozen=True, slots=True)
class CheckpointChoice:
    """The checkpoint that a command line asks for. `settings` say what the file does not: heads=4, alphabet=ABC."""

    path: str
    settings: tuple[str, ...]
    device: str


class Parser(argparse.ArgumentParser):
    """A parser that states a mistake in one line and takes the value of a text option as it stands, dashes and all."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse does, but `--text` and `--prompt` take the next word whatever it looks like."""
        words = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(list(self._kept(words)), namespace)

    def _kept(self, words: list[str]) -> Iterable[str]:
        # argparse takes a word that begins with a dash for an option, and drops "--" even as a value.
        literal = {name for action in self._actions if action.type is as_it_stands for name in action.option_strings}
        rest = iter(words)
        for word in rest:
            name, sign, value = word.partition("=")
            if word == "--":
                yield from (word, *rest)
            elif name not in literal:
                yield word
            elif sign:
                yield f"{name}=={value}"
            else:
                following = next(rest, None)
                yield name if following is None else f"{name}=={following}"

    def error(self, message: str) -> NoReturn:
        """Say it in one line on stderr and exit with 2."""
        message = re.sub(r"^argument ([^:]+): ", r"\1 ", message)
        self.exit(2, f"{self.prog}: {one_line(message)}\n")


def one_line(text: str) -> str:
    """The text with everything that would break a line, or that has no shape, written out.

    >>> one_line("a\\nb")
    'a\\\\nb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text.strip())


# --- values --------------------------------------------------------------------------------------------------------


def as_it_stands(value: str) -> str:
    """A text, character for character; see Parser."""
    text = value[1:]
    if any("\ud800" <= c <= "\udfff" for c in text):
        # The locale could not read the bytes (LC_ALL=C does that to every é): they are UTF-8 all the same.
        text = os.fsencode(text).decode("utf-8", "surrogateescape")
    return text


def _given(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def whole(text: str) -> int:
    """A whole number. Raises argparse.ArgumentTypeError."""
    if not re.fullmatch(r"[+-]?[0-9]{1,4000}", text.strip()):
        raise argparse.ArgumentTypeError(f"must be a whole number, not {_given(text)}")
    return int(text)


def count(text: str) -> int:
    """A whole number from 0 up. Raises argparse.ArgumentTypeError."""
    value = whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more, not {_given(text)}")
    return value


def seed(text: str) -> int:
    """A seed. Raises argparse.ArgumentTypeError."""
    try:
        return check_seed(whole(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"takes a seed, and {error}") from None


def number(text: str) -> float:
    """A finite number. Raises argparse.ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number, not {_given(text)}")
    return value


def temperature(text: str) -> float:
    """A temperature, 0 (greedy) or more. Raises argparse.ArgumentTypeError."""
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be 0 (greedy) or more, not {_given(text)}")
    return value


def share(text: str) -> float:
    """A share of the probability, above 0 and up to 1. Raises argparse.ArgumentTypeError."""
    value = number(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1 (off), not {_given(text)}")
    return value


def themes(text: str) -> list[str]:
    """Themes, separated by commas. Raises argparse.ArgumentTypeError."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in THEMES:
            raise argparse.ArgumentTypeError(f"must be {' or '.join(THEMES)}, not {_given(name)}")
    return names


def size(text: str) -> tuple[int, int]:
    """A size in pixels, such as 1600x1000. Raises argparse.ArgumentTypeError."""
    found = re.fullmatch(r"([0-9]{2,5})[x×]([0-9]{2,5})", text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT in pixels, such as 1600x1000, not {_given(text)}")
    return int(found[1]), int(found[2])


# --- the model -----------------------------------------------------------------------------------------------------


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options that choose a model. All default to None or to nothing: see `model_given`."""
    group = parser.add_argument_group("model")
    group.add_argument("--preset", metavar="NAME", help=f"{', '.join(PRESETS)}; {DEFAULT_PRESET} if not given")
    group.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[],
        help="change one setting of the preset, such as layers=2; can be repeated",
    )  # fmt: skip
    group.add_argument("--device", metavar="NAME", help="auto, cpu, cuda, cuda:N or mps; auto if not given")
    group.add_argument(
        "--model-seed",
        metavar="N",
        type=seed,
        help=f"what the weights are drawn from; {DEFAULT_MODEL_SEED} if not given",
    )
    group.add_argument(
        "--checkpoint", metavar="FILE_OR_FOLDER",
        help="open this instead of a preset; what it does not say is said with --set: heads=4, gelu=tanh, alphabet=ABC",
    )  # fmt: skip


def model_parser(prog: str = PROGRAM, **options: Any) -> Parser:
    """A parser that knows the options that choose a model, and no other."""
    parser = Parser(prog=prog, **options)
    add_model_arguments(parser)
    return parser


def model_given(args: argparse.Namespace) -> bool:
    """Whether the command line says anything about the model."""
    return bool(args.set) or any(
        value is not None for value in (args.preset, args.device, args.model_seed, args.checkpoint)
    )


def model_choice(args: argparse.Namespace) -> ModelChoice:
    """The model that the options ask for. Raises ConfigError for sizes that can't be, UsageError for a checkpoint.

    A checkpoint says itself what it is, once it is open: see `checkpoint_choice`.
    """
    if args.checkpoint is not None:
        raise UsageError("this command opens no checkpoints, only presets (--preset) and changes to them (--set)")
    chosen = preset(DEFAULT_PRESET if args.preset is None else args.preset)
    config = chosen.config.with_settings(args.set)
    alphabet = resources.alphabet()
    return ModelChoice(
        config=config,
        preset_name=chosen.name if config == chosen.config else "",
        alphabet=alphabet if config.vocabulary == len(alphabet) else None,
        seed=DEFAULT_MODEL_SEED if args.model_seed is None else args.model_seed,
        device="auto" if args.device is None else args.device,
    )


def checkpoint_choice(args: argparse.Namespace) -> CheckpointChoice | None:
    """The checkpoint that the options ask for, if any. Raises UsageError where they ask for something else as well."""
    if args.checkpoint is None:
        return None
    if args.preset is not None:
        raise UsageError("--preset and --checkpoint both say which model; give one of them")
    if args.model_seed is not None:
        raise UsageError("--model-seed draws new weights, and a checkpoint has its own; leave one of them away")
    settings = tuple(as_it_stands(f"={setting}") for setting in args.set)
    return CheckpointChoice(args.checkpoint, settings, "auto" if args.device is None else args.device)


def check_model(args: argparse.Namespace) -> None:
    """Raise what `checkpoint_choice` and `model_choice` raise, before anything is loaded for the model."""
    if checkpoint_choice(args) is None:
        model_choice(args)


def check_file(args: argparse.Namespace) -> None:
    """Raise UsageError where the window's FILE is not there: most likely a command was meant."""
    if args.file is None or os.path.exists(args.file):
        return
    name = one_line(args.file)
    if re.fullmatch(r"[\w-]+", name):
        raise UsageError(f"{name} is neither a command nor a file; {PROGRAM} --help names the commands")
    raise UsageError(f"there is no file {name}")


def model_words(args: argparse.Namespace) -> list[str]:
    """The options that choose a model, as words for another command line."""
    words = [] if args.preset is None else [f"--preset={args.preset}"]
    words += [] if args.checkpoint is None else [f"--checkpoint={args.checkpoint}"]
    words += [f"--set={setting}" for setting in args.set]
    words += [] if args.device is None else [f"--device={args.device}"]
    words += [] if args.model_seed is None else [f"--model-seed={args.model_seed}"]
    return words


# --- a text file ---------------------------------------------------------------------------------------------------


def add_encoding(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Give the parser an option for the encoding of its `--corpus`."""
    parser.add_argument(
        "--encoding", metavar="E", help="of the text file, such as cp1252; what its mark says, or UTF-8, if not given"
    )


# --- the window ----------------------------------------------------------------------------------------------------


def window_parser() -> Parser:
    """The parser of the window's own options; its help names the subcommands too."""
    commands = "\n".join(f"  {name:<9} {what}" for name, what in COMMANDS.items())
    parser = model_parser(
        usage=f"{PROGRAM} [MODEL] [--text T] [--theme NAME] [--panel NAME] [--present] [FILE]\n"
        f"       {PROGRAM} COMMAND ...",
        description="Opens the window: a GPT built, opened up and run, every number taken from the model itself.",
        epilog=f"commands, each with a --help of its own:\n{commands}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a text file to study")
    parser.add_argument("--text", metavar="T", type=as_it_stands, help="the text to study, taken literally")
    parser.add_argument("--theme", choices=(*THEMES, "system"), help="the colours; system if not given")
    parser.add_argument("--panel", metavar="NAME", help="show this panel large")
    parser.add_argument("--present", action="store_true", help="start in presentation view")
    parser.add_argument("--reset-settings", action="store_true", help="forget layout, text and settings first")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {gpt_viz.__version__}")
    return parser
