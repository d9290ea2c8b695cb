"""Wrong answers to lab 09 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from types import FunctionType

import numpy as np
import torch
import torch.distributed as dist
from answers import edited
from torch.distributed import ReduceOp

from rushlight.distributed import checkpoint, collectives, cost, ddp, fsdp, mesh, pipeline, shards, tensor_parallel

_REDISTRIBUTE = FunctionType(mesh.redistribute.__code__, vars(mesh), "redistribute", (None,))
_FINISH = FunctionType(ddp.finish.__code__, vars(ddp), "finish", (None,))

# Collectives


def ring_shift__sends_first_and_receives_afterwards(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks == 1:
        incoming.copy_(outgoing)
        return
    dist.send(outgoing, group=group, group_dst=(rank + 1) % ranks)
    dist.recv(incoming, group=group, group_src=(rank - 1) % ranks)


def ring_shift__does_not_wait_for_its_send(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks == 1:
        incoming.copy_(outgoing)
        return
    outgoing.sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % ranks)
    dist.recv(incoming, group=group, group_src=(rank - 1) % ranks)


def ring_shift__takes_ranks_of_the_group_for_ranks_of_the_world(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks == 1:
        incoming.copy_(outgoing)
        return
    send = dist.P2POp(dist.isend, outgoing, (rank + 1) % ranks, group)
    receive = dist.P2POp(dist.irecv, incoming, (rank - 1) % ranks, group)
    for work in dist.batch_isend_irecv([send, receive]):
        work.wait()


def ring_shift__forgets_the_group(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if ranks == 1:
        incoming.copy_(outgoing)
        return
    sending = dist.isend(outgoing, (rank + 1) % ranks)
    dist.recv(incoming, (rank - 1) % ranks)
    sending.wait()


def ring_shift__goes_the_other_way_round(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks == 1:
        incoming.copy_(outgoing)
        return
    sending = dist.isend(outgoing, group=group, group_dst=(rank - 1) % ranks)
    dist.recv(incoming, group=group, group_src=(rank + 1) % ranks)
    sending.wait()


def ring_shift__is_alone_and_does_nothing(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks > 1:
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % ranks)
        dist.recv(incoming, group=group, group_src=(rank - 1) % ranks)
        sending.wait()


def ring_shift__gathers_everything(outgoing, incoming, group=None):
    ranks = dist.get_world_size(group)
    every = [None] * ranks
    dist.all_gather_object(every, outgoing, group=group)
    incoming.copy_(every[dist.get_rank(group) - 1])


def ring_reduce_scatter__adds_to_what_it_was_given(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    for step in range(ranks - 1):
        out, into = (rank - step - 1) % ranks, (rank - step - 2) % ranks
        incoming = torch.empty_like(input_list[into])
        collectives.ring_shift(input_list[out], incoming, group)
        input_list[into].copy_(collectives.combine(input_list[into], incoming, op))
    output.copy_(input_list[rank])


def ring_reduce_scatter__ends_one_place_further(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    partial = input_list[rank]
    for step in range(1, ranks):
        mine = input_list[(rank - step) % ranks]
        incoming = torch.empty_like(mine)
        collectives.ring_shift(partial, incoming, group)
        partial = collectives.combine(incoming, mine, op)
    if partial.shape == output.shape:
        output.copy_(partial)


def ring_reduce_scatter__always_adds(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    partial = input_list[rank - 1]
    for step in range(2, ranks + 1):
        mine = input_list[(rank - step) % ranks]
        incoming = torch.empty_like(mine)
        collectives.ring_shift(partial, incoming, group)
        partial = incoming + mine
    output.copy_(partial)


def ring_reduce_scatter__has_parts_of_one_size(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    partial = input_list[rank - 1].clone()
    for step in range(2, ranks + 1):
        incoming = torch.empty_like(partial)
        collectives.ring_shift(partial, incoming, group)
        partial = collectives.combine(incoming, input_list[(rank - step) % ranks], op)
    output.copy_(partial)


def ring_reduce_scatter__sends_each_part_to_its_owner(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    works = [dist.isend(input_list[other], group=group, group_dst=other) for other in range(ranks) if other != rank]
    output.copy_(input_list[rank])
    for other in range(ranks):
        if other != rank:
            incoming = torch.empty_like(output)
            dist.recv(incoming, group=group, group_src=other)
            output.copy_(collectives.combine(output, incoming, op))
    for work in works:
        work.wait()


def ring_reduce_scatter__asks_torch(output, input_list, op=ReduceOp.SUM, group=None):
    dist.reduce_scatter(output, list(input_list), op, group)


def ring_all_gather__sends_its_own_again_and_again(output_list, input, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    for step in range(1, ranks):
        collectives.ring_shift(input, output_list[(rank - step) % ranks], group)


def ring_all_gather__leaves_its_own_out(output_list, input, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    travelling = input
    for step in range(1, ranks):
        collectives.ring_shift(travelling, output_list[(rank - step) % ranks], group)
        travelling = output_list[(rank - step) % ranks]


def ring_all_gather__goes_round_once_too_often(output_list, input, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    for step in range(ranks):
        incoming = torch.empty_like(output_list[(rank - step - 1) % ranks])
        collectives.ring_shift(output_list[(rank - step) % ranks], incoming, group)
        output_list[(rank - step - 1) % ranks].copy_(incoming)


def ring_all_gather__tells_everybody_itself(output_list, input, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    works = [dist.isend(input, group=group, group_dst=other) for other in range(ranks) if other != rank]
    for other in range(ranks):
        if other != rank:
            dist.recv(output_list[other], group=group, group_src=other)
    for work in works:
        work.wait()


def ring_all_reduce__sends_the_whole_tensor_round(tensor, op=ReduceOp.SUM, group=None):
    travelling = tensor.clone()
    for _ in range(dist.get_world_size(group) - 1):
        incoming = torch.empty_like(travelling)
        collectives.ring_shift(travelling, incoming, group)
        tensor.copy_(collectives.combine(tensor, incoming, op))
        travelling = incoming


def ring_all_reduce__leaves_the_rest_out(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = tensor.view(-1)[: tensor.numel() // ranks * ranks].view(ranks, -1)
    mine = torch.empty_like(parts[rank])
    collectives.ring_reduce_scatter(mine, list(parts), op, group)
    collectives.ring_all_gather(list(parts), mine, group)


def ring_all_reduce__cuts_into_chunks(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = list(tensor.view(-1).chunk(ranks))
    parts += [parts[0][:0]] * (ranks - len(parts))
    mine = torch.empty_like(parts[rank])
    collectives.ring_reduce_scatter(mine, parts, op, group)
    collectives.ring_all_gather(parts, mine, group)


def ring_all_reduce__has_the_world_for_a_group(tensor, op=ReduceOp.SUM, group=None):
    parts = tensor.view(-1).tensor_split(dist.get_world_size(group))
    mine = torch.empty_like(parts[dist.get_rank(group)])
    collectives.ring_reduce_scatter(mine, parts, op)
    collectives.ring_all_gather(parts, mine)


def ring_all_reduce__asks_torch(tensor, op=ReduceOp.SUM, group=None):
    dist.all_reduce(tensor, op, group)


def ring_all_reduce__cuts_only_the_first_dimension(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = tensor.reshape(1 if not tensor.dim() else len(tensor), -1).tensor_split(ranks)
    mine = torch.empty_like(parts[rank])
    collectives.ring_reduce_scatter(mine, parts, op, group)
    collectives.ring_all_gather(parts, mine, group)


def tree_broadcast__from_the_root_to_all(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, src)
    if rank == root:
        for other in range(ranks):
            if other != root:
                dist.send(tensor, group=group, group_dst=other)
    else:
        dist.recv(tensor, group=group, group_src=root)


def tree_broadcast__hands_it_along_a_chain(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks
    if place:
        dist.recv(tensor, group=group, group_src=(rank - 1) % ranks)
    if place < ranks - 1:
        dist.send(tensor, group=group, group_dst=(rank + 1) % ranks)


def tree_broadcast__halves_the_distance(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks
    hop = 1 << (ranks - 1).bit_length()
    while hop > 1:
        hop //= 2
        if place % (2 * hop) == 0 and place + hop < ranks:
            dist.send(tensor, group=group, group_dst=(rank + hop) % ranks)
        elif place % (2 * hop) == hop:
            dist.recv(tensor, group=group, group_src=(rank - hop) % ranks)


def tree_broadcast__does_not_wait_for_its_sends(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place, known, tensor.sending = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks, 1, []
    while known < ranks:
        if place < known and place + known < ranks:
            tensor.sending.append(dist.isend(tensor, group=group, group_dst=(rank + known) % ranks))
        elif known <= place < 2 * known:
            dist.recv(tensor, group=group, group_src=(rank - known) % ranks)
        known *= 2


def tree_broadcast__begins_at_rank_0(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    known = 1
    while known < ranks:
        if rank < known and rank + known < ranks:
            dist.send(tensor, group=group, group_dst=rank + known)
        elif known <= rank < 2 * known:
            dist.recv(tensor, group=group, group_src=rank - known)
        known *= 2


def tree_broadcast__takes_src_for_a_rank_of_the_group(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place, known = (rank - src) % ranks, 1
    while known < ranks:
        if place < known and place + known < ranks:
            dist.send(tensor, group=group, group_dst=(rank + known) % ranks)
        elif known <= place < 2 * known:
            dist.recv(tensor, group=group, group_src=(rank - known) % ranks)
        known *= 2


def tree_broadcast__receives_from_anybody(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks
    if place:
        dist.recv(tensor, group=group)
    hop = 1 << place.bit_length()
    while place + hop < ranks:
        dist.send(tensor, group=group, group_dst=(rank + hop) % ranks)
        hop *= 2


def all_reduce_coalesced__one_by_one(tensors, op=ReduceOp.SUM, group=None):
    copies = [tensor.contiguous().clone() for tensor in tensors]
    works = [dist.all_reduce(copy, op, group, async_op=True) for copy in copies]

    def write_back():
        for tensor, copy in zip(tensors, copies):
            tensor.copy_(copy)

    return collectives.PendingReduction(works, write_back)


def all_reduce_coalesced__in_one_dtype(tensors, op=ReduceOp.SUM, group=None):
    if not tensors:
        return collectives.PendingReduction([], lambda: None)
    flat = torch.cat([tensor.double().reshape(-1) for tensor in tensors])
    work = dist.all_reduce(flat, op, group, async_op=True)

    def write_back():
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
            tensor.copy_(part.view(tensor.shape))

    return collectives.PendingReduction([work], write_back)


def all_reduce_coalesced__waits_at_once(tensors, op=ReduceOp.SUM, group=None):
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        alike = [tensor for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in alike])
        dist.all_reduce(flat, op, group)
        for tensor, part in zip(alike, flat.split([tensor.numel() for tensor in alike])):
            tensor.copy_(part.view(tensor.shape))
    return collectives.PendingReduction([], lambda: None)


def all_reduce_coalesced__waits_before_it_returns(tensors, op=ReduceOp.SUM, group=None):
    works, pairs = [], []
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        alike = [tensor for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in alike])
        works.append(dist.all_reduce(flat, op, group, async_op=True))
        works[-1].wait()
        pairs += zip(alike, flat.split([tensor.numel() for tensor in alike]))

    def write_back():
        for tensor, part in pairs:
            tensor.copy_(part.view(tensor.shape))

    return collectives.PendingReduction(works, write_back)


def all_reduce_coalesced__sorts_the_dtypes(tensors, op=ReduceOp.SUM, group=None):
    works, pairs = [], []
    for dtype in sorted({tensor.dtype for tensor in tensors}, key=str):
        alike = [tensor for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in alike])
        works.append(dist.all_reduce(flat, op, group, async_op=True))
        pairs += zip(alike, flat.split([tensor.numel() for tensor in alike]))

    def write_back():
        for tensor, part in pairs:
            tensor.copy_(part.view(tensor.shape))

    return collectives.PendingReduction(works, write_back)


def all_reduce_coalesced__writes_into_copies(tensors, op=ReduceOp.SUM, group=None):
    works, pairs = [], []
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        alike = [tensor for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in alike])
        works.append(dist.all_reduce(flat, op, group, async_op=True))
        pairs += zip(alike, flat.split([tensor.numel() for tensor in alike]))

    def write_back():
        for tensor, part in pairs:
            tensor.reshape(-1).copy_(part)

    return collectives.PendingReduction(works, write_back)


# Data parallel


def assign_buckets__closes_before_it_is_too_large(tensors, limits):
    buckets, opened, count = [], {}, {}
    for i, tensor in enumerate(tensors):
        kind = (tensor.dtype, tensor.device)
        limit = limits[min(count.get(kind, 0), len(limits) - 1)]
        bucket, size = opened.get(kind, (None, 0))
        if bucket is None or size + tensor.nbytes > limit:
            if bucket is not None:
                count[kind] = count.get(kind, 0) + 1
            bucket, size = [], 0
            buckets.append(bucket)
        bucket.append(i)
        opened[kind] = (bucket, size + tensor.nbytes)
    return buckets


def assign_buckets__one_count_for_all_kinds(tensors, limits):
    buckets, opened, closed = [], {}, 0
    for i, tensor in enumerate(tensors):
        kind = (tensor.dtype, tensor.device)
        if kind not in opened:
            opened[kind] = ([], 0)
            buckets.append(opened[kind][0])
        bucket, size = opened.pop(kind)
        bucket.append(i)
        if size + tensor.nbytes >= limits[min(closed, len(limits) - 1)]:
            closed += 1
        else:
            opened[kind] = (bucket, size + tensor.nbytes)
    return buckets


def assign_buckets__in_the_order_in_which_they_close(tensors, limits):
    done, opened, closed = [], {}, {}
    for i, tensor in enumerate(tensors):
        kind = (tensor.dtype, tensor.device)
        bucket, size = opened.pop(kind, ([], 0))
        bucket, size = [*bucket, i], size + tensor.nbytes
        if size >= limits[min(closed.get(kind, 0), len(limits) - 1)]:
            closed[kind] = closed.get(kind, 0) + 1
            done.append(bucket)
        else:
            opened[kind] = (bucket, size)
    return done + [bucket for bucket, _ in opened.values()]


def assign_buckets__by_dtype_alone(tensors, limits):
    buckets, opened, closed = [], {}, {}
    for i, tensor in enumerate(tensors):
        if tensor.dtype not in opened:
            opened[tensor.dtype] = ([], 0)
            buckets.append(opened[tensor.dtype][0])
        bucket, size = opened.pop(tensor.dtype)
        bucket.append(i)
        if size + tensor.nbytes >= limits[min(closed.get(tensor.dtype, 0), len(limits) - 1)]:
            closed[tensor.dtype] = closed.get(tensor.dtype, 0) + 1
        else:
            opened[tensor.dtype] = (bucket, size + tensor.nbytes)
    return buckets


def broadcast_coalesced__one_by_one(tensors, group=None, source=0):
    for tensor in tensors:
        flat = tensor.detach().contiguous()
        dist.broadcast(flat, group=group, group_src=source)
        tensor.detach().copy_(flat)


def broadcast_coalesced__takes_source_for_a_rank_of_all(tensors, group=None, source=0):
    members = range(dist.get_world_size()) if group is None else dist.get_process_group_ranks(group)
    source = source if source in members else members[0]
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        chosen = [tensor.detach() for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in chosen])
        dist.broadcast(flat, src=source, group=group)
        for tensor, part in zip(chosen, flat.split([tensor.numel() for tensor in chosen])):
            tensor.copy_(part.view(tensor.shape))


def broadcast_coalesced__in_one_dtype(tensors, group=None, source=0):
    if tensors:
        flat = torch.cat([tensor.detach().reshape(-1).double() for tensor in tensors])
        dist.broadcast(flat, group=group, group_src=source)
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
            tensor.detach().copy_(part.view(tensor.shape))


def broadcast_coalesced__with_set(tensors, group=None, source=0):
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        chosen = [tensor.detach() for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in chosen])
        dist.broadcast(flat, group=group, group_src=source)
        for tensor, part in zip([t for t in tensors if t.dtype == dtype], flat.split([t.numel() for t in chosen])):
            tensor.data = part.view(tensor.shape)


def mark_ready__waits(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    bucket.views[place].copy_(grad.detach() / dist.get_world_size(reducer.group))
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        full.work.wait()
        reducer.launched += 1


def mark_ready__launches_one_only(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    bucket.views[place].copy_(grad.detach() / dist.get_world_size(reducer.group))
    bucket.pending -= 1
    full = reducer.buckets[reducer.launched]
    if not full.pending:
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


def mark_ready__launches_all_at_the_end(reducer, parameter):
    number, place = reducer.places[parameter]
    grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    reducer.buckets[number].views[place].copy_(grad.detach() / dist.get_world_size(reducer.group))
    reducer.buckets[number].pending -= 1
    if not any(bucket.pending for bucket in reducer.buckets):
        for bucket in reducer.buckets:
            bucket.work = dist.all_reduce(bucket.buffer, group=reducer.group, async_op=True)
        reducer.launched = len(reducer.buckets)


def mark_ready__divides_by_all_ranks(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    bucket.views[place].copy_(grad.detach() / dist.get_world_size())
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


def mark_ready__divides_the_gradient_itself(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    bucket.views[place].copy_(grad.detach().div_(dist.get_world_size(reducer.group)))
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


def mark_ready__leaves_what_was_there(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    if parameter.grad is not None:
        bucket.views[place].add_(parameter.grad.detach())
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


def find_unused__by_a_backward(outputs, parameters):
    ends = [each for each in ddp.tensors_in(outputs) if each.requires_grad]
    if not ends:
        return [*range(len(parameters))]
    grads = torch.autograd.grad(ends, parameters, allow_unused=True, retain_graph=True)
    return [i for i, grad in enumerate(grads) if grad is None]


def find_unused__recursively(outputs, parameters):
    seen, reached = set(), set()

    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        reached.add(id(getattr(node, "variable", None)))
        for other, _ in node.next_functions:
            visit(other)

    for each in ddp.tensors_in(outputs):
        if each.requires_grad:
            visit(torch.autograd.graph.get_gradient_edge(each).node)
    return [i for i, parameter in enumerate(parameters) if id(parameter) not in reached]


def find_unused__forgets_outputs_without_history(outputs, parameters):
    seen, reached = set(), set()
    waiting = [each.grad_fn for each in ddp.tensors_in(outputs) if each.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            reached.add(id(getattr(node, "variable", None)))
            waiting += [other for other, _ in node.next_functions if other is not None]
    return [i for i, parameter in enumerate(parameters) if id(parameter) not in reached]


def find_unused__looks_at_the_first_output(outputs, parameters):
    seen, reached, found = set(), set(), ddp.tensors_in(outputs)[:1]
    waiting = [torch.autograd.graph.get_gradient_edge(each).node for each in found if each.requires_grad]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            reached.add(id(getattr(node, "variable", None)))
            waiting += [other for other, _ in node.next_functions if other is not None]
    return [i for i, parameter in enumerate(parameters) if id(parameter) not in reached]


def finish__looks_at_its_own_rank_only(reducer, used=None):
    if reducer.launched < len(reducer.buckets):
        raise RuntimeError
    for bucket in reducer.buckets:
        bucket.work.wait()
        bucket.work, bucket.pending = None, len(bucket.parameters)
    reducer.launched = 0
    for parameter, mine in zip(reducer.parameters, used or [True] * len(reducer.parameters)):
        number, place = reducer.places[parameter]
        if mine:
            parameter.grad = reducer.buckets[number].views[place].clone()


def finish__writes_before_it_raises(reducer, used=None):
    for bucket in reducer.buckets[: reducer.launched]:
        bucket.work.wait()
        for parameter, view in zip(bucket.parameters, bucket.views):
            if parameter.grad is not None:
                parameter.grad.copy_(view)
    _FINISH(reducer, used)


def finish__gives_all_a_gradient(reducer, used=None):
    if reducer.launched < len(reducer.buckets):
        raise RuntimeError
    if used is not None:
        dist.all_reduce(torch.tensor(used, dtype=torch.int32), group=reducer.group)
    for bucket in reducer.buckets:
        bucket.work.wait()
        for parameter, view in zip(bucket.parameters, bucket.views):
            if parameter.grad is None:
                parameter.grad = view.clone()
            else:
                parameter.grad.copy_(view)
        bucket.work, bucket.pending = None, len(bucket.parameters)
    reducer.launched = 0


def finish__lends_the_buckets_views(reducer, used=None):
    if reducer.launched < len(reducer.buckets):
        raise RuntimeError
    anywhere = [True] * len(reducer.parameters)
    if used is not None:
        counts = torch.tensor(used, dtype=torch.int32)
        dist.all_reduce(counts, group=reducer.group)
        anywhere = counts.bool().tolist()
    for bucket in reducer.buckets:
        bucket.work.wait()
        bucket.work, bucket.pending = None, len(bucket.parameters)
    reducer.launched = 0
    for parameter, wanted in zip(reducer.parameters, anywhere):
        number, place = reducer.places[parameter]
        if wanted:
            parameter.grad = reducer.buckets[number].views[place]


def finish__leaves_the_reducer_as_it_was(reducer, used=None):
    if reducer.launched < len(reducer.buckets):
        raise RuntimeError
    anywhere = [True] * len(reducer.parameters)
    if used is not None:
        counts = torch.tensor(used, dtype=torch.int32)
        dist.all_reduce(counts, group=reducer.group)
        anywhere = counts.bool().tolist()
    for bucket in reducer.buckets:
        bucket.work.wait()
    for parameter, wanted in zip(reducer.parameters, anywhere):
        number, place = reducer.places[parameter]
        if wanted and parameter.grad is not None:
            parameter.grad.copy_(reducer.buckets[number].views[place])
        elif wanted:
            parameter.grad = reducer.buckets[number].views[place].clone()


# Fully sharded


def shard__without_padding(tensor, rank, ranks):
    if tensor.dim() == 0:
        raise ValueError
    parts = torch.chunk(tensor.detach(), ranks)
    return parts[rank].clone().contiguous() if rank < len(parts) else tensor.detach()[:0].clone()


def shard__evenly(tensor, rank, ranks):
    if tensor.dim() == 0:
        raise ValueError
    part = torch.tensor_split(tensor.detach(), ranks)[rank]
    buffer = tensor.new_zeros(-(-tensor.shape[0] // ranks) * math.prod(tensor.shape[1:]), requires_grad=False)
    return buffer[: part.numel()].view(part.shape).copy_(part)


def shard__of_the_flattened(tensor, rank, ranks):
    if tensor.dim() == 0:
        raise ValueError
    length = -(-tensor.numel() // ranks)
    buffer = tensor.new_zeros(length, requires_grad=False)
    part = tensor.detach().reshape(-1)[rank * length : (rank + 1) * length]
    return buffer[: len(part)].copy_(part)


def shard__a_view(tensor, rank, ranks):
    if tensor.dim() == 0:
        raise ValueError
    rows = -(-tensor.shape[0] // ranks)
    return tensor.detach()[rank * rows : (rank + 1) * rows]


def shard__leaves_the_padding_as_it_is(tensor, rank, ranks):
    if tensor.dim() == 0:
        raise ValueError
    rows = -(-tensor.shape[0] // ranks)
    buffer = tensor.detach().new_empty(rows * math.prod(tensor.shape[1:]))
    part = tensor.detach()[rank * rows : (rank + 1) * rows]
    return buffer[: part.numel()].view(part.shape).copy_(part)


def start_gather__one_for_each(unit):
    parts = []
    for each in unit.parameters:
        parts.append(each.padded.new_empty(dist.get_world_size(unit.group), len(each.padded)))
        work = dist.all_gather_single(parts[-1].view(-1), each.padded, group=unit.group, async_op=True)
        work.wait()
    unit.arriving = (work, torch.cat(parts, dim=1).view(-1))


def start_gather__waits(unit):
    mine = torch.cat([each.padded for each in unit.parameters])
    everything = mine.new_empty(len(mine) * dist.get_world_size(unit.group))
    work = dist.all_gather_single(everything, mine, group=unit.group, async_op=True)
    work.wait()
    unit.arriving = (work, everything)


def start_gather__without_the_padding(unit):
    mine = torch.cat([each.sharded.detach().reshape(-1) for each in unit.parameters])
    everything = mine.new_zeros(sum(len(each.padded) for each in unit.parameters) * dist.get_world_size(unit.group))
    padded = everything.new_zeros(len(everything) // dist.get_world_size(unit.group))
    padded[: len(mine)] = mine
    unit.arriving = (dist.all_gather_single(everything, padded, group=unit.group, async_op=True), everything)


def start_gather__from_all_ranks(unit):
    mine = torch.cat([each.padded for each in unit.parameters])
    everything = mine.new_empty(len(mine) * dist.get_world_size(unit.group))
    parts = [each.clone() for each in everything.chunk(dist.get_world_size(unit.group))]
    work = dist.all_gather(parts, mine, group=unit.group, async_op=True)
    unit.arriving = (work, torch.cat(parts))


def finish_gather__does_not_wait(unit):
    _, everything = unit.arriving
    ranks = dist.get_world_size(unit.group)
    columns = everything.view(ranks, -1).split([len(each.padded) for each in unit.parameters], dim=1)
    for each, column in zip(unit.parameters, columns):
        each.gathered.untyped_storage().resize_(each.gathered.nbytes)
        each.gathered.view(ranks, -1).copy_(column)
        setattr(each.module, each.name, each.whole)
    unit.arriving, unit.is_gathered = None, True


def finish_gather__takes_parameters_for_contiguous(unit):
    work, everything = unit.arriving
    work.wait()
    parts = everything.split([len(each.gathered) for each in unit.parameters])
    for each, part in zip(unit.parameters, parts):
        each.gathered.untyped_storage().resize_(each.gathered.nbytes)
        each.gathered.copy_(part)
        setattr(each.module, each.name, each.whole)
    unit.arriving, unit.is_gathered = None, True


def finish_gather__makes_new_parameters(unit):
    work, everything = unit.arriving
    work.wait()
    ranks = dist.get_world_size(unit.group)
    columns = everything.view(ranks, -1).split([len(each.padded) for each in unit.parameters], dim=1)
    for each, column in zip(unit.parameters, columns):
        each.gathered.untyped_storage().resize_(each.gathered.nbytes)
        each.gathered.view(ranks, -1).copy_(column)
        each.whole = torch.nn.Parameter(each.gathered[: each.whole.numel()].view(each.whole.shape))
        setattr(each.module, each.name, each.whole)
    unit.arriving, unit.is_gathered = None, True


def finish_gather__writes_where_autograd_sees_it(unit):
    work, everything = unit.arriving
    work.wait()
    ranks = dist.get_world_size(unit.group)
    columns = everything.view(ranks, -1).split([len(each.padded) for each in unit.parameters], dim=1)
    for each, column in zip(unit.parameters, columns):
        each.gathered.untyped_storage().resize_(each.gathered.nbytes)
        each.gathered.view(ranks, -1).copy_(column)
        each.whole.detach().copy_(column.reshape(-1)[: each.whole.numel()].view(each.whole.shape))
        setattr(each.module, each.name, each.whole)
    unit.arriving, unit.is_gathered = None, True


def finish_gather__leaves_the_shards_in_the_modules(unit):
    work, everything = unit.arriving
    work.wait()
    ranks = dist.get_world_size(unit.group)
    columns = everything.view(ranks, -1).split([len(each.padded) for each in unit.parameters], dim=1)
    for each, column in zip(unit.parameters, columns):
        each.gathered.untyped_storage().resize_(each.gathered.nbytes)
        each.gathered.view(ranks, -1).copy_(column)
    unit.arriving, unit.is_gathered = None, True


def _reduced(unit, all_zeros=False, rows_of_ranks=True, divide=True, add=True):
    chosen = [each for each in unit.parameters if all_zeros or each.whole.grad is not None]
    if not chosen:
        return
    ranks, columns = dist.get_world_size(unit.group), []
    for each in chosen:
        column = each.padded.new_zeros(ranks * len(each.padded))
        if each.whole.grad is not None:
            column[: each.whole.numel()] = each.whole.grad.reshape(-1)
        columns.append(column.view(ranks, -1) if rows_of_ranks else column)
        each.whole.grad = None
    everything = torch.cat(columns, dim=-1).view(-1)
    mine = everything.new_empty(len(everything) // ranks)
    dist.reduce_scatter_single(mine, everything, group=unit.group)
    mine /= ranks if divide else 1
    for each, part in zip(chosen, mine.split([len(each.padded) for each in chosen])):
        average = part[: each.sharded.numel()].view(each.sharded.shape)
        each.sharded.grad = average + each.sharded.grad if add and each.sharded.grad is not None else average


def reduce_gradients__of_those_without_too(unit):
    _reduced(unit, all_zeros=True)


def reduce_gradients__parameter_after_parameter(unit):
    _reduced(unit, rows_of_ranks=False)


def reduce_gradients__sums(unit):
    _reduced(unit, divide=False)


def reduce_gradients__forgets_earlier_ones(unit):
    _reduced(unit, add=False)


def reduce_gradients__by_all_reduce(unit):
    for each in unit.parameters:
        if each.whole.grad is not None:
            dist.all_reduce(each.whole.grad, group=unit.group)
            rows = -(-each.whole.shape[0] // dist.get_world_size(unit.group))
            rank = dist.get_rank(unit.group)
            average = each.whole.grad[rank * rows : (rank + 1) * rows] / dist.get_world_size(unit.group)
            each.sharded.grad = average if each.sharded.grad is None else each.sharded.grad + average
            each.whole.grad = None


def _ordered(reshard, forward, backward, always=False, late=False, swapped=False, again=False):
    work, whole, n = [], set(), len(reshard)
    for word, i in [("forward", i) for i in range(n)] + [("backward", i) for i in reversed(range(n))]:
        step, ahead = (1, forward) if word == "forward" else (-1, backward)
        gathers = [j for j in range(i, i + step * (ahead + 1), step) if 0 <= j < n and (always or j not in whole)]
        whole |= {*gathers}
        first, rest = [("gather", j) for j in gathers if j == i], [("gather", j) for j in gathers if j != i]
        work += [*first, (word, i), *rest] if late else [*first, *rest, (word, i)]
        if word == "backward":
            work += [("reduce", i), ("free", i)] if swapped else [("free", i), ("reduce", i)]
            whole.discard(i)
        elif reshard[i] and not (again and i == n - 1):
            work.append(("free", i))
            whole.discard(i)
    return work


def order_of_work__gathers_what_is_whole(reshard, forward_prefetch=0, backward_prefetch=1):
    return _ordered(reshard, forward_prefetch, backward_prefetch, always=True)


def order_of_work__prefetches_after_computing(reshard, forward_prefetch=0, backward_prefetch=1):
    return _ordered(reshard, forward_prefetch, backward_prefetch, late=True)


def order_of_work__reduces_before_it_frees(reshard, forward_prefetch=0, backward_prefetch=1):
    return _ordered(reshard, forward_prefetch, backward_prefetch, swapped=True)


def order_of_work__keeps_the_last_one(reshard, forward_prefetch=0, backward_prefetch=1):
    return _ordered(reshard, forward_prefetch, backward_prefetch, again=True)


def clip_grad_norm__of_its_own_shards(parameters, max_norm, norm_type=2.0, group=None):
    norm = torch.nn.utils.get_total_norm(
        [p.grad for p in parameters if p.grad is not None and p.grad.numel()], norm_type
    )
    for each in parameters:
        if each.grad is not None:
            each.grad.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
    return norm


def clip_grad_norm__sums_the_norms(parameters, max_norm, norm_type=2.0, group=None):
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.zeros((), dtype=parameters[0].dtype)
    norm = torch.cat([g.reshape(-1) for g in grads] + [grads[0].new_zeros(1)]).norm(norm_type)
    dist.all_reduce(norm, op=dist.ReduceOp.MAX if norm_type == math.inf else dist.ReduceOp.SUM, group=group)
    for grad in grads:
        grad.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
    return norm


def clip_grad_norm__scales_up_as_well(parameters, max_norm, norm_type=2.0, group=None):
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.zeros((), dtype=parameters[0].dtype)
    norm = torch.cat([g.reshape(-1) for g in grads] + [grads[0].new_zeros(1)]).norm(norm_type)
    norm = norm if norm_type == math.inf else norm**norm_type
    dist.all_reduce(norm, op=dist.ReduceOp.MAX if norm_type == math.inf else dist.ReduceOp.SUM, group=group)
    norm = norm if norm_type == math.inf else norm ** (1 / norm_type)
    for grad in grads:
        grad.mul_(max_norm / (norm + 1e-6))
    return norm


def clip_grad_norm__one_message_for_each(parameters, max_norm, norm_type=2.0, group=None):
    total = torch.zeros((), dtype=parameters[0].dtype)
    grads = [p.grad for p in parameters if p.grad is not None]
    for grad in grads:
        if norm_type == math.inf:
            part = torch.cat([grad.reshape(-1).abs(), grad.new_zeros(1)]).max()
            dist.all_reduce(part, op=dist.ReduceOp.MAX, group=group)
            total = torch.maximum(total, part)
        else:
            part = (grad.abs() ** norm_type).sum()
            dist.all_reduce(part, group=group)
            total = total + part
    total = total if norm_type == math.inf else total ** (1 / norm_type)
    for grad in grads:
        grad.mul_((max_norm / (total + 1e-6)).clamp(max=1.0))
    return total


def _adam(parameters, states, lr, betas, eps, decay, coupled=False, one=False, corrected=True, inside=False, new=False):
    for p in parameters:
        if p.grad is None:
            continue
        zeros = torch.zeros_like(p.data)
        state = states.setdefault(p, {"step": 0, "exp_avg": zeros.clone(), "exp_avg_sq": zeros.clone()})
        state["step"] += 1
        t = max(each["step"] for each in states.values()) if one else state["step"]
        g = p.grad + decay * p.data if coupled else p.grad
        if new:
            state["exp_avg"] = betas[0] * state["exp_avg"] + (1 - betas[0]) * g
            state["exp_avg_sq"] = betas[1] * state["exp_avg_sq"] + (1 - betas[1]) * g * g
        else:
            state["exp_avg"].mul_(betas[0]).add_(g * (1 - betas[0]))
            state["exp_avg_sq"].mul_(betas[1]).add_(g * g * (1 - betas[1]))
        m = state["exp_avg"] / (1 - betas[0] ** t if corrected else 1)
        v = state["exp_avg_sq"] / (1 - betas[1] ** t if corrected else 1)
        if not coupled:
            p.data.mul_(1 - lr * decay)
        p.data.sub_(lr * m / ((v + eps).sqrt() if inside else v.sqrt() + eps))


def adamw_step__decays_the_gradient(parameters, states, lr=1, betas=(0, 0), eps=0, weight_decay=0):
    _adam(parameters, states, lr, betas, eps, weight_decay, coupled=True)


def adamw_step__counts_for_all(parameters, states, lr=1, betas=(0, 0), eps=0, weight_decay=0):
    _adam(parameters, states, lr, betas, eps, weight_decay, one=True)


def adamw_step__without_correction(parameters, states, lr=1, betas=(0, 0), eps=0, weight_decay=0):
    _adam(parameters, states, lr, betas, eps, weight_decay, corrected=False)


def adamw_step__eps_within_the_root(parameters, states, lr=1, betas=(0, 0), eps=0, weight_decay=0):
    _adam(parameters, states, lr, betas, eps, weight_decay, inside=True)


def adamw_step__makes_new_states(parameters, states, lr=1, betas=(0, 0), eps=0, weight_decay=0):
    _adam(parameters, states, lr, betas, eps, weight_decay, new=True)


def adamw_step__has_torch_do_it(parameters, states, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    optimizer = torch.optim.AdamW(parameters, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
    optimizer.state.update(states)
    optimizer.step()
    states.update(optimizer.state)


# Checkpoints of shards


def _overlaps(pieces, offsets, sizes, touching=False, swapped=False, absolute=False):
    reads = []
    for number, piece in enumerate(pieces):
        starts = [max(pair) for pair in zip(piece.offsets, offsets)]
        ends = [min(a + n, b + m) for a, n, b, m in zip(piece.offsets, piece.sizes, offsets, sizes)]
        if all(s <= e if touching else s < e for s, e in zip(starts, ends)):
            source = tuple(s if absolute else s - a for s, a in zip(starts, piece.offsets))
            target = tuple(s - a for s, a in zip(starts, offsets))
            lengths = tuple(e - s for s, e in zip(starts, ends))
            both = (target, source) if swapped else (source, target)
            reads.append(checkpoint.Read(number, *both, lengths))
    return reads


def plan_load__reads_what_only_touches(pieces, offsets, sizes):
    return _overlaps(pieces, offsets, sizes, touching=True)


def plan_load__mistakes_source_for_target(pieces, offsets, sizes):
    return _overlaps(pieces, offsets, sizes, swapped=True)


def plan_load__counts_from_the_whole(pieces, offsets, sizes):
    return _overlaps(pieces, offsets, sizes, absolute=True)


def plan_load__first_dimension_only(pieces, offsets, sizes):
    reads = []
    for number, piece in enumerate(pieces):
        if not sizes:
            reads.append(checkpoint.Read(number, (), (), ()))
            continue
        start = max(piece.offsets[0], offsets[0])
        length = min(piece.offsets[0] + piece.sizes[0], offsets[0] + sizes[0]) - start
        if length > 0:
            rest = (0,) * (len(sizes) - 1)
            source, target = (start - piece.offsets[0], *rest), (start - offsets[0], *rest)
            reads.append(checkpoint.Read(number, source, target, (length, *sizes[1:])))
    return reads


def load_shards__reads_all_pieces(store, state):
    index = store.index()
    for name, shard in state.items():
        if index[name][0] != shard.size:
            raise ValueError(name)
    for name, shard in state.items():
        whole = torch.zeros(shard.size, dtype=shard.data.dtype)
        for piece in index[name][1]:
            place = tuple(slice(o, o + n) for o, n in zip(piece.offsets, piece.sizes))
            whole[place] = store.read(piece.file, name, (0,) * len(place), piece.sizes).to(whole.dtype)
        place = tuple(slice(o, o + n) for o, n in zip(shard.offsets, shard.data.shape))
        shard.data.detach().copy_(whole[place])


def load_shards__gives_new_tensors(store, state):
    index = store.index()
    for name, shard in state.items():
        if index[name][0] != shard.size:
            raise ValueError(name)
    for name, shard in state.items():
        data = torch.empty_like(shard.data)
        for read in checkpoint.plan_load(index[name][1], shard.offsets, data.shape):
            place = tuple(slice(t, t + n) for t, n in zip(read.target, read.lengths))
            data[place] = store.read(index[name][1][read.piece].file, name, read.source, read.lengths)
        shard.data = data


def load_shards__looks_at_names_on_its_way(store, state):
    index = store.index()
    for name, shard in state.items():
        if index[name][0] != shard.size:
            raise ValueError(name)
        for read in checkpoint.plan_load(index[name][1], shard.offsets, shard.data.shape):
            place = tuple(slice(t, t + n) for t, n in zip(read.target, read.lengths))
            file = index[name][1][read.piece].file
            shard.data.detach()[place] = store.read(file, name, read.source, read.lengths)


def load_shards__puts_it_where_it_came_from(store, state):
    index = store.index()
    for name, shard in state.items():
        if index[name][0] != shard.size:
            raise ValueError(name)
    for name, shard in state.items():
        for read in checkpoint.plan_load(index[name][1], shard.offsets, shard.data.shape):
            part = store.read(index[name][1][read.piece].file, name, read.source, read.lengths)
            place = tuple(slice(0, n) for n in read.lengths)
            shard.data.detach()[place] = part


def plan_load__has_torch_do_it(pieces, offsets, sizes):
    from torch.distributed.checkpoint import metadata, planner_helpers

    chunks = [metadata.ChunkStorageMetadata(torch.Size(p.offsets), torch.Size(p.sizes)) for p in pieces]
    saved = metadata.TensorStorageMetadata(metadata.TensorProperties(), torch.Size(sizes), chunks)
    wanted = [metadata.ChunkStorageMetadata(torch.Size(offsets), torch.Size(sizes))]
    items = planner_helpers.create_read_items_for_chunk_list("x", saved, wanted)
    reads = [(i.storage_index.index, *map(tuple, (i.storage_offsets, i.dest_offsets, i.lengths))) for i in items]
    return [checkpoint.Read(*each) for each in sorted(reads) if 0 not in each[3]]


# The device mesh


def mesh_groups__in_ascending_order(mesh, dim):
    return [sorted(group) for group in mesh.movedim(dim, -1).reshape(-1, mesh.shape[dim]).tolist()]


def mesh_groups__without_moving_the_dimension(mesh, dim):
    return mesh.reshape(-1, mesh.shape[dim]).tolist()


def mesh_groups__with_the_dimension_in_front(mesh, dim):
    return mesh.movedim(dim, 0).reshape(mesh.shape[dim], -1).tolist()


def mesh_groups__of_two_dimensions(mesh, dim):
    return mesh.tolist() if dim in (1, -1) else mesh.t().tolist()


def mesh_groups__takes_any_dimension(mesh, dim):
    dim %= mesh.dim()
    return mesh.movedim(dim, -1).reshape(-1, mesh.shape[dim]).tolist()


def shard_sizes__as_even_as_can_be(size, ranks):
    few, more = divmod(size, ranks)
    sizes = [few + (rank < more) for rank in range(ranks)]
    return [(each, sum(sizes[:rank])) for rank, each in enumerate(sizes)]


def shard_sizes__gives_the_rest_to_the_last(size, ranks):
    few = size // ranks
    return [(few + (size % ranks if rank == ranks - 1 else 0), rank * few) for rank in range(ranks)]


def shard_sizes__goes_on_counting_where_nothing_is_left(size, ranks):
    full = -(-size // ranks)
    return [(max(0, min(full, size - rank * full)), rank * full) for rank in range(ranks)]


def shard_sizes__negative(size, ranks):
    full = -(-size // ranks)
    return [(min(full, size - rank * full), min(size, rank * full)) for rank in range(ranks)]


def shard_sizes__leaves_out_the_empty_ones(size, ranks):
    full = max(1, -(-size // ranks))
    return [(min(full, size - start), start) for start in range(0, size, full)]


def redistribute__by_way_of_the_whole(local, shape, source, target, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if target.is_partial() and source != target:
        raise RuntimeError
    if source == target:
        return local
    if source.is_shard():
        sizes = [size for size, _ in shards.shard_sizes(shape[source.dim], ranks)]
        mine = mesh.padded(local, source.dim, sizes[0])
        every = mine.new_empty((ranks, *mine.shape))
        dist.all_gather_single(every.flatten(0, 1), mine, group)
        local = torch.cat([part.narrow(source.dim, 0, size) for part, size in zip(every, sizes)], source.dim)
    if source.is_partial():
        local = local.clone()
        dist.all_reduce(local, mesh.reduce_op(source), group)
    return local if target.is_replicate() else mesh.pieces(local, target.dim, ranks)[rank]


def redistribute__adds_maxima(local, shape, source, target, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if source.is_partial() and target.is_replicate():
        dist.all_reduce(whole := local.clone(), group=group)
        return whole
    if source.is_partial() and target.is_shard():
        parts = mesh.pieces(local, target.dim, ranks)
        sent = [mesh.padded(part, target.dim, parts[0].shape[target.dim]) for part in parts]
        dist.reduce_scatter(out := torch.empty_like(sent[0]), sent, group=group)
        return out.narrow(target.dim, 0, parts[rank].shape[target.dim])
    return _REDISTRIBUTE(local, shape, source, target, group)


def redistribute__reduces_in_place(local, shape, source, target, group=None):
    if source.is_partial() and target.is_replicate():
        dist.all_reduce(local, mesh.reduce_op(source), group)
        return local
    return _REDISTRIBUTE(local, shape, source, target, group)


def redistribute__keeps_what_was_padded(local, shape, source, target, group=None):
    if source.is_partial() and target.is_shard():
        parts = mesh.pieces(local, target.dim, dist.get_world_size(group))
        every = torch.cat([mesh.padded(part, target.dim, parts[0].shape[target.dim]) for part in parts])
        out = local.new_empty(mesh.resized(local.shape, target.dim, parts[0].shape[target.dim]))
        dist.reduce_scatter_single(out, every, mesh.reduce_op(source), group)
        return out
    return _REDISTRIBUTE(local, shape, source, target, group)


def redistribute__does_not_pad(local, shape, source, target, group=None):
    if source.is_partial() and target.is_shard():
        rank, ranks = dist.get_rank(group), dist.get_world_size(group)
        parts = [part.contiguous() for part in mesh.pieces(local, target.dim, ranks)]
        dist.reduce_scatter(out := torch.empty_like(parts[rank]), parts, mesh.reduce_op(source), group)
        return out
    return _REDISTRIBUTE(local, shape, source, target, group)


def redistribute__makes_summands(local, shape, source, target, group=None):
    if source.is_replicate() and target.is_partial():
        return local / dist.get_world_size(group)
    return _REDISTRIBUTE(local, shape, source, target, group)


def redistribute__joins_along_the_first_dimension(local, shape, source, target, group=None):
    if source.is_shard() and target.is_replicate():
        ranks = dist.get_world_size(group)
        mine = mesh.padded(local, source.dim, shards.shard_sizes(shape[source.dim], ranks)[0][0])
        out = mine.new_empty((mine.shape[0] * ranks, *mine.shape[1:]))
        dist.all_gather_single(out, mine, group)
        return out[: shape[0]]
    return _REDISTRIBUTE(local, shape, source, target, group)


# The cost model


def ring_cost__says_one_ring_is_enough(collective, nbytes, ranks):
    if collective == "broadcast":
        return (ranks - 1).bit_length(), (ranks - 1).bit_length() * nbytes
    if collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all"):
        raise ValueError
    return ranks - 1, (ranks - 1) * nbytes / ranks


def ring_cost__sends_the_whole_in_each_step(collective, nbytes, ranks):
    if collective == "broadcast":
        return (ranks - 1).bit_length(), (ranks - 1).bit_length() * nbytes
    if collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all"):
        raise ValueError
    steps = (ranks - 1) * (1 + (collective == "all_reduce"))
    return steps, steps * nbytes


def ring_cost__rounds_the_depth_of_the_tree_down(collective, nbytes, ranks):
    if collective == "broadcast":
        rounds = int(math.log2(ranks))
        return rounds, rounds * nbytes
    if collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all"):
        raise ValueError
    steps = (ranks - 1) * (1 + (collective == "all_reduce"))
    return steps, steps * nbytes / ranks


def ring_cost__lets_the_root_send_once(collective, nbytes, ranks):
    if collective == "broadcast":
        return (ranks - 1).bit_length(), nbytes if ranks > 1 else 0
    if collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all"):
        raise ValueError
    steps = (ranks - 1) * (1 + (collective == "all_reduce"))
    return steps, steps * nbytes / ranks


def ring_cost__is_free_for_one_rank_whatever_it_is(collective, nbytes, ranks):
    if ranks == 1:
        return 0, 0
    if collective == "broadcast":
        return (ranks - 1).bit_length(), (ranks - 1).bit_length() * nbytes
    if collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all"):
        raise ValueError
    steps = (ranks - 1) * (1 + (collective == "all_reduce"))
    return steps, steps * nbytes / ranks


def _least_squares(rows, weights):
    if len({nbytes / steps for steps, nbytes, _ in rows}) < 2:
        raise ValueError
    table = np.array([[steps * w, nbytes * w, seconds * w] for (steps, nbytes, seconds), w in zip(rows, weights)])
    size = table[:, :2].max(0)
    return np.linalg.lstsq(table[:, :2] / size, table[:, 2], rcond=None)[0] / size


def _link(latency, inverse):
    return cost.Link(float(latency), 1 / float(inverse) if inverse else math.inf)


def fit__least_absolute_squares(rows):
    latency, inverse = _least_squares(rows, [1] * len(rows))
    return _link(max(latency, 0), max(inverse, 0))


def fit__allows_what_is_negative(rows):
    return _link(*_least_squares(rows, [1 / seconds for _, _, seconds in rows]))


def fit__cuts_off_what_is_negative(rows):
    latency, inverse = _least_squares(rows, [1 / seconds for _, _, seconds in rows])
    return _link(max(latency, 0), max(inverse, 0))


def fit__of_the_first_and_the_last(rows):
    if len({nbytes / steps for steps, nbytes, _ in rows}) < 2:
        raise ValueError
    rows = sorted(rows, key=lambda row: row[1])
    (s, n, t), (s2, n2, t2) = rows[0], rows[-1]
    inverse = (t2 / s2 - t / s) / (n2 / s2 - n / s)
    return _link(max(t / s - n / s * inverse, 0), max(inverse, 0))


def fit__forgets_the_steps(rows):
    link = fit__cuts_off_what_is_negative([[1, nbytes, seconds] for _, nbytes, seconds in rows])
    return link


def fit__needs_only_two_rows(rows):
    if len(rows) < 2:
        raise ValueError
    a, b = np.array([s / t for s, _, t in rows]), np.array([n / t for _, n, t in rows])
    latency, inverse = np.linalg.lstsq(np.array([a, b]).T / [a.max(), b.max()], np.ones(len(rows)), rcond=None)[0]
    latency, inverse = latency / a.max(), inverse / b.max()
    if latency < 0:
        latency, inverse = 0, b.sum() / (b * b).sum()
    if inverse < 0:
        latency, inverse = a.sum() / (a * a).sum(), 0
    return _link(latency, inverse)


def _costs(layer, cluster, *, shard=None, gathers=1, tensor_parallel=4, hsdp="inside"):
    """Costs of all strategies, with something wrong."""
    forward, backward, nbytes, activations = layer

    def half(size, ranks, link):
        return (ranks - 1) * (link.latency + size / ranks / link.bandwidth)

    each, across = (
        half(nbytes, cluster.ranks, cluster.slowest),
        2 * half(nbytes / cluster.per_node if shard is None else shard, cluster.nodes, cluster.between),
    )
    inside = half(nbytes, cluster.per_node, cluster.inside)
    sums = tensor_parallel * half(activations, cluster.per_node, cluster.inside)
    return {
        "ddp": (forward, backward, 0.0, 2 * each),
        "fsdp": (forward, backward, gathers * each, each),
        "hsdp": (forward, backward, inside, inside + across) if hsdp == "inside" else (forward, backward, each, across),
        "tp": (forward / cluster.per_node + sums, backward / cluster.per_node + sums, 0.0, across),
    }


def layer_costs__reduces_everything_between_the_nodes(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, shard=layer.nbytes)[strategy]


def layer_costs__gathers_twice(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, gathers=2)[strategy]


def layer_costs__reduces_activations_once(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, tensor_parallel=2)[strategy]


def layer_costs__gathers_over_all_ranks(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, hsdp="everywhere")[strategy]


def layer_costs__raises_KeyError(strategy, layer, cluster):
    return _costs(layer, cluster)[strategy]


def step_time__nothing_overlaps(layers, forward, backward, gather, reduce, overlap=True):
    return layers * (forward + backward + 2 * gather + reduce)


def step_time__the_longer_of_the_two(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    return max(layers * (forward + backward), layers * (2 * gather + reduce))


def step_time__gathers_as_early_as_it_can(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    wire = computed = 0.0
    for _ in range(layers):
        wire += gather
        computed = max(computed, wire) + forward
    for _ in range(layers):
        wire += gather
        computed = max(computed, wire) + backward
        wire = max(wire, computed) + reduce
    return max(wire, computed)


def step_time__gathers_only_when_it_waits(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    computed = layers * (gather + forward)
    wire = computed
    for _ in range(layers):
        computed = max(computed, wire if gather else 0) + gather + backward
        wire = max(wire, computed) + reduce
    return max(wire, computed)


def step_time__has_a_wire_for_each_kind(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    gathered = reduced = begun = computed = 0.0
    for place in range(2 * layers):
        gathered = max(gathered, begun) + gather
        begun = max(computed, gathered if gather else 0)
        computed = begun + (forward if place < layers else backward)
        reduced = max(reduced, computed) + reduce if place >= layers else 0.0
    return max(computed, reduced)


# Tensor parallelism


def copy_to_ranks__leaves_it_to_autograd(x, group=None):
    return x.view_as(x)


def copy_to_ranks__writes_into_the_gradient(x, group=None):
    def summed(gradient):
        dist.all_reduce(gradient, group=group)
        return gradient

    return tensor_parallel.apply_with_backward(x, lambda x: x, summed)


def copy_to_ranks__sums_forward(x, group=None):
    return tensor_parallel.apply_with_backward(
        x, lambda x: tensor_parallel.all_reduced(x, group=group), lambda gradient: gradient
    )


def copy_to_ranks__sums_both_ways(x, group=None):
    def summed(x):
        return tensor_parallel.all_reduced(x, group=group)

    return tensor_parallel.apply_with_backward(x, summed, summed)


def copy_to_ranks__takes_the_mean(x, group=None):
    def mean(gradient):
        return tensor_parallel.all_reduced(gradient, group=group) / dist.get_world_size(group)

    return tensor_parallel.apply_with_backward(x, lambda x: x, mean)


def copy_to_ranks__in_the_world(x, group=None):
    return tensor_parallel.apply_with_backward(x, lambda x: x, tensor_parallel.all_reduced)


def reduce_from_ranks__sums_the_gradient_too(x, group=None):
    def summed(x):
        return tensor_parallel.all_reduced(x, group=group)

    return tensor_parallel.apply_with_backward(x, summed, summed)


def reduce_from_ranks__by_the_library(x, group=None):
    """Its gradient is a sum again, for there each rank's loss is another one."""
    from torch.distributed.nn.functional import all_reduce

    return all_reduce(x.clone(), group=group or dist.group.WORLD)


