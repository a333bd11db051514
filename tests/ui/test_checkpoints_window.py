"""Checkpoints in the window: opened, asked about, refused, saved; the model that was there stays until another does."""

import json
import os

import pytest
import torch
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QHelpEvent
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QLabel, QToolTip

from gpt_viz.config import GPTConfig
from gpt_viz.engine.checkpoints.opening import open_checkpoint
from gpt_viz.engine.checkpoints.saving import save
from gpt_viz.engine.initialise import build
from gpt_viz.ui.opening import is_checkpoint

CONFIG = GPTConfig(vocabulary=11, block_size=8, layers=2, heads=3, width=12, qkv_bias=True, tied_head=True)
ALPHABET = tuple(" abcdefghij")
WAIT = 20_000


@pytest.fixture
def ours(tmp_path):
    """A file of our own of a model that reads eleven characters."""
    save(tmp_path / "mine.safetensors", build(CONFIG, 3), alphabet=ALPHABET, seed=3)
    return str(tmp_path / "mine.safetensors")


def nanogpt_state():
    """The same weights as nanoGPT names them."""
    state = build(CONFIG, 3).state_dict()
    found = {"transformer.wte.weight": state["token_embedding.weight"]}
    found["transformer.wpe.weight"] = state["position_embedding.weight"]
    for layer in range(2):
        here, there = f"blocks.{layer}", f"transformer.h.{layer}"
        for kind in ("weight", "bias"):
            parts = [f"{here}.attn.heads.{h}.{part}.{kind}" for part in ("query", "key", "value") for h in range(3)]
            found[f"{there}.attn.c_attn.{kind}"] = torch.cat([state[each] for each in parts])
            for theirs, ourname in (("ln_1", "ln1"), ("ln_2", "ln2"), ("attn.c_proj", "attn.proj"),
                                    ("mlp.c_fc", "mlp.fc"), ("mlp.c_proj", "mlp.proj")):  # fmt: skip
                found[f"{there}.{theirs}.{kind}"] = state[f"{here}.{ourname}.{kind}"]
    return found | {f"transformer.ln_f.{kind}": state[f"ln_f.{kind}"] for kind in ("weight", "bias")}


@pytest.fixture
def bare(tmp_path):
    """Those weights and nothing else: who opens them is asked for the heads."""
    torch.save(nanogpt_state(), tmp_path / "ckpt.pt")
    return str(tmp_path / "ckpt.pt")


def wait_settled(window, qtbot, act):
    with qtbot.waitSignal(window.builder.settled, timeout=WAIT):
        act()


def said(window):
    return window.messages.strip.text()


def test_what_is_meant_as_a_checkpoint_is_told_by_its_name(tmp_path):
    assert is_checkpoint("a/ckpt.pt")
    assert is_checkpoint("MODEL.SAFETENSORS")
    assert is_checkpoint(str(tmp_path))
    assert not is_checkpoint("poem.txt")


def test_an_opened_checkpoint_fills_the_window(window, qtbot, ours):
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(ours))
    built = window.subject.built
    assert (built.config, built.alphabet, built.source) == (CONFIG, ALPHABET, "mine.safetensors")
    assert "mine.safetensors" in window.windowTitle()
    assert "Opened mine.safetensors" in said(window)
    assert set(window.study.prompt) <= set(ALPHABET)
    qtbot.waitUntil(lambda: window.study.tokens is not None and len(window.study.tokens.ids) == 8, timeout=WAIT)
    assert window.form.alphabet() == ALPHABET
    assert not window.subject.what_if


def test_the_report_can_be_read_as_plain_text(window, qtbot, ours):
    window.checkpoints.show_report()
    assert "No checkpoint" in said(window)
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(ours))
    window.checkpoints.show_report()
    dialog = window.findChild(QDialog, "checkpoint.report")
    labels = dialog.findChildren(QLabel)
    texts = [each.text() for each in labels]
    assert "recognised" in texts
    assert any("11 characters in the file" in each for each in texts)
    assert all(each.textFormat() == Qt.TextFormat.PlainText for each in labels)
    dialog.reject()


