"""Our own format: safetensors with config, alphabet, seed and history as JSON texts. Knows no path.

`gpt_viz` is the version of the format; `config` the settings by our names; `alphabet` the characters in the order of
their ids, or null; `tokenizer` the tokenizer of a model that reads pieces; `seed` what its weights were drawn from;
`history` what was done to it since. A tied head is stored once, as the token embedding.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpt_viz.config import GPTConfig, check_seed
from gpt_viz.engine.checkpoints.refusals import CheckpointError

VERSION = "1"
MARK = "gpt_viz"

History = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notes:
    """What one of our files says of itself."""

    config: Mapping[str, Any]
    alphabet: tuple[str, ...] | None
    tokenizer: str | None
    seed: int | None
    history: History


def written(
    config: GPTConfig, alphabet: tuple[str, ...] | None, tokenizer: str | None, seed: int, history: History
) -> dict[str, str]:
    """The texts that go into the file. Raises ValueError for a history that is no JSON."""
    texts = {
        # What other programs look for: tensors of torch.
        "format": "pt",
        MARK: VERSION,
        "config": json.dumps(asdict(config)),
        "alphabet": json.dumps(None if alphabet is None else "".join(alphabet)),
        "seed": json.dumps(seed),
        "history": json.dumps(dict(history), allow_nan=False),
    }
    return texts if tokenizer is None else {**texts, "tokenizer": tokenizer}


def understood(texts: Mapping[str, str], name: str) -> Notes | None:
    """The texts of one of our files; None where it is not ours. Raises CheckpointError where they are damaged."""
    if MARK not in texts:
        return None
    if texts[MARK] != VERSION:
        raise CheckpointError(
            f"{name} was written by a later version of this program: format {texts[MARK][:12]}, not {VERSION}"
        )
    try:
        config, alphabet, seed, history = (
            json.loads(texts.get(each, "null")) for each in ("config", "alphabet", "seed", "history")
        )
        good = (
            isinstance(config, dict)
            and isinstance(alphabet, (str, type(None)))
            and isinstance(history, (dict, type(None)))
        )
        seed = None if seed is None else check_seed(seed)
    except (ValueError, RecursionError):
        good = False
    if not good:
        raise CheckpointError(f"{name} is damaged: its notes on the model can't be read")
    return Notes(
        config=config,
        alphabet=None if alphabet is None else tuple(alphabet),
        tokenizer=texts.get("tokenizer"),
        seed=seed,
        history=history or {},
    )
