"""How each program names and stores the tensors of a GPT, as tables from its names to ours. Knows no file.

A place is one of our own parameter names, or a matrix that ours are cut from: `blocks.{l}.attn.qkv` holds query, key
and value of all heads one below the other, `blocks.{l}.attn.query` the queries of all heads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_LETTERS = {
    r"\{l\}": r"(?P<l>0|[1-9]\d{0,4})",
    r"\{h\}": r"(?P<h>0|[1-9]\d{0,4})",
    r"\[transformer\.\]": r"(?:transformer\.)?",
}


@dataclass(frozen=True)
class Layout:
    """One program's way of storing a GPT.

    `modules` maps a module's name to ours (`.weight` and `.bias` follow), `tensors` whole names; `buffers` are masks
    and the like that are no parameters. `transposed`: the layers in the blocks are stored as (inputs, outputs).
    `gelu` is empty where the program has another activation or none is usual; `gelu_note` is what to say of it.
    """

    title: str
    modules: Mapping[str, str]
    initialisation: str
    scale: str
    gelu: str = "exact"
    gelu_note: str = ""
    tensors: Mapping[str, str] = field(default_factory=dict)
    buffers: tuple[str, ...] = ()
    transposed: bool = False
    may_lack_head: bool = False

    def place(self, name: str) -> str | None:
        """Our name for the file's `name`; empty for a buffer, None where this layout has no such tensor."""
        for pattern, place in self._rules:
            if found := pattern.fullmatch(name):
                return place.format(**found.groupdict())
        return None

    def spelled(self, place: str) -> str:
        """The file's name for a place of ours, to be read in a sentence."""
        for name, template in {**self.tensors, **self._with_kinds}.items():
            if found := _pattern(template).fullmatch(place):
                return name.replace("[", "").replace("]", "").format(**found.groupdict())
        return place

    @cached_property
    def _with_kinds(self) -> dict[str, str]:
        kinds = ("weight", "bias")
        return {f"{name}.{kind}": f"{place}.{kind}" for name, place in self.modules.items() for kind in kinds}

    @cached_property
    def _rules(self) -> list[tuple[re.Pattern[str], str]]:
        tables = ({name: "" for name in self.buffers}, self.tensors, self._with_kinds)
        return [(_pattern(name), place) for table in tables for name, place in table.items()]


def _pattern(name: str) -> re.Pattern[str]:
    pattern = re.escape(name)
    for letter, digits in _LETTERS.items():
        pattern = pattern.replace(letter, digits)
    return re.compile(pattern)


def _heads(theirs: str, ours: str = "blocks.{l}.attn") -> dict[str, str]:
    """Query, key and value of each head by itself."""
    return {f"{theirs}.heads.{{h}}.{each}": f"{ours}.heads.{{h}}.{each}" for each in ("key", "query", "value")}


_OURS = {
    "token_embedding": "token_embedding",
    "position_embedding": "position_embedding",
    "blocks.{l}.ln1": "blocks.{l}.ln1",
    **_heads("blocks.{l}.attn"),
    "blocks.{l}.attn.proj": "blocks.{l}.attn.proj",
    "blocks.{l}.ln2": "blocks.{l}.ln2",
    "blocks.{l}.mlp.fc": "blocks.{l}.mlp.fc",
    "blocks.{l}.mlp.proj": "blocks.{l}.mlp.proj",
    "ln_f": "ln_f",
    "head": "head",
}

OWN = Layout("GPT Viz", _OURS, initialisation="step5", scale="divide", may_lack_head=True)

STEP5 = Layout(
    "the step-5 notebook",
    {
        {"token_embedding": "tok", "position_embedding": "pos", "ln_f": "lnf"}.get(place, place): place
        for place in _OURS
    },
    initialisation="step5",
    scale="divide",
    buffers=("blocks.{l}.attn.heads.{h}.tril",),
)

