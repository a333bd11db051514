"""Which character each id is, from wherever a checkpoint keeps that. Knows no tensor and no model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpt_viz import resources
from gpt_viz.engine.checkpoints.pickles import read_plain
from gpt_viz.engine.checkpoints.refusals import Contradiction
from gpt_viz.engine.checkpoints.report import Report

META = "meta.pkl"


def spelled_out(holder: Mapping[Any, Any]) -> tuple[str, ...] | None:
    """The alphabet that a dictionary holds as `alphabet`, `chars`, `itos` or `stoi`; None where it holds none."""
    for name in ("alphabet", "chars"):
        found = holder.get(name)
        if isinstance(found, (str, list, tuple)) and found and all(isinstance(each, str) for each in found):
            return _characters(list(found))
    itos, stoi = holder.get("itos"), holder.get("stoi")
    if isinstance(itos, Mapping) and itos:
        return _numbered(dict(itos))
    if isinstance(itos, (list, tuple)) and itos:
        return _characters(list(itos))
    if isinstance(stoi, Mapping) and stoi:
        return _numbered({id: character for character, id in stoi.items()})
    return None


def beside(path: Path, report: Report) -> tuple[str, ...] | None:
    """The alphabet in the meta.pkl beside a checkpoint; None where there is none. Raises CheckpointError, WantsCode."""
    meta = path.parent / META
    if not meta.is_file():
        return None
    found = read_plain(meta)
    alphabet = spelled_out(found) if isinstance(found, Mapping) else None
    if alphabet is None:
        report.say("ignored", f"{META}, which lists no single characters")
    return alphabet


def check_alphabet(alphabet: tuple[str, ...], vocabulary: int, whose: str) -> None:
    """Raise Contradiction where the vocabulary is too small for the alphabet."""
    if len(alphabet) > vocabulary:
        raise Contradiction(
            f"the alphabet {whose} has {len(alphabet):,} characters, but the model's vocabulary is {vocabulary:,}: "
            "it belongs to another model; take it away, or give the alphabet"
        )


def notebooks(vocabulary: int) -> tuple[str, ...] | None:
    """The notebooks' 65 characters, for a model of exactly as many tokens."""
    return resources.alphabet() if vocabulary == len(resources.alphabet()) else None


def _numbered(characters: dict[Any, Any]) -> tuple[str, ...] | None:
    """The characters in the order of their ids, which must go from 0 up without a gap."""
    if set(characters) != set(range(len(characters))):
        return None
    return _characters([characters[id] for id in range(len(characters))])


def _characters(found: list[Any]) -> tuple[str, ...] | None:
    single = all(isinstance(each, str) and len(each) == 1 for each in found)
    return tuple(found) if single and len(set(found)) == len(found) else None
