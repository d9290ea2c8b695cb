"""Correct answers to lab 09b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

from collections import deque

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from rushlight.distributed import collectives, ddp

# Collectives


def all_reduce_coalesced__in_buffers_made_first(tensors, op=ReduceOp.SUM, group=None):
    dtypes = list(dict.fromkeys(tensor.dtype for tensor in tensors))
    buffers = {dtype: [] for dtype in dtypes}
    for tensor in tensors:
        buffers[tensor.dtype] += [tensor.contiguous().view(-1)]
    buffers = {dtype: torch.cat(flat) for dtype, flat in buffers.items()}
    works = [dist.all_reduce(buffers[dtype], op=op, group=group, async_op=True) for dtype in dtypes]

    def write_back():
        start = dict.fromkeys(dtypes, 0)
        for tensor in tensors:
            flat = buffers[tensor.dtype][start[tensor.dtype] :][: tensor.numel()]
            tensor.copy_(flat.reshape(tensor.shape))
            start[tensor.dtype] += tensor.numel()

    return collectives.PendingReduction(works, write_back)


def all_reduce_coalesced__one_dtype_after_the_other(tensors, op=ReduceOp.SUM, group=None):
    begun, dtypes = [], []
    for dtype in (tensor.dtype for tensor in tensors):
        if dtype in dtypes:
            continue
        dtypes.append(dtype)
        alike = [tensor for tensor in tensors if tensor.dtype == dtype]
        flat = torch.empty(sum(tensor.numel() for tensor in alike), dtype=dtype, device=alike[0].device)
        parts = flat.split([tensor.numel() for tensor in alike])
        for part, tensor in zip(parts, alike):
            part.copy_(tensor.reshape(-1))
        begun.append((dist.all_reduce(flat, op, group, True), parts, alike))

    def write_back():
        for _, parts, alike in begun:
            for part, tensor in zip(parts, alike):
                tensor[...] = part.reshape(tensor.shape)

    return collectives.PendingReduction([work for work, _, _ in begun], write_back)


# Data parallel


def assign_buckets__kind_by_kind(tensors, limits):
    kinds, buckets = {}, []
    for i, tensor in enumerate(tensors):
        kinds.setdefault((tensor.dtype, tensor.device), []).append(i)
    for numbers in kinds.values():
        left, bucket, size = list(limits), [], 0
        for i in numbers:
            bucket.append(i)
            size += tensors[i].nbytes
            if size >= left[0]:
                buckets.append(bucket)
                bucket, size, left = [], 0, left[1:] or left
        buckets += [bucket] * bool(bucket)
    return sorted(buckets)


def assign_buckets__with_a_class(tensors, limits):
    class Open:
        def __init__(self, count):
            self.members, self.size, self.count = [], 0, count

    opened, everything = {}, []
    for i, tensor in enumerate(tensors):
        kind = f"{tensor.dtype} {tensor.device}"
        if kind not in opened or opened[kind].size >= limits[min(opened[kind].count, len(limits) - 1)]:
            opened[kind] = Open(opened[kind].count + 1 if kind in opened else 0)
            everything.append(opened[kind].members)
        opened[kind].members.append(i)
        opened[kind].size += tensor.numel() * tensor.element_size()
    return everything


def broadcast_coalesced__with_global_ranks(tensors, group=None, source=0):
    kinds = {}
    for tensor in tensors:
        kinds.setdefault(tensor.dtype, []).append(tensor)
    root = source if group is None else dist.get_global_rank(group, source)
    with torch.no_grad():
        for chosen in kinds.values():
            flat = torch.cat([tensor.flatten() for tensor in chosen])
            dist.broadcast(flat, src=root, group=group)
            start = 0
            for tensor in chosen:
                tensor.copy_(flat[start : start + tensor.numel()].reshape(tensor.shape))
                start += tensor.numel()


def broadcast_coalesced__asynchronously(tensors, group=None, source=0):
    flats, works = {}, []
    for dtype in sorted({tensor.dtype for tensor in tensors}, key=str):
        flats[dtype] = torch.cat([tensor.data.reshape(-1) for tensor in tensors if tensor.dtype == dtype])
        works.append(dist.broadcast(flats[dtype], group_src=source, group=group, async_op=True))
    for work in works:
        work.wait()
    for tensor in tensors:
        mine, rest = flats[tensor.dtype].split([tensor.numel(), len(flats[tensor.dtype]) - tensor.numel()])
        tensor.data.copy_(mine.view_as(tensor))
        flats[tensor.dtype] = rest


def mark_ready__clears_the_bucket_first(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    if bucket.pending == len(bucket.parameters):
        bucket.buffer.zero_()
    if parameter.grad is not None:
        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


def mark_ready__recursively(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    bucket.pending -= 1
    with torch.no_grad():
        bucket.views[place].zero_()
        if parameter.grad is not None:
            bucket.views[place].add_(parameter.grad, alpha=1 / dist.get_world_size(reducer.group))

    def launch():
        waiting = reducer.buckets[reducer.launched :]
        if waiting and not waiting[0].pending:
            waiting[0].work = dist.all_reduce(waiting[0].buffer, dist.ReduceOp.SUM, reducer.group, True)
            reducer.launched += 1
            launch()

    launch()


def mark_ready__with_a_loop_over_all(reducer, parameter):
    place = reducer.places[parameter]
    view = reducer.buckets[place[0]].views[place[1]]
    grad = torch.zeros_like(view) if parameter.grad is None else parameter.grad.detach()
    view.copy_(grad).div_(dist.get_world_size(group=reducer.group))
    reducer.buckets[place[0]].pending -= 1
    for bucket in reducer.buckets:
        if bucket.pending:
            break
        if bucket.work is None:
            bucket.work = dist.all_reduce(bucket.buffer, group=reducer.group, async_op=True)
            reducer.launched += 1


def find_unused__breadth_first(outputs, parameters):
    found = {}
    waiting = deque()
    for tensor in ddp.tensors_in(outputs):
        if tensor.grad_fn is not None:
            waiting.append(tensor.grad_fn)
        elif tensor.requires_grad:
            found[id(tensor)] = True
    seen = set(waiting)
    while waiting:
        node = waiting.popleft()
        if type(node).__name__ == "AccumulateGrad":
            found[id(node.variable)] = True
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)
    return [i for i, parameter in enumerate(parameters) if id(parameter) not in found]


def find_unused__by_the_parameters_nodes(outputs, parameters):
    def edge(tensor):
        return torch.autograd.graph.get_gradient_edge(tensor).node

    nodes = [edge(parameter) for parameter in parameters]
    reached, new = set(), {edge(t) for t in ddp.tensors_in(outputs) if t.requires_grad}
    while new:
        reached |= new
        new = {n for node in new for n, _ in node.next_functions if n is not None} - reached
    return [i for i, node in enumerate(nodes) if node not in reached]


def finish__bucket_by_bucket(reducer, used=None):
    if any(bucket.work is None for bucket in reducer.buckets):
        raise RuntimeError("unused parameters")
    wanted = {parameter: True for parameter in reducer.parameters}
    if used is not None:
        counts = torch.tensor([int(each) for each in used], dtype=torch.int32)
        work = dist.all_reduce(counts, op=dist.ReduceOp.MAX, group=reducer.group, async_op=True)
        work.wait()
        wanted = dict(zip(reducer.parameters, counts.bool()))
    for bucket in reducer.buckets:
        bucket.work.wait()
        for parameter, view in zip(bucket.parameters, bucket.views):
            if wanted[parameter] and parameter.grad is None:
                parameter.grad = torch.empty_like(parameter).copy_(view)
            elif wanted[parameter]:
                parameter.grad.data[...] = view
        bucket.work, bucket.pending = None, len(bucket.views)
    reducer.launched = 0


def finish__in_steps(reducer, used=None):
    if reducer.launched != len(reducer.buckets):
        raise RuntimeError("unused parameters")
    reducer.launched = 0
    anywhere = torch.ones(len(reducer.parameters), dtype=torch.int32)
    if used is not None:
        anywhere.copy_(torch.tensor(used))
        dist.all_reduce(anywhere, group=reducer.group)
    averages = {}
    for bucket in reducer.buckets:
        work, bucket.work = bucket.work, None
        work.wait()
        bucket.pending = len(bucket.parameters)
        averages.update(zip(bucket.parameters, bucket.buffer.clone().split([p.numel() for p in bucket.parameters])))
    for i in anywhere.nonzero().flatten().tolist():
        parameter = reducer.parameters[i]
        average = averages[parameter].reshape(parameter.shape)
        if parameter.grad is not None:
            parameter.grad.zero_().add_(average)
        else:
            parameter.grad = average.clone()


# With methods that only lists have


def finish__with_a_list_of_its_own(reducer, used=None):
    finish__in_steps(reducer, used and used.copy())


# Cases


def _rank_of(length, ranks, rank, drop_last, **order):
    order = {"shuffle": False, "seed": 0, "epoch": 0} | order
    return {"length": length, "ranks": ranks, "rank": rank, "drop_last": drop_last} | order


def breaks_rank_indices__as_rows():
    rows = [(100, 10, 3, True), (99, 10, 3, True), (9, 10, 0, True), (100, 10, 3, False)]
    return [*(_rank_of(*row) for row in rows), _rank_of(40, 99, 82, False, shuffle=True, seed=7, epoch=5)]


def breaks_rank_indices__as_tuples():
    shuffled = dict(shuffle=True, seed=-5, epoch=2)
    return (
        _rank_of(0, 4, 1, True),
        _rank_of(0, 4, 1, False),
        _rank_of(12, 4, 3, True, **shuffled),
        _rank_of(13, 4, 0, True, **shuffled),
        _rank_of(4, 9, 8, False, **shuffled),
    )
