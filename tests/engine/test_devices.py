"""Which devices can be used, what is refused and why, and that the CPU never asks a GPU anything."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.overrides import TorchFunctionMode

from gpt_viz import ledger
from gpt_viz.config import PRESETS, ConfigError, GPTConfig
from gpt_viz.engine import devices as module
from gpt_viz.engine.devices import DeviceError, TooLarge, check_fits, devices, free_bytes, resolve
from gpt_viz.engine.initialise import build
from gpt_viz.engine.taps import capture
from gpt_viz.engine.trace import inspect
from gpt_viz.protocol import DeviceInfo
from gpt_viz.quantities import size
from gpt_viz.ui.model.room import obstacle


@pytest.fixture
def cuda(monkeypatch):
    """A pretended machine with GPUs: given as (major, minor) each."""

    def machine(*generations, built_for=("sm_75", "sm_80", "sm_90", "compute_90"), available=True):
        monkeypatch.setattr(torch.version, "cuda", "13.0")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(generations))
        monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: list(built_for))
        monkeypatch.setattr(
            torch.cuda,
            "get_device_properties",
            lambda index: SimpleNamespace(
                name=f"GPU {index}", major=generations[index][0], minor=generations[index][1], total_memory=8 * 10**9
            ),
        )

    return machine


@pytest.fixture
def no_cuda(monkeypatch):
    """A torch that was installed without CUDA."""
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)


@pytest.fixture
def forbidden(monkeypatch):
    """Every question to a GPU is an error."""

    def asked(*args, **kwargs):
        raise AssertionError("a GPU was asked")

    for name, each in vars(torch.cuda).items():
        if callable(each) and not isinstance(each, type):
            monkeypatch.setattr(torch.cuda, name, asked)
    monkeypatch.setattr(torch.backends.mps, "is_available", asked)
    monkeypatch.setattr(torch.backends.mps, "is_built", asked)


def by_name():
    return {info.name: info for info in devices()}


def test_f11_without_a_gpu_the_cpu_can_be_used_and_the_others_say_why_not(no_cuda):
    found = by_name()
    assert list(found) == ["cpu", "cuda", "mps"]
    assert found["cpu"].usable
    assert found["cpu"].memory_bytes == pytest.approx(free_bytes("cpu"), rel=0.5)
    assert found["cuda"].reason == "this torch was installed without CUDA"
    assert not found["cuda"].usable


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:7"])
def test_f11_a_cuda_device_that_is_not_there_is_one_typed_error(name, no_cuda):
    with pytest.raises(DeviceError) as caught:
        resolve(name)
    assert str(caught.value) == f"device {name} can't be used here: this torch was installed without CUDA; choose cpu"
    assert isinstance(caught.value, ValueError)
    assert caught.value.field == "device"


def test_f11_an_apple_gpu_that_is_not_there_is_one_typed_error(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: False)
    with pytest.raises(DeviceError, match="device mps can't be used here: only torch for macOS knows it; choose cpu"):
        resolve("mps")
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="this Mac has none"):
        resolve("mps")


@pytest.mark.parametrize("name", ["gpu", "", "cuda:", "cuda:-1", "cuda:x", "cpu:0", "tpu", "cuda:99999999999"])
def test_an_unknown_device_is_refused_with_the_names_that_would_do(name):
    with pytest.raises(DeviceError, match="choose auto, cpu, cuda, cuda:N or mps"):
        resolve(name)


def test_f11_no_gpu_is_asked_when_the_device_is_the_cpu(forbidden, tiny):
    device = resolve("cpu")
    check_fits(tiny, device)
    assert free_bytes(device) is None or free_bytes(device) > 0
    model = build(tiny, 0, device)
    assert inspect(model, [1, 2, 3], attention=True).patterns.shape == (2, 3, 3, 3)
    assert capture(model, [1, 2, 3], ["logits"])["logits"].shape == (1, 3, 11)


def test_auto_takes_the_first_gpu_that_can_be_used_and_else_the_cpu(cuda, no_cuda):
    assert resolve("auto") == torch.device("cpu")
    cuda((5, 0), (9, 0))
    assert resolve("auto") == torch.device("cuda:1")
    cuda((5, 0))
    assert resolve("auto") == torch.device("cpu")
    cuda(available=False)
    assert resolve("auto") == torch.device("cpu")


def test_gpus_are_listed_with_their_names_and_memory_and_the_old_ones_with_the_reason(cuda):
    cuda((9, 0), (5, 0))
    found = by_name()
    assert list(found) == ["cpu", "cuda:0", "cuda:1", "mps"]
    assert (found["cuda:0"].title, found["cuda:0"].memory_bytes, found["cuda:0"].reason) == ("GPU 0", 8 * 10**9, "")
    assert found["cuda:1"].reason == "this torch has no code for its generation (5.0)"
    assert resolve(" CUDA ") == torch.device("cuda:0")
    with pytest.raises(DeviceError, match="device cuda:1 can't be used here: this torch has no code"):
        resolve("cuda:1")
    with pytest.raises(DeviceError, match="device cuda:2 is not here, only cuda:0, cuda:1; choose one of them, or cpu"):
        resolve("cuda:2")


def test_a_driver_that_breaks_is_a_reason_and_no_error(cuda, monkeypatch):
    cuda((9, 0))

    def broken(*_):
        raise RuntimeError("unknown error 999\nand more")

    monkeypatch.setattr(torch.cuda, "get_device_properties", broken)
    assert by_name()["cuda:0"].reason == "the driver answers 'unknown error 999'"
    monkeypatch.setattr(torch.cuda, "is_available", broken)
    assert by_name()["cuda"].reason == "the driver answers 'unknown error 999'"
    assert resolve("auto") == torch.device("cpu")


@pytest.mark.parametrize(
    ("architectures", "generation", "runs"),
    [
        (["sm_80"], (8, 6), True),
        (["sm_86"], (8, 0), False),
        (["sm_80"], (9, 0), False),
        (["sm_80", "compute_80"], (12, 0), True),
        (["compute_90"], (8, 0), False),
        (["sm_90a"], (9, 0), True),
        (["sm_100a"], (10, 3), False),
        (["sm_120"], (12, 0), True),
        (["gfx90a", "gfx1100"], (9, 0), True),
        ([], (9, 0), True),
    ],
)
def test_code_runs_on_its_own_generation_and_intermediate_code_on_later_ones(architectures, generation, runs):
    assert module._runs_on(architectures, *generation) is runs


def test_a07_a_model_that_can_not_fit_is_refused_with_estimate_limit_and_way_out(monkeypatch):
    monkeypatch.setattr(module, "free_host_bytes", lambda: 8 * 10**9)
    monkeypatch.setattr(torch, "empty", lambda *_, **__: pytest.fail("something was allocated"))
    config = GPTConfig(vocabulary=100_000, block_size=65_536, layers=96, heads=64, width=65_536)
    with pytest.raises(TooLarge) as caught:
        check_fits(config, "cpu")
    assert str(caught.value) == (
        f"this model needs about {size(caught.value.needed)} to be built and run, and cpu has 7.2 GB for it; "
        "lower its layers, width, block size or vocabulary"
    )
    assert caught.value.limit == 7_200_000_000
    assert caught.value.needed > 4 * 4.9e12
    check_fits(GPTConfig(), "cpu")


def test_a07_a_vocabulary_above_the_samplers_limit_is_refused_with_the_reason():
    with pytest.raises(ConfigError, match=r"2\^24"):
        GPTConfig(vocabulary=2**24 + 1, width=1, heads=1, layers=1, block_size=4)


def test_a07_a_small_model_builds_right_after_a_refusal(tiny):
    with pytest.raises(TooLarge):
        check_fits(PRESETS["gpt3"].config, "cpu")
    check_fits(tiny, "cpu")
    assert sum(each.numel() for each in build(tiny, 0).parameters()) == 4_020


def test_a_system_that_does_not_say_what_is_free_refuses_nothing(monkeypatch):
    monkeypatch.setattr(module, "free_host_bytes", lambda: None)
    check_fits(PRESETS["gpt3"].config, "cpu")


def test_on_a_gpu_both_its_memory_and_the_cpus_must_suffice(monkeypatch):
    config = PRESETS["gpt2"].config
    free = {"cuda": 80 * 10**9, "cpu": 10**9}
    monkeypatch.setattr(module, "free_bytes", lambda device: free[torch.device(device).type])
    check_fits(config, "cuda:0")
    free["cpu"] = 10**8
    with pytest.raises(TooLarge, match=r"needs about 498 MB for its weights to be drawn, and cpu has 90 MB for it"):
        check_fits(config, "cuda:0")
    free["cuda"] = 10**8
    with pytest.raises(TooLarge, match=r"to be built and run, and cuda:0 has 90 MB for it"):
        check_fits(config, "cuda:0")


def test_memory_that_torch_keeps_for_reuse_counts_as_free(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (1000, 5000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 700)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 300)
    assert free_bytes("cuda:0") == 1400


@pytest.mark.parametrize(
    ("bytes", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (3_266_560, "3.27 MB"), (99_960_000, "100 MB"), (2**63, "9.22 EB")],
)
def test_sizes_read_as_people_write_them(bytes, text):
    assert size(bytes) == text


def test_an_estimate_reads_the_same_on_the_command_line_and_in_the_window(monkeypatch):
    monkeypatch.setattr(module, "free_bytes", lambda device: 8 * 10**9)
    config = PRESETS["gpt3"].config
    with pytest.raises(TooLarge) as refused:
        check_fits(config, "cpu")
    said = obstacle(config, "cpu", (DeviceInfo("cpu", "CPU", memory_bytes=8 * 10**9),))
    needed = size(ledger.needed_bytes(config))
    assert needed in str(refused.value)
    assert needed in said


class Types(TorchFunctionMode):
    """Which types of numbers every operation makes that Python asks for."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(each, torch.Tensor):
                self.seen.add(each.dtype)
        return result


def test_f12_no_float64_is_ever_made_while_building_running_or_inspecting(tiny):
    with Types() as types:
        for initialisation in ("step5", "build-gpt", "gpt2"):
            model = build(replace(tiny, initialisation=initialisation), 0)
        model(torch.tensor([[1, 2]]), torch.tensor([[2, 3]]))
        inspect(model, [1, 2, 3], attention=True)
        capture(model, [1, 2, 3], ["*"])
    assert torch.float32 in types.seen
    assert types.seen <= {torch.float32, torch.int64, torch.bool, torch.uint8}
