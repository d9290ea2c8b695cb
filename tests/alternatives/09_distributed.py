"""Correct answers to lab 09 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math
from collections import deque

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp
from torch.distributed.tensor import Partial, Replicate, Shard

from rushlight.distributed import checkpoint, collectives, cost, ddp, mesh, shards, tensor_parallel

# Collectives


def ring_shift__with_work_handles(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks > 1:
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % ranks)
        dist.irecv(incoming, group=group, group_src=(rank + ranks - 1) % ranks).wait()
        sending.wait()
    else:
        incoming.copy_(outgoing)


def ring_shift__the_last_rank_receives_first(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    if ranks == 1:
        incoming.copy_(outgoing)
    elif rank == ranks - 1:
        dist.recv(incoming, group=group, group_src=before)
        dist.send(outgoing, group=group, group_dst=after)
    else:
        dist.send(outgoing, group=group, group_dst=after)
        dist.recv(incoming, group=group, group_src=before)


def ring_reduce_scatter__in_copies(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = [part.clone() for part in input_list]
    for step in range(ranks - 1):
        out, into = (rank - step - 1) % ranks, (rank - step - 2) % ranks
        incoming = torch.empty_like(parts[into])
        collectives.ring_shift(parts[out], incoming, group)
        if op == ReduceOp.SUM:
            parts[into] += incoming
        else:
            parts[into] = torch.maximum(parts[into], incoming)
    output.copy_(parts[rank])


def ring_reduce_scatter__sends_by_itself(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    travelling = input_list[rank - 1].clone()
    for place in range(rank - 2, rank - ranks - 1, -1):
        sending = dist.isend(travelling, group=group, group_dst=(rank + 1) % ranks)
        arrived = input_list[place % ranks].clone()
        dist.irecv(arrived, group=group, group_src=(rank - 1) % ranks).wait()
        sending.wait()
        travelling = collectives.combine(input_list[place % ranks], arrived, op)
    output.copy_(travelling)


def ring_all_gather__passes_on_what_came(output_list, input, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    travelling = input.clone()
    for step in range(1, ranks):
        arrived = torch.empty_like(output_list[rank - step])
        collectives.ring_shift(travelling, arrived, group)
        output_list[rank - step].copy_(arrived)
        travelling = arrived


def ring_all_gather__from_a_rotated_list(output_list, input, group=None):
    place = dist.get_rank(group)
    order = [*reversed(output_list[: place + 1]), *reversed(output_list[place + 1 :])]
    order[0].copy_(input)
    for known, unknown in zip(order, order[1:]):
        collectives.ring_shift(known, unknown, group)


def ring_all_reduce__in_two_turns(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = torch.tensor_split(tensor.flatten(), ranks)
    parts = [part.clone() for part in parts]
    for turn in range(2):
        for step in range(ranks - 1):
            out, into = (rank - step - 1 + turn) % ranks, (rank - step - 2 + turn) % ranks
            incoming = torch.empty_like(parts[into])
            collectives.ring_shift(parts[out], incoming, group)
            parts[into] = incoming if turn else collectives.combine(parts[into], incoming, op)
    tensor.copy_(torch.cat(parts).reshape(tensor.shape))


def ring_all_reduce__with_sizes_of_its_own(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    few, more = divmod(tensor.numel(), ranks)
    parts = tensor.reshape(-1).split([few + 1] * more + [few] * (ranks - more))
    done = parts[rank].clone()
    collectives.ring_reduce_scatter(done, [part.clone() for part in parts], op, group)
    collectives.ring_all_gather(parts, done, group)


def tree_broadcast__from_who_to_whom(tensor, src, group=None):
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    root, count = ranks.index(src), len(ranks)
    place = (dist.get_rank(group) - root) % count
    if place:
        dist.recv(tensor, group=group, group_src=(root + place - (1 << place.bit_length() - 1)) % count)
    hop = 1 << place.bit_length()
    while place + hop < count:
        dist.send(tensor, group=group, group_dst=(root + place + hop) % count)
        hop *= 2


def tree_broadcast__sends_all_at_once(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(dist.group.WORLD if group is None else group, src)) % ranks
    powers = [2**k for k in range(ranks.bit_length())]
    for power in powers:
        if power <= place < 2 * power:
            dist.irecv(tensor, group=group, group_src=(rank - power) % ranks).wait()
    works = [
        dist.isend(tensor, group=group, group_dst=(rank + power) % ranks)
        for power in powers
        if place < power < ranks - place
    ]
    for work in works:
        work.wait()


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


def order_of_work__with_states(reshard, forward_prefetch=0, backward_prefetch=1):
    n, work = len(reshard), []
    whole = [False] * n
    for word, i in [("forward", i) for i in range(n)] + [("backward", i) for i in reversed(range(n))]:
        ahead, step = (forward_prefetch, 1) if word == "forward" else (backward_prefetch, -1)
        for j in [i + step * k for k in range(ahead + 1)]:
            if 0 <= j < n and not whole[j]:
                whole[j] = True
                work.append(("gather", j))
        work.append((word, i))
        if word == "backward" or reshard[i]:
            work.append(("free", i))
            whole[i] = False
        if word == "backward":
            work.append(("reduce", i))
    return work


def order_of_work__recursively(reshard, forward_prefetch=0, backward_prefetch=1):
    count = len(reshard)

    def missing(numbers, whole):
        return [j for j in numbers if 0 <= j < count and j not in whole]

    def back(i, whole):
        if i < 0:
            return []
        new = missing(range(i, i - 1 - backward_prefetch, -1), whole)
        done = [("gather", j) for j in new] + [("backward", i), ("free", i), ("reduce", i)]
        return done + back(i - 1, (whole | set(new)) - {i})

    def forth(i, whole):
        if i == count:
            return back(i - 1, whole)
        new = missing(range(i, i + 1 + forward_prefetch), whole)
        whole = whole | set(new)
        done = [("gather", j) for j in new] + [("forward", i)] + [("free", i)] * reshard[i]
        return done + forth(i + 1, whole - {i} if reshard[i] else whole)

    return forth(0, set())


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


def adamw_step__with_data(parameters, states, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    for p in parameters:
        g = p.grad
        if g is not None:
            empty = {"step": 0, "exp_avg": torch.zeros_like(p.data), "exp_avg_sq": torch.zeros_like(p.data)}
            state = states.setdefault(p, empty)
            state["step"] += 1
            m, v, t = state["exp_avg"], state["exp_avg_sq"], state["step"]
            m.lerp_(g, 1 - betas[0])
            v.copy_(betas[1] * v + (1 - betas[1]) * g**2)
            update = (m / (1 - betas[0] ** t)) / ((v / (1 - betas[1] ** t)) ** 0.5 + eps)
            p.data.sub_(lr * weight_decay * p.data).sub_(lr * update)


@torch.no_grad()
def adamw_step__as_torch_has_it(parameters, states, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    beta1, beta2 = betas
    for p in (p for p in parameters if p.grad is not None):
        if not states.get(p):
            states[p] = dict(step=0, exp_avg=p.new_zeros(p.shape), exp_avg_sq=p.new_zeros(p.shape))
        state = states[p]
        state["step"] = state["step"] + 1
        p.mul_(1 - lr * weight_decay)
        state["exp_avg"].lerp_(p.grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad.conj(), value=1 - beta2)
        size = lr / (1 - beta1 ** state["step"])
        denominator = (state["exp_avg_sq"].sqrt() / math.sqrt(1 - beta2 ** state["step"])).add_(eps)
        p.addcdiv_(state["exp_avg"], denominator, value=-size)


# Checkpoints of shards


def plan_load__by_ranges(pieces, offsets, sizes):
    reads = []
    for number, piece in enumerate(pieces):
        source, target, lengths = [], [], []
        for first, size, mine, wanted in zip(piece.offsets, piece.sizes, offsets, sizes):
            both = range(max(first, mine), min(first + size, mine + wanted))
            source.append(both.start - first)
            target.append(both.start - mine)
            lengths.append(len(both))
        if 0 not in lengths:
            reads.append(checkpoint.Read(number, tuple(source), tuple(target), tuple(lengths)))
    return reads


def plan_load__from_the_differences(pieces, offsets, sizes):
    def read(number, piece):
        shifts = [mine - first for first, mine in zip(piece.offsets, offsets)]
        source = tuple(max(shift, 0) for shift in shifts)
        target = tuple(max(-shift, 0) for shift in shifts)
        left = zip(piece.sizes, source, sizes, target)
        return checkpoint.Read(number, source, target, tuple(min(a - s, b - t) for a, s, b, t in left))

    found = [read(number, piece) for number, piece in enumerate(pieces)]
    return [each for each in found if all(length > 0 for length in each.lengths)]


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


def mesh_groups__by_transposing(mesh, dim):
    return (
        mesh.transpose(dim, -1).transpose(dim, -1).movedim(dim, 0).flatten(1).t().tolist()
        if mesh.dim() > 1
        else [mesh.movedim(dim, 0).tolist()]
    )


def mesh_groups__by_places(mesh, dim):
    if not -mesh.dim() <= dim < mesh.dim():
        raise IndexError(dim)
    found = {}
    for place in itertools.product(*map(range, mesh.shape)):
        others = list(place)
        del others[dim]
        found.setdefault(tuple(others), []).append(mesh[place].item())
    return list(found.values())


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


# The cost model


def ring_cost__from_a_table(collective, nbytes, ranks):
    passes = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1, "all_to_all": 1}
    if collective == "broadcast":
        rounds = math.ceil(math.log2(ranks))
        return rounds, float(nbytes * rounds)
    if collective not in passes:
        raise ValueError(collective)
    return passes[collective] * (ranks - 1), passes[collective] * nbytes * (ranks - 1) / ranks


def ring_cost__step_by_step(collective, nbytes, ranks):
    match collective:
        case "all_reduce":
            steps, sent = cost.ring_cost("reduce_scatter", nbytes, ranks)
            return 2 * steps, 2 * sent
        case "reduce_scatter" | "all_gather" | "all_to_all":
            return ranks - 1, nbytes - nbytes / ranks
        case "broadcast":
            rounds = 0
            while 2**rounds < ranks:
                rounds += 1
            return rounds, nbytes * rounds
    raise ValueError("unknown")


def fit__by_numpy(rows):
    rows = np.array(rows, float).reshape(-1, 3)
    if len(set(rows[:, 1] / rows[:, 0])) < 2:
        raise ValueError("one kind of message only")
    scaled = rows[:, :2] / rows[:, 2:]
    size = np.abs(scaled).max(0)
    (latency, inverse), *_ = np.linalg.lstsq(scaled / size, np.ones(len(rows)), rcond=None)
    if latency < 0:
        latency, inverse = 0, (scaled[:, 1] / size[1]).sum() / ((scaled[:, 1] / size[1]) ** 2).sum()
    if inverse < 0:
        latency, inverse = (scaled[:, 0] / size[0]).sum() / ((scaled[:, 0] / size[0]) ** 2).sum(), 0
    inverse = inverse / size[1]
    return cost.Link(float(latency / size[0]), 1 / float(inverse) if inverse else math.inf)


def fit__tries_the_borders(rows):
    if len(rows) < 2 or all(n * rows[0][0] == steps * rows[0][1] for steps, n, _ in rows):
        raise ValueError("fit")
    a, b = [s / t for s, _, t in rows], [n / t for _, n, t in rows]

    def dot(x, y):
        return sum(map(lambda p, q: p * q, x, y))

    one = [1.0] * len(rows)
    determinant = dot(a, a) * dot(b, b) - dot(a, b) ** 2
    tries = [
        (
            (dot(a, one) * dot(b, b) - dot(b, one) * dot(a, b)) / determinant,
            (dot(b, one) * dot(a, a) - dot(a, one) * dot(a, b)) / determinant,
        ),
        (dot(a, one) / dot(a, a), 0.0),
        (0.0, dot(b, one) / dot(b, b)),
    ]

    def error(found):
        return sum((found[0] * x + found[1] * y - 1) ** 2 for x, y in zip(a, b))

    latency, inverse = min((found for found in tries if min(found) >= 0), key=error)
    return cost.Link(latency, math.inf if inverse == 0 else 1 / inverse)


def layer_costs__from_a_table(strategy, layer, cluster):
    def inside(collective, nbytes):
        return cost.ring_time(collective, nbytes, cluster.per_node, cluster.inside)

    def everywhere(collective):
        return cost.ring_time(collective, layer.nbytes, cluster.nodes * cluster.per_node, cluster.slowest)

    shard = cost.ring_time("all_reduce", layer.nbytes / cluster.per_node, cluster.nodes, cluster.between)
    sums = 2 * inside("all_reduce", layer.activations)
    table = {
        "ddp": (layer.forward, layer.backward, 0.0, everywhere("all_reduce")),
        "fsdp": (layer.forward, layer.backward, everywhere("all_gather"), everywhere("reduce_scatter")),
        "hsdp": (
            layer.forward,
            layer.backward,
            inside("all_gather", layer.nbytes),
            inside("reduce_scatter", layer.nbytes) + shard,
        ),
        "tp": (layer.forward / cluster.per_node + sums, layer.backward / cluster.per_node + sums, 0.0, shard),
    }
    if strategy not in table:
        raise ValueError(strategy)
    return table[strategy]


def layer_costs__by_halves(strategy, layer, cluster):
    def half(nbytes, ranks, link):
        return (ranks - 1) * (link.latency + nbytes / ranks / link.bandwidth)

    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError(strategy)
    forward, backward, gather, reduce = layer.forward, layer.backward, 0, 0
    if strategy in ("ddp", "fsdp"):
        reduce = half(layer.nbytes, cluster.ranks, cluster.slowest)
        gather, reduce = (0, 2 * reduce) if strategy == "ddp" else (reduce, reduce)
    else:
        reduce = 2 * half(layer.nbytes / cluster.per_node, cluster.nodes, cluster.between)
    if strategy == "hsdp":
        gather = half(layer.nbytes, cluster.per_node, cluster.inside)
        reduce += gather
    if strategy == "tp":
        more = 4 * half(layer.activations, cluster.per_node, cluster.inside)
        forward, backward = forward / cluster.per_node + more, backward / cluster.per_node + more
    return forward, backward, gather, reduce


def step_time__in_two_loops(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * forward + layers * backward + 2 * layers * gather + layers * reduce
    wire = gather
    begun = gather
    computed = begun + forward
    for layer in range(1, 2 * layers):
        arrived = 0.0
        if gather:
            wire = arrived = max(wire, begun) + gather
        if layer > layers and reduce:
            wire = max(wire, computed) + reduce
        begun = max(computed, arrived)
        computed = begun + (forward if layer < layers else backward)
    return max(computed, wire) + reduce


def step_time__with_lists(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return sum([forward + backward, 2 * gather, reduce]) * layers
    tasks = [forward] * layers + [backward] * layers
    starts, ends, free = [], [0.0], 0.0
    for i, seconds in enumerate(tasks):
        came = 0.0
        if gather > 0:
            free = came = max(free, starts[-1] if starts else 0.0) + gather
        if i > layers and reduce > 0:
            free = max(free, ends[-1]) + reduce
        starts.append(max(came, ends[-1]))
        ends.append(starts[-1] + seconds)
    return max(ends[-1], free) + reduce


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


# Pipeline parallelism


def gpipe_order__in_two_halves(stage, stages, microbatches):
    forwards, backwards = [], []
    for i in range(microbatches):
        forwards.append(("F", i))
        backwards.append(("B", i))
    return forwards + backwards


def gpipe_order__by_division(stage, stages, microbatches):
    return [("FB"[i // microbatches], i % microbatches) for i in range(2 * microbatches)]


def one_f_one_b_order__by_counting(stage, stages, microbatches):
    order, forwards, backwards = [], 0, 0
    while backwards < microbatches:
        if forwards < microbatches and forwards - backwards < stages - stage:
            order.append(("F", forwards))
            forwards += 1
        else:
            order.append(("B", backwards))
            backwards += 1
    return order


def one_f_one_b_order__by_putting_backwards_between(stage, stages, microbatches):
    order = [["F", i] for i in range(microbatches)]
    for i in range(microbatches):
        order.insert(min(stages - stage + 2 * i, len(order)), ["B", i])
    return order


def start_times__by_what_is_ready(orders, forward, backward, transfer=0.0):
    starts, ends, left = [[] for _ in orders], {}, sum(map(len, orders))
    clock = [0.0 for _ in orders]
    while left:
        moved = 0
        for stage, order in enumerate(orders):
            if len(starts[stage]) == len(order):
                continue
            kind, i = order[len(starts[stage])]
            at = [clock[stage]]
            try:
                if kind == "F" and stage > 0:
                    at.append(ends["F", stage - 1, i] + transfer)
                if kind == "B":
                    at.append(ends["F", stage, i])
                    if stage + 1 < len(orders):
                        at.append(ends["B", stage + 1, i] + transfer)
            except KeyError:
                continue
            starts[stage].append(max(at))
            clock[stage] = ends[kind, stage, i] = max(at) + (forward[stage] if kind == "F" else backward[stage])
            moved += 1
        left -= moved
        if not moved:
            raise ValueError("deadlock")
    return starts


def start_times__by_recursion(orders, forward, backward, transfer=0.0):
    place = {(stage, *action): number for stage, order in enumerate(orders) for number, action in enumerate(order)}
    known, open_ = {}, set()

    def end(stage, kind, i):
        return start(stage, kind, i) + (forward if kind == "F" else backward)[stage]

    def start(stage, kind, i):
        key = stage, kind, i
        if key not in place or key in open_:
            raise ValueError(f"{kind}{i} on {stage} never starts")
        if key not in known:
            open_.add(key)
            number, other = place[key], stage + (1 if kind == "B" else -1)
            times = [0.0]
            times += [end(stage, *orders[stage][number - 1])] if number else []
            times += [end(stage, "F", i)] if kind == "B" else []
            times += [end(other, kind, i) + transfer] if 0 <= other < len(orders) else []
            open_.discard(key)
            known[key] = max(times)
        return known[key]

    return [[start(stage, *action) for action in order] for stage, order in enumerate(orders)]


def run_stage__with_messages_of_their_own(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    rank, last = dist.get_rank(group), dist.get_world_size(group) - 1
    microbatches = sum(kind == "F" for kind, _ in order)
    kept, works, losses = [None] * microbatches, [], []
    for kind, i in order:
        if kind == "F":
            if rank:
                x = torch.zeros(received.shape, dtype=received.dtype, device=received.device)
                dist.irecv(x, group=group, group_src=rank - 1).wait()
                x.requires_grad_()
            else:
                x = inputs[i]
            y = module(x)
            if rank < last:
                message = y.detach().contiguous()
                works.append((dist.isend(message, group=group, group_dst=rank + 1), message))
            else:
                y = loss(y, targets[i])
                losses.append(y.detach())
            kept[i] = (x, y)
        else:
            x, y = kept[i]
            kept[i] = None
            if rank < last:
                gradient = torch.zeros_like(y)
                gradient = gradient.contiguous()
                dist.irecv(gradient, group=group, group_src=rank + 1).wait()
                torch.autograd.backward([y], [gradient])
            else:
                (y / microbatches).backward()
            if rank:
                works.append((dist.isend(x.grad, group=group, group_dst=rank - 1), x.grad))
            del x, y
    for work, _ in works:
        work.wait()
    return losses


def run_stage__with_each_send_waiting_for_the_next_receive(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    """As torch has it: what is sent meets what is received next, and both are waited for."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    kept, losses, sends = {}, {}, []

    def meet(like=None, peer=None):
        ops, arrived = list(sends), None
        sends.clear()
        if peer is not None and 0 <= peer < ranks:
            arrived = like.detach().new_empty(like.shape)
            ops.append(dist.P2POp(dist.irecv, arrived, group=group, group_peer=peer))
        for work in dist.batch_isend_irecv(ops) if ops else []:
            work.wait()
        return arrived

    def leave(message, peer):
        if 0 <= peer < ranks:
            sends.append(dist.P2POp(dist.isend, message.detach().contiguous(), group=group, group_peer=peer))

    for kind, i in order:
        if kind == "F":
            x = meet(received, rank - 1)
            x = inputs[i] if x is None else x.requires_grad_()
            y = module(x)
            if rank == ranks - 1:
                y = loss(y, targets[i])
                losses[i] = y.detach()
            else:
                leave(y, rank + 1)
            kept[i] = x, y
        else:
            gradient = meet(kept[i][1], rank + 1)
            x, y = kept.pop(i)
            y.backward(y.new_ones(()) * 2 / len(order) if gradient is None else gradient)
            if rank:
                leave(x.grad, rank - 1)
    meet()
    return [losses[i] for i in range(len(losses))]


