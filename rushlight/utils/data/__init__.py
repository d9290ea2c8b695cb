"""Data: from single samples to batches of tensors.

    dataset       samples, by index or from an iterator
    sampler       the order of the samples, and lists of indices for batches
    collate       a list of samples to one batch of tensors
    fetch         from the indices of a batch to the collated batch
    worker        processes that prefetch batches
    dataloader    `DataLoader`, which combines these

In PyTorch: `torch/utils/data/`.
"""

from rushlight.utils.data import dataset, sampler
from rushlight.utils.data.collate import default_collate, default_convert
from rushlight.utils.data.dataloader import DataLoader
from rushlight.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from rushlight.utils.data.fetch import get_worker_info
from rushlight.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    batches,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "batches", "dataset",
    "default_collate", "default_convert", "get_worker_info", "random_split", "sampler",
]  # fmt: skip
