"""Correct answers to lab 09c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

import torch
import torch.distributed as dist

from rushlight.course import predictions

from ..shared import copied

# Fully sharded


def shard__by_chunk(tensor, rank, ranks):
    if not tensor.shape:
        raise ValueError("no dimension")
    parts = torch.chunk(tensor.data, ranks)
    part = parts[rank] if rank < len(parts) else tensor.data[:0]
    buffer = torch.zeros(parts[0].numel(), dtype=tensor.dtype, device=tensor.device)
    buffer[: part.numel()] = part.flatten()
    return buffer[: part.numel()].view(part.shape)


def shard__by_padding(tensor, rank, ranks):
    if tensor.ndim == 0:
        raise ValueError("no dimension")
    size, rest = tensor.shape[0], tensor.shape[1:]
    rows = math.ceil(size / ranks)
    padded = torch.zeros((rows * ranks, *rest), dtype=tensor.dtype, device=tensor.device)
    padded[:size] = tensor.detach()
    mine = padded.unflatten(0, (ranks, rows))[rank].clone()
    return mine[: min(max(size - rank * rows, 0), rows)]


def start_gather__piece_by_piece(unit):
    total = sum(each.padded.numel() for each in unit.parameters)
    first = unit.parameters[0].padded
    everything = torch.empty(total * dist.get_world_size(unit.group), dtype=first.dtype, device=first.device)
    mine = first.new_empty(total)
    start = 0
    for each in unit.parameters:
        mine[start : start + each.padded.numel()] = each.padded
        start += each.padded.numel()
    unit.arriving = dist.all_gather_single(everything, mine, unit.group, True), everything


def start_gather__in_place(unit):
    rank, ranks = dist.get_rank(unit.group), dist.get_world_size(unit.group)
    mine = torch.concatenate([each.padded for each in unit.parameters])
    everything = mine.repeat(ranks)
    work = dist.all_gather_single(everything, everything.chunk(ranks)[rank], group=unit.group, async_op=True)
    unit.arriving = (work, everything)


def start_gather__into_a_list_of_views(unit):
    mine = torch.cat([each.padded for each in unit.parameters])
    ranks = dist.get_world_size(unit.group)
    everything = mine.new_empty(ranks * len(mine))
    work = dist.all_gather([*everything.chunk(ranks)], mine, group=unit.group, async_op=True)
    unit.arriving = work, everything


def finish_gather__rank_by_rank(unit):
    work, everything = unit.arriving
    work.wait()
    start, ranks = 0, dist.get_world_size(unit.group)
    for each in unit.parameters:
        each.gathered.untyped_storage().resize_(each.gathered.nbytes)
    for rank in range(ranks):
        for each in unit.parameters:
            length = each.padded.numel()
            each.gathered[rank * length : (rank + 1) * length] = everything[start : start + length]
            start += length
    for each in unit.parameters:
        each.module._parameters[each.name] = each.whole
    unit.arriving = None
    unit.is_gathered = True


def finish_gather__with_out(unit):
    (work, everything), unit.arriving, unit.is_gathered = unit.arriving, None, True
    work.wait()
    rows = everything.unflatten(0, (dist.get_world_size(unit.group), -1))
    start = 0
    for each in unit.parameters:
        each.gathered.untyped_storage().resize_(each.gathered.element_size() * each.gathered.numel())
        torch.cat([row[start : start + len(each.padded)] for row in rows], out=each.gathered)
        start += len(each.padded)
        setattr(each.module, each.name, each.whole)


def reduce_gradients__rank_by_rank(unit):
    ranks, chosen = dist.get_world_size(unit.group), [each for each in unit.parameters if each.whole.grad is not None]
    if len(chosen) == 0:
        return
    grads = []
    for each in chosen:
        missing = len(each.padded) * ranks - each.whole.numel()
        grads.append(torch.nn.functional.pad(each.whole.grad.flatten(), (0, missing)).chunk(ranks))
        each.whole.grad = None
    flat = torch.cat([grad[rank] for rank in range(ranks) for grad in grads]) / ranks
    mine = flat[: len(flat) // ranks].clone()
    dist.reduce_scatter_single(mine, flat, dist.ReduceOp.SUM, unit.group)
    for each in chosen:
        average, mine = mine[: each.sharded.numel()], mine[len(each.padded) :]
        if each.sharded.grad is None:
            each.sharded.grad = torch.zeros_like(each.sharded)
        each.sharded.grad += average.view_as(each.sharded)


def reduce_gradients__by_an_average(unit):
    ranks = dist.get_world_size(unit.group)
    chosen = [each for each in unit.parameters if each.whole.grad is not None]
    if not chosen:
        return
    tables = []
    for each in chosen:
        flat = each.whole.grad.reshape(-1)
        tables.append(torch.cat([flat, flat.new_zeros(ranks * len(each.padded) - len(flat))]).view(ranks, -1))
        each.whole.grad = None
    everything = torch.cat(tables, 1).reshape(-1)
    mine = everything.new_empty(len(everything) // ranks)
    dist.reduce_scatter_single(mine, everything, dist.ReduceOp.AVG, unit.group)
    for each, part in zip(chosen, mine.split([len(each.padded) for each in chosen])):
        average = part[: each.sharded.numel()].view_as(each.sharded)
        each.sharded.grad = average if each.sharded.grad is None else each.sharded.grad + average


def reduce_gradients__with_a_list(unit):
    ranks = dist.get_world_size(unit.group)
    chosen = [each for each in unit.parameters if each.whole.grad is not None]
    if chosen:
        rows = []
        for rank in range(ranks):
            row = []
            for each in chosen:
                length = len(each.padded)
                part = each.whole.grad.reshape(-1)[rank * length : (rank + 1) * length]
                row += [part, part.new_zeros(length - len(part))]
            rows.append(torch.cat(row))
        mine = torch.empty_like(rows[0])
        dist.reduce_scatter(mine, rows, group=unit.group)
        parts = mine.div(ranks).split([len(each.padded) for each in chosen])
        for each, part in zip(chosen, parts):
            part = part[: each.sharded.numel()].clone().view(each.sharded.shape)
            each.sharded.grad = part if each.sharded.grad is None else each.sharded.grad + part
            each.whole.grad = None


def breaks_order_of_work__one_topic_after_another():
    rows = [
        ([True, True], 1, 0),
        ([True, True, True], 0, 3),
        ([True, False, False, True], 1, 2),
        ([False, False, False], 3, 1),
    ]
    return [dict(zip(("reshard", "forward_prefetch", "backward_prefetch"), row)) for row in rows]


def breaks_order_of_work__in_tuples():
    return (
        {"backward_prefetch": 3, "forward_prefetch": 1, "reshard": (True, True, False)},
        {"backward_prefetch": 0, "forward_prefetch": 3, "reshard": (False, True, True)},
        {"backward_prefetch": 2, "forward_prefetch": 3, "reshard": (True, False, False, True)},
    )


def clip_grad_norm__parameter_by_parameter(parameters, max_norm, norm_type=2.0, group=None):
    grads = [each.grad for each in parameters if each.grad is not None]
    total = torch.zeros((), dtype=parameters[0].dtype)
    if not grads:
        return total
    for grad in grads:
        if math.isinf(norm_type):
            total = torch.maximum(total, grad.abs().max()) if grad.numel() else total
        else:
            total = total + grad.abs().pow(norm_type).sum()
    dist.all_reduce(total, op=dist.ReduceOp.MAX if math.isinf(norm_type) else dist.ReduceOp.SUM, group=group)
    total = total if math.isinf(norm_type) else total.pow(1 / norm_type)
    for grad in grads:
        grad *= min(1.0, max_norm / (total.item() + 1e-6))
    return total


def clip_grad_norm__by_vector_norm(parameters, max_norm, norm_type=2.0, group=None):
    grads = [each.grad for each in parameters if each.grad is not None]
    if not grads:
        return torch.zeros((), dtype=parameters[0].dtype)
    flat = torch.cat([grad.flatten() for grad in grads] + [torch.zeros(1, dtype=grads[0].dtype)])
    norm = torch.linalg.vector_norm(flat, norm_type)
    if norm_type == math.inf:
        dist.all_reduce(norm, dist.ReduceOp.MAX, group)
    else:
        norm = norm**norm_type
        dist.all_reduce(norm, group=group)
        norm = norm ** (1.0 / norm_type)
    if norm + 1e-6 > max_norm:
        for grad in grads:
            grad.copy_(grad * max_norm / (norm + 1e-6))
    return norm


def review_adamw_step__with_other_gradients():
    late = [(3, None), (None, -2)], [(3, None), (3, -2)]
    return {"e": {"grads": late[1]}, "d": None, "c": {"grads": late[0]}, "b": {"grads": ((None, 5),)}, "a": None}


def review_adamw_step__from_one_history():
    history = {"grads": [[2, None], [-1, 4]]}
    return dict.fromkeys("ad") | dict.fromkeys("ce", history) | {"b": {"grads": [history["grads"][0]]}}


# The device mesh


def shard_sizes__one_after_the_other(size, ranks):
    full, shards, start = (size + ranks - 1) // ranks, [], 0
    for _ in range(ranks):
        here = min(full, size - start)
        shards.append((here, start))
        start += here
    return shards


def shard_sizes__of_chunks(size, ranks):
    sizes = [len(chunk) for chunk in torch.arange(size).chunk(ranks)][:ranks] if size else []
    sizes += [0] * (ranks - len(sizes))
    return [[each, sum(sizes[:rank])] for rank, each in enumerate(sizes)]


# Collectives of a step


_collectives_of_a_step = copied(predictions.collectives_of_a_step)


def collectives_of_a_step__with_a_second_draw():
    right = _collectives_of_a_step()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def collectives_of_a_step__in_tuples():
    right = _collectives_of_a_step()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}
