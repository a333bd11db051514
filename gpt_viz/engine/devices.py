"""Where a model can run, how much fits there, and what is refused before it is tried. Knows no model's inside.

Asked about the CPU, it never asks a GPU anything: on many machines that question alone fails.
"""

from __future__ import annotations

import re
import warnings

import torch

from gpt_viz import ledger
from gpt_viz.config import GPTConfig
from gpt_viz.engine.memory import free_host_bytes
from gpt_viz.protocol import DeviceInfo
from gpt_viz.quantities import size

NAMES = "auto, cpu, cuda, cuda:N or mps"
# Memory that is free but for a sliver is not free: sizes just under it get the process killed, without an error.
SHARE = 0.9


class DeviceError(ValueError):
    """A device that is unknown or can't be used here; the message says why, in one sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.field = "device"


class TooLarge(ValueError):  # noqa: N818 (what it is says more than "Error")
    """A model that the device can't hold. `needed` and `limit` are in bytes."""

    def __init__(self, message: str, needed: int, limit: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.limit = limit


def devices() -> tuple[DeviceInfo, ...]:
    """Every kind of device that torch knows, those that can't be used here with the reason. Never raises."""
    return (DeviceInfo("cpu", "CPU", memory_bytes=free_host_bytes()), *_cuda(), _mps())


def resolve(name: str) -> torch.device:
    """The device of that name: auto, cpu, cuda, cuda:N or mps. Raises DeviceError.

    `auto` is the first CUDA device that can be used, else the CPU: models of the notebooks' size gain nothing from an
    Apple GPU, which has to be chosen.
    """
    name = name.strip().lower()
    if name == "cpu":
        return torch.device("cpu")
    if name == "auto":
        usable = [info.name for info in _cuda() if info.usable]
        return torch.device(usable[0] if usable else "cpu")
    if not re.fullmatch(r"cuda(:\d{1,4})?|mps", name):
        raise DeviceError(f"there is no device {name!r}; choose {NAMES}")
    if name == "mps":
        found = {"mps": _mps()}
    else:
        found = {info.name: info for info in _cuda()}
        name = "cuda:0" if name == "cuda" and "cuda:0" in found else name
    info = found.get(name) or found.get("cuda")
    if info is None:
        raise DeviceError(f"device {name} is not here, only {', '.join(found)}; choose one of them, or cpu")
    if not info.usable:
        raise DeviceError(f"device {name} can't be used here: {info.reason}; choose cpu")
    return torch.device(name)


def free_bytes(device: torch.device | str) -> int | None:
    """What is free for new tensors on the device, in bytes; None where the system does not say."""
    device = torch.device(device)
    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + cached
    free = free_host_bytes()
    if device.type == "mps":
        own = torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
        return own if free is None else min(own, free)
    return free


def check_fits(config: GPTConfig, device: torch.device | str) -> None:
    """Refuse a model that the device can't hold, before anything is allocated. Raises TooLarge.

    The estimate is the ledger's, for building the model and one pass over N tokens. The weights of every model are
    drawn on the CPU, so they must fit there as well.
    """
    device = torch.device(device)
    _refuse_above(ledger.needed_bytes(config), device, "to be built and run")
    if device.type != "cpu":
        _refuse_above(ledger.weight_bytes(config), torch.device("cpu"), "for its weights to be drawn")


def _refuse_above(needed: int, device: torch.device, why: str) -> None:
    free = free_bytes(device)
    if free is None or needed <= SHARE * free:
        return
    limit = int(SHARE * free)
    raise TooLarge(
        f"this model needs about {size(needed)} {why}, and {device} has {size(limit)} for it; "
        "lower its layers, width, block size or vocabulary",
        needed,
        limit,
    )


def _cuda() -> list[DeviceInfo]:
    """The CUDA devices (AMD's too, which torch calls the same), or one entry that says why there is none."""
    if torch.version.cuda is None and torch.version.hip is None:
        return [DeviceInfo("cuda", "NVIDIA GPU", "this torch was installed without CUDA")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a driver that is too old is told by a warning
            if not torch.cuda.is_available():
                return [DeviceInfo("cuda", "NVIDIA GPU", "no NVIDIA GPU with a working driver was found")]
            return [_cuda_device(index) for index in range(torch.cuda.device_count())]
    except Exception as error:  # whatever a broken driver does, the CPU remains
        return [DeviceInfo("cuda", "NVIDIA GPU", f"the driver answers {_first_line(error)!r}")]


def _cuda_device(index: int) -> DeviceInfo:
    name = f"cuda:{index}"
    try:
        properties = torch.cuda.get_device_properties(index)
        runs = _runs_on(torch.cuda.get_arch_list(), properties.major, properties.minor)
    except Exception as error:
        return DeviceInfo(name, "NVIDIA GPU", f"the driver answers {_first_line(error)!r}")
    reason = "" if runs else f"this torch has no code for its generation ({properties.major}.{properties.minor})"
    return DeviceInfo(name, str(properties.name), reason, int(properties.total_memory))


def _runs_on(architectures: list[str], major: int, minor: int) -> bool:
    """Whether code for one of the architectures (sm_80, compute_90, ...) runs on a GPU of that compute capability.

    Machine code runs on the same generation from its own minor version on; intermediate code on every later one. A
    letter at the end ties it to that very version. AMD's names say nothing of the kind, so they are let pass.
    """
    parsed = [re.fullmatch(r"(sm|compute)_(\d+)(\d)([a-z]?)", each) for each in architectures]
    known = [each for each in parsed if each is not None]
    if not known:
        return True
    for kind, high, low, letter in (each.groups() for each in known):
        version = (int(high), int(low))
        if letter:
            fits = version == (major, minor)
        else:
            fits = version <= (major, minor) and (kind == "compute" or version[0] == major)
        if fits:
            return True
    return False


def _mps() -> DeviceInfo:
    """Apple's GPU."""
    title = "Apple GPU"
    try:
        if not torch.backends.mps.is_built():
            return DeviceInfo("mps", title, "only torch for macOS knows it")
        if not torch.backends.mps.is_available():
            return DeviceInfo("mps", title, "this Mac has none, or its macOS is too old")
        return DeviceInfo("mps", title, memory_bytes=free_bytes("mps"))
    except Exception as error:
        return DeviceInfo("mps", title, f"the driver answers {_first_line(error)!r}")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
