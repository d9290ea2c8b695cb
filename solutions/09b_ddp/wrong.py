"""Wrong answers to lab 09b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from types import FunctionType

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from rushlight.course import breaks
from rushlight.distributed import collectives, ddp

from ..shared import copied, edited

_FINISH = FunctionType(ddp.finish.__code__, vars(ddp), "finish", (None,))

# Collectives


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


broadcast_coalesced__takes_source_for_a_rank_of_all = edited(
    ddp.broadcast_coalesced,
    (
        "for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):",
        "members = range(dist.get_world_size()) if group is None else dist.get_process_group_ranks(group)\n"
        "    source = source if source in members else members[0]\n"
        "    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):",
    ),
    ("dist.broadcast(flat, group=group, group_src=source)", "dist.broadcast(flat, src=source, group=group)"),
)


def broadcast_coalesced__in_one_dtype(tensors, group=None, source=0):
    if tensors:
        flat = torch.cat([tensor.detach().reshape(-1).double() for tensor in tensors])
        dist.broadcast(flat, group=group, group_src=source)
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
            tensor.detach().copy_(part.view(tensor.shape))


broadcast_coalesced__with_set = edited(
    ddp.broadcast_coalesced,
    (
        "zip(chosen, flat.split([tensor.numel() for tensor in chosen]))",
        "zip([t for t in tensors if t.dtype == dtype], flat.split([t.numel() for t in chosen]))",
    ),
    ("tensor.copy_(part.view(tensor.shape))", "tensor.data = part.view(tensor.shape)"),
)
mark_ready__waits = edited(
    ddp.mark_ready,
    (
        "if parameter.grad is None:\n"
        "        bucket.views[place].zero_()\n"
        "    else:\n"
        "        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))",
        "grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad\n"
        "    bucket.views[place].copy_(grad.detach() / dist.get_world_size(reducer.group))",
    ),
    ("reducer.launched += 1", "full.work.wait()\n        reducer.launched += 1"),
)


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


mark_ready__divides_by_all_ranks = edited(
    ddp.mark_ready,
    (
        "if parameter.grad is None:\n"
        "        bucket.views[place].zero_()\n"
        "    else:\n"
        "        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))",
        "grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad\n"
        "    bucket.views[place].copy_(grad.detach() / dist.get_world_size())",
    ),
)
mark_ready__divides_the_gradient_itself = edited(
    ddp.mark_ready,
    (
        "if parameter.grad is None:\n"
        "        bucket.views[place].zero_()\n"
        "    else:\n"
        "        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))",
        "grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad\n"
        "    bucket.views[place].copy_(grad.detach().div_(dist.get_world_size(reducer.group)))",
    ),
)
mark_ready__leaves_what_was_there = edited(
    ddp.mark_ready,
    (
        "if parameter.grad is None:\n"
        "        bucket.views[place].zero_()\n"
        "    else:\n"
        "        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))",
        "if parameter.grad is not None:\n        bucket.views[place].add_(parameter.grad.detach())",
    ),
)
mark_ready__clears_the_bucket = edited(ddp.mark_ready, ("bucket.views[place].zero_()", "bucket.buffer.zero_()"))


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


# Sentences that are easily passed over


_ASSIGN_BUCKETS = copied(ddp.assign_buckets)


def assign_buckets__takes_a_tuple_of_limits_only(tensors, limits):
    return _ASSIGN_BUCKETS(tensors, limits.__add__(()))


# Answers that give a tensor other memory, so that other views of its own memory do not see the result


_ALL_REDUCE_COALESCED = copied(collectives.all_reduce_coalesced)
_BROADCAST_COALESCED = copied(ddp.broadcast_coalesced)


_MARK_READY = copied(ddp.mark_ready)


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


# Answers that break one sentence of a contract


_FIND_UNUSED = copied(ddp.find_unused)


class _NoWork:
    def wait(self):
        pass


def assign_buckets__counts_rows(tensors, limits):
    return _ASSIGN_BUCKETS([torch.empty(len(each), dtype=each.dtype, device=each.device) for each in tensors], limits)


def assign_buckets__takes_zero_for_no_limit(tensors, limits):
    return _ASSIGN_BUCKETS(tensors, [limit or 2**60 for limit in limits])


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


# What each hint is for

finish__refuses_what_is_launched = edited(ddp.finish, ("launched < len", "launched <= len"))
finish__counts_on = edited(ddp.finish, ("    reducer.launched = 0\n", ""))
finish__waits_for_the_last_bucket_each_time = edited(
    ddp.finish, ("bucket.work.wait()", "reducer.buckets[-1].work.wait()")
)


def finish__waits_before_it_refuses(reducer, used=None):
    for bucket in reducer.buckets[: reducer.launched]:
        bucket.work.wait()
    _FINISH(reducer, used)


# A kind, a limit of 0, and what autograd knows of a parameter


assign_buckets__by_the_size_of_an_element = edited(
    ddp.assign_buckets, ("(tensor.dtype, tensor.device)", "(tensor.element_size(), tensor.device)")
)
assign_buckets__never_closes_an_empty_bucket = edited(ddp.assign_buckets, ("if size >=", "if size and size >="))


def broadcast_coalesced__leaves_grad_mode_off(tensors, group=None, source=0):
    torch.set_grad_enabled(False)
    _BROADCAST_COALESCED(tensors, group, source)


def broadcast_coalesced__turns_grad_mode_on_afterwards(tensors, group=None, source=0):
    torch.set_grad_enabled(False)
    _BROADCAST_COALESCED(tensors, group, source)
    torch.set_grad_enabled(True)


def broadcast_coalesced__makes_parameters_constants(tensors, group=None, source=0):
    for tensor in tensors:
        tensor.requires_grad_(False)
    _BROADCAST_COALESCED(tensors, group, source)


# What each hint of the others is for


def all_reduce_coalesced__waits_in_its_own_way(tensors, op=ReduceOp.SUM, group=None):
    pending = _ALL_REDUCE_COALESCED(tensors, op, group)
    return collectives.PendingReduction([], pending.wait)


def find_unused__follows_each_path(outputs, parameters):
    waiting = [torch.autograd.graph.get_gradient_edge(t).node for t in ddp.tensors_in(outputs) if t.requires_grad]
    reached = set()
    while waiting:
        node = waiting.pop()
        reached.add(id(getattr(node, "variable", None)))
        waiting += [other for other, _ in node.next_functions if other is not None]
    return [i for i, parameter in enumerate(parameters) if id(parameter) not in reached]


def mark_ready__launches_what_is_full(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    bucket.views[place].copy_(gradient.detach() / dist.get_world_size(reducer.group))
    bucket.pending -= 1
    if not bucket.pending:
        bucket.work = dist.all_reduce(bucket.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


mark_ready__sends_single_precision = edited(
    ddp.mark_ready, ("dist.all_reduce(full.buffer,", "dist.all_reduce(full.buffer.float(),")
)
mark_ready__counts_from_the_beginning = edited(
    ddp.mark_ready,
    ("        reducer.launched += 1", "        full.pending = len(full.parameters)\n        reducer.launched += 1"),
)


# Cases

_breaks = copied(breaks.breaks_rank_indices)


def breaks_rank_indices__that_are_usual():
    usual = {"length": 8, "ranks": 2, "rank": 0, "shuffle": False, "seed": 0, "epoch": 0, "drop_last": False}
    return [usual, usual | {"shuffle": True, "drop_last": True}, usual | {"length": 9, "shuffle": True}]


def breaks_rank_indices__of_rank_0():
    return [case | {"rank": 0} for case in _breaks()]


def breaks_rank_indices__of_the_first_epoch():
    return [case | {"epoch": 0} for case in _breaks()]


def breaks_rank_indices__without_shuffling():
    return [case | {"shuffle": False} for case in _breaks()]


def breaks_rank_indices__always_with_drop_last():
    return [case | {"drop_last": True} for case in _breaks()]


def breaks_rank_indices__never_with_drop_last():
    return [case | {"drop_last": False} for case in _breaks()]


def breaks_rank_indices__with_more_samples_than_ranks():
    return [case | {"length": case["length"] + case["ranks"]} for case in _breaks()]


def breaks_rank_indices__of_a_rank_that_does_not_exist():
    return [case | {"rank": case["ranks"]} for case in _breaks()]


def breaks_rank_indices__of_too_many_samples():
    return [case | {"length": 101 + case["length"]} for case in _breaks()]


def breaks_rank_indices__of_more_cases_than_are_allowed():
    return [*_breaks(), *_breaks()]
