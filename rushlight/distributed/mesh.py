"""Device meshes, and tensors distributed over them.

A mesh is an array of ranks; along each of its dimensions the ranks form groups. A tensor has one placement for each dimension
of the mesh: `Shard(dim)`, each rank has a slice; `Replicate()`, each rank has all of it; `Partial()`, each rank has a
summand. Changing a placement takes one collective, or none. The placements here are torch's. The tensors are plain local
tensors, and the caller keeps track of their placements. A DTensor stores them.

In PyTorch: `torch/distributed/device_mesh.py`, `torch/distributed/tensor/placement_types.py`,
`torch/distributed/tensor/_redistribute.py`, and `DTensor` in `torch/distributed/tensor/_api.py`. Left out: strided shards, random
numbers, gradients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup, ReduceOp
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Partial, Replicate, Shard

from .shards import pieces, shard_sizes

Placement: TypeAlias = Shard | Replicate | Partial
Placements = Sequence[Placement]


def mesh_groups(mesh: Tensor, dim: int) -> list[list[int]]:
    """The groups of ranks along dimension `dim` of a mesh.

    `mesh`: the ranks, an integer tensor with at least one dimension. A group is a list of the ranks whose coordinates differ in
    dimension `dim` only, in the order of the mesh, which need not be ascending. The result is a list of the groups, in the
    order of their first ranks in the mesh, row by row. (Every rank must create all the groups in the same order, including
    groups that it does not belong to.) Raises IndexError for a dimension that does not exist; negative ones count from the end.

    >>> mesh_groups(torch.tensor([[0, 1, 2], [3, 4, 5]]), 0)
    [[0, 3], [1, 4], [2, 5]]

    Source: `torch/distributed/device_mesh.py`, `DeviceMesh._init_one_process_group`, which makes a process group of each.
    """
    return mesh.movedim(dim, -1).reshape(-1, mesh.shape[dim]).tolist()


# One dimension of a mesh ---------------------------------------------------------------------------------------------


def resized(shape: Sequence[int], dim: int, size: int) -> tuple[int, ...]:
    """A shape with another size of dimension `dim`."""
    return (*shape[:dim], size, *shape[dim + 1 :])


def padded(tensor: Tensor, dim: int, size: int) -> Tensor:
    """A contiguous copy of a tensor that has `size` elements along `dim`, padded with zeros."""
    out = tensor.new_zeros(resized(tensor.shape, dim, size))
    out.narrow(dim, 0, tensor.shape[dim]).copy_(tensor)
    return out


def reduce_op(placement: Partial) -> ReduceOp.RedOpType:
    """The operator of torch.distributed that reduces the summands of a Partial."""
    return getattr(ReduceOp, placement.reduce_op.upper())


def redistribute(
    local: Tensor, shape: Sequence[int], source: Placement, target: Placement, group: ProcessGroup | None = None
) -> Tensor:
    """This rank's local tensor of a tensor of the given `shape`, after its placement changes from `source` to `target`.

    The ranks of `group` are a one-dimensional mesh. `shape` is a tuple or a list. `local`, contiguous, is this rank's part of
    the tensor under `source`: all of it for Replicate and Partial, its shard (which may be empty) for Shard. It is not
    changed; the result may share its memory, and need not be contiguous. There is one collective for each change, and no more:

        from        to Replicate    to Shard(j)
        Replicate                   none
        Shard(i)    all_gather      none if i is j, otherwise all_to_all
        Partial     all_reduce      reduce_scatter

    In an all-gather or a reduce-scatter all ranks must exchange tensors of one size: shards are padded to the size of the
    first one, the largest. An all-to-all takes sizes, and needs no padding: each rank receives, from every other rank's slice
    along i, its own slice along j (or as much as that is with padding, never more). Between equal placements nothing is done.
    Raises RuntimeError for any other change to Partial. For example, a tensor of shape (7, 5) on three ranks has a `local` of
    (3, 5), (3, 5) and (1, 5) under Shard(0), and of (7, 2), (7, 2) and (7, 1) under Shard(1).

    You may use `padded`, `resized` and `reduce_op` of this module, and `pieces` and `shard_sizes`. May call of
    torch.distributed: get_rank, get_world_size, all_reduce, all_gather_single, all_gather, reduce_scatter_single,
    reduce_scatter, all_to_all_single. (In gloo an all_gather_single needs its tensors joined along the first dimension.)

    Source: `torch/distributed/tensor/_redistribute.py`, `redistribute_local_tensor`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if source == target:
        return local
    if target.is_partial():
        raise RuntimeError(f"cannot make a tensor partial: from {source} to {target}")
    if source.is_replicate():
        return pieces(local, target.dim, ranks)[rank]
    if source.is_partial() and target.is_replicate():
        out = local.clone()
        dist.all_reduce(out, reduce_op(source), group)
        return out
    if source.is_partial():
        parts = pieces(local, target.dim, ranks)
        every = [padded(part, target.dim, parts[0].shape[target.dim]) for part in parts]
        out = torch.empty_like(every[rank])
        dist.reduce_scatter(out, every, reduce_op(source), group)
        return out.narrow(target.dim, 0, parts[rank].shape[target.dim])
    sizes = [size for size, _ in shard_sizes(shape[source.dim], ranks)]
    if target.is_replicate():
        mine = padded(local, source.dim, sizes[0])
        every = [torch.empty_like(mine) for _ in range(ranks)]
        dist.all_gather(every, mine, group)
        return torch.cat([part.narrow(source.dim, 0, size) for part, size in zip(every, sizes)], source.dim)
    parts = pieces(local, target.dim, ranks)
    shapes = [
        resized(resized(local.shape, source.dim, size), target.dim, parts[rank].shape[target.dim]) for size in sizes
    ]
    sent, received = [part.numel() for part in parts], [math.prod(part_shape) for part_shape in shapes]
    flat = local.new_empty(sum(received))
    dist.all_to_all_single(flat, torch.cat([part.reshape(-1) for part in parts]), received, sent, group)
    return torch.cat([part.view(part_shape) for part, part_shape in zip(flat.split(received), shapes)], source.dim)


