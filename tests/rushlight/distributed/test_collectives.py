import math

import pytest
import torch
import torch.distributed as dist
from sweep import sweep

from rushlight.distributed import Traffic, run_ranks
from rushlight.distributed.collectives import (
    all_reduce_coalesced,
    combine,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
    ring_shift,
    tree_broadcast,
)

SHAPES = [(12,), (7,), (2,), (0,), (), (2, 3, 2)]
OPS = [dist.ReduceOp.SUM, dist.ReduceOp.MAX]


def values(*shape, dtype=torch.float64):
    """Numbers that differ from rank to rank."""
    count = math.prod(shape)
    return ((torch.arange(count) * (2 * dist.get_rank() + 3)) % 11 - 4).to(dtype).reshape(shape)


def compared():
    """On a rank: what our collectives give and what torch's give, and what ours sent, in the world and in a part of it."""
    world = dist.get_world_size()
    part = [*range(1, world)] or [0]
    groups = [None, dist.new_group(part)]
    pairs, sent = [], []
    for group in groups[: 1 + (dist.get_rank() in part)]:
        rank, ranks = dist.get_rank(group), dist.get_world_size(group)
        for op in OPS:
            for shape in SHAPES:
                ours, torchs = values(*shape), values(*shape)
                with Traffic() as traffic:
                    ring_all_reduce(ours, op, group)
                dist.all_reduce(torchs, op, group)
                pairs.append((ours, torchs))
                sent.append((ranks, rank, ours.nbytes, traffic.operations))
            inputs = [values(size + 1, size) for size in range(ranks)]
            ours, torchs = (torch.empty_like(inputs[rank]) for _ in range(2))
            ring_reduce_scatter(ours, inputs, op, group)
            dist.reduce_scatter(torchs, inputs, op, group)
            pairs += [(ours, torchs), *((each, values(*each.shape)) for each in inputs)]
        ours, torchs = ([values(3) for _ in range(ranks)] for _ in range(2))
        ring_all_gather(ours, values(3), group)
        dist.all_gather(torchs, values(3), group=group)
        pairs += zip(ours, torchs)
        for src in part:
            ours, torchs = values(2, 3), values(2, 3)
            tree_broadcast(ours, src, group)
            dist.broadcast(torchs, src, group)
            pairs.append((ours, torchs))
    return pairs, sent


@pytest.mark.parametrize("ranks", sweep([1, 2, 3, 4], keep=[3]))
def test_collectives_made_of_messages_are_torchs(ranks):
    for pairs, sent in run_ranks(compared, ranks):
        for ours, torchs in pairs:
            torch.testing.assert_close(ours, torchs, rtol=0, atol=0)
        for among, rank, nbytes, operations in sent:
            messages = [each for each in operations if each.kind == "send"]
            assert {each.kind for each in operations} <= {"send", "recv"}
            assert len(messages) == 2 * (among - 1)
            assert {each.peer for each in messages} <= {(rank + 1) % among}
            if nbytes % (8 * among) == 0:
                assert sum(each.nbytes for each in messages) * among == 2 * (among - 1) * nbytes


def test_a_ring_of_large_messages_comes_to_its_end():
    def shifted():
        out = torch.full((2_000_000,), float(dist.get_rank()))
        ring_shift(out, incoming := torch.empty_like(out))
        return incoming.unique().tolist()

    assert run_ranks(shifted, 3) == [[2.0], [0.0], [1.0]]


def test_many_tensors_are_reduced_by_one_collective_for_each_dtype():
    def reduced():
        tensors = [values(3), values(2, dtype=torch.int64), values(4, 2).t(), values(0), values(), values(2, 2)[:, 0]]
        before = [each.clone() for each in tensors]
        others = [each.clone() for each in tensors]
        with Traffic() as traffic:
            pending = all_reduce_coalesced(tensors)
        unchanged = all(map(torch.equal, tensors, before))
        pending.wait()
        for each in others:
            dist.all_reduce(each)
        return unchanged, all(map(torch.equal, tensors, others)), traffic.counts, traffic.nbytes

    assert run_ranks(reduced, 3) == [(True, True, {"all_reduce": 2}, {"all_reduce": 8 * 14 + 16})] * 3


def test_only_sums_and_maxima_are_combined():
    with pytest.raises(ValueError):
        combine(torch.ones(1), torch.ones(1), dist.ReduceOp.BXOR)
