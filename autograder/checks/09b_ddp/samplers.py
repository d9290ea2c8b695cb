"""Lab 09, which samples a rank gets."""

from __future__ import annotations

from functools import cache

from ...engine.check import program
from ..cases import drawn, explained, rows


@program(
    "utils.data.distributed.rank_indices",
    cases=drawn(
        length=(0, 30), ranks=(1, 7), shuffle=[True, True, False], seed=(0, 9), epochs=(1, 3), drop_last=[True, False]
    ),
    edges=rows(
        "length ranks shuffle seed epochs drop_last",
        (5, 3, False, 0, 1, False), (5, 3, False, 0, 1, True), (6, 3, False, 0, 1, False), (6, 3, False, 0, 1, True),
        (2, 7, False, 0, 1, False), (2, 7, False, 0, 1, True), (1, 3, False, 0, 1, False), (0, 2, False, 0, 1, False),
        (0, 2, True, 0, 1, True), (8, 2, True, 3, 3, False), (9, 4, True, 3, 3, False), (9, 4, True, 3, 3, True),
        (3, 7, True, 1, 2, False), (4, 1, True, 0, 2, False),
    ),
    hint=explained(
        indices="a row for each epoch, and in it a list for each rank", order="`permute` returned this list; it is only read"
    ),
)  # fmt: skip
def indices(xp, length, ranks, shuffle, seed, epochs, drop_last):
    import torch

    @cache
    def permute(length, seed):
        return torch.randperm(length, generator=torch.Generator().manual_seed(seed)).tolist()

    function, order = xp.utils.data.distributed.rank_indices, permute if shuffle else None
    given = [
        [function(length, ranks, i, order, seed, epoch, drop_last) for i in range(ranks)] for epoch in range(epochs)
    ]
    once_more = function(length, ranks, 0, order, seed, 0, drop_last)
    given[0][0].append("changed")  # a result is the caller's own
    again = [once_more, function(length, ranks, 0, order, seed, 0, drop_last)]
    return {"indices": [*given, again], "order": permute(length, seed)}


@indices.oracle
def torch_indices(torch, length, ranks, shuffle, seed, epochs, drop_last):
    from torch.utils.data.distributed import DistributedSampler

    samplers = [DistributedSampler(range(length), ranks, i, shuffle, seed, drop_last) for i in range(ranks)]
    given = []
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        given.append([[*sampler] for sampler in samplers])
    samplers[0].set_epoch(0)
    first = [*samplers[0]]
    given[0][0].append("changed")
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed)).tolist()
    return {"indices": [*given, [first, first]], "order": order}
