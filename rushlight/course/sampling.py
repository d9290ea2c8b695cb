"""What a language model says: the scores of the next token, cut and drawn from, and a cache that makes each next token cheap.

A token's keys and values depend on the tokens before it alone, so a layer keeps them (`KeyValues`), and the model computes only
the new tokens. Nothing here belongs to one framework: `xp` is rushlight or torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

Tensor = Any
"""Of rushlight or of torch."""


# The cache -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class KeyValues:
    """The keys and the values of one block. There is memory for all positions, of which the first `length` are written.

    `keys` and `values` are (batch, heads, positions, width of a head).
    """

    keys: Tensor
    values: Tensor
    length: int = 0


def new_cache(model: Any, batch: int = 1) -> list[KeyValues]:
    """An empty cache for a `gpt`, one entry for each block, with memory for all its positions."""
    return [block.new_cache(batch) for block in model.blocks]


def append(cache: KeyValues, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Write the keys and values of new tokens behind the old ones. Returns all that are known by now, as views of the cache."""
    start, cache.length = cache.length, cache.length + keys.shape[2]
    known = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
    known[0][:, :, start:].copy_(keys)
    known[1][:, :, start:].copy_(values)
    return known


def visible(xp: ModuleType, new: int, known: int) -> Tensor | None:
    """The mask (new, known) of the last `new` of `known` tokens: True where a token sees another. None if one sees all."""
    if new == 1:
        return None
    return xp.ones(new, known, dtype=xp.bool).tril(known - new)
