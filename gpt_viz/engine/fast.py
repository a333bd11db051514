"""The same weights packed for sampling: one matrix for all heads, and keys and values remembered. Never stashes A.

While the window is not full, a new token needs a pass of itself alone: its keys and values join those of the tokens
before it. Once the window slides, every token stands at another position, so the whole window is passed again, the
last block only for the last token. Agrees with `model.forward` in eval mode within 1e-5.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from torch import Tensor, nn

from gpt_viz.engine.ids import check_ids
from gpt_viz.engine.model import GPT, Block
from gpt_viz.engine.side_by_side import query_key_value
from gpt_viz.engine.writes import Writes

# Multiply-adds from which on a pass pauses between its blocks: some milliseconds of one core.
LARGE = 2.5e8
# So often a pass begins anew when the weights changed under it; then it goes through without a pause.
_PATIENCE = 2
# Results of fewer tokens are small enough to be made anew each time.
_MANY = 16


class _Linear(NamedTuple):
    """x·weight + bias, where the weight (in, out) is a view of the model's own (out, in)."""

    weight: Tensor
    bias: Tensor | None


class _Layer(NamedTuple):
    """One block's weights. `qkv` is C wide in and 3·C out: all queries, then all keys, then all values."""

    ln1: nn.LayerNorm
    qkv: _Linear
    proj: _Linear
    ln2: nn.LayerNorm
    expand: _Linear
    contract: _Linear


