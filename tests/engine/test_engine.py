"""The engine: what it starts with, what it builds and opens, what the machine can not do."""

import gc
import re
import threading
import weakref
from dataclasses import replace

import pytest
import torch
from engines import LETTERS, TINY, built, inspected, of, sampled

from gpt_viz import ledger
from gpt_viz.config import ConfigError, preset
from gpt_viz.engine import engine as module
from gpt_viz.engine.corpus import TextFileError
from gpt_viz.engine.devices import DeviceError, TooLarge
from gpt_viz.engine.engine import Engine, NoModel, make_engine
from gpt_viz.engine.fast import Fast
from gpt_viz.engine.initialise import build
from gpt_viz.engine.limits import OutOfMemory, Unsupported
from gpt_viz.engine.tokenizer import AlphabetError
from gpt_viz.protocol import (
    CURRENT,
    OTHER,
    Attended,
    Build,
    Cancel,
    Drawn,
    Drop,
    Dropped,
    EngineReady,
    Failed,
    Finished,
    Inspect,
    OpenText,
    Predict,
    Progress,
    Sample,
    TextOpened,
    Traced,
)
from gpt_viz.resources import alphabet
from gpt_viz.runner import Runner
from gpt_viz.worker import Mailbox, Worker


@pytest.fixture
def engine():
    return built()


def test_a_window_s_engine_leaves_one_core_to_the_window_and_says_what_there_is(monkeypatch):
    before = torch.get_num_threads()
    heard = []
    try:
        for cores, threads in ((8, 7), (2, 1), (1, 1)):
            monkeypatch.setattr(module, "_cores", lambda cores=cores: cores)
            make_engine(heard.append)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert [type(event) for event in heard] == [EngineReady] * 3
    assert (heard[0].job, heard[0].threads, heard[0].torch_version) == (0, 7, torch.__version__)
    assert heard[0].devices[0].name == "cpu"


def test_without_a_window_the_threads_are_torch_s_own():
    before = torch.get_num_threads()
    Engine()
    assert torch.get_num_threads() == before


def test_a_command_that_is_not_the_engine_s_is_an_error_of_the_program():
    with pytest.raises(TypeError, match="knows no command Cancel"):
        next(Engine().run(Cancel(job=1, target=2)))


@pytest.mark.parametrize("command", [Inspect(job=1, text="a"), Predict(job=1, text="a"), Sample(job=1, text="a")])
def test_without_a_model_it_says_what_to_do(command):
    with pytest.raises(NoModel, match="there is no model yet; build one first"):
        list(Engine().run(command))


def test_building_tells_its_progress_module_by_module_and_then_the_facts():
    events = list(Engine().run(Build(job=7, slot=OTHER, config=TINY, seed=5, device="cpu", alphabet=LETTERS)))
    progress = of(Progress, events)
    assert [event.done for event in progress] == list(range(1, progress[-1].total + 1))
    assert progress[0].what == "token_embedding"
    assert {(event.job, event.slot) for event in events} == {(7, OTHER)}
    info = events[-1].model
    assert (info.config, info.seed, info.device, info.alphabet) == (TINY, 5, "cpu", LETTERS)
    assert (info.total, info.bytes) == (4020, 4 * 4020)
    assert sum(tensor.count for tensor in info.tensors) == 4020 == ledger.total(TINY)


def test_the_time_of_building_leaves_out_what_others_did_in_between():
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    steps = Engine(clock=clock).run(Build(job=1, config=TINY, device="cpu", alphabet=LETTERS))
    events = []
    for event in steps:
        now[0] += 1000.0
        events.append(event)
    assert events[-1].model.elapsed_s == len(events)


@pytest.mark.parametrize("name", ["step5", "build-gpt"])
def test_a_built_preset_is_the_notebook_s_model(name):
    config = preset(name).config
    engine = built(config, alphabet(), seed=1337)
    expected = build(config, 1337)
    for (place, mine), (_, theirs) in zip(
        engine.model(CURRENT).model.named_parameters(), expected.named_parameters(), strict=True
    ):
        assert torch.equal(mine, theirs), place


