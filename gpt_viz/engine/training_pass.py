"""The pass that a model is trained by: the lesson's own, with all heads of a layer in one go. Knows no optimizer.

The same weights and the same formulas as `model.forward` in train mode, in another order of sums: what it gives agrees
with the lesson to rounding, and a step takes a tenth less time. Dropout draws its numbers in another order, too.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from torch import Tensor

from gpt_viz.engine.model import GPT, Block
from gpt_viz.engine.packed import linear, norm, packed


class TrainingPass:
    """A pass in pieces: `begin`, each `block`, `end`. All B·T tokens of a batch stand under each other, as (B·T, C).

    Dropout, where the model has it, draws from torch's global generator. The model's modes and stashes are left alone.
    """

    def __init__(self, model: GPT) -> None:
        self._model = model
        self._blocks = [block for block in model.blocks if isinstance(block, Block)]
        self._dropout = model.config.dropout
        self._approximate = "tanh" if model.config.gelu == "tanh" else "none"

    def begin(self, ids: Tensor) -> Tensor:
        """The embeddings of the ids (B, T): (B·T, C)."""
        return self._model.embed(ids).flatten(0, 1)

    def mask(self, x: Tensor, tokens: int) -> Tensor:
        """What is added to a batch's scores: nothing (T, T), but -inf where a token would look at a later one."""
        return torch.full((tokens, tokens), float("-inf"), dtype=x.dtype, device=x.device).triu(1)

    def block(self, number: int, x: Tensor, mask: Tensor) -> Tensor:
        """One block for x (B·T, C), in which T tokens of each text follow each other, as the `mask` (T, T) has them."""
        H, T, C = self._model.config.heads, len(mask), x.shape[-1]
        layer = packed(self._blocks[number])
        qkv = linear(norm(layer.ln1, x), layer.qkv).view(-1, T, 3, H, C // H)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).reshape(3, -1, T, C // H)  # (B·H, T, D) each
        masked = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=(C // H) ** -0.5)  # (B·H, T, T)
        out = self._dropped(F.softmax(masked, dim=-1)) @ v  # (B·H, T, D)
        concat = out.view(-1, H, T, C // H).transpose(1, 2).reshape(-1, C)
        mid = x + self._dropped(linear(concat, layer.proj))
        gelu = F.gelu(linear(norm(layer.ln2, mid), layer.expand), approximate=self._approximate)
        return mid + self._dropped(linear(gelu, layer.contract))

    def end(self, x: Tensor, targets: Tensor) -> Tensor:
        """The loss () of x (B·T, C) in nats per token, where the `targets` (B, T) come next."""
        return self._model.compare(self._model.read_out(x).view(*targets.shape, -1), targets)

    def loss(self, ids: Tensor, targets: Tensor) -> Tensor:
        """The whole pass: the loss () of the ids (B, T)."""
        x = self.begin(ids)
        mask = self.mask(x, ids.shape[-1])
        for number in range(len(self._blocks)):
            x = self.block(number, x, mask)
        return self.end(x, targets)

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self._dropout) if self._dropout else x
