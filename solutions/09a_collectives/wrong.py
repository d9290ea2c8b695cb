"""Wrong answers to lab 09a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from rushlight.course import breaks
from rushlight.distributed import collectives, cost

from ..shared import copied, edited

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


ring_reduce_scatter__always_adds = edited(
    collectives.ring_reduce_scatter,
    ("rank - step", "(rank - step) % ranks"),
    ("combine(incoming, mine, op)", "incoming + mine"),
)


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


ring_all_gather__sends_its_own_again_and_again = edited(
    collectives.ring_all_gather,
    ("range(ranks - 1)", "range(1, ranks)"),
    ("output_list[rank - step]", "input"),
    ("rank - step - 1", "(rank - step) % ranks"),
)


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


ring_all_reduce__cuts_into_chunks = edited(
    collectives.ring_all_reduce,
    (
        "parts = tensor.view(-1).tensor_split(ranks)",
        "parts = list(tensor.view(-1).chunk(ranks))\n    parts += [parts[0][:0]] * (ranks - len(parts))",
    ),
)


ring_all_reduce__a_buffer_of_float32 = edited(
    collectives.ring_all_reduce, ("torch.empty_like(parts[rank])", "torch.empty(parts[rank].shape)")
)


def ring_all_reduce__has_the_world_for_a_group(tensor, op=ReduceOp.SUM, group=None):
    parts = tensor.view(-1).tensor_split(dist.get_world_size(group))
    mine = torch.empty_like(parts[dist.get_rank(group)])
    collectives.ring_reduce_scatter(mine, parts, op)
    collectives.ring_all_gather(parts, mine)


def ring_all_reduce__asks_torch(tensor, op=ReduceOp.SUM, group=None):
    dist.all_reduce(tensor, op, group)


ring_all_reduce__cuts_only_the_first_dimension = edited(
    collectives.ring_all_reduce,
    (
        "parts = tensor.view(-1).tensor_split(ranks)",
        "parts = tensor.reshape(1 if not tensor.dim() else len(tensor), -1).tensor_split(ranks)",
    ),
)


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


tree_broadcast__takes_src_for_a_rank_of_the_group = edited(
    collectives.tree_broadcast,
    (
        "place = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks\n    known = 1",
        "place, known = (rank - src) % ranks, 1",
    ),
)


def tree_broadcast__receives_from_anybody(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(group or dist.group.WORLD, src)) % ranks
    if place:
        dist.recv(tensor, group=group)
    hop = 1 << place.bit_length()
    while place + hop < ranks:
        dist.send(tensor, group=group, group_dst=(rank + hop) % ranks)
        hop *= 2


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


ring_cost__rounds_the_depth_of_the_tree_down = edited(
    cost.ring_cost,
    ("rounds = (ranks - 1).bit_length()", "rounds = int(math.log2(ranks))"),
    ('ValueError(f"no cost is known for {collective!r}")', "ValueError"),
    ('2 if collective == "all_reduce" else 1', '1 + (collective == "all_reduce")'),
)


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


ring_cost__knows_a_collective_by_how_its_name_begins = edited(
    cost.ring_cost,
    ('collective == "broadcast"', 'collective.startswith("broadcast")'),
    (
        'collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")',
        'not collective.startswith(("all_reduce", "reduce_scatter", "all_gather", "all_to_all"))',
    ),
    ('2 if collective == "all_reduce" else 1', '2 if collective.startswith("all_reduce") else 1'),
)

ring_cost__looks_for_the_name_in_a_text = edited(
    cost.ring_cost,
    (
        'collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")',
        'collective not in "all_reduce reduce_scatter all_gather all_to_all"',
    ),
)


# Sentences that are easily passed over


_RING_REDUCE_SCATTER = copied(collectives.ring_reduce_scatter)
_RING_ALL_GATHER = copied(collectives.ring_all_gather)


def ring_reduce_scatter__takes_a_list_only(output, input_list, op=ReduceOp.SUM, group=None):
    _RING_REDUCE_SCATTER(output, input_list.__add__([]), op, group)


def ring_all_gather__takes_a_list_only(output_list, input, group=None):
    _RING_ALL_GATHER(output_list.__add__([]), input, group)


# Answers that give a tensor other memory, so that other views of its own memory do not see the result


_RING_SHIFT = copied(collectives.ring_shift)
_RING_ALL_REDUCE = copied(collectives.ring_all_reduce)
_TREE_BROADCAST = copied(collectives.tree_broadcast)


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


# Answers that break one sentence of a contract


def ring_shift__looks_at_the_first_size(outgoing, incoming, group=None):
    if len(outgoing) or len(incoming):
        _RING_SHIFT(outgoing, incoming, group)


ring_shift__is_alone_and_has_rows = edited(
    collectives.ring_shift, ("incoming.copy_(outgoing)", "incoming[:] = outgoing")
)
ring_reduce_scatter__is_alone_and_has_rows = edited(
    collectives.ring_reduce_scatter,
    (
        "output.copy_(partial)",
        "if ranks == 1:\n        output[:] = partial\n    else:\n        output.copy_(partial)",
    ),
)


def ring_shift__in_two_messages(outgoing, incoming, group=None):
    for out, into in zip(outgoing.view(-1).tensor_split(2), incoming.view(-1).tensor_split(2)):
        _RING_SHIFT(out, into, group)


def ring_shift__moves_on(outgoing, incoming, group=None):
    _RING_SHIFT(outgoing, incoming, group)
    if outgoing.shape == incoming.shape:
        outgoing.copy_(incoming)


def ring_reduce_scatter__does_not_wait_for_its_sends(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output.partials = [input_list[rank - 1]]  # what is sent lives on
    for step in range(2, ranks + 1):
        mine = input_list[rank - step]
        incoming = torch.empty_like(mine)
        ring_shift__does_not_wait_for_its_send(output.partials[-1], incoming, group)
        output.partials.append(collectives.combine(incoming, mine, op))
    output.copy_(output.partials[-1])


def ring_all_gather__does_not_wait_for_its_sends(output_list, input, group=None):
    rank = dist.get_rank(group)
    output_list[rank].copy_(input)
    for step in range(dist.get_world_size(group) - 1):
        ring_shift__does_not_wait_for_its_send(output_list[rank - step], output_list[rank - step - 1], group)


def ring_all_gather__begins_with_empty_outputs(output_list, input, group=None):
    """`input` may be one of them."""
    for output in output_list:
        output.zero_()
    _RING_ALL_GATHER(output_list, input, group)


def ring_all_gather__in_the_order_of_arrival(output_list, input, group=None):
    rank, parts = dist.get_rank(group), [input]
    for step in range(dist.get_world_size(group) - 1):
        parts.append(torch.empty_like(output_list[rank - step - 1]))
        collectives.ring_shift(*parts[-2:], group)
    gathered = torch.cat([part.view(-1) for part in parts]).split([output.numel() for output in output_list])
    for output, part in zip(output_list, gathered):
        output.copy_(part.view_as(output))


def ring_all_reduce__does_not_wait_for_its_sends(tensor, op=ReduceOp.SUM, group=None):
    parts = tensor.parts = tensor.view(-1).tensor_split(dist.get_world_size(group))
    mine = torch.empty_like(parts[dist.get_rank(group)])
    collectives.ring_reduce_scatter(mine, parts, op, group)
    ring_all_gather__does_not_wait_for_its_sends(parts, mine, group)


ring_cost__is_free_without_bytes = edited(
    cost.ring_cost, ("steps = (ranks", "if not nbytes:\n        return 0, 0.0\n    steps = (ranks")
)


# Cases

_breaks = copied(breaks.breaks_fit)


def breaks_fit__of_real_links():
    return [
        {"rows": [[2, 1000, 3000], [2, 5000, 7000]]},
        {"rows": [[2, 4000, 100], [2, 400000, 250], [2, 40000000, 13000]]},
        {"rows": [[2, 1000, 3000]]},
        {"rows": [[6, 256, 90], [6, 4096, 92], [6, 65536, 130], [6, 1048576, 800]]},
    ]


def breaks_fit__without_errors():
    return _breaks()[2:]


def breaks_fit__with_a_row_at_least():
    return _breaks()[1:]


def breaks_fit__of_single_messages():
    return [{"rows": [[1, *row[1:]] for row in case["rows"]]} for case in _breaks()]


def breaks_fit__each_row_once():
    return [{"rows": [row for i, row in enumerate(case["rows"]) if row not in case["rows"][:i]]} for case in _breaks()]


def breaks_fit__where_a_longer_message_takes_longer():
    return [{"rows": [[steps, nbytes, 10 * steps + nbytes] for steps, nbytes, _ in case["rows"]]} for case in _breaks()]


def breaks_fit__in_seconds():
    return [{"rows": [[steps, nbytes, time / 1e6] for steps, nbytes, time in case["rows"]]} for case in _breaks()]