def test_the_report_is_offered_only_while_the_model_is_from_a_checkpoint(window, qtbot, ours, monkeypatch):
    report, menu, told = window.actions_["checkpoint.report"], window.topbar.menu.menu(), []
    menu.resize(menu.sizeHint())
    monkeypatch.setattr(QToolTip, "showText", lambda place, text, widget: told.append(text))

    def reason():
        place = menu.actionGeometry(report).center()
        QApplication.sendEvent(menu, QHelpEvent(QEvent.Type.ToolTip, place, menu.mapToGlobal(place)))
        return told.pop()

    assert not report.isEnabled()
    assert reason() == "There is a report once a checkpoint is opened; the model under study is from none"
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(ours))
    assert report.isEnabled()
    assert reason() == ""
    wait_settled(window, qtbot, lambda: window.topbar.preset_chosen.emit("step5"))
    assert not report.isEnabled()


def test_d14_what_a_file_does_not_say_is_asked_and_the_answer_opens_it(window, qtbot, bare):
    before = window.subject.built
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(bare))
    question = window.findChild(QInputDialog, "checkpoint.question")
    assert question.comboBoxItems() == ["1", "2", "3", "4", "6", "12"]
    assert window.subject.built is before
    question.setTextValue("3")
    wait_settled(window, qtbot, question.accept)
    assert window.subject.built.config.heads == 3
    assert window.subject.built.alphabet is None
    assert window.study.prompt == "0 1 2 3 4 5 6 7"


def test_d14_a_question_that_is_not_answered_changes_nothing(window, qtbot, bare):
    before = window.subject.built
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(bare))
    window.findChild(QInputDialog, "checkpoint.question").reject()
    assert window.subject.built is before


def test_d03_a_hostile_file_runs_nothing_and_the_model_stays(window, qtbot, tmp_path):
    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "marker"),)

    torch.save({"model": Attack()}, tmp_path / "x.pt")
    before = window.subject.built
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(str(tmp_path / "x.pt")))
    assert "x.pt wants to run code" in said(window)
    assert window.subject.built is before
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + b"\0" * 40, b"<html></html>", b"version https://git-lfs"])
def test_d06_a_broken_file_is_one_sentence_and_the_model_stays(window, qtbot, tmp_path, content):
    (tmp_path / "x.safetensors").write_bytes(content)
    before, prompt = window.subject.built, window.study.prompt
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(str(tmp_path / "x.safetensors")))
    assert said(window).startswith("Not opened: x.safetensors is ")
    assert "\x1b" not in said(window)
    assert (window.subject.built, window.study.prompt) == (before, prompt)
    assert window.form.build.isEnabled()


def test_d13_a_padded_vocabulary_is_shown_with_placeholders(window, qtbot, tmp_path):
    config = GPTConfig(vocabulary=16, block_size=8, layers=1, heads=3, width=12)
    save(tmp_path / "padded.safetensors", build(config, 3), alphabet=ALPHABET, seed=3)
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(str(tmp_path / "padded.safetensors")))
    assert window.subject.built.piece(15) == "‹15›"
    assert window.form.alphabet() == ALPHABET
    window.call("sampling", "step")
    qtbot.waitUntil(lambda: len(window.study.draws) == 1, timeout=WAIT)


def test_d16_a_half_precision_file_fills_every_panel(window, qtbot, tmp_path):
    torch.save({name: each.bfloat16() for name, each in build(CONFIG, 3).state_dict().items()}, tmp_path / "half.pt")
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(str(tmp_path / "half.pt"), ("alphabet=a b",)))
    assert window.subject.built.bytes == 4 * 4_020
    window.checkpoints.show_report()
    dialog = window.findChild(QDialog, "checkpoint.report")
    assert any("bfloat16" in each.text() for each in dialog.findChildren(QLabel))
    dialog.reject()


