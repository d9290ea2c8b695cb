"""The MiniGPT: a transformer that predicts the next token, on rushlight or on torch. It has the form of GPT-2, small.

The residual stream has 64 numbers for each token. Its head is `Linear(64, 600)`, the layer that this course is about, and its
weight is also the embedding of the tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rushlight.course.sampling import KeyValues, append, visible

Tensor = Any
"""Of rushlight or of torch."""


def split_heads(x: Tensor, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """The queries, the keys and the values of all heads, as views of one tensor.

    For each token, the last dimension of `x` has its query, then its key, then its value, `width` numbers each. Of these, each head
    has width / heads that are next to each other: the first head the first ones.

    >>> x = rl.arange(12).reshape(1, 1, 12)
    >>> [part.flatten(0, 2).tolist() for part in split_heads(x, 2)]
    [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]

    Args:
        x: (batch, n, 3 · width), of any strides, not empty. `width` is a multiple of `heads`.

    Returns:
        a tuple of three views of `x`, (batch, heads, n, width / heads), through which gradients reach `x`.

    Source: `torch/nn/functional.py`, `_in_projection_packed`, `multi_head_attention_forward`.
    """
    return tuple(part.unflatten(2, (heads, -1)).transpose(1, 2) for part in x.chunk(3, 2))


def merge_heads(x: Tensor) -> Tensor:
    """The numbers of all heads of a token, one head after the other.

    >>> x = rl.tensor([[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]])  # 2 heads, 2 tokens
    >>> merge_heads(x).tolist()
    [[[0, 1, 4, 5], [2, 3, 6, 7]]]

    Args:
        x: (batch, heads, n, size), of any strides, not empty.

    Returns:
        (batch, n, heads · size): a view of `x` if its strides allow one, a copy if not. A gradient of it reaches `x`.

    Source: `torch/nn/functional.py`, `multi_head_attention_forward`.
    """
    return x.transpose(1, 2).flatten(2)


def forward_block(block: Any, x: Tensor, heads: int, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
    """One block of the MiniGPT. It reads the residual stream twice, and each time adds to it what it computed.

    First, attention: `norm_1`, then `attention`, which gives queries, keys and values. `attend` mixes their heads, and `projection`
    mixes the result. Second, for each token alone: `norm_2`, then `up`, `activation` and `down`. Only what is read is normalised,
    and the stream itself is not.

    >>> block = gpt(rl, width=8, heads=2, layers=1).blocks[0]
    >>> for layer in (block.projection, block.down):  # now the block adds zeros
    ...     _ = rl.nn.init.zeros_(layer.weight)
    >>> x = rl.randn(1, 3, 8)
    >>> rl.equal(forward_block(block, x, 2, lambda q, k, v: v), x)
    True

    Args:
        block: a module with the seven modules that are named above.
        x: (batch, n, width), the residual stream. It does not change.
        attend: takes queries, keys and values (batch, heads, n, size), returns a tensor of the same sizes.

    Returns:
        the stream after the block, (batch, n, width). A gradient of it reaches `x` and each parameter of the block.

    Source: `torch/nn/modules/transformer.py`, `TransformerEncoderLayer.forward` with `norm_first=True`.
    """
    query, key, value = split_heads(block.attention(block.norm_1(x)), heads)
    x = x + block.projection(merge_heads(attend(query, key, value)))
    return x + block.down(block.activation(block.up(block.norm_2(x))))


def gpt(
    xp: ModuleType,
    vocabulary: int = 600,
    width: int = 64,
    heads: int = 4,
    layers: int = 4,
    length: int = 64,
    attend: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None,
) -> Any:
    """A new model, `xp.nn.Module`: tokens (batch, n), int64, to scores (batch, n, vocabulary). `xp` is rushlight or torch.

    With a cache, from `sampling.new_cache`, the tokens follow those that the cache knows, and are added to it. `attend`, if given,
    replaces the fused causal attention where there is no cache.
    """
    nn, attention = xp.nn, xp.nn.functional.scaled_dot_product_attention

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.activation = nn.GELU(approximate="tanh")

        def forward(self, x, cache=None):
            def mix(q, k, v):
                if cache is not None:
                    k, v = append(cache, k, v)
                    return attention(q, k, v, attn_mask=visible(xp, q.shape[2], k.shape[2]))
                return attend(q, k, v) if attend else attention(q, k, v, is_causal=True)

            return forward_block(self, x, heads, mix)

        def new_cache(self, batch):
            return KeyValues(*(self.down.weight.new_zeros(batch, heads, length, width // heads) for _ in range(2)))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
            for name, parameter in self.named_parameters():
                if name.endswith("bias"):
                    nn.init.zeros_(parameter)
                elif parameter.dim() == 2:
                    deep = name.endswith(("projection.weight", "down.weight"))  # each block adds two to the stream
                    nn.init.normal_(parameter, std=0.02 / (2 * layers) ** 0.5 if deep else 0.02)
            self.head.weight = self.token.weight

        def forward(self, tokens, cache=None):
            start = cache[0].length if cache else 0
            x = self.token(tokens) + self.position(xp.arange(start, start + tokens.shape[1]))
            for i, block in enumerate(self.blocks):
                x = block(x, cache[i] if cache else None)
            return self.head(self.norm(x))

    return GPT()
