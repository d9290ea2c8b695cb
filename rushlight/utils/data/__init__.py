"""Data: from single samples to batches of tensors.

    dataset       samples, by index or one after the other
    sampler       in which order, and how the order is cut into batches
    collate       one batch from the samples of a piece
    fetch         the three steps for one piece
    worker        processes that fetch ahead
    dataloader    all together

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
