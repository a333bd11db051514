"""What a machine can't do, said so that a person knows what to change. Knows no command and no event."""

from __future__ import annotations

import re

import torch

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.quantities import size


class OutOfMemory(ValueError):  # noqa: N818 (what it is says more than "Error")
    """The memory was not enough, in spite of the estimate; the message says what to lower."""


class Unsupported(ValueError):  # noqa: N818
    """The device lacks an operation that the model needs; `field` is `device`."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.field = "device"


def explained(error: Exception, config: GPTConfig, device: str) -> ValueError | None:
    """The library's error as one sentence, where it is about what the machine can't do; else None."""
    if _is_out_of_memory(error):
        return OutOfMemory(
            f"{device} ran out of memory; this model needs about {size(ledger.needed_bytes(config))} and holds "
            f"{config.layers} layers of width {config.width:,} over {config.block_size:,} tokens; "
            "lower the block size, the layers or the width"
        )
    if isinstance(error, NotImplementedError) and device != "cpu":
        named = re.search(r"aten::\w+(\.\w+)?", str(error))
        which = f" ({named[0]})" if named else ""
        return Unsupported(f"{device} lacks an operation that this model needs{which}; choose the device cpu")
    return None


def _is_out_of_memory(error: Exception) -> bool:
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    # The CPU's allocator has no error class of its own.
    return isinstance(error, RuntimeError) and ("DefaultCPUAllocator" in str(error) or "out of memory" in str(error))