def test_a08_a_built_model_is_in_eval_mode():
    assert not any(each.training for each in built(replace(TINY, dropout=0.5)).model(CURRENT).model.modules())


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        (Build(job=1, config=TINY, device="cpu", alphabet=tuple("abcdefghijklm")), AlphabetError, "13 different"),
        (Build(job=1, config=TINY, device="cuda:7", alphabet=LETTERS), DeviceError, "cuda:7"),
        (Build(job=1, config=TINY, device="cpu", seed=-1, alphabet=LETTERS), ConfigError, "seed -1"),
        (Build(job=1, config=TINY, device="cpu", seed=2**64, alphabet=LETTERS), ConfigError, "out of range"),
        (Build(job=1, config=preset("gpt3").config, device="cpu"), TooLarge, "GB"),
    ],
)
def test_a07_what_cannot_be_built_is_refused_at_once_and_the_old_model_stays(engine, command, error, message):
    before, text = engine.model(CURRENT), sampled(engine)
    with pytest.raises(error, match=message):
        next(engine.run(command))
    assert engine.model(CURRENT) is before
    assert sampled(engine) == text


def test_a_cancelled_build_leaves_the_old_model_and_the_random_numbers_as_they_were(engine):
    before, state = engine.model(CURRENT), torch.get_rng_state()
    steps = engine.run(Build(job=2, config=TINY, seed=9, device="cpu", alphabet=LETTERS))
    for _ in range(5):
        next(steps)
    assert engine.model(CURRENT) is before
    steps.close()
    assert engine.model(CURRENT) is before
    assert torch.equal(torch.get_rng_state(), state)


def test_a_build_that_fails_half_way_leaves_the_old_model(engine, monkeypatch):
    def failing(*_):
        yield 1, 3, "token_embedding"
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: 9 bytes")

    before = engine.model(CURRENT)
    monkeypatch.setattr(module, "build_steps", failing)
    with pytest.raises(OutOfMemory, match="cpu ran out of memory; this model needs about"):
        list(engine.run(Build(job=2, config=TINY, device="cpu", alphabet=LETTERS)))
    assert engine.model(CURRENT) is before


def test_e09_a_new_model_frees_the_old_one_with_all_that_was_made_for_it(engine):
    gc.collect()
    sampled(engine)
    inspected(engine)
    gone = [weakref.ref(engine.model(CURRENT).model), weakref.ref(engine.model(CURRENT).fast)]
    gc.disable()
    try:
        built(engine=engine)
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()


def test_dropping_empties_the_slot_and_frees_the_model(engine):
    built(engine=engine, slot=OTHER)
    gone = weakref.ref(engine.model(CURRENT).model)
    assert [type(event) for event in engine.run(Drop(job=2))] == [Dropped]
    assert gone() is None
    with pytest.raises(NoModel):
        engine.model(CURRENT)
    assert engine.model(OTHER).info.total == 4020
    assert [type(event) for event in engine.run(Drop(job=3))] == [Dropped]


def test_two_slots_hold_two_models():
    engine = built(seed=0)
    built(engine=engine, seed=1, slot=OTHER)
    one, two = (
        [event.id for event in of(Drawn, engine.run(Sample(job=2, slot=slot, text="abc", tokens=40)))]
        for slot in (CURRENT, OTHER)
    )
    assert one != two


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] . DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
)
def test_f13_out_of_memory_says_what_to_lower_and_the_next_run_works(engine, monkeypatch, error):
    held, events = [], []

    def failing(*_):
        step = torch.zeros(1000)
        held.append(weakref.ref(step))
        raise type(error)(*error.args)

    runner = Runner(engine, events.append)
    gc.collect()
    gc.disable()  # a failed step's memory goes at once, not when Python comes to look for it
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Fast, "_mix", failing)
            runner.submit(Sample(job=1, text="abc", tokens=5))
            while runner.advance():
                pass
        assert held[0]() is None
    finally:
        gc.enable()
    (failed,) = events
    assert failed.expected
    assert re.fullmatch(
        r"cpu ran out of memory; this model needs about .*; lower the block size, .* width", failed.message
    )
    assert len(sampled(engine)) == 20