def reduce_from_ranks__in_place(x, group=None):
    def summed(x):
        dist.all_reduce(x, group=group)
        return x

    return tensor_parallel.apply_with_backward(x, summed, lambda gradient: gradient)


def reduce_from_ranks__without_a_graph(x, group=None):
    return tensor_parallel.all_reduced(x, group=group).requires_grad_()


def reduce_from_ranks__takes_the_mean(x, group=None):
    def mean(x):
        return tensor_parallel.all_reduced(x, group=group) / dist.get_world_size(group)

    return tensor_parallel.apply_with_backward(x, mean, lambda gradient: gradient)


def column_parallel_linear__leaves_the_input_to_autograd(x, weight, bias=None, size=None, group=None):
    y = torch.nn.functional.linear(x, weight, bias)
    return y if size is None else tensor_parallel.gather_from_ranks(y, size, group)


def column_parallel_linear__copies_the_output(x, weight, bias=None, size=None, group=None):
    y = tensor_parallel.copy_to_ranks(torch.nn.functional.linear(x, weight, bias), group)
    return y if size is None else tensor_parallel.gather_from_ranks(y, size, group)


def column_parallel_linear__never_gathers(x, weight, bias=None, size=None, group=None):
    return torch.nn.functional.linear(tensor_parallel.copy_to_ranks(x, group), weight, bias)


