"""One linear layer, Linear(64, 600), trained by several processes, each on its part of every batch.

The function `train` is the same whoever starts the processes:

    torchrun --standalone --nproc-per-node 2 train_head.py     # processes that find each other by the environment
    python train_head.py                                       # `run_ranks`, as in a notebook

Both print the same losses. On a machine with GPUs they train there, unless RUSHLIGHT_DEVICE=cpu is in the environment: by NCCL, if
each process has its own GPU, otherwise by gloo on one GPU.
"""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # while there is no group: its defaults would hold the group, with gloo's threads, until the end
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from rushlight.distributed import backend, device, run_ranks

STEPS, BATCH = 10, 32  # rows of a batch, of all ranks together


def train() -> list[float]:
    """The mean loss of all ranks in each step."""
    rank, ranks, place = dist.get_rank(), dist.get_world_size(), device()
    rows = torch.Generator().manual_seed(1)  # the same batches everywhere
    torch.manual_seed(rank)  # other weights on each: DDP begins with those of rank 0
    head = DistributedDataParallel(torch.nn.Linear(64, 600, device="cpu").to(place))
    optimizer = torch.optim.SGD(head.parameters(), lr=0.5)
    losses = []
    for _ in range(STEPS):
        x = torch.randn(BATCH, 64, generator=rows, device="cpu")  # a GPU would draw other numbers
        y = x[:, :10].argmax(1) * 60
        mine = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
        loss = cross_entropy(head(x[mine].to(place)), y[mine].to(place))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach() / ranks
        dist.all_reduce(mean)
        losses.append(round(mean.item(), 4))
    return losses


if __name__ == "__main__":
    if dist.is_torchelastic_launched():
        dist.init_process_group(backend(int(os.environ["LOCAL_WORLD_SIZE"])))
        losses = train()
        if dist.get_rank() == 0:
            print(*losses)
        dist.destroy_process_group()
    else:
        print(*run_ranks(train, 2)[0])
