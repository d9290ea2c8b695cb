"""Cases of a student for `rank_indices`, which samples a rank gets."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases

BREAKS, BODIES = "course.breaks.breaks_rank_indices", "09b.rank_indices"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.course.breaks.breaks_rank_indices()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.course.breaks.breaks_rank_indices()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_rank_indices(xp, **case):
    """The cases, or what `rank_indices` gives on one of them."""
    if not case:
        return xp.course.breaks.breaks_rank_indices()
    import torch

    def permute(length, seed):
        return torch.randperm(length, generator=torch.Generator().manual_seed(seed)).tolist()

    assert _are_few(case["length"], case["ranks"])
    order = permute if case.pop("shuffle") else None
    return xp.utils.data.distributed.rank_indices(permute=order, **case)


@breaks_rank_indices.oracle
def _(torch, length, ranks, rank, shuffle, seed, epoch, drop_last):
    from torch.utils.data.distributed import DistributedSampler

    if not _are_few(length, ranks):
        raise ValueError("there are 0 to 100 samples and 1 to 100 ranks")
    sampler = DistributedSampler(range(length), ranks, rank, shuffle, seed, drop_last)
    sampler.set_epoch(epoch)
    return [*sampler]


def _are_few(length, ranks):
    return 0 <= length <= 100 and 1 <= ranks <= 100