class Fast:
    """A model's weights, packed, with the keys and values of the text that it read last.

    Each pass sees whether the weights were written to (see Writes) and packs them again. Torch's fused optimizers and
    replaced parameters go unseen: tell them with `torch.autograd.graph.increment_version` or call `repack`. A new model
    needs a new Fast.
    """

    def __init__(self, model: GPT) -> None:
        self._model = model
        self._config = model.config
        self._approximate = "tanh" if model.config.gelu == "tanh" else "none"
        self._pass: object = None
        self.repack()

    @property
    def stale(self) -> bool:
        """Whether the weights have changed since they were packed."""
        return self._writes.any

    def repack(self) -> None:
        """Pack the weights as they are now, and forget what was read with the old ones."""
        self._writes = Writes(self._model)
        with torch.no_grad():
            self._layers = [_packed(block) for block in self._model.blocks if isinstance(block, Block)]
        self._tokens: Tensor = self._model.token_embedding.weight
        self._positions: Tensor = self._model.position_embedding.weight
        self._answer: tuple[list[int], Tensor] | None = None
        self._read: list[int] = []
        self._memory: list[tuple[Tensor, Tensor]] = []
        like = self._model.head.weight
        self._wide = like.new_empty(self._config.block_size * 4 * self._config.width, requires_grad=False)

    def next_logits(self, ids: Sequence[int]) -> Tensor:
        """The logits (V,) of what comes after the ids, of which the last `block_size` are seen. Raises IdsError.

        Not to be changed: the same ids give the same tensor again.
        """
        steps = self.steps(ids, pausing=False)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                logits: Tensor = end.value
                return logits

    def steps(self, ids: Sequence[int], *, pausing: bool = True) -> Generator[None, None, Tensor]:
        """`next_logits`, where a large pass yields between its blocks. It still sees one state of the weights.

        Several may be under way at once: whoever finds that another has read in between begins anew.
        """
        for attempt in range(_PATIENCE + 1):
            if self.stale:
                self.repack()
            window = list(ids[-self._config.block_size :])
            if self._answer is not None and self._answer[0] == window:
                return self._answer[1]
            keep = len(ids) <= self._config.block_size
            past = self._known(window) if keep else 0
            on_device = self._checked(window[past:])
            mine = self._pass = object()
            self._answer, self._read = None, self._read[:past]
            large = on_device.numel() * 12 * self._config.width**2 * self._config.layers > LARGE
            pause = pausing and large and attempt < _PATIENCE
            with torch.inference_mode():
                x = self._embed(on_device, past)
            for number in range(len(self._layers)):
                with torch.inference_mode():
                    x = self._block(x, number, past, keep)
                if pause:
                    yield
                    if self._pass is not mine or self.stale:
                        break
            else:
                with torch.inference_mode():
                    logits = self._read_out(x[-1:])[0]
                self._answer, self._read = (window, logits), window if keep else []
                return logits
        raise AssertionError("the last attempt does not pause")

    def logits(self, ids: Sequence[int]) -> Tensor:
        """The logits (T, V) after each of at most `block_size` ids, in one pass that remembers nothing. IdsError."""
        if self.stale:
            self.repack()
        on_device = self._checked(ids)
        with torch.inference_mode():
            x = self._embed(on_device, 0)
            for layer in self._layers:
                q, k, v = self._qkv(layer, x, len(x))
                x = self._mix(layer, x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
            return self._read_out(x)

    def _checked(self, ids: Sequence[int]) -> Tensor:
        """The ids (T,) on the model's device. Raises IdsError."""
        plain = 0 < len(ids) <= self._config.block_size and set(map(type, ids)) == {int}
        # For a few ids ten times faster than by tensors, and it is asked for each token.
        if plain and min(ids) >= 0 and max(ids) < self._config.vocabulary:
            return torch.tensor(ids, device=self._tokens.device)
        return check_ids(ids, self._config)[0].to(self._tokens.device)

    def _known(self, window: list[int]) -> int:
        """How many tokens of the window are remembered, where only one is new; otherwise a whole pass is cheaper."""
        past = len(window) - 1
        return past if past > 0 and self._read[:past] == window[:past] else 0

    def _block(self, x: Tensor, number: int, past: int, keep: bool) -> Tensor:
        """One block for the tokens x (T, C) that follow `past` remembered ones."""
        layer = self._layers[number]
        T = len(x)
        # What comes after the last block is read at the last token alone.
        asking = 1 if number == len(self._layers) - 1 else T
        q, k, v = self._qkv(layer, x, asking)
        if keep:
            keys, values = self._remembered(number, k)
            keys[:, :, past : past + T], values[:, :, past : past + T] = k, v
            k, v = keys[:, :, : past + T], values[:, :, : past + T]
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=asking > 1)
        return self._mix(layer, x[-asking:], heads)

    def _remembered(self, number: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values of a layer, (1, H, N, D) each, made when the first token comes."""
        if number == len(self._memory):
            shape = (1, like.shape[1], self._config.block_size, like.shape[3])
            self._memory.append((like.new_empty(shape), like.new_empty(shape)))
        return self._memory[number]

    def _embed(self, ids: Tensor, past: int) -> Tensor:
        """Token and position embeddings added, (T, C)."""
        return F.embedding(ids, self._tokens).add_(self._positions[past : past + len(ids)])

    def _qkv(self, layer: _Layer, x: Tensor, asking: int) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the last `asking` tokens and keys and values of all: (1, H, asking, D), (1, H, T, D) twice."""
        T, C = x.shape
        H = self._config.heads
        ln1 = _norm(layer.ln1, x)
        if asking == T:
            q, k, v = _linear(ln1, layer.qkv, self._room(T, 3 * C)).view(1, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
            return q, k, v
        weight, bias = layer.qkv
        asks = _Linear(weight[:, :C], None if bias is None else bias[:C])
        tells = _Linear(weight[:, C:], None if bias is None else bias[C:])
        q = _linear(ln1[-asking:], asks).view(1, asking, H, C // H).transpose(1, 2)
        k, v = _linear(ln1, tells).view(1, T, 2, H, C // H).permute(2, 0, 3, 1, 4)
        return q, k, v

    def _mix(self, layer: _Layer, x: Tensor, heads: Tensor) -> Tensor:
        """The rest of a block after its heads (1, H, T, D): projection, feed-forward part, and both sums. (T, C)."""
        T, C = x.shape
        mid = _linear(heads.transpose(1, 2).reshape(T, C), layer.proj).add_(x)
        expand = _linear(_norm(layer.ln2, mid), layer.expand, self._room(T, 4 * C))
        gelu = F.gelu(expand, approximate=self._approximate, out=expand)  # type: ignore[call-arg]
        return mid.add_(_linear(gelu, layer.contract))

    def _room(self, T: int, width: int) -> Tensor | None:
        """Where a wide result may lie for the moment: a large tensor made anew costs as much as the sums in it."""
        return self._wide[: T * width].view(T, width) if T >= _MANY else None

    def _read_out(self, x: Tensor) -> Tensor:
        """The logits (T, V)."""
        head = self._model.head
        return F.linear(_norm(self._model.ln_f, x), head.weight, head.bias)


def _packed(block: Block) -> _Layer:
    """The block's weights, its heads' matrices side by side; the others are the model's own tensors."""
    maps = query_key_value(block.attn)
    bias = torch.cat([each.bias for each in maps]) if maps[0].bias is not None else None
    return _Layer(
        ln1=block.ln1,
        qkv=_Linear(torch.cat([each.weight for each in maps]).t(), bias),
        proj=_own(block.attn.proj),
        ln2=block.ln2,
        expand=_own(block.mlp.fc),
        contract=_own(block.mlp.proj),
    )


def _own(linear: nn.Linear) -> _Linear:
    return _Linear(linear.weight.t(), linear.bias)


def _linear(x: Tensor, linear: _Linear, out: Tensor | None = None) -> Tensor:
    if linear.bias is None:
        return torch.mm(x, linear.weight, out=out)
    return torch.addmm(linear.bias, x, linear.weight, out=out)


def _norm(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