# Several dimensions --------------------------------------------------------------------------------------------------


def redistribution_plan(source: Placements, target: Placements) -> list[tuple[int, Placement, Placement]]:
    """Steps from one placement on a mesh to another, each along one of its dimensions: (dimension, from, to).

    If several dimensions of the mesh shard one dimension of the tensor, its shards are joined from the inner mesh dimension
    to the outer one, and cut from the outer to the inner. So the first pass goes from the inner dimensions outwards. It
    replicates for now a dimension whose target is a shard of a tensor dimension that the outer dimensions still have to cut
    differently. If nothing is sharded, this pass has nothing to join. The second pass goes inwards and does the rest.

    Source: `torch/distributed/tensor/_redistribute.py`, `generate_greedy_transform_infos`.
    """
    now, steps = list(source), []

    def add_step(dim: int, placement: Placement) -> None:
        if now[dim] != placement:
            steps.append((dim, now[dim], placement))
            now[dim] = placement

    cut = any(placement.is_shard() for placement in source)
    for dim in reversed(range(len(now))) if cut else ():
        to = target[dim]
        outside = list(zip(now[:dim], target[:dim]))
        waits = to.is_shard() and any(a.is_shard(to.dim) != b.is_shard(to.dim) for a, b in outside)
        add_step(dim, Replicate() if waits else to)
    for dim, placement in enumerate(target):
        add_step(dim, placement)
    return steps


def redistribute_on_mesh(
    local: Tensor, shape: Sequence[int], mesh: DeviceMesh, source: Placements, target: Placements
) -> Tensor:
    """`redistribute` on a mesh of any number of dimensions, along one dimension after the other. An example is hybrid
    sharding: gradients of (Partial, Partial) become (Replicate, Shard(0)), reduced between the nodes and sharded within each
    node. In each group of the mesh the ranks must be ascending, because torch sorts the ranks of a group."""
    now = list(source)
    for dim, before, after in redistribution_plan(source, target):
        whole = list(shape)  # the ranks of this dimension have together; an outer dimension of the mesh cuts first
        for other, (placement, ranks, rank) in enumerate(zip(now, mesh.shape, mesh.get_coordinate())):
            if other != dim and placement.is_shard():
                whole[placement.dim], _ = shard_sizes(whole[placement.dim], ranks)[rank]
        local = redistribute(local.contiguous(), whole, before, after, mesh.get_group(dim))
        now[dim] = after
    return local
