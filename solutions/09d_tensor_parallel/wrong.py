"""Wrong answers to lab 09d that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from types import FunctionType

import torch
import torch.distributed as dist

from rushlight.distributed import checkpoint, mesh, shards, tensor_parallel

from ..shared import copied, edited

_REDISTRIBUTE = FunctionType(mesh.redistribute.__code__, vars(mesh), "redistribute", (None,))

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
_PLAN_LOAD = copied(checkpoint.plan_load)


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


plan_load__has_one_piece_without_dimensions = edited(
    checkpoint.plan_load,
    ("    reads = []\n", "    if not sizes:\n        return [Read(0, (), (), ())]\n    reads = []\n"),
)


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
