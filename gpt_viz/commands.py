"""What `params`, `shapes`, `sample` and `capture` do: options in, the text for stdout out. Knows no Qt.

Torch is imported only where it is needed, so that what can be refused without it is refused at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpt_viz import archive, ledger, resources
from gpt_viz.arguments import UsageError
from gpt_viz.chosen import Chosen, chosen
from gpt_viz.protocol import Drawn, Sample, TensorInfo
from gpt_viz.tabular import aligned, tuple_text

if TYPE_CHECKING:
    from gpt_viz.engine.model import GPT
    from gpt_viz.measures import StepMeasure

# Beyond this the modules themselves take seconds to make, weights or not.
MOST_TENSORS_COUNTED = 20_000
# A length that no size of a preset has, so that T is seen to be the text's own.
DEFAULT_TOKENS = 24


class WorkError(Exception):
    """The work could not be done; the message is one sentence."""


def as_json(document: Any) -> str:
    """One JSON document on one line."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def _answer(
    args: argparse.Namespace,
    choice: Chosen,
    document: Mapping[str, Any],
    words: Callable[[Chosen, Mapping[str, Any]], str],
) -> str:
    """The document as JSON or in words; what was done to open a checkpoint is in it, or said on stderr."""
    if args.json:
        return as_json({**document, **choice.about()})
    text = words(choice, document)
    choice.tell()
    return text


# --- params --------------------------------------------------------------------------------------------------------


def params(args: argparse.Namespace) -> str:
    """Where the parameters are: by formula, and counted in the real module. Raises WorkError where the two differ."""
    choice = chosen(args)
    config = choice.config
    formula_total = ledger.total(config)
    census = _census(choice)
    total = formula_total if census is None else sum(tensor.count for tensor in census)
    if total != formula_total:
        raise WorkError(f"the module holds {total:,} parameters, but the formulas say {formula_total:,}")
    document: dict[str, Any] = {
        "total": total,
        "formula_total": formula_total,
        "counted": census is not None,
        "config": asdict(config),
        "groups": [_slice(part, choice) for part in ledger.groups(config, "kind")],
        "places": [_slice(part, choice) for part in ledger.groups(config, "place")],
        "rows": [_row(row) for row in ledger.rows(config)],
    }
    if args.tensors:
        document["tensors"] = [_tensor(tensor) for tensor in census or ledger.tensors(config)]
    return _answer(args, choice, document, _params_text)


def _census(choice: Chosen) -> tuple[TensorInfo, ...] | None:
    """The tensors of the real module, without their numbers; None where it has too many to be made for this."""
    if len(ledger.tensors(choice.config)) > MOST_TENSORS_COUNTED:
        return None
    from gpt_viz.engine.census import census
    from gpt_viz.engine.initialise import skeleton

    return census(skeleton(choice.config) if choice.opener is None else choice.model())


def _slice(part: ledger.Slice, choice: Chosen) -> dict[str, Any]:
    shared = {"shared_with": ledger.SHARED} if part.name == "output head" and choice.config.tied_head else {}
    return {"name": part.name, "count": part.count, "percent": part.percent} | shared


def _row(row: ledger.Row) -> dict[str, Any]:
    names = ("name", "shape", "formula", "numbers", "count", "percent")
    return {name: getattr(row, name) for name in names} | ({"shared_with": row.shared_with} if row.shared_with else {})


def _tensor(tensor: TensorInfo | ledger.TensorSpec) -> dict[str, Any]:
    shared = {"shared_with": tensor.shared_with} if tensor.shared_with else {}
    return {"name": tensor.name, "shape": list(tensor.shape), "count": tensor.count} | shared


