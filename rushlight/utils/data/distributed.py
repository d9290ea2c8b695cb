"""A sampler for data-parallel training: each rank takes its share of the samples. In PyTorch:
`torch/utils/data/distributed.py`."""

import math
import sys
from collections.abc import Callable, Iterator, Sized
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native.random import Generator
from rushlight.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


def rank_indices(
    length: int,
    ranks: int,
    rank: int,
    permute: Callable[[int, int], list[int]] | None = None,
    seed: int = 0,
    epoch: int = 0,
    drop_last: bool = False,
) -> list[int]:
    """The indices of the samples that one rank gets in one epoch.

    The samples are in the order `permute(length, seed + epoch)`, or 0, 1, 2, ... without `permute`. All ranks have the same order,
    and each one takes every `ranks`-th index of it, the first one at the position `rank`.

    All ranks get equally many, because a rank with a batch more would wait in its last all-reduce. If `length` is no multiple of
    `ranks`, the order is repeated from its beginning until it is long enough, several times if there are fewer samples than ranks.
    With `drop_last` it is cut at its end instead, so a few samples have no rank in this epoch.

        >>> [rank_indices(5, 3, rank) for rank in range(3)]
        [[0, 3], [1, 4], [2, 0]]
        >>> [rank_indices(5, 3, rank, drop_last=True) for rank in range(3)]
        [[0], [1], [2]]

    Source: `torch/utils/data/distributed.py`, `DistributedSampler.__iter__`.

    Args:
        length: the number of samples, 0 or more.
        permute: returns a list of the numbers below its first argument, in an order that depends on the second one. The list is
            only read, because later calls may return the same one.
        seed: the same on all ranks.

    Returns:
        a new list.
    """
    order = range(length) if permute is None else permute(length, seed + epoch)
    count = length // ranks if drop_last else math.ceil(length / ranks)
    return [order[i % length] for i in range(rank, count * ranks, ranks)]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index, from the index `rank` on. All ranks get equally many: the first indices are repeated at the
    end, or, with `drop_last`, the last ones are dropped.

    All ranks shuffle by the same `seed`, plus the number of the epoch, which `set_epoch` sets: without it all epochs have the
    same order. By default, `num_replicas` and `rank` are those of the process group.

    Source: `torch/utils/data/distributed.py`, `DistributedSampler`.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = _process_group().get_world_size() if num_replicas is None else num_replicas
        rank = _process_group().get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        length = len(dataset) // num_replicas * num_replicas if drop_last else len(dataset)
        self.num_samples = math.ceil(length / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        permute = _permutation if self.shuffle else None
        ranks, rank, drop_last = self.num_replicas, self.rank, self.drop_last
        return iter(rank_indices(len(self.dataset), ranks, rank, permute, self.seed, self.epoch, drop_last))

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch


def _permutation(length: int, seed: int) -> list[int]:
    return functions.randperm(length, generator=Generator().manual_seed(seed)).tolist()


def _process_group() -> Any:
    """`torch.distributed`, on whose process groups `rushlight.distributed` runs. A program that has a group has imported it."""
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_initialized():
        raise ValueError("Default process group has not been initialized: give num_replicas and rank")
    return dist
