"""The MiniGPT: a transformer that predicts the next token, on rushlight or on torch. It has the form of GPT-2, small.

The residual stream has 64 numbers for each token. Its head is `Linear(64, 600)`, the layer that this course is about, and its
weight is also the embedding of the tokens.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from rushlight.course.sampling import KeyValues, append, visible


def gpt(
    xp: ModuleType, vocabulary: int = 600, width: int = 64, heads: int = 4, layers: int = 4, length: int = 64
) -> Any:
    """A new model, `xp.nn.Module`: tokens (batch, n), int64, to scores (batch, n, vocabulary). `xp` is rushlight or torch.

    With a cache, from `sampling.new_cache`, the tokens follow those that the cache knows, and are added to it.
    """
    nn, F = xp.nn, xp.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, cache=None):
            q, k, v = (
                each.unflatten(2, (heads, width // heads)).transpose(1, 2)
                for each in self.attention(self.norm_1(x)).split(width, 2)
            )
            if cache is None:
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                k, v = append(cache, k, v)
                mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible(xp, q.shape[2], k.shape[2]))
            x = x + self.projection(mixed.transpose(1, 2).flatten(2))
            return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))

        def new_cache(self, batch):
            return KeyValues(*(self.down.weight.new_zeros(batch, heads, length, width // heads) for _ in range(2)))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
            for name, each in self.named_parameters():
                if name.endswith("bias"):
                    nn.init.zeros_(each)
                elif each.dim() == 2:
                    deep = name.endswith(("projection.weight", "down.weight"))  # each block adds two to the stream
                    nn.init.normal_(each, std=0.02 / (2 * layers) ** 0.5 if deep else 0.02)
            self.head.weight = self.token.weight

        def forward(self, tokens, cache=None):
            start = cache[0].length if cache else 0
            x = self.token(tokens) + self.position(xp.arange(start, start + tokens.shape[1]))
            for i, block in enumerate(self.blocks):
                x = block(x, cache[i] if cache else None)
            return self.head(self.norm(x))

    return GPT()
