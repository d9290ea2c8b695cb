"""Collectives, made of messages from one rank to another.

A backend (NCCL, gloo) offers a dozen operations in which all ranks of a group take part. They consist of messages. This
module builds the large ones so that no link carries more than necessary: a ring, in which each rank sends only to its
neighbour, and a tree, in which the number of ranks that have the data doubles with each round. The signatures are torch's
own. As in torch, a send may block until the other side receives it, so two ranks that both send first wait forever.

In PyTorch: `torch/distributed/distributed_c10d.py`; in NCCL: `src/device/all_reduce.h`. Left out: other topologies, and
asynchronous versions of the collectives that are made of messages here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup, ReduceOp


def combine(a: Tensor, b: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM) -> Tensor:
    """A new tensor: the reduction of two tensors by `op`, SUM or MAX."""
    if op == ReduceOp.SUM:
        return a + b
    if op == ReduceOp.MAX:
        return torch.maximum(a, b)
    raise ValueError(f"the rings reduce by SUM or MAX, not by {op}")


# The ring ------------------------------------------------------------------------------------------------------------


def ring_shift(outgoing: Tensor, incoming: Tensor, group: ProcessGroup | None = None) -> None:
    """One step of a ring: send `outgoing` to the next rank, and receive into `incoming` what the previous rank sends.

    The rank after the last one is rank 0. Both tensors are contiguous and share no memory. They may have any shape, may differ
    in size, and may be empty, as long as each rank receives as much as is sent to it. The function returns when `incoming` is
    filled and `outgoing` may be written to again. If all ranks send first and receive afterwards, all of them wait forever: a
    send may block until the message is received, and with gloo it does. In a group of one rank nothing is sent, and `incoming`
    becomes a copy of `outgoing`. Whether an empty tensor is sent makes no difference.

    For example, on three ranks whose `outgoing` are [10], [11] and [12], the `incoming` become [12], [10] and [11].

    May call of torch.distributed: get_rank, get_world_size, send, recv, isend, irecv, P2POp, batch_isend_irecv. Ranks in a
    group count from 0 within the group: pass them to send and recv as `group_dst=` and `group_src=`, to P2POp as
    `group_peer=`; a plain `dst` is a rank of the world. A receive names its source, because NCCL has no other form.

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
    """Reduce p tensors over p ranks, and write to `output` the one that belongs to this rank.

    Rank r ends with the reduction of `input_list[r]` over all ranks. `input_list` is a list or a tuple. Its tensors are
    contiguous, may differ in shape, and may be empty. The lists of all ranks have the same sizes and dtype. No tensor of
    `input_list` is changed. `output` is contiguous too, and is none of them.

    For example, if rank 0 has the list [1], [2] and rank 1 has [10], [20], rank 0 ends with [11] and rank 1 with [22].

    There are p - 1 steps of `ring_shift`. Each message is the partial result for one index of the lists: a rank adds its own
    contribution to the partial result that arrives, and passes the combination on in the next step. So each rank sends every index
    once, except its own index, where its last step ends.

    `op` is SUM or MAX, the operations of `combine(a, b, op)`, which returns a new tensor, the reduction of two.
    `torch.distributed.reduce_scatter` knows more operations. May call of torch.distributed what `ring_shift` may.

    Source: `torch.distributed.reduce_scatter`; NCCL's `src/device/reduce_scatter.h`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    partial = input_list[rank - 1]  # for rank 0 the index is -1, the last one
    for step in range(2, ranks + 1):
        mine = input_list[rank - step]
        incoming = torch.empty_like(mine)
        ring_shift(partial, incoming, group)
        partial = combine(incoming, mine, op)
    output.copy_(partial)


def ring_all_gather(output_list: Sequence[Tensor], input: Tensor, group: ProcessGroup | None = None) -> None:
    """Gather the `input` of every rank into the tensors of `output_list`, by rank.

    `output_list` is a list or a tuple of p tensors for p ranks. They and `input` are contiguous. The inputs of different ranks
    may differ in size, and may be empty: `output_list[r]` has the shape of rank r's input. `input` is not changed, and may
    share its memory with `output_list[rank]`.

    For example, if three ranks have the inputs [7], [8] and [9], all three end with the list [7], [8], [9].

    There are p - 1 steps of `ring_shift`: each rank passes on the tensor that it received last, beginning with
    its own.

    May call of torch.distributed what `ring_shift` may.

    Source: `torch.distributed.all_gather`; NCCL's `src/device/all_gather.h`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    for step in range(ranks - 1):
        ring_shift(output_list[rank - step], output_list[rank - step - 1], group)


