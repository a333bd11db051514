"""An independent GPT, written with einsum over plain arrays, and what each program would write of it to a file.

It shares no line with the model under test: the two can only agree by computing the same.
"""

import math
from dataclasses import dataclass, field

import torch


@dataclass
class Original:
    """Random weights in float32; the logits are computed in float64. The sizes are those that the cases call TINY."""

    V: int = 11
    T: int = 8
    C: int = 12
    H: int = 3
    L: int = 2
    qkv_bias: bool = True
    bias: bool = True
    head_bias: bool = False
    tied: bool = True
    tanh: bool = False
    seed: int = 0
    w: dict = field(default_factory=dict)

    def __post_init__(self):
        draws = torch.Generator().manual_seed(self.seed)

        def new(*shape, around=0.0):
            return around + 0.3 * torch.randn(*shape, generator=draws)

        C, D, w = self.C, self.C // self.H, self.w
        w["tokens"], w["positions"] = new(self.V, C), new(self.T, C)
        for layer in range(self.L):
            for norm in ("first", "second"):
                w[layer, norm, "gain"] = new(C, around=1.0)
                w[layer, norm, "shift"] = new(C) if self.bias else None
            for part in ("q", "k", "v"):
                w[layer, part] = new(self.H, D, C)
                w[layer, part, "shift"] = new(self.H, D) if self.qkv_bias else None
            for part, shape in (("mix", (C, C)), ("up", (4 * C, C)), ("down", (C, 4 * C))):
                w[layer, part] = new(*shape)
                w[layer, part, "shift"] = new(shape[0]) if self.bias else None
        w["last", "gain"] = new(C, around=1.0)
        w["last", "shift"] = new(C) if self.bias else None
        w["head"] = w["tokens"] if self.tied else new(self.V, C)
        w["head", "shift"] = new(self.V) if self.head_bias else None

    def rounded(self, dtype):
        """The same model as it is after its numbers were stored in a smaller type."""
        self.w = {name: None if each is None else each.to(dtype).float() for name, each in self.w.items()}
        if self.tied:
            self.w["head"] = self.w["tokens"]
        return self

    @property
    def ids(self):
        return torch.randint(self.V, (2, self.T), generator=torch.Generator().manual_seed(7))

    def logits(self, ids):
        """(B, T, V) float64."""
        w = {name: None if each is None else each.double() for name, each in self.w.items()}
        T, D = ids.shape[1], self.C // self.H

        def plus(x, shift):
            return x if shift is None else x + shift

        def norm(x, gain, shift):
            centred = x - x.mean(-1, keepdim=True)
            return plus(centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * gain, shift)

        def bend(x):
            if self.tanh:
                return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
            return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

        x = w["tokens"][ids] + w["positions"][:T]
        for layer in range(self.L):
            y = norm(x, w[layer, "first", "gain"], w[layer, "first", "shift"])
            q, k, v = (
                plus(torch.einsum("btc,hdc->bthd", y, w[layer, part]), w[layer, part, "shift"]) for part in "qkv"
            )
            scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(D)
            later = torch.arange(T)[None, :] > torch.arange(T)[:, None]
            weights = torch.where(later, 0.0, torch.exp(scores - scores.amax(-1, keepdim=True)))
            weights = weights / weights.sum(-1, keepdim=True)
            heard = torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
            x = x + plus(torch.einsum("btc,ec->bte", heard, w[layer, "mix"]), w[layer, "mix", "shift"])
            y = norm(x, w[layer, "second", "gain"], w[layer, "second", "shift"])
            y = bend(plus(torch.einsum("btc,ec->bte", y, w[layer, "up"]), w[layer, "up", "shift"]))
            x = x + plus(torch.einsum("btc,ec->bte", y, w[layer, "down"]), w[layer, "down", "shift"])
        x = norm(x, w["last", "gain"], w["last", "shift"])
        return plus(torch.einsum("btc,vc->btv", x, w["head"]), w["head", "shift"])

    # -- as each program names it --

    def _linear(self, into, name, matrix, shift):
        into[f"{name}.weight"] = matrix.clone()
        if shift is not None:
            into[f"{name}.bias"] = shift.clone()

    def _by_head(self, into, layer, name):
        """Both notebooks keep query, key and value of each head by themselves, and a mask in each."""
        w = self.w
        for head in range(self.H):
            for part, word in (("k", "key"), ("q", "query"), ("v", "value")):
                shift = w[layer, part, "shift"]
                self._linear(
                    into, f"{name}.{head}.{word}", w[layer, part][head], None if shift is None else shift[head]
                )
            into[f"{name}.{head}.tril"] = torch.tril(torch.ones(self.T, self.T))

    def _fused(self, layer):
        """Query, key and value of all heads below each other, (3C, C), and their biases."""
        w = self.w
        matrix = torch.cat([w[layer, part].reshape(self.C, self.C) for part in "qkv"])
        shifts = [w[layer, part, "shift"] for part in "qkv"]
        return matrix, None if shifts[0] is None else torch.cat([each.reshape(self.C) for each in shifts])

    def _notebook(self, tokens, positions, block, attention, mix, up, down, last, head):
        w, into = self.w, {f"{tokens}.weight": self.w["tokens"].clone(), f"{positions}.weight": self.w["positions"]}
        for layer in range(self.L):
            here = f"{block}.{layer}"
            self._linear(into, f"{here}.ln1", w[layer, "first", "gain"], w[layer, "first", "shift"])
            self._by_head(into, layer, f"{here}.{attention}.heads")
            self._linear(into, f"{here}.{mix}", w[layer, "mix"], w[layer, "mix", "shift"])
            self._linear(into, f"{here}.ln2", w[layer, "second", "gain"], w[layer, "second", "shift"])
            self._linear(into, f"{here}.{up}", w[layer, "up"], w[layer, "up", "shift"])
            self._linear(into, f"{here}.{down}", w[layer, "down"], w[layer, "down", "shift"])
        self._linear(into, last, w["last", "gain"], w["last", "shift"])
        self._linear(into, head, w["head"], w["head", "shift"])
        return into

    def step5(self):
        return self._notebook("tok", "pos", "blocks", "attn", "attn.proj", "mlp.fc", "mlp.proj", "lnf", "head")

    def build_gpt(self, table=""):
        return self._notebook(
            f"token_embedding{table}", f"position_embedding{table}", "blocks", "sa", "sa.proj", "ffwd.net.0",
            "ffwd.net.2", "ln_f", "lm_head",
        )  # fmt: skip

    def nanogpt(self, masks=False):
        """GPT-2's names with matrices as (outputs, inputs); minGPT's are the same, its masks always there."""
        w = self.w
        into = {"transformer.wte.weight": w["tokens"].clone(), "transformer.wpe.weight": w["positions"].clone()}
        for layer in range(self.L):
            here = f"transformer.h.{layer}"
            self._linear(into, f"{here}.ln_1", w[layer, "first", "gain"], w[layer, "first", "shift"])
            self._linear(into, f"{here}.attn.c_attn", *self._fused(layer))
            self._linear(into, f"{here}.attn.c_proj", w[layer, "mix"], w[layer, "mix", "shift"])
            if masks:
                into[f"{here}.attn.bias"] = torch.tril(torch.ones(self.T, self.T)).view(1, 1, self.T, self.T)
            self._linear(into, f"{here}.ln_2", w[layer, "second", "gain"], w[layer, "second", "shift"])
            self._linear(into, f"{here}.mlp.c_fc", w[layer, "up"], w[layer, "up", "shift"])
            self._linear(into, f"{here}.mlp.c_proj", w[layer, "down"], w[layer, "down", "shift"])
        self._linear(into, "transformer.ln_f", w["last", "gain"], w["last", "shift"])
        into["lm_head.weight"] = into["transformer.wte.weight"] if self.tied else w["head"].clone()
        return into

    def old_mingpt(self):
        w = self.w
        into = {"pos_emb": w["positions"].clone()[None], "tok_emb.weight": w["tokens"].clone()}
        for layer in range(self.L):
            here = f"blocks.{layer}"
            self._linear(into, f"{here}.ln1", w[layer, "first", "gain"], w[layer, "first", "shift"])
            self._linear(into, f"{here}.ln2", w[layer, "second", "gain"], w[layer, "second", "shift"])
            for part, word in (("k", "key"), ("q", "query"), ("v", "value")):
                self._linear(
                    into, f"{here}.attn.{word}", w[layer, part].reshape(self.C, self.C),
                    w[layer, part, "shift"].reshape(self.C),
                )  # fmt: skip
            into[f"{here}.attn.mask"] = torch.tril(torch.ones(self.T, self.T)).view(1, 1, self.T, self.T)
            self._linear(into, f"{here}.attn.proj", w[layer, "mix"], w[layer, "mix", "shift"])
            self._linear(into, f"{here}.mlp.0", w[layer, "up"], w[layer, "up", "shift"])
            self._linear(into, f"{here}.mlp.2", w[layer, "down"], w[layer, "down", "shift"])
        self._linear(into, "ln_f", w["last", "gain"], w["last", "shift"])
        into["head.weight"] = w["head"].clone()
        return into

    def gpt2(self, prefix=""):
        """Hugging Face's GPT-2: matrices in the blocks as (inputs, outputs), no output head in the file."""
        into = {name.replace("transformer.", prefix, 1): each for name, each in self.nanogpt().items()}
        del into["lm_head.weight"]
        turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
        return {name: each.t().contiguous() if name.endswith(turned) else each for name, each in into.items()}

    def model_args(self, **changes):
        """What nanoGPT writes of a model."""
        args = {
            "n_layer": self.L, "n_head": self.H, "n_embd": self.C, "block_size": self.T, "bias": self.bias,
            "vocab_size": self.V, "dropout": 0.0,
        }  # fmt: skip
        return args | changes

    def config_json(self, **changes):
        """What Hugging Face writes of a GPT-2."""
        return {
            "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new",
            "n_layer": self.L, "n_head": self.H, "n_embd": self.C, "n_positions": self.T, "n_ctx": self.T,
            "vocab_size": self.V, "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1, "embd_pdrop": 0.1,
            "attn_pdrop": 0.1, "n_inner": None, "scale_attn_weights": True,
        } | changes  # fmt: skip
