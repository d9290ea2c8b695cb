"""Collectives, made of messages from one rank to another.

A backend (NCCL, gloo) offers a dozen operations in which all ranks of a group take part; underneath there are only messages.
Here is how the large ones are made so that no link carries more than it must: the ring, in which each rank speaks to its two
neighbours only, and the tree, in which the number of those who know doubles with each round. The signatures are torch's own,
and so is what a rank may not assume: a message leaves when the other side takes it, so that two ranks that both send first
wait forever.

In PyTorch: `torch/distributed/distributed_c10d.py`; in NCCL: `src/device/all_reduce.h`. Left out: any other topology, and
asynchronous work for what is made of messages here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup, ReduceOp

__all__ = [
    "combine",
    "ring_shift",
    "ring_reduce_scatter",
    "ring_all_gather",
    "ring_all_reduce",
    "tree_broadcast",
    "PendingReduction",
    "all_reduce_coalesced",
]


def combine(a: Tensor, b: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM) -> Tensor:
    """What `op`, SUM or MAX, makes of two tensors; a new one."""
    if op == ReduceOp.SUM:
        return a + b
    if op == ReduceOp.MAX:
        return torch.maximum(a, b)
    raise ValueError(f"the rings reduce by SUM or MAX, not by {op}")


# The ring ------------------------------------------------------------------------------------------------------------


def ring_shift(outgoing: Tensor, incoming: Tensor, group: ProcessGroup | None = None) -> None:
    """One step of a ring: send `outgoing` to the next rank, and receive into `incoming` what the previous one sends.

    The next rank of the last one is rank 0. Both tensors are contiguous and share no memory; they may differ in size, and
    be empty, as long as each rank receives as much as is sent to it. Returns when `incoming` is filled and `outgoing` may be
    written to again. If all ranks send first, and take what comes afterwards, all of them wait for ever: a send may last until
    the message is taken, and with gloo it does. In a group of one rank nothing is sent, and `incoming` becomes a copy of
    `outgoing`.

    May call of torch.distributed: get_rank, get_world_size, send, recv, isend, irecv, P2POp, batch_isend_irecv. Ranks in a
    group count from 0 within it: send and recv want them as `group_dst=` and `group_src=`, P2POp as `group_peer=`; a plain
    `dst` is a rank of the world. Who receives says from whom: NCCL has no other way.

    Source: `torch/distributed/distributed_c10d.py`, `batch_isend_irecv`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks > 1:
        send = dist.P2POp(dist.isend, outgoing, group=group, group_peer=(rank + 1) % ranks)
        receive = dist.P2POp(dist.irecv, incoming, group=group, group_peer=(rank - 1) % ranks)
        for work in dist.batch_isend_irecv([send, receive]):
            work.wait()
    else:
        incoming.copy_(outgoing)


def ring_reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp.RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
) -> None:
    """Of the p tensors that each of p ranks has, this rank's, reduced over all ranks, in `output`.

    Rank r ends with the reduction of all the `input_list[r]`. The tensors of one list may differ in size, and be empty; the
    lists of all ranks have the same sizes and dtype. None of `input_list` is changed, and `output` is none of them.

    p - 1 steps of `ring_shift`. What travels is the partial result of one place in the lists: each rank adds its own
    contribution to what comes in, and passes that on in the next step. So in all each rank sends every place once, except
    its own, which is where its last step ends.

    `combine(a, b, op)` reduces two tensors. May call of torch.distributed what `ring_shift` may.

    Source: `torch.distributed.reduce_scatter`; NCCL's `src/device/reduce_scatter.h`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    partial = input_list[rank - 1]  # of rank 0 it is the last one: a list counts from its end too
    for step in range(2, ranks + 1):
        mine = input_list[rank - step]
        incoming = torch.empty_like(mine)
        ring_shift(partial, incoming, group)
        partial = combine(incoming, mine, op)
    output.copy_(partial)


def ring_all_gather(output_list: Sequence[Tensor], input: Tensor, group: ProcessGroup | None = None) -> None:
    """The `input` of every rank, in `output_list`, by rank.

    The inputs of different ranks may differ in size, and be empty: `output_list[r]` has the shape of rank r's. `input` may
    share its memory with `output_list[rank]`.

    p - 1 steps of `ring_shift` for p ranks: each rank passes on what came last, beginning with its own.

    May call of torch.distributed what `ring_shift` may.

    Source: `torch.distributed.all_gather`; NCCL's `src/device/all_gather.h`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    for step in range(ranks - 1):
        ring_shift(output_list[rank - step], output_list[rank - step - 1], group)


