"""What a GPT is before it exists: its sizes and options, validated, and the named presets. Knows no torch and no Qt.

Letters used in formulas and tables: V vocabulary, N block size, C width, H heads, D = C / H, L layers, B batch,
T tokens in this pass.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

# torch's samplers stop at 2**24 categories, and float32 counts whole numbers exactly up to there.
LARGEST_VOCABULARY = 2**24
LARGEST_SEED = 2**63 - 1
OWN_SIZES = "own sizes"  # what a model is called that is of no preset and out of no file

RANGES: dict[str, tuple[int, int]] = {
    "vocabulary": (1, LARGEST_VOCABULARY),
    "block_size": (1, 2**24),
    "layers": (0, 10_000),
    "heads": (1, 2**20),
    "width": (1, 2**20),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "gelu": ("exact", "tanh"),
    "initialisation": ("step5", "build-gpt", "gpt2"),
    "scale": ("divide", "multiply"),
}


class ConfigError(ValueError):
    """A setting that no model can be built with; `field` is the setting's name, the message says what would do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class GPTConfig:
    """The sizes and options of one GPT. The field names are the names that `--set` takes.

    `bias` is that of the projections, the feed-forward layers and the norms; `qkv_bias` that of query, key and value;
    `head_bias` that of the output head. `scale` is how the scores are scaled: divided by sqrt(D) or multiplied by
    D**-0.5, which differ in the last bit. `initialisation` names the rule in `engine.initialise`.

    Raises ConfigError for a value out of range and for a width that the heads do not divide.
    """

    vocabulary: int = 65
    block_size: int = 64
    layers: int = 4
    heads: int = 4
    width: int = 128
    dropout: float = 0.0
    qkv_bias: bool = False
    bias: bool = True
    head_bias: bool = False
    tied_head: bool = False
    gelu: str = "exact"
    initialisation: str = "step5"
    scale: str = "divide"

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ConfigError(name, f"{label(name)} must be a whole number, not {value!r}")
            given = f"{label(name)} {_number(value)}"
            if name == "vocabulary" and value > high:
                raise ConfigError(
                    name, f"{given} is above 2^24 = {high:,}, the most that can be sampled from; lower it"
                )
            if not low <= value <= high:
                raise ConfigError(name, f"{given} is out of range; it goes from {low} to {high:,}")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)):
            raise ConfigError("dropout", f"dropout must be a number, not {self.dropout!r}")
        if not 0.0 <= self.dropout <= 1.0:  # also refuses nan
            shown = _number(self.dropout) if isinstance(self.dropout, int) else self.dropout
            raise ConfigError("dropout", f"dropout {shown} is out of range; it goes from 0 to 1")
        for name in ("qkv_bias", "bias", "head_bias", "tied_head"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(name, f"{label(name)} must be true or false, not {getattr(self, name)!r}")
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(
                    name, f"{label(name)} {getattr(self, name)!r} is unknown; choose {' or '.join(allowed)}"
                )
        if self.width % self.heads:
            raise ConfigError("heads", self._indivisible())

    def _indivisible(self) -> str:
        small = [h for h in range(1, math.isqrt(self.width) + 1) if self.width % h == 0]
        divisors = {*small, *(self.width // h for h in small)}
        # The eight nearest are enough to choose from: a width of 12,288 has 28 divisors.
        near = sorted(sorted(divisors, key=lambda h: abs(math.log(h / self.heads)))[:8])
        low = self.width - self.width % self.heads
        widths = " or ".join(f"{w}" for w in (low, low + self.heads) if w)
        return (
            f"width {self.width} is not divisible by {self.heads} heads; "
            f"try {', '.join(map(str, near))} heads, or width {widths}"
        )

    @property
    def head_width(self) -> int:
        """D = C / H, the width of one head."""
        return self.width // self.heads

    def with_settings(self, settings: Iterable[str]) -> GPTConfig:
        """This config with `name=value` settings applied, all at once, so that their order does not matter.

        >>> GPTConfig().with_settings(["layers=2", "tied_head=true"]).layers
        2
        """
        return replace(self, **dict(parse_setting(setting) for setting in settings))


FIELD_TYPES: dict[str, type] = {f.name: type(f.default) for f in fields(GPTConfig)}


def label(field: str) -> str:
    """A field's name as it is read: `block_size` becomes `block size`."""
    return field.replace("_", " ")


def _number(value: int) -> str:
    """A whole number as it is read; one of more digits than anyone reads, by its size."""
    return f"{value:,}" if abs(value) < 10**30 else f"{'-' if value < 0 else ''}2^{value.bit_length() - 1} or so"


def _quoted(text: str) -> str:
    """What was given, cut to what fits into a sentence."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def parse_setting(setting: str) -> tuple[str, Any]:
    """`"layers=2"` as `("layers", 2)`. Raises ConfigError for an unknown name or a value of the wrong type."""
    name, sign, text = setting.partition("=")
    name, text = name.strip().replace("-", "_"), text.strip()
    if not sign:
        raise ConfigError("set", f"{_quoted(setting)} is not a setting; write name=value, such as layers=2")
    if name not in FIELD_TYPES:
        near = difflib.get_close_matches(name, FIELD_TYPES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(FIELD_TYPES)}"
        raise ConfigError("set", f"there is no setting {_quoted(name)}; {hint}")
    kind = FIELD_TYPES[name]
    if kind is bool:
        words = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
        if text.lower() not in words:
            raise ConfigError(name, f"{label(name)} must be true or false, not {_quoted(text)}")
        return name, words[text.lower()]
    try:
        return name, kind(text)
    except ValueError:
        needed = {int: "a whole number", float: "a number"}[kind]
        raise ConfigError(name, f"{label(name)} must be {needed}, not {_quoted(text)}") from None


def check_seed(value: object) -> int:
    """A seed that every generator takes as it is. Raises ConfigError unless it is a whole number in 0 .. 2^63 - 1."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError("seed", f"the seed must be a whole number, not {value!r}")
    if not 0 <= value <= LARGEST_SEED:
        raise ConfigError("seed", f"seed {_number(value)} is out of range; it goes from 0 to 2^63 - 1")
    return value


@dataclass(frozen=True, slots=True)
class Preset:
    """A named config. `characters` says whether it reads the notebooks' 65 characters; otherwise it runs on ids."""

    name: str
    title: str
    config: GPTConfig
    characters: bool


_GPT2 = GPTConfig(
    vocabulary=50_257,
    block_size=1024,
    layers=12,
    heads=12,
    width=768,
    qkv_bias=True,
    tied_head=True,
    gelu="tanh",
    initialisation="gpt2",
)

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("step5", "Step 5", GPTConfig(), True),
        Preset(
            "build-gpt",
            "Build the GPT",
            GPTConfig(block_size=128, head_bias=True, initialisation="build-gpt", scale="multiply"),
            True,
        ),
        Preset("gpt2", "GPT-2 (124M)", _GPT2, False),
        Preset("gpt2-medium", "GPT-2 medium (355M)", replace(_GPT2, layers=24, heads=16, width=1024), False),
        Preset("gpt2-large", "GPT-2 large (774M)", replace(_GPT2, layers=36, heads=20, width=1280), False),
        Preset("gpt2-xl", "GPT-2 XL (1.6B)", replace(_GPT2, layers=48, heads=25, width=1600), False),
        Preset("gpt3", "GPT-3 (175B)", replace(_GPT2, block_size=2048, layers=96, heads=96, width=12_288), False),
    )
}


def preset(name: str) -> Preset:
    """The preset of that name. Raises ConfigError that lists the names there are."""
    if name not in PRESETS:
        raise ConfigError("preset", f"there is no preset {_quoted(name)}; choose {', '.join(PRESETS)}")
    return PRESETS[name]


def preset_of(config: GPTConfig) -> Preset | None:
    """The preset that has exactly this config, or None."""
    return next((p for p in PRESETS.values() if p.config == config), None)
