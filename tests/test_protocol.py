"""Every Command and Event, found by walking the package: frozen, slotted, picklable, typed, and without tensors."""

import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import typing
from types import NoneType, UnionType

import numpy as np
import pytest

from gpt_viz import explanation, measures, protocol
from gpt_viz.config import GPTConfig
from gpt_viz.engine.engine import Engine
from gpt_viz.protocol import (
    Build,
    Command,
    DeviceInfo,
    Drop,
    Event,
    Explain,
    Inspect,
    MeasureSteps,
    OpenStep,
    OpenText,
    OpenWeights,
    Predict,
    RunChecks,
    Sample,
)
from gpt_viz.schedule import TrainingSettings

TINY = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
SUBJECTS = [
    importlib.import_module(f"gpt_viz.protocol.{each.name}") for each in pkgutil.iter_modules(protocol.__path__)
]
CLASSES = [
    each
    for module in (*SUBJECTS, measures, explanation)
    for _, each in inspect.getmembers(module, inspect.isclass)
    if each.__module__ == module.__name__
]
COMMANDS = [each for each in CLASSES if issubclass(each, Command) and each is not Command]
EVENTS = [each for each in CLASSES if issubclass(each, Event) and each is not Event]
NAMES = {
    **vars(explanation),
    **vars(measures),
    **vars(protocol),
    "np": np,
    "ClassVar": typing.ClassVar,
    "TrainingSettings": TrainingSettings,
    "GPTConfig": GPTConfig,
}


def hints(kind):
    return {
        name: hint
        for name, hint in typing.get_type_hints(kind, NAMES).items()
        if typing.get_origin(hint) is not typing.ClassVar
    }


def example(hint):
    """Some value of that type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        return example(inner[0])
    if origin is tuple:
        return (example(inner[0]),) if inner[1:] == (...,) else tuple(map(example, inner))
    if dataclasses.is_dataclass(hint):
        return made(hint)
    if hint is np.ndarray:
        array = np.arange(3, dtype=np.float32)
        array.setflags(write=False)
        return array
    return {int: 3, float: 0.5, str: "a", bool: True, NoneType: None}[hint]


def made(kind):
    """An instance with every field filled."""
    return TINY if kind is GPTConfig else kind(**{name: example(hint) for name, hint in hints(kind).items()})


def fits(value, hint):
    """Whether a value is of the declared type, all the way down."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        return any(fits(value, each) for each in inner)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inner[1:] == (...,):
            return all(fits(each, inner[0]) for each in value)
        return len(value) == len(inner) and all(map(fits, value, inner))
    if hint is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == np.float32 and not value.flags.writeable
    if hint is int:
        return type(value) is int
    if hint is float:
        return type(value) in (float, int)
    return isinstance(value, hint)


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, each.name), getattr(other, each.name)) for each in dataclasses.fields(one)
        )
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_all_of_them_are_imported_from_the_package_itself():
    assert len(COMMANDS) >= 21
    assert len(EVENTS) >= 28
    for each in CLASSES:
        if each.__module__.startswith("gpt_viz.protocol."):
            assert getattr(protocol, each.__name__) is each
            assert each.__name__ in protocol.__all__


def test_a_command_and_an_event_are_written_with_all_their_fields():
    assert repr(protocol.Cancel(job=3, target=2)) == "Cancel(job=3, slot='current', asker='', target=2)"
    assert repr(protocol.Finished(job=4, slot="other")) == "Finished(job=4, slot='other', took_s=0.0)"


def test_the_walk_finds_them_all():
    assert {each.__name__ for each in COMMANDS} >= {
        "Build",
        "Drop",
        "Inspect",
        "Predict",
        "Sample",
        "OpenText",
        "Cancel",
    }
    assert {each.__name__ for each in EVENTS} >= {"Built", "Traced", "Attended", "Drawn", "Distribution", "Failed"}


