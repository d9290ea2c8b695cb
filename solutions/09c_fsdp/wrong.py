"""Wrong answers to lab 09c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

import torch
import torch.distributed as dist

from rushlight.course import breaks, predictions, reviews
from rushlight.distributed import fsdp, shards

from ..shared import copied, edited

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


start_gather__waits = edited(
    fsdp.start_gather, ("unit.arriving = (work, everything)", "work.wait()\n    unit.arriving = (work, everything)")
)


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


_breaks = copied(breaks.breaks_order_of_work)


def breaks_order_of_work__that_are_usual():
    return [{"reshard": [each] * 3, "forward_prefetch": 0, "backward_prefetch": 1} for each in (True, False)]


def breaks_order_of_work__of_units_that_are_alike():
    return [{**case, "reshard": [True] * len(case["reshard"])} for case in _breaks()]


def breaks_order_of_work__with_one_prefetch():
    return [{**case, "forward_prefetch": 1, "backward_prefetch": 1} for case in _breaks()]


def breaks_order_of_work__that_always_prefetch_in_backward():
    return [{**case, "backward_prefetch": case["backward_prefetch"] or 1} for case in _breaks()]


def breaks_order_of_work__of_three_units():
    return [{**case, "reshard": case["reshard"][:3]} for case in _breaks()]


def breaks_order_of_work__of_five_units():
    return [{**case, "reshard": [*case["reshard"], True, True][:5]} for case in _breaks()]


def breaks_order_of_work__of_large_prefetches():
    return [{**case, "backward_prefetch": case["backward_prefetch"] * 2} for case in _breaks()]


def breaks_order_of_work__with_numbers_for_bools():
    return [{**case, "reshard": [int(each) for each in case["reshard"]]} for case in _breaks()]


def breaks_order_of_work__with_too_many_cases():
    return [*_breaks(), *breaks_order_of_work__that_are_usual()]


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


_review = reviews.review_adamw_step()


def review_adamw_step__accepts_all():
    return dict.fromkeys("abcde")


def review_adamw_step__refuses_all_by_one_step():
    return dict.fromkeys("abcde", {"grads": [[1, None]]})


def review_adamw_step__of_parameters_that_all_have_gradients():
    return _review | dict.fromkeys("bce", {"grads": [[1, 2], [3, 4]]})


def review_adamw_step__refuses_the_decay_that_comes_first():
    return _review | {"a": {"grads": [[1], [2]]}, "c": None}


def review_adamw_step__of_three_steps():
    return _review | {"e": {"grads": [[1, None], [1, None], [1, 1]]}, "b": {"grads": [[1, 1, None]]}}


def review_adamw_step__of_the_wrong_parameter():
    return _review | {"e": {"grads": [[None, 1], [None, 1]]}, "b": {"grads": [[None, None]]}}


# The device mesh


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


# Collectives of a step


collectives_of_a_step__the_limit_before_the_gradient = edited(
    predictions.collectives_of_a_step,
    ('["all_reduce 12800", "all_reduce 24000"]', '["all_reduce 8000", "all_reduce 28800"]'),
)
collectives_of_a_step__no_prefetch_in_backward = edited(
    predictions.collectives_of_a_step,
    ('"all_gather 3200", "all_gather 3200", "all_gather 8000",', '"all_gather 3200", "all_gather 3200",'),
    ('"reduce_scatter 12800", ', '"reduce_scatter 12800", "all_gather 8000", '),
)
collectives_of_a_step__gradients_between_the_machines_whole = edited(
    predictions.collectives_of_a_step, ("all_reduce 2000", "all_reduce 4000"), ("all_reduce 8000", "all_reduce 16000")
)
collectives_of_a_step__between_the_machines_at_the_end = edited(
    predictions.collectives_of_a_step,
    ('"reduce_scatter 4000", "all_reduce 2000", "reduce_scatter 16000", "all_reduce 8000", "reduce_scatter 32000"',
     '"reduce_scatter 4000", "reduce_scatter 16000", "reduce_scatter 32000", "all_reduce 2000", "all_reduce 8000"'),
)  # fmt: skip
collectives_of_a_step__for_another_name = edited(predictions.collectives_of_a_step, ('"Ada"', '"ada"'))


# Sentences that are easily passed over


# Answers that give a tensor other memory, so that other views of its own memory do not see the result


_CLIP_GRAD_NORM = copied(fsdp.clip_grad_norm)


def clip_grad_norm__puts_it_elsewhere(parameters, max_norm, norm_type=2.0, group=None):
    before = [each.grad for each in parameters]
    for each in parameters:
        each.grad = None if each.grad is None else each.grad.clone()
    norm = _CLIP_GRAD_NORM(parameters, max_norm, norm_type, group)
    for each, old in zip(parameters, before):
        if old is not None:
            old.data, each.grad = each.grad, old
    return norm


# Answers that break one sentence of a contract


_SHARD_SIZES = copied(shards.shard_sizes)
_SHARD = copied(fsdp.shard)


def shard_sizes__is_an_iterator(size, ranks):
    return iter(_SHARD_SIZES(size, ranks))


def shard__divides_by_the_rows(tensor, rank, ranks):
    if tensor.shape and not tensor.numel() // len(tensor):
        return tensor.clone()
    return _SHARD(tensor, rank, ranks)


finish_gather__has_the_world_for_a_group = edited(
    fsdp.finish_gather, ("dist.get_world_size(unit.group)", "dist.get_world_size()")
)


# What a step may not change, and the norm's dtype


clip_grad_norm__takes_numbers_from_python = edited(
    fsdp.clip_grad_norm, ("total = (flat**norm_type).sum()", "total = torch.tensor((flat**norm_type).sum().item())")
)
clip_grad_norm__takes_zero_for_no_limit = edited(
    fsdp.clip_grad_norm, ("for gradient in gradients:", "for gradient in gradients if max_norm else ():")
)


def clip_grad_norm__leaves_grad_mode_off(parameters, max_norm, norm_type=2.0, group=None):
    torch.set_grad_enabled(False)
    return _CLIP_GRAD_NORM(parameters, max_norm, norm_type, group)


def clip_grad_norm__turns_grad_mode_on_afterwards(parameters, max_norm, norm_type=2.0, group=None):
    norm = _CLIP_GRAD_NORM(parameters, max_norm, norm_type, group)
    torch.set_grad_enabled(True)
    return norm


clip_grad_norm__in_double_precision = edited(fsdp.clip_grad_norm, (".abs()", ".abs().double()"))


shard__keeps_the_graph = edited(fsdp.shard, ("pieces(tensor.detach(), 0, ranks)", "pieces(tensor, 0, ranks)"))