def test_a_model_is_saved_and_opened_again(window, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "kept"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    window.actions_["checkpoint.save"].trigger()
    qtbot.waitUntil(lambda: "Saved to" in said(window), timeout=WAIT)
    found = open_checkpoint(f"{path}.safetensors")
    assert found.model.config == window.subject.built.config
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (f"{path}.safetensors", ""))
    wait_settled(window, qtbot, window.actions_["checkpoint.open"].trigger)
    assert window.subject.built.source == "kept.safetensors"


def test_a_model_that_can_not_be_saved_is_one_sentence(window, qtbot, tmp_path):
    window.checkpoints.save(str(tmp_path / "missing" / "x.safetensors"))
    qtbot.waitUntil(lambda: said(window).startswith("Not saved: there is no folder"), timeout=WAIT)


def test_a_dropped_checkpoint_is_opened_as_one(window, qtbot, ours):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(ours)])
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    event = QDropEvent(QPointF(5, 5), action, data, button, Qt.KeyboardModifier.NoModifier)
    wait_settled(window, qtbot, lambda: window.dropEvent(event))
    assert window.subject.built.source == "mine.safetensors"


@pytest.mark.parametrize("words", [("--checkpoint",), ()])
def test_the_window_begins_with_a_checkpoint_and_its_text(open_window, ours, words):
    window = open_window(*words, ours, "--text", "a bad cab")
    assert window.subject.built.source == "mine.safetensors"
    assert window.study.prompt == "a bad cab"


def test_c13_a_checkpoint_that_can_not_be_opened_at_the_start_leaves_the_usual_model(open_window, tmp_path):
    (tmp_path / "x.pt").write_bytes(b"")
    window = open_window("--checkpoint", str(tmp_path / "x.pt"))
    assert window.subject.built.source == ""
    assert "x.pt is empty" in said(window)


def test_settings_go_with_the_checkpoint_of_a_start(open_window, bare):
    window = open_window("--checkpoint", bare, "--set", "heads=3", "--set", "alphabet= abcdefghij")
    assert window.subject.built.config.heads == 3
    assert window.subject.built.alphabet == ALPHABET


def test_a_model_of_pieces_is_read_and_sampled_in_pieces(window, qtbot, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the")]
    vocabulary = {each: id for id, each in enumerate([*letters, "th", "the", "Ġthe"])}
    library = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    library.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = tokenizers.decoders.ByteLevel()
    config = GPTConfig(vocabulary=len(vocabulary), block_size=16, layers=1, heads=3, width=12)
    path = tmp_path / "pieces.safetensors"
    save(path, build(config, 0), alphabet=None, seed=0, tokenizer=library.to_str())
    wait_settled(window, qtbot, lambda: window.builder.open_checkpoint(str(path)))
    window.prompt.setText("the the")
    window.study.set_prompt("the the")
    qtbot.waitUntil(
        lambda: window.study.tokens is not None and window.study.tokens.pieces == ("the", " the"), timeout=WAIT
    )
    window.selection.choose(query=1)
    panel = window.panels["sampling"]
    qtbot.waitUntil(lambda: len(panel.view) == 2, timeout=WAIT)
    assert panel.view.text() == "the the"
    window.call("sampling", "step")
    qtbot.waitUntil(lambda: len(window.study.draws) == 1, timeout=WAIT)
    qtbot.waitUntil(lambda: len(panel.view) == 3, timeout=WAIT)
    assert json.dumps(panel.view.text()).startswith('"the the')
    text = tmp_path / "poem.txt"
    text.write_text("the theme", encoding="utf-8")
    before = window.subject.built
    window.texts.open(str(text))
    qtbot.waitUntil(lambda: window.study.prompt == "the theme", timeout=WAIT)
    assert window.subject.built is before  # it reads any text: nothing is built for one