def _params_text(choice: Chosen, document: Mapping[str, Any]) -> str:
    lines = [("name", "shape", "formula", "in numbers", "count", "%", "")]
    lines += [
        (row["name"], row["shape"], row["formula"], row["numbers"], f"{row['count']:,}", f"{row['percent']:.2f}",
         _shared(row))
        for row in document["rows"]
    ]  # fmt: skip
    lines.append(("total", "", "", "", f"{document['total']:,}", "100.00", ""))
    parts = [f"{choice.title}: {document['total']:,} parameters\n", aligned(lines, right=(4, 5)) + "\n"]
    if "tensors" in document:
        tensors = [("tensor", "shape", "count", "")]
        tensors += [
            (each["name"], tuple_text(each["shape"]), f"{each['count']:,}", _shared(each))
            for each in document["tensors"]
        ]
        parts.append(aligned(tensors, right=(2,)) + "\n")
    if document["counted"]:
        parts.append("The tensors of the module hold exactly as many.\n")
    else:
        parts.append("By formula alone: the module has too many tensors to be made for counting them.\n")
    return "\n".join(parts)


def _shared(entry: Mapping[str, Any]) -> str:
    return f"shared with {entry['shared_with']}" if "shared_with" in entry else ""


# --- shapes --------------------------------------------------------------------------------------------------------


def shapes(args: argparse.Namespace) -> str:
    """One forward pass step by step. It really runs where the model fits into memory, else the formulas answer."""
    choice = chosen(args)
    config = choice.config
    ids = _encoded(choice, _default_text(choice) if args.text is None else args.text, "text")
    seen, dropped = ids[-config.block_size :], max(len(ids) - config.block_size, 0)
    steps = ledger.steps(config, loss=len(seen) > 1)
    model, reason = _built_if_it_fits(choice)
    expected = [(step.name, step.shape(config, len(seen))) for step in steps]
    measures: tuple[StepMeasure | None, ...] = (None,) * len(expected)
    if model is not None:
        from gpt_viz.engine.stepstats import measure

        measures = measure(model, seen)
        found = [(step.name, step.shape) for step in measures if step is not None]
        if found != expected:
            ran, said = next(pair for pair in zip_longest(found, expected) if pair[0] != pair[1])
            raise WorkError(f"the pass ran {_step(ran)}, but the formulas say {_step(said)}")
    document: dict[str, Any] = {
        "ran": model is not None,
        **({"reason": reason} if reason else {}),
        "tokens": len(seen),
        "dropped": dropped,
        "config": asdict(config),
        "steps": [
            {
                "name": step.name,
                "symbols": list(step.symbols),
                "shape": list(shape),
                "formula": step.formula,
                "module": step.module,
                **_measured(measured),
            }
            for step, (_, shape), measured in zip(steps, expected, measures, strict=True)
        ],
        "multiply_adds": ledger.multiply_adds(config, len(seen)),
    }
    return _answer(args, choice, document, _shapes_text)


def _measured(step: StepMeasure | None) -> dict[str, Any]:
    """What only a pass that ran can say of a step, each call of torch that computed it among it."""
    if step is None:
        return {}
    return {
        "dtype": step.dtype,
        "device": step.device,
        "bytes": step.bytes,
        "parameters": step.parameters,
        "multiply_adds": step.multiply_adds,
        "elapsed_s": step.elapsed_s,
        "mean": step.figures.mean,
        "std": step.figures.std,
        "min": step.figures.smallest,
        "max": step.figures.largest,
        "norm": step.figures.norm,
        "not_finite": step.figures.not_finite,
        "operations": [
            {
                "name": each.name,
                "inputs": [list(shape) for shape in each.inputs],
                "output": list(each.output),
                "dtype": each.dtype,
                "view": each.view,
                "elapsed_s": each.elapsed_s,
            }
            for each in step.operations
        ],
    }


def _step(pair: tuple[str, tuple[int, ...]] | None) -> str:
    return "nothing more" if pair is None else f"{pair[0]} {tuple_text(pair[1])}"


