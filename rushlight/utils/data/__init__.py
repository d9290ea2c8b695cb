"""Data: from single samples to batches of tensors.

    dataset       samples, by index or from an iterator, and how they are fetched for a batch
    sampler       the order of the samples, and lists of indices for batches
    distributed   the share of each rank
    collate       a list of samples to one batch of tensors
    worker        processes that prefetch batches
    dataloader    `DataLoader`, which combines these

In PyTorch: `torch/utils/data/`.
"""

# ruff: noqa: F403
from rushlight.utils.data import dataset, distributed, sampler
from rushlight.utils.data.collate import default_collate, default_convert
from rushlight.utils.data.dataloader import DataLoader
from rushlight.utils.data.dataset import *
from rushlight.utils.data.distributed import *
from rushlight.utils.data.sampler import *

__all__ = ["DataLoader", "dataset", "default_collate", "default_convert", "distributed", "sampler"]
__all__ += [*dataset.__all__, *distributed.__all__, *sampler.__all__]
