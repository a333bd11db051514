"""What these tests share: how an opened file is held against the model that was written."""

import pytest
import torch

from gpt_viz.engine.checkpoints.opening import open_checkpoint


@pytest.fixture
def opened_as():
    """Open a file and demand the original's logits from it, number by number; returns what was opened."""

    def check(path, original, *settings, within=1e-5):
        found = open_checkpoint(path, settings)
        ids = original.ids
        with torch.no_grad():
            logits, _ = found.model(ids)
        assert logits.dtype == torch.float32
        assert (logits - original.logits(ids)).abs().max() < within
        return found

    return check


@pytest.fixture
def said():
    """The details of the items of that name in a report, as one text."""

    def find(found, what):
        return " | ".join(detail for name, detail in found.report if name == what)

    return find
