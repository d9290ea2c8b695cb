"""Wrong answers to lab 09d that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from types import FunctionType

import torch
import torch.distributed as dist

from rushlight.course import breaks
from rushlight.distributed import checkpoint, mesh, shards, tensor_parallel

from ..shared import copied, edited

_REDISTRIBUTE = FunctionType(mesh.redistribute.__code__, vars(mesh), "redistribute", (None,))

# Checkpoints of shards


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


# The device mesh


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


def redistribute__a_lone_rank_has_all_of_it(local, shape, source, target, group=None):
    return local if dist.get_world_size(group) == 1 else _REDISTRIBUTE(local, shape, source, target, group)


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


def copy_to_ranks__a_hook_on_x_itself(x, group=None):
    """It sums the gradients that x gets elsewhere, too."""
    if x.requires_grad:
        x.register_hook(lambda gradient: tensor_parallel.all_reduced(gradient, group=group))
    return x


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


column_parallel_linear__leaves_the_input_to_autograd = edited(
    tensor_parallel.column_parallel_linear,
    ("y = F.linear(copy_to_ranks(x, group), weight, bias)", "y = torch.nn.functional.linear(x, weight, bias)"),
)


def column_parallel_linear__copies_the_output(x, weight, bias=None, size=None, group=None):
    y = tensor_parallel.copy_to_ranks(torch.nn.functional.linear(x, weight, bias), group)
    return y if size is None else tensor_parallel.gather_from_ranks(y, size, group)


def column_parallel_linear__a_hook_on_x_itself(x, weight, bias=None, size=None, group=None):
    y = torch.nn.functional.linear(copy_to_ranks__a_hook_on_x_itself(x, group), weight, bias)
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


def column_parallel_linear__divides_the_bias(x, weight, bias=None, size=None, group=None):
    """As a row parallel one would, which sums it."""
    return _COLUMN_PARALLEL(x, weight, bias if bias is None else bias / dist.get_world_size(group), size, group)


def column_parallel_linear__adds_up_x_to_compare_it(x, weight, bias=None, size=None, group=None):
    dist.all_reduce(x.detach().clone(), group=group)
    return _COLUMN_PARALLEL(x, weight, bias, size, group)


def column_parallel_linear__always_asks_for_a_gradient_of_x(x, weight, bias=None, size=None, group=None):
    return _COLUMN_PARALLEL(x if x.requires_grad else x.clone().requires_grad_(), weight, bias, size, group)


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


vocabulary_parallel_cross_entropy__finds_the_largest_in_single_precision = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy, ("by_token.amax(0)", "by_token.float().amax(0)")
)
vocabulary_parallel_cross_entropy__multiplies_by_0_what_is_elsewhere = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy, ("torch.where(here, target_logits, 0)", "here * target_logits")
)
vocabulary_parallel_cross_entropy__averages_at_least_one_row = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy, ("/ counts.sum()", "/ counts.sum().clamp(min=1)")
)
vocabulary_parallel_cross_entropy__sums_in_single_precision = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy, ("shifted.exp().sum(0)", "shifted.exp().sum(0).float()")
)
vocabulary_parallel_cross_entropy__in_single_precision = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy,
    ("logits.T", "logits.float().T"),
    ("total.log() - target_logits, 0)", "total.log() - target_logits, 0).to(logits.dtype)"),
)


# Answers that give a tensor other memory, so that other views of its own memory do not see the result


_LOAD_SHARDS = copied(checkpoint.load_shards)


def load_shards__puts_it_elsewhere(store, state):
    loaded = {}
    for name, each in state.items():
        loaded[name] = checkpoint.Shard(each.data.detach().clone(), each.offsets, each.size)
    _LOAD_SHARDS(store, loaded)
    for name, each in state.items():
        each.data.data = loaded[name].data


# Answers that break one sentence of a contract


_COLUMN_PARALLEL = copied(tensor_parallel.column_parallel_linear)
_ROW_PARALLEL = copied(tensor_parallel.row_parallel_linear)


def load_shards__compares_numbers_of_elements(store, state):
    index = store.index()
    for name, each in state.items():
        if math.prod(index[name][0]) != math.prod(each.size):
            raise ValueError(f"{name} has another size")
        each.size = index[name][0]
    _LOAD_SHARDS(store, state)


def column_parallel_linear__flattens_the_first_dimensions(x, weight, bias=None, size=None, group=None):
    return _COLUMN_PARALLEL(x.flatten(0, -2), weight, bias, size, group).unflatten(0, x.shape[:-1])


def row_parallel_linear__sums_each_half(x, weight, bias=None, group=None):
    halves = torch.nn.functional.linear(x, weight).chunk(2, -1)
    y = torch.cat([tensor_parallel.reduce_from_ranks(half, group) for half in halves], -1)
    return y if bias is None else y + bias


def row_parallel_linear__averages_the_gradient_of_the_bias(x, weight, bias=None, group=None):
    def mean(gradient):
        return tensor_parallel.all_reduced(gradient, group=group) / dist.get_world_size(group)

    y = tensor_parallel.reduce_from_ranks(torch.nn.functional.linear(x, weight), group)
    return y if bias is None else y + tensor_parallel.apply_with_backward(bias, torch.clone, mean)


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


# What is the caller's, tensors without dimensions, and a name that is in each text


def load_shards__leaves_grad_mode_off(store, state):
    torch.set_grad_enabled(False)
    _LOAD_SHARDS(store, state)


def load_shards__turns_grad_mode_on_afterwards(store, state):
    torch.set_grad_enabled(False)
    _LOAD_SHARDS(store, state)
    torch.set_grad_enabled(True)


def load_shards__makes_parameters_constants(store, state):
    _LOAD_SHARDS(store, state)
    for each in state.values():
        each.data.requires_grad_(False)


load_shards__of_rows_only = edited(
    checkpoint.load_shards, ("shard.data.detach()[place]", "shard.data.detach()[place][:]")
)
vocabulary_parallel_cross_entropy__moves_the_targets = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy,
    ("place = targets - first", "counts = targets != ignore_index\n    place = targets.sub_(first)"),
    ("    counts = targets != ignore_index\n    losses", "    losses"),
)
vocabulary_parallel_cross_entropy__shifts_the_logits = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy,
    ("shifted = by_token - most", "by_token.data.sub_(most)\n    shifted = by_token.clone()"),
)
vocabulary_parallel_cross_entropy__looks_for_the_name_in_a_text = edited(
    tensor_parallel.vocabulary_parallel_cross_entropy,
    ('not in ("none", "sum", "mean")', 'not in "none sum mean"'),
    ("[reduction]", ".get(reduction)"),
)


# What each hint is for


def copy_to_ranks__averages_what_is_equal(x, group=None):
    def mean(x):
        return tensor_parallel.all_reduced(x, group=group) / dist.get_world_size(group)

    return tensor_parallel.apply_with_backward(
        x, mean, lambda gradient: tensor_parallel.all_reduced(gradient, group=group)
    )


def reduce_from_ranks__averages_the_gradient(x, group=None):
    def summed(x):
        return tensor_parallel.all_reduced(x, group=group)

    return tensor_parallel.apply_with_backward(
        x, summed, lambda gradient: summed(gradient) / dist.get_world_size(group)
    )


def reduce_from_ranks__sums_into_x(x, group=None):
    def summed(x):
        total = x.detach().contiguous()
        dist.all_reduce(total, group=group)
        return total.clone()

    return tensor_parallel.apply_with_backward(x, summed, lambda gradient: gradient)


# Cases

_breaks = copied(breaks.breaks_plan_load)


def breaks_plan_load__that_are_usual():
    by_rows = {"pieces": [[0, 0, 4, 6], [4, 0, 4, 6], [8, 0, 2, 6]], "region": [0, 3, 10, 3]}
    return [by_rows, {"pieces": [[0, 4], [4, 4], [8, 2]], "region": [0, 5]}]


def breaks_plan_load__with_dimensions_only():
    return _breaks()[1:]


def breaks_plan_load__in_the_order_of_rows():
    return [case | {"pieces": sorted(case["pieces"])} for case in _breaks()]


def breaks_plan_load__of_one_piece_each():
    first, second = _breaks()
    return [first, *(second | {"pieces": [piece]} for piece in second["pieces"][1:3])]


def breaks_plan_load__of_vectors():
    return [{"pieces": [[max(piece), 1] for piece in case["pieces"] if piece], "region": [2, 4]} for case in _breaks()]


def breaks_plan_load__of_pieces_that_differ():
    return [case | {"pieces": [*dict.fromkeys(map(tuple, case["pieces"]))]} for case in _breaks()]


def breaks_plan_load__with_sizes_first():
    def with_sizes_first(box):
        return [*box[len(box) // 2 :], *box[: len(box) // 2]]

    return [
        {"pieces": [*map(with_sizes_first, case["pieces"])], "region": with_sizes_first(case["region"])}
        for case in _breaks()
    ]


def breaks_plan_load__with_another_number_of_dimensions():
    return [case | {"region": case["region"][:-2]} for case in _breaks()]


def breaks_plan_load__of_negative_offsets():
    return [case | {"region": [-1 for _ in case["region"]]} for case in _breaks()]