def ring_all_reduce(tensor: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None) -> None:
    """The reduction of all ranks' tensors, in each of them, in place.

    `tensor`: contiguous, of any shape, also without elements or with fewer than there are ranks.

    Its elements, in their order in memory, are cut into p parts for p ranks as `torch.tensor_split` cuts them: the first
    numel % p have one more than the others. A reduce-scatter and an all-gather of the parts follow: 2(p - 1) steps in which
    each rank sends 2(p - 1) / p of the bytes of `tensor` (if p divides its numel), hardly more than twice its size, however
    many ranks there are.

    May call of torch.distributed what `ring_shift` may.

    Source: `torch.distributed.all_reduce`; NCCL's `src/device/all_reduce.h`, `runRing`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = tensor.view(-1).tensor_split(ranks)
    mine = torch.empty_like(parts[rank])
    ring_reduce_scatter(mine, parts, op, group)
    ring_all_gather(parts, mine, group)


# The tree ------------------------------------------------------------------------------------------------------------


def tree_broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> None:
    """What `tensor` holds on rank `src`, in each rank's, in place.

    `src` is a rank of the world, as in torch, which `torch.distributed.get_group_rank` turns into one of the group (it wants
    a group: `torch.distributed.group.WORLD` is the one that None stands for).

    Count the ranks of the group from the source, so that it has place 0, and the rank after the last is rank 0. In round
    k = 0, 1, 2, ... each place i < 2^k sends to the place i + 2^k, if there is one. So after each round twice as many ranks
    know it, and ceil(log2 p) rounds reach p ranks. (A root that sends to all the others one by one needs p - 1.)

    `tensor` is contiguous. May call of torch.distributed: get_rank, get_world_size, get_group_rank, send, recv, isend, irecv.
    Who receives says from whom: NCCL has no other way.

    Source: `torch.distributed.broadcast`; gloo's `gloo/broadcast.cc`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks
    known = 1
    while known < ranks:
        if place < known and place + known < ranks:
            dist.send(tensor, group=group, group_dst=(rank + known) % ranks)
        elif known <= place < 2 * known:
            dist.recv(tensor, group=group, group_src=(rank - known) % ranks)
        known *= 2


# Many at once --------------------------------------------------------------------------------------------------------


class PendingReduction:
    """Collectives under way, and what remains to be done with their results."""

    def __init__(self, works: Sequence[dist.Work], write_back: Callable[[], None]) -> None:
        self.works, self.write_back = list(works), write_back

    def wait(self) -> None:
        """Wait for all of them, and write the results to where they belong."""
        for work in self.works:
            work.wait()
        self.write_back()


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None
) -> PendingReduction:
    """Begin the all-reduce of many tensors with as few collectives as can be; `wait()` of the result ends it.

    The tensors may have different dtypes, shapes (also none, or without elements) and strides. For each dtype, in the order
    in which the dtypes first appear, there is one `all_reduce` with `async_op=True`, of one flat buffer that holds the
    elements of all the tensors of that dtype. All of them are under way before this returns. The tensors keep what they hold
    until `wait()`; then each holds its result, in place.

    Return a `PendingReduction(works, write_back)`: the works that `all_reduce` returned, and a function without arguments
    that copies the results from the buffers into the tensors. May call of torch.distributed: all_reduce.

    Source: `torch.distributed.all_reduce_coalesced` (of one dtype); `torch._utils._flatten_dense_tensors`.
    """
    by_dtype = {}
    for tensor in tensors:
        by_dtype.setdefault(tensor.dtype, []).append(tensor)
    buffers = [torch.cat([tensor.reshape(-1) for tensor in alike]) for alike in by_dtype.values()]
    works = [dist.all_reduce(buffer, op, group, async_op=True) for buffer in buffers]

    def write_back():
        for buffer, alike in zip(buffers, by_dtype.values()):
            for tensor, part in zip(alike, buffer.split([tensor.numel() for tensor in alike])):
                tensor.copy_(part.view(tensor.shape))

    return PendingReduction(works, write_back)