def collectives_of_a_step__by_match(program):
    match program:
        case "example":
            return (f"all_reduce {4 * (100 * 50 + 50)}",)
        case "buckets":
            return ["all_reduce 80000", "all_reduce 40000"]
        case "first":
            return ["all_reduce 120000"]
        case "accumulated":
            return [f"all_reduce {4 * (100 * 100 + 100)}"]
        case "units":
            return ["all_gather 20000"] * 4 + ["reduce_scatter 40000"] * 2
        case "outermost":
            return ["all_gather 40000", *["all_gather 20000"] * 2, "reduce_scatter 80000", "reduce_scatter 40000"]


def collectives_of_a_step__from_elements(program):
    matrix = 4 * 100 * 100
    steps = {
        "example": [("reduce", 20200)],
        "buckets": [("reduce", 2 * matrix), ("reduce", matrix)],
        "first": [("reduce", 3 * matrix)],
        "accumulated": [("reduce", matrix + 400)],
        "units": [("gather", matrix // 2)] * 4 + [("scatter", matrix)] * 2,
        "outermost": [("gather", matrix)]
        + [("gather", matrix // 2)] * 2
        + [("scatter", 2 * matrix), ("scatter", matrix)],
    }
    words = {"reduce": "all_reduce", "gather": "all_gather", "scatter": "reduce_scatter"}
    return [f"{words[kind]} {nbytes}" for kind, nbytes in steps[program]]


# With methods that only lists have


def fit__in_a_sorted_copy(rows):
    rows = rows.copy()
    rows.sort(key=lambda row: row[1])
    return fit__by_numpy(rows)


def finish__with_a_list_of_its_own(reducer, used=None):
    finish__in_steps(reducer, used and used.copy())


def order_of_work__with_a_longer_list(reshard, forward_prefetch=0, backward_prefetch=1):
    longer = reshard + [False]
    return order_of_work__with_states(longer[:-1], forward_prefetch, backward_prefetch)


def start_times__with_times_of_one_more_stage(orders, forward, backward, transfer=0.0):
    return start_times__by_recursion(orders, forward + [0.0], backward + [0.0], transfer)
