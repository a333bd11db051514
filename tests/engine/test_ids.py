"""Ids are checked before any device sees them."""

import numpy as np
import pytest
import torch

from gpt_viz.config import GPTConfig
from gpt_viz.engine.ids import IdsError, check_ids
from gpt_viz.engine.initialise import build
from gpt_viz.engine.taps import capture
from gpt_viz.engine.trace import inspect_steps, trace

BAD = [
    ([11], "id 11 at position 0 is not in the vocabulary; ids go from 0 to 10"),
    ([0, 3, -1], "id -1 at position 2 is not in the vocabulary; ids go from 0 to 10"),
    ([0] * 9, "9 ids are more than the block size of 8; give the last 8"),
    ([0.0, 1.0], "ids must be whole numbers, not float32"),
    (torch.zeros(1, 2, dtype=torch.float16), "ids must be whole numbers, not float16"),
    ([True, False], "ids must be whole numbers, not bool"),
    ([], "there are no ids; the model needs one at least"),
    (torch.zeros(0, 4, dtype=torch.long), "there are no ids; the model needs one at least"),
    (torch.zeros(2, 0, dtype=torch.long), "there are no ids; the model needs one at least"),
    (torch.tensor(3), "ids must be one text (T) or a batch of texts (B, T), not 0 axes"),
    (torch.zeros(1, 1, 1, dtype=torch.long), "ids must be one text (T) or a batch of texts (B, T), not 3 axes"),
    ([[1, 2], [3]], "ids must be whole numbers, as many in each text of the batch"),
    ("abc", "ids must be whole numbers, as many in each text of the batch"),
    ([2**70], "ids must be whole numbers, as many in each text of the batch"),
    ([[0, 1], [2, 11]], "id 11 at position 1 is not in the vocabulary; ids go from 0 to 10"),
]


@pytest.mark.parametrize(("ids", "message"), BAD)
def test_f14_a_bad_id_is_refused_in_one_sentence_that_names_it(ids, message, tiny):
    with pytest.raises(IdsError) as caught:
        check_ids(ids, tiny)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)
    assert caught.value.field == "text"


@pytest.mark.parametrize("ids", [each for each, _ in BAD])
def test_f14_no_bad_id_reaches_the_model_and_the_model_is_usable_afterwards(ids, tiny, monkeypatch):
    model = build(tiny, 0)
    before = trace(model, [1, 2])
    reached = []
    model.token_embedding.register_forward_pre_hook(lambda *args: reached.append(args))
    for call in (trace, lambda m, i: capture(m, i, ["*"]), lambda m, i: next(inspect_steps(m, i))):
        with pytest.raises(IdsError):
            call(model, ids)
    assert reached == []
    assert trace(model, [1, 2]) == before


def test_one_text_becomes_a_batch_of_one_of_int64():
    checked = check_ids([3, 0, 10], GPTConfig(vocabulary=11, block_size=3))
    assert checked.tolist() == [[3, 0, 10]]
    assert checked.dtype == torch.int64
    assert check_ids(torch.tensor([[1, 2], [3, 4]], dtype=torch.int32), GPTConfig()).tolist() == [[1, 2], [3, 4]]
    assert check_ids(np.array([5, 6]), GPTConfig()).tolist() == [[5, 6]]
