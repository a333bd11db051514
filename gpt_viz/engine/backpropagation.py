"""The way there and the way back through a model, written out: the loss of a batch, and all weights' gradients.

Each piece has two methods. `there` does what the lesson's forward does in train mode, and remembers what the way back
needs. `back` takes the gradient of what the piece gave, d, adds to the `grad` of its own weights, and returns the
gradient of what it was given: the chain rule, piece by piece. Source: Rumelhart, Hinton and Williams, "Learning
representations by back-propagating errors".

torch's autograd gives the same gradients, to rounding, and tests hold both together. It is not asked because a step
with it takes some twentieth more time, and because a way that is written out can pause between any two blocks.

All tokens of a batch stand below each other: x is (n, C) with n = B·T. Gradients have the shape of what they are of.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from torch import Tensor, nn

from gpt_viz.config import GPTConfig
from gpt_viz.engine import model as lesson
from gpt_viz.engine.side_by_side import query_key_value

aten = torch.ops.aten


class Linear:
    """A matrix, and a bias. Several matrices for the same x count as one, side by side."""

    def __init__(self, *maps: nn.Linear) -> None:
        self._maps = maps
        self._sizes = [each.out_features for each in maps]

    def there(self, x: Tensor) -> Tensor:
        """x (n, in) becomes (n, out)."""
        self._x, self._weight = x, _joined([each.weight for each in self._maps])
        biases = [each.bias for each in self._maps if each.bias is not None]
        return F.linear(x, self._weight, _joined(biases) if biases else None)

    def back(self, d: Tensor) -> Tensor:
        """d (n, out) becomes (n, in)."""
        for each, gradient in zip(self._maps, torch.split(d.t() @ self._x, self._sizes), strict=True):
            _add(each.weight, gradient)
        if self._maps[0].bias is not None:
            for each, gradient in zip(self._maps, torch.split(d.sum(0), self._sizes), strict=True):
                _add(each.bias, gradient)
        return d @ self._weight


class Norm:
    """LayerNorm of each row."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        self._norm = norm

    def there(self, x: Tensor) -> Tensor:
        """x (n, C) stays (n, C)."""
        norm = self._norm
        normed, *figures = torch.native_layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        self._x, self._figures = x, figures  # the mean of each row, and one over its standard deviation
        return normed

    def back(self, d: Tensor) -> Tensor:
        """d (n, C) stays (n, C)."""
        norm, wanted = self._norm, [True, True, self._norm.bias is not None]
        d, weight, bias = aten.native_layer_norm_backward(
            d, self._x, norm.normalized_shape, *self._figures, norm.weight, norm.bias, wanted
        )
        _add(norm.weight, weight)
        _add(norm.bias, bias)
        return d


class Gelu:
    """GELU of each number, exact or by tanh."""

    def __init__(self, config: GPTConfig) -> None:
        self._approximate = "tanh" if config.gelu == "tanh" else "none"

    def there(self, x: Tensor) -> Tensor:
        """x keeps its shape."""
        self._x = x
        return F.gelu(x, approximate=self._approximate)

    def back(self, d: Tensor) -> Tensor:
        """d keeps its shape."""
        result: Tensor = aten.gelu_backward(d, self._x, approximate=self._approximate)
        return result


class Dropout:
    """Each number becomes 0 with a chance of p, else 1 / (1 - p) times itself. Draws from torch's global generator."""

    def __init__(self, p: float) -> None:
        self._p = p

    def there(self, x: Tensor) -> Tensor:
        """x keeps its shape."""
        if not self._p:
            return x
        kept = 1 - self._p
        self._factors = torch.empty_like(x).bernoulli_(kept)
        if kept:
            self._factors.div_(kept)
        return x * self._factors

    def back(self, d: Tensor) -> Tensor:
        """d keeps its shape."""
        return d * self._factors if self._p else d


class Attention:
    """All heads of a layer at once: each query is held against the keys up to its own, and the values mixed by that.

    `mask` (T, T) is added to the scores: 0, or -inf where a token would look at a later one.
    """

    def __init__(self, config: GPTConfig, mask: Tensor) -> None:
        self._config, self._mask = config, mask
        self._dropout = Dropout(config.dropout)

    def there(self, qkv: Tensor) -> Tensor:
        """All queries, then all keys, then all values (n, 3·C), become what the heads give, side by side (n, C)."""
        H, T, D = self._config.heads, len(self._mask), self._config.head_width
        self._qkv = qkv.view(-1, T, 3, H, D).permute(2, 0, 3, 1, 4).reshape(3, -1, T, D)
        q, k, v = self._qkv  # (B·H, T, D) each
        masked = torch.baddbmm(self._mask, q, k.transpose(1, 2), alpha=D**-0.5)  # (B·H, T, T)
        self._A = F.softmax(masked, dim=-1)
        self._weights = self._dropout.there(self._A)
        return torch.bmm(self._weights, v).view(-1, H, T, D).transpose(1, 2).reshape(-1, H * D)

    def back(self, d: Tensor) -> Tensor:
        """d (n, C) becomes (n, 3·C)."""
        H, T, D = self._config.heads, len(self._mask), self._config.head_width
        q, k, v = self._qkv
        of_qkv = torch.empty_like(self._qkv)
        of_out = d.view(-1, T, H, D).transpose(1, 2).reshape(-1, T, D)  # (B·H, T, D)
        torch.bmm(self._weights.transpose(1, 2), of_out, out=of_qkv[2])
        of_weights = self._dropout.back(torch.bmm(of_out, v.transpose(1, 2)))  # (B·H, T, T)
        # Masked cells get 0: A is 0 there, and the gradient of a softmax is a multiple of what it gave.
        of_products = aten._softmax_backward_data(of_weights, self._A, -1, self._A.dtype).mul_(D**-0.5)
        torch.bmm(of_products, k, out=of_qkv[0])
        torch.bmm(of_products.transpose(1, 2), q, out=of_qkv[1])
        return of_qkv.view(3, -1, H, T, D).permute(1, 3, 0, 2, 4).reshape(-1, 3 * H * D)


