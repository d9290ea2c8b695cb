"""The MiniGPT: a transformer that predicts the next token, on rushlight or on torch. It has the form of GPT-2, small.

The residual stream has 64 numbers for each token. Its head is `Linear(64, 600)`, the layer that this course is about, and its
weight is also the embedding of the tokens.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


def gpt(
    xp: ModuleType, vocabulary: int = 600, width: int = 64, heads: int = 4, layers: int = 4, length: int = 64
) -> Any:
    """A new model, `xp.nn.Module`: tokens (batch, n), int64, to scores (batch, n, vocabulary). `xp` is rushlight or torch."""
    nn, F = xp.nn, xp.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            q, k, v = (
                each.unflatten(2, (heads, width // heads)).transpose(1, 2)
                for each in self.attention(self.norm_1(x)).split(width, 2)
            )
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.projection(mixed.transpose(1, 2).flatten(2))
            return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))

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

        def forward(self, tokens):
            x = self.token(tokens) + self.position(xp.arange(tokens.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return GPT()