def test_f12_an_operation_that_the_device_lacks_points_to_the_cpu(engine, monkeypatch):
    def failing(*_):
        raise NotImplementedError("The operator 'aten::erfinv.out' is not currently implemented for the MPS device.")

    held = engine.model(CURRENT)
    monkeypatch.setattr(Fast, "_mix", failing)
    held.info = replace(held.info, device="mps")
    with pytest.raises(
        Unsupported, match=r"mps lacks an operation .*\(aten::erfinv.out\); choose the device cpu"
    ) as told:
        list(engine.run(Sample(job=1, text="abc", tokens=5)))
    assert told.value.field == "device"
    held.info = replace(held.info, device="cpu")
    with pytest.raises(NotImplementedError):
        list(engine.run(Sample(job=1, text="abc", tokens=5)))


def test_an_error_of_the_program_stays_what_it_is(engine, monkeypatch):
    def failing(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(Fast, "_mix", failing)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        list(engine.run(Sample(job=1, text="abc", tokens=5)))


def test_a_text_file_is_opened_with_its_alphabet_its_notes_and_its_beginning(tmp_path):
    path = tmp_path / "<i>x.txt"
    path.write_bytes(b"\xef\xbb\xbf" + b"hello\r\n" * 2000)
    events = list(Engine().run(OpenText(job=1, path=str(path))))
    assert [type(event) for event in events[:-1]] == [Progress] * (len(events) - 1)
    assert (events[0].done, events[0].total, events[0].what) == (0, 14_003, "<i>x.txt")
    opened = events[-1]
    assert isinstance(opened, TextOpened)
    assert (opened.path, opened.name, opened.characters) == (str(path), "<i>x.txt", 12_000)
    assert opened.alphabet == tuple("\nehlo")
    assert opened.excerpt == ("hello\n" * 2000)[:5000]
    assert (opened.encoding, dict(opened.notes)) == ("utf-8", {"bom": 1, "crlf": 2000})


def test_c02_a_text_is_opened_with_the_encoding_that_was_chosen(tmp_path):
    path = tmp_path / "w1252.txt"
    path.write_bytes(b"it\x92s\n")
    with pytest.raises(TextFileError, match="byte 2 is 0x92"):
        list(Engine().run(OpenText(job=1, path=str(path))))
    assert list(Engine().run(OpenText(job=1, path=str(path), encoding="cp1252")))[-1].excerpt == "it\u2019s\n"


def test_an_opened_text_s_alphabet_makes_a_model(tmp_path):
    path = tmp_path / "abc.txt"
    path.write_bytes(b"abc abc abc\n" * 20)
    engine = Engine()
    characters = list(engine.run(OpenText(job=1, path=str(path))))[-1].alphabet
    built(replace(TINY, vocabulary=len(characters)), characters, engine=engine)
    assert set(sampled(engine, "abc", tokens=40)) <= set(characters)


def test_a_worker_with_the_real_engine_builds_samples_inspects_and_stops():
    done = threading.Semaphore(0)

    class Post(Mailbox):
        def put(self, event):
            super().put(event)
            if isinstance(event, (EngineReady, Finished, Failed)):
                done.release()

    worker = Worker(lambda emit: Engine(emit))
    worker.mailbox = Post()
    worker.start()
    worker.send(Build(job=1, config=TINY, device="cpu", alphabet=LETTERS))
    for _ in range(2):
        assert done.acquire(timeout=20)
    worker.send(Sample(job=2, text="abc", tokens=50))
    worker.send(Inspect(job=3, text="abc"))
    for _ in range(2):
        assert done.acquire(timeout=20)
    worker.send(Sample(job=4, text="abc"))
    assert worker.stop(20)
    events = worker.mailbox.drain()
    assert not of(Failed, events)
    assert len([event for event in of(Drawn, events) if event.job == 2]) == 50
    assert [type(event) for event in events if event.job == 3] == [Traced, Attended, Finished]
    assert events[-1].job == 4