@pytest.mark.parametrize("kind", CLASSES)
def test_each_is_frozen_slotted_and_says_what_it_is(kind):
    assert dataclasses.is_dataclass(kind)
    value = made(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, dataclasses.fields(kind)[0].name, 1)
    assert not hasattr(value, "__dict__")
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{kind.__name__}(")


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS])
def test_each_takes_its_fields_by_name_only(kind):
    with pytest.raises(TypeError):
        kind(1)
    assert all(each.kw_only for each in dataclasses.fields(kind))


@pytest.mark.parametrize("kind", CLASSES)
def test_each_survives_the_way_to_another_process(kind):
    value = made(kind)
    assert same(pickle.loads(pickle.dumps(value)), value)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_field_is_typed_and_of_plain_data_or_arrays(kind):
    def check(hint):
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, UnionType, tuple):
            for each in inner:
                check(each)
        else:
            plain = hint in (int, float, str, bool, NoneType, np.ndarray, ...)
            # Settings of modules that know no torch and no Qt may travel along, frozen as they are.
            ours = dataclasses.is_dataclass(hint) and hint.__module__.startswith("gpt_viz.") and hint.__hash__
            assert plain or ours, hint

    assert set(hints(kind)) == {each.name for each in dataclasses.fields(kind)}
    for hint in hints(kind).values():
        check(hint)


@pytest.mark.parametrize("kind", COMMANDS)
def test_each_command_has_a_number_a_slot_and_a_lane_unless_it_steers_another(kind):
    assert {"job", "slot"} <= {each.name for each in dataclasses.fields(kind)}
    assert bool(kind.lane) is not hasattr(kind, "target")


@pytest.mark.parametrize("kind", EVENTS)
def test_each_event_names_its_job_and_is_equal_only_to_itself(kind):
    value = made(kind)
    assert value.job == 3
    assert value == value
    assert value != made(kind)
    assert isinstance(kind.picture, bool)


def answers(tmp_path):
    """What a real engine answers to every command that it takes."""
    path = tmp_path / "text.txt"
    path.write_bytes(b"abcdefghijk\r\n")
    heard = []
    engine = Engine(heard.append)
    for command in (
        Build(job=1, config=TINY, device="cpu", alphabet=tuple("abcdefghijk")),
        Inspect(job=2, text="abcdefghijk"),
        Inspect(job=3, text="a?"),
        Inspect(job=4, text="a"),
        MeasureSteps(job=9, text="abcdefghijk"),
        OpenStep(job=10, text="abc", step="blocks.1.attn.heads.2.masked"),
        Explain(job=11, text="abc", step="blocks.1.ln2", index=(0, 2, 5)),
        OpenWeights(job=13, parameter="blocks.1.attn.heads.2"),
        Predict(job=5, text="abc", chosen=1),
        Sample(job=6, text="abc", tokens=10, temperature=1),
        RunChecks(job=12, text="abcdefghijk", names=("causality", "layernorm", "device")),
        OpenText(job=7, path=str(path)),
        Drop(job=8),
    ):
        heard += [event for event in engine.run(command) if event is not None]
    return heard


def test_what_a_real_engine_answers_is_of_the_declared_types_its_arrays_read_only_float32(tmp_path):
    events = answers(tmp_path)
    seen = {type(event) for event in events}
    assert {each.__name__ for each in seen} >= {
        "EngineReady", "Progress", "Built", "Dropped", "Traced", "Attended", "TextRefused", "Distribution", "Drawn",
        "TextOpened",
    }  # fmt: skip
    for event in events:
        for name, hint in hints(type(event)).items():
            assert fits(getattr(event, name), hint), f"{type(event).__name__}.{name}: {getattr(event, name)!r}"
        assert same(pickle.loads(pickle.dumps(event)), event)


def test_a_device_is_usable_where_no_reason_speaks_against_it():
    assert DeviceInfo("cpu", "CPU").usable
    assert not DeviceInfo("cuda", "NVIDIA GPU", "no driver").usable


def test_the_text_of_an_id_is_its_character_its_number_or_a_placeholder(tmp_path):
    info = next(event for event in answers(tmp_path) if isinstance(event, protocol.Built)).model
    assert [info.piece(id) for id in (0, 10, 11)] == ["a", "k", "‹11›"]
    assert dataclasses.replace(info, alphabet=None).piece(12) == "12"