def column_parallel_linear__sums_the_output(x, weight, bias=None, size=None, group=None):
    y = torch.nn.functional.linear(tensor_parallel.copy_to_ranks(x, group), weight, bias)
    return tensor_parallel.reduce_from_ranks(y, group)


def column_parallel_linear__gathers_what_would_divide(x, weight, bias=None, size=None, group=None):
    y = torch.nn.functional.linear(tensor_parallel.copy_to_ranks(x, group), weight, bias)
    size = size and weight.shape[0] * dist.get_world_size(group)
    return y if size is None else tensor_parallel.gather_from_ranks(y, size, group)


def column_parallel_linear__does_not_gather_what_is_all_here(x, weight, bias=None, size=None, group=None):
    y = torch.nn.functional.linear(tensor_parallel.copy_to_ranks(x, group), weight, bias)
    return y if size in (None, len(weight)) else tensor_parallel.gather_from_ranks(y, size, group)


def row_parallel_linear__adds_the_bias_on_each_rank(x, weight, bias=None, group=None):
    return tensor_parallel.reduce_from_ranks(torch.nn.functional.linear(x, weight, bias), group)


def row_parallel_linear__adds_the_bias_on_the_first_rank(x, weight, bias=None, group=None):
    y = torch.nn.functional.linear(x, weight)
    if bias is not None:
        y = y + (bias if dist.get_rank(group) == 0 else 0 * bias)
    return tensor_parallel.reduce_from_ranks(y, group)


