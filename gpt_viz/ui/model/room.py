"""Whether a model has room on a device, said before it is built. Knows no widget and no torch."""

from __future__ import annotations

from collections.abc import Sequence

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.protocol import DeviceInfo
from gpt_viz.quantities import size

AUTO = "auto"
SHARE = 0.9  # of a device's free memory; the engine refuses above it, too


def device_called(name: str, devices: Sequence[DeviceInfo]) -> DeviceInfo | None:
    """The device that a name means; `auto` is the first CUDA device that can be used, else the CPU."""
    if name == AUTO:
        able = [each for each in devices if each.usable]
        cuda = [each for each in able if each.name.startswith("cuda")]
        return next(iter([*cuda, *(each for each in able if each.name == "cpu")]), None)
    return next((each for each in devices if each.name == name), None)


def obstacle(config: GPTConfig, name: str, devices: Sequence[DeviceInfo]) -> str:
    """One sentence on why the model can't be built on the device; "" where it can, or where nobody knows.

    The weights of every model are drawn on the CPU, so they have to fit there as well.
    """
    info, host = device_called(name, devices), device_called("cpu", devices)
    held = []
    if info is not None:
        held.append((ledger.needed_bytes(config), info.memory_bytes, info.name))
    if host is not None and info is not host:
        held.append((ledger.weight_bytes(config), host.memory_bytes, "cpu, where its weights are drawn,"))
    for needed, there, where in held:
        if there is not None and needed > SHARE * there:
            return (
                f"this model needs about {size(needed)}, and {where} has {size(int(SHARE * there))} for it; "
                "lower its layers, width, block size or vocabulary"
            )
    return ""