class Block:
    """One layer: what comes in, plus what attention says of it, plus what the feed-forward part says of that."""

    def __init__(self, block: lesson.Block, config: GPTConfig, mask: Tensor) -> None:
        qkv = Linear(*query_key_value(block.attn))
        self._attention = (
            Norm(block.ln1), qkv, Attention(config, mask), Linear(block.attn.proj), Dropout(config.dropout),
        )  # fmt: skip
        self._feed_forward = (
            Norm(block.ln2), Linear(block.mlp.fc), Gelu(config), Linear(block.mlp.proj), Dropout(config.dropout),
        )  # fmt: skip

    def there(self, x: Tensor) -> Tensor:
        """x (n, C) stays (n, C)."""
        for branch in (self._attention, self._feed_forward):
            said = x
            for piece in branch:
                said = piece.there(said)
            x = said.add_(x)
        return x

    def back(self, d: Tensor) -> Tensor:
        """d (n, C) stays (n, C): a sum hands its gradient to both of its terms."""
        for branch in (self._feed_forward, self._attention):
            of_said = d
            for piece in reversed(branch):
                of_said = piece.back(of_said)
            d = of_said.add_(d)
        return d


class Embedding:
    """What each token is, plus where it stands."""

    def __init__(self, model: lesson.GPT) -> None:
        self._model = model

    def there(self, ids: Tensor) -> Tensor:
        """ids (B, T) become (n, C)."""
        self._ids = ids
        return self._model.embed(ids).flatten(0, 1)

    def back(self, d: Tensor) -> None:
        """d (n, C) goes to the rows that were looked up."""
        tokens, positions = self._model.token_embedding, self._model.position_embedding
        d = d.view(*self._ids.shape, -1)  # (B, T, C)
        _add(tokens.weight, aten.embedding_dense_backward(d, self._ids, tokens.num_embeddings, -1, False))
        unused = positions.num_embeddings - d.shape[1]
        _add(positions.weight, F.pad(d.sum(0), (0, 0, 0, unused)))


class Loss:
    """How surprised the model is by what comes next: cross entropy in nats per token, the mean over all n."""

    def __init__(self, model: lesson.GPT) -> None:
        self._norm, self._head = Norm(model.ln_f), Linear(model.head)

    def there(self, x: Tensor, targets: Tensor) -> Tensor:
        """x (n, C) and the targets (B, T) become the loss ()."""
        self._targets = targets.flatten()
        self._log_probabilities = F.log_softmax(self._head.there(self._norm.there(x)), dim=-1)  # (n, V)
        return F.nll_loss(self._log_probabilities, self._targets)

    def back(self) -> Tensor:
        """The gradient (n, C). That of a logit is its probability, less 1 where it is the target's, over n."""
        d = self._log_probabilities.exp_()  # in place: they are not needed again
        d[torch.arange(len(d), device=d.device), self._targets] -= 1
        return self._norm.back(self._head.back(d.div_(len(d))))


class Backpropagation:
    """All pieces for batches of texts of `tokens` T each: the `embedding`, the `blocks`, the `loss`.

    What they remember stays until the next batch takes its place: memory that is given back after each batch, to be
    asked for again in the next, costs a twentieth of the time.
    """

    def __init__(self, model: lesson.GPT, tokens: int) -> None:
        like = model.head.weight
        mask = torch.full((tokens, tokens), float("-inf"), dtype=like.dtype, device=like.device).triu(1)
        self.embedding = Embedding(model)
        self.blocks = [Block(each, model.config, mask) for each in model.blocks if isinstance(each, lesson.Block)]
        self.loss = Loss(model)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))


def _add(parameter: Tensor | None, gradient: Tensor | None) -> None:
    """One more part of the parameter's gradient, as a tied head has two. Frozen ones get none."""
    if parameter is None or gradient is None or not parameter.requires_grad:
        return
    parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