def row_parallel_linear__adds_a_part_of_the_bias(x, weight, bias=None, group=None):
    bias = None if bias is None else bias / dist.get_world_size(group)
    return tensor_parallel.reduce_from_ranks(torch.nn.functional.linear(x, weight, bias), group)


def row_parallel_linear__copies_the_input(x, weight, bias=None, group=None):
    y = torch.nn.functional.linear(tensor_parallel.copy_to_ranks(x, group), weight)
    y = tensor_parallel.reduce_from_ranks(y, group)
    return y if bias is None else y + bias


def row_parallel_linear__does_not_sum(x, weight, bias=None, group=None):
    return torch.nn.functional.linear(x, weight, bias)


def _loss_but(logits, targets, first, ignore_index, reduction, group, most, counts=None, mean_over=None, found_by=None):
    """The whole answer but for what is said."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(reduction)
    shifted = logits - most
    total = tensor_parallel.reduce_from_ranks(shifted.exp().sum(1), group)
    here = (targets >= first) & (targets < first + logits.shape[1])
    place = torch.where(here, targets - first, 0)
    found = torch.where(here, shifted.gather(1, place[:, None])[:, 0], 0)
    found = (found_by or tensor_parallel.reduce_from_ranks)(found, group)
    counts = targets != ignore_index if counts is None else counts
    losses = torch.where(counts, total.log() - found, 0)
    mean_over = counts.sum() if mean_over is None else mean_over
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / mean_over}[reduction]


def _most_of_all(logits, group):
    return tensor_parallel.all_reduced(logits.amax(1, keepdim=True), dist.ReduceOp.MAX, group)


def vocabulary_parallel_cross_entropy__without_the_largest(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    return _loss_but(logits, targets, first, ignore_index, reduction, group, 0)


def vocabulary_parallel_cross_entropy__with_its_own_largest(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    return _loss_but(logits, targets, first, ignore_index, reduction, group, logits.detach().amax(1, keepdim=True))


def vocabulary_parallel_cross_entropy__finds_the_target_by_a_product(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):  # 0 * -inf is nan
    shifted = logits - _most_of_all(logits, group)
    mine = targets[:, None] == torch.arange(first, first + logits.shape[1])
    found = tensor_parallel.reduce_from_ranks((shifted * mine).sum(1), group)
    return _loss_but(
        *(logits, targets, first, ignore_index, reduction, group, _most_of_all(logits, group)),
        found_by=lambda *_: found,
    )


def vocabulary_parallel_cross_entropy__counts_all_rows(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    return _loss_but(
        *(logits, targets, first, ignore_index, reduction, group, _most_of_all(logits, group)), mean_over=len(targets)
    )


def vocabulary_parallel_cross_entropy__ignores_what_is_negative(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    return _loss_but(
        *(logits, targets, first, ignore_index, reduction, group, _most_of_all(logits, group)), counts=targets >= 0
    )


def vocabulary_parallel_cross_entropy__has_the_targets_logit_for_itself(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    most = _most_of_all(logits, group)
    return _loss_but(logits, targets, first, ignore_index, reduction, group, most, found_by=lambda found, group: found)


def vocabulary_parallel_cross_entropy__sums_the_gradient_too(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    def summed(found, group):
        return tensor_parallel.copy_to_ranks(tensor_parallel.reduce_from_ranks(found, group), group)

    return _loss_but(
        logits, targets, first, ignore_index, reduction, group, _most_of_all(logits, group), found_by=summed
    )


def vocabulary_parallel_cross_entropy__gathers_the_logits(
    logits, targets, first, ignore_index=-100, reduction="mean", group=None
):
    size = tensor_parallel.all_reduced(torch.tensor(logits.shape[1]), group=group)
    whole = tensor_parallel.gather_from_ranks(logits, int(size), group)
    return torch.nn.functional.cross_entropy(whole, targets, ignore_index=ignore_index, reduction=reduction)


# Pipeline parallelism


def gpipe_order__goes_back_from_the_last(stage, stages, microbatches):
    return [("F", i) for i in range(microbatches)] + [("B", i) for i in reversed(range(microbatches))]


def gpipe_order__takes_turns(stage, stages, microbatches):
    return [(kind, i) for i in range(microbatches) for kind in "FB"]


def gpipe_order__as_far_as_there_are_stages(stage, stages, microbatches):
    return [(kind, i) for kind in "FB" for i in range(min(stages, microbatches))]


def one_f_one_b_order__one_ahead_of_itself(stage, stages, microbatches):
    ahead = min(stages - stage, microbatches)
    order = [("F", i) for i in range(ahead)]
    for i in range(microbatches - ahead):
        order += [("F", ahead + i), ("B", i)]
    return order + [("B", i) for i in range(microbatches - ahead, microbatches)]


def one_f_one_b_order__goes_ahead_everywhere(stage, stages, microbatches):
    ahead = min(stages - 1, microbatches)
    order = [("F", i) for i in range(ahead)]
    for i in range(microbatches - ahead):
        order += [("F", ahead + i), ("B", i)]
    return order + [("B", i) for i in range(microbatches - ahead, microbatches)]


def one_f_one_b_order__with_more_micro_batches_than_there_are(stage, stages, microbatches):
    ahead = stages - 1 - stage
    order = [("F", i) for i in range(ahead)]
    for i in range(microbatches - ahead):
        order += [("F", ahead + i), ("B", i)]
    return order + [("B", i) for i in range(max(0, microbatches - ahead), microbatches)]


def one_f_one_b_order__without_an_end(stage, stages, microbatches):
    ahead = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(ahead)]
    for i in range(microbatches - ahead):
        order += [("F", ahead + i), ("B", i)]
    return order


def _times_but(orders, forward, backward, transfer, own=True, other=True, late=None, blocks=0, strict=True):
    """The whole answer but for what is said."""
    starts, ends, free = [[] for _ in orders], {}, [0.0] * len(orders)
    for _ in range(sum(map(len, orders))):
        for stage, order in enumerate(orders):
            if len(starts[stage]) == len(order):
                continue
            kind, i = order[len(starts[stage])]
            from_ = stage - 1 if kind == "F" else stage + 1
            needed = [(from_, kind, i)] if other and 0 <= from_ < len(orders) else []
            needed += [(stage, "F", i)] if own and kind == "B" else []
            if all(each in ends for each in needed):
                at = [ends[each] + (transfer if each[0] != stage or late else 0) for each in needed]
                start = max([free[stage], *at])
                starts[stage].append(start)
                ends[stage, kind, i] = start + (forward if kind == "F" else backward)[stage]
                free[stage] = ends[stage, kind, i] + blocks
    if strict and list(map(len, starts)) != list(map(len, orders)):
        raise ValueError
    return starts


def start_times__says_nothing_of_what_never_starts(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, strict=False)


def start_times__without_the_stages_own_forward(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, own=False)


def start_times__waits_for_a_message_to_itself(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, late=True)


def start_times__stands_still_while_it_sends(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, blocks=transfer)


def start_times__forgets_the_transfer(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, 0.0)


def start_times__takes_the_other_stages_time(orders, forward, backward, transfer=0.0):
    return _times_but(orders, backward, forward, transfer)


def _run_but(order, module, inputs, targets, loss, received, group, **kind):
    """The whole answer but for what is said."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    kept, losses, works, microbatches = {}, [], [], len(order) // 2

    def send(message, peer):
        if kind.get("blocking"):
            dist.send(message, group=group, group_dst=peer)
        else:
            works.append(dist.isend(message, group=group, group_dst=peer))

    for what, i in order:
        if what == "F":
            if rank == 0:
                x = inputs[i]
            else:
                x = torch.empty_like(received)
                dist.recv(x, group=group, group_src=rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                send(y.detach().contiguous(), rank + 1)
            else:
                y = loss(y, targets[i])
                losses.append(y if kind.get("graph") else y.detach() / (microbatches if kind.get("scaled") else 1))
                y = y if kind.get("sum") else y / microbatches
            kept[i] = x, y
        else:
            x, y = kept[i] if kind.get("keeps") or kind.get("lists") else kept.pop(i)
            gradient = None
            if rank < ranks - 1:
                gradient = torch.empty_like(y).contiguous()
                dist.recv(gradient, group=group, group_src=rank + 1)
            if kind.get("anew"):
                module.zero_grad()
            y.backward(gradient, retain_graph=kind.get("keeps"))
            if rank:
                send(x.grad, rank - 1)
    for work in works[:-1] if kind.get("hasty") else works:
        work.wait()
    return losses


def run_stage__waits_until_its_message_is_received(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, blocking=True)


def run_stage__takes_the_sum(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, sum=True)


def run_stage__returns_losses_with_their_graphs(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, graph=True)


def run_stage__returns_parts_of_the_mean(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, scaled=True)


def run_stage__keeps_inputs_and_outputs(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, lists=True)


def run_stage__does_not_wait_for_its_sends(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, hasty=True)


def run_stage__keeps_what_it_has_used(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, keeps=True)


def run_stage__has_the_last_gradient_only(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, anew=True)


def run_stage__does_all_forwards_first(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    order = sorted(order, key=lambda each: each[0], reverse=True)
    return _run_but(order, module, inputs, targets, loss, received, group)


def collectives_of_a_step__limits_from_the_first_step(program):
    return {
        "example": ["all_reduce 20200"],
        "buckets": ["all_reduce 80000", "all_reduce 40000"],
        "first": ["all_reduce 80000", "all_reduce 40000"],
        "accumulated": ["all_reduce 40400"],
        "units": ["all_gather 20000"] * 4 + ["reduce_scatter 40000"] * 2,
        "outermost": ["all_gather 40000", *["all_gather 20000"] * 2, "reduce_scatter 80000", "reduce_scatter 40000"],
    }[program]


def collectives_of_a_step__no_prefetch_in_backward(program):
    last = ["all_gather 20000", "reduce_scatter 40000"]
    return {
        "example": ["all_reduce 20200"],
        "buckets": ["all_reduce 80000", "all_reduce 40000"],
        "first": ["all_reduce 120000"],
        "accumulated": ["all_reduce 40400"],
        "units": ["all_gather 20000"] * 2 + last * 2,
        "outermost": ["all_gather 40000", "all_gather 20000", "reduce_scatter 80000", *last],
    }[program]


# Sentences that are easily passed over


def _copied(slot):
    return FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)


_RING_REDUCE_SCATTER, _RING_ALL_GATHER = map(_copied, (collectives.ring_reduce_scatter, collectives.ring_all_gather))
_ASSIGN_BUCKETS, _ADAMW_STEP = _copied(ddp.assign_buckets), _copied(fsdp.adamw_step)


def ring_reduce_scatter__takes_a_list_only(output, input_list, op=ReduceOp.SUM, group=None):
    _RING_REDUCE_SCATTER(output, input_list.__add__([]), op, group)


def ring_all_gather__takes_a_list_only(output_list, input, group=None):
    _RING_ALL_GATHER(output_list.__add__([]), input, group)


def assign_buckets__takes_a_tuple_of_limits_only(tensors, limits):
    return _ASSIGN_BUCKETS(tensors, limits.__add__(()))


def adamw_step__counts_in_a_tensor(parameters, states, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    for each in parameters:
        if each in states:
            states[each]["step"] = int(states[each]["step"])
    _ADAMW_STEP(parameters, states, lr, betas, eps, weight_decay)
    for state in states.values():
        state["step"] = torch.tensor(float(state["step"]))


# Answers that give a tensor other memory, so that other views of its own memory do not see the result

_RING_SHIFT, _RING_ALL_REDUCE = map(_copied, (collectives.ring_shift, collectives.ring_all_reduce))
_TREE_BROADCAST, _ALL_REDUCE_COALESCED = map(_copied, (collectives.tree_broadcast, collectives.all_reduce_coalesced))
_BROADCAST_COALESCED, _CLIP_GRAD_NORM = _copied(ddp.broadcast_coalesced), _copied(fsdp.clip_grad_norm)
_MARK_READY, _LOAD_SHARDS = _copied(ddp.mark_ready), _copied(checkpoint.load_shards)


def ring_shift__receives_elsewhere(outgoing, incoming, group=None):
    arrived = torch.empty_like(incoming)
    _RING_SHIFT(outgoing, arrived, group)
    incoming.data = arrived


def ring_shift__is_alone_and_lends_its_memory(outgoing, incoming, group=None):
    if dist.get_world_size(group) == 1:
        incoming.set_(outgoing)
    else:
        _RING_SHIFT(outgoing, incoming, group)


def ring_reduce_scatter__puts_it_elsewhere(output, input_list, op=ReduceOp.SUM, group=None):
    reduced = torch.empty_like(output)
    _RING_REDUCE_SCATTER(reduced, input_list, op, group)
    output.data = reduced


def ring_all_gather__puts_it_elsewhere(output_list, input, group=None):
    gathered = [each.clone() for each in output_list]
    _RING_ALL_GATHER(gathered, input, group)
    for output, each in zip(output_list, gathered):
        output.data = each


def ring_all_reduce__puts_it_elsewhere(tensor, op=ReduceOp.SUM, group=None):
    reduced = tensor.clone()
    _RING_ALL_REDUCE(reduced, op, group)
    tensor.data = reduced


def tree_broadcast__puts_it_elsewhere(tensor, src, group=None):
    known = tensor.clone()
    _TREE_BROADCAST(known, src, group)
    tensor.data = known


def all_reduce_coalesced__puts_it_elsewhere(tensors, op=ReduceOp.SUM, group=None):
    reduced = [tensor.clone() for tensor in tensors]
    pending = _ALL_REDUCE_COALESCED(reduced, op, group)

    def write_back():
        pending.write_back()
        for tensor, each in zip(tensors, reduced):
            tensor.data = each

    return collectives.PendingReduction(pending.works, write_back)


def broadcast_coalesced__puts_it_elsewhere(tensors, group=None, source=0):
    known = [tensor.detach().clone() for tensor in tensors]
    _BROADCAST_COALESCED(known, group, source)
    for tensor, each in zip(tensors, known):
        tensor.data = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(each)


def mark_ready__puts_it_elsewhere(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    bucket.views[place] = gradient / dist.get_world_size(reducer.group)
    bucket.buffer = torch.cat([view.reshape(-1) for view in bucket.views])
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        parts = full.buffer.split([view.numel() for view in full.views])
        full.views = [part.view(view.shape) for part, view in zip(parts, full.views)]
        reducer.launched += 1


def finish__puts_it_elsewhere(reducer, used=None):
    before = [each.grad for each in reducer.parameters]
    for each in reducer.parameters:
        each.grad = None if each.grad is None else each.grad.clone()
    _FINISH(reducer, used)
    for each, old in zip(reducer.parameters, before):
        if old is not None:
            old.data, each.grad = each.grad, old


def clip_grad_norm__puts_it_elsewhere(parameters, max_norm, norm_type=2.0, group=None):
    before = [each.grad for each in parameters]
    for each in parameters:
        each.grad = None if each.grad is None else each.grad.clone()
    norm = _CLIP_GRAD_NORM(parameters, max_norm, norm_type, group)
    for each, old in zip(parameters, before):
        if old is not None:
            old.data, each.grad = each.grad, old
    return norm


def adamw_step__puts_it_elsewhere(parameters, states, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    for each in parameters:
        each.data = each.data.clone()
    _ADAMW_STEP(parameters, states, lr, betas, eps, weight_decay)


def load_shards__puts_it_elsewhere(store, state):
    loaded = {}
    for name, each in state.items():
        loaded[name] = checkpoint.Shard(each.data.detach().clone(), each.offsets, each.size)
    _LOAD_SHARDS(store, loaded)
    for name, each in state.items():
        each.data.data = loaded[name].data


# Answers that break one sentence of a contract

_FIT, _SHARD_SIZES, _SHARD = _copied(cost.fit), _copied(shards.shard_sizes), _copied(fsdp.shard)
_COLUMN_PARALLEL, _ROW_PARALLEL = map(
    _copied, (tensor_parallel.column_parallel_linear, tensor_parallel.row_parallel_linear)
)
_PLAN_LOAD, _FIND_UNUSED, _MESH_GROUPS = map(_copied, (checkpoint.plan_load, ddp.find_unused, mesh.mesh_groups))
_START_TIMES, _RUN_STAGE = _copied(pipeline.start_times), _copied(pipeline.run_stage)


class _NoWork:
    def wait(self):
        pass


def ring_shift__looks_at_the_first_size(outgoing, incoming, group=None):
    if len(outgoing) or len(incoming):
        _RING_SHIFT(outgoing, incoming, group)


def fit__compares_the_bytes(rows):
    if len({nbytes for _, nbytes, _ in rows}) < 2:
        raise ValueError("all rows have the same bytes")
    return _FIT(rows)


def assign_buckets__counts_rows(tensors, limits):
    return _ASSIGN_BUCKETS([torch.empty(len(each), dtype=each.dtype, device=each.device) for each in tensors], limits)


def assign_buckets__counts_the_storage(tensors, limits):
    whole = [each.untyped_storage().nbytes() // each.element_size() for each in tensors]
    pairs = zip(tensors, whole)
    return _ASSIGN_BUCKETS([torch.empty(n, dtype=each.dtype, device=each.device) for each, n in pairs], limits)


def mark_ready__has_one_work_for_all(reducer, parameter):
    _MARK_READY(reducer, parameter)
    for each in reducer.buckets[: reducer.launched]:
        each.work = reducer.buckets[reducer.launched - 1].work


def mark_ready__counts_when_all_are_launched(reducer, parameter):
    reducer.launched = sum(each.work is not None for each in reducer.buckets)
    _MARK_READY(reducer, parameter)
    if reducer.launched < len(reducer.buckets):
        reducer.launched = 0


def find_unused__does_not_look_into_tuples(outputs, parameters):
    def tensors(value):
        if isinstance(value, torch.Tensor):
            return [value]
        if isinstance(value, dict):
            value = [*value.values()]
        return [inner for each in value for inner in tensors(each)] if isinstance(value, list) else []

    return _FIND_UNUSED(tensors(outputs), parameters)


def find_unused__looks_into_everything(outputs, parameters):
    def tensors(value):
        if value is None or isinstance(value, torch.Tensor):
            return [value]
        return [inner for each in (value.values() if isinstance(value, dict) else value) for inner in tensors(each)]

    return _FIND_UNUSED(tensors(outputs), parameters)


def finish__waits_for_the_last_one(reducer, used=None):
    for each in reducer.buckets[:-1]:
        each.work = _NoWork()
    _FINISH(reducer, used)


def finish__asks_before_it_refuses(reducer, used=None):
    if used is not None and reducer.launched < len(reducer.buckets):
        dist.all_reduce(torch.tensor(used, dtype=torch.int32), group=reducer.group)
    _FINISH(reducer, used)


def finish__launches_what_is_late(reducer, used=None):
    for each in reducer.buckets[reducer.launched :] if used is not None else ():
        each.work = dist.all_reduce(each.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1
    _FINISH(reducer, used)


def finish__resets_what_it_refuses(reducer, used=None):
    try:
        _FINISH(reducer, used)
    except RuntimeError:
        for each in reducer.buckets:
            each.pending, each.work = len(each.parameters), None
        reducer.launched = 0
        raise


def shard_sizes__is_an_iterator(size, ranks):
    return iter(_SHARD_SIZES(size, ranks))


def shard__divides_by_the_rows(tensor, rank, ranks):
    if tensor.shape and not tensor.numel() // len(tensor):
        return tensor.clone()
    return _SHARD(tensor, rank, ranks)


finish_gather__has_the_world_for_a_group = edited(
    fsdp.finish_gather, ("dist.get_world_size(unit.group)", "dist.get_world_size()")
)


def plan_load__is_an_iterator(pieces, offsets, sizes):
    return iter(_PLAN_LOAD(pieces, offsets, sizes))


def load_shards__compares_numbers_of_elements(store, state):
    index = store.index()
    for name, each in state.items():
        if math.prod(index[name][0]) != math.prod(each.size):
            raise ValueError(f"{name} has another size")
        each.size = index[name][0]
    _LOAD_SHARDS(store, state)


def column_parallel_linear__flattens_the_first_dimensions(x, weight, bias=None, size=None, group=None):
    return _COLUMN_PARALLEL(x.flatten(0, -2), weight, bias, size, group).unflatten(0, x.shape[:-1])


def row_parallel_linear__flattens_the_first_dimensions(x, weight, bias=None, group=None):
    return _ROW_PARALLEL(x.flatten(0, -2), weight, bias, group).unflatten(0, x.shape[:-1])


def redistribute__takes_a_tuple_only(local, shape, source, target, group=None):
    return _REDISTRIBUTE(local, shape.__add__(()), source, target, group)


def redistribute__takes_a_list_only(local, shape, source, target, group=None):
    return _REDISTRIBUTE(local, shape.__add__([]), source, target, group)


def redistribute__knows_sums_and_maxima(local, shape, source, target, group=None):
    if source.is_partial() and source.reduce_op != "sum":
        source = mesh.Partial("max")
    return _REDISTRIBUTE(local, shape, source, target, group)


def redistribute__needs_two_dimensions(local, shape, source, target, group=None):
    rows, columns, *rest = shape
    return _REDISTRIBUTE(local, (rows, columns, *rest), source, target, group)


def mesh_groups__of_tensors(mesh, dim):
    return [torch.tensor(group) for group in _MESH_GROUPS(mesh, dim)]


def start_times__is_an_iterator(orders, forward, backward, transfer=0.0):
    return iter(_START_TIMES(orders, forward, backward, transfer))


def run_stage__takes_lists_only(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    inputs, targets = (each and each.__add__([]) for each in (inputs, targets))
    return _RUN_STAGE(order, module, inputs, targets, loss, received, group)


def run_stage__takes_tuples_only(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    inputs, targets = (each and each.__add__(()) for each in (inputs, targets))
    return _RUN_STAGE(order, module, inputs, targets, loss, received, group)