_BUILD_GPT = {
    "token_embedding": "token_embedding",
    "position_embedding": "position_embedding",
    "blocks.{l}.ln1": "blocks.{l}.ln1",
    **_heads("blocks.{l}.sa"),
    "blocks.{l}.sa.proj": "blocks.{l}.attn.proj",
    "blocks.{l}.ln2": "blocks.{l}.ln2",
    "blocks.{l}.ffwd.net.0": "blocks.{l}.mlp.fc",
    "blocks.{l}.ffwd.net.2": "blocks.{l}.mlp.proj",
    "ln_f": "ln_f",
    "lm_head": "head",
}

BUILD_GPT = Layout(
    "the build-gpt notebook",
    _BUILD_GPT,
    initialisation="build-gpt",
    scale="multiply",
    buffers=("blocks.{l}.sa.heads.{h}.tril",),
)

LECTURE = Layout(
    "the video lecture",
    {f"{name}_table" if name.endswith("embedding") else name: place for name, place in _BUILD_GPT.items()},
    initialisation="build-gpt",
    scale="multiply",
    gelu="",
    gelu_note="the lecture's own code bends with ReLU, which this program does not have",
    buffers=("blocks.{l}.sa.heads.{h}.tril",),
)

_GPT2 = {
    "[transformer.]wte": "token_embedding",
    "[transformer.]wpe": "position_embedding",
    "[transformer.]h.{l}.ln_1": "blocks.{l}.ln1",
    "[transformer.]h.{l}.attn.c_attn": "blocks.{l}.attn.qkv",
    "[transformer.]h.{l}.attn.c_proj": "blocks.{l}.attn.proj",
    "[transformer.]h.{l}.ln_2": "blocks.{l}.ln2",
    "[transformer.]h.{l}.mlp.c_fc": "blocks.{l}.mlp.fc",
    "[transformer.]h.{l}.mlp.c_proj": "blocks.{l}.mlp.proj",
    "[transformer.]ln_f": "ln_f",
    "lm_head": "head",
}
_GPT2_BUFFERS = ("[transformer.]h.{l}.attn.bias", "[transformer.]h.{l}.attn.masked_bias")

NANOGPT = Layout(
    "nanoGPT",
    _GPT2,
    initialisation="gpt2",
    scale="multiply",
    gelu_note="as nanoGPT has had it since June 2023; a file from before that needs gelu=tanh",
    buffers=_GPT2_BUFFERS,
    may_lack_head=True,
)

MINGPT = Layout(
    "minGPT", _GPT2, initialisation="gpt2", scale="multiply", gelu="tanh", buffers=_GPT2_BUFFERS,
    gelu_note="as minGPT has it",
)  # fmt: skip

GPT2 = Layout(
    "GPT-2 of Hugging Face",
    _GPT2,
    initialisation="gpt2",
    scale="divide",
    gelu="tanh",
    gelu_note="as GPT-2 has it",
    buffers=_GPT2_BUFFERS,
    transposed=True,
    may_lack_head=True,
)

OLD_MINGPT = Layout(
    "minGPT of 2020",
    {
        "tok_emb": "token_embedding",
        "blocks.{l}.ln1": "blocks.{l}.ln1",
        **{f"blocks.{{l}}.attn.{each}": f"blocks.{{l}}.attn.{each}" for each in ("key", "query", "value", "proj")},
        "blocks.{l}.ln2": "blocks.{l}.ln2",
        "blocks.{l}.mlp.0": "blocks.{l}.mlp.fc",
        "blocks.{l}.mlp.2": "blocks.{l}.mlp.proj",
        "ln_f": "ln_f",
        "head": "head",
    },
    initialisation="gpt2",
    scale="multiply",
    gelu_note="as minGPT had it then",
    tensors={"pos_emb": "position_embedding.weight"},
    buffers=("blocks.{l}.attn.mask",),
)

# One of each set of names; which of nanoGPT, minGPT and GPT-2 it is, their shapes tell.
FAMILIES = (OWN, STEP5, BUILD_GPT, LECTURE, NANOGPT, OLD_MINGPT)