def _shapes_text(choice: Chosen, document: Mapping[str, Any]) -> str:
    tokens, dropped = document["tokens"], document["dropped"]
    length = f"{tokens:,} token{'' if tokens == 1 else 's'}"
    if dropped:
        length += f" (the last of {tokens + dropped:,}: the block size)"
    lines = [("step", "symbols", "shape", "formula", "module")]
    lines += [
        (step["name"], tuple_text(step["symbols"]), tuple_text(step["shape"]), step["formula"], step["module"])
        for step in document["steps"]
    ]
    how = f"one pass over {length}" if document["ran"] else f"{length}, by formula: {document['reason']}"
    return f"{choice.title}: {how}\n\n{aligned(lines)}\n"


def _default_text(choice: Chosen) -> str:
    tokens = min(DEFAULT_TOKENS, choice.config.block_size)
    if choice.reads_ids:
        return " ".join(str(number % choice.config.vocabulary) for number in range(tokens))
    return choice.readable(resources.passage())[:tokens]


def _encoded(choice: Chosen, text: str, option: str) -> list[int]:
    """The ids of the text. Raises UnknownCharacters, and UsageError where there is nothing to read."""
    ids = choice.tokenizer().encode(text)
    if not ids:
        least = "one id, such as 0" if choice.reads_ids else "one character, such as a newline"
        raise UsageError(f"the {option} is empty; give --{option} at least {least}")
    return ids


def _built_if_it_fits(choice: Chosen) -> tuple[GPT | None, str]:
    """The model, or None and why it is too large."""
    from gpt_viz.engine.devices import TooLarge

    try:
        return choice.model(), ""
    except TooLarge as error:
        return None, str(error)


# --- sample --------------------------------------------------------------------------------------------------------


def sample(args: argparse.Namespace) -> str:
    """Continue the prompt, by the same job that the window runs."""
    choice = chosen(args)
    prompt: str = args.prompt
    prompt_ids = _encoded(choice, prompt, "prompt")
    draw = Sample(
        job=2,
        text=prompt,
        tokens=args.tokens,
        temperature=args.temperature,
        top_k=args.top_k,
        top_p=args.top_p,
        seed=args.seed,
    )
    drawn = [event for event in choice.engine().run(draw) if isinstance(event, Drawn)]
    text = _continued(choice, prompt, drawn)
    document = {
        "text": text,
        "ids": prompt_ids + [each.id for each in drawn],
        "steps": [
            {"token": each.piece, "id": each.id, "probability": each.probability, "rank": each.rank} for each in drawn
        ],
        "tokens_per_second": drawn[-1].tokens_per_second if drawn else 0.0,
    }
    return _answer(args, choice, document, lambda *_: text)


def _continued(choice: Chosen, prompt: str, drawn: list[Drawn]) -> str:
    """The prompt and what was drawn after it: ids with a space between, pieces put together by their tokenizer."""
    if choice.reads_ids:
        joint = " " if drawn and not prompt[-1:].isspace() else ""
        return prompt + joint + " ".join(each.piece for each in drawn)
    if choice.alphabet is None:
        return prompt + choice.tokenizer().decode(each.id for each in drawn)
    return prompt + "".join(each.piece for each in drawn)


# --- capture -------------------------------------------------------------------------------------------------------


def capture(args: argparse.Namespace) -> str:
    """Write what the named places of one pass hold to an .npz file, whole or not at all."""
    out = Path(args.out)
    archive.check_writable(out)
    choice = chosen(args)
    ids = _encoded(choice, args.text, "text")[-choice.config.block_size :]
    from gpt_viz.engine import taps

    taps.places(choice.config, args.taps, loss=len(ids) > 1)  # a glob that matches nothing is refused before building
    arrays = taps.capture(choice.model(), ids, args.taps)
    archive.write_arrays(out, arrays)
    choice.tell()
    size = sum(array.nbytes for array in arrays.values())
    plural = "" if len(arrays) == 1 else "s"
    return f"{len(arrays):,} array{plural} of a pass over {len(ids):,} tokens, {size:,} bytes, written to {out}\n"