def ring_all_reduce(tensor: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None) -> None:
    """Reduce the tensors of all ranks, in place: each rank's `tensor` holds the result.

    `tensor`: contiguous, of any shape. It may have no elements, or fewer elements than there are ranks: whether empty parts
    are sent makes no difference. For example, if two ranks have [1, 2] and [10, 20], both end with [11, 22].

    Its elements, in memory order, are cut into p parts for p ranks in the way of `torch.tensor_split`: the first numel % p
    parts have one element more than the others. A reduce-scatter follows, after which rank r has the result of part r, and then
    an all-gather of the parts. In these 2(p - 1) steps each rank sends 2(p - 1) / p of the bytes of `tensor` (if p divides
    its numel). That is less than twice its size, for any number of ranks.

    `op` is SUM or MAX. May call of torch.distributed what `ring_shift` may.

    Source: `torch.distributed.all_reduce`; NCCL's `src/device/all_reduce.h`, `runRing`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = tensor.view(-1).tensor_split(ranks)
    mine = torch.empty_like(parts[rank])
    ring_reduce_scatter(mine, parts, op, group)
    ring_all_gather(parts, mine, group)


# The tree ------------------------------------------------------------------------------------------------------------


def tree_broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> None:
    """Copy the values of `tensor` on rank `src` to each rank's `tensor`, in place.

    `src` is a rank of the world, as in torch. `torch.distributed.get_group_rank` turns it into a rank of the group (it needs
    a group: None means `torch.distributed.group.WORLD`).

    Count the ranks of the group from the source: the source has position 0, and rank 0 follows the last rank. In round k = 0,
    1, 2, ... each position i < 2^k sends to position i + 2^k, if that exists. So after each round twice as many ranks have
    the values, and ceil(log2 p) rounds reach p ranks. For example, if rank 2 of four is the source, it sends to rank 3 in round
    0. In round 1 rank 2 sends to rank 0, and rank 3 sends to rank 1.

    `tensor` is contiguous. May call of torch.distributed: get_rank, get_world_size, get_group_rank, send, recv, isend, irecv.
    A receive names its source, because NCCL has no other form.

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


# Many tensors --------------------------------------------------------------------------------------------------------


class PendingReduction:
    """Collectives that are running, and a function that writes back their results."""

    def __init__(self, works: Sequence[dist.Work], write_back: Callable[[], None]) -> None:
        self.works, self.write_back = list(works), write_back

    def wait(self) -> None:
        """Wait for all collectives, then write the results back to their tensors."""
        for work in self.works:
            work.wait()
        self.write_back()


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None
) -> PendingReduction:
    """Start the all-reduce of many tensors with as few collectives as possible; `wait()` of the result finishes it.

    `tensors` is a list, and may be empty. Its tensors may have different dtypes, shapes (no dimensions or no elements too)
    and strides. For each dtype, in the order in which the dtypes first appear, there is one `all_reduce` with
    `async_op=True`, of one flat buffer that holds the elements of all the tensors of that dtype. All of them are started
    before this function returns. The tensors keep their values until `wait()`; then each holds its result, in place.

    Return a `PendingReduction(works, write_back)`: a list of the works that `all_reduce` returned, and a function without
    arguments that copies the results from the buffers into the tensors. For example, ten tensors of float32 and one of int64
    are two collectives and two works. May call of torch.distributed: all_reduce.

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
