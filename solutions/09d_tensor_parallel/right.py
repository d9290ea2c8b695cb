"""Correct answers to lab 09d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

import torch
import torch.distributed as dist
from torch.distributed.tensor import Partial, Replicate, Shard

from rushlight.distributed import checkpoint, mesh, shards, tensor_parallel

# Checkpoints of shards


def load_shards__by_narrow(store, state):
    index = store.index()
    for name in state:
        if name not in index:
            raise KeyError(name)
    if any(index[name][0] != tuple(state[name].size) for name in state):
        raise ValueError("another size")
    for name in state:
        pieces, data = index[name][1], state[name].data.data
        for read in checkpoint.plan_load(pieces, state[name].offsets, data.shape):
            part = data
            for dim, (start, length) in enumerate(zip(read.target, read.lengths)):
                part = part.narrow(dim, start, length)
            part.copy_(store.read(pieces[read.piece].file, name, read.source, read.lengths))


@torch.no_grad()
def load_shards__planned_first(store, state):
    index, work = store.index(), []
    for name, shard in state.items():
        size, pieces = index[name]
        if list(size) != list(shard.size):
            raise ValueError(name)
        for read in checkpoint.plan_load(pieces, shard.offsets, tuple(shard.data.shape)):
            work.append((shard.data, pieces[read.piece].file, name, read))
    for data, file, name, read in work:
        data[tuple(slice(t, t + n) for t, n in zip(read.target, read.lengths))] = store.read(
            file, name, read.source, read.lengths
        )


# The device mesh


def redistribute__by_lists_of_shapes(local, shape, source, target, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if source == target:
        return local
    if isinstance(target, Partial):
        raise RuntimeError("not to Partial")
    if isinstance(target, Shard):
        cuts = [each for each, _ in shards.shard_sizes(shape[target.dim], ranks)]
    if isinstance(source, Replicate):
        return local.split(cuts, target.dim)[rank].contiguous()
    if isinstance(source, Partial):
        op = mesh.reduce_op(source)
        if isinstance(target, Replicate):
            whole = local.clone()
            dist.all_reduce(whole, op=op, group=group)
            return whole
        sent = [mesh.padded(each, target.dim, cuts[0]) for each in local.split(cuts, target.dim)]
        out = torch.empty_like(sent[0])
        dist.reduce_scatter(out, sent, op, group)
        return out.narrow(target.dim, 0, cuts[rank])
    had = [each for each, _ in shards.shard_sizes(shape[source.dim], ranks)]
    if isinstance(target, Replicate):
        mine = mesh.padded(local, source.dim, had[0])
        every = [torch.empty_like(mine) for _ in range(ranks)]
        dist.all_gather(every, mine, group)
        return torch.cat([each.narrow(source.dim, 0, size) for each, size in zip(every, had)], source.dim)
    outgoing = [each.contiguous() for each in local.split(cuts, target.dim)]
    shapes = []
    for size in had:
        wanted = list(shape)
        wanted[source.dim], wanted[target.dim] = size, cuts[rank]
        shapes.append(wanted)
    counts = [math.prod(each) for each in shapes]
    flat = local.new_empty(sum(counts))
    dist.all_to_all_single(
        flat, torch.cat([each.flatten() for each in outgoing]), counts, [each.numel() for each in outgoing], group
    )
    return torch.cat([each.reshape(wanted) for each, wanted in zip(flat.split(counts), shapes)], source.dim)


def redistribute__pads_also_what_is_sent_to_all(local, shape, source, target, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if source == target:
        return local
    if target.is_partial():
        raise RuntimeError(f"{source} to {target}")
    before = shards.shard_sizes(shape[source.dim], ranks) if source.is_shard() else None
    after = shards.shard_sizes(shape[target.dim], ranks) if target.is_shard() else None

    def sent():
        parts = [local.narrow(target.dim, start, size) for size, start in after]
        return torch.cat([mesh.padded(part, target.dim, after[0][0]) for part in parts])

    if source.is_replicate():
        size, start = after[rank]
        return local.narrow(target.dim, start, size)
    if source.is_partial() and target.is_replicate():
        dist.all_reduce(result := local.clone(), mesh.reduce_op(source), group)
        return result
    if source.is_partial():
        every = sent()
        out = every.new_empty(mesh.resized(local.shape, target.dim, after[0][0]))
        dist.reduce_scatter_single(out, every, mesh.reduce_op(source), group)
        return out.narrow(target.dim, 0, after[rank][0])
    if target.is_replicate():
        mine = mesh.padded(local, source.dim, before[0][0])
        every = mine.new_empty((ranks * mine.shape[0], *mine.shape[1:]))
        dist.all_gather_single(every, mine, group)
        return torch.cat(
            [part.narrow(source.dim, 0, size) for part, (size, _) in zip(every.chunk(ranks), before)]
            if mine.numel()
            else [local.new_empty(tuple(shape))],
            source.dim,
        )
    local = mesh.padded(local, source.dim, before[0][0])
    every = sent()
    out = torch.empty_like(every)
    dist.all_to_all_single(out, every, group=group)
    parts = out.view(ranks, *mesh.resized(local.shape, target.dim, after[0][0]))
    parts = [part.narrow(source.dim, 0, size) for part, (size, _) in zip(parts, before)]
    return torch.cat(parts, source.dim).narrow(target.dim, 0, after[rank][0])


# Tensor parallelism


def copy_to_ranks__by_a_function_of_its_own(x, group=None):
    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            gradient = gradient.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(gradient, group=group)
            return gradient

    return Copy.apply(x)


def copy_to_ranks__by_a_hook(x, group=None):
    y = x.clone()

    def summed(gradient):
        total = torch.empty(gradient.shape, dtype=gradient.dtype, device=gradient.device).copy_(gradient)
        dist.all_reduce(total, dist.ReduceOp.SUM, group)
        return total

    if y.requires_grad:
        y.register_hook(summed)
    return y


def reduce_from_ranks__by_a_function_of_its_own(x, group=None):
    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = x.contiguous().clone()
            dist.all_reduce(total, group=group, async_op=True).wait()
            return total

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    return Reduce.apply(x)


def reduce_from_ranks__by_adding_what_the_others_have(x, group=None):
    return x + (tensor_parallel.all_reduced(x, group=group) - x.detach())


def column_parallel_linear__by_hand(x, weight, bias=None, size=None, group=None):
    y = tensor_parallel.copy_to_ranks(x, group) @ weight.t()
    if bias is not None:
        y = y + bias
    if size is not None:
        y = tensor_parallel.gather_from_ranks(y, size, group)
    return y


def column_parallel_linear__without_the_other_exercises(x, weight, bias=None, size=None, group=None):
    def summed(gradient):
        return tensor_parallel.all_reduced(gradient, group=group)

    x = tensor_parallel.apply_with_backward(x, torch.clone, summed)
    y = torch.nn.functional.linear(x, weight, bias)
    return tensor_parallel.gather_from_ranks(y, size, group) if size else y


def row_parallel_linear__by_hand(x, weight, bias=None, group=None):
    y = tensor_parallel.reduce_from_ranks(torch.matmul(x, weight.transpose(0, 1)), group)
    if bias is not None:
        y = y.add(bias)
    return y


def row_parallel_linear__with_a_bias_whose_gradient_is_put_right(x, weight, bias=None, group=None):
    """The bias goes through the sum on one rank only; on the others its gradient comes another way."""
    y = torch.nn.functional.linear(x, weight)
    if bias is not None:
        y = y + (bias if dist.get_rank(group) == 0 else bias - bias.detach())
    return tensor_parallel.reduce_from_ranks(y, group)


def vocabulary_parallel_cross_entropy__with_one_sum(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(reduction)
    most = logits.detach().max(dim=1, keepdim=True).values
    dist.all_reduce(most, dist.ReduceOp.MAX, group)
    shifted = logits - most
    mine = torch.arange(first, first + logits.shape[1], device=logits.device) == targets[:, None]
    both = torch.stack([shifted.exp().sum(1), shifted.masked_fill(~mine, 0).sum(1)])
    both = tensor_parallel.reduce_from_ranks(both, group)
    losses = both[0].log() - both[1]
    counts = targets.ne(ignore_index)
    losses = losses.masked_fill(~counts, 0)
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / counts.sum()}[reduction]


def vocabulary_parallel_cross_entropy__with_a_gradient_by_hand(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(reduction)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            most = tensor_parallel.all_reduced(logits.amax(1), dist.ReduceOp.MAX, group)[:, None]
            exponentials = (logits - most).exp()
            total = tensor_parallel.all_reduced(exponentials.sum(1), group=group)
            inside = (targets >= first) & (targets < first + logits.shape[1])
            place = (targets - first).clamp(0, logits.shape[1] - 1)
            lines = torch.arange(len(targets))
            found = tensor_parallel.all_reduced((logits - most)[lines, place].where(inside, 0.0), group=group)
            counts = targets != ignore_index
            gradient = exponentials / total[:, None]
            gradient[lines, place] -= inside.to(gradient.dtype)
            ctx.save_for_backward(gradient, counts[:, None])
            return (total.log() - found).where(counts, 0.0)

        @staticmethod
        def backward(ctx, back):
            gradient, counts = ctx.saved_tensors
            return torch.where(counts, gradient * back[:, None], 0)

    losses = Loss.apply(logits)
    if reduction == "mean":
        return losses.sum() / (targets != ignore_index).sum()
    return losses.sum() if reduction == "sum" else losses


# Cases


def breaks_plan_load__in_three_steps():
    vector = [[9, 1], [5, 3], [0, 4], [4, 1], [4, 1], [2, 6]]
    rows = [[0, 2, 2, 3], [0, 0, 2, 2], [0, 0, 2, 2]]
    return [dict(pieces=vector, region=[3, 4]), dict(pieces=rows, region=[0, 0, 2, 2]), dict(pieces=[[]], region=[])]


def breaks_plan_load__of_a_cube():
    far, near = (60, 0, 0, 2, 9, 9), (0, 0, 8, 9, 9, 1)
    whole = (0, 0, 0, 9, 9, 5), (0, 0, 3, 9, 9, 5)
    cube = {"pieces": (far, near, *whole, whole[0]), "region": (2, 2, 2, 4, 4, 6)}
    return (cube, {"pieces": ((), ()), "region": ()})
