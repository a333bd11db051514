"""The GPT itself, to be read from top to bottom in the order of a forward pass. Knows nothing of training or sampling.

Letters: B texts in the batch, T tokens in each, V vocabulary, N block size (the most tokens), C width, H heads,
D = C / H width of one head, L layers. The names of the variables are the names of the places that the window shows.
"""

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own custom)
from torch import Tensor, nn

from gpt_viz.config import GPTConfig


class Head(nn.Module):
    """One head of attention: every token asks (q), is found (k) and hands over (v). x (B, T, C) becomes (B, T, D).

    `mask` (T, T) is True where a token would look at a later one. `A` is the attention of the last pass, detached:
    (B, T, T), one row per query, rows sum to 1. It is kept only while `stash` is on.
    """

    stash: bool = True
    A: Tensor | None = None

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.key = nn.Linear(config.width, config.head_width, bias=config.qkv_bias)
        self.query = nn.Linear(config.width, config.head_width, bias=config.qkv_bias)
        self.value = nn.Linear(config.width, config.head_width, bias=config.qkv_bias)
        self.dropout = nn.Dropout(config.dropout)
        self.scale = config.scale

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Look back over the text: softmax(q·kᵀ / √D)·v, the future hidden."""
        q = self.query(x)  # (B, T, D)
        k = self.key(x)  # (B, T, D)
        v = self.value(x)  # (B, T, D)
        D = q.shape[-1]
        products = q @ k.transpose(-2, -1)  # (B, T, T)
        # The same number twice over, but for its last bit: one notebook divides, the other multiplies.
        scores = products / D**0.5 if self.scale == "divide" else products * D**-0.5  # (B, T, T)
        masked = scores.masked_fill(mask, float("-inf"))  # (B, T, T)
        A = F.softmax(masked, dim=-1)  # (B, T, T)
        self.A = A.detach() if self.stash else None
        out: Tensor = self.dropout(A) @ v  # (B, T, D)
        return out


class MultiHeadAttention(nn.Module):
    """All heads of a layer side by side, then one projection that mixes them. x (B, T, C) becomes (B, T, C)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.heads = nn.ModuleList(Head(config) for _ in range(config.heads))
        self.proj = nn.Linear(config.width, config.width, bias=config.bias)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Ask every head, put their answers side by side, mix them."""
        concat = torch.cat([head(x, mask) for head in self.heads], dim=-1)  # (B, T, H·D) = (B, T, C)
        proj: Tensor = self.dropout(self.proj(concat))  # (B, T, C)
        return proj


class FeedForward(nn.Module):
    """Each token by itself: four times as wide, bent, and back. x (B, T, C) becomes (B, T, C)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.fc = nn.Linear(config.width, 4 * config.width, bias=config.bias)
        self.proj = nn.Linear(4 * config.width, config.width, bias=config.bias)
        self.dropout = nn.Dropout(config.dropout)
        self.approximate = "tanh" if config.gelu == "tanh" else "none"

    def forward(self, x: Tensor) -> Tensor:
        """Expand, bend, contract."""
        expand = self.fc(x)  # (B, T, 4C)
        gelu = F.gelu(expand, approximate=self.approximate)  # (B, T, 4C)
        contract: Tensor = self.dropout(self.proj(gelu))  # (B, T, C)
        return contract


class Block(nn.Module):
    """One layer: tokens talk (attention), then each thinks (feed-forward); both only add to what was there."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(config.width, bias=config.bias)
        self.attn = MultiHeadAttention(config)
        self.ln2 = nn.LayerNorm(config.width, bias=config.bias)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Add what attention says, then what the feed-forward part says. x (B, T, C) becomes (B, T, C)."""
        ln1 = self.ln1(x)  # (B, T, C)
        mid = x + self.attn(ln1, mask)  # (B, T, C)
        ln2 = self.ln2(mid)  # (B, T, C)
        out: Tensor = mid + self.mlp(ln2)  # (B, T, C)
        return out


class GPT(nn.Module):
    """The whole model: for each token of a text, how likely each token of the vocabulary is to come next."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocabulary, config.width)
        self.position_embedding = nn.Embedding(config.block_size, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.width, bias=config.bias)
        self.head = nn.Linear(config.width, config.vocabulary, bias=config.head_bias)
        if config.tied_head:
            self.head.weight = self.token_embedding.weight

    def forward(self, ids: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """One pass over `ids` (B, T): the logits (B, T, V), and the loss where the `targets` (B, T) are known."""
        x = self.embed(ids)  # (B, T, C)
        mask = self.mask(x)  # (T, T)
        for block in self.blocks:
            x = block(x, mask)  # (B, T, C)
        logits = self.read_out(x)  # (B, T, V)
        return logits, None if targets is None else self.compare(logits, targets)

    def embed(self, ids: Tensor) -> Tensor:
        """What each token is, plus where it stands. ids (B, T) become (B, T, C)."""
        positions = torch.arange(ids.shape[-1], device=ids.device)  # (T,)
        token_embedding = self.token_embedding(ids)  # (B, T, C)
        position_embedding = self.position_embedding(positions)  # (T, C)
        embedded: Tensor = token_embedding + position_embedding  # (B, T, C)
        return embedded

    def mask(self, x: Tensor) -> Tensor:
        """True where a token (row) would look at a later one (column). x (B, T, C) has the length; made once a pass."""
        T = x.shape[-2]
        return torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)  # (T, T)

    def read_out(self, x: Tensor) -> Tensor:
        """Turn what each token has become into a score for each token of the vocabulary. (B, T, C) to (B, T, V)."""
        ln_f = self.ln_f(x)  # (B, T, C)
        logits: Tensor = self.head(ln_f)  # (B, T, V)
        return logits

    def compare(self, logits: Tensor, targets: Tensor) -> Tensor:
        """How surprised the model is by what really came next: cross entropy, in nats per token (the mean)."""
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())  # ()
        return loss
