"""The options of `train`, and the engine and settings that they begin with. Knows no Qt and no progress.

Torch is imported only where a model is made or opened.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpt_viz import arguments
from gpt_viz.arguments import Parser, UsageError
from gpt_viz.chosen import Chosen, chosen
from gpt_viz.config import ConfigError
from gpt_viz.protocol import CURRENT, OpenCheckpoint
from gpt_viz.schedule import TrainingSettings

if TYPE_CHECKING:
    from gpt_viz.engine.engine import Engine

# The options by the settings that they give.
_OPTIONS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "steps": ("--steps", arguments.whole, "how many steps the run has in all"),
    "batch": ("--batch", arguments.whole, "windows in a step"),
    "rate": ("--lr", arguments.number, "the learning rate at its highest"),
    "warmup": ("--warmup", arguments.whole, "steps in which the learning rate rises to it"),
    "decay": (
        "--decay",
        arguments.number,
        "what it comes down to along half a cosine, as a share of it; 1 is constant",
    ),
    "weight_decay": ("--weight-decay", arguments.number, "AdamW's weight decay, on matrices"),
    "validation": ("--validation", arguments.number, "the share at the text's end that is never trained on"),
    "eval_every": ("--eval-every", arguments.whole, "steps between two estimates on that part"),
    "clip": ("--clip", arguments.number, "the largest norm of the gradient; 0 is off"),
    "seed": ("--seed", arguments.seed, "of the batches and the dropout"),
}


def add_arguments(parser: Parser) -> None:
    """Give the parser the options of `train`, beside those that choose a model."""
    group = parser.add_argument_group("training")
    group.add_argument("--corpus", metavar="F", required=True, help="the text file to train on")
    arguments.add_encoding(group)
    group.add_argument("--out", metavar="F.safetensors", required=True, help="the checkpoint to write")
    usual = TrainingSettings()
    for name, (option, kind, what) in _OPTIONS.items():
        given = "" if name == "steps" else f"; {getattr(usual, name):g} if not given"
        group.add_argument(
            option, dest=name, metavar="N" if kind is not arguments.number else "X", type=kind,
            required=name == "steps", help=what + given,
        )  # fmt: skip
    group.add_argument("--resume", action="store_true", help="go on with the run in the file --out, where it stands")
    group.add_argument(
        "--own-alphabet", action="store_true", help="make a model for the characters of the text, whatever it holds"
    )
    group.add_argument(
        "--best", metavar="F.safetensors", help="write the weights of the lowest estimate so far to this file as well"
    )
    group.add_argument(
        "--compact", action="store_true", help="leave out of the finished file what --resume needs: it takes a third"
    )


@dataclass(frozen=True, slots=True)
class Start:
    """What a run begins with; `sha256` is that of the text that it must go on with, None where any will do.

    `complete` is a run that has no steps left.
    """

    engine: Engine
    settings: TrainingSettings
    sha256: str | None = None
    complete: bool = False


def start(args: argparse.Namespace) -> Start:
    """A new model, an opened one, or the one in the file to go on with. Raises ValueErrors that say what to change."""
    settings = _settings(args, None)
    arguments.check_model(args)
    return _resumed(args, Path(args.out)) if args.resume else Start(_begun(args), settings)


def _settings(args: argparse.Namespace, before: TrainingSettings | None) -> TrainingSettings:
    """The settings that the options give; what is not given is as it was before, or as usual. Raises ConfigError."""
    given = {name: getattr(args, name) for name in _OPTIONS if getattr(args, name) is not None}
    try:
        return replace(before or TrainingSettings(), **given)
    except ConfigError as error:
        option = _OPTIONS[error.field][0]
        raise ConfigError(error.field, f"{option}: {error}") from None


def _begun(args: argparse.Namespace) -> Engine:
    """An engine with the model that is to be trained."""
    choice = chosen(args)
    if args.own_alphabet:
        choice = _with_alphabet(choice, args)
    choice.tell()
    return choice.engine()


def _with_alphabet(choice: Chosen, args: argparse.Namespace) -> Chosen:
    if choice.opener is not None:
        raise UsageError("--own-alphabet makes a new model, and a checkpoint has its own; leave one of them away")
    from gpt_viz.engine.corpus import read

    alphabet = read(args.corpus, args.encoding).alphabet
    return replace(choice, config=replace(choice.config, vocabulary=len(alphabet)), alphabet=alphabet, preset_name="")


def _resumed(args: argparse.Namespace, out: Path) -> Start:
    """The model in the file, and its run. Raises UsageError where there is nothing to go on with."""
    if not out.is_file():
        raise UsageError(f"there is no file {out} to go on with; begin without --resume")
    from gpt_viz.engine.engine import Engine

    engine = Engine()
    command = OpenCheckpoint(job=1, path=str(out), device=args.device or "auto")
    for _ in engine.run(command):
        pass
    held = engine.model(CURRENT)
    rest = None if held.course is None else held.course.rest
    if rest is None:
        raise UsageError(f"{out} holds a model, but no run to go on with; train it on with --checkpoint {out}")
    settings = _settings(args, rest.settings)
    for each in fields(TrainingSettings):
        was, wanted = getattr(rest.settings, each.name), getattr(settings, each.name)
        if was != wanted and each.name != "steps":
            option = _OPTIONS[each.name][0]
            raise UsageError(
                f"{out} was trained with {option} {was}, not {wanted}; leave {option} away to go on with it"
            )
    _check_model(args, engine, out)
    return Start(engine, settings, rest.sha256, complete=rest.made >= settings.steps)


def _check_model(args: argparse.Namespace, engine: Engine, out: Path) -> None:
    """Raise UsageError where the options ask for another model than the file's."""
    if args.checkpoint is not None or args.own_alphabet:
        raise UsageError(f"--resume goes on with the model in {out}; leave --checkpoint and --own-alphabet away")
    info = engine.model(CURRENT).info
    if args.preset is not None or args.set:
        wanted = arguments.model_choice(args).config
        for each in fields(wanted):
            was, now = getattr(info.config, each.name), getattr(wanted, each.name)
            if was != now:
                raise UsageError(
                    f"the model in {out} has {each.name}={was}, not {now}; --resume needs no model options"
                )
    if args.model_seed is not None and args.model_seed != info.seed:
        raise UsageError(f"the model in {out} has the seed {info.seed}, not {args.model_seed}")
