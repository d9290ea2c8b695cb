"""A sampler for data-parallel training: each rank takes its share of the samples. In PyTorch:
`torch/utils/data/distributed.py`."""

import math
import sys
from collections.abc import Iterator, Sized
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native.random import Generator
from rushlight.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


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
        length = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = functions.randperm(length, generator=generator).tolist()
        else:
            indices = list(range(length))
        if length:
            indices = (indices * math.ceil(self.total_size / length))[: self.total_size]
        return iter(indices[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch


def _process_group() -> Any:
    """`torch.distributed`, on whose process groups `rushlight.distributed` runs. A program that has a group has imported it."""
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_initialized():
        raise ValueError("Default process group has not been initialized: give num_replicas and rank")
    return dist
