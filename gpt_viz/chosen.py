"""The model that a command line asks for: one that is still to be built, or one that was opened. Knows no Qt.

What was done to open a checkpoint goes to stderr once the command has succeeded, or into its JSON document.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from gpt_viz.arguments import ModelChoice, checkpoint_choice, model_choice, one_line
from gpt_viz.config import OWN_SIZES, PRESETS
from gpt_viz.protocol import CURRENT, Build, Built, CheckpointOpened, OpenCheckpoint

if TYPE_CHECKING:
    from gpt_viz.engine.engine import Engine
    from gpt_viz.engine.model import GPT
    from gpt_viz.engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Chosen(ModelChoice):
    """A model choice; where it came out of a checkpoint, `source` is the file and `opener` the engine that holds it."""

    source: str = ""
    report: tuple[tuple[str, str], ...] = ()
    opener: Engine | None = None

    @property
    def title(self) -> str:
        """What the model is called where it is spoken of."""
        return self.source or (PRESETS[self.preset_name].title if self.preset_name else OWN_SIZES)

    def engine(self) -> Engine:
        """An engine that holds the model. Raises DeviceError and TooLarge."""
        if self.opener is not None:
            return self.opener
        from gpt_viz.engine.engine import Engine

        engine = Engine()
        build = Build(job=1, config=self.config, seed=self.seed, device=self.device, alphabet=self.alphabet)
        for _ in engine.run(build):
            pass
        return engine

    def model(self) -> GPT:
        """The model itself. Raises DeviceError and TooLarge."""
        if self.opener is not None:
            return self.opener.model(CURRENT).model
        from gpt_viz.engine.devices import check_fits, resolve
        from gpt_viz.engine.initialise import build

        device = resolve(self.device)
        check_fits(self.config, device)
        return build(self.config, self.seed, device)

    def tokenizer(self) -> Tokenizer:
        """What turns text into the model's ids."""
        if self.opener is not None:
            return self.opener.model(CURRENT).tokenizer
        from gpt_viz.engine.tokenizer import tokenizer_for

        return tokenizer_for(self.alphabet, self.config.vocabulary)

    @property
    def reads_ids(self) -> bool:
        """Whether text is written as ids, with spaces between."""
        pieces = self.opener is not None and self.opener.model(CURRENT).info.pieces is not None
        return self.alphabet is None and not pieces

    def readable(self, text: str) -> str:
        """The part of a text that a model of characters reads, or else its own characters; all of it for pieces."""
        if self.alphabet is None:
            return text
        known = set(self.alphabet)
        return "".join(each for each in text if each in known) or "".join(self.alphabet)

    def about(self) -> dict[str, Any]:
        """What a JSON document says of the checkpoint: nothing where there is none."""
        if not self.source:
            return {}
        report = [{"what": what, "detail": detail} for what, detail in self.report]
        return {"checkpoint": {"name": self.source, "report": report}}

    def tell(self) -> None:
        """Say on stderr what was done to open the checkpoint."""
        width = max((len(what) for what, _ in self.report), default=0)
        for what, detail in self.report:
            print(f"{one_line(self.source)}: {what:<{width}}  {one_line(detail)}", file=sys.stderr)


def chosen(args: argparse.Namespace) -> Chosen:
    """The model that the options ask for; a checkpoint is opened. Raises ConfigError, UsageError, CheckpointError."""
    wanted = checkpoint_choice(args)
    if wanted is None:
        choice = model_choice(args)
        return Chosen(**{each.name: getattr(choice, each.name) for each in fields(ModelChoice)})
    from gpt_viz.engine.engine import Engine

    engine = Engine()
    command = OpenCheckpoint(job=1, path=wanted.path, settings=wanted.settings, device=wanted.device)
    found = list(engine.run(command))
    built = next(event.model for event in found if isinstance(event, Built))
    report = next(event.report for event in found if isinstance(event, CheckpointOpened))
    return Chosen(
        config=built.config,
        preset_name="",
        alphabet=built.alphabet,
        seed=built.seed,
        device=built.device,
        source=built.source,
        report=report,
        opener=engine,
    )
