"""Cut a dimension into shards, one for each rank. One rule shards parameters, activations and placements.

In PyTorch: `torch/distributed/tensor/placement_types.py`, `Shard`; its rule is that of `torch.chunk`.
"""

from __future__ import annotations

from torch import Tensor


def shard_sizes(size: int, ranks: int) -> list[tuple[int, int]]:
    """Shard a dimension of `size` elements over `ranks` ranks: a list of the (size, offset) of each rank's shard.

    The rule is that of `torch.chunk`: all shards have ceil(size / ranks) elements as long as there are enough; one may be
    smaller, and those after it are empty. The offset of an empty shard is `size`.

    >>> shard_sizes(5, 4)
    [(2, 0), (2, 2), (1, 4), (0, 5)]

    Source: `torch/distributed/tensor/placement_types.py`, `Shard.local_shard_size_and_offset`.
    """
    full = -(-size // ranks)
    borders = [min(rank * full, size) for rank in range(ranks + 1)]
    return [(end - start, start) for start, end in zip(borders, borders[1:])]


def pieces(tensor: Tensor, dim: int, ranks: int) -> list[Tensor]:
    """The shards of a tensor along `dim`, by rank, as views of it."""
    return [tensor.narrow(dim, offset, size) for size, offset in shard_sizes(tensor.shape[dim], ranks)]
