"""When a training loop waits for its data: the rules of a `DataLoader` with workers, on a clock that nobody has to wait for.

In PyTorch: `torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter`, with `in_order=True`. Left out: the time that
a batch needs from process to process, pinning, and workers that end early.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["batch_times"]


def batch_times(
    load: Sequence[int], step: Sequence[int], num_workers: int, prefetch_factor: int = 2
) -> list[tuple[int, int]]:
    """When a training loop asks for each batch, and when it gets it.

    The loop asks for batch 0 at time 0. It gets a batch when it is loaded, computes its step, and asks for the next one. So the
    device is idle between asking and getting.

    Without workers, the loop loads each batch itself when it asks for it.

    With workers, batch i belongs to worker i % `num_workers`. A worker loads its batches in their order, one at a time. It begins
    a batch as soon as it has been told to, and is done with the one before. At time 0, the workers are told to load the
    first `prefetch_factor` · `num_workers` batches. At the moment at which the loop gets a batch, a worker is told to load the next
    batch that no worker was told of. The loop gets the batches in order: one that is ready early waits.

    Args:
        load: for each batch, the time to load it.
        step: for each batch, the time of its training step.
        num_workers: 0 or more.
        prefetch_factor: 1 or more.

    Returns:
        a list with a pair (asked, got) for each batch.

    >>> batch_times([30, 30, 30], [10, 10, 10], num_workers=0)
    [(0, 30), (40, 70), (80, 110)]
    >>> batch_times([30, 30, 30, 30], [10, 10, 10, 10], num_workers=2, prefetch_factor=1)
    [(0, 30), (40, 40), (50, 60), (70, 70)]

    Source: `torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter._try_put_index` and `_next_data`.
    """
    times, asked, done = [], 0, [0] * num_workers
    ahead = prefetch_factor * num_workers
    for i in range(len(load)):
        if num_workers == 0:
            got = asked + load[i]
        else:
            requested = times[i - ahead][1] if i >= ahead else 0
            done[i % num_workers] = max(requested, done[i % num_workers]) + load[i]
            got = max(asked, done[i % num_workers])
        times.append((asked, got))
        asked = got + step[i]
    return times
